#include "tribo/io/assets/mesh_polygons.h"

#include <cstdint>
#include <limits>

namespace tribo::detail {
namespace {

// In single precision, as the decisions are made there.
using Point = Eigen::Vector2f;

float turn(const Point& a, const Point& b) { return a.x() * b.y() - a.y() * b.x(); }

// The axes of the plane in which the first corner that is one has the largest area.
std::array<int, 2> choose_axes(std::span<const Index> corners, const std::vector<Vec3>& vertices) {
  const std::size_t n = corners.size();
  for (std::size_t k = 0; k < n; ++k) {
    const auto at = [&](std::size_t i) -> Eigen::Vector3f {
      return vertices[static_cast<std::size_t>(corners[(k + i) % n])].cast<float>();
    };
    const Eigen::Vector3f area =
        Eigen::Vector3f(at(1) - at(0)).cross(Eigen::Vector3f(at(2) - at(1))).cwiseAbs();
    if (!(area.maxCoeff() > std::numeric_limits<float>::epsilon())) continue;
    if (area.x() > area.y() && area.x() > area.z()) return {1, 2};
    return area.z() > area.x() && area.z() > area.y() ? std::array<int, 2>{0, 1} : std::array<int, 2>{0, 2};
  }
  return {1, 2};
}

// By the number of edges that a ray from the point crosses.
bool is_inside(const Point& p, const std::array<Point, 3>& triangle) {
  bool inside = false;
  for (std::size_t i = 0, j = 2; i < 3; j = i++) {
    const Point &a = triangle[i], &b = triangle[j];
    if ((a.y() > p.y()) != (b.y() > p.y()) &&
        p.x() < (b.x() - a.x()) * (p.y() - a.y()) / (b.y() - a.y()) + a.x()) {
      inside = !inside;
    }
  }
  return inside;
}

class EarCutter {
 public:
  EarCutter(std::span<const Index> corners, const std::vector<Vec3>& vertices)
      : rest_(corners.begin(), corners.end()) {
    const std::array<int, 2> axes = choose_axes(corners, vertices);
    for (const Index corner : corners) {
      const Vec3& v = vertices[static_cast<std::size_t>(corner)];
      points_.emplace_back(static_cast<float>(v[axes[0]]), static_cast<float>(v[axes[1]]));
    }
  }

  void cut(std::vector<std::array<Index, 3>>& triangles) {
    std::size_t first = 0, tries = rest_.size();
    while (rest_.size() > 3 && tries > 0) {
      const std::size_t n = rest_.size();
      first %= n;
      if (!is_ear(first)) {
        ++first;
        --tries;
        continue;
      }
      const std::size_t middle = (first + 1) % n;
      triangles.push_back({rest_[first], rest_[middle], rest_[(first + 2) % n]});
      rest_.erase(rest_.begin() + static_cast<std::ptrdiff_t>(middle));
      points_.erase(points_.begin() + static_cast<std::ptrdiff_t>(middle));
      tries = rest_.size();
    }
    if (rest_.size() == 3) triangles.push_back({rest_[0], rest_[1], rest_[2]});
  }

 private:
  // The corner turns the way its first edge turns about the origin of the axes, and no other corner is inside.
  bool is_ear(std::size_t first) const {
    const std::size_t n = rest_.size();
    const std::array<Point, 3> ear{points_[first], points_[(first + 1) % n], points_[(first + 2) % n]};
    const float corner = turn(ear[1] - ear[0], ear[2] - ear[1]);
    if (corner * (turn(ear[0], ear[1]) * 0.5f) < 0.0f) return false;
    for (std::size_t other = 3; other < n; ++other) {
      if (is_inside(points_[(first + other) % n], ear)) return false;
    }
    return true;
  }

  std::vector<Index> rest_;
  std::vector<Point> points_;
};

}  // namespace

void triangulate(std::span<const Index> corners, const std::vector<Vec3>& vertices,
                 std::vector<std::array<Index, 3>>& triangles) {
  if (corners.size() == 3) {
    triangles.push_back({corners[0], corners[1], corners[2]});
  } else if (corners.size() == 4) {
    const auto diagonal = [&](std::size_t a, std::size_t b) {
      const Eigen::Vector3f from = vertices[static_cast<std::size_t>(corners[a])].cast<float>();
      return (vertices[static_cast<std::size_t>(corners[b])].cast<float>() - from).squaredNorm();
    };
    const std::size_t shift = diagonal(0, 2) < diagonal(1, 3) ? 0 : 1;
    triangles.push_back({corners[0], corners[1], corners[2 + shift]});
    triangles.push_back({corners[shift], corners[2], corners[3]});
  } else if (corners.size() > 4) {
    EarCutter(corners, vertices).cut(triangles);
  }
}

}  // namespace tribo::detail
