#include "tribo/linalg/block_cholesky.h"

#include <amd.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cassert>
#include <numeric>

namespace tribo {
namespace {

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

template <int B>
using Fixed = Eigen::Map<Eigen::Matrix<double, B, B>>;
template <int B>
using ConstFixed = Eigen::Map<const Eigen::Matrix<double, B, B>>;

// y <- L^-1 y, or L^-T y when transposed. Pivots of fixed size are stored inverted.
template <int B, bool transposed, class Segment>
void solve_pivot(const double* data, Segment& y) {
  const ConstFixed<B> pivot(data, y.size(), y.size());
  if constexpr (B != Eigen::Dynamic) {
    const Eigen::Matrix<double, B, 1> x = y;
    if constexpr (transposed) {
      y.noalias() = pivot.transpose().lazyProduct(x);
    } else {
      y.noalias() = pivot.lazyProduct(x);
    }
  } else if constexpr (transposed) {
    pivot.transpose().template triangularView<Eigen::Upper>().solveInPlace(y);
  } else {
    pivot.template triangularView<Eigen::Lower>().solveInPlace(y);
  }
}

}  // namespace

void BlockCholesky::analyze(std::span<const Index> sizes, std::span<const std::pair<Index, Index>> pattern) {
  const Index n = static_cast<Index>(sizes.size());
  start_.resize(n + 1);
  start_[0] = 0;
  std::partial_sum(sizes.begin(), sizes.end(), start_.begin() + 1);
  order_ = minimum_degree_order(n, pattern);
  position_.resize(n);
  for (Index k = 0; k < n; ++k) position_[order_[k]] = k;
  size_.resize(n);
  permuted_start_.resize(n + 1);
  permuted_start_[0] = 0;
  for (Index k = 0; k < n; ++k) {
    size_[k] = sizes[order_[k]];
    permuted_start_[k + 1] = permuted_start_[k] + size_[k];
  }
  uniform_ = n > 0 ? sizes[0] : 0;
  for (const Index s : sizes) {
    if (s != uniform_) uniform_ = 0;
  }
  symbolic(pattern);
  work_.resize(size());
}

// Column structures from the elimination tree: struct(k) = A's column k united with its children's
// structures.
void BlockCholesky::symbolic(std::span<const std::pair<Index, Index>> pattern) {
  const Index n = block_count();
  std::vector<std::vector<Index>> below(n);
  for (const auto& [i, j] : pattern) {
    const auto [low, high] = std::minmax(position_[i], position_[j]);
    below[low].push_back(high);
  }
  std::vector<std::vector<Index>> children(n);
  column_start_.assign(1, 0);
  row_.clear();
  offset_.clear();
  diagonal_.resize(n);
  std::size_t entries = 0;
  flops_ = 0.0;
  std::vector<Index> mark(n, -1);
  for (Index k = 0; k < n; ++k) {
    std::vector<Index> structure;
    const auto take = [&](Index r) {
      if (r > k && mark[r] != k) {
        mark[r] = k;
        structure.push_back(r);
      }
    };
    for (const Index r : below[k]) take(r);
    for (const Index child : children[k]) {
      for (Index p = column_start_[child]; p < column_start_[child + 1]; ++p) take(row_[p]);
    }
    std::sort(structure.begin(), structure.end());
    if (!structure.empty()) children[structure.front()].push_back(k);
    diagonal_[k] = entries;
    entries += static_cast<std::size_t>(size_[k]) * size_[k];
    double rows = size_[k];
    for (const Index r : structure) {
      row_.push_back(r);
      offset_.push_back(entries);
      entries += static_cast<std::size_t>(size_[r]) * size_[k];
      rows += size_[r];
    }
    flops_ += rows * rows * size_[k];
    column_start_.push_back(static_cast<Index>(row_.size()));
  }
  values_.assign(entries, 0.0);
}

BlockCholesky::Slot BlockCholesky::find(Index i, Index j) const {
  const Index a = position_[i];
  const Index b = position_[j];
  if (a == b) return {diagonal_[a], false};
  const auto [low, high] = std::minmax(a, b);
  const auto begin = row_.begin() + column_start_[low];
  const auto end = row_.begin() + column_start_[low + 1];
  const auto found = std::lower_bound(begin, end, high);
  assert(found != end && *found == high);
  return {offset_[found - row_.begin()], a < b};
}

void BlockCholesky::set_zero() { std::fill(values_.begin(), values_.end(), 0.0); }

bool BlockCholesky::factorize() {
  switch (uniform_) {
    case 3:
      return factorize_fixed<3>();
    case 6:
      return factorize_fixed<6>();
    default:
      return factorize_fixed<Eigen::Dynamic>();
  }
}

template <int B>
bool BlockCholesky::factorize_fixed() {
  double* values = values_.data();
  for (Index k = 0; k < block_count(); ++k) {
    if (interrupt_ != nullptr && (*interrupt_)()) return false;
    const Index b = size_[k];
    Fixed<B> pivot(values + diagonal_[k], b, b);
    if (Eigen::LLT<Eigen::Ref<Eigen::Matrix<double, B, B>>>(pivot).info() != Eigen::Success) return false;
    if constexpr (B != Eigen::Dynamic) {
      // Small pivots are kept inverted: products pipeline where substitutions wait for their divisions.
      Eigen::Matrix<double, B, B> inverse = Eigen::Matrix<double, B, B>::Identity();
      pivot.template triangularView<Eigen::Lower>().solveInPlace(inverse);
      pivot = inverse;
    }
    const Index begin = column_start_[k];
    const Index end = column_start_[k + 1];
    for (Index p = begin; p < end; ++p) {
      Fixed<B> block(values + offset_[p], size_[row_[p]], b);
      if constexpr (B == Eigen::Dynamic) {
        pivot.transpose().template triangularView<Eigen::Upper>().template solveInPlace<Eigen::OnTheRight>(
            block);
      } else {
        block = (block.lazyProduct(pivot.transpose())).eval();
      }
    }
    for (Index p = begin; p < end; ++p) {
      const Index j = row_[p];
      const ConstFixed<B> right(values + offset_[p], size_[j], b);
      Fixed<B> target(values + diagonal_[j], size_[j], size_[j]);
      target.noalias() -= right.lazyProduct(right.transpose());
      Index t = column_start_[j];
      for (Index q = p + 1; q < end; ++q) {
        while (row_[t] < row_[q]) ++t;
        const ConstFixed<B> left(values + offset_[q], size_[row_[q]], b);
        Fixed<B> update(values + offset_[t], size_[row_[q]], size_[j]);
        if constexpr (B == Eigen::Dynamic) {
          update.noalias() -= left * right.transpose();
        } else {
          update.noalias() -= left.lazyProduct(right.transpose());
        }
      }
    }
  }
  return true;
}

void BlockCholesky::solve_in_place(Eigen::Ref<Vector> x) const {
  for (Index k = 0; k < block_count(); ++k) {
    std::copy_n(x.data() + start_[order_[k]], size_[k], work_.data() + permuted_start_[k]);
  }
  switch (uniform_) {
    case 3:
      solve_fixed<3>(work_.data());
      break;
    case 6:
      solve_fixed<6>(work_.data());
      break;
    default:
      solve_fixed<Eigen::Dynamic>(work_.data());
      break;
  }
  for (Index k = 0; k < block_count(); ++k) {
    std::copy_n(work_.data() + permuted_start_[k], size_[k], x.data() + start_[order_[k]]);
  }
}

template <int B>
void BlockCholesky::solve_fixed(double* x) const {
  using Segment = Eigen::Map<Eigen::Matrix<double, B, 1>>;
  using ConstSegment = Eigen::Map<const Eigen::Matrix<double, B, 1>>;
  const double* values = values_.data();
  for (Index k = 0; k < block_count(); ++k) {
    const Index b = size_[k];
    Segment y(x + permuted_start_[k], b);
    solve_pivot<B, false>(values + diagonal_[k], y);
    for (Index p = column_start_[k]; p < column_start_[k + 1]; ++p) {
      const Index r = row_[p];
      Segment target(x + permuted_start_[r], size_[r]);
      target.noalias() -= ConstFixed<B>(values + offset_[p], size_[r], b) * y;
    }
  }
  for (Index k = block_count() - 1; k >= 0; --k) {
    const Index b = size_[k];
    Segment y(x + permuted_start_[k], b);
    for (Index p = column_start_[k]; p < column_start_[k + 1]; ++p) {
      const Index r = row_[p];
      y.noalias() -= ConstFixed<B>(values + offset_[p], size_[r], b).transpose() *
                     ConstSegment(x + permuted_start_[r], size_[r]);
    }
    solve_pivot<B, true>(values + diagonal_[k], y);
  }
}

}  // namespace tribo
