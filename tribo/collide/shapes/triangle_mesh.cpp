#include "tribo/collide/shapes/triangle_mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "tribo/base/errors.h"
#include "tribo/collide/shapes/volume_moments.h"

namespace tribo {

namespace {

constexpr Index leaf_size = 4;

Aabb empty_box() {
  const Vec3 far = Vec3::Constant(std::numeric_limits<double>::infinity());
  return {far, -far};
}

void grow(Aabb& box, const Vec3& point) {
  box.lower = box.lower.cwiseMin(point);
  box.upper = box.upper.cwiseMax(point);
}

void check(const std::vector<Vec3>& vertices, const std::vector<TriangleMesh::Triangle>& triangles) {
  for (std::size_t v = 0; v < vertices.size(); ++v)
    if (!vertices[v].allFinite())
      throw InvalidInput(fmt::format("vertex {} of a triangle mesh is not finite", v));
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (const Index v : triangles[t])
      if (v < 0 || v >= static_cast<Index>(vertices.size()))
        throw InvalidInput(
            fmt::format("triangle {} of a mesh names vertex {}: there are {}", t, v, vertices.size()));
}

}  // namespace

std::shared_ptr<const TriangleMesh> TriangleMesh::make(std::vector<Vec3> vertices,
                                                       std::vector<Triangle> triangles) {
  check(vertices, triangles);
  auto mesh = std::make_shared<TriangleMesh>(TriangleMesh());
  mesh->vertices_ = std::move(vertices);
  mesh->bounds_ = empty_box();
  for (const Triangle& t : triangles) {
    const Vec3 &a = mesh->vertices_[t[0]], &b = mesh->vertices_[t[1]], &c = mesh->vertices_[t[2]];
    const Vec3 cross = (b - a).cross(c - a);
    const double longest2 = std::max({(b - a).squaredNorm(), (c - b).squaredNorm(), (a - c).squaredNorm()});
    if (!(cross.norm() > 1e-12 * longest2)) continue;
    mesh->triangles_.push_back(t);
    mesh->normals_.push_back(cross.normalized());
    for (const Vec3* p : {&a, &b, &c}) grow(mesh->bounds_, *p);
  }
  if (mesh->triangles_.empty()) throw InvalidInput("a triangle mesh needs at least one triangle with area");
  mesh->link();
  mesh->build_tree();
  return mesh;
}

VolumeMoments TriangleMesh::moments() const { return detail::surface_moments(vertices_, triangles_); }

namespace detail {

std::vector<Index> first_at_same_place(const std::vector<Vec3>& vertices) {
  const auto count = static_cast<Index>(vertices.size());
  std::vector<Index> order(count), same(count);
  std::iota(order.begin(), order.end(), 0);
  const auto less = [&](Index i, Index j) {
    const Vec3 &p = vertices[i], &q = vertices[j];
    return std::lexicographical_compare(p.data(), p.data() + 3, q.data(), q.data() + 3);
  };
  std::sort(order.begin(), order.end(),
            [&](Index i, Index j) { return less(i, j) || (!less(j, i) && i < j); });
  for (Index k = 0; k < count; ++k)
    same[order[k]] = k > 0 && !less(order[k - 1], order[k]) ? same[order[k - 1]] : order[k];
  return same;
}

}  // namespace detail

void TriangleMesh::link() {
  const std::vector<Index> same = detail::first_at_same_place(vertices_);
  struct Edge {
    Index low, high, triangle;
    int side;
  };
  std::vector<Edge> edges;
  edges.reserve(3 * triangles_.size());
  for (std::size_t t = 0; t < triangles_.size(); ++t)
    for (int k = 0; k < 3; ++k) {
      const Index i = same[triangles_[t][k]], j = same[triangles_[t][(k + 1) % 3]];
      edges.push_back({std::min(i, j), std::max(i, j), static_cast<Index>(t), k});
    }
  std::sort(edges.begin(), edges.end(), [](const Edge& x, const Edge& y) {
    return std::tie(x.low, x.high, x.triangle, x.side) < std::tie(y.low, y.high, y.triangle, y.side);
  });
  neighbours_.assign(triangles_.size(), {-1, -1, -1});
  for (std::size_t k = 0; k < edges.size();) {
    std::size_t end = k + 1;
    while (end < edges.size() && edges[end].low == edges[k].low && edges[end].high == edges[k].high) ++end;
    if (end - k == 2) {
      neighbours_[edges[k].triangle][edges[k].side] = edges[k + 1].triangle;
      neighbours_[edges[k + 1].triangle][edges[k + 1].side] = edges[k].triangle;
    }
    k = end;
  }
}

// Halves the triangles at the median of their centres along the longest side.
void TriangleMesh::build_tree() {
  const auto count = static_cast<Index>(triangles_.size());
  order_.resize(count);
  std::iota(order_.begin(), order_.end(), 0);
  std::vector<Vec3> centers(count);
  for (Index t = 0; t < count; ++t)
    centers[t] =
        (vertices_[triangles_[t][0]] + vertices_[triangles_[t][1]] + vertices_[triangles_[t][2]]) / 3.0;
  struct Task {
    Index node, first, last;
  };
  std::vector<Task> tasks{{0, 0, count}};
  nodes_.resize(1);
  while (!tasks.empty()) {
    const auto [node, first, last] = tasks.back();
    tasks.pop_back();
    Aabb box = empty_box(), middle = empty_box();
    for (Index k = first; k < last; ++k) {
      for (const Index v : triangles_[order_[k]]) grow(box, vertices_[v]);
      grow(middle, centers[order_[k]]);
    }
    nodes_[node].box = box;
    if (last - first <= leaf_size) {
      nodes_[node].left = first, nodes_[node].right = -(last - first);
      continue;
    }
    Eigen::Index axis = 0;
    (middle.upper - middle.lower).maxCoeff(&axis);
    const Index half = first + (last - first) / 2;
    std::nth_element(
        order_.begin() + first, order_.begin() + half, order_.begin() + last, [&](Index i, Index j) {
          return centers[i][axis] < centers[j][axis] || (centers[i][axis] == centers[j][axis] && i < j);
        });
    const auto left = static_cast<Index>(nodes_.size());
    nodes_[node].left = left, nodes_[node].right = left + 1;
    nodes_.resize(nodes_.size() + 2);
    tasks.push_back({left, first, half});
    tasks.push_back({left + 1, half, last});
  }
}

void TriangleMesh::find(const Aabb& region, std::vector<Index>& hits) const {
  const std::size_t begin = hits.size();
  std::array<Index, 64> stack;  // the tree is balanced: depth below 32
  int top = 0;
  stack[top++] = 0;
  while (top > 0) {
    const Node& node = nodes_[stack[--top]];
    if (!node.box.overlaps(region)) continue;
    if (node.right > 0) {
      stack[top++] = node.left;
      stack[top++] = node.right;
      continue;
    }
    for (Index k = node.left; k < node.left - node.right; ++k) {
      Aabb box = empty_box();
      for (const Index v : triangles_[order_[k]]) grow(box, vertices_[v]);
      if (box.overlaps(region)) hits.push_back(order_[k]);
    }
  }
  std::sort(hits.begin() + static_cast<std::ptrdiff_t>(begin), hits.end());
}

}  // namespace tribo
