#include "tribo/solve/auto/restarts.h"

#include <algorithm>
#include <cmath>

#include "tribo/base/random.h"
#include "tribo/problem/constraints.h"
#include "tribo/solve/auto/tuning.h"
#include "tribo/solve/solver.h"

namespace tribo {
namespace {

using namespace tuning;

void draw(const ContactProblem& problem, Index i, double impulse, detail::Random& random, Vector& start) {
  visit_constraint(
      problem, i,
      [&](auto cone) {
        constexpr int tangents = cone.kRows - 1;
        const double normal = random.uniform() < kOpen ? 0.0 : impulse * random.uniform();
        const double share = random.uniform() < kAtLimit ? 1.0 : random.uniform();
        VecN<tangents> direction;
        if constexpr (tangents == 2) {
          direction = random.unit_vector().template head<2>();
        } else {
          for (double& entry : direction) entry = random.uniform(-1.0, 1.0);
        }
        direction /= std::max(direction.norm(), 1e-3);
        cone.tangent(start) = cone.friction * normal * share * direction;
        cone.normal(start) = normal;
      },
      [&](IntervalConstraint row) { start[row.row] = impulse * random.uniform(-1.0, 1.0); });
}

}  // namespace

void restart(const ContactProblem& problem, const Vector& best, Index k, Vector& start) {
  detail::Random random(0x7ab1e + static_cast<std::uint64_t>(k));
  const bool anywhere = k % 2 == 0;
  const double level = std::pow(10.0, random.uniform(-2.0, 2.0));
  start = best;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (problem.is_idle(i) || (!anywhere && random.uniform() > kChanged)) continue;
    draw(problem, i, level * problem.largest_demand() / problem.root_scale(i), random, start);
  }
  project_impulse(problem, start);
}

}  // namespace tribo
