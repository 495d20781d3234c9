// Newton on lambda = T(lambda), the equation of a solution itself.
//
// Of piecewise smooth laws a Newton step that ends on other pieces than it began on is worth little: dry friction rows of
// a leg whose foot sticks share what they carry with the contacts, and a step made as if they were bilateral rows loads
// them with many times what they can take. So the pieces are changed within the step, as an active-set method does, and the
// linear equations solved again, until the pieces are those at the end of the step.
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "tribo/solve/newton/al_surrogate.h"

namespace tribo {
namespace {

// Penalty: contacts change between sticking, sliding and open late rather than early.
constexpr double kSoftBeta = 0.3;
// Share of D p that is left out of 1 - D p, so that redundant contacts that stick leave a solvable matrix.
constexpr double kLeftOut = 1e-6;
// The same of a row with bounds: so much of the error (as an energy, sqrt(J)) is what its whole range answers to. Where
// contacts could as well carry what the row carries, less of it falls to the row; the nearer the solution, the less that
// matters. From 0.01 to 1 on steps of standing robots: fewer steps fail the larger it is, and more are needed.
constexpr double kRangeShare = 0.1;
constexpr Index kMostChanges = 8;  // of pieces within a step; few steps need more than four
// What a constraint may leave its piece by at the end of a step, relative to the error that the step begins with.
constexpr double kPieceAllowance = 1e-3;
constexpr Index kBacktracks = 3;
constexpr double kDecrease = 0.2;

}  // namespace

// With T = T(multiplier_) at a soft penalty, D = -dT/du and p the proximal compliances:
//   (1 - D p) dl + D W dl = T - lambda,
// the Newton step of a surrogate with the derivative (1 - D p)^-1 D that answers lambda + (1 - D p)^-1 (T - lambda).
void AlSurrogate::linearize_natural() {
  if (!soft_known_) soft_.prepare(*problem_, kSoftBeta);
  soft_known_ = true;
  const double left_out = std::min(damping_ * kLeftOut, 1.0);
  soft_.impulse(*problem_, law_, system_->velocity(), multiplier_, moved_);
  soft_.derivative(*problem_, law_, system_->velocity(), multiplier_, derivative_, touch());
  for_each_constraint(
      *problem_,
      [&](auto cone) {
        constexpr int n = cone.kRows;
        const VecN<n> now = cone.get(multiplier_);
        VecN<n> p;
        for (int r = 0; r < n; ++r) p[r] = soft_.proximal(cone.row + r);
        cone.rows(left_out_) = left_out * p;
        const MatN<n> d = derivative_.at<n>(cone.index);
        const MatN<n> inverse = (MatN<n>::Identity() - (1.0 - left_out) * d * p.asDiagonal()).inverse();
        cone.rows(trial_) = now + inverse * (cone.get(moved_) - now);
        derivative_.at<n>(cone.index) = inverse * d;
      },
      [&](IntervalConstraint scalar) {
        const Index row = scalar.row;
        const double d = derivative_[scalar.index](0, 0), p = soft_.proximal(row);
        left_out_[row] = left_out * p;
        const double range = scalar.set.upper - scalar.set.lower;
        if (std::isfinite(range)) {
          const double stiff = damping_ * kRangeShare * natural_ * problem_->root_scale(scalar.index);
          if (stiff > left_out_[row] * range) left_out_[row] = stiff < p * range ? stiff / range : p;
        }
        const double inverse = 1.0 / (1.0 - d * (p - left_out_[row]));
        trial_[row] = multiplier_[row] + inverse * (moved_[row] - multiplier_[row]);
        derivative_[scalar.index](0, 0) = inverse * d;
      });
}

bool AlSurrogate::natural_step(double damping) {
  damping_ = damping;
  linearize_natural();
  before_ = system_->velocity();
  kept_ = multiplier_;
  changed_.clear();
  factorizations_ = 0;
  for (Index k = 0;; ++k) {
    system_->residual(trial_);
    if (k == 0 || !system_->direction_changed(derivative_, changed_)) {
      ++factorizations_;
      if (!system_->direction(derivative_)) {
        multiplier_ = kept_;
        return false;
      }
    }
    system_->move(1.0);
    follow_linear();
    if (k == kMostChanges) break;
    change_pieces();
    if (changed_.empty()) break;
    system_->move(-1.0);
  }
  return search_natural();
}

// The impulses that belong to the velocities at the end of the step.
void AlSurrogate::follow_linear() {
  for_each_constraint(
      *problem_,
      [&](auto cone) {
        constexpr int n = cone.kRows;
        const VecN<n> du = cone.get(system_->velocity()) - cone.get(before_);
        cone.rows(multiplier_) = cone.get(trial_) - derivative_.at<n>(cone.index) * du;
      },
      [&](IntervalConstraint scalar) {
        const Index row = scalar.row;
        multiplier_[row] =
            trial_[row] - derivative_[scalar.index](0, 0) * (system_->velocity()[row] - before_[row]);
      });
}

void AlSurrogate::change_pieces() {
  changed_.clear();
  for (Index i = 0; i < problem_->constraint_count(); ++i) {
    const bool changed = visit_constraint(
        *problem_, i, [&](auto cone) { return change_contact(cone); },
        [&](IntervalConstraint row) { return change_scalar(row); });
    if (changed) changed_.push_back(i);
  }
}

bool AlSurrogate::change_scalar(const IntervalConstraint& scalar) {
  if (scalar.set.is_free()) return false;
  const double lower = scalar.set.lower, upper = scalar.set.upper;
  const double allowed = kPieceAllowance * natural_, root = problem_->root_scale(scalar.index);
  const Index row = scalar.row;
  const double now = multiplier_[row], compliance = problem_->compliance()[row];
  double& derivative = derivative_[scalar.index](0, 0);
  if (derivative > 0.0) {
    if ((lower - now) * root <= allowed && (now - upper) * root <= allowed) return false;
    derivative = 0.0;
    trial_[row] = now < lower ? lower : upper;
    return true;
  }
  const double u = system_->velocity()[row] + compliance * now;
  if (lower == upper || (now == upper ? u <= allowed * root : u >= -allowed * root)) return false;
  derivative = 1.0 / (compliance + left_out_[row]);
  trial_[row] = kept_[row] - derivative * (before_[row] + compliance * kept_[row]);
  return true;
}

// Under the exact law. Sliding begins along the friction that was too large.
template <int N>
bool AlSurrogate::change_contact(const ConeConstraint<N>& cone) {
  if (law_ != Law::exact) return false;
  constexpr int z = N - 1;  // the normal
  const Index row = cone.row;
  const double allowed = kPieceAllowance * natural_, root = problem_->root_scale(cone.index),
               mu = cone.friction;
  const VecN<N> now = cone.get(multiplier_), u = cone.get(system_->velocity());
  auto&& derivative = derivative_.at<N>(cone.index);
  if (derivative(z, z) == 0.0) {
    if (!(u[z] < -allowed * root)) return false;
    close_contact(cone);
    return true;
  }
  if (now[z] * root < -allowed) {
    derivative.setZero();
    cone.rows(trial_).setZero();
    return true;
  }
  const double friction = now.template head<z>().norm();
  if (!derivative.col(z).template head<z>().isZero(0.0)) {  // slides, but friction would push
    const double power = now.template head<z>().dot(u.template head<z>());
    if (!(power > allowed * root * friction)) return false;
    close_contact(cone);
    return true;
  }
  if (!((friction - mu * now[z]) * root > allowed)) return false;
  VecN<N> along = (mu / friction) * now;
  along[z] = 1.0;
  const double compliance = problem_->compliance()[row + z],
               stiffness = 1.0 / (compliance + left_out_[row + z]);
  derivative.setZero();
  derivative.col(z) = stiffness * along;
  cone.rows(trial_) = along * (kept_[row + z] - stiffness * (before_[row + z] + compliance * kept_[row + z]));
  return true;
}

// Sticking; without friction, touching.
template <int N>
void AlSurrogate::close_contact(const ConeConstraint<N>& cone) {
  auto&& derivative = derivative_.at<N>(cone.index);
  derivative.setZero();
  cone.rows(trial_).setZero();
  for (Index k = cone.friction > 0.0 ? 0 : N - 1; k < N; ++k) {
    const Index row = cone.row + k;
    const double compliance = problem_->compliance()[row];
    derivative(k, k) = 1.0 / (compliance + left_out_[row]);
    trial_[row] = kept_[row] - derivative(k, k) * (before_[row] + compliance * kept_[row]);
  }
}

// Velocities follow the impulses along the step: every trial costs one evaluation of the law.
bool AlSurrogate::search_natural() {
  const double before = natural_;
  change_ = multiplier_ - kept_;
  double step = 1.0;
  for (Index k = 0;; ++k) {
    measure_natural();
    if (natural_ <= (1.0 - kDecrease * step) * before) {
      centre_ = multiplier_;
      return true;
    }
    if (k == kBacktracks) break;
    step *= 0.5;
    system_->move(-step);
    multiplier_ -= step * change_;
  }
  adopt(kept_);
  return false;
}

}  // namespace tribo
