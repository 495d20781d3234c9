#include "tribo/solve/dense_newton.h"

#include <Eigen/LU>
#include <algorithm>

#include "tribo/linalg/dense_lu.h"

namespace tribo {
namespace {

using MatrixMap = Eigen::Map<Matrix>;

}  // namespace

void split_derivative(Index rows, double scale, const Mat3& derivative, Mat3& kept, Mat3& left) {
  if (rows == 3) {
    kept = (Mat3::Identity() + scale * derivative).inverse();
    left = (Mat3::Identity() - kept) / scale;
  } else {
    kept(0, 0) = 1.0 / (1.0 + scale * derivative(0, 0));
    left(0, 0) = (1.0 - kept(0, 0)) / scale;
  }
}

void DenseNewton::begin(Index dofs, Index most_constraints, Index most_rows) {
  dofs_ = dofs;
  active_rows_ = 0;
  active_.clear();
  active_.reserve(most_constraints);
  const std::size_t entries = static_cast<std::size_t>(dofs) * most_rows;
  const auto smaller = static_cast<std::size_t>(std::min(dofs, most_rows));
  if (columns_.size() < entries) {
    columns_.resize(entries);
    weighted_.resize(entries);
  }
  if (matrix_.size() < smaller * smaller) matrix_.resize(smaller * smaller);
  if (exchanges_.size() < smaller) exchanges_.resize(smaller);
  if (static_cast<Index>(rhs_.size()) < most_rows) rhs_.resize(most_rows);
  if (static_cast<Index>(kept_.size()) < most_constraints) {
    kept_.resize(most_constraints);
    left_.resize(most_constraints);
  }
}

void DenseNewton::add(const double* columns, Index rows, double scale, const Mat3& derivative) {
  if (derivative.topLeftCorner(rows, rows).isZero(0.0)) return;
  active_.push_back({rows, scale, &derivative});
  std::copy(columns, columns + dofs_ * rows, columns_.data() + dofs_ * active_rows_);
  active_rows_ += rows;
}

bool DenseNewton::factorize() {
  by_dofs_ = dofs_ <= active_rows_;
  const Index size = std::min(dofs_, active_rows_);
  if (by_dofs_) {
    form_dofs();
  } else {
    form_rows();
  }
  return factorize_lu(matrix_.data(), size, size, exchanges_.data());
}

void DenseNewton::solve_in_place(double* r) {
  if (by_dofs_) {
    solve_lu(matrix_.data(), dofs_, dofs_, exchanges_.data(), r);
  } else if (active_rows_ > 0) {
    const MatrixMap x(columns_.data(), dofs_, active_rows_);
    const MatrixMap weighted(weighted_.data(), dofs_, active_rows_);
    Eigen::Map<Vector> rhs(rhs_.data(), active_rows_), residual(r, dofs_);
    rhs.noalias() = weighted.transpose() * residual;
    solve_lu(matrix_.data(), active_rows_, active_rows_, exchanges_.data(), rhs_.data());
    residual.noalias() -= x * rhs;
  }
}

// X_a times the blocks weight(k) on the diagonal, column by column.
template <class Weight>
void DenseNewton::weigh(const Weight& weight) {
  const Index n = dofs_;
  const double* x = columns_.data();
  double* out = weighted_.data();
  for (std::size_t i = 0; i < active_.size(); ++i) {
    const Mat3& w = weight(i);
    if (active_[i].rows == 3) {
      const double *x0 = x, *x1 = x + n, *x2 = x1 + n;
      for (int c = 0; c < 3; ++c, x += n, out += n) {
        const double w0 = w(0, c), w1 = w(1, c), w2 = w(2, c);
        for (Index k = 0; k < n; ++k) out[k] = w0 * x0[k] + w1 * x1[k] + w2 * x2[k];
      }
    } else {
      const double w0 = w(0, 0);
      for (Index k = 0; k < n; ++k) out[k] = w0 * x[k];
      x += n;
      out += n;
    }
  }
}

void DenseNewton::form_dofs() {
  const Index n = dofs_;
  const MatrixMap x(columns_.data(), n, active_rows_);
  MatrixMap xd(weighted_.data(), n, active_rows_), m(matrix_.data(), n, n);
  weigh([&](std::size_t i) -> const Mat3& { return *active_[i].derivative; });
  if (n == 6) {
    using Six = Eigen::Matrix<double, 6, Eigen::Dynamic>;
    const Eigen::Map<const Six> x6(columns_.data(), 6, active_rows_);
    Eigen::Matrix<double, 6, 6> sum = Eigen::Matrix<double, 6, 6>::Identity();
    for (Index r = 0; r < active_rows_; ++r) {
      const Eigen::Map<const Eigen::Matrix<double, 6, 1>> left(weighted_.data() + 6 * r);
      for (int c = 0; c < 6; ++c) sum.col(c) += x6(c, r) * left;
    }
    m = sum;
  } else {
    m.noalias() = xd * x.transpose();
    m.diagonal().array() += 1.0;
  }
}

void DenseNewton::form_rows() {
  const Index n = active_rows_;
  for (std::size_t i = 0; i < active_.size(); ++i) {
    split_derivative(active_[i].rows, active_[i].scale, *active_[i].derivative, kept_[i], left_[i]);
    left_[i].transposeInPlace();
  }
  weigh([&](std::size_t i) -> const Mat3& { return left_[i]; });
  const MatrixMap x(columns_.data(), dofs_, n), weighted(weighted_.data(), dofs_, n);
  MatrixMap m(matrix_.data(), n, n);
  m.noalias() = weighted.transpose() * x;
  Index row = 0;
  for (std::size_t i = 0; i < active_.size(); ++i) {
    const Index rows = active_[i].rows;
    for (Index c = 0; c < rows; ++c) {
      for (Index r = 0; r < rows; ++r) m(row + r, row + c) += kept_[i](r, c);
    }
    row += rows;
  }
}

}  // namespace tribo
