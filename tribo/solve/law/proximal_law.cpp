#include "tribo/solve/law/proximal_law.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "tribo/math/cone.h"

namespace tribo {
namespace {

double clamp_scalar(const ContactProblem& problem, Index i, double y) {
  switch (problem.kind(i)) {
    case ConstraintKind::unilateral:
      return project_orthant(y);
    case ConstraintKind::box:
      return project_box(y, problem.lower(i), problem.upper(i));
    default:
      return y;
  }
}

double clamp_derivative(const ContactProblem& problem, Index i, double y) {
  switch (problem.kind(i)) {
    case ConstraintKind::unilateral:
      return project_orthant_derivative(y);
    case ConstraintKind::box:
      return project_box_derivative(y, problem.lower(i), problem.upper(i));
    default:
      return 1.0;
  }
}

}  // namespace

void ProximalLaw::prepare_constraint(const ContactProblem& problem, const Vector& compliance, Index i,
                                     double p) {
  const Index row = problem.row(i);
  if (problem.kind(i) == ConstraintKind::contact) {
    const double tangent = std::max(compliance[row], compliance[row + 1]) + p;
    total_.segment<3>(row) << tangent, tangent, compliance[row + 2] + p;
    stiffness_.segment<3>(row) = total_.segment<3>(row).cwiseInverse();
    proximal_.segment<3>(row) = total_.segment<3>(row) - compliance.segment<3>(row);
  } else {
    proximal_[row] = p;
    total_[row] = compliance[row] + p;
    stiffness_[row] = 1.0 / total_[row];
  }
}

void ProximalLaw::prepare(const ContactProblem& problem, const Vector& compliance, double beta) {
  resize(problem.row_count());
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    prepare_constraint(problem, compliance, i, problem.scale(i) / beta);
  }
}

void ProximalLaw::prepare_apart(const ContactProblem& problem, double beta_tangent, double beta_normal) {
  prepare(problem, beta_normal);
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (problem.kind(i) != ConstraintKind::contact) continue;
    const double softer = problem.scale(i) / beta_tangent - problem.scale(i) / beta_normal;
    total_.segment<2>(problem.row(i)).array() += softer;
    proximal_.segment<2>(problem.row(i)).array() += softer;
    stiffness_.segment<2>(problem.row(i)) = total_.segment<2>(problem.row(i)).cwiseInverse();
  }
}

void ProximalLaw::prepare_uniform(const ContactProblem& problem, double penalty) {
  resize(problem.row_count());
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    prepare_constraint(problem, problem.compliance(), i, 1.0 / penalty);
  }
}

Vec3 ProximalLaw::target(Index row, const Vector& u, const Vector& multiplier) const {
  return (proximal_.segment<3>(row).cwiseProduct(multiplier.segment<3>(row)) - u.segment<3>(row))
      .cwiseProduct(stiffness_.segment<3>(row));
}

void ProximalLaw::impulse_of(const ContactProblem& problem, Law law, Index i, const Vector& u,
                             const Vector& multiplier, Vector& impulse) const {
  const Index row = problem.row(i);
  if (problem.kind(i) == ConstraintKind::contact) {
    const Vec3 y = target(row, u, multiplier);
    const double mu = problem.friction(i);
    impulse.segment<3>(row) =
        law == Law::exact ? project_strict(y, mu) : project_cone_metric(y, mu, total_[row], total_[row + 2]);
  } else {
    impulse[row] = clamp_scalar(problem, i, (proximal_[row] * multiplier[row] - u[row]) * stiffness_[row]);
  }
}

void ProximalLaw::impulse(const ContactProblem& problem, Law law, const Vector& u, const Vector& multiplier,
                          Vector& impulse) const {
  assert(total_.size() == problem.row_count());
  for (Index i = 0; i < problem.constraint_count(); ++i) impulse_of(problem, law, i, u, multiplier, impulse);
}

void ProximalLaw::derivative(const ContactProblem& problem, Law law, const Vector& u,
                             const Vector& multiplier, std::vector<Mat3>& derivative, double touch) const {
  derivative.resize(problem.constraint_count());
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Index row = problem.row(i);
    if (problem.kind(i) == ConstraintKind::contact) {
      Vec3 y = target(row, u, multiplier);
      y[2] += touch * stiffness_[row + 2];
      const double mu = problem.friction(i);
      const Mat3 jacobian = law == Law::exact
                                ? project_strict_jacobian(y, mu)
                                : project_cone_metric_jacobian(y, mu, total_[row], total_[row + 2]);
      derivative[i] = jacobian * stiffness_.segment<3>(row).asDiagonal();
    } else {
      const double open = problem.kind(i) == ConstraintKind::unilateral ? touch : 0.0;
      const double y = (proximal_[row] * multiplier[row] - u[row] + open) * stiffness_[row];
      derivative[i](0, 0) = clamp_derivative(problem, i, y) * stiffness_[row];
    }
  }
}

}  // namespace tribo
