#include "tribo/sim/inverse_dynamics.h"

#include <fmt/format.h>

#include "tribo/base/errors.h"
#include "tribo/math/cone.h"
#include "tribo/problem/certificate.h"

namespace tribo {

namespace {

void check(const ContactProblem& problem, const Vector& v, const InverseDynamicsSettings& settings) {
  if (problem.has_delassus()) throw InvalidInput("inverse dynamics needs A and J: the problem has only W");
  if (v.size() != problem.dof_count()) {
    throw InvalidInput(fmt::format("reference velocity has {} entries: the problem has {} dofs", v.size(),
                                   problem.dof_count()));
  }
  if (!v.allFinite()) throw InvalidInput("reference velocity is not finite");
  if (settings.start && settings.start->size() != problem.row_count()) {
    throw InvalidInput(fmt::format("start has {} entries: the problem has {} rows", settings.start->size(),
                                   problem.row_count()));
  }
  if (!(settings.rho > 0.0)) throw InvalidInput(fmt::format("rho is {}: it must be > 0", settings.rho));
}

Vec3 contact_step(const ContactProblem& problem, Index i, double rho, Law law, const Vec3& impulse,
                  const Vec3& u) {
  const Vec3 r = problem.compliance().segment<3>(problem.row(i));
  const Vec3 d = r.array() + rho * problem.scale(i);
  Vec3 sigma = u + r.cwiseProduct(impulse);
  if (law == Law::exact) sigma += de_saxce(sigma, problem.friction(i));
  return project_cone_metric(impulse - sigma.cwiseQuotient(d), problem.friction(i), d[0], d[2]);
}

double scalar_step(const ContactProblem& problem, Index i, double rho, double impulse, double u) {
  const double r = problem.compliance()[problem.row(i)];
  const double next = impulse - (u + r * impulse) / (r + rho * problem.scale(i));
  switch (problem.kind(i)) {
    case ConstraintKind::unilateral:
      return project_orthant(next);
    case ConstraintKind::box:
      return project_box(next, problem.lower(i), problem.upper(i));
    default:
      return next;
  }
}

}  // namespace

InverseDynamics inverse_dynamics(const ContactProblem& problem, const Vector& reference_velocity,
                                 const InverseDynamicsSettings& settings) {
  check(problem, reference_velocity, settings);
  InverseDynamics result;
  result.impulse = settings.start ? *settings.start : Vector::Zero(problem.row_count());
  Vector u(problem.row_count());
  problem.jacobian().multiply(reference_velocity, u);
  u += problem.bias();
  const auto judge = [&] {
    result.error = Certifier::error(problem, result.impulse, u, settings.law, Measure::scaled);
    result.converged = result.error <= settings.tolerance;
    return result.converged;
  };
  while (!judge() && result.iterations < settings.max_iterations) {
    for (Index i = 0; i < problem.constraint_count(); ++i) {
      const Index row = problem.row(i);
      if (problem.kind(i) == ConstraintKind::contact) {
        result.impulse.segment<3>(row) = contact_step(problem, i, settings.rho, settings.law,
                                                      result.impulse.segment<3>(row), u.segment<3>(row));
      } else {
        result.impulse[row] = scalar_step(problem, i, settings.rho, result.impulse[row], u[row]);
      }
    }
    ++result.iterations;
  }
  result.generalized_impulse.resize(problem.dof_count());
  problem.mass().multiply(reference_velocity, result.generalized_impulse);
  result.generalized_impulse -= problem.momentum();
  Vector reaction = Vector::Zero(problem.dof_count());
  problem.jacobian().add_transpose_product(result.impulse, reaction);
  result.generalized_impulse -= reaction;
  return result;
}

}  // namespace tribo
