#include "tribo/solve/classical/lcp.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tribo {
namespace {

// Entries of problems of order one that count as zero.
constexpr double kTiny = 1e-11;
// Added to q, so that no two ratios are equal and no basis returns; the basis found is solved for with q itself.
constexpr double kPerturbation = 1e-9;

// Numbers in [1, 2) without order.
double spread(Index i) {
  const double x = 0.6180339887498949 * static_cast<double>(i + 1);
  return 1.0 + x - std::floor(x);
}

}  // namespace

// The row that leaves: the largest pivot of those whose ratio is the least but for rounding; -1 where nothing stops the
// entering variable. The artificial variable goes first: that is the end.
Index Lemke::leaving_row(Index entering) const {
  const Index size = static_cast<Index>(tableau_.rows()), rhs = 2 * size + 1;
  double bound = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < size; ++i) {
    const double slope = tableau_(i, entering);
    if (slope > kTiny) bound = std::min(bound, (std::max(tableau_(i, rhs), 0.0) + kTiny) / slope);
  }
  Index best = -1;
  for (Index i = 0; i < size; ++i) {
    const double slope = tableau_(i, entering);
    if (!(slope > kTiny) || tableau_(i, rhs) / slope > bound) continue;
    if (basis_[i] == 2 * size) return i;
    if (best < 0 || slope > tableau_(best, entering)) best = i;
  }
  return best;
}

void Lemke::pivot(Index row, Index column) {
  tableau_.row(row) /= tableau_(row, column);
  for (Index i = 0; i < static_cast<Index>(tableau_.rows()); ++i) {
    const double factor = tableau_(i, column);
    if (i == row || factor == 0.0) continue;
    tableau_.row(i) -= factor * tableau_.row(row);
    tableau_(i, column) = 0.0;
  }
  basis_[row] = column;
}

LcpEnd Lemke::solve(const Matrix& m, const Vector& q, const std::function<bool(Index)>& step, Vector& z) {
  const Index size = static_cast<Index>(q.size()), artificial = 2 * size, rhs = artificial + 1;
  z.setZero(size);
  if (size == 0 || q.minCoeff() >= 0.0) return LcpEnd::solved;
  tableau_.setZero(size, rhs + 1);
  tableau_.leftCols(size).setIdentity();
  tableau_.middleCols(size, size) = -m;
  tableau_.col(artificial).setConstant(-1.0);
  for (Index i = 0; i < size; ++i) tableau_(i, rhs) = q[i] + kPerturbation * spread(i);
  basis_.resize(static_cast<std::size_t>(size));
  for (Index i = 0; i < size; ++i) basis_[i] = i;
  Index row = 0;
  for (Index i = 1; i < size; ++i) {
    if (tableau_(i, rhs) < tableau_(row, rhs)) row = i;
  }
  Index entering = artificial;
  LcpEnd end = LcpEnd::limit;
  for (Index pivots = 1; step(pivots); ++pivots) {
    const Index left = basis_[row];
    pivot(row, entering);
    if (left == artificial) {
      end = LcpEnd::solved;
      break;
    }
    entering = left < size ? left + size : left - size;  // the complement of what left
    row = leaving_row(entering);
    if (row < 0) {
      end = LcpEnd::ray;
      break;
    }
  }
  for (Index i = 0; i < size; ++i) {
    if (basis_[i] >= size && basis_[i] < artificial) z[basis_[i] - size] = tableau_(i, rhs);
  }
  return end;
}

void Dantzig::prepare(const Matrix& m) {
  tableau_ = m;
  basic_.assign(static_cast<std::size_t>(m.rows()), 0);
}

// Exchanges variable i and its complement.
void Dantzig::pivot(Index i) {
  const double p = tableau_(i, i);
  column_ = tableau_.col(i);
  row_ = tableau_.row(i).transpose();
  tableau_.noalias() -= (column_ / p) * row_.transpose();
  tableau_.row(i) = -row_.transpose() / p;
  tableau_.col(i) = column_ / p;
  tableau_(i, i) = 1.0 / p;
  basic_[i] = basic_[i] != 0 ? 0 : 1;
}

LcpEnd Dantzig::solve(const Vector& q, const std::function<bool(Index)>& step, Vector& z) {
  const Index size = static_cast<Index>(q.size());
  // Values of w of the non-basic and of z of the basic indices, the others being zero.
  row_.setZero(size);
  for (Index i = 0; i < size; ++i) row_[i] = basic_[i] != 0 ? q[i] : 0.0;
  value_ = -(tableau_ * row_);
  for (Index i = 0; i < size; ++i) value_[i] += basic_[i] != 0 ? 0.0 : q[i];

  Index pivots = 0;
  for (;;) {
    Index driven = -1;
    for (Index i = 0; i < size; ++i) {
      if (value_[i] < -kTiny && (driven < 0 || value_[i] < value_[driven])) driven = i;
    }
    if (driven < 0) break;
    double height = 0.0;  // of the complement of the driven variable
    for (bool done = false; !done;) {
      if (!step(++pivots)) return LcpEnd::limit;
      const double own = tableau_(driven, driven);
      double reach = own > 0.0 ? -value_[driven] / own : std::numeric_limits<double>::infinity();
      Index blocking = driven;
      for (Index i = 0; i < size; ++i) {
        const double slope = tableau_(i, driven);
        if (i == driven || value_[i] < -kTiny || slope >= -kTiny || !(tableau_(i, i) > 0.0)) continue;
        const double at = std::max(0.0, value_[i]) / -slope;
        if (at < reach) reach = at, blocking = i;
      }
      if (!std::isfinite(reach)) return LcpEnd::ray;
      value_ += reach * tableau_.col(driven);
      height += reach;
      value_[blocking] = blocking == driven ? height : 0.0;
      pivot(blocking);
      done = blocking == driven;
    }
  }
  z.setZero(size);
  for (Index i = 0; i < size; ++i) {
    if (basic_[i] != 0) z[i] = std::max(0.0, value_[i]);
  }
  return LcpEnd::solved;
}

}  // namespace tribo
