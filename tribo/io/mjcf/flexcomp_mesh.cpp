#include "tribo/io/mjcf/flexcomp_mesh.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tribo/flex/ready_meshes.h"

namespace tribo::detail {

namespace {

using Cell = std::array<Index, 3>;

// Of six times the volume of an element, m^3: as MuJoCo, which drops smaller ones.
constexpr double kLeastVolume = 1e-15;

// The ready mesh has x fastest.
TetMesh grid(const Cell& count, const Vec3& spacing) {
  const Cell cells{count[0] - 1, count[1] - 1, count[2] - 1};
  const Vec3 size(spacing[0] * cells[0], spacing[1] * cells[1], spacing[2] * cells[2]);
  const TetMesh ready = box_mesh(size, cells);
  const auto number = [&](Index n) {
    const Index i = n % count[0], j = n / count[0] % count[1], k = n / (count[0] * count[1]);
    return (i * count[1] + j) * count[2] + k;
  };
  TetMesh mesh;
  mesh.nodes.resize(ready.nodes.size());
  for (Index n = 0; n < ready.node_count(); ++n) mesh.nodes[number(n)] = ready.nodes[n];
  for (TetMesh::Tet tet : ready.tets) {
    for (Index& n : tet) n = number(n);
    mesh.tets.push_back(tet);
  }
  return mesh;
}

// Of a point of the surface of the cube -1 .. 1.
Vec3 projected(FlexcompType type, Vec3 x, const Vec3& half) {
  if (type == FlexcompType::cylinder) {
    const double ring = std::max(std::abs(x[0]), std::abs(x[1])), length = x.head<2>().norm();
    if (length > 0.0) x.head<2>() *= ring / length;
  } else if (type == FlexcompType::ellipsoid) {
    x.normalize();
  }
  return x.cwiseProduct(half);
}

// The surface of a grid, side by side: lowest and highest z with all their points, then y and x with those that are new.
class SurfaceOfGrid {
 public:
  SurfaceOfGrid(FlexcompType type, const Cell& count, const Vec3& half)
      : type_(type), count_(count), half_(half) {
    mesh_.nodes.push_back(Vec3::Zero());
    for (const int axis : {2, 1, 0}) {
      for (const Index level : {Index{0}, count[axis] - 1}) add_side(axis, level);
    }
  }
  TetMesh take() { return std::move(mesh_); }

 private:
  Index number(const Cell& at) {
    const auto [place, fresh] = numbers_.try_emplace(at, mesh_.node_count());
    if (fresh) {
      Vec3 x;
      for (int k = 0; k < 3; ++k) x[k] = 2.0 * at[k] / (count_[k] - 1) - 1.0;
      mesh_.nodes.push_back(projected(type_, x, half_));
    }
    return place->second;
  }

  void add_side(int axis, Index level) {
    const int first = axis == 0 ? 1 : 0, second = axis == 2 ? 1 : 2;
    const auto at = [&](Index i, Index j) {
      Cell cell{};
      cell[axis] = level;
      cell[first] = i;
      cell[second] = j;
      return cell;
    };
    for (Index i = 0; i < count_[first]; ++i) {
      for (Index j = 0; j < count_[second]; ++j) number(at(i, j));
    }
    for (Index i = 0; i + 1 < count_[first]; ++i) {
      for (Index j = 0; j + 1 < count_[second]; ++j) {
        const Index a = number(at(i, j)), b = number(at(i + 1, j + 1));
        mesh_.tets.push_back({0, a, number(at(i + 1, j)), b});
        mesh_.tets.push_back({0, a, b, number(at(i, j + 1))});
      }
    }
  }

  FlexcompType type_;
  Cell count_;
  Vec3 half_;
  TetMesh mesh_;
  std::map<Cell, Index> numbers_;
};

}  // namespace

TetMesh flexcomp_mesh(FlexcompType type, const Cell& count, const Vec3& spacing) {
  if (type == FlexcompType::grid) return grid(count, spacing);
  const Vec3 cells(count[0] - 1, count[1] - 1, count[2] - 1);
  return SurfaceOfGrid(type, count, 0.5 * spacing.cwiseProduct(cells)).take();
}

TetMesh mesh_around(const Vec3& origin, const MeshData& surface) {
  TetMesh mesh;
  mesh.nodes.push_back(origin);
  mesh.nodes.insert(mesh.nodes.end(), surface.vertices.begin(), surface.vertices.end());
  for (const auto& [a, b, c] : surface.triangles) {
    const Vec3 &x = surface.vertices[a], &y = surface.vertices[b], &z = surface.vertices[c];
    if ((x - origin).cross(y - origin).dot(z - origin) < kLeastVolume) continue;
    mesh.tets.push_back({0, a + 1, b + 1, c + 1});
  }
  return mesh;
}

}  // namespace tribo::detail
