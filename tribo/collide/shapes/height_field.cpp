#include "tribo/collide/shapes/height_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tribo/base/errors.h"

namespace tribo {

std::shared_ptr<const HeightField> HeightField::make(Index rows, Index columns, std::vector<double> elevation,
                                                     const std::array<double, 4>& size) {
  if (rows < 2 || columns < 2)
    throw InvalidInput(
        fmt::format("a height field has {} x {} samples: at least 2 x 2 are needed", rows, columns));
  if (elevation.size() != static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns))
    throw InvalidInput(fmt::format("elevation of a height field has {} values: {} x {} need {}",
                                   elevation.size(), rows, columns,
                                   static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)));
  for (int k = 0; k < 4; ++k)
    if (!std::isfinite(size[k]) || size[k] < 0.0 || (k < 2 && size[k] == 0.0))
      throw InvalidInput(fmt::format("size[{}] of a height field is {}: it must be finite and {} 0", k,
                                     size[k], k < 2 ? ">" : ">="));
  std::shared_ptr<HeightField> field(new HeightField);
  field->rows_ = rows;
  field->columns_ = columns;
  field->half_x_ = size[0];
  field->half_y_ = size[1];
  field->step_x_ = 2.0 * size[0] / (columns - 1);
  field->step_y_ = 2.0 * size[1] / (rows - 1);
  field->base_ = size[3];
  double low = -size[3], high = -size[3];
  for (std::size_t k = 0; k < elevation.size(); ++k) {
    elevation[k] *= size[2];
    if (!std::isfinite(elevation[k]))
      throw InvalidInput(fmt::format("elevation {} of a height field is not finite", k));
    low = std::min(low, elevation[k]);
    high = std::max(high, elevation[k]);
  }
  field->heights_ = std::move(elevation);
  field->bounds_ = {Vec3(-size[0], -size[1], low), Vec3(size[0], size[1], high)};
  return field;
}

std::array<Vec3, 3> HeightField::triangle(Index t) const {
  const Index cell = t / 2, row = cell / (columns_ - 1), column = cell % (columns_ - 1);
  if (t % 2 == 0) return {vertex(row, column), vertex(row, column + 1), vertex(row + 1, column)};
  return {vertex(row + 1, column + 1), vertex(row + 1, column), vertex(row, column + 1)};
}

Vec3 HeightField::normal_across(Index t, int k) const {
  const Index cell = t / 2, row = cell / (columns_ - 1), column = cell % (columns_ - 1);
  Index other = -1;
  const bool lower = t % 2 == 0;
  if (k == 1) {
    other = lower ? t + 1 : t - 1;  // the diagonal
  } else if (k == 0) {              // along x: the row below or above
    if (lower && row > 0) other = t - 2 * (columns_ - 1) + 1;
    if (!lower && row + 2 < rows_) other = t + 2 * (columns_ - 1) - 1;
  } else {  // along y
    if (lower && column > 0) other = t - 1;
    if (!lower && column + 2 < columns_) other = t + 1;
  }
  if (other < 0) return Vec3::Zero();
  const auto corners = triangle(other);
  return (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalized();
}

bool HeightField::height_above(const Vec3& point, double& distance, Vec3& normal) const {
  const double fx = (point.x() + half_x_) / step_x_, fy = (point.y() + half_y_) / step_y_;
  if (!(fx >= 0.0 && fy >= 0.0 && fx <= columns_ - 1 && fy <= rows_ - 1)) return false;
  const Index column = std::min(static_cast<Index>(fx), columns_ - 2),
              row = std::min(static_cast<Index>(fy), rows_ - 2);
  const bool upper = fx - column + fy - row > 1.0;
  const auto corners = triangle(2 * (row * (columns_ - 1) + column) + (upper ? 1 : 0));
  normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalized();
  distance = normal.dot(point - corners[0]);
  return true;
}

void HeightField::find(const Aabb& region, std::vector<Index>& hits) const {
  const auto cells = [](double from, double to, double half, double step, Index count, Index& first,
                        Index& last) {
    if (to < -half || from > half) return false;
    first = static_cast<Index>(std::clamp((from + half) / step, 0.0, static_cast<double>(count - 2)));
    last = static_cast<Index>(std::clamp((to + half) / step, 0.0, static_cast<double>(count - 2)));
    return true;
  };
  Index x0, x1, y0, y1;
  if (!cells(region.lower.x(), region.upper.x(), half_x_, step_x_, columns_, x0, x1)) return;
  if (!cells(region.lower.y(), region.upper.y(), half_y_, step_y_, rows_, y0, y1)) return;
  if (region.upper.z() < bounds_.lower.z()) return;
  for (Index row = y0; row <= y1; ++row)
    for (Index column = x0; column <= x1; ++column) {
      const Index cell = row * (columns_ - 1) + column;
      for (const Index t : {2 * cell, 2 * cell + 1}) {
        const auto corners = triangle(t);
        if (region.lower.z() <= std::max({corners[0].z(), corners[1].z(), corners[2].z()})) hits.push_back(t);
      }
    }
}

}  // namespace tribo
