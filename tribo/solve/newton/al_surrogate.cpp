#include "tribo/solve/newton/al_surrogate.h"

#include <algorithm>
#include <cmath>

#include "tribo/math/cone.h"
#include "tribo/solve/solver.h"

namespace tribo {
namespace {

constexpr double kRounding = 2e-15;  // residual that counts as zero, relative to the state
constexpr double kInside = 1.0 - 1e-9;
constexpr double kOutside = 1e-12;  // what impulses may leave their sets by, relative to the largest demand

}  // namespace

void AlSurrogate::prepare(const ContactProblem& problem, Law law, NewtonSystem& system) {
  problem_ = &problem;
  law_ = law;
  system_ = &system;
  fastest_ = problem.row_count() > 0 ? problem.free_velocity().lpNorm<Eigen::Infinity>() : 0.0;
  trial_.resize(problem.row_count());
  moved_.resize(problem.row_count());
  kept_.resize(problem.row_count());
  left_out_.resize(problem.row_count());
  unit_.prepare(problem, 1.0);
  soft_known_ = false;
}

double AlSurrogate::rounding() const { return kRounding * system_->magnitude(); }

void AlSurrogate::adopt(const Vector& impulse) {
  multiplier_ = centre_ = impulse;
  system_->start(multiplier_);
  measure_natural();
}

void AlSurrogate::adopt_trial() {
  multiplier_ = centre_ = trial_;
  measure_natural();
}

void AlSurrogate::adopt_solved(double residual) {
  if (residual <= rounding()) {
    adopt_trial();
  } else {
    adopt(trial_);
  }
}

void AlSurrogate::settle_normals() {
  for (Index i = 0; i < problem_->constraint_count(); ++i) {
    const Index row = problem_->row(i) + 2;
    if (problem_->kind(i) != ConstraintKind::contact || !(multiplier_[row] > 0.0)) continue;
    if (!(proximal_.proximal(row) > 0.0)) continue;
    centre_[row] =
        (multiplier_[row] * proximal_.total(row) + system_->velocity()[row]) / proximal_.proximal(row);
  }
}

// The step of penalty 1 from the multipliers leaves them alone exactly at a solution.
void AlSurrogate::measure_natural() {
  unit_.impulse(*problem_, law_, system_->velocity(), multiplier_, moved_);
  double energy = 0.0;
  for (Index i = 0; i < problem_->constraint_count(); ++i) {
    const Index row = problem_->row(i), rows = problem_->rows(i);
    energy += problem_->scale(i) * (moved_.segment(row, rows) - multiplier_.segment(row, rows)).squaredNorm();
  }
  natural_ = std::sqrt(energy);
}

double AlSurrogate::residual() {
  proximal_.impulse(*problem_, law_, system_->velocity(), centre_, trial_);
  return system_->residual(trial_);
}

void AlSurrogate::differentiate(double touch) {
  proximal_.derivative(*problem_, law_, system_->velocity(), centre_, derivative_, touch);
}

bool AlSurrogate::newton_step(double& residual_norm, Index backtracks) {
  differentiate(touch());
  if (!system_->direction(derivative_)) return false;
  double step = 1.0;
  system_->move(1.0);
  for (Index k = 0;; ++k) {
    const double reduced = residual();
    if (reduced <= (1.0 - 0.1 * step) * residual_norm) {
      residual_norm = reduced;
      return true;
    }
    if (k == backtracks) return false;
    step *= 0.5;
    system_->move(-step);
  }
}

bool AlSurrogate::repeat_step() {
  const double before = natural_;
  kept_ = multiplier_;
  residual();
  if (!system_->direction_again()) return false;
  system_->move(1.0);
  adopt_solved(residual());
  if (natural_ <= before) return true;
  adopt(kept_);
  return false;
}

bool AlSurrogate::is_inside(Vector& nearest) const {
  nearest = multiplier_;
  project_impulse(*problem_, nearest);
  double outside = 0.0;
  for (Index i = 0; i < problem_->constraint_count(); ++i) {
    const Index row = problem_->row(i), rows = problem_->rows(i);
    const double away =
        (nearest.segment(row, rows) - multiplier_.segment(row, rows)).lpNorm<Eigen::Infinity>();
    outside = std::max(outside, problem_->root_scale(i) * away);
  }
  return outside <= kOutside * problem_->largest_demand();
}

bool AlSurrogate::stick_step(double rest) {
  differentiate(std::max(rest, touch()));
  if (!system_->direction(derivative_)) return false;
  system_->move(1.0);
  return true;
}

bool AlSurrogate::hold_step(double rest) {
  differentiate(rest);
  for (Index i = 0; i < problem_->constraint_count(); ++i) {
    if (problem_->kind(i) != ConstraintKind::contact || problem_->friction(i) == 0.0) continue;
    if (derivative_[i](2, 2) == 0.0) continue;
    derivative_[i] = proximal_.stiffness(problem_->row(i)).asDiagonal();
  }
  if (!system_->direction(derivative_)) return false;
  system_->move(1.0);
  return true;
}

bool AlSurrogate::sticks(Index i) const {
  if (problem_->kind(i) != ConstraintKind::contact) return false;
  const auto impulse = multiplier_.segment<3>(problem_->row(i));
  return impulse.head<2>().norm() < kInside * problem_->friction(i) * impulse[2];
}

bool AlSurrogate::keep_step(double& residual_norm, double share) {
  Index others = 0;
  differentiate(touch());
  moved_ = trial_;
  for (Index i = 0; i < problem_->constraint_count(); ++i) {
    if (problem_->kind(i) != ConstraintKind::contact) continue;
    const Index row = problem_->row(i);
    if (!(multiplier_[row + 2] > 0.0)) continue;
    const Vec3 held = proximal_.target(row, system_->velocity(), centre_);
    const Vec3 stiffness = proximal_.stiffness(row);
    if (sticks(i)) {
      if (held == trial_.segment<3>(row)) continue;
      moved_.segment<3>(row) = held;
      derivative_[i] = stiffness.asDiagonal();
    } else if (held[2] < 0.0) {
      const Mat3 sliding = project_strict_jacobian(Vec3(held[0], held[1], 0.0), problem_->friction(i));
      moved_.segment<3>(row) = sliding.col(2) * held[2];
      derivative_[i] = sliding * stiffness.asDiagonal();
    } else {
      continue;
    }
    ++others;
  }
  if (others == 0 || static_cast<double>(others) > share * static_cast<double>(problem_->contact_count())) {
    return false;
  }
  trial_ = moved_;
  system_->residual(trial_);
  if (system_->direction(derivative_)) {
    system_->move(1.0);
    const double reduced = residual();
    if (reduced <= residual_norm) {
      residual_norm = reduced;
      return true;
    }
    system_->move(-1.0);
  }
  residual();
  return true;
}

}  // namespace tribo
