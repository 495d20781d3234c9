// Contacts through signed distance fields (Lee et al. 2024, section VII-A): every triangle of one body near the other
// looks for the least value of the other's field on it by Frank-Wolfe steps between corners, towards the one that is
// farthest down the gradient; the points found are thinned out to a maximum.
//
// A flat triangle of a curved surface is off by its sagitta. A body from a formula knows how far its own triangle is from
// it at the point found, and the gap takes that in: some tenth to twentieth of the error is left.
#include "tribo/collide/narrow/field_pairs.h"

#include <cmath>

#include "tribo/collide/narrow/pair_scratch.h"
#include "tribo/collide/narrow/surface_clusters.h"
#include "tribo/collide/shapes/distance_field.h"
#include "tribo/collide/shapes/height_field.h"

namespace tribo::detail {

namespace {

// Least decrease worth another step, over the spacing: 2.5 nm on the thread of an M48 bolt. There nearly
// every triangle of a flank takes steps: 1e-4 is five times as fast, but what rests feels the noise and never settles.
constexpr double kEnough = 1e-6;

struct Deepest {
  Vec3 point;
  DistanceField::Sample sample;
};

// Least value of the field on the triangle (corners in the field's frame), whose middle is sampled already. Where it is seen
// to stay above `reach` the search ends early, with a value above.
//
// Pairwise steps: the share t of the worst corner goes to the best one, x += t d with d = best - worst. The curvature along an
// edge is the change of the field's slope between its corners, so that the step is Newton's for a field that is quadratic
// on the triangle; where the value does not fall, the secant of the slope found there shortens it.
class TriangleSearch {
 public:
  TriangleSearch(const DistanceField& field, const std::array<Vec3, 3>& corners, const Deepest& middle)
      : field_(field), corners_(corners), best_(middle), shares_(Vec3::Constant(1.0 / 3.0)) {
    for (int k = 0; k < 3; ++k) {
      const DistanceField::Sample sample = field.sample(corners[static_cast<std::size_t>(k)]);
      gradients_[static_cast<std::size_t>(k)] = sample.gradient;
      if (sample.distance >= best_.sample.distance) continue;
      best_ = {corners[static_cast<std::size_t>(k)], sample};
      shares_ = Vec3::Unit(k);
    }
  }

  Deepest run(double reach) {
    for (int step = 0; step < kSteps; ++step) {
      std::size_t to = 0, from = 3;
      std::array<double, 3> slope;
      for (std::size_t k = 0; k < 3; ++k) {
        slope[k] = best_.sample.gradient.dot(corners_[k] - best_.point);
        if (slope[k] < slope[to]) to = k;
        if (shares_[static_cast<Eigen::Index>(k)] > 0.0 && (from == 3 || slope[k] > slope[from])) from = k;
      }
      // Where the field is convex this is all that can be won (the duality gap of Frank and Wolfe).
      if (-slope[to] <= kEnough * field_.spacing() || best_.sample.distance + slope[to] > reach) break;
      if (from == to || !move(to, from)) break;
    }
    return best_;
  }

 private:
  bool move(std::size_t to, std::size_t from) {
    const Vec3 path = corners_[to] - corners_[from];
    const double fall = -best_.sample.gradient.dot(path), all = shares_[static_cast<Eigen::Index>(from)];
    const double curvature = (gradients_[to] - gradients_[from]).dot(path);
    double t = fall < all * curvature ? fall / curvature : all;
    while (t > kShortest * all) {
      const Vec3 point = best_.point + t * path;
      const auto sample = field_.sample(point);
      if (sample.distance < best_.sample.distance) {
        best_ = {point, sample};
        shares_[static_cast<Eigen::Index>(to)] += t;
        double& left = shares_[static_cast<Eigen::Index>(from)];
        left = t < all ? left - t : 0.0;
        return true;
      }
      const double rise = sample.gradient.dot(path);
      t *= rise > 0.0 ? std::clamp(fall / (fall + rise), 0.1, 0.5) : 0.5;
    }
    return false;
  }

  static constexpr int kSteps = 12;
  static constexpr double kShortest = 1e-3;  // share of the way that is not worth a sample
  const DistanceField& field_;
  const std::array<Vec3, 3>& corners_;
  Deepest best_;
  Vec3 shares_;  // of the corners in the best point
  std::array<Vec3, 3> gradients_;
};

// Triangles of `surface` (placed by `pose`) against `field` (placed by `field_pose`). `towards_field`: the normals of
// the pair point from the surface to the field.
void surface_against_field(const PairQuery& query, const TriangleMesh& surface, const Pose& pose,
                           const Solid* own, const DistanceField& field, const Pose& field_pose,
                           bool towards_field, std::uint32_t salt) {
  const Pose to_field = field_pose.inverse() * pose;
  const Shape placed =
      Shape::box(0.5 * (field.bounds().upper - field.bounds().lower) + Vec3::Constant(1e-12));
  const Pose center{0.5 * (field.bounds().upper + field.bounds().lower), Mat3::Identity()};
  Aabb region = placed.bounds(to_field.inverse() * center);
  region = {region.lower.array() - query.margin, region.upper.array() + query.margin};
  std::vector<Index>& hits = query.scratch.triangles;
  hits.clear();
  surface.find(region, hits);
  for (const Index t : hits) {
    const auto& v = surface.triangles()[t];
    const std::array<Vec3, 3> corners{to_field * surface.vertices()[v[0]],
                                      to_field * surface.vertices()[v[1]],
                                      to_field * surface.vertices()[v[2]]};
    // A distance changes no faster than the point moves (with room for the interpolation).
    const Vec3 middle = (corners[0] + corners[1] + corners[2]) / 3.0;
    const double radius2 = std::max({(corners[0] - middle).squaredNorm(), (corners[1] - middle).squaredNorm(),
                                     (corners[2] - middle).squaredNorm()});
    const double reach = query.margin + 0.1 * field.spacing();
    const Deepest in_middle{middle, field.sample(middle)};
    if (in_middle.sample.distance > reach + 1.2 * std::sqrt(radius2)) continue;
    const Deepest deep = TriangleSearch(field, corners, in_middle).run(reach);
    const double slope = deep.sample.gradient.norm();
    if (deep.sample.distance > reach || slope < 0.1) continue;
    const Vec3 outward = field_pose.rotation * deep.sample.gradient / slope;
    const double sagitta = own != nullptr ? own->distance(to_field.to_local(deep.point)) : 0.0;
    const double gap = deep.sample.distance + sagitta;
    if (gap > query.margin) continue;
    query.points.push_back({field_pose * deep.point - 0.5 * (deep.sample.distance - sagitta) * outward,
                            towards_field ? Vec3(-outward) : outward, gap,
                            salt + static_cast<std::uint32_t>(t)});
  }
}

}  // namespace

void collide_surface_distance_field(const PairQuery& query) {
  const std::size_t begin = query.points.size();
  const DistanceField& field = query.b.distance_field();
  double spacing = field.spacing();
  if (query.a.kind() == ShapeKind::mesh) {
    surface_against_field(query, query.a.mesh(), query.pose_a, nullptr, field, query.pose_b, true, 0);
  } else {
    const DistanceField& other = query.a.distance_field();
    spacing = std::min(spacing, other.spacing());
    surface_against_field(query, other.surface(), query.pose_a, other.formula(), field, query.pose_b, true,
                          0);
    surface_against_field(query, field.surface(), query.pose_b, field.formula(), other, query.pose_a, false,
                          1u << 31);
  }
  thin_out(query, begin, 0.25 * spacing, query.settings.max_field_points);
}

// The vertices of the field's surface over the terrain.
void collide_height_field_distance_field(const PairQuery& query) {
  const std::size_t begin = query.points.size();
  const DistanceField& field = query.b.distance_field();
  const Pose to_terrain = query.pose_a.inverse() * query.pose_b;
  const auto& vertices = field.surface().vertices();
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    const Vec3 p = to_terrain * vertices[v];
    double gap;
    Vec3 normal;
    if (!query.a.height_field().height_above(p, gap, normal) || gap > query.margin) continue;
    const Vec3 outward = query.pose_a.rotation * normal;
    query.points.push_back(
        {query.pose_a * p - 0.5 * gap * outward, outward, gap, static_cast<std::uint32_t>(v)});
  }
  thin_out(query, begin, 0.25 * field.spacing(), query.settings.max_field_points);
}

}  // namespace tribo::detail
