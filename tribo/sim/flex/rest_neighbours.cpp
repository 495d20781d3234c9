#include "tribo/sim/flex/rest_neighbours.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace tribo {

namespace {

constexpr double kNear = 2.5;  // longest edges

// The edges of the elements with their lengths, both ways, by node.
class Edges {
 public:
  explicit Edges(const TetMesh& mesh) : start_(mesh.nodes.size() + 1, 0) {
    std::vector<std::pair<Index, Index>> edges;
    edges.reserve(12 * mesh.tets.size());
    for (const TetMesh::Tet& tet : mesh.tets) {
      for (const Index a : tet) {
        for (const Index b : tet) {
          if (a != b) edges.emplace_back(a, b);
        }
      }
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    for (const auto& [from, to] : edges) {
      ++start_[from + 1];
      to_.push_back({to, (mesh.nodes[to] - mesh.nodes[from]).norm()});
    }
    for (std::size_t n = 1; n < start_.size(); ++n) start_[n] += start_[n - 1];
  }

  template <class Visit>
  void visit(Index node, Visit visit) const {
    for (Index k = start_[node]; k < start_[node + 1]; ++k) visit(to_[k].first, to_[k].second);
  }

 private:
  std::vector<Index> start_;
  std::vector<std::pair<Index, double>> to_;
};

// Shortest paths from one node as far as `reach`.
class ShortestPaths {
 public:
  ShortestPaths(const Edges& edges, std::size_t nodes) : edges_(edges), distance_(nodes, -1.0) {}

  // The nodes that are reached, in the order of their distances.
  const std::vector<Index>& from(Index node, double reach) {
    for (const Index n : reached_) distance_[n] = -1.0;
    reached_.clear();
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    open.emplace(0.0, node);
    while (!open.empty()) {
      const auto [length, at] = open.top();
      open.pop();
      if (distance_[at] >= 0.0) continue;
      distance_[at] = length;
      reached_.push_back(at);
      edges_.visit(at, [&, length = length](Index next, double edge) {
        if (distance_[next] < 0.0 && length + edge <= reach) open.emplace(length + edge, next);
      });
    }
    return reached_;
  }

 private:
  using Entry = std::pair<double, Index>;
  const Edges& edges_;
  std::vector<double> distance_;  // -1: not reached
  std::vector<Index> reached_;
};

}  // namespace

RestNeighbours::RestNeighbours(const TetMesh& mesh, const FlexibleSurface& surface) : start_{0} {
  std::vector<Index> vertex(mesh.nodes.size(), -1);
  for (Index v = 0; v < surface.vertex_count(); ++v) vertex[surface.node(v)] = v;
  for (const SurfaceTriangle& t : boundary(mesh)) {
    for (int k = 0; k < 3; ++k) {
      longest_ = std::max(longest_, (mesh.nodes[t[k]] - mesh.nodes[t[(k + 1) % 3]]).norm());
    }
  }
  const Edges edges(mesh);
  ShortestPaths paths(edges, mesh.nodes.size());
  for (Index v = 0; v < surface.vertex_count(); ++v) {
    for (const Index node : paths.from(surface.node(v), kNear * longest_)) {
      if (vertex[node] >= 0) neighbour_.push_back(vertex[node]);
    }
    std::sort(neighbour_.begin() + start_.back(), neighbour_.end());
    start_.push_back(static_cast<Index>(neighbour_.size()));
  }
}

bool RestNeighbours::is_near(Index vertex, const TriangleMesh::Triangle& triangle) const {
  const auto from = neighbour_.begin() + start_[vertex], to = neighbour_.begin() + start_[vertex + 1];
  return std::any_of(triangle.begin(), triangle.end(),
                     [&](Index corner) { return std::binary_search(from, to, corner); });
}

}  // namespace tribo
