#include "tribo/solve/newton/al_surrogate.h"

#include <algorithm>
#include <cmath>

#include "tribo/solve/solver.h"

namespace tribo {
namespace {

constexpr double kResidualRounding = 2e-15;  // residual that counts as zero, relative to the state
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

double AlSurrogate::rounding() const { return kResidualRounding * system_->magnitude(); }

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

void AlSurrogate::recentre_normals() {
  for_each_cone(*problem_, [&](auto cone) {
    const Index row = cone.row + cone.kNormal;
    if (!(multiplier_[row] > 0.0) || !(proximal_.proximal(row) > 0.0)) return;
    centre_[row] =
        (multiplier_[row] * proximal_.total(row) + system_->velocity()[row]) / proximal_.proximal(row);
  });
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
  for_each_cone(*problem_, [&](auto cone) {
    constexpr int n = cone.kRows;
    auto&& derivative = derivative_.at<n>(cone.index);
    if (cone.friction == 0.0 || derivative(n - 1, n - 1) == 0.0) return;
    derivative = proximal_.stiffness<n>(cone.row).asDiagonal();
  });
  if (!system_->direction(derivative_)) return false;
  system_->move(1.0);
  return true;
}

bool AlSurrogate::keep_step(double& residual_norm, double share) {
  Index others = 0;
  differentiate(touch());
  moved_ = trial_;
  for_each_cone(*problem_, [&](auto cone) {
    constexpr int n = cone.kRows;
    const VecN<n> now = cone.get(multiplier_);
    if (!(now[n - 1] > 0.0)) return;
    const VecN<n> held = proximal_.target<n>(cone.row, system_->velocity(), centre_);
    const VecN<n> stiffness = proximal_.stiffness<n>(cone.row);
    const bool sticks = now.template head<n - 1>().norm() < kInside * cone.friction * now[n - 1];
    if (sticks) {
      if (held == cone.get(trial_)) return;
      cone.rows(moved_) = held;
      derivative_.at<n>(cone.index) = stiffness.asDiagonal();
    } else if (held[n - 1] < 0.0) {
      VecN<n> edge = held;
      edge[n - 1] = 0.0;
      const MatN<n> sliding = project_strict_jacobian(edge, cone.friction);
      cone.rows(moved_) = sliding.col(n - 1) * held[n - 1];
      derivative_.at<n>(cone.index) = sliding * stiffness.asDiagonal();
    } else {
      return;
    }
    ++others;
  });
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
