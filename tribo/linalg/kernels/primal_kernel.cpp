#include "tribo/linalg/kernels/primal_kernel.h"

#include <algorithm>

namespace tribo {
namespace {

using Stride = Eigen::OuterStride<>;
using Jacobian6 = Eigen::Map<const Eigen::Matrix<double, 3, 6>>;

}  // namespace

bool PrimalKernel::analyze(const BlockDiagonal& mass, const BlockJacobian& jacobian) {
  if (cholesky_.is_analyzed() && pattern_.matches(mass, jacobian)) return false;
  const BlockEdges edges = pattern_.remember(mass, jacobian);
  cholesky_.analyze(pattern_.sizes(), edges);

  diagonal_.resize(mass.block_count());
  for (Index t = 0; t < mass.block_count(); ++t) diagonal_[t] = cholesky_.find(t, t);
  terms_.clear();
  for (Index g = 0; g < jacobian.group_count(); ++g) {
    for (Index p = jacobian.piece_begin(g); p < jacobian.piece_end(g); ++p) {
      for (Index q = jacobian.piece_begin(g); q <= p; ++q) {
        const BlockCholesky::Slot slot = cholesky_.find(jacobian.piece_tree(p), jacobian.piece_tree(q));
        terms_.push_back({g, slot.transposed ? q : p, slot.transposed ? p : q, slot.offset, slot.stride});
      }
    }
  }
  return true;
}

template <class Weight>
bool PrimalKernel::assemble_and_factorize(const BlockDiagonal& mass, const BlockJacobian& jacobian,
                                          const Weight& weighted) {
  cholesky_.set_zero();
  double* values = cholesky_.data();
  for (Index t = 0; t < mass.block_count(); ++t) {
    const Index n = mass.block_size(t);
    const BlockCholesky::Slot& slot = diagonal_[t];
    Eigen::Map<Matrix, 0, Stride>(values + slot.offset, n, n, Stride(slot.stride)) = mass.block(t);
  }
  for (const Term& term : terms_) {
    const Index high = jacobian.piece_cols(term.high);
    const Index low = jacobian.piece_cols(term.low);
    with_rows(jacobian.rows(term.group), [&](auto size) {
      constexpr int n = size();
      if constexpr (n == 3) {
        if (high == 6 && low == 6) {
          // Columns of three do not fill a register, those of the transposed piece do.
          const Eigen::Matrix<double, 6, 3> a = Jacobian6(jacobian.piece_data(term.high)).transpose();
          const Eigen::Matrix<double, 3, 6> b =
              weighted(size, term.group, Jacobian6(jacobian.piece_data(term.low)));
          double* target = values + term.offset;
          for (int c = 0; c < 6; ++c, target += term.stride) {
            Eigen::Map<Eigen::Matrix<double, 6, 1>>(target) +=
                a.col(0) * b(0, c) + a.col(1) * b(1, c) + a.col(2) * b(2, c);
          }
          return;
        }
      }
      // Rank-one updates: no temporary, so that nothing is allocated for any block size.
      const BlockJacobian::Piece a = jacobian.piece(term.group, term.high);
      const double* b = jacobian.piece_data(term.low);
      Eigen::Map<Matrix, 0, Stride> target(values + term.offset, high, low, Stride(term.stride));
      for (Index c = 0; c < low; ++c, b += n) {
        const VecN<n> column = weighted(size, term.group, Eigen::Map<const VecN<n>>(b));
        for (Index r = 0; r < n; ++r) target.col(c) += a.row(r).transpose() * column[r];
      }
    });
  }
  return cholesky_.factorize();
}

bool PrimalKernel::factorize(const BlockDiagonal& mass, const BlockJacobian& jacobian,
                             const Vector& weights) {
  return assemble_and_factorize(mass, jacobian, [&](auto rows, Index g, const auto& block) {
    const VecN<rows()> diagonal = Eigen::Map<const VecN<rows()>>(weights.data() + jacobian.row_start(g));
    return (diagonal.asDiagonal() * block).eval();
  });
}

bool PrimalKernel::factorize(const BlockDiagonal& mass, const BlockJacobian& jacobian,
                             const GroupBlocks& weights) {
  return assemble_and_factorize(mass, jacobian, [&](auto rows, Index g, const auto& block) {
    return (weights.at<rows()>(g) * block).eval();
  });
}

}  // namespace tribo
