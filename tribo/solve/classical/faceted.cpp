#include "tribo/solve/classical/faceted.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace tribo {
namespace {

// Corners of the base of a cone of `rows` rows.
Index corners(Index rows, Index facets) { return rows == 3 ? facets : 2 * (rows - 1); }

// Corner k as tangents.
void set_corner(Index rows, Index facets, Index k, Eigen::Ref<Vector> tangent) {
  tangent.setZero();
  if (rows == 3) {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(facets);
    tangent[0] = std::cos(angle);
    tangent[1] = std::sin(angle);
  } else {
    tangent[k / 2] = k % 2 == 0 ? 1.0 : -1.0;
  }
}

// Impulse variables and multipliers of constraint i.
struct Size {
  Index impulses, multipliers;
};

Size size_of(const ContactProblem& problem, Index i, Index facets) {
  if (problem.is_idle(i)) return {0, 0};
  if (problem.rows(i) > 1) {
    if (problem.friction(i) == 0.0) return {1, 0};
    return {1 + corners(problem.rows(i), facets), 1};
  }
  const Interval set = problem.interval(i);
  return {set.is_free() ? 2 : 1, set.is_bounded() ? 1 : 0};
}

}  // namespace

Index FacetedProblem::count(const ContactProblem& problem, Index facets) {
  Index sum = 0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Size size = size_of(problem, i, facets);
    sum += size.impulses + size.multipliers;
  }
  return sum;
}

void FacetedProblem::assemble(Subproblem& subproblem, Index facets) {
  const ContactProblem& problem = subproblem.problem();
  const Index rows = problem.row_count();
  variables_ = count(problem, facets);
  impulses_ = 0;
  for (Index i = 0; i < problem.constraint_count(); ++i) impulses_ += size_of(problem, i, facets).impulses;
  basis_.setZero(rows, impulses_);
  start_.setZero(rows);
  inverse_root_.resize(rows);
  matrix_.setZero(variables_, variables_);
  offset_.setZero(variables_);
  bounds_.clear();

  Index x = 0, s = impulses_;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Index row = problem.row(i), n = problem.rows(i);
    const double root = std::sqrt(subproblem.weight(i));
    inverse_root_.segment(row, n).setConstant(1.0 / root);
    if (problem.is_idle(i)) continue;
    if (n > 1) {
      const Index normal = x;
      basis_(row + n - 1, x++) = 1.0;
      if (problem.friction(i) == 0.0) continue;
      for (Index k = 0; k < corners(n, facets); ++k, ++x) {
        set_corner(n, facets, k, basis_.col(x).segment(row, n - 1));
        matrix_(x, s) = 1.0;
        matrix_(s, x) = -1.0;
      }
      matrix_(s, normal) = problem.friction(i);
      bounds_.push_back({s++, normal, problem.friction(i)});
      continue;
    }
    const Interval set = problem.interval(i);
    basis_(row, x) = set.has_lower() || set.is_free() ? 1.0 : -1.0;
    start_[row] = root * (set.has_lower() ? set.lower : set.has_upper() ? set.upper : 0.0);
    if (set.is_bounded()) {
      matrix_(x, s) = 1.0;
      matrix_(s, x) = -1.0;
      offset_[s++] = root * (set.upper - set.lower);
    }
    ++x;
    if (set.is_free()) basis_(row, x++) = -1.0;
  }

  // W + R in scaled variables.
  Matrix w = subproblem.matrix().to_dense();
  w.diagonal() += problem.compliance();
  w = inverse_root_.asDiagonal() * w * inverse_root_.asDiagonal();
  const Vector q = inverse_root_.cwiseProduct(problem.free_velocity()) + w * start_;
  matrix_.topLeftCorner(impulses_, impulses_) = basis_.transpose() * w * basis_;
  offset_.head(impulses_) = basis_.transpose() * q;
}

Vector FacetedProblem::impulse(const Vector& z) const {
  return inverse_root_.cwiseProduct(start_ + basis_ * z.head(impulses_));
}

Matrix FacetedProblem::lagged_matrix(double diagonal) const {
  Matrix m = matrix_;
  for (const Bound& bound : bounds_) m(bound.variable, bound.normal) = 0.0;
  m.diagonal().array() += diagonal;
  return m;
}

void FacetedProblem::set_bounds(const Vector& z, Vector& q) const {
  q = offset_;
  for (const Bound& bound : bounds_) q[bound.variable] = bound.friction * std::max(0.0, z[bound.normal]);
}

double FacetedProblem::error(const Vector& z) const {
  if (variables_ == 0) return 0.0;
  const Vector w = matrix_ * z + offset_;
  const double size = std::max((basis_ * z.head(impulses_) + start_).cwiseAbs().maxCoeff(),
                               1e-3 * offset_.cwiseAbs().maxCoeff());
  const double gap = z.cwiseMin(w).cwiseAbs().maxCoeff();
  return size > 0.0 ? gap / size : gap;
}

bool FacetedProblem::refine(const Matrix& m, const Vector& q, Vector& z) const {
  std::vector<Index> basic;
  for (Index j = 0; j < variables_; ++j) {
    if (z[j] > 0.0) basic.push_back(j);
  }
  if (basic.empty()) return true;
  const Eigen::PartialPivLU<Matrix> lu(Matrix(m(basic, basic)));
  const Vector right = -q(basic);
  const Vector solved = lu.solve(right);
  if (!solved.allFinite() || (m(basic, basic) * solved - right).norm() > 1e-9 * right.norm()) return false;
  for (std::size_t k = 0; k < basic.size(); ++k) z[basic[k]] = solved[static_cast<Index>(k)];
  return z.minCoeff() > -1e-9 * std::max(1.0, z.cwiseAbs().maxCoeff());
}

}  // namespace tribo
