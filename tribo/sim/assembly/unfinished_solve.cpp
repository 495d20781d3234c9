#include "tribo/sim/assembly/unfinished_solve.h"

#include <cmath>
#include <utility>

#include "tribo/problem/passive_impulse.h"
#include "tribo/problem/sparse_trees.h"
#include "tribo/solve/catalogue.h"

namespace tribo {

namespace {

// Of a limit of time. A dish lowered on a pile (380 contacts, 1 ms) keeps errors of 0.04 at worst with 0.4, of 1000 with 0.1, where
// the pile collapses. Poured spheres (160 contacts, 4.2 ms) arrive with either.
constexpr double kShareOfSweeps = 0.4;
constexpr Index kSweeps = 100;
// Scaled error above which sweeps are tried: a thousandth of the largest impulse, near what they reach from the impulses of the
// step before.
constexpr double kEnough = 1e-3;
// Impulses farther from their sets than this, relative to the largest of them, are no rounding.
constexpr double kOutside = 1e-12;

// Iterates of Newton's methods on nonsmooth equations may lie outside their sets: contacts would pull. Whether any did.
bool bring_into_sets(const ContactProblem& problem, Solution& solution) {
  Vector inside = solution.impulse, scratch;
  project_impulse(problem, inside);
  const double moved = (inside - solution.impulse).lpNorm<Eigen::Infinity>();
  if (!(moved > kOutside * solution.impulse.lpNorm<Eigen::Infinity>())) return false;
  solution.impulse = inside;
  problem.velocity_of(inside, scratch, solution.velocity);
  if (solution.generalized_velocity.size() > 0) {
    SparseScratch sparse;
    problem.full_velocity_of(inside, solution.generalized_velocity, sparse);
  }
  return true;
}

}  // namespace

Settings UnfinishedSolve::of_solver(const Settings& settings) {
  Settings own = settings;
  own.time_limit *= 1.0 - kShareOfSweeps;
  return own;
}

double UnfinishedSolve::finish(const ContactProblem& problem, const Settings& settings, const Vector* start,
                               const Report& report, Solution& solution) {
  double error = value_of(report.certificate, settings.measure);
  const bool ended = report.status == Status::time_limit || report.status == Status::iteration_limit ||
                     report.status == Status::no_solution_suspected;
  if (!ended || error <= settings.tolerance) return error;
  if (report.status == Status::time_limit && !(error <= kEnough)) {
    if (!sweeps_) sweeps_ = make_solver("pgs");
    Settings own = settings;
    own.time_limit *= kShareOfSweeps;
    own.max_iterations = kSweeps;
    const Report swept = sweeps_->solve(problem, own, swept_, start);
    if (value_of(swept.certificate, settings.measure) < error) {
      error = value_of(swept.certificate, settings.measure);
      std::swap(solution, swept_);
    }
  }
  const bool projected = bring_into_sets(problem, solution);
  if (make_passive(problem, solution) || projected)
    error = value_of(certify(problem, solution, settings.law), settings.measure);
  return error;
}

}  // namespace tribo
