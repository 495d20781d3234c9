#include "tribo/linalg/block_lu.h"

#include <algorithm>
#include <cmath>

#include "tribo/linalg/simd/columns6.h"
#include "tribo/linalg/simd/dense_lu.h"

namespace tribo {
namespace {

template <int B>
using Fixed = Eigen::Map<Eigen::Matrix<double, B, B>>;
template <int B>
using ConstFixed = Eigen::Map<const Eigen::Matrix<double, B, B>>;
template <int B>
using Strided = Eigen::Map<Eigen::Matrix<double, B, B>, 0, Eigen::OuterStride<>>;

// Gauss-Jordan in place with row pivoting. False for a singular or not finite matrix.
template <int B>
bool invert(Eigen::Map<Eigen::Matrix<double, B, B>>& m) {
  int exchanged[B];
  for (int c = 0; c < B; ++c) {
    int best = c;
    for (int r = c + 1; r < B; ++r) {
      if (std::abs(m(r, c)) > std::abs(m(best, c))) best = r;
    }
    const double pivot = m(best, c);
    if (!(std::abs(pivot) > 0.0) || !std::isfinite(pivot)) return false;
    exchanged[c] = best;
    if (best != c) m.row(c).swap(m.row(best));
    const double inverse = 1.0 / pivot;
    Eigen::Matrix<double, B, 1> factors = m.col(c);
    factors[c] = 0.0;
    m.col(c).setZero();
    m(c, c) = 1.0;
    const Eigen::Matrix<double, 1, B> row = m.row(c) * inverse;
    m.noalias() -= factors.lazyProduct(row);
    m.row(c) = row;
  }
  for (int c = B - 1; c >= 0; --c) {
    if (exchanged[c] != c) m.col(c).swap(m.col(exchanged[c]));
  }
  return true;
}

template <int B, class A, class C, class T>
void subtract_product(const A& left, const C& right, T&& target) {
  if constexpr (B == Eigen::Dynamic) {
    target.noalias() -= left * right.transpose();
  } else if constexpr (B == 6) {
    const double* factors = right.data();
    Columns6 product;
    product.set<6>(left.data(), [&](int c, int k) { return factors[c + 6 * k]; });
    product.subtract_from(target.data(), target.outerStride());
  } else {
    target.noalias() -= left.lazyProduct(right.transpose());
  }
}

}  // namespace

void BlockLu::analyze(std::span<const Index> sizes, std::span<const std::pair<Index, Index>> pattern) {
  plan_.analyze(sizes, pattern);
  upper_ = plan_.entries;
  exchanges_.resize(size());
  work_.resize(size());
}

BlockLu::Slot BlockLu::find(Index i, Index j) const {
  const Index row = plan_.position[i];
  const Index column = plan_.position[j];
  if (plan_.in_tail(std::min(row, column))) {
    const BlockElimination::Place place = plan_.tail_place(row, column);
    return {place.offset, place.stride, false};
  }
  const bool above = row < column;
  const BlockElimination::Place place = plan_.place(std::max(row, column), std::min(row, column));
  return {place.offset + (above ? upper_ : 0), place.stride, above};
}

void BlockLu::set_zero() { values_.assign(factor_entries(), 0.0); }

double BlockLu::largest_pivot_entry() const {
  double largest = 0.0;
  for (Index k = 0; k < plan_.tail_begin; ++k) {
    const std::size_t count = static_cast<std::size_t>(plan_.block_size[k]) * plan_.block_size[k];
    const double* block = values_.data() + plan_.diagonal[k];
    for (std::size_t e = 0; e < count; ++e) largest = std::max(largest, std::abs(block[e]));
  }
  const double* tail = values_.data() + plan_.tail_offset;
  const Index n = plan_.tail_rows();
  for (Index d = 0; d < n; ++d)
    largest = std::max(largest, std::abs(tail[d + d * static_cast<std::size_t>(n)]));
  return largest;
}

bool BlockLu::factorize() {
  const double before = largest_pivot_entry();
  growth_ = before;
  const bool done =
      plan_.with_block_size([this](auto b) { return factorize_fixed<b()>(); }) && factorize_tail();
  growth_ = before > 0.0 ? growth_ / before : 1.0;
  return done;
}

template <int B>
bool BlockLu::factorize_fixed() {
  for (Index k = 0; k < plan_.tail_begin; ++k) {
    if (interrupt_ != nullptr && (*interrupt_)()) return false;
    if (!factorize_pivot<B>(k)) return false;
    for (Index p = plan_.column_start[k]; p < plan_.column_start[k + 1]; ++p) divide_by_pivot<B>(k, p);
    update_columns<B>(k);
  }
  return true;
}

// Small pivots are kept inverted: products pipeline where substitutions wait for their divisions.
template <int B>
bool BlockLu::factorize_pivot(Index k) {
  const Index b = plan_.block_size[k];
  double* data = values_.data() + plan_.diagonal[k];
  const Eigen::Map<const Vector> entries(data, b * b);
  growth_ = std::max(growth_, entries.cwiseAbs().maxCoeff());
  if constexpr (B != Eigen::Dynamic) {
    Fixed<B> pivot(data, b, b);
    return invert<B>(pivot);
  } else {
    return factorize_lu(data, b, b, exchanges_.data() + plan_.permuted_start[k]);
  }
}

// Block p of column k of L: times the inverse pivot from the right.
template <int B>
void BlockLu::divide_by_pivot(Index k, Index p) {
  const Index b = plan_.block_size[k];
  const ConstFixed<B> pivot(values_.data() + plan_.diagonal[k], b, b);
  Fixed<B> block(values_.data() + plan_.offset[p], plan_.block_size[plan_.row[p]], b);
  if constexpr (B == 6) {
    Columns6 product;
    product.set<6>(block.data(), [&](int c, int term) { return pivot(term, c); });
    product.store(block.data(), 6);
  } else if constexpr (B != Eigen::Dynamic) {
    block = block.lazyProduct(pivot).eval();
  } else {
    solve_lu_right(pivot.data(), b, b, exchanges_.data() + plan_.permuted_start[k], block.data(),
                   static_cast<Index>(block.rows()));
  }
}

// H_rj -= L_rk U_kj for all later rows r and columns j of column k's structure.
template <int B>
void BlockLu::update_columns(Index k) {
  double* values = values_.data();
  const BlockElimination& plan = plan_;
  const Index b = plan.block_size[k];
  const Index end = plan.column_start[k + 1];
  for (Index p = plan.column_start[k]; p < end; ++p) {
    const Index j = plan.row[p];
    const Index width = plan.block_size[j];
    const bool tail = plan.in_tail(j);
    const ConstFixed<B> lower_j(values + plan.offset[p], width, b);
    const ConstFixed<B> upper_j(values + upper_ + plan.offset[p], width, b);  // U_kj transposed
    const BlockElimination::Place diagonal =
        tail ? plan.tail_place(j, j) : BlockElimination::Place{plan.diagonal[j], width};
    subtract_product<B>(
        lower_j, upper_j,
        Strided<B>(values + diagonal.offset, width, width, Eigen::OuterStride<>(diagonal.stride)));
    Index t = plan.column_start[j];
    for (Index q = p + 1; q < end; ++q) {
      const Index r = plan.row[q];
      const Index height = plan.block_size[r];
      const ConstFixed<B> lower_r(values + plan.offset[q], height, b);
      const ConstFixed<B> upper_r(values + upper_ + plan.offset[q], height, b);
      if (tail) {
        const BlockElimination::Place below = plan.tail_place(r, j), above = plan.tail_place(j, r);
        const Eigen::OuterStride<> stride(below.stride);
        subtract_product<B>(lower_r, upper_j, Strided<B>(values + below.offset, height, width, stride));
        subtract_product<B>(lower_j, upper_r, Strided<B>(values + above.offset, width, height, stride));
      } else {
        while (plan.row[t] < r) ++t;
        subtract_product<B>(lower_r, upper_j, Fixed<B>(values + plan.offset[t], height, width));
        subtract_product<B>(upper_r, lower_j, Fixed<B>(values + upper_ + plan.offset[t], height, width));
      }
    }
  }
}

bool BlockLu::factorize_tail() {
  const Index n = plan_.tail_rows();
  if (n == 0) return true;
  if (interrupt_ != nullptr && (*interrupt_)()) return false;
  Strided<Eigen::Dynamic> tail(values_.data() + plan_.tail_offset, n, n, Eigen::OuterStride<>(n));
  growth_ = std::max(growth_, tail.diagonal().cwiseAbs().maxCoeff());
  return factorize_lu(tail.data(), n, n, exchanges_.data() + plan_.permuted_start[plan_.tail_begin]);
}

void BlockLu::solve_in_place(Eigen::Ref<Vector> x) const {
  plan_.gather(x.data(), work_.data());
  plan_.with_block_size([this](auto b) { solve_fixed<b()>(work_.data()); });
  plan_.scatter(work_.data(), x.data());
}

template <int B>
void BlockLu::solve_fixed(double* x) const {
  using Segment = Eigen::Map<Eigen::Matrix<double, B, 1>>;
  using ConstSegment = Eigen::Map<const Eigen::Matrix<double, B, 1>>;
  const double* values = values_.data();
  const BlockElimination& plan = plan_;
  for (Index k = 0; k < plan.tail_begin; ++k) {
    const Index b = plan.block_size[k];
    const ConstSegment y(x + plan.permuted_start[k], b);
    for (Index p = plan.column_start[k]; p < plan.column_start[k + 1]; ++p) {
      const Index r = plan.row[p];
      Segment target(x + plan.permuted_start[r], plan.block_size[r]);
      target.noalias() -= ConstFixed<B>(values + plan.offset[p], plan.block_size[r], b) * y;
    }
  }
  if (const Index n = plan.tail_rows(); n > 0) {
    const Index first = plan.permuted_start[plan.tail_begin];
    solve_lu(values + plan.tail_offset, n, n, exchanges_.data() + first, x + first);
  }
  for (Index k = plan.tail_begin - 1; k >= 0; --k) {
    const Index b = plan.block_size[k];
    Segment y(x + plan.permuted_start[k], b);
    for (Index p = plan.column_start[k]; p < plan.column_start[k + 1]; ++p) {
      const Index r = plan.row[p];
      y.noalias() -= ConstFixed<B>(values + upper_ + plan.offset[p], plan.block_size[r], b).transpose() *
                     ConstSegment(x + plan.permuted_start[r], plan.block_size[r]);
    }
    if constexpr (B != Eigen::Dynamic) {
      const Eigen::Matrix<double, B, 1> rhs = y;
      y.noalias() = ConstFixed<B>(values + plan.diagonal[k], b, b).lazyProduct(rhs);
    } else {
      solve_lu(values + plan.diagonal[k], b, b, exchanges_.data() + plan.permuted_start[k], y.data());
    }
  }
}

}  // namespace tribo
