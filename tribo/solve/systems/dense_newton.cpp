#include "tribo/solve/systems/dense_newton.h"

#include <algorithm>

#include "tribo/linalg/simd/dense_lu.h"
#include "tribo/linalg/simd/padded_product.h"

namespace tribo {

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
  kept_.reserve(most_constraints);
  left_.reserve(most_constraints);
}

void DenseNewton::add(const double* columns, double scale, const Eigen::Map<const Matrix>& derivative) {
  if (derivative.isZero(0.0)) return;
  const auto rows = static_cast<Index>(derivative.rows());
  active_.push_back({rows, scale, derivative.data()});
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
    with_rows(active.rows, [&](auto rows) {
      const double* w = active.derivative;
      const double *x0 = x, *x1 = x + n, *x2 = x1 + n;
      for (Index c = 0; c < rows(); ++c, out += stride_, w += rows()) {
        if constexpr (rows() == 1) {
          for (Index k = 0; k < n; ++k) out[k] = w[0] * x0[k];
        } else {
          const double w0 = w[0], w1 = w[1], w2 = w[2];
          for (Index k = 0; k < n; ++k) out[k] = w0 * x0[k] + w1 * x1[k] + w2 * x2[k];
          for (int r = 3; r < rows(); ++r) {
            for (Index k = 0; k < n; ++k) out[k] += w[r] * x[r * n + k];
          }
        }
        std::fill(out + n, out + stride_, 0.0);
      }
      x += rows() * n;
    });
  }
}

// w^-1 (I - E) X_a^T, row by row.
void DenseNewton::weigh_rows() {
  const Index n = dofs_;
  const double* x = columns_.data();
  double* out = weighted_.data();
  for (std::size_t i = 0; i < active_.size(); ++i) {
    with_rows(active_[i].rows, [&](auto rows) {
      if constexpr (rows() == 1) {
        const double w = left_[static_cast<Index>(i)](0, 0);
        for (Index k = 0; k < n; ++k) out[k * stride_] = w * x[k];
      } else {
        const auto& w = left_.at<rows()>(static_cast<Index>(i));
        const double *x0 = x, *x1 = x + n, *x2 = x1 + n;
        for (Index k = 0; k < n; ++k) {
          Eigen::Map<VecN<rows()>> target(out + k * stride_);
          target = w.col(0) * x0[k] + w.col(1) * x1[k] + w.col(2) * x2[k];
          for (int r = 3; r < rows(); ++r) target += w.col(r) * x[r * n + k];
        }
      }
      x += rows() * n;
      out += rows();
    });
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
  const ActiveGroups groups{active_};
  kept_.resize(groups);
  left_.resize(groups);
  for (std::size_t i = 0; i < active_.size(); ++i) {
    with_rows(active_[i].rows, [&](auto rows) {
      const MatN<rows()> derivative = Eigen::Map<const MatN<rows()>>(active_[i].derivative);
      split_derivative<rows()>(active_[i].scale, derivative, kept_.at<rows()>(static_cast<Index>(i)),
                               left_.at<rows()>(static_cast<Index>(i)));
    });
  }
  weigh_rows();
  multiply_padded(weighted_.data(), stride_, dofs_, columns_.data(), 1, dofs_, active_rows_, matrix_.data());
  Index row = 0;
  for (std::size_t i = 0; i < active_.size(); ++i) {
    const Index rows = active_[i].rows;
    const Eigen::Map<const Matrix> kept = kept_.block(static_cast<Index>(i), rows);
    for (Index c = 0; c < rows; ++c) {
      for (Index r = 0; r < rows; ++r) matrix_[(row + c) * stride_ + row + r] += kept(r, c);
    }
    row += rows;
  }
}

}  // namespace tribo
