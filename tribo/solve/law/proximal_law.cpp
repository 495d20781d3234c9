#include "tribo/solve/law/proximal_law.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace tribo {

void ProximalLaw::prepare_constraint(const ContactProblem& problem, const Vector& compliance, Index i,
                                     double p) {
  visit_constraint(
      problem, i,
      [&](auto cone) {
        constexpr int n = cone.kRows;
        const double tangent = compliance.segment<n - 1>(cone.row).maxCoeff() + p;
        cone.tangent(total_).setConstant(tangent);
        cone.normal(total_) = cone.normal(compliance) + p;
        cone.rows(stiffness_) = cone.rows(total_).cwiseInverse();
        cone.rows(proximal_) = cone.rows(total_) - compliance.segment<n>(cone.row);
      },
      [&](IntervalConstraint row) {
        proximal_[row.row] = p;
        total_[row.row] = compliance[row.row] + p;
        stiffness_[row.row] = 1.0 / total_[row.row];
      });
}

void ProximalLaw::prepare(const ContactProblem& problem, const Vector& compliance, double beta) {
  resize(problem.row_count());
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    prepare_constraint(problem, compliance, i, problem.scale(i) / beta);
  }
}

void ProximalLaw::prepare_apart(const ContactProblem& problem, double beta_tangent, double beta_normal) {
  prepare(problem, beta_normal);
  for_each_cone(problem, [&](auto cone) {
    const double scale = problem.scale(cone.index);
    const double softer = scale / beta_tangent - scale / beta_normal;
    cone.tangent(total_).array() += softer;
    cone.tangent(proximal_).array() += softer;
    cone.tangent(stiffness_) = cone.tangent(total_).cwiseInverse();
  });
}

void ProximalLaw::prepare_uniform(const ContactProblem& problem, double penalty) {
  resize(problem.row_count());
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    prepare_constraint(problem, problem.compliance(), i, 1.0 / penalty);
  }
}

void ProximalLaw::impulse_of(const ContactProblem& problem, Law law, Index i, const Vector& u,
                             const Vector& multiplier, Vector& impulse) const {
  visit_constraint(
      problem, i,
      [&](auto cone) {
        constexpr int n = cone.kRows;
        const VecN<n> y = target<n>(cone.row, u, multiplier);
        if (law == Law::exact) {
          cone.rows(impulse) = project_strict(y, cone.friction);
        } else {
          cone.rows(impulse) = project_cone_metric(y, cone.friction, total_[cone.row], cone.normal(total_));
        }
      },
      [&](IntervalConstraint row) {
        const Index r = row.row;
        impulse[r] = row.set.project((proximal_[r] * multiplier[r] - u[r]) * stiffness_[r]);
      });
}

void ProximalLaw::impulse(const ContactProblem& problem, Law law, const Vector& u, const Vector& multiplier,
                          Vector& impulse) const {
  assert(total_.size() == problem.row_count());
  for (Index i = 0; i < problem.constraint_count(); ++i) impulse_of(problem, law, i, u, multiplier, impulse);
}

void ProximalLaw::derivative(const ContactProblem& problem, Law law, const Vector& u,
                             const Vector& multiplier, GroupBlocks& derivative, double touch) const {
  derivative.resize(problem.jacobian());
  for_each_constraint(
      problem,
      [&](auto cone) {
        constexpr int n = cone.kRows;
        VecN<n> y = target<n>(cone.row, u, multiplier);
        y[n - 1] += touch * cone.normal(stiffness_);
        const MatN<n> jacobian =
            law == Law::exact
                ? project_strict_jacobian(y, cone.friction)
                : project_cone_metric_jacobian(y, cone.friction, total_[cone.row], cone.normal(total_));
        derivative.at<n>(cone.index) = jacobian * stiffness_.segment<n>(cone.row).asDiagonal();
      },
      [&](IntervalConstraint row) {
        const Index r = row.row;
        const double open = row.set.is_one_sided() ? touch : 0.0;
        const double y = (proximal_[r] * multiplier[r] - u[r] + open) * stiffness_[r];
        derivative[row.index](0, 0) = row.set.derivative(y) * stiffness_[r];
      });
}

}  // namespace tribo
