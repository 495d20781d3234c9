// Contacts through signed distance fields (Lee et al. 2024, section VII-A): every triangle of one body near the other
// looks for the least value of the other's field on it by Frank-Wolfe steps, that is, towards the corner that is
// farthest down the gradient; the points found are thinned out to a maximum.
#include "tribo/collide/narrow/field_pairs.h"

#include <cmath>

#include "tribo/collide/narrow/pair_scratch.h"
#include "tribo/collide/narrow/surface_clusters.h"
#include "tribo/collide/shapes/distance_field.h"
#include "tribo/collide/shapes/height_field.h"

namespace tribo::detail {

namespace {

constexpr int frank_wolfe_steps = 12;

struct Deepest {
  Vec3 point;
  DistanceField::Sample sample;
};

// Least value of the field on the triangle (corners in the field's frame).
Deepest deepest_on_triangle(const DistanceField& field, const std::array<Vec3, 3>& corners) {
  Deepest best{(corners[0] + corners[1] + corners[2]) / 3.0, {}};
  best.sample = field.sample(best.point);
  for (const Vec3& corner : corners) {
    const auto sample = field.sample(corner);
    if (sample.distance < best.sample.distance) best = {corner, sample};
  }
  for (int step = 0; step < frank_wolfe_steps; ++step) {
    const Vec3* target = &corners[0];
    for (const Vec3& corner : corners)
      if (best.sample.gradient.dot(corner) < best.sample.gradient.dot(*target)) target = &corner;
    const Vec3 way = *target - best.point;
    const double decrease = -best.sample.gradient.dot(way);
    if (decrease <= 1e-6 * field.spacing()) break;
    // The field is convex along most short ways: halve the step until the value falls.
    bool moved = false;
    for (double t = 2.0 / (step + 2.0); t > 1e-3 && !moved; t *= 0.5) {
      const Vec3 point = best.point + t * way;
      const auto sample = field.sample(point);
      if (sample.distance >= best.sample.distance) continue;
      best = {point, sample};
      moved = true;
    }
    if (!moved) break;
  }
  return best;
}

// Triangles of `surface` (placed by `pose`) against `field` (placed by `field_pose`). `towards_field`: the normals of
// the pair point from the surface to the field.
void surface_against_field(const PairQuery& query, const TriangleMesh& surface, const Pose& pose,
                           const DistanceField& field, const Pose& field_pose, bool towards_field,
                           std::uint32_t salt) {
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
    if (field.sample(middle).distance > query.margin + 1.2 * std::sqrt(radius2) + 0.1 * field.spacing())
      continue;
    const Deepest deep = deepest_on_triangle(field, corners);
    const double slope = deep.sample.gradient.norm();
    if (deep.sample.distance > query.margin || slope < 0.1) continue;
    const Vec3 outward = field_pose.rotation * deep.sample.gradient / slope;
    const double gap = deep.sample.distance;
    query.points.push_back({field_pose * deep.point - 0.5 * gap * outward,
                            towards_field ? Vec3(-outward) : outward, gap,
                            salt + static_cast<std::uint32_t>(t)});
  }
}

}  // namespace

void collide_surface_field(const PairQuery& query) {
  const std::size_t begin = query.points.size();
  const DistanceField& field = query.b.distance_field();
  double spacing = field.spacing();
  if (query.a.kind() == ShapeKind::mesh) {
    surface_against_field(query, query.a.mesh(), query.pose_a, field, query.pose_b, true, 0);
  } else {
    const DistanceField& other = query.a.distance_field();
    spacing = std::min(spacing, other.spacing());
    surface_against_field(query, other.surface(), query.pose_a, field, query.pose_b, true, 0);
    surface_against_field(query, field.surface(), query.pose_b, other, query.pose_a, false, 1u << 31);
  }
  thin_out(query, begin, 0.25 * spacing, query.settings.max_field_points);
}

// The vertices of the field's surface over the terrain.
void collide_height_field_field(const PairQuery& query) {
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
