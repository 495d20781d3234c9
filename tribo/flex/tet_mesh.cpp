#include "tribo/flex/tet_mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tribo/base/errors.h"

namespace tribo {

namespace {

// Volume of an element relative to its longest edge cubed (a regular one has 0.12), below which it is flat: the gradients of
// its shape functions would lose all digits.
constexpr double kFlat = 1e-12;

// Faces of a positive element, counter-clockwise seen from outside.
constexpr std::array<std::array<int, 3>, 4> kFaces{{{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};

std::array<Vec3, 4> corners_of(const TetMesh& mesh, const TetMesh::Tet& tet) {
  return {mesh.nodes[tet[0]], mesh.nodes[tet[1]], mesh.nodes[tet[2]], mesh.nodes[tet[3]]};
}

void check_indices(const TetMesh& mesh, Index e, const std::string& name) {
  const TetMesh::Tet& tet = mesh.tets[e];
  for (int a = 0; a < 4; ++a) {
    if (tet[a] < 0 || tet[a] >= mesh.node_count()) {
      throw InvalidInput(fmt::format("{}: element {} names node {}, but there are {} nodes", name, e, tet[a],
                                     mesh.node_count()));
    }
    for (int b = 0; b < a; ++b) {
      if (tet[a] == tet[b])
        throw InvalidInput(fmt::format("{}: element {} names node {} twice", name, e, tet[a]));
    }
  }
}

// Whether an element is big enough beside its longest edge, and turned the right way afterwards.
void check_volume(TetMesh& mesh, Index e, const std::string& name) {
  TetMesh::Tet& tet = mesh.tets[e];
  const std::array<Vec3, 4> x = corners_of(mesh, tet);
  double longest = 0.0;
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < a; ++b) longest = std::max(longest, (x[a] - x[b]).norm());
  }
  const double size = signed_volume(x);
  if (!(std::abs(size) > kFlat * longest * longest * longest) || !std::isfinite(size)) {
    throw InvalidInput(fmt::format("{}: element {} is flat: its volume is {} m^3 and its longest edge {} m",
                                   name, e, size, longest));
  }
  if (size < 0.0) std::swap(tet[2], tet[3]);
}

}  // namespace

double signed_volume(const std::array<Vec3, 4>& x) {
  return (x[1] - x[0]).cross(x[2] - x[0]).dot(x[3] - x[0]) / 6.0;
}

double signed_volume(const TetMesh& mesh, Index tet) {
  return signed_volume(corners_of(mesh, mesh.tets[tet]));
}

double volume(const TetMesh& mesh) {
  double sum = 0.0;
  for (Index e = 0; e < mesh.tet_count(); ++e) sum += signed_volume(mesh, e);
  return sum;
}

void complete(TetMesh& mesh, const std::string& name) {
  if (mesh.tets.empty()) throw InvalidInput(fmt::format("{} has no tetrahedron", name));
  for (Index n = 0; n < mesh.node_count(); ++n) {
    if (!mesh.nodes[n].allFinite()) throw InvalidInput(fmt::format("{}: node {} is not finite", name, n));
  }
  std::vector<char> used(mesh.nodes.size(), 0);
  for (Index e = 0; e < mesh.tet_count(); ++e) {
    check_indices(mesh, e, name);
    check_volume(mesh, e, name);
    for (const Index n : mesh.tets[e]) used[n] = 1;
  }
  const auto loose = std::find(used.begin(), used.end(), 0);
  if (loose != used.end()) {
    throw InvalidInput(fmt::format("{}: node {} belongs to no element", name, loose - used.begin()));
  }
}

void remove_loose_nodes(TetMesh& mesh) {
  std::vector<Index> place(mesh.nodes.size(), -1);
  for (const TetMesh::Tet& tet : mesh.tets) {
    for (const Index n : tet) place[n] = 0;
  }
  Index kept = 0;
  for (std::size_t n = 0; n < place.size(); ++n) {
    if (place[n] < 0) continue;
    mesh.nodes[kept] = mesh.nodes[n];
    place[n] = kept++;
  }
  mesh.nodes.resize(kept);
  for (TetMesh::Tet& tet : mesh.tets) {
    for (Index& n : tet) n = place[n];
  }
}

std::vector<SurfaceTriangle> boundary(const TetMesh& mesh) {
  struct Face {
    SurfaceTriangle sorted, triangle;
    Index number;
  };
  std::vector<Face> faces;
  faces.reserve(4 * mesh.tets.size());
  for (Index e = 0; e < mesh.tet_count(); ++e) {
    const TetMesh::Tet& tet = mesh.tets[e];
    const bool inside_out = signed_volume(mesh, e) < 0.0;
    for (const auto& face : kFaces) {
      SurfaceTriangle triangle{tet[face[0]], tet[face[1]], tet[face[2]]};
      if (inside_out) std::swap(triangle[1], triangle[2]);
      SurfaceTriangle sorted = triangle;
      std::sort(sorted.begin(), sorted.end());
      faces.push_back({sorted, triangle, static_cast<Index>(faces.size())});
    }
  }
  std::sort(faces.begin(), faces.end(), [](const Face& a, const Face& b) {
    return a.sorted != b.sorted ? a.sorted < b.sorted : a.number < b.number;
  });
  std::vector<Face> single;
  for (std::size_t k = 0; k < faces.size();) {
    std::size_t end = k + 1;
    while (end < faces.size() && faces[end].sorted == faces[k].sorted) ++end;
    if (end == k + 1) single.push_back(faces[k]);
    k = end;
  }
  std::sort(single.begin(), single.end(), [](const Face& a, const Face& b) { return a.number < b.number; });
  std::vector<SurfaceTriangle> triangles;
  triangles.reserve(single.size());
  for (const Face& face : single) triangles.push_back(face.triangle);
  return triangles;
}

std::vector<Index> boundary_nodes(const std::vector<SurfaceTriangle>& triangles) {
  std::vector<Index> nodes;
  for (const SurfaceTriangle& triangle : triangles)
    nodes.insert(nodes.end(), triangle.begin(), triangle.end());
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

TetMesh placed(TetMesh mesh, const Pose& pose) {
  for (Vec3& node : mesh.nodes) node = pose * node;
  return mesh;
}

std::vector<Index> nodes_on_plane(const TetMesh& mesh, const Vec3& point, const Vec3& normal,
                                  double tolerance) {
  std::vector<Index> found;
  for (Index n = 0; n < mesh.node_count(); ++n) {
    if (std::abs(normal.dot(mesh.nodes[n] - point)) <= tolerance) found.push_back(n);
  }
  return found;
}

}  // namespace tribo
