#include "tribo/linalg/block_elimination.h"

#include <amd.h>

#include <algorithm>
#include <cassert>
#include <numeric>

namespace tribo {
namespace {

// A tail of fewer rows gains nothing from matrix-matrix products.
constexpr Index kSmallestTail = 48;

// Minimum-degree order of the block graph. AMD weighs all nodes alike, which is right for blocks of similar
// size.
std::vector<Index> minimum_degree_order(Index n, std::span<const std::pair<Index, Index>> edges) {
  std::vector<int> count(n + 1, 0);
  for (const auto& [i, j] : edges) {
    ++count[i + 1];
    ++count[j + 1];
  }
  std::partial_sum(count.begin(), count.end(), count.begin());
  std::vector<int> neighbours(std::max(1, count.back()));  // AMD refuses a null pointer, even for no edges
  std::vector<int> next(count.begin(), count.end() - 1);
  for (const auto& [i, j] : edges) {
    neighbours[next[i]++] = j;
    neighbours[next[j]++] = i;
  }
  std::vector<int> order(n);
  if (n > 0) amd_order(n, count.data(), neighbours.data(), order.data(), nullptr, nullptr);
  return order;
}

}  // namespace

void BlockElimination::analyze(std::span<const Index> sizes,
                               std::span<const std::pair<Index, Index>> pattern) {
  const Index n = static_cast<Index>(sizes.size());
  start.resize(n + 1);
  start[0] = 0;
  std::partial_sum(sizes.begin(), sizes.end(), start.begin() + 1);
  order = minimum_degree_order(n, pattern);
  position.resize(n);
  for (Index k = 0; k < n; ++k) position[order[k]] = k;
  block_size.resize(n);
  permuted_start.resize(n + 1);
  permuted_start[0] = 0;
  for (Index k = 0; k < n; ++k) {
    block_size[k] = sizes[order[k]];
    permuted_start[k + 1] = permuted_start[k] + block_size[k];
  }
  uniform = n > 0 ? sizes[0] : 0;
  for (const Index s : sizes) {
    if (s != uniform) uniform = 0;
  }
  symbolic(pattern);
  find_tail();
  lay_out();
}

// Column structures from the elimination tree: struct(k) = A's column k united with its children's
// structures.
void BlockElimination::symbolic(std::span<const std::pair<Index, Index>> pattern) {
  const Index n = block_count();
  std::vector<std::vector<Index>> below(n);
  for (const auto& [i, j] : pattern) {
    const auto [low, high] = std::minmax(position[i], position[j]);
    below[low].push_back(high);
  }
  std::vector<std::vector<Index>> children(n);
  column_start.assign(1, 0);
  row.clear();
  flops = 0.0;
  std::vector<Index> mark(n, -1);
  std::vector<Index> structure;
  for (Index k = 0; k < n; ++k) {
    structure.clear();
    const auto take = [&](Index r) {
      if (r > k && mark[r] != k) {
        mark[r] = k;
        structure.push_back(r);
      }
    };
    for (const Index r : below[k]) take(r);
    for (const Index child : children[k]) {
      for (Index p = column_start[child]; p < column_start[child + 1]; ++p) take(row[p]);
    }
    std::sort(structure.begin(), structure.end());
    if (!structure.empty()) children[structure.front()].push_back(k);
    double rows = block_size[k];
    for (const Index r : structure) {
      row.push_back(r);
      rows += block_size[r];
    }
    flops += rows * rows * block_size[k];
    column_start.push_back(static_cast<Index>(row.size()));
  }
}

void BlockElimination::find_tail() {
  const Index n = block_count();
  tail_begin = n;
  while (tail_begin > 0 && column_start[tail_begin] - column_start[tail_begin - 1] == n - tail_begin) {
    --tail_begin;
  }
  if (n - tail_begin < 2 || size() - permuted_start[tail_begin] < kSmallestTail) tail_begin = n;
}

void BlockElimination::lay_out() {
  const Index n = block_count();
  diagonal.resize(n);
  offset.resize(row.size());
  entries = 0;
  for (Index k = 0; k < tail_begin; ++k) {
    diagonal[k] = entries;
    entries += static_cast<std::size_t>(block_size[k]) * block_size[k];
    for (Index p = column_start[k]; p < column_start[k + 1]; ++p) {
      offset[p] = entries;
      entries += static_cast<std::size_t>(block_size[row[p]]) * block_size[k];
    }
  }
  tail_offset = entries;
  entries += static_cast<std::size_t>(tail_rows()) * tail_rows();
}

BlockElimination::Place BlockElimination::tail_place(Index row_position, Index column_position) const {
  const std::size_t base = permuted_start[tail_begin];
  const Index stride = tail_rows();
  return {tail_offset + (permuted_start[row_position] - base) +
              (permuted_start[column_position] - base) * static_cast<std::size_t>(stride),
          stride};
}

BlockElimination::Place BlockElimination::place(Index high, Index low) const {
  if (in_tail(low)) return tail_place(high, low);
  if (high == low) return {diagonal[low], block_size[low]};
  const auto begin = row.begin() + column_start[low];
  const auto end = row.begin() + column_start[low + 1];
  const auto found = std::lower_bound(begin, end, high);
  assert(found != end && *found == high);
  return {offset[found - row.begin()], block_size[high]};
}

void BlockElimination::gather(const double* x, double* permuted) const {
  for (Index k = 0; k < block_count(); ++k) {
    std::copy_n(x + start[order[k]], block_size[k], permuted + permuted_start[k]);
  }
}

void BlockElimination::scatter(const double* permuted, double* x) const {
  for (Index k = 0; k < block_count(); ++k) {
    std::copy_n(permuted + permuted_start[k], block_size[k], x + start[order[k]]);
  }
}

}  // namespace tribo
