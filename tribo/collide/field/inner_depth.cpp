#include "tribo/collide/field/inner_depth.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/collide/shapes/convex_hull.h"
#include "tribo/collide/shapes/distance_field.h"

namespace tribo::detail {

namespace {

constexpr Index kLattice = 24;  // cells along each side in the search of the largest depth
constexpr double kGridSteepest =
    1.2;  // of interpolated distances; their slope is 1 up to the error of the grid

DepthSample round_depth(double radius, const Vec3& from_middle) {
  const double length = from_middle.norm();
  return {radius - length, length > 0.0 ? Vec3(-from_middle / length) : Vec3(0.0, 0.0, -1.0)};
}

DepthSample box_depth(const Vec3& half, const Vec3& x) {
  Eigen::Index face = 0;
  const double depth = (half - x.cwiseAbs()).minCoeff(&face);
  Vec3 gradient = Vec3::Zero();
  gradient[face] = x[face] > 0.0 ? -1.0 : 1.0;
  return {depth, gradient};
}

DepthSample cylinder_depth(double radius, double half_height, const Vec3& x) {
  const DepthSample side = round_depth(radius, Vec3(x.x(), x.y(), 0.0));
  const double end = half_height - std::abs(x.z());
  if (side.depth <= end) return side;
  return {end, Vec3(0.0, 0.0, x.z() > 0.0 ? -1.0 : 1.0)};
}

DepthSample ellipsoid_depth(const Vec3& axes, const Vec3& x) {
  const Vec3 scaled = x.cwiseQuotient(axes);
  const double length = scaled.norm(), shortest = axes.minCoeff();
  if (length == 0.0) return {shortest, Vec3::Zero()};
  return {shortest * (1.0 - length), -shortest / length * scaled.cwiseQuotient(axes)};
}

DepthSample hull_depth(const ConvexHull& hull, const Vec3& x) {
  double depth = std::numeric_limits<double>::infinity();
  Index nearest = 0;
  for (Index f = 0; f < hull.face_count(); ++f) {
    const double below = hull.face_offset(f) - hull.face_normal(f).dot(x);
    if (below >= depth) continue;
    depth = below;
    nearest = f;
  }
  return {depth, -hull.face_normal(nearest)};
}

double searched_depth(const Shape& shape) {
  const Aabb box = shape.bounds(Pose{});
  const Vec3 step = (box.upper - box.lower) / kLattice;
  double most = 0.0;
  for (Index i = 0; i <= kLattice; ++i) {
    for (Index j = 0; j <= kLattice; ++j) {
      for (Index k = 0; k <= kLattice; ++k) {
        const Vec3 x = box.lower + step.cwiseProduct(Vec3(i, j, k));
        most = std::max(most, depth_at(shape, x));
      }
    }
  }
  return most;
}

}  // namespace

bool has_depth(ShapeKind kind) { return kind != ShapeKind::mesh && kind != ShapeKind::height_field; }

DepthSample sample_depth(const Shape& shape, const Vec3& x) {
  switch (shape.kind()) {
    case ShapeKind::plane:
      return {-x.z(), Vec3(0.0, 0.0, -1.0)};
    case ShapeKind::sphere:
      return round_depth(shape.radius(), x);
    case ShapeKind::capsule: {
      const double l = shape.half_length();
      return round_depth(shape.radius(), x - Vec3(0.0, 0.0, std::clamp(x.z(), -l, l)));
    }
    case ShapeKind::box:
      return box_depth(shape.size(), x);
    case ShapeKind::cylinder:
      return cylinder_depth(shape.radius(), shape.half_length(), x);
    case ShapeKind::ellipsoid:
      return ellipsoid_depth(shape.size(), x);
    case ShapeKind::hull:
      return hull_depth(shape.hull(), x);
    case ShapeKind::distance_field: {
      const DistanceField::Sample sample = shape.distance_field().sample(x);
      return {-sample.distance, -sample.gradient};
    }
    case ShapeKind::mesh:
    case ShapeKind::height_field:
      break;
  }
  return {-std::numeric_limits<double>::infinity(), Vec3::Zero()};
}

double depth_at(const Shape& shape, const Vec3& x) {
  switch (shape.kind()) {
    case ShapeKind::plane:
      return -x.z();
    case ShapeKind::sphere:
      return shape.radius() - x.norm();
    case ShapeKind::box:
      return (shape.size() - x.cwiseAbs()).minCoeff();
    case ShapeKind::ellipsoid:
      return shape.size().minCoeff() * (1.0 - x.cwiseQuotient(shape.size()).norm());
    default:
      return sample_depth(shape, x).depth;
  }
}

double largest_depth(const Shape& shape) {
  switch (shape.kind()) {
    case ShapeKind::plane:
      return std::numeric_limits<double>::infinity();
    case ShapeKind::sphere:
    case ShapeKind::capsule:
      return shape.radius();
    case ShapeKind::cylinder:
      return std::min(shape.radius(), shape.half_length());
    case ShapeKind::box:
    case ShapeKind::ellipsoid:
      return shape.size().minCoeff();
    default:
      return has_depth(shape.kind()) ? searched_depth(shape) : 0.0;
  }
}

double steepest(const Shape& shape) {
  const bool sampled =
      shape.kind() == ShapeKind::distance_field && shape.distance_field().formula() == nullptr;
  return sampled ? kGridSteepest : 1.0;
}

}  // namespace tribo::detail
