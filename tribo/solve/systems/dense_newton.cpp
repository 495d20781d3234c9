#include "tribo/solve/systems/dense_newton.h"

#include <Eigen/LU>
#include <algorithm>

#include "tribo/linalg/simd/dense_lu.h"
#include "tribo/linalg/simd/padded_product.h"

namespace tribo {
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
  const auto weighted = std::max(static_cast<std::size_t>(padded_rows(dofs)) * most_rows,
                                 static_cast<std::size_t>(padded_rows(most_rows)) * dofs);
  if (columns_.size() < entries) columns_.resize(entries);
  if (weighted_.size() < weighted) weighted_.resize(weighted);
  const std::size_t matrix = smaller * padded_rows(static_cast<Index>(smaller));
  if (matrix_.size() < matrix) matrix_.resize(matrix);
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
  stride_ = padded_rows(size);
  if (by_dofs_) {
    form_dofs();
  } else {
    form_rows();
  }
  return factorize_lu(matrix_.data(), size, stride_, exchanges_.data());
}

void DenseNewton::solve_in_place(double* r) {
  if (by_dofs_) {
    solve_lu(matrix_.data(), dofs_, stride_, exchanges_.data(), r);
  } else if (active_rows_ > 0) {
    const Eigen::Map<const Matrix> x(columns_.data(), dofs_, active_rows_);
    const Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> weighted(weighted_.data(), active_rows_, dofs_,
                                                                     Eigen::OuterStride<>(stride_));
    Eigen::Map<Vector> rhs(rhs_.data(), active_rows_), residual(r, dofs_);
    rhs.noalias() = weighted * residual;
    solve_lu(matrix_.data(), active_rows_, stride_, exchanges_.data(), rhs_.data());
    residual.noalias() -= x * rhs;
  }
}

// X_a D, column by column.
void DenseNewton::weigh_columns() {
  const Index n = dofs_;
  const double* x = columns_.data();
  double* out = weighted_.data();
  for (const Active& active : active_) {
    const Mat3& w = *active.derivative;
    const double *x0 = x, *x1 = x + n, *x2 = x1 + n;
    for (Index c = 0; c < active.rows; ++c, x += n, out += stride_) {
      const double w0 = w(0, c), w1 = w(1, c), w2 = w(2, c);
      if (active.rows == 3) {
        for (Index k = 0; k < n; ++k) out[k] = w0 * x0[k] + w1 * x1[k] + w2 * x2[k];
      } else {
        for (Index k = 0; k < n; ++k) out[k] = w0 * x0[k];
      }
      std::fill(out + n, out + stride_, 0.0);
    }
  }
}

// w^-1 (I - E) X_a^T, row by row.
void DenseNewton::weigh_rows() {
  const Index n = dofs_;
  const double* x = columns_.data();
  double* out = weighted_.data();
  for (std::size_t i = 0; i < active_.size(); ++i) {
    const Mat3& w = left_[i];
    if (active_[i].rows == 3) {
      const double *x0 = x, *x1 = x + n, *x2 = x1 + n;
      for (Index k = 0; k < n; ++k) {
        Eigen::Map<Vec3>(out + k * stride_) = w.col(0) * x0[k] + w.col(1) * x1[k] + w.col(2) * x2[k];
      }
    } else {
      for (Index k = 0; k < n; ++k) out[k * stride_] = w(0, 0) * x[k];
    }
    x += n * active_[i].rows;
    out += active_[i].rows;
  }
  for (Index k = 0; k < n; ++k) {
    double* column = weighted_.data() + k * stride_;
    std::fill(column + active_rows_, column + stride_, 0.0);
  }
}

void DenseNewton::form_dofs() {
  weigh_columns();
  multiply_padded(weighted_.data(), stride_, active_rows_, columns_.data(), dofs_, 1, dofs_, matrix_.data());
  for (Index d = 0; d < dofs_; ++d) matrix_[d * stride_ + d] += 1.0;
}

void DenseNewton::form_rows() {
  for (std::size_t i = 0; i < active_.size(); ++i) {
    split_derivative(active_[i].rows, active_[i].scale, *active_[i].derivative, kept_[i], left_[i]);
  }
  weigh_rows();
  multiply_padded(weighted_.data(), stride_, dofs_, columns_.data(), 1, dofs_, active_rows_, matrix_.data());
  Index row = 0;
  for (std::size_t i = 0; i < active_.size(); ++i) {
    const Index rows = active_[i].rows;
    for (Index c = 0; c < rows; ++c) {
      for (Index r = 0; r < rows; ++r) matrix_[(row + c) * stride_ + row + r] += kept_[i](r, c);
    }
    row += rows;
  }
}

}  // namespace tribo
