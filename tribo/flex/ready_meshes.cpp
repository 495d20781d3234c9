#include "tribo/flex/ready_meshes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tribo/base/errors.h"

namespace tribo {

namespace {

constexpr Index kMostCells = 1 << 20;  // six million elements

void check_length(double length, const char* name) {
  if (!(std::isfinite(length) && length > 0.0)) {
    throw InvalidInput(fmt::format("{} of a mesh is {}: it must be finite and > 0 m", name, length));
  }
}

void check_cells(const std::array<Index, 3>& cells) {
  double count = 1.0;
  for (const Index n : cells) {
    if (n < 1) throw InvalidInput(fmt::format("a mesh has {} cells along an edge: it must be >= 1", n));
    count *= n;
  }
  if (count > kMostCells) {
    throw InvalidInput(fmt::format("a mesh has {} cells: at most {} are possible", count, kMostCells));
  }
}

// The cube -1 .. 1 in each direction.
TetMesh grid(const std::array<Index, 3>& cells) {
  check_cells(cells);
  TetMesh mesh;
  const auto [nx, ny, nz] = cells;
  const auto number = [&](Index i, Index j, Index k) { return i + (nx + 1) * (j + (ny + 1) * k); };
  const auto along = [](Index i, Index n) { return (2.0 * i - n) / n; };
  for (Index k = 0; k <= nz; ++k) {
    for (Index j = 0; j <= ny; ++j) {
      for (Index i = 0; i <= nx; ++i) mesh.nodes.emplace_back(along(i, nx), along(j, ny), along(k, nz));
    }
  }
  constexpr std::array<std::array<int, 3>, 6> kOrders{
      {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}}};
  mesh.tets.reserve(6 * static_cast<std::size_t>(nx) * ny * nz);
  for (Index k = 0; k < nz; ++k) {
    for (Index j = 0; j < ny; ++j) {
      for (Index i = 0; i < nx; ++i) {
        for (std::size_t order = 0; order < kOrders.size(); ++order) {
          std::array<Index, 3> at{i, j, k};
          TetMesh::Tet tet{number(i, j, k)};
          for (int step = 0; step < 3; ++step) {
            ++at[kOrders[order][step]];
            tet[step + 1] = number(at[0], at[1], at[2]);
          }
          if (order >= 3) std::swap(tet[2], tet[3]);  // the odd permutations
          mesh.tets.push_back(tet);
        }
      }
    }
  }
  return mesh;
}

}  // namespace

TetMesh box_mesh(const Vec3& size, const std::array<Index, 3>& cells) {
  for (int axis = 0; axis < 3; ++axis) check_length(size[axis], "an edge");
  TetMesh mesh = grid(cells);
  for (Vec3& node : mesh.nodes) node = 0.5 * node.cwiseProduct(size);
  return mesh;
}

TetMesh cylinder_mesh(double radius, double length, Index across, Index along) {
  check_length(radius, "the radius");
  check_length(length, "the length");
  TetMesh mesh = grid({across, across, along});
  for (Vec3& node : mesh.nodes) {
    const double round = node.head<2>().norm(), square = node.head<2>().lpNorm<Eigen::Infinity>();
    if (round > 0.0) node.head<2>() *= radius * square / round;
    node.z() *= 0.5 * length;
  }
  complete(mesh, "the cylinder");
  return mesh;
}

TetMesh sphere_mesh(double radius, Index across) {
  check_length(radius, "the radius");
  TetMesh mesh = grid({across, across, across});
  for (Vec3& node : mesh.nodes) {
    const double round = node.norm(), square = node.lpNorm<Eigen::Infinity>();
    if (round > 0.0) node *= radius * square / round;
  }
  complete(mesh, "the sphere");
  return mesh;
}

}  // namespace tribo
