#include "tribo/sim/assembly/position_correction.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/math/rtsafe.h"
#include "tribo/problem/constraints.h"
#include "tribo/solve/catalogue.h"
#include "tribo/solve/problem_size.h"

namespace tribo {

namespace {

// R_i / w_i: the share of an error that a constraint alone leaves standing. Small beside 1, so that errors vanish in a few
// steps; large beside rounding, so that contradictory errors ask for impulses that are no more than 1e3 times theirs.
constexpr double kElasticity = 1e-3;
// At rest, where errors are small and solved for exactly: of a light body under many heavy ones the contact must lift them,
// not yield.
constexpr double kElasticityAtRest = 1e-6;
// Drift that is undone, as a share of the slop: a stack of 40 layers stays where it is to the slop.
constexpr double kDrift = 0.025;
// Errors that a correction left are no drift as long as they do not grow by more than this, relative.
constexpr double kGrowth = 0.01;
// Change of the impulses in a sweep, relative to the largest, at which sweeps end, and error of a direct solve: what is left
// is an error of the next step, where it is led back again.
constexpr double kTolerance = 1e-2;
// The same of Newton's method, as a share of the displacement.
constexpr double kExact = 1e-8;
constexpr Index kSweeps = 20;
constexpr Index kNewtonSteps = 20;  // 1 to 4 as a rule
// Multiply-adds of a factorisation, beyond which drift is left where it is: some 10 ms.
constexpr double kMostFlops = 2e7;
constexpr double kNothing = -std::numeric_limits<double>::infinity();

// The row of a constraint that its position belongs to: the normal of a contact, the only one of others.
Index position_row(const ContactProblem& problem, Index i) { return problem.rows(i) - 1; }

bool is_two_sided(const ContactProblem& problem, Index i) { return problem.interval(i).is_free(); }

// Whether a contact's friction is strictly inside its cone.
bool sticks(const ContactProblem& problem, Index i, const Vector& impulse) {
  constexpr double kInside = 0.999;  // of the friction limit
  return visit_constraint(
      problem, i,
      [&](auto cone) {
        const auto lambda = cone.get(impulse);
        return detail::tangent_norm(lambda) < kInside * cone.friction * lambda[cone.kNormal];
      },
      [](IntervalConstraint) { return false; });
}

}  // namespace

// Fills end_ and two_sided_ and returns the largest error. Gaps up to `closed` of contacts that carry are errors, too.
double PositionCorrection::predict(const ContactProblem& step, const Solution& solution,
                                   std::span<const double> position, double h, double closed) {
  double worst = 0.0;
  end_.resize(position.size());
  two_sided_.resize(position.size());
  for (Index i = 0; i < step.constraint_count(); ++i) {
    end_[i] = position[i];
    if (!std::isfinite(position[i])) continue;
    const Index row = step.row(i) + position_row(step, i);
    end_[i] += h * (solution.velocity[row] - step.bias()[row]);
    two_sided_[i] = is_two_sided(step, i) || (end_[i] <= closed && solution.impulse[row] > 0.0);
    worst = std::max(worst, two_sided_[i] ? std::abs(end_[i]) : -end_[i]);
  }
  return worst;
}

void PositionCorrection::add_row(const ContactProblem& step, Index i, Index r, bool two_sided, double error,
                                 double elasticity, const ContactLawSettings& settings) {
  double w = step.delassus_block(i)(r, r), scale = w;
  if (settings.coupling_compliance > 0.0) {  // of connects and welds: that of the group, see soften()
    scale = std::max(w, step.compliance()[step.row(i) + r] / settings.coupling_compliance);
  }
  if (!(scale > 0.0)) return;  // moves nothing
  const double compliance = elasticity * scale;
  rows_.push_back({i, r, two_sided, error, compliance, 1.0 / (w + compliance), 0.0});
}

void PositionCorrection::choose_rows(const ContactProblem& step, const Vector& impulse, double share,
                                     double elasticity, const ContactLawSettings& settings) {
  rows_.clear();
  for (Index i = 0; i < step.constraint_count(); ++i) {
    if (!std::isfinite(end_[i])) continue;
    const bool two_sided = two_sided_[i] != 0;
    const double error = two_sided || end_[i] < 0.0 ? share * end_[i] : end_[i];
    add_row(step, i, position_row(step, i), two_sided, error, elasticity, settings);
    if (!sticks(step, i, impulse)) continue;
    for (Index r = 0; r < position_row(step, i); ++r) add_row(step, i, r, true, 0.0, elasticity, settings);
  }
}

// Needs A = 1. True when the impulses hardly change any more.
bool PositionCorrection::sweep(const ContactProblem& step) {
  const BlockJacobian& jacobian = step.jacobian();
  Vector& d = displacement_;
  d.setZero(step.dof_count());
  for (Index k = 0; k < kSweeps; ++k) {
    double largest = 0.0, change = 0.0;  // of z_i^2 (w_i + R_i): sizes that compare between rows
    for (Row& row : rows_) {
      const Index i = row.constraint, rows = step.rows(i);
      double error = row.error + row.compliance * row.impulse;
      for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
        const double* block = jacobian.piece_data(p) + row.row;
        const double* moved = d.data() + jacobian.piece_dof(p);
        for (Index c = 0; c < jacobian.piece_cols(p); ++c) error += block[c * rows] * moved[c];
      }
      const double target = row.impulse - row.inverse_w * error;
      const double next = row.two_sided ? target : std::max(0.0, target);
      const double added = next - row.impulse;
      if (added == 0.0) continue;
      row.impulse = next;
      for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
        const double* block = jacobian.piece_data(p) + row.row;
        double* moved = d.data() + jacobian.piece_dof(p);
        for (Index c = 0; c < jacobian.piece_cols(p); ++c) moved[c] += block[c * rows] * added;
      }
      largest = std::max(largest, next * next / row.inverse_w);
      change = std::max(change, added * added / row.inverse_w);
    }
    if (change <= kTolerance * kTolerance * largest) return true;
  }
  return false;
}

// As a problem of its own.
void PositionCorrection::solve(const ContactProblem& step) {
  const BlockJacobian& jacobian = step.jacobian();
  filler_.begin(problem_, static_cast<Index>(rows_.size()));
  for (Index t = 0; t < step.tree_count(); ++t) {
    const Index n = step.mass().block_size(t);
    if (static_cast<Index>(zero_.size()) < n) zero_.resize(n, 0.0);
    if (step.mass().is_identity()) {
      filler_.add_unit_tree(n, zero_.data());
    } else {
      filler_.add_tree(n, step.mass().block(t).data(), zero_.data());
    }
  }
  for (const Row& row : rows_) {
    ProblemFiller::Constraint data;
    data.kind = row.two_sided ? ConstraintKind::bilateral : ConstraintKind::unilateral;
    data.bias[0] = row.error;
    data.compliance[0] = row.compliance;
    filler_.add_constraint(data);
    const Index i = row.constraint;
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      double* entries = filler_.add_piece(jacobian.piece_tree(p));
      const double* block = jacobian.piece_data(p) + row.row;
      for (Index c = 0; c < jacobian.piece_cols(p); ++c) entries[c] = block[c * step.rows(i)];
    }
  }
  filler_.finish();
  if (!solver_) solver_ = make_solver("auto");
  Settings own;
  own.tolerance = kTolerance;
  own.law = Law::convex;
  own.islands = false;
  own.full_certificate = false;
  solver_->solve(problem_, own, solution_);
  displacement_ = solution_.generalized_velocity;
}

// z and the curvature of the errors at d. True if the curvature is the one it was.
bool PositionCorrection::evaluate(const ContactProblem& step) {
  row_impulse_.setZero(step.row_count());
  bool same = true;
  for (const Row& row : rows_) {
    const Index r = step.row(row.constraint) + row.row;
    const double end = row.error + moved_[r];
    const double weight = row.two_sided || end < 0.0 ? 1.0 / row.compliance : 0.0;
    row_impulse_[r] = -weight * end;
    same = same && weight == weights_[r];
    weights_[r] = weight;
  }
  return same;
}

// Of the direction, at most 1: the root of the derivative of the function along it, which grows. `linear`, `quadratic`: what
// 1/2 d . A d adds to it.
double PositionCorrection::step_length(const ContactProblem& step, double linear, double quadratic) const {
  const auto slope = [&](double alpha) -> ValueAndDerivative {
    ValueAndDerivative sum{linear + alpha * quadratic, quadratic};
    for (const Row& row : rows_) {
      const Index r = step.row(row.constraint) + row.row;
      const double end = row.error + moved_[r] + alpha * change_[r];
      if (!row.two_sided && end >= 0.0) continue;
      sum.value += end * change_[r] / row.compliance;
      sum.derivative += change_[r] * change_[r] / row.compliance;
    }
    return sum;
  };
  constexpr double kClose = 1e-6;  // the next direction makes up for it
  constexpr int kEvaluations = 40;
  return slope(1.0).value <= 0.0 ? 1.0 : rtsafe(slope, 0.0, 1.0, kClose, kEvaluations).root;
}

// Newton's method on d. Needs kernel_.analyze().
void PositionCorrection::solve_exactly(const ContactProblem& step) {
  const BlockJacobian& jacobian = step.jacobian();
  displacement_.setZero(step.dof_count());
  moved_.setZero(step.row_count());
  change_.resize(step.row_count());
  weights_.setZero(step.row_count());
  gradient_.resize(step.dof_count());
  evaluate(step);
  double first = 0.0;  // decrease that the first step promised
  for (Index k = 0; k < kNewtonSteps; ++k) {
    step.mass().multiply(displacement_, gradient_);
    residual_ = -gradient_;
    jacobian.add_transpose_product(row_impulse_, residual_);
    if (!kernel_.factorize(step.mass(), jacobian, weights_)) return;
    direction_ = residual_;
    kernel_.solve_in_place(direction_);
    const double decrement = residual_.dot(direction_);
    if (k == 0) first = decrement;
    if (!(decrement > kExact * kExact * first)) return;
    jacobian.multiply(direction_, change_);
    const double linear = gradient_.dot(direction_);
    step.mass().multiply(direction_, gradient_);
    const double length = step_length(step, linear, gradient_.dot(direction_));
    displacement_ += length * direction_;
    moved_ += length * change_;
    if (evaluate(step) && length == 1.0) return;
  }
}

// After solve_exactly(): of the errors that were to be removed.
double PositionCorrection::error_left(const ContactProblem& step) const {
  double worst = 0.0;
  for (const Row& row : rows_) {
    if (row.row != position_row(step, row.constraint)) continue;
    const double end = row.error + moved_[step.row(row.constraint) + row.row];
    worst = std::max(worst, row.two_sided ? std::abs(end) : -end);
  }
  return worst;
}

PositionCorrection::Outcome PositionCorrection::run(const ContactProblem& step, const Solution& solution,
                                                    std::span<const double> position, double h,
                                                    const ContactLawSettings& settings, bool at_rest,
                                                    double& standing) {
  if (settings.stabilization == 0.0) return Outcome::none;
  const double slop = settings.position_slop;
  const double worst = predict(step, solution, position, h, at_rest ? slop : kNothing);
  const bool drifted = at_rest && worst <= slop && worst > (1.0 + kGrowth) * standing + kDrift * slop;
  if (!drifted && !(worst > slop)) return Outcome::none;
  if (drifted) {
    kernel_.analyze(step.mass(), step.jacobian());
    if (kernel_.cholesky().factor_flops() > kMostFlops) return Outcome::none;
  } else if (at_rest) {
    predict(step, solution, position, h, kNothing);  // no drift: nothing is held from both sides
  }
  const double share = std::min(settings.stabilization, h * settings.max_correction_speed / worst);
  choose_rows(step, solution.impulse, share, drifted ? kElasticityAtRest : kElasticity, settings);
  if (drifted) {
    solve_exactly(step);
    standing = error_left(step) / share;
    return Outcome::drift_undone;
  }
  correct(step);
  return Outcome::corrected;
}

// Islands of few trees (robots, a body in a corner) are solved directly where sweeps do not end.
void PositionCorrection::correct(const ContactProblem& step) {
  if (!step.mass().is_identity() || (!sweep(step) && step.tree_count() <= kFewTrees)) solve(step);
}

// rad, where the error of this row is removed and all others are left.
double PositionCorrection::turn_alone(const ContactProblem& step, const Row& row, const Turn& turn_of) {
  const BlockJacobian& jacobian = step.jacobian();
  const Index i = row.constraint, rows = step.rows(i);
  double turn = 0.0;
  for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
    const Index tree = jacobian.piece_tree(p);
    const double* block = jacobian.piece_data(p) + row.row;
    alone_.resize(jacobian.piece_cols(p), 1);
    for (Index c = 0; c < jacobian.piece_cols(p); ++c) alone_(c, 0) = block[c * rows];
    if (!step.mass().is_identity()) step.mass_factor().solve_block_in_place(tree, alone_);
    alone_ *= row.error * row.inverse_w;
    turn = std::max(turn, turn_of(tree, alone_.data()));
  }
  return turn;
}

void PositionCorrection::run_within(const ContactProblem& step, double limit, const Turn& turn_of) {
  for (Row& row : rows_) {
    row.impulse = 0.0;
    if (row.error == 0.0 || (row.error > 0.0 && !row.two_sided)) continue;
    const double turn = turn_alone(step, row, turn_of);
    if (turn > limit) row.error *= limit / turn;
  }
  correct(step);
}

}  // namespace tribo
