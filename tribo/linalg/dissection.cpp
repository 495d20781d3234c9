#include "tribo/linalg/dissection.h"

#include <amd.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace tribo {
namespace {

// Nodes that distances are measured from. A cube has eight corners, whose differences hold its axes; more gained nothing.
constexpr int kLandmarks = 6;
// Parts of up to so many nodes are not cut any more.
constexpr Index kLeaf = 120;
// The smaller half has at least this share of the nodes.
constexpr double kLeastShare = 0.35;

struct Graph {
  std::vector<Index> start, neighbour;
  Index size() const { return static_cast<Index>(start.size()) - 1; }
  std::span<const Index> of(Index k) const {
    return {neighbour.data() + start[k], neighbour.data() + start[k + 1]};
  }
};

// Without the diagonal; neighbours ascending.
Graph whole_graph(Index size, std::span<const Index> start, std::span<const Index> row) {
  Graph graph;
  graph.start.assign(size + 1, 0);
  const auto for_each = [&](const auto& action) {
    for (Index c = 0; c < size; ++c) {
      for (Index p = start[c]; p < start[c + 1]; ++p) {
        if (row[p] != c) action(c, row[p]);
      }
    }
  };
  for_each([&](Index a, Index b) {
    ++graph.start[a + 1];
    ++graph.start[b + 1];
  });
  std::partial_sum(graph.start.begin(), graph.start.end(), graph.start.begin());
  graph.neighbour.resize(graph.start.back());
  std::vector<Index> next(graph.start.begin(), graph.start.end() - 1);
  for_each([&](Index a, Index b) {
    graph.neighbour[next[a]++] = b;
    graph.neighbour[next[b]++] = a;
  });
  for (Index k = 0; k < size; ++k)
    std::sort(graph.neighbour.begin() + graph.start[k], graph.neighbour.begin() + graph.start[k + 1]);
  return graph;
}

// Whether a and a + 1 have the same neighbours but for each other.
bool are_alike(const Graph& graph, Index a) {
  const auto first = graph.of(a), second = graph.of(a + 1);
  if (first.size() != second.size()) return false;
  bool joined = false;
  for (std::size_t i = 0, j = 0; i < first.size() || j < second.size();) {
    if (i < first.size() && first[i] == a + 1) {
      joined = true;
      ++i;
    } else if (j < second.size() && second[j] == a) {
      ++j;
    } else if (i == first.size() || j == second.size() || first[i++] != second[j++]) {
      return false;
    }
  }
  return joined;
}

class Dissection {
 public:
  explicit Dissection(Graph graph) : graph_(std::move(graph)), part_(graph_.size(), 0), key_(graph_.size()) {
    nodes_.resize(graph_.size());
    std::iota(nodes_.begin(), nodes_.end(), 0);
  }

  std::vector<Index> run() {
    measure_distances();
    cut(0, graph_.size());
    return std::move(nodes_);
  }

 private:
  // From the nearest of all landmarks so far the next one is farthest; the first is far from node 0. Nodes that are not
  // connected with a landmark are all equally far from it.
  void measure_distances() {
    std::vector<Index> nearest(graph_.size(), std::numeric_limits<Index>::max());
    Index from = 0;
    for (int k = -1; k < kLandmarks; ++k) {
      std::vector<Index> distance = distances(from);
      if (k >= 0) {
        for (Index n = 0; n < graph_.size(); ++n) nearest[n] = std::min(nearest[n], distance[n]);
        distance_.push_back(distance);
      }
      const std::vector<Index>& far = k >= 0 ? nearest : distance;
      from = static_cast<Index>(std::max_element(far.begin(), far.end()) - far.begin());
    }
  }

  std::vector<Index> distances(Index from) const {
    const Index unknown = graph_.size();
    std::vector<Index> distance(graph_.size(), unknown), queue{from};
    distance[from] = 0;
    for (std::size_t k = 0; k < queue.size(); ++k) {
      for (const Index n : graph_.of(queue[k])) {
        if (distance[n] != unknown) continue;
        distance[n] = distance[queue[k]] + 1;
        queue.push_back(n);
      }
    }
    return distance;
  }

  // Orders nodes_[begin, end): those on one side, those on the other, the separator.
  void cut(Index begin, Index end) {
    if (end - begin <= kLeaf) return order_leaf(begin, end);
    Separator best;
    for (int k = 0; k < kLandmarks; ++k) {
      for (int l = 0; l < k; ++l) try_direction(begin, end, k, l, best);
    }
    if (best.cost == std::numeric_limits<double>::infinity()) return order_leaf(begin, end);
    set_keys(begin, end, best.k, best.l);
    ++label_;
    for (Index n = begin; n < end; ++n) part_[nodes_[n]] = label_;
    const auto side = [&](Index node) {
      if (key_[node] < best.cut) return 0;
      for (const Index other : graph_.of(node)) {
        if (part_[other] == label_ && key_[other] < best.cut) return 2;
      }
      return 1;
    };
    std::vector<Index> sides[3];
    for (Index n = begin; n < end; ++n) sides[side(nodes_[n])].push_back(nodes_[n]);
    Index to = begin;
    for (const auto& nodes : sides) {
      std::copy(nodes.begin(), nodes.end(), nodes_.begin() + to);
      to += static_cast<Index>(nodes.size());
    }
    const Index middle = begin + static_cast<Index>(sides[0].size());
    const Index separator = middle + static_cast<Index>(sides[1].size());
    for (auto& nodes : sides) nodes = {};
    cut(begin, middle);
    cut(middle, separator);
  }

  struct Separator {
    double cost = std::numeric_limits<double>::infinity();
    int k = 0, l = 0;
    Index cut = 0;  // nodes of a smaller key are on one side
  };

  void set_keys(Index begin, Index end, int k, int l) {
    for (Index n = begin; n < end; ++n) key_[nodes_[n]] = distance_[k][nodes_[n]] - distance_[l][nodes_[n]];
  }

  // For every cut between two keys: the nodes below it, and the separator, nodes of at least this key with a neighbour
  // below it.
  void try_direction(Index begin, Index end, int k, int l, Separator& best) {
    set_keys(begin, end, k, l);
    ++label_;
    Index low = std::numeric_limits<Index>::max(), high = std::numeric_limits<Index>::min();
    for (Index n = begin; n < end; ++n) {
      part_[nodes_[n]] = label_;
      low = std::min(low, key_[nodes_[n]]);
      high = std::max(high, key_[nodes_[n]]);
    }
    std::vector<Index> below(static_cast<std::size_t>(high - low) + 2, 0), border(below.size(), 0);
    for (Index n = begin; n < end; ++n) {
      const Index key = key_[nodes_[n]];
      ++below[key - low + 1];
      Index least = key;
      for (const Index other : graph_.of(nodes_[n])) {
        if (part_[other] == label_) least = std::min(least, key_[other]);
      }
      if (least == key) continue;  // in the separator of the cuts least + 1 ... key
      ++border[least + 1 - low];
      --border[key + 1 - low];
    }
    const double all = end - begin;
    Index nodes = 0, separator = 0;
    for (Index c = 0; c <= high - low; ++c) {
      nodes += below[c];
      separator += border[c];
      const double one = nodes, other = all - nodes - separator;
      if (std::min(one, other) < kLeastShare * (all - separator) || separator == all) continue;
      const double cost = separator / all;
      if (cost < best.cost) best = {cost, k, l, c + low};
    }
  }

  void order_leaf(Index begin, Index end) {
    const Index n = end - begin;
    ++label_;
    for (Index k = 0; k < n; ++k) {
      part_[nodes_[begin + k]] = label_;
      key_[nodes_[begin + k]] = k;
    }
    std::vector<Index> start{0}, neighbour{}, order(n);
    for (Index k = 0; k < n; ++k) {
      for (const Index other : graph_.of(nodes_[begin + k])) {
        if (part_[other] == label_) neighbour.push_back(key_[other]);
      }
      start.push_back(static_cast<Index>(neighbour.size()));
    }
    if (neighbour.empty()) return;
    amd_order(n, start.data(), neighbour.data(), order.data(), nullptr, nullptr);
    for (Index k = 0; k < n; ++k) order[k] = nodes_[begin + order[k]];
    std::copy(order.begin(), order.end(), nodes_.begin() + begin);
  }

  Graph graph_;
  std::vector<Index> nodes_;  // in order so far
  std::vector<std::vector<Index>> distance_;
  std::vector<Index> part_, key_;  // [nodes] label of the part looked at; see try_direction()
  Index label_ = 0;
};

}  // namespace

std::vector<Index> dissection_order(Index size, std::span<const Index> start, std::span<const Index> row) {
  if (size == 0) return {};
  const Graph whole = whole_graph(size, start, row);
  std::vector<Index> node(size, 0), first{0};  // of every degree of freedom; of every node, and one more
  for (Index d = 1; d < size; ++d) {
    if (!are_alike(whole, d - 1)) first.push_back(d);
    node[d] = static_cast<Index>(first.size()) - 1;
  }
  first.push_back(size);
  Graph graph;
  graph.start.push_back(0);
  for (std::size_t k = 0; k + 1 < first.size(); ++k) {
    Index last = static_cast<Index>(k);
    for (const Index d : whole.of(first[k])) {
      if (node[d] == static_cast<Index>(k) || node[d] == last) continue;
      last = node[d];
      graph.neighbour.push_back(last);
    }
    graph.start.push_back(static_cast<Index>(graph.neighbour.size()));
  }
  std::vector<Index> order;
  order.reserve(size);
  for (const Index k : Dissection(std::move(graph)).run()) {
    for (Index d = first[k]; d < first[k + 1]; ++d) order.push_back(d);
  }
  return order;
}

}  // namespace tribo
