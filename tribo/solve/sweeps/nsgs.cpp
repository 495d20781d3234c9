// Nonsmooth Gauss-Seidel (NSGS) for the exact and the convex law, all sets; Acary et al. (2018) Alg. 7, eq.
// (115)-(119).
//
//   repeat
//     for every constraint i (in order, or shuffled):
//       w_i <- q_i + sum_j W_ij lambda_j + R_ii lambda_i              from kept velocities, see sweep.h
//       lambda_i <- solution of its own problem, matrix (W_ii + R_ii) / omega, velocity w_i at lambda_i
//   until the certificate is below the tolerance
//
// Cost: one pass over J (or W) and one 3x3 problem per contact and sweep, 30 to 90 ns; no factorisation.
// Use it for loose piles, moderate accuracy and warm starts. It never diverges on feasible problems in
// practice but its rate tends to 1 for tall stacks at rest, high mass ratios and redundant contacts: use admm
// there.
//
// Local solvers: exact (solve/law/one_contact.h, one_cone.h), quartic (three rows; larger cones: exact), newton,
// projection (solve/law/local_step.h). omega > 1
// over-relaxes; where the sweeps run in a cycle it is lowered in steps to about 0.3 (with redundant
// frictional contacts 0.8 was seen to end a cycle that 1 never left). Settled constraints rest for up to
// `freeze` sweeps. accelerate=cg: conjugate gradients over the sweeps, for large piles (sweep_acceleration.h).
#include "tribo/solve/sweeps/nsgs.h"

#include "tribo/solve/sweeps/nsgs_solver.h"

namespace tribo {
namespace {

using Local = NsgsOptions::Local;
using Shuffle = NsgsOptions::Shuffle;
using Acceleration = NsgsOptions::Acceleration;

// What a sweep does at a constraint: `visit` at a contact, the clamped step of its own row at a scalar one.
template <class Visit>
struct Visitor {
  Visit visit;
  const std::vector<ScalarRow>& rows;

  template <int N>
  VecN<N> contact(Index slot, const VecN<N>& w, const VecN<N>& r) {
    return visit(slot, w, r);
  }
  double scalar(Index slot, double w, double lambda) { return rows[slot].solve(w, lambda); }
};

}  // namespace

std::vector<Option> describe(NsgsOptions& o) {
  return {
      choice_option("local", "solver of the one-contact problems", o.local,
                    {{0, "exact"}, {1, "newton"}, {2, "projection"}, {3, "quartic"}}),
      real_option("omega", "relaxation: the local matrix is divided by it", "1", o.omega, 0.05, 1.95),
      choice_option("shuffle", "random order of the visits: drawn never, once, or before every sweep",
                    o.shuffle, {{0, "none"}, {1, "once"}, {2, "every"}}),
      choice_option("accelerate", "none, or conjugate gradients over the sweeps", o.accelerate,
                    {{0, "none"}, {1, "cg"}}),
      integer_option("seed", "of the random order", o.seed, 0, 1000000000),
      integer_option("freeze", "longest rest of settled constraints, in sweeps; 0: none", o.freeze, 0, 1000),
  };
}

void Nsgs::prepare(const ContactProblem& problem, Law law) {
  exact_.clear();
  convex_.clear();
  matrix_.clear();
  scalar_.clear();
  for_each_constraint(
      problem,
      [&](auto cone) {
        constexpr int n = cone.kRows;
        const MatN<n> w = local_matrix<n>(problem, cone.index, relaxation_);
        if (options_.local != Local::exact) matrix_.of<n>().emplace_back(w, cone.friction);
        if (law == Law::exact) {
          exact_.of<n>().emplace_back(w, cone.friction);
        } else {
          convex_.of<n>().emplace_back(w, cone.friction);
        }
      },
      [&](IntervalConstraint row) { scalar_.push_back(scalar_row(problem, row.index, relaxation_)); });
}

template <class Visit>
Status Nsgs::run(const ContactProblem& problem, Monitor& monitor, const SweepStart& start, Visit visit) {
  Visitor<Visit> visitor{visit, scalar_};
  const bool accelerated = options_.accelerate == Acceleration::cg && !start.plain;
  rest_.reset(problem.constraint_count(), options_.freeze, accelerated);
  if (!start.go_on || start.plain) {
    momentum_.reset();
    subspace_.reset();
  }
  const std::span<const Index> visits = start.only.empty() ? order_.visits() : start.only;
  const auto one_sweep = [&](Index) {
    if (options_.shuffle == Shuffle::every) order_.shuffle();
    if (accelerated && minimises_) subspace_.advance(sweeps_, state_.impulse);
    if (accelerated && !minimises_) momentum_.advance(sweeps_, state_.impulse);
    const SweepChange change = rest_.sweep(sweeps_, visits, state_.impulse, visitor);
    if (accelerated && !minimises_) momentum_.learn(change);
    return change;
  };
  const auto calm_down = [&] {
    if (relaxation_ < 0.3) return false;
    relaxation_ *= 0.8;
    prepare(problem, monitor.settings().law);
    return true;
  };
  return run_sweeps(problem, monitor, sweeps_, state_, one_sweep, calm_down);
}

Status Nsgs::iterate(const ContactProblem& problem, Monitor& monitor, const SweepStart& start) {
  const Law law = monitor.settings().law;
  if (!start.same_problem) {
    // On the velocities an energy costs no product with W.
    const bool minimises =
        options_.accelerate == Acceleration::cg && !problem.has_friction() && problem.is_symmetric();
    sweeps_.setup(problem, minimises ? SweepOperator::Mode::velocity : SweepOperator::Mode::automatic);
    order_.reset(problem.constraint_count(), static_cast<std::uint64_t>(options_.seed));
    if (options_.shuffle == Shuffle::once) order_.shuffle();
    minimises_ = minimises;
    if (minimises) subspace_.setup(problem);
  }
  if (!start.same_problem || relaxation_ != start.relaxation * options_.omega) {
    relaxation_ = start.relaxation * options_.omega;
    prepare(problem, law);
  }
  if (!start.go_on) {
    state_.impulse = monitor.start();
    if (start.same_problem || !state_.impulse.isZero(0.0)) sweeps_.refresh(state_.impulse, state_.velocity);
  }

  // The number of rows is that of the arguments.
  const auto exactly = [this](Index s, const auto& w, const auto& r) {
    return exact_.of<std::decay_t<decltype(w)>::RowsAtCompileTime>()[s].solve(w, r);
  };
  if (options_.local == Local::newton) {
    return run(problem, monitor, start, [this, law](Index s, const auto& w, const auto& r) {
      return solve_newton(matrix_.of<std::decay_t<decltype(w)>::RowsAtCompileTime>()[s], law, w, r);
    });
  }
  if (options_.local == Local::projection) {
    return run(problem, monitor, start, [this, law](Index s, const auto& w, const auto& r) {
      return step_projection(matrix_.of<std::decay_t<decltype(w)>::RowsAtCompileTime>()[s], law, w, r);
    });
  }
  if (options_.local == Local::quartic && law == Law::exact) {
    return run(problem, monitor, start, [this, exactly](Index s, const auto& w, const auto& r) {
      if constexpr (std::decay_t<decltype(w)>::RowsAtCompileTime == 3) {
        return solve_quartic(matrix_.of<3>()[s], w, r);
      } else {
        return exactly(s, w, r);
      }
    });
  }
  if (law == Law::convex) {
    return run(problem, monitor, start, [this](Index s, const auto& w, const auto& r) {
      return convex_.of<std::decay_t<decltype(w)>::RowsAtCompileTime>()[s].solve(w, r);
    });
  }
  return run(problem, monitor, start, exactly);
}

std::unique_ptr<Solver> make_nsgs(const NsgsOptions& options) { return std::make_unique<Nsgs>(options); }

}  // namespace tribo
