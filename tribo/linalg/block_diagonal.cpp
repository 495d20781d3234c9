#include "tribo/linalg/block_diagonal.h"

#include <Eigen/Cholesky>
#include <cassert>

namespace tribo {
namespace {

using Mat6 = Eigen::Matrix<double, 6, 6>;
using Vec6 = Eigen::Matrix<double, 6, 1>;

// Up to here plain loops down the columns beat the library's panels.
constexpr Index kSmall = 64;

// Entries of unit blocks that clear() keeps: those of all trees of common sizes, but not of trees whose size changes from
// step to step (problem/sparse_trees.h).
constexpr std::size_t kKeptUnits = 1 << 18;

// The free rigid body (6 dofs) is the fast path: unrolled.
void solve_lower_six(const double* lower, double* x) {
  double y[6];
#pragma GCC unroll 6
  for (int k = 0; k < 6; ++k) {
    double sum = x[k];
#pragma GCC unroll 6
    for (int i = 0; i < k; ++i) sum -= lower[k + 6 * i] * y[i];
    y[k] = sum / lower[7 * k];
  }
  for (int k = 0; k < 6; ++k) x[k] = y[k];
}

void solve_transposed_six(const double* lower, double* x) {
  double y[6];
#pragma GCC unroll 6
  for (int k = 5; k >= 0; --k) {
    double sum = x[k];
#pragma GCC unroll 6
    for (int i = 5; i > k; --i) sum -= lower[i + 6 * k] * y[i];
    y[k] = sum / lower[7 * k];
  }
  for (int k = 0; k < 6; ++k) x[k] = y[k];
}

// L x = x.
void solve_lower(const double* lower, Index n, double* x) {
  if (n == 1) {
    x[0] /= lower[0];
  } else if (n == 6) {
    solve_lower_six(lower, x);
  } else if (n <= kSmall) {
    for (Index k = 0; k < n; ++k) {
      const double* column = lower + static_cast<std::size_t>(k) * n;
      const double y = x[k] /= column[k];
      for (Index i = k + 1; i < n; ++i) x[i] -= column[i] * y;
    }
  } else {
    Eigen::Map<Vector> y(x, n);
    Eigen::Map<const Matrix>(lower, n, n).triangularView<Eigen::Lower>().solveInPlace(y);
  }
}

// L X = X for the three rows of a contact: one pass over L serves all.
void solve_lower_three(const double* lower, Index n, double* x0, double* x1, double* x2) {
  for (Index k = 0; k < n; ++k) {
    const double* column = lower + static_cast<std::size_t>(k) * n;
    const double inverse = 1.0 / column[k];
    const double y0 = x0[k] *= inverse, y1 = x1[k] *= inverse, y2 = x2[k] *= inverse;
    for (Index i = k + 1; i < n; ++i) {
      x0[i] -= column[i] * y0;
      x1[i] -= column[i] * y1;
      x2[i] -= column[i] * y2;
    }
  }
}

// L^T x = x.
void solve_transposed(const double* lower, Index n, double* x) {
  if (n == 1) {
    x[0] /= lower[0];
  } else if (n == 6) {
    solve_transposed_six(lower, x);
  } else if (n <= kSmall) {
    for (Index k = n - 1; k >= 0; --k) {
      const double* column = lower + static_cast<std::size_t>(k) * n;
      const Index rest = n - 1 - k;
      const Eigen::Map<const Vector> below(column + k + 1, rest), solved(x + k + 1, rest);
      x[k] = (x[k] - below.dot(solved)) / column[k];
    }
  } else {
    Eigen::Map<Vector> y(x, n);
    Eigen::Map<const Matrix>(lower, n, n).transpose().triangularView<Eigen::Upper>().solveInPlace(y);
  }
}

void solve_lower_and_transposed(const double* lower, Index n, double* x) {
  solve_lower(lower, n, x);
  solve_transposed(lower, n, x);
}

}  // namespace

void BlockDiagonal::reserve(Index blocks, Index dofs_per_block) {
  start_.reserve(static_cast<std::size_t>(blocks) + 1);
  place_.reserve(static_cast<std::size_t>(blocks));
  data_.reserve(static_cast<std::size_t>(blocks) * dofs_per_block * dofs_per_block);
}

void BlockDiagonal::clear() {
  start_.resize(1);
  place_.clear();
  data_.clear();
  identity_ = true;
  if (units_.size() > kKeptUnits) {
    units_.clear();
    unit_sizes_.clear();
  }
}

Index BlockDiagonal::add_identity(Index size) {
  start_.push_back(start_.back() + size);
  std::size_t begin = 0;
  for (const Index known : unit_sizes_) {
    if (known == size) {
      place_.push_back(~static_cast<std::ptrdiff_t>(begin));
      return block_count() - 1;
    }
    begin += static_cast<std::size_t>(known) * known;
  }
  unit_sizes_.push_back(size);
  units_.resize(begin + static_cast<std::size_t>(size) * size, 0.0);
  for (Index k = 0; k < size; ++k) units_[begin + static_cast<std::size_t>(k) * (size + 1)] = 1.0;
  place_.push_back(~static_cast<std::ptrdiff_t>(begin));
  return block_count() - 1;
}

Index BlockDiagonal::add_block(const Eigen::Ref<const Matrix>& block) {
  assert(block.rows() == block.cols());
  const Index n = static_cast<Index>(block.rows());
  identity_ = false;
  start_.push_back(start_.back() + n);
  const std::size_t begin = data_.size();
  data_.resize(begin + static_cast<std::size_t>(n) * n);
  Eigen::Map<Matrix>(data_.data() + begin, n, n) = block;
  place_.push_back(static_cast<std::ptrdiff_t>(begin));
  return block_count() - 1;
}

void BlockDiagonal::multiply(const Eigen::Ref<const Vector>& x, Eigen::Ref<Vector> y) const {
  if (identity_) {
    y = x;
    return;
  }
  for (Index b = 0; b < block_count(); ++b) {
    const Index n = block_size(b);
    const Index s = start_[b];
    if (n == 6) {
      y.segment<6>(s).noalias() = Eigen::Map<const Mat6>(data(b)) * x.segment<6>(s);
    } else {
      y.segment(s, n).noalias() = block(b) * x.segment(s, n);
    }
  }
}

Index BlockDiagonalCholesky::factorize(const BlockDiagonal& matrix) {
  if (matrix.is_identity()) {
    lower_.clear();
    for (Index b = 0; b < matrix.block_count(); ++b) lower_.add_identity(matrix.block_size(b));
    return kSuccess;
  }
  lower_ = matrix;
  for (Index b = 0; b < lower_.block_count(); ++b) {
    if (lower_.place_[b] < 0) continue;  // the unit block is its own factor
    const Index n = lower_.block_size(b);
    double* data = lower_.data_.data() + lower_.place_[b];
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
  if (lower_.is_identity()) return;
  for (Index b = 0; b < block_count(); ++b) {
    if (!lower_.is_unit(b))
      solve_lower_and_transposed(lower_.data(b), lower_.block_size(b), x.data() + lower_.block_start(b));
  }
}

void BlockDiagonalCholesky::solve_lower_in_place(Eigen::Ref<Vector> x) const {
  if (lower_.is_identity()) return;
  for (Index b = 0; b < block_count(); ++b) {
    if (!lower_.is_unit(b))
      solve_lower(lower_.data(b), lower_.block_size(b), x.data() + lower_.block_start(b));
  }
}

void BlockDiagonalCholesky::solve_lower_block_in_place(Index b, Eigen::Ref<Matrix> columns) const {
  if (lower_.is_unit(b)) return;
  const double* data = lower_.data(b);
  const Index n = lower_.block_size(b);
  if (columns.cols() == 3 && n <= kSmall) {
    solve_lower_three(data, n, columns.col(0).data(), columns.col(1).data(), columns.col(2).data());
    return;
  }
  for (Index c = 0; c < columns.cols(); ++c) solve_lower(data, n, columns.col(c).data());
}

void BlockDiagonalCholesky::solve_block_in_place(Index b, Eigen::Ref<Matrix> columns) const {
  if (lower_.is_unit(b)) return;
  const double* data = lower_.data(b);
  for (Index c = 0; c < columns.cols(); ++c) {
    solve_lower_and_transposed(data, lower_.block_size(b), columns.col(c).data());
  }
}

}  // namespace tribo
