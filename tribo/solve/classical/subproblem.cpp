#include "tribo/solve/classical/subproblem.h"

#include <algorithm>
#include <cmath>

#include "tribo/problem/natural_map.h"

namespace tribo {

void Subproblem::setup(const ContactProblem& problem, bool scaled) {
  problem_ = &problem;
  matrix_ = nullptr;
  sweeps_.setup(problem);
  const Index count = problem.constraint_count();
  weight_.resize(count);
  inverse_weight_.resize(count);
  radius_.resize(count);
  offset_.resize(problem.row_count());
  for (Index i = 0; i < count; ++i) {
    weight_[i] = scaled ? problem.scale(i) : 1.0;
    inverse_weight_[i] = problem.is_idle(i) ? 0.0 : 1.0 / weight_[i];
  }
  pose(SetKind::coulomb);
}

void Subproblem::pose(SetKind set) {
  set_ = set;
  shift_ = 0.0;
  offset_.setZero();
  radius_.setZero();
}

const BlockMatrix& Subproblem::matrix() {
  if (matrix_ == nullptr) {
    matrix_ = problem_->has_delassus() ? &problem_->delassus()
                                       : &assembler_.assemble(problem_->mass_factor(), problem_->jacobian());
  }
  return *matrix_;
}

void Subproblem::multiply(const Vector& x, Vector& y) {
  y.resize(x.size());
  if (matrix_ != nullptr) return matrix_->multiply(x, y);
  if (problem_->has_delassus()) return problem_->delassus().multiply(x, y);
  motion_.setZero(problem_->dof_count());
  problem_->jacobian().add_transpose_product(x, motion_);
  problem_->mass_factor().solve_in_place(motion_);
  problem_->jacobian().multiply(motion_, y);
}

void Subproblem::softened(const Vector& impulse, const Vector& u, Vector& w) const {
  w = u + offset_;
  if (!problem_->is_rigid()) w += problem_->compliance().cwiseProduct(impulse);
  if (shift_ == 0.0) return;
  for (Index i = 0; i < problem_->constraint_count(); ++i) {
    const double add = shift_ * weight_[i];
    for (Index r = problem_->row(i), end = r + problem_->rows(i); r < end; ++r) w[r] += add * impulse[r];
  }
}

void Subproblem::find_field(const Vector& impulse, const Vector& u, Vector& f) const {
  softened(impulse, u, f);
  for_each_constraint(
      *problem_, [&](auto cone) { cone.rows(f) = field(set_, cone.get(f), cone.friction); },
      [&](IntervalConstraint row) {
        if (set_ == SetKind::tangent) f[row.row] = 0.0;
      });
}

void Subproblem::project_step(const Vector& z, double step, const Vector& f, Vector& target) const {
  target.resize(z.size());
  for_each_constraint(
      *problem_,
      [&](auto cone) {
        constexpr int n = cone.kRows;
        const VecN<n> moved = cone.get(z) - step * inverse_weight_[cone.index] * cone.get(f);
        cone.rows(target) = project_on(set_, moved, cone.friction, radius_[cone.index]);
      },
      [&](IntervalConstraint row) {
        const double moved = z[row.row] - step * inverse_weight_[row.index] * f[row.row];
        target[row.row] = set_ == SetKind::tangent ? z[row.row] : row.set.project(moved);
      });
}

double Subproblem::weighted2(const Vector& x, const Vector& weight) const {
  double sum = 0.0;
  for (Index i = 0; i < problem_->constraint_count(); ++i) {
    double own = 0.0;
    for (Index r = problem_->row(i), end = r + problem_->rows(i); r < end; ++r) own += x[r] * x[r];
    sum += weight[i] * own;
  }
  return sum;
}

double Subproblem::error(const Vector& impulse, const Vector& u, Measure measure) {
  find_field(impulse, u, field_);
  const bool scaled = measure == Measure::scaled;
  const double common = scaled ? common_reference(*problem_, impulse) : 0.0;
  double largest = 0.0, sum = 0.0;
  const auto take = [&](Index i, double largest_entry, double squares) {
    if (!scaled) {
      sum += squares;
      return;
    }
    if (problem_->is_idle(i)) return;
    const double reference = reference_of(*problem_, i, common);
    const double size = problem_->root_scale(i) * largest_entry;
    if (size > 0.0) largest = std::max(largest, reference > 0.0 ? size / reference : Interval::kInfinity);
    if (std::isnan(size)) largest = Interval::kInfinity;
  };
  for_each_constraint(
      *problem_,
      [&](auto cone) {
        constexpr int n = cone.kRows;
        const double step = scaled ? problem_->inverse_scale(cone.index) : 1.0;
        const VecN<n> lambda = cone.get(impulse), moved = lambda - step * cone.get(field_);
        const VecN<n> gap = lambda - project_on(set_, moved, cone.friction, radius_[cone.index]);
        take(cone.index, gap.cwiseAbs().maxCoeff(), gap.squaredNorm());
      },
      [&](IntervalConstraint row) {
        if (set_ == SetKind::tangent) return;
        const double step = scaled ? problem_->inverse_scale(row.index) : 1.0;
        const double gap = natural_map(row.set, impulse[row.row], field_[row.row], step);
        take(row.index, std::abs(gap), gap * gap);
      });
  if (scaled) return largest;
  double reference = problem_->free_velocity().norm();
  if (measure == Measure::siconos) reference = std::max({reference, impulse.norm(), u.norm()});
  return reference > 0.0 ? std::sqrt(sum) / reference : std::sqrt(sum);
}

}  // namespace tribo
