// Makers, bounds and moments of the shapes.
#include "tribo/collide/shape.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "tribo/base/errors.h"
#include "tribo/collide/shapes/convex_hull.h"
#include "tribo/collide/shapes/distance_field.h"
#include "tribo/collide/shapes/height_field.h"
#include "tribo/collide/shapes/triangle_mesh.h"

namespace tribo {

namespace {

using std::numbers::pi;

void require_size(std::string_view shape, std::string_view name, double value, bool zero_allowed = false) {
  if (std::isfinite(value) && (value > 0.0 || (zero_allowed && value == 0.0))) return;
  throw InvalidInput(fmt::format("{} of a {} is {}: it must be finite and {} 0", name, shape, value,
                                 zero_allowed ? ">=" : ">"));
}

void require_data(std::string_view shape, bool present) {
  if (!present) throw InvalidInput(fmt::format("a {} needs its data: the pointer is null", shape));
}

// Tight box around a box given in the shape's frame.
Aabb moved(const Aabb& box, const Pose& pose) {
  const Vec3 half = 0.5 * (box.upper - box.lower);
  const Vec3 center = pose * (0.5 * (box.upper + box.lower));
  const Vec3 reach = pose.rotation.cwiseAbs() * half;
  return {center - reach, center + reach};
}

Aabb hull_bounds(const ConvexHull& hull, const Pose& pose) {
  // Tight bounds cost a support query per direction; small hulls are cheaper vertex by vertex.
  if (hull.vertices().size() > 64) return moved(hull.bounds(), pose);
  Vec3 lower = Vec3::Constant(std::numeric_limits<double>::infinity()), upper = -lower;
  for (const Vec3& vertex : hull.vertices()) {
    const Vec3 p = pose.rotation * vertex;
    lower = lower.cwiseMin(p);
    upper = upper.cwiseMax(p);
  }
  return {pose.position + lower, pose.position + upper};
}

VolumeMoments diagonal_moments(double volume, const Vec3& inertia) {
  VolumeMoments result;
  result.volume = volume;
  result.inertia = (volume * inertia).asDiagonal();
  return result;
}

VolumeMoments capsule_moments(double r, double l) {
  // A cylinder of half length l and two half balls, whose centres of mass sit 3r/8 beyond the ends.
  const double tube = 2.0 * pi * r * r * l, ball = 4.0 / 3.0 * pi * r * r * r;
  const double axial = 0.5 * tube * r * r + 0.4 * ball * r * r;
  const double lateral = tube * (r * r / 4.0 + l * l / 3.0) + ball * (0.4 * r * r + l * l + 0.75 * r * l);
  VolumeMoments result;
  result.volume = tube + ball;
  result.inertia = Vec3(lateral, lateral, axial).asDiagonal();
  return result;
}

}  // namespace

std::string_view to_string(ShapeKind kind) {
  switch (kind) {
    case ShapeKind::plane:
      return "plane";
    case ShapeKind::sphere:
      return "sphere";
    case ShapeKind::capsule:
      return "capsule";
    case ShapeKind::box:
      return "box";
    case ShapeKind::cylinder:
      return "cylinder";
    case ShapeKind::ellipsoid:
      return "ellipsoid";
    case ShapeKind::hull:
      return "hull";
    case ShapeKind::mesh:
      return "mesh";
    case ShapeKind::height_field:
      return "height_field";
    case ShapeKind::distance_field:
      return "distance_field";
  }
  return "unknown";
}

Shape Shape::plane() {
  Shape shape;
  shape.kind_ = ShapeKind::plane;
  return shape;
}

Shape Shape::sphere(double radius) {
  require_size("sphere", "radius", radius);
  Shape shape;
  shape.kind_ = ShapeKind::sphere;
  shape.size_ = Vec3(radius, 0.0, 0.0);
  return shape;
}

Shape Shape::capsule(double radius, double half_length) {
  require_size("capsule", "radius", radius);
  require_size("capsule", "half length", half_length, true);
  Shape shape;
  shape.kind_ = ShapeKind::capsule;
  shape.size_ = Vec3(radius, half_length, 0.0);
  return shape;
}

Shape Shape::box(const Vec3& half) {
  for (int k = 0; k < 3; ++k) require_size("box", "half extent", half[k]);
  Shape shape;
  shape.kind_ = ShapeKind::box;
  shape.size_ = half;
  return shape;
}

Shape Shape::cylinder(double radius, double half_height) {
  require_size("cylinder", "radius", radius);
  require_size("cylinder", "half height", half_height);
  Shape shape;
  shape.kind_ = ShapeKind::cylinder;
  shape.size_ = Vec3(radius, half_height, 0.0);
  return shape;
}

Shape Shape::ellipsoid(const Vec3& half_axes) {
  for (int k = 0; k < 3; ++k) require_size("ellipsoid", "half axis", half_axes[k]);
  Shape shape;
  shape.kind_ = ShapeKind::ellipsoid;
  shape.size_ = half_axes;
  return shape;
}

Shape Shape::hull(std::shared_ptr<const ConvexHull> hull) {
  require_data("hull", hull != nullptr);
  Shape shape;
  shape.kind_ = ShapeKind::hull;
  shape.hull_ = std::move(hull);
  return shape;
}

Shape Shape::mesh(std::shared_ptr<const TriangleMesh> mesh) {
  require_data("mesh", mesh != nullptr);
  Shape shape;
  shape.kind_ = ShapeKind::mesh;
  shape.mesh_ = std::move(mesh);
  return shape;
}

Shape Shape::height_field(std::shared_ptr<const HeightField> field) {
  require_data("height field", field != nullptr);
  Shape shape;
  shape.kind_ = ShapeKind::height_field;
  shape.height_field_ = std::move(field);
  return shape;
}

Shape Shape::distance_field(std::shared_ptr<const DistanceField> field) {
  require_data("distance field", field != nullptr);
  Shape shape;
  shape.kind_ = ShapeKind::distance_field;
  shape.distance_field_ = std::move(field);
  return shape;
}

Aabb Shape::bounds(const Pose& pose) const {
  const Mat3& r = pose.rotation;
  const auto around = [&](const Vec3& reach) { return Aabb{pose.position - reach, pose.position + reach}; };
  switch (kind_) {
    case ShapeKind::plane:
      return around(Vec3::Constant(std::numeric_limits<double>::infinity()));
    case ShapeKind::sphere:
      return around(Vec3::Constant(size_.x()));
    case ShapeKind::capsule:
      return around((size_.y() * r.col(2).cwiseAbs()).array() + size_.x());
    case ShapeKind::box:
      return around(r.cwiseAbs() * size_);
    case ShapeKind::cylinder: {
      // A disc with unit normal z reaches radius * sqrt(1 - z_k^2) along axis k.
      const Vec3 z = r.col(2);
      const Vec3 disc = (1.0 - z.array().square()).max(0.0).sqrt();
      return around(size_.x() * disc + size_.y() * z.cwiseAbs());
    }
    case ShapeKind::ellipsoid:
      return around((r * size_.asDiagonal()).rowwise().norm());
    case ShapeKind::hull:
      return hull_bounds(*hull_, pose);
    case ShapeKind::mesh:
      return moved(mesh_->bounds(), pose);
    case ShapeKind::height_field:
      return moved(height_field_->bounds(), pose);
    case ShapeKind::distance_field:
      return moved(distance_field_->bounds(), pose);
  }
  return around(Vec3::Zero());
}

VolumeMoments Shape::moments() const {
  const Vec3 s = size_, s2 = s.cwiseProduct(s);
  const Vec3 crossed(s2.y() + s2.z(), s2.z() + s2.x(), s2.x() + s2.y());
  switch (kind_) {
    case ShapeKind::plane:
    case ShapeKind::height_field:
      return {};
    case ShapeKind::sphere:
      return diagonal_moments(4.0 / 3.0 * pi * s.x() * s2.x(), Vec3::Constant(0.4 * s2.x()));
    case ShapeKind::capsule:
      return capsule_moments(s.x(), s.y());
    case ShapeKind::box:
      return diagonal_moments(8.0 * s.prod(), crossed / 3.0);
    case ShapeKind::cylinder: {
      const double lateral = s2.x() / 4.0 + s2.y() / 3.0;
      return diagonal_moments(2.0 * pi * s2.x() * s.y(), Vec3(lateral, lateral, 0.5 * s2.x()));
    }
    case ShapeKind::ellipsoid:
      return diagonal_moments(4.0 / 3.0 * pi * s.prod(), crossed / 5.0);
    case ShapeKind::hull:
      return hull_->moments();
    case ShapeKind::mesh:
      return mesh_->moments();
    case ShapeKind::distance_field:
      return distance_field_->moments();
  }
  return {};
}

}  // namespace tribo
