// Collision shapes. A shape lives in its own frame, centred; where it is in the world is a Pose beside it.
//
// | kind           | size (half extents, m)                  | data           |
// | plane          | -: the half space z <= 0                |                |
// | sphere         | radius                                  |                |
// | capsule        | radius, half length of the segment (z)  |                |
// | box            | half x, y, z                            |                |
// | cylinder       | radius, half height (z)                 |                |
// | ellipsoid      | half axes x, y, z                       |                |
// | hull           | -                                       | ConvexHull     |
// | mesh           | -: a surface, as triangles              | TriangleMesh   |
// | height_field   | -                                       | HeightField    |
// | distance_field | -                                       | DistanceField  |
//
// Example
//   Shape crate = Shape::box({0.5, 0.5, 0.5});
//   Shape rock = Shape::hull(ConvexHull::around(points));
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "tribo/math/pose.h"

namespace tribo {

enum class ShapeKind : std::uint8_t {
  plane,
  sphere,
  capsule,
  box,
  cylinder,
  ellipsoid,
  hull,
  mesh,
  height_field,
  distance_field
};
std::string_view to_string(ShapeKind kind);

struct Aabb {
  Vec3 lower, upper;
  bool overlaps(const Aabb& other) const {
    return (lower.array() <= other.upper.array()).all() && (other.lower.array() <= upper.array()).all();
  }
};

class ConvexHull;     // collide/shapes/convex_hull.h
class TriangleMesh;   // collide/shapes/triangle_mesh.h
class HeightField;    // collide/shapes/height_field.h
class DistanceField;  // collide/shapes/distance_field.h

// Volume and its moments at density 1, for inertias: volume [m^3], centre [m], second moments about the centre
// as an inertia tensor [m^5].
struct VolumeMoments {
  double volume = 0.0;
  Vec3 center = Vec3::Zero();
  Mat3 inertia = Mat3::Zero();
};

class Shape {
 public:
  static Shape plane();
  static Shape sphere(double radius);
  static Shape capsule(double radius, double half_length);
  static Shape box(const Vec3& half);
  static Shape cylinder(double radius, double half_height);
  static Shape ellipsoid(const Vec3& half_axes);
  static Shape hull(std::shared_ptr<const ConvexHull> hull);
  static Shape mesh(std::shared_ptr<const TriangleMesh> mesh);
  static Shape height_field(std::shared_ptr<const HeightField> field);
  static Shape distance_field(std::shared_ptr<const DistanceField> field);

  ShapeKind kind() const { return kind_; }
  const Vec3& size() const { return size_; }
  double radius() const { return size_.x(); }       // sphere, capsule, cylinder
  double half_length() const { return size_.y(); }  // capsule, cylinder
  const ConvexHull& hull() const { return *hull_; }
  const TriangleMesh& mesh() const { return *mesh_; }
  const HeightField& height_field() const { return *height_field_; }
  const DistanceField& distance_field() const { return *distance_field_; }

  // Tight for primitives; a plane is unbounded (infinite entries).
  Aabb bounds(const Pose& pose) const;
  // Plane and height field have none (zero volume). Mesh: of the closed surface.
  VolumeMoments moments() const;

 private:
  ShapeKind kind_ = ShapeKind::sphere;
  Vec3 size_ = Vec3::Zero();
  std::shared_ptr<const ConvexHull> hull_;
  std::shared_ptr<const TriangleMesh> mesh_;
  std::shared_ptr<const HeightField> height_field_;
  std::shared_ptr<const DistanceField> distance_field_;
};

}  // namespace tribo
