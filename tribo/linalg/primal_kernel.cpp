#include "tribo/linalg/primal_kernel.h"

#include <algorithm>

namespace tribo {
namespace {

using Stride = Eigen::OuterStride<>;
using Jacobian6 = Eigen::Map<const Eigen::Matrix<double, 3, 6>>;

}  // namespace

bool PrimalKernel::same_structure(const BlockDiagonal& mass, const BlockJacobian& jacobian) const {
  if (!cholesky_.is_analyzed() || static_cast<Index>(tree_sizes_.size()) != mass.block_count() ||
      static_cast<Index>(piece_end_.size()) != jacobian.group_count() ||
      static_cast<Index>(piece_tree_.size()) != jacobian.piece_count()) {
    return false;
  }
  for (Index t = 0; t < mass.block_count(); ++t) {
    if (tree_sizes_[t] != mass.block_size(t)) return false;
  }
  for (Index g = 0; g < jacobian.group_count(); ++g) {
    if (piece_end_[g] != jacobian.piece_end(g) || group_rows_[g] != jacobian.rows(g)) return false;
  }
  for (Index p = 0; p < jacobian.piece_count(); ++p) {
    if (piece_tree_[p] != jacobian.piece_tree(p)) return false;
  }
  return true;
}

bool PrimalKernel::analyze(const BlockDiagonal& mass, const BlockJacobian& jacobian) {
  if (same_structure(mass, jacobian)) return false;
  tree_sizes_.resize(mass.block_count());
  for (Index t = 0; t < mass.block_count(); ++t) tree_sizes_[t] = mass.block_size(t);
  group_rows_.resize(jacobian.group_count());
  piece_end_.resize(jacobian.group_count());
  piece_tree_.resize(jacobian.piece_count());
  std::vector<std::pair<Index, Index>> pattern;
  for (Index g = 0; g < jacobian.group_count(); ++g) {
    group_rows_[g] = jacobian.rows(g);
    piece_end_[g] = jacobian.piece_end(g);
    for (Index p = jacobian.piece_begin(g); p < jacobian.piece_end(g); ++p) {
      piece_tree_[p] = jacobian.piece_tree(p);
      for (Index q = jacobian.piece_begin(g); q < p; ++q) {
        pattern.push_back(std::minmax(jacobian.piece_tree(p), jacobian.piece_tree(q)));
      }
    }
  }
  std::sort(pattern.begin(), pattern.end());
  pattern.erase(std::unique(pattern.begin(), pattern.end()), pattern.end());
  cholesky_.analyze(tree_sizes_, pattern);

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
    const Index rows = jacobian.rows(term.group);
    const Index high = jacobian.piece_cols(term.high);
    const Index low = jacobian.piece_cols(term.low);
    if (rows == 3 && high == 6 && low == 6) {
      const Jacobian6 a(jacobian.piece_data(term.high));
      const Eigen::Matrix<double, 3, 6> b = weighted(term.group, Jacobian6(jacobian.piece_data(term.low)));
      Eigen::Map<Eigen::Matrix<double, 6, 6>, 0, Stride>(values + term.offset, Stride(term.stride))
          .noalias() += a.transpose().lazyProduct(b);
      continue;
    }
    // Rank-one updates: no temporary, so that nothing is allocated for any block size.
    const BlockJacobian::Piece a = jacobian.piece(term.group, term.high);
    const BlockJacobian::Piece b = jacobian.piece(term.group, term.low);
    Eigen::Map<Matrix, 0, Stride> target(values + term.offset, high, low, Stride(term.stride));
    for (Index c = 0; c < low; ++c) {
      Vec3 column = Vec3::Zero();
      for (Index r = 0; r < rows; ++r) column[r] = b(r, c);
      column = weighted(term.group, column);
      for (Index r = 0; r < rows; ++r) target.col(c) += a.row(r).transpose() * column[r];
    }
  }
  return cholesky_.factorize();
}

bool PrimalKernel::factorize(const BlockDiagonal& mass, const BlockJacobian& jacobian,
                             const Vector& weights) {
  return assemble_and_factorize(mass, jacobian, [&](Index g, const auto& block) {
    const double* w = weights.data() + jacobian.row_start(g);
    const Vec3 diagonal = jacobian.rows(g) == 3 ? Vec3(w[0], w[1], w[2]) : Vec3(w[0], 0.0, 0.0);
    return (diagonal.asDiagonal() * block).eval();
  });
}

bool PrimalKernel::factorize(const BlockDiagonal& mass, const BlockJacobian& jacobian,
                             std::span<const Mat3> weights) {
  return assemble_and_factorize(mass, jacobian, [&](Index g, const auto& block) {
    if (jacobian.rows(g) == 3) return (weights[g] * block).eval();
    return (weights[g](0, 0) * block).eval();
  });
}

}  // namespace tribo
