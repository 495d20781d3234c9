#include "tribo/problem/natural_map.h"

#include <algorithm>
#include <cmath>

#include "tribo/problem/local_conditions.h"

namespace tribo {
namespace {

// Impulses that grow without bound, because constraints contradict each other, must not buy accuracy: no more than this
// many times the largest demand counts.
constexpr double kMostDemands = 1e2;
// sqrt(2^-52): changes of velocity below this share of the free motion are judged relative to it.
constexpr double kFloor = 0x1p-26;

}  // namespace

double natural_map(const ContactProblem& problem, Index i, const Vector& impulse, const Vector& velocity,
                   Law law) {
  return detail::with_local(problem, i, impulse, velocity, law,
                            [&](const auto& local) { return detail::scaled_error(problem, i, local); });
}

double bounded_reference(double largest, double demand, double root_energy) {
  const double impulses = demand > 0.0 ? std::min(largest, kMostDemands * demand) : largest;
  return std::max(impulses, kFloor * root_energy);
}

ImpulseSizes impulse_sizes(const ContactProblem& problem, const Vector& impulse) {
  ImpulseSizes sizes;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const double size = problem.root_scale(i) * detail::largest_entry(problem, i, impulse);
    sizes.largest = std::max(sizes.largest, size);
    sizes.sum += size;
  }
  return sizes;
}

double common_reference(const ContactProblem& problem, double largest) {
  return bounded_reference(largest, problem.largest_demand(), problem.root_energy());
}

ContactState contact_state(const ContactProblem& problem, Index i, const Vector& impulse, double slip,
                           double common) {
  const Index normal = problem.row(i) + problem.rows(i) - 1;
  const double root = problem.root_scale(i), pressed = impulse[normal];
  if (!(root * pressed > kLoadedShare * common)) return ContactState::open;
  const double friction = impulse.segment(problem.row(i), problem.rows(i) - 1).norm();
  if (friction < kStickShare * problem.friction(i) * pressed) return ContactState::sticks;
  return slip > kSlipShare * root * problem.largest_demand() ? ContactState::slides : ContactState::sticks;
}

void release_idle(const ContactProblem& problem, Vector& impulse) {
  if (problem.idle_count() == 0) return;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (!problem.is_idle(i)) continue;
    visit_constraint(
        problem, i, [&](auto cone) { cone.rows(impulse).setZero(); },
        [&](IntervalConstraint row) { impulse[row.row] = row.set.project(0.0); });
  }
}

double idle_violation(const ContactProblem& problem, Index i, Law law) {
  return visit_constraint(
      problem, i,
      [&](auto cone) {
        // Without an impulse any slip is allowed; under the convex law it asks for separation.
        const auto q = cone.get(problem.free_velocity());
        const double slip = law == Law::convex ? cone.friction * detail::tangent_norm(q) : 0.0;
        return std::max(0.0, slip - q[cone.kNormal]);
      },
      // Any velocity is allowed at a bound that it pushes to.
      [&](IntervalConstraint row) { return row.set.violation(problem.free_velocity()[row.row]); });
}

double idle_error(const ContactProblem& problem, Index i, Law law) {
  const double violation = idle_violation(problem, i, law);
  return violation == 0.0 ? 0.0 : violation / std::max(problem.free_speed(), violation);
}

}  // namespace tribo
