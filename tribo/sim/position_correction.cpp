#include "tribo/sim/position_correction.h"

#include <algorithm>
#include <cmath>

#include "tribo/solve/catalogue.h"

namespace tribo {

namespace {

// R_i / w_i: the share of an error that a constraint alone leaves standing. Small beside 1, so that errors vanish in a few
// steps; large beside rounding, so that contradictory errors ask for impulses that are no more than 1e3 times theirs.
constexpr double kElasticity = 1e-3;
// Of the correction's own problem: what it leaves is an error of the next step.
constexpr double kTolerance = 1e-3;

// The row of a constraint that its position belongs to: the normal of a contact, the only one of others.
Index position_row(const ContactProblem& problem, Index i) {
  return problem.kind(i) == ConstraintKind::contact ? 2 : 0;
}

bool is_two_sided(const ContactProblem& problem, Index i) {
  return problem.kind(i) == ConstraintKind::bilateral;
}

// Whether a contact's friction is strictly inside its cone.
bool sticks(const ContactProblem& problem, Index i, const Vector& impulse) {
  constexpr double kInside = 0.999;  // of the friction limit
  if (problem.kind(i) != ConstraintKind::contact) return false;
  const double* lambda = impulse.data() + problem.row(i);
  return std::hypot(lambda[0], lambda[1]) < kInside * problem.friction(i) * lambda[2];
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

// Row r of constraint i of the step.
void PositionCorrection::add_row(const ContactProblem& step, Index i, Index r, ConstraintKind kind,
                                 double error, const ContactLawSettings& settings) {
  const BlockJacobian& jacobian = step.jacobian();
  double w = step.delassus_diagonal(i)(r, r);
  if (settings.coupling_compliance > 0.0) {  // of connects and welds: that of the group, see soften()
    w = std::max(w, step.compliance()[step.row(i) + r] / settings.coupling_compliance);
  }
  ProblemFiller::Constraint data;
  data.kind = kind;
  data.bias[0] = error;
  data.compliance[0] = kElasticity * w;
  filler_.add_constraint(data);
  for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
    double* row = filler_.add_piece(jacobian.piece_tree(p));
    const double* block = jacobian.piece_data(p) + r;
    for (Index c = 0; c < jacobian.piece_cols(p); ++c) row[c] = block[c * step.rows(i)];
  }
}

void PositionCorrection::fill(const ContactProblem& step, const Vector& impulse, double share,
                              const ContactLawSettings& settings) {
  Index count = 0;
  for (Index i = 0; i < step.constraint_count(); ++i) {
    if (std::isfinite(end_[i])) count += sticks(step, i, impulse) ? 3 : 1;
  }
  filler_.begin(problem_, count);
  for (Index t = 0; t < step.tree_count(); ++t) {
    const Index n = step.mass().block_size(t);
    if (static_cast<Index>(zero_.size()) < n) zero_.resize(n, 0.0);
    if (step.mass().is_identity()) {
      filler_.add_unit_tree(n, zero_.data());
    } else {
      filler_.add_tree(n, step.mass().block(t).data(), zero_.data());
    }
  }
  for (Index i = 0; i < step.constraint_count(); ++i) {
    if (!std::isfinite(end_[i])) continue;
    const bool two_sided = is_two_sided(step, i);
    add_row(step, i, position_row(step, i),
            two_sided ? ConstraintKind::bilateral : ConstraintKind::unilateral,
            two_sided || end_[i] < 0.0 ? share * end_[i] : end_[i], settings);
    if (!sticks(step, i, impulse)) continue;
    for (const Index r : {0, 1}) add_row(step, i, r, ConstraintKind::bilateral, 0.0, settings);
  }
  filler_.finish();
}

bool PositionCorrection::run(const ContactProblem& step, const Solution& solution,
                             std::span<const double> position, double h, const ContactLawSettings& settings) {
  if (settings.stabilization == 0.0) return false;
  const double worst = predict(step, solution.velocity, position, h);
  if (!(worst > settings.position_slop)) return false;
  fill(step, solution.impulse, std::min(settings.stabilization, h * settings.max_correction_speed / worst),
       settings);
  if (!solver_) solver_ = make_solver("auto");
  Settings own;
  own.tolerance = kTolerance;
  own.law = Law::convex;
  own.islands = false;
  own.full_certificate = false;
  solver_->solve(problem_, own, solution_);
  return true;
}

}  // namespace tribo
