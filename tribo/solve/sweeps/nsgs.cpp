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

#include "tribo/solve/law/by_rows.h"
#include "tribo/solve/law/local_step.h"
#include "tribo/solve/law/one_cone.h"
#include "tribo/solve/sweeps/sweep.h"
#include "tribo/solve/sweeps/sweep_acceleration.h"

namespace tribo {
namespace {

enum class Local : int { exact, newton, projection, quartic };
enum class Shuffle : int { none, once, every };
enum class Acceleration : int { none, cg };

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

class Nsgs final : public Solver {
 public:
  std::string_view name() const override { return "nsgs"; }

  std::vector<Option> options() override {
    return {choice_option("local", "solver of the one-contact problems", local_,
                          {{static_cast<int>(Local::exact), "exact"},
                           {static_cast<int>(Local::newton), "newton"},
                           {static_cast<int>(Local::projection), "projection"},
                           {static_cast<int>(Local::quartic), "quartic"}}),
            real_option("omega", "relaxation: the local matrix is divided by it", omega_, 0.05, 1.95),
            choice_option("shuffle", "random order of the visits: drawn never, once, or before every sweep",
                          shuffle_,
                          {{static_cast<int>(Shuffle::none), "none"},
                           {static_cast<int>(Shuffle::once), "once"},
                           {static_cast<int>(Shuffle::every), "every"}}),
            choice_option(
                "accelerate", "none, or conjugate gradients over the sweeps", acceleration_,
                {{static_cast<int>(Acceleration::none), "none"}, {static_cast<int>(Acceleration::cg), "cg"}}),
            integer_option("seed", "of the random order", seed_, 0, 1000000000),
            integer_option("freeze", "longest rest of settled constraints, in sweeps; 0: none", longest_rest_,
                           0, 1000)};
  }

  void set_plan(const SweepPlan& plan) { plan_ = plan; }
  const Vector& last_impulse() const { return state_.impulse; }

 protected:
  Status iterate(const ContactProblem& problem, Monitor& monitor) override;

 private:
  void prepare(const ContactProblem& problem, Law law);
  template <class Visit>
  Status run(const ContactProblem& problem, Monitor& monitor, Visit visit);

  Local local_ = Local::exact;
  double omega_ = 1.0;
  Shuffle shuffle_ = Shuffle::none;
  Acceleration acceleration_ = Acceleration::none;
  Index seed_ = 0;
  Index longest_rest_ = 20;
  SweepPlan plan_;
  double relaxation_ = 1.0;  // omega, lowered where the sweeps cycle

  SweepOperator sweeps_;
  SweepOrder order_;
  SweepRest rest_;
  SweepMomentum momentum_;
  SweepSubspace subspace_;
  bool minimises_ = false;  // impulses minimise an energy: no friction, symmetric W
  SweepState state_;
  std::vector<ScalarRow> scalar_;
  ByRows<ExactContactN> exact_;
  ByRows<ConvexContactN> convex_;
  ByRows<LocalMatrixN> matrix_;
};

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
        if (local_ != Local::exact) matrix_.of<n>().emplace_back(w, cone.friction);
        if (law == Law::exact) {
          exact_.of<n>().emplace_back(w, cone.friction);
        } else {
          convex_.of<n>().emplace_back(w, cone.friction);
        }
      },
      [&](IntervalConstraint row) { scalar_.push_back(scalar_row(problem, row.index, relaxation_)); });
}

template <class Visit>
Status Nsgs::run(const ContactProblem& problem, Monitor& monitor, Visit visit) {
  Visitor<Visit> visitor{visit, scalar_};
  const bool accelerated = acceleration_ == Acceleration::cg && !plan_.plain;
  rest_.reset(problem.constraint_count(), longest_rest_, accelerated);
  if (!plan_.go_on || plan_.plain) {
    momentum_.reset();
    subspace_.reset();
  }
  const std::span<const Index> visits = plan_.only.empty() ? order_.visits() : plan_.only;
  const auto one_sweep = [&](Index) {
    if (shuffle_ == Shuffle::every) order_.shuffle();
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

Status Nsgs::iterate(const ContactProblem& problem, Monitor& monitor) {
  const Law law = monitor.settings().law;
  if (!plan_.same_problem) {
    // On the velocities an energy costs no product with W.
    const bool minimises =
        acceleration_ == Acceleration::cg && !problem.has_friction() && problem.is_symmetric();
    sweeps_.setup(problem, minimises ? SweepOperator::Mode::velocity : SweepOperator::Mode::automatic);
    order_.reset(problem.constraint_count(), static_cast<std::uint64_t>(seed_));
    if (shuffle_ == Shuffle::once) order_.shuffle();
    minimises_ = minimises;
    if (minimises) subspace_.setup(problem);
  }
  if (!plan_.same_problem || relaxation_ != plan_.relaxation * omega_) {
    relaxation_ = plan_.relaxation * omega_;
    prepare(problem, law);
  }
  if (!plan_.go_on) {
    state_.impulse = monitor.start();
    if (plan_.same_problem || !state_.impulse.isZero(0.0)) sweeps_.refresh(state_.impulse, state_.velocity);
  }

  // The number of rows is that of the arguments.
  const auto exactly = [this](Index s, const auto& w, const auto& r) {
    return exact_.of<std::decay_t<decltype(w)>::RowsAtCompileTime>()[s].solve(w, r);
  };
  if (local_ == Local::newton) {
    return run(problem, monitor, [this, law](Index s, const auto& w, const auto& r) {
      return solve_newton(matrix_.of<std::decay_t<decltype(w)>::RowsAtCompileTime>()[s], law, w, r);
    });
  }
  if (local_ == Local::projection) {
    return run(problem, monitor, [this, law](Index s, const auto& w, const auto& r) {
      return step_projection(matrix_.of<std::decay_t<decltype(w)>::RowsAtCompileTime>()[s], law, w, r);
    });
  }
  if (local_ == Local::quartic && law == Law::exact) {
    return run(problem, monitor, [this, exactly](Index s, const auto& w, const auto& r) {
      if constexpr (std::decay_t<decltype(w)>::RowsAtCompileTime == 3) {
        return solve_quartic(matrix_.of<3>()[s], w, r);
      } else {
        return exactly(s, w, r);
      }
    });
  }
  if (law == Law::convex) {
    return run(problem, monitor, [this](Index s, const auto& w, const auto& r) {
      return convex_.of<std::decay_t<decltype(w)>::RowsAtCompileTime>()[s].solve(w, r);
    });
  }
  return run(problem, monitor, exactly);
}

}  // namespace

void set_plan(Solver& nsgs, const SweepPlan& plan) { static_cast<Nsgs&>(nsgs).set_plan(plan); }
const Vector& last_impulse(const Solver& nsgs) { return static_cast<const Nsgs&>(nsgs).last_impulse(); }

std::unique_ptr<Solver> make_nsgs() { return std::make_unique<Nsgs>(); }

}  // namespace tribo
