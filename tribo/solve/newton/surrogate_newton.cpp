#include "tribo/solve/newton/surrogate_newton.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tribo {
namespace {

constexpr int kDoglegTrials = 30;  // radii tried per factorisation
constexpr double kAcceptRatio = 1e-4;
constexpr double kPoorRatio = 0.25, kGoodRatio = 0.75;
constexpr double kInexact = 0.05;  // residual of a direction found with older factors, relative

}  // namespace

void SurrogateNewton::prepare(const ContactProblem& problem) {
  for (Vector* x : {&v_, &trial_, &residual_, &direction_, &newton_, &cauchy_, &work_, &product_}) {
    x->resize(problem.dof_count());
  }
  for (Vector* x : {&u_, &shifted_, &impulse_, &rows_}) x->resize(problem.row_count());
  lu_.analyze(problem.mass(), problem.jacobian());
  lu_.forget_factors();  // of another problem: what comes out must not depend on what was solved before
}

// |x| of a momentum in the A^-1 norm.
double SurrogateNewton::mass_norm(const ContactProblem& problem, const Vector& momentum) {
  work_ = momentum;
  problem.mass_factor().solve_lower_in_place(work_);  // |L^-1 x|^2 = x . A^-1 x
  return work_.norm();
}

// u_, impulse_, residual_ at v; returns |r|.
double SurrogateNewton::evaluate(const Equation& s, const Vector& v) {
  s.problem.jacobian().multiply(v, u_);
  u_ += s.problem.bias();
  shifted_ = u_ + s.shift;
  s.proximal.impulse(s.problem, s.law, shifted_, s.multiplier, impulse_);
  s.problem.mass().multiply(v, residual_);
  residual_ -= s.problem.momentum();
  product_.setZero();
  s.problem.jacobian().add_transpose_product(impulse_, product_);
  residual_ -= product_;
  return mass_norm(s.problem, residual_);
}

bool SurrogateNewton::newton_direction(const Equation& s, Index& factorizations) {
  const BlockDiagonal& mass = s.problem.mass();
  const BlockJacobian& jacobian = s.problem.jacobian();
  s.proximal.derivative(s.problem, s.law, shifted_, s.multiplier, derivative_);
  if (reuse_ && direction_from_last_factors(s)) return true;
  ++factorizations;
  if (!lu_.factorize(mass, jacobian, derivative_)) return false;
  product_ = -residual_;
  lu_.solve(product_, newton_, 0);
  return newton_.allFinite();
}

// Good enough in the norm of the line search, too: the same one where the mass is one.
bool SurrogateNewton::direction_from_last_factors(const Equation& s) {
  const BlockDiagonal& mass = s.problem.mass();
  product_ = -residual_;
  if (!lu_.solve_with_last_factors(mass, s.problem.jacobian(), derivative_, product_, kInexact, newton_)) {
    return false;
  }
  if (mass.is_identity()) return true;
  multiply(s.problem, newton_, false, product_);
  product_ += residual_;
  return mass_norm(s.problem, product_) <= 2.0 * kInexact * mass_norm(s.problem, residual_);
}

SurrogateNewton::Result SurrogateNewton::solve(const ContactProblem& problem, Law law,
                                               const ProximalLaw& proximal, const Vector& multiplier,
                                               const Vector& shift, const Vector& v, Globalisation method,
                                               double tolerance, Index most) {
  const Equation s{problem, law, proximal, multiplier, shift};
  Result out;
  v_ = v;
  radius_ = std::numeric_limits<double>::infinity();
  out.residual = evaluate(s, v_);
  while (out.steps < most && out.residual > tolerance) {
    if (interrupt_ != nullptr && (*interrupt_)()) break;
    ++out.steps;
    const Index before = out.factorizations;
    if (!newton_direction(s, out.factorizations)) break;
    const bool moved =
        method == Globalisation::damped ? damped_step(s, out.residual) : dogleg_step(s, out.residual);
    if (moved) continue;
    if (out.factorizations > before) break;
    lu_.forget_factors();  // they may be to blame
  }
  out.solved = out.residual <= tolerance;
  return out;
}

// False when no trial decreases |r|; the iterate is then where it was.
bool SurrogateNewton::damped_step(const Equation& s, double& residual) {
  double length = 1.0;
  for (int k = 0; k < backtracks_; ++k, length *= 0.5) {
    trial_ = v_ + length * newton_;
    const double next = evaluate(s, trial_);
    if (next <= (1.0 - sufficient_ * length) * residual) {
      v_ = trial_;
      residual = next;
      return true;
    }
  }
  evaluate(s, v_);
  return false;
}

// y = H x, or H^T x.
void SurrogateNewton::multiply(const ContactProblem& problem, const Vector& x, bool transposed, Vector& y) {
  problem.jacobian().multiply(x, rows_);
  if (transposed) {
    for (Index i = 0; i < problem.constraint_count(); ++i) {
      with_rows(problem.rows(i), [&](auto rows) {
        const VecN<rows()> part = rows_.segment<rows()>(problem.row(i));
        rows_.segment<rows()>(problem.row(i)) = derivative_.at<rows()>(i).transpose() * part;
      });
    }
  } else {
    multiply_blocks(problem.jacobian(), derivative_, rows_, rows_);
  }
  problem.mass().multiply(x, y);
  problem.jacobian().add_transpose_product(rows_, y);
}

// The minimiser of |r + H d| along steepest descent, d = -t A^-1 H^T A^-1 r.
void SurrogateNewton::cauchy_step(const ContactProblem& problem) {
  work_ = residual_;
  problem.mass_factor().solve_in_place(work_);
  multiply(problem, work_, true, product_);
  cauchy_ = product_;
  problem.mass_factor().solve_in_place(cauchy_);  // A^-1 H^T A^-1 r
  const double slope = std::sqrt(std::max(0.0, product_.dot(cauchy_)));
  multiply(problem, cauchy_, false, product_);
  const double curvature = mass_norm(problem, product_);
  cauchy_ *= curvature > 0.0 ? -(slope * slope) / (curvature * curvature) : 0.0;
}

// direction_: the dogleg path cut at the radius.
void SurrogateNewton::dogleg_direction(const ContactProblem& problem) {
  const auto inner = [&](const Vector& a, const Vector& b) {
    problem.mass().multiply(a, product_);
    return product_.dot(b);
  };
  const double newton_length = std::sqrt(inner(newton_, newton_));
  if (newton_length <= radius_) {
    direction_ = newton_;
    return;
  }
  const double cauchy_length = std::sqrt(inner(cauchy_, cauchy_));
  if (cauchy_length >= radius_) {
    direction_ = (radius_ / cauchy_length) * cauchy_;
    return;
  }
  // |cauchy + t (newton - cauchy)| = radius, 0 <= t <= 1.
  direction_ = newton_ - cauchy_;
  const double a = inner(direction_, direction_), b = inner(direction_, cauchy_);
  const double c = cauchy_length * cauchy_length - radius_ * radius_;
  const double t = -c / (b + std::sqrt(std::max(0.0, b * b - a * c)));
  direction_ = cauchy_ + std::clamp(t, 0.0, 1.0) * direction_;
}

bool SurrogateNewton::dogleg_step(const Equation& s, double& residual) {
  cauchy_step(s.problem);
  s.problem.mass().multiply(newton_, product_);
  const double newton_length = std::sqrt(std::max(0.0, product_.dot(newton_)));
  radius_ = std::min(radius_, std::max(newton_length, std::numeric_limits<double>::min()));
  for (int k = 0; k < kDoglegTrials; ++k) {
    dogleg_direction(s.problem);
    multiply(s.problem, direction_, false, product_);
    // residual_ is that of v_: evaluate() of a rejected trial is undone below.
    product_ += residual_;
    const double model = mass_norm(s.problem, product_);
    trial_ = v_ + direction_;
    const double next = evaluate(s, trial_);
    const double predicted = residual * residual - model * model;
    const double ratio = predicted > 0.0 ? (residual * residual - next * next) / predicted : -1.0;
    s.problem.mass().multiply(direction_, product_);
    const double length = std::sqrt(std::max(0.0, product_.dot(direction_)));
    if (ratio < kPoorRatio || !std::isfinite(ratio)) {
      radius_ = 0.25 * length;
    } else if (ratio > kGoodRatio && length >= 0.99 * radius_) {
      radius_ *= 2.0;
    }
    if (ratio > kAcceptRatio && std::isfinite(next)) {
      v_ = trial_;
      residual = next;
      return true;
    }
    evaluate(s, v_);
  }
  return false;
}

}  // namespace tribo
