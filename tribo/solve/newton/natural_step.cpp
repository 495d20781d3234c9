// Newton on lambda = T(lambda), the equation of a solution itself.
//
// Of piecewise smooth laws a Newton step that ends on other pieces than it began on is worth little: dry friction rows of
// a leg whose foot sticks share what they carry with the contacts, and a step made as if they were bilateral rows loads
// them with many times what they can take. So the pieces are changed within the step, as an active-set method does, and the
// linear equations solved again, until the pieces are those at the end of the step.
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

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
  for (Index i = 0; i < problem_->constraint_count(); ++i) {
    const Index row = problem_->row(i);
    if (problem_->rows(i) == 1) {
      const double d = derivative_[i](0, 0), p = soft_.proximal(row);
      left_out_[row] = left_out * p;
      if (problem_->kind(i) == ConstraintKind::box) {
        const double range = problem_->upper(i) - problem_->lower(i);
        const double stiff = damping_ * kRangeShare * natural_ * problem_->root_scale(i);
        if (stiff > left_out_[row] * range) left_out_[row] = stiff < p * range ? stiff / range : p;
      }
      const double inverse = 1.0 / (1.0 - d * (p - left_out_[row]));
      trial_[row] = multiplier_[row] + inverse * (moved_[row] - multiplier_[row]);
      derivative_[i](0, 0) = inverse * d;
      continue;
    }
    const Vec3 now = multiplier_.segment<3>(row),
               p(soft_.proximal(row), soft_.proximal(row + 1), soft_.proximal(row + 2));
    left_out_.segment<3>(row) = left_out * p;
    const Mat3 d = derivative_[i];
    const Mat3 inverse = (Mat3::Identity() - (1.0 - left_out) * d * p.asDiagonal()).inverse();
    trial_.segment<3>(row) = now + inverse * (moved_.segment<3>(row) - now);
    derivative_[i] = inverse * d;
  }
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
  for (Index i = 0; i < problem_->constraint_count(); ++i) {
    const Index row = problem_->row(i);
    if (problem_->rows(i) == 1) {
      multiplier_[row] = trial_[row] - derivative_[i](0, 0) * (system_->velocity()[row] - before_[row]);
    } else {
      const Vec3 du = system_->velocity().segment<3>(row) - before_.segment<3>(row);
      multiplier_.segment<3>(row) = trial_.segment<3>(row) - derivative_[i] * du;
    }
  }
}

void AlSurrogate::change_pieces() {
  changed_.clear();
  for (Index i = 0; i < problem_->constraint_count(); ++i) {
    if (problem_->rows(i) == 1 ? change_scalar(i) : change_contact(i)) changed_.push_back(i);
  }
}

bool AlSurrogate::change_scalar(Index i) {
  if (problem_->kind(i) == ConstraintKind::bilateral) return false;
  const bool box = problem_->kind(i) == ConstraintKind::box;
  const double lower = box ? problem_->lower(i) : 0.0;
  const double upper = box ? problem_->upper(i) : std::numeric_limits<double>::infinity();
  const double allowed = kPieceAllowance * natural_, root = problem_->root_scale(i);
  const Index row = problem_->row(i);
  const double now = multiplier_[row], compliance = problem_->compliance()[row];
  double& derivative = derivative_[i](0, 0);
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
bool AlSurrogate::change_contact(Index i) {
  if (law_ != Law::exact) return false;
  const Index row = problem_->row(i);
  const double allowed = kPieceAllowance * natural_, root = problem_->root_scale(i),
               mu = problem_->friction(i);
  const Vec3 now = multiplier_.segment<3>(row), u = system_->velocity().segment<3>(row);
  Mat3& derivative = derivative_[i];
  if (derivative(2, 2) == 0.0) {
    if (!(u[2] < -allowed * root)) return false;
    close_contact(i);
    return true;
  }
  if (now[2] * root < -allowed) {
    derivative.setZero();
    trial_.segment<3>(row).setZero();
    return true;
  }
  const double friction = now.head<2>().norm();
  if (derivative(0, 2) != 0.0 || derivative(1, 2) != 0.0) {  // slides, but friction would push
    if (!(now.head<2>().dot(u.head<2>()) > allowed * root * friction)) return false;
    close_contact(i);
    return true;
  }
  if (!((friction - mu * now[2]) * root > allowed)) return false;
  const Vec3 way(mu * now[0] / friction, mu * now[1] / friction, 1.0);
  const double compliance = problem_->compliance()[row + 2],
               stiffness = 1.0 / (compliance + left_out_[row + 2]);
  derivative.setZero();
  derivative.col(2) = stiffness * way;
  trial_.segment<3>(row) =
      way * (kept_[row + 2] - stiffness * (before_[row + 2] + compliance * kept_[row + 2]));
  return true;
}

// Sticking; without friction, touching.
void AlSurrogate::close_contact(Index i) {
  const Index row = problem_->row(i), first = problem_->friction(i) > 0.0 ? 0 : 2;
  derivative_[i].setZero();
  trial_.segment<3>(row).setZero();
  for (Index k = first; k < 3; ++k) {
    const double compliance = problem_->compliance()[row + k];
    const double stiffness = 1.0 / (compliance + left_out_[row + k]);
    derivative_[i](k, k) = stiffness;
    trial_[row + k] = kept_[row + k] - stiffness * (before_[row + k] + compliance * kept_[row + k]);
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
