#include "tribo/sim/inverse_dynamics.h"

#include <fmt/format.h>

#include "tribo/base/errors.h"
#include "tribo/problem/certificate.h"
#include "tribo/problem/constraints.h"

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
    for_each_constraint(
        problem,
        [&](auto cone) {
          constexpr int n = cone.kRows;
          const VecN<n> r = cone.get(problem.compliance()), impulse = cone.get(result.impulse);
          // One metric for all tangential rows.
          const double shift = settings.rho * problem.scale(cone.index);
          VecN<n> d = VecN<n>::Constant(r.template head<n - 1>().maxCoeff() + shift);
          d[n - 1] = r[n - 1] + shift;
          const VecN<n> sigma =
              corrected(VecN<n>(cone.get(u) + r.cwiseProduct(impulse)), cone.friction, settings.law);
          cone.rows(result.impulse) =
              project_cone_metric(VecN<n>(impulse - sigma.cwiseQuotient(d)), cone.friction, d[0], d[n - 1]);
        },
        [&](IntervalConstraint row) {
          const double r = problem.compliance()[row.row];
          double& impulse = result.impulse[row.row];
          impulse = row.set.project(impulse - (u[row.row] + r * impulse) /
                                                  (r + settings.rho * problem.scale(row.index)));
        });
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
