#include "tribo/linalg/block_diagonal.h"

#include <Eigen/Cholesky>
#include <cassert>

namespace tribo {
namespace {

using Mat6 = Eigen::Matrix<double, 6, 6>;
using Vec6 = Eigen::Matrix<double, 6, 1>;

// Solves L L^T x = x. The free rigid body (6 dofs) is the fast path: fixed sizes unroll.
void solve_lower_and_transposed(const double* lower, Index n, double* x) {
  if (n == 6) {
    const Eigen::Map<const Mat6> l(lower);
    Eigen::Map<Vec6> y(x);
    l.triangularView<Eigen::Lower>().solveInPlace(y);
    l.transpose().triangularView<Eigen::Upper>().solveInPlace(y);
    return;
  }
  const Eigen::Map<const Matrix> l(lower, n, n);
  Eigen::Map<Vector> y(x, n);
  l.triangularView<Eigen::Lower>().solveInPlace(y);
  l.transpose().triangularView<Eigen::Upper>().solveInPlace(y);
}

}  // namespace

void BlockDiagonal::reserve(Index blocks, Index dofs_per_block) {
  start_.reserve(static_cast<std::size_t>(blocks) + 1);
  data_start_.reserve(static_cast<std::size_t>(blocks) + 1);
  data_.reserve(static_cast<std::size_t>(blocks) * dofs_per_block * dofs_per_block);
}

void BlockDiagonal::clear() {
  start_.resize(1);
  data_start_.resize(1);
  data_.clear();
}

Index BlockDiagonal::add_block(const Eigen::Ref<const Matrix>& block) {
  assert(block.rows() == block.cols());
  const Index n = static_cast<Index>(block.rows());
  start_.push_back(start_.back() + n);
  const std::size_t begin = data_.size();
  data_.resize(begin + static_cast<std::size_t>(n) * n);
  Eigen::Map<Matrix>(data_.data() + begin, n, n) = block;
  data_start_.push_back(data_.size());
  return block_count() - 1;
}

void BlockDiagonal::multiply(const Eigen::Ref<const Vector>& x, Eigen::Ref<Vector> y) const {
  for (Index b = 0; b < block_count(); ++b) {
    const Index n = block_size(b);
    const Index s = start_[b];
    if (n == 6) {
      y.segment<6>(s).noalias() = Eigen::Map<const Mat6>(data_.data() + data_start_[b]) * x.segment<6>(s);
    } else {
      y.segment(s, n).noalias() = block(b) * x.segment(s, n);
    }
  }
}

Index BlockDiagonalCholesky::factorize(const BlockDiagonal& matrix) {
  lower_ = matrix;
  for (Index b = 0; b < lower_.block_count(); ++b) {
    const Index n = lower_.block_size(b);
    double* data = lower_.data_.data() + lower_.data_start_[b];
    Eigen::ComputationInfo info;
    if (n == 6) {
      Eigen::Map<Mat6> block(data);
      info = Eigen::LLT<Eigen::Ref<Mat6>>(block).info();
    } else {
      Eigen::Map<Matrix> block(data, n, n);
      info = Eigen::LLT<Eigen::Ref<Matrix>>(block).info();
    }
    if (info != Eigen::Success) return b;
  }
  return kSuccess;
}

void BlockDiagonalCholesky::solve_in_place(Eigen::Ref<Vector> x) const {
  for (Index b = 0; b < block_count(); ++b) {
    solve_lower_and_transposed(lower_.data_.data() + lower_.data_start_[b], lower_.block_size(b),
                               x.data() + lower_.block_start(b));
  }
}

void BlockDiagonalCholesky::solve_block_in_place(Index b, Eigen::Ref<Matrix> columns) const {
  const double* data = lower_.data_.data() + lower_.data_start_[b];
  for (Index c = 0; c < columns.cols(); ++c) {
    solve_lower_and_transposed(data, lower_.block_size(b), columns.col(c).data());
  }
}

}  // namespace tribo
