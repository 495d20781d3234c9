#include "tribo/linalg/supernodes.h"

#include <amd.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "tribo/linalg/dissection.h"

namespace tribo {
namespace {

// Supernodes that follow each other are put together where the zeros that this stores are at most this share of the panel,
// by its width in columns: narrow panels gain more from products of matrices.
double allowed_zeros(Index width) {
  if (width <= 8) return 0.8;
  if (width <= 32) return 0.2;
  if (width <= 96) return 0.1;
  return 0.03;
}

// Smaller matrices are ordered by minimum degree without asking.
constexpr Index kLeastDissected = 1000;

// Children of every node before it, subtrees together, children in ascending order.
std::vector<Index> postorder(const std::vector<Index>& parent) {
  const auto n = static_cast<Index>(parent.size());
  std::vector<Index> child(n, -1), sibling(n, -1), order, stack;
  for (Index k = n - 1; k >= 0; --k) {
    if (parent[k] < 0) continue;
    sibling[k] = child[parent[k]];
    child[parent[k]] = k;
  }
  order.reserve(n);
  for (Index root = 0; root < n; ++root) {
    if (parent[root] >= 0) continue;
    stack.push_back(root);
    while (!stack.empty()) {
      const Index k = stack.back();
      if (child[k] >= 0) {
        stack.push_back(child[k]);
        child[k] = sibling[child[k]];
      } else {
        order.push_back(k);
        stack.pop_back();
      }
    }
  }
  return order;
}

// Entries in every column of L, diagonal included: from every entry of A up the tree until where its row has been (Liu,
// SIAM J. Matrix Anal. 11, 1990). Cost: the entries of L.
std::vector<Index> entries_of_columns(const std::vector<Index>& begin, const std::vector<Index>& left,
                                      const std::vector<Index>& parents) {
  const auto n = static_cast<Index>(parents.size());
  std::vector<Index> entries(n, 1), seen(n, -1);
  for (Index i = 0; i < n; ++i) {
    seen[i] = i;
    for (Index p = begin[i]; p < begin[i + 1]; ++p) {
      for (Index j = left[p]; seen[j] != i; j = parents[j]) {
        seen[j] = i;
        ++entries[j];
      }
    }
  }
  return entries;
}

// Of a factorisation.
double operations(const std::vector<Index>& entries) {
  double sum = 0.0;
  for (const Index n : entries) sum += static_cast<double>(n) * n;
  return sum;
}

// Of a panel, without what lies above its diagonal.
double stored(double width, double below) { return 0.5 * width * (width + 1.0) + width * below; }

}  // namespace

SupernodePlan::Pattern SupernodePlan::pattern(std::span<const Index> start, std::span<const Index> entry_row,
                                              bool by_rows) const {
  const auto n = static_cast<Index>(order.size());
  Pattern out;
  out.begin.assign(n + 1, 0);
  out.other.resize(entry_row.size());
  const auto for_each = [&](const auto& action) {
    for (Index c = 0; c < n; ++c) {
      for (Index p = start[c]; p < start[c + 1]; ++p) {
        const auto [low, high] = std::minmax(position[c], position[entry_row[p]]);
        if (low < high) action(by_rows ? high : low, by_rows ? low : high);
      }
    }
  };
  for_each([&](Index line, Index) { ++out.begin[line + 1]; });
  std::partial_sum(out.begin.begin(), out.begin.end(), out.begin.begin());
  std::vector<Index> next(out.begin.begin(), out.begin.end() - 1);
  for_each([&](Index line, Index other) { out.other[next[line]++] = other; });
  return out;
}

// Of column j the first row below the diagonal of L, with path compression (Liu 1990).
std::vector<Index> SupernodePlan::elimination_parents(const Pattern& rows) const {
  const auto n = static_cast<Index>(order.size());
  std::vector<Index> parents(n, -1), ancestor(n, -1);
  for (Index i = 0; i < n; ++i) {
    for (Index p = rows.begin[i]; p < rows.begin[i + 1]; ++p) {
      Index j = rows.other[p];
      while (ancestor[j] >= 0 && ancestor[j] != i) j = std::exchange(ancestor[j], i);
      if (ancestor[j] >= 0) continue;
      ancestor[j] = i;
      if (j != i) parents[j] = i;
    }
  }
  return parents;
}

// Takes an order, after a postorder of its elimination tree, which changes no fill. Returns the operations of a
// factorisation.
double SupernodePlan::take_order(std::vector<Index> wanted, std::span<const Index> start,
                                 std::span<const Index> entry_row) {
  const auto n = static_cast<Index>(wanted.size());
  order = wanted;
  position.resize(n);
  const auto invert = [&] {
    for (Index k = 0; k < n; ++k) position[order[k]] = k;
  };
  invert();
  const std::vector<Index> post = postorder(elimination_parents(pattern(start, entry_row, true)));
  for (Index k = 0; k < n; ++k) order[k] = wanted[post[k]];
  invert();
  const Pattern rows = pattern(start, entry_row, true);
  return operations(entries_of_columns(rows.begin, rows.other, elimination_parents(rows)));
}

// By minimum degree, or by dissection where that takes fewer operations.
void SupernodePlan::order_columns(Index size, std::span<const Index> start,
                                  std::span<const Index> entry_row) {
  std::vector<Index> minimum_degree(size);
  if (size > 0) amd_order(size, start.data(), entry_row.data(), minimum_degree.data(), nullptr, nullptr);
  const double with_minimum_degree = take_order(minimum_degree, start, entry_row);
  if (size < kLeastDissected) return;
  const double with_dissection = take_order(dissection_order(size, start, entry_row), start, entry_row);
  if (!(with_dissection < with_minimum_degree)) take_order(std::move(minimum_degree), start, entry_row);
}

// Columns with the same rows below; then, from the leaves up, every supernode and the child right before it are put
// together where few zeros are added.
void SupernodePlan::find_supernodes(const Pattern& rows, const std::vector<Index>& parents) {
  const auto n = static_cast<Index>(order.size());
  const std::vector<Index> entries = entries_of_columns(rows.begin, rows.other, parents);
  struct Part {
    Index first, end;
    double nonzeros;
  };
  std::vector<Part> parts;
  for (Index j = 0; j < n;) {
    Part part{j, j + 1, static_cast<double>(entries[j])};
    while (part.end < n && parents[part.end - 1] == part.end &&
           entries[part.end - 1] == entries[part.end] + 1) {
      part.nonzeros += entries[part.end++];
    }
    j = part.end;
    const double below = entries[part.end - 1] - 1;
    while (!parts.empty() && parents[part.first - 1] >= part.first && parents[part.first - 1] < part.end) {
      const Part& last = parts.back();
      const double all = stored(part.end - last.first, below);
      const double zeros = all - part.nonzeros - last.nonzeros;
      if (zeros > allowed_zeros(part.end - last.first) * all) break;
      part.first = last.first;
      part.nonzeros += last.nonzeros;
      parts.pop_back();
    }
    parts.push_back(part);
  }
  supernode_of.resize(n);
  first.assign(1, 0);
  for (const Part& part : parts) {
    std::fill(supernode_of.begin() + part.first, supernode_of.begin() + part.end,
              static_cast<Index>(first.size()) - 1);
    first.push_back(part.end);
  }
}

// Rows below every panel: those of A's columns and of the children, where they lie below the panel.
void SupernodePlan::find_rows(const Pattern& columns) {
  const auto supernodes = static_cast<Index>(first.size()) - 1;
  parent.assign(supernodes, -1);
  child.assign(supernodes, -1);
  sibling.assign(supernodes, -1);
  std::vector<Index> seen(order.size(), -1);
  for (Index s = 0; s < supernodes; ++s) {
    const std::size_t begin = row.size();
    const auto take = [&](Index r) {
      if (r < first[s + 1] || seen[r] == s) return;
      seen[r] = s;
      row.push_back(r);
    };
    for (Index j = first[s]; j < first[s + 1]; ++j) {
      for (Index p = columns.begin[j]; p < columns.begin[j + 1]; ++p) take(columns.other[p]);
    }
    for (Index c = child[s]; c >= 0; c = sibling[c]) {
      for (std::size_t p = row_start[c]; p < row_start[c + 1]; ++p) take(row[p]);
    }
    std::sort(row.begin() + static_cast<std::ptrdiff_t>(begin), row.end());
    row_start.push_back(row.size());
    if (row.size() == begin) continue;
    parent[s] = supernode_of[row[begin]];
    sibling[s] = child[parent[s]];
    child[parent[s]] = s;
  }
}

void SupernodePlan::lay_out(std::span<const Index> start, std::span<const Index> entry_row) {
  target.resize(row.size());
  panel_start.assign(1, 0);
  const auto place_in = [&](Index s, Index r) {
    if (r < first[s + 1]) return r - first[s];
    const auto begin = row.begin() + static_cast<std::ptrdiff_t>(row_start[s]);
    const auto end = row.begin() + static_cast<std::ptrdiff_t>(row_start[s + 1]);
    const auto found = std::lower_bound(begin, end, r);
    return width(s) + static_cast<Index>(found - begin);
  };
  for (Index s = 0; s < count(); ++s) {
    panel_start.push_back(panel_start[s] + static_cast<std::size_t>(width(s)) * (width(s) + below(s)));
    for (std::size_t p = row_start[s]; p < row_start[s + 1]; ++p) target[p] = place_in(parent[s], row[p]);
  }
  entry.resize(entry_row.size());
  for (Index c = 0; c + 1 < static_cast<Index>(start.size()); ++c) {
    for (Index p = start[c]; p < start[c + 1]; ++p) {
      const auto [low, high] = std::minmax(position[c], position[entry_row[p]]);
      const Index s = supernode_of[low];
      entry[p] = panel_start[s] + place_in(s, high) +
                 static_cast<std::size_t>(low - first[s]) * (width(s) + below(s));
    }
  }
}

void SupernodePlan::measure() {
  std::size_t used = 0;
  for (Index s = 0; s < count(); ++s) {
    const double w = width(s), b = below(s);
    const auto own = static_cast<std::size_t>(below(s)) * below(s);
    stack = std::max(stack, used + own);
    for (Index c = child[s]; c >= 0; c = sibling[c]) used -= static_cast<std::size_t>(below(c)) * below(c);
    used += own;
    most_below = std::max(most_below, below(s));
    flops += w * w * w / 3.0 + w * w * b + w * b * b;
  }
}

void SupernodePlan::analyze(Index size, std::span<const Index> start, std::span<const Index> entry_row) {
  *this = {};
  order_columns(size, start, entry_row);
  const Pattern rows = pattern(start, entry_row, true);
  find_supernodes(rows, elimination_parents(rows));
  find_rows(pattern(start, entry_row, false));
  lay_out(start, entry_row);
  measure();
}

}  // namespace tribo
