// The class behind alnewton.h, for solvers of which it is a stage.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "tribo/solve/driver/monitor.h"
#include "tribo/solve/newton/al_surrogate.h"
#include "tribo/solve/newton/alnewton.h"
#include "tribo/solve/systems/newton_system.h"

namespace tribo {

class DenseWhitenedJacobian;

// What is known of a start, beyond the impulses.
struct AlNewtonStart {
  bool only_prediction = false;  // give up where the prediction of a stack fails
  double beta = 0.0;             // initial penalty, of a start near a solution; 0: the option's
  Index natural_steps = 0;       // Newton steps before the first surrogate, see AlSurrogate::natural_step()
  bool stiffens =
      false;  // beyond the tolerance penalties grow, where surrogates are linear: see Monitor::aim()
  const DenseWhitenedJacobian* whitened = nullptr;  // of the problem, where there is one already
};

class AlNewton final : public Solver {
 public:
  explicit AlNewton(const AlNewtonOptions& options = {}) : options_(options) {}
  std::string_view name() const override { return "alnewton"; }
  std::unique_ptr<Solver> clone() const override { return make_alnewton(options_); }
  std::vector<Option> options() override { return describe(options_); }
  Status iterate(const ContactProblem& problem, Monitor& monitor) override {
    return iterate(problem, monitor, AlNewtonStart{});
  }

  Status iterate(const ContactProblem& problem, Monitor& monitor, const AlNewtonStart& start);
  // Multiply-adds of a factorisation of the last problem; 0 where not known.
  double factor_flops() const { return flops_; }

 private:
  struct SurrogateOutcome {
    bool solved = false;
    Index steps = 0;
    double residual = 0.0;
  };

  NewtonSystem* system_for(NewtonForm form);
  Status run(Monitor& monitor);
  SurrogateOutcome solve_surrogate(Monitor& monitor);
  void count_step(Monitor& monitor, SurrogateOutcome& surrogate);
  bool take(const SurrogateOutcome& surrogate, Monitor& monitor);
  bool follow_natural(Monitor& monitor);
  bool repeat(Monitor& monitor);
  Status last_offer(Monitor& monitor);
  bool offer(Monitor& monitor) {
    return monitor.check(outer_, surrogate_.multiplier(), system_->velocity(), beta_);
  }
  // More may still be aimed at.
  bool good_enough(const Monitor& monitor) const { return monitor.best_error() <= monitor.tolerance(); }
  void adapt(const SurrogateOutcome& surrogate);
  void refuse();
  bool stagnates(const Monitor& monitor);
  bool restart(Monitor& monitor);
  bool first_stage(Monitor& monitor, Index iterations, bool from_best);

  AlNewtonOptions options_;
  AlNewtonStart known_;

  // Workspace.
  const ContactProblem* problem_ = nullptr;
  Law law_ = Law::exact;
  std::array<std::unique_ptr<NewtonSystem>, 5> systems_;  // by NewtonForm, made when first needed
  NewtonSystem* system_ = nullptr;
  AlSurrogate surrogate_;
  std::unique_ptr<Solver> admm_;
  Vector last_multiplier_;
  double flops_ = 0.0;
  double beta_ = 1.0;
  bool stiff_ = false;  // the penalty is still that of a prediction
  Index refused_ = 0;   // surrogates in a row
  Index outer_ = 0, restarts_ = 0, last_gain_ = 0;
  double best_ = 0.0;
};

}  // namespace tribo
