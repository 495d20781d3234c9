#include "tribo/problem/divergence.h"

#include <algorithm>
#include <cmath>

#include "tribo/problem/local_conditions.h"
#include "tribo/problem/natural_map.h"

namespace tribo {
namespace {

using detail::largest_entry;
using detail::LocalCone;
using detail::LocalRow;
using detail::with_local;

// Work of the impulse, and the part of it that vanishes at a solution: a row at a bound may do work.
template <int N>
double work_of(const LocalCone<N>& local) {
  return local.lambda.dot(local.w);
}
double work_of(const LocalRow& local) { return local.lambda * local.w; }
template <int N>
double gap_of(const LocalCone<N>& local) {
  return std::abs(local.lambda.dot(local.hat));
}
double gap_of(const LocalRow& local) {
  return local.set.contains_inside(local.lambda) ? std::abs(local.lambda * local.w) : 0.0;
}

// Chosen on contradictory and on hard problems that have a solution (`bench/run.py --suite extremes`, the problem fuzz).
// Impulse over what stops the fastest of them all: from the first on a constraint is looked at, from the second on little
// of its velocity may be left.
constexpr double kFar = 1e3, kVeryFar = 1e5;
// Of the fastest free velocity, what may be left of a far and of a very far constraint.
constexpr double kLeftFar = 0.1, kLeftVeryFar = 0.01;
// Work on one constraint is wasted from this share of the energies on; what may be left then is sqrt(10 / beyond), which
// meets the two shares above at the two distances.
constexpr double kWasted = 0.01;
// Largest sqrt(w_i) |lambda_i| over the largest demand from which on the work of all is looked at, and the share of the
// energies that it may not exceed.
constexpr double kBeyond = 10.0, kShare = 0.5;

// Velocity that the constraint should have stopped, m/s; <= 0: none. Rows with two bounds: strictly between them.
template <int N>
double unmet(const LocalCone<N>& local) {
  return -local.normal();
}
double unmet(const LocalRow& local) {
  if (!local.set.is_bounded()) return local.set.violation(local.w);
  return local.set.contains_inside(local.lambda) ? std::abs(local.w) : 0.0;
}

// A constraint that is violated as if nothing held it although its impulse is far beyond what stops the
// fastest of them all.
template <class Local>
bool runs_away(const ContactProblem& problem, Index i, double impulse, const Local& local, double fastest,
               double energy) {
  const double beyond = impulse * problem.scale(i) / fastest;
  // Of the fastest free velocity: the farther beyond, the less; where the work wasted on the constraint counts
  // among the energies, in between.
  const bool costly = std::abs(work_of(local)) > kWasted * energy;
  const double allowed = beyond > kVeryFar ? kLeftVeryFar : costly ? std::sqrt(10.0 / beyond) : kLeftFar;
  return unmet(local) > allowed * fastest;
}

}  // namespace

bool looks_infeasible(const ContactProblem& problem, const Vector& impulse, const Vector& velocity, Law law) {
  if (impulse.size() == 0) return false;
  const double fastest = problem.free_velocity().lpNorm<Eigen::Infinity>();
  const double energy = std::abs(impulse.dot(problem.free_velocity()));
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const double size = largest_entry(problem, i, impulse);
    if (!(size * problem.scale(i) > kFar * fastest)) continue;
    const bool away = with_local(problem, i, impulse, velocity, law, [&](const auto& local) {
      return runs_away(problem, i, size, local, fastest, energy);
    });
    if (away) return true;
  }
  if (impulse_sizes(problem, impulse).largest <= kBeyond * problem.largest_demand()) return false;
  double gap = 0.0;
  double work = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    with_local(problem, i, impulse, velocity, law, [&](const auto& local) {
      work += work_of(local);
      gap += gap_of(local);
    });
  }
  const double free = impulse.dot(problem.free_velocity());
  return gap > kShare * std::max(std::abs(free), std::abs(work - free));
}

}  // namespace tribo
