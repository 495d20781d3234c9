// Signed distance of a solid's surface (negative inside), from a formula or sampled on a grid, together with the triangles
// of the surface. Two bodies touch where the triangles of one come near the zero of the other's field, so that
// non-convex bodies (bolts, bowls) need no pieces.
//
// Example
//   auto ring = DistanceField::bake([](const Vec3& x) { ... }, {lower, upper}, 0.002);   // spacing m
//   Shape shape = Shape::distance_field(ring);
//   Shape bolt = threaded_bolt({}).shape(0.002);   // exact field; pieces of the surface at most 2 mm long
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tribo/collide/shape.h"
#include "tribo/collide/shapes/solid.h"
#include "tribo/collide/shapes/triangle_mesh.h"

namespace tribo {

class DistanceField {
 public:
  using Function = std::function<double(const Vec3&)>;

  // Samples the function on a grid over `region` (which has to contain the solid with some room around) and
  // finds the surface by marching tetrahedra, its vertices moved onto the zero of the function.
  static std::shared_ptr<const DistanceField> bake(const Function& distance, const Aabb& region,
                                                   double spacing);
  // Field of a closed mesh, which also gives the surface triangles.
  static std::shared_ptr<const DistanceField> around(std::shared_ptr<const TriangleMesh> mesh,
                                                     double spacing);
  // Field of a primitive (sphere, capsule, box, cylinder) or hull.
  static std::shared_ptr<const DistanceField> of(const Shape& shape, double spacing);
  // The formula itself, nothing is sampled; only the triangles have the spacing.
  static std::shared_ptr<const DistanceField> of(const Solid& solid, double spacing);

  struct Sample {
    double distance;
    Vec3 gradient;  // of the trilinear interpolant or the formula; length 1 up to their errors
  };
  // Outside a grid: the value at the nearest point of the grid plus the distance to that point.
  Sample sample(const Vec3& point) const;
  // Null: there is a grid.
  const Solid* formula() const { return formula_ ? &*formula_ : nullptr; }

  const TriangleMesh& surface() const { return *surface_; }
  double spacing() const { return spacing_; }
  const Aabb& bounds() const { return surface_->bounds(); }
  // Of the formula where it knows them, else of the surface.
  const VolumeMoments& moments() const { return moments_; }

 private:
  DistanceField() = default;
  void sample_grid(const Function& distance, const Aabb& region, double spacing);
  void take_surface(std::shared_ptr<const TriangleMesh> surface);
  Sample interpolated(const Vec3& point) const;

  Vec3 origin_ = Vec3::Zero();
  double spacing_ = 1.0;
  std::array<Index, 3> count_{0, 0, 0};
  std::vector<double> values_;
  std::optional<Solid> formula_;
  std::shared_ptr<const TriangleMesh> surface_;
  VolumeMoments moments_;
};

}  // namespace tribo
