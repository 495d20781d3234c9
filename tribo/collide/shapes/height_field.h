// Terrain over a rectangular grid, as MJCF's hfield: rows along y, columns along x, centred in the shape frame,
// solid from z = -base up to the surface.
//
// Example
//   auto hill = HeightField::make(3, 3, {0, 0, 0, 0, 1, 0, 0, 0, 0}, {5.0, 5.0, 0.8, 0.1});
//   Shape terrain = Shape::height_field(hill);   // 10 m x 10 m, 0.8 m high in the middle
#pragma once

#include <Eigen/Core>
#include <array>
#include <memory>
#include <vector>

#include "tribo/collide/shape.h"

namespace tribo {

class HeightField {
 public:
  // `elevation` [rows x columns], row by row from the lowest y, each row from the lowest x; the height is
  // elevation * size[2]. `size`: half width in x, half width in y, height of elevation 1, thickness of the base
  // below z = 0, all m.
  static std::shared_ptr<const HeightField> make(Index rows, Index columns, std::vector<double> elevation,
                                                 const std::array<double, 4>& size);

  Index rows() const { return rows_; }
  Index columns() const { return columns_; }
  double base() const { return base_; }
  Vec3 vertex(Index row, Index column) const {
    return {-half_x_ + column * step_x_, -half_y_ + row * step_y_, heights_[row * columns_ + column]};
  }
  // Two triangles per cell, numbered 2 cell and 2 cell + 1, cells row by row; counter-clockwise seen from above.
  std::array<Vec3, 3> triangle(Index t) const;
  // Unit normal of the triangle next to edge (corner k, corner k + 1); zero on the border.
  Vec3 normal_across(Index t, int k) const;
  const Aabb& bounds() const { return bounds_; }

  // Distance of a point from the plane of the triangle above or below it, < 0 underground; false: beside the field.
  bool height_above(const Vec3& point, double& distance, Vec3& normal) const;

  // Appends the triangles whose boxes meet `region` (in the shape frame), ascending; what lies below the surface
  // counts as near it.
  void find(const Aabb& region, std::vector<Index>& hits) const;

 private:
  HeightField() = default;

  Index rows_ = 0, columns_ = 0;
  double half_x_ = 0.0, half_y_ = 0.0, step_x_ = 0.0, step_y_ = 0.0, base_ = 0.0;
  std::vector<double> heights_;
  Aabb bounds_{Vec3::Zero(), Vec3::Zero()};
};

}  // namespace tribo
