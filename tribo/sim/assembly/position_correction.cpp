#include "tribo/sim/assembly/position_correction.h"

#include <algorithm>
#include <cmath>

#include "tribo/problem/constraints.h"
#include "tribo/solve/catalogue.h"

namespace tribo {

namespace {

// R_i / w_i: the share of an error that a constraint alone leaves standing. Small beside 1, so that errors vanish in a few
// steps; large beside rounding, so that contradictory errors ask for impulses that are no more than 1e3 times theirs.
constexpr double kElasticity = 1e-3;
// Change of the impulses in a sweep, relative to the largest, at which sweeps end, and error of a direct solve: what is left
// is an error of the next step, where it is led back again.
constexpr double kTolerance = 1e-2;
constexpr Index kSweeps = 20;
// Islands of so many trees (robots, a body in a corner) are solved directly where sweeps do not end.
constexpr Index kFewTrees = 3;

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

// Fills end_ and returns the largest error.
double PositionCorrection::predict(const ContactProblem& step, const Vector& velocity,
                                   std::span<const double> position, double h) {
  double worst = 0.0;
  end_.resize(position.size());
  for (Index i = 0; i < step.constraint_count(); ++i) {
    end_[i] = position[i];
    if (!std::isfinite(position[i])) continue;
    const Index row = step.row(i) + position_row(step, i);
    end_[i] += h * (velocity[row] - step.bias()[row]);
    worst = std::max(worst, is_two_sided(step, i) ? std::abs(end_[i]) : -end_[i]);
  }
  return worst;
}

void PositionCorrection::add_row(const ContactProblem& step, Index i, Index r, bool two_sided, double error,
                                 const ContactLawSettings& settings) {
  double w = step.delassus_block(i)(r, r), scale = w;
  if (settings.coupling_compliance > 0.0) {  // of connects and welds: that of the group, see soften()
    scale = std::max(w, step.compliance()[step.row(i) + r] / settings.coupling_compliance);
  }
  if (!(scale > 0.0)) return;  // moves nothing
  const double compliance = kElasticity * scale;
  rows_.push_back({i, r, two_sided, error, compliance, 1.0 / (w + compliance), 0.0});
}

void PositionCorrection::choose_rows(const ContactProblem& step, const Vector& impulse, double share,
                                     const ContactLawSettings& settings) {
  rows_.clear();
  for (Index i = 0; i < step.constraint_count(); ++i) {
    if (!std::isfinite(end_[i])) continue;
    const bool two_sided = is_two_sided(step, i);
    add_row(step, i, position_row(step, i), two_sided, two_sided || end_[i] < 0.0 ? share * end_[i] : end_[i],
            settings);
    if (!sticks(step, i, impulse)) continue;
    for (Index r = 0; r < position_row(step, i); ++r) add_row(step, i, r, true, 0.0, settings);
  }
}

// Needs A = 1. True when the impulses hardly change any more.
bool PositionCorrection::sweep(const ContactProblem& step) {
  const BlockJacobian& jacobian = step.jacobian();
  Vector& d = solution_.generalized_velocity;
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
}

bool PositionCorrection::run(const ContactProblem& step, const Solution& solution,
                             std::span<const double> position, double h, const ContactLawSettings& settings) {
  if (settings.stabilization == 0.0) return false;
  const double worst = predict(step, solution.velocity, position, h);
  if (!(worst > settings.position_slop)) return false;
  choose_rows(step, solution.impulse,
              std::min(settings.stabilization, h * settings.max_correction_speed / worst), settings);
  const bool unit_masses = step.mass().is_identity();
  if (unit_masses && (sweep(step) || step.tree_count() > kFewTrees)) return true;
  solve(step);
  return true;
}

}  // namespace tribo
