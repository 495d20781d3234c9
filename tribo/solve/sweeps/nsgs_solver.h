// The class behind nsgs.h, for solvers that sweep one problem several times.
#pragma once

#include <span>
#include <vector>

#include "tribo/solve/driver/monitor.h"
#include "tribo/solve/law/by_rows.h"
#include "tribo/solve/law/local_step.h"
#include "tribo/solve/law/one_cone.h"
#include "tribo/solve/sweeps/nsgs.h"
#include "tribo/solve/sweeps/sweep_acceleration.h"
#include "tribo/solve/sweeps/sweep_loop.h"

namespace tribo {

// How the sweeps of one call begin; all by default as if nothing had been before.
struct SweepStart {
  bool same_problem = false;  // as in the last call: nothing has to be set up
  bool go_on = false;         // from where the last call ended (not from its best iterate), with its momentum
  double relaxation = 1.0;    // times the option's
  bool plain = false;         // without momentum, whatever the option says
  std::span<const Index> only{};  // constraints to visit, ascending; empty: all
};

class Nsgs final : public Solver {
 public:
  explicit Nsgs(const NsgsOptions& options = {}) : options_(options) {}
  std::string_view name() const override { return "nsgs"; }
  std::unique_ptr<Solver> clone() const override { return make_nsgs(options_); }
  std::vector<Option> options() override { return describe(options_); }
  Status iterate(const ContactProblem& problem, Monitor& monitor) override {
    return iterate(problem, monitor, SweepStart{});
  }

  Status iterate(const ContactProblem& problem, Monitor& monitor, const SweepStart& start);
  // Where the last call ended; its best iterate may be another one.
  const Vector& last_impulse() const { return state_.impulse; }

 private:
  void prepare(const ContactProblem& problem, Law law);
  template <class Visit>
  Status run(const ContactProblem& problem, Monitor& monitor, const SweepStart& start, Visit visit);

  NsgsOptions options_;
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

}  // namespace tribo
