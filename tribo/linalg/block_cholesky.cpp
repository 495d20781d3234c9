#include "tribo/linalg/block_cholesky.h"

#include <Eigen/Cholesky>
#include <algorithm>

#include "tribo/linalg/simd/columns6.h"

namespace tribo {
namespace {

template <int B>
using Fixed = Eigen::Map<Eigen::Matrix<double, B, B>>;
template <int B>
using ConstFixed = Eigen::Map<const Eigen::Matrix<double, B, B>>;

template <int B>
using Strided = Eigen::Map<Eigen::Matrix<double, B, B>, 0, Eigen::OuterStride<>>;

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
  plan_.analyze(sizes, pattern);
  work_.resize(size());
}

BlockCholesky::Slot BlockCholesky::find(Index i, Index j) const {
  const auto [low, high] = std::minmax(plan_.position[i], plan_.position[j]);
  const BlockElimination::Place place = plan_.place(high, low);
  return {place.offset, place.stride, plan_.position[i] < plan_.position[j]};
}

void BlockCholesky::set_zero() { values_.assign(factor_entries(), 0.0); }

bool BlockCholesky::factorize() {
  return plan_.with_block_size([this](auto b) { return factorize_fixed<b()>(); }) && factorize_tail();
}

template <int B>
bool BlockCholesky::factorize_fixed() {
  double* values = values_.data();
  const BlockElimination& plan = plan_;
  for (Index k = 0; k < plan.tail_begin; ++k) {
    if (interrupt_ != nullptr && (*interrupt_)()) return false;
    const Index b = plan.block_size[k];
    Fixed<B> pivot(values + plan.diagonal[k], b, b);
    if (Eigen::LLT<Eigen::Ref<Eigen::Matrix<double, B, B>>>(pivot).info() != Eigen::Success) return false;
    if constexpr (B != Eigen::Dynamic) {
      // Small pivots are kept inverted: products pipeline where substitutions wait for their divisions.
      Eigen::Matrix<double, B, B> inverse = Eigen::Matrix<double, B, B>::Identity();
      pivot.template triangularView<Eigen::Lower>().solveInPlace(inverse);
      pivot = inverse;
    }
    const Index begin = plan.column_start[k];
    const Index end = plan.column_start[k + 1];
    for (Index p = begin; p < end; ++p) {
      Fixed<B> block(values + plan.offset[p], plan.block_size[plan.row[p]], b);
      if constexpr (B == Eigen::Dynamic) {
        pivot.transpose().template triangularView<Eigen::Upper>().template solveInPlace<Eigen::OnTheRight>(
            block);
      } else if constexpr (B == 6) {
        Columns6 product;
        product.set<6>(block.data(), [&](int c, int term) { return pivot(c, term); });
        product.store(block.data(), 6);
      } else {
        block = (block.lazyProduct(pivot.transpose())).eval();
      }
    }
    for (Index p = begin; p < end; ++p) update_column<B>(p, end, b);
  }
  return true;
}

// Subtracts from column row[p] what the blocks p .. end - 1 of the column just eliminated contribute.
template <int B>
void BlockCholesky::update_column(Index p, Index end, Index b) {
  double* values = values_.data();
  const BlockElimination& plan = plan_;
  const Index j = plan.row[p];
  const Index width = plan.block_size[j];
  const bool tail = plan.in_tail(j);
  const ConstFixed<B> right(values + plan.offset[p], width, b);
  Index t = plan.column_start[j];
  for (Index q = p; q < end; ++q) {
    const Index r = plan.row[q];
    const Index height = plan.block_size[r];
    BlockElimination::Place target;
    if (tail) {
      target = plan.tail_place(r, j);
    } else if (q == p) {
      target = {plan.diagonal[j], width};
    } else {
      while (plan.row[t] < r) ++t;
      target = {plan.offset[t], height};
    }
    const ConstFixed<B> left(values + plan.offset[q], height, b);
    Strided<B> update(values + target.offset, height, width, Eigen::OuterStride<>(target.stride));
    if constexpr (B == Eigen::Dynamic) {
      update.noalias() -= left * right.transpose();
    } else if constexpr (B == 6) {
      Columns6 product;
      product.set<6>(left.data(), [&](int c, int k) { return right(c, k); });
      product.subtract_from(update.data(), target.stride);
    } else {
      update.noalias() -= left.lazyProduct(right.transpose());
    }
  }
}

bool BlockCholesky::factorize_tail() {
  const Index n = plan_.tail_rows();
  if (n == 0) return true;
  if (interrupt_ != nullptr && (*interrupt_)()) return false;
  Eigen::Map<Matrix> tail(values_.data() + plan_.tail_offset, n, n);
  return Eigen::LLT<Eigen::Ref<Matrix>>(tail).info() == Eigen::Success;
}

void BlockCholesky::solve_in_place(Eigen::Ref<Vector> x) const {
  plan_.gather(x.data(), work_.data());
  plan_.with_block_size([this](auto b) { solve_fixed<b()>(work_.data()); });
  plan_.scatter(work_.data(), x.data());
}

template <int B>
void BlockCholesky::solve_fixed(double* x) const {
  using Segment = Eigen::Map<Eigen::Matrix<double, B, 1>>;
  using ConstSegment = Eigen::Map<const Eigen::Matrix<double, B, 1>>;
  const double* values = values_.data();
  const BlockElimination& plan = plan_;
  for (Index k = 0; k < plan.tail_begin; ++k) {
    const Index b = plan.block_size[k];
    Segment y(x + plan.permuted_start[k], b);
    solve_pivot<B, false>(values + plan.diagonal[k], y);
    for (Index p = plan.column_start[k]; p < plan.column_start[k + 1]; ++p) {
      const Index r = plan.row[p];
      Segment target(x + plan.permuted_start[r], plan.block_size[r]);
      target.noalias() -= ConstFixed<B>(values + plan.offset[p], plan.block_size[r], b) * y;
    }
  }
  if (const Index n = plan.tail_rows(); n > 0) {
    const Eigen::Map<const Matrix> tail(values + plan.tail_offset, n, n);
    Eigen::Map<Vector> y(x + plan.permuted_start[plan.tail_begin], n);
    tail.triangularView<Eigen::Lower>().solveInPlace(y);
    tail.transpose().triangularView<Eigen::Upper>().solveInPlace(y);
  }
  for (Index k = plan.tail_begin - 1; k >= 0; --k) {
    const Index b = plan.block_size[k];
    Segment y(x + plan.permuted_start[k], b);
    for (Index p = plan.column_start[k]; p < plan.column_start[k + 1]; ++p) {
      const Index r = plan.row[p];
      y.noalias() -= ConstFixed<B>(values + plan.offset[p], plan.block_size[r], b).transpose() *
                     ConstSegment(x + plan.permuted_start[r], plan.block_size[r]);
    }
    solve_pivot<B, true>(values + plan.diagonal[k], y);
  }
}

}  // namespace tribo
