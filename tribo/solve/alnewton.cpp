#include "tribo/solve/alnewton.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tribo/solve/admm.h"
#include "tribo/solve/al_surrogate.h"
#include "tribo/solve/monitor.h"
#include "tribo/solve/newton_system.h"
#include "tribo/solve/stack_prediction.h"

namespace tribo {
namespace {

constexpr double kLowestBeta = 1e-2;
constexpr double kHighestBeta = 1e8;
constexpr Index kStiffSteps = 2;  // of a surrogate, while the penalty is that of a prediction
constexpr Index kSlidingFactors = 100;
constexpr double kGoodStartBeta = 30.0;
constexpr Index kRepeats = 4;
constexpr double kRepeatGain = 0.3;
constexpr double kDeepGain = 0.1;  // of a surrogate beyond the tolerance, from where on more of it pays
constexpr double kStiffEnough = 1e6, kStiffening = 8.0;  // penalties beyond the tolerance
constexpr double kKeptShare = 0.3;  // of the contacts: more than these say that much has changed

// Natural steps that may fail in a solve; each makes the next ones more damped by this factor, from 1. Without them
// surrogates took over on one step in eight of a robot that lies on the ground; 10 or 100 differ little.
constexpr Index kNaturalRefused = 2;
constexpr double kNaturalDamping = 30.0;

enum class Prediction { off, first, only };

class AlNewton final : public Solver {
 public:
  std::string_view name() const override { return "alnewton"; }
  bool leaves_tiny_islands() const override { return true; }
  std::vector<Option> options() override;
  void set_plan(const AlNewtonPlan& plan) { plan_ = plan; }
  double factor_flops() const { return system_ != nullptr ? system_->factor_flops() : 0.0; }

 protected:
  Status iterate(const ContactProblem& problem, Monitor& monitor) override;

 private:
  struct Surrogate {
    bool solved = false;
    Index steps = 0;
    double residual = 0.0;
  };

  NewtonSystem* system_for(NewtonForm form);
  Status run(Monitor& monitor);
  Surrogate solve_surrogate(Monitor& monitor);
  void count_step(Monitor& monitor, Surrogate& surrogate);
  bool take(const Surrogate& surrogate, Monitor& monitor);
  bool follow_natural(Monitor& monitor);
  bool repeat(Monitor& monitor);
  Status last_offer(Monitor& monitor);
  bool offer(Monitor& monitor) {
    return monitor.check(outer_, surrogate_.multiplier(), system_->velocity(), beta_);
  }
  // More may still be aimed at.
  bool good_enough(const Monitor& monitor) const { return monitor.best_error() <= monitor.tolerance(); }
  void adapt(const Surrogate& surrogate);
  void refuse();
  bool stagnates(const Monitor& monitor);
  void restart(Monitor& monitor);
  void first_stage(Monitor& monitor, Index iterations, const Vector& start);

  // Options.
  double initial_beta_ = 1.0;
  Index first_stage_ = 0;
  Index newton_steps_ = 50;
  Index backtracks_ = 20;
  double accuracy_ = 0.05;
  Index patience_ = 40;
  Prediction prediction_ = Prediction::first;
  AlNewtonPlan plan_;

  // Workspace.
  const ContactProblem* problem_ = nullptr;
  Law law_ = Law::exact;
  std::array<std::unique_ptr<NewtonSystem>, 5> systems_;  // by NewtonForm, made when first needed
  NewtonSystem* system_ = nullptr;
  AlSurrogate surrogate_;
  std::unique_ptr<Solver> admm_;
  Solution admm_solution_;
  Vector last_multiplier_;
  double beta_ = 1.0;
  bool stiff_ = false;  // the penalty is still that of a prediction
  Index refused_ = 0;   // surrogates in a row
  Index outer_ = 0, restarts_ = 0, last_gain_ = 0;
  Index newton_count_ = 0;
  double best_ = 0.0;
};

std::vector<Option> AlNewton::options() {
  return {
      real_option("beta", "initial penalty, dimensionless", initial_beta_, 1e-2, 1e8),
      integer_option("first_stage", "iterations of accelerated ADMM to begin with, 0 = none", first_stage_, 0,
                     100000),
      integer_option("newton_steps", "largest number of Newton steps per outer iteration", newton_steps_, 1,
                     1000),
      integer_option("backtracks", "largest number of halvings of a Newton step", backtracks_, 0, 60),
      real_option("accuracy", "residual of the surrogate relative to the natural map", accuracy_, 1e-6, 0.9),
      choice_option("prediction", "stacks from zero: the load first; or try nothing else", prediction_,
                    {{0, "off"}, {1, "first"}, {2, "only"}}),
      integer_option("patience", "outer iterations without headway before starting again", patience_, 2,
                     1000000),
  };
}

Status AlNewton::iterate(const ContactProblem& problem, Monitor& monitor) {
  problem_ = &problem;
  law_ = monitor.settings().law;
  system_ = system_for(suitable_form(problem));
  const std::function<bool()> interrupt = [&monitor] { return monitor.out_of_time(0); };
  if (std::isfinite(monitor.settings().time_limit)) system_->set_interrupt(&interrupt);
  const Status status = run(monitor);
  system_->set_interrupt(nullptr);
  return status;
}

NewtonSystem* AlNewton::system_for(NewtonForm form) {
  std::unique_ptr<NewtonSystem>& system = systems_[static_cast<std::size_t>(form)];
  if (!system) {
    system = make_newton_system(form);
  }
  return system.get();
}

Status AlNewton::run(Monitor& monitor) {
  const bool cold = first_stage_ == 0 && monitor.start().isZero(0.0) && monitor.iterations_left() > 0;
  const bool predictable = prediction_ != Prediction::off && cold && is_stack(*problem_);
  const bool only_prediction = prediction_ == Prediction::only || plan_.only_prediction;
  if (only_prediction && !predictable) return Status::stalled;
  system_->prepare(*problem_, plan_.half);
  if (system_->factor_flops() > plan_.most_flops) return Status::stalled;
  surrogate_.prepare(*problem_, law_, *system_);
  beta_ = plan_.beta > 0.0 ? plan_.beta : initial_beta_;
  refused_ = restarts_ = last_gain_ = newton_count_ = 0;
  outer_ = 1;
  best_ = std::numeric_limits<double>::infinity();
  surrogate_.adopt(monitor.start());
  if (first_stage_ > 0) first_stage(monitor, first_stage_, monitor.start());
  stiff_ = predictable && predict_sticking(surrogate_, monitor, accuracy_, beta_);
  if (stiff_) {
    if (monitor.check(outer_++, surrogate_.multiplier(), system_->velocity(), beta_))
      return Status::converged;
  } else if (predictable &&
             follow_sliding(surrogate_, monitor, std::min(kSlidingFactors, plan_.factorizations), outer_)) {
    return Status::converged;
  }
  if (!stiff_ && only_prediction) return Status::stalled;
  if (plan_.beta > 0.0 && plan_.natural_steps > 0 && follow_natural(monitor)) return Status::converged;
  for (; outer_ <= monitor.iterations_left(); ++outer_) {
    if (!std::isfinite(surrogate_.natural())) return Status::no_solution_suspected;
    if (newton_count_ >= plan_.factorizations) return Status::iteration_limit;
    surrogate_.law().prepare(*problem_, beta_);
    const Surrogate surrogate = solve_surrogate(monitor);
    if (monitor.out_of_time(outer_)) return Status::time_limit;
    if (surrogate.solved) {
      if (take(surrogate, monitor)) return Status::converged;
    } else {
      if (newton_count_ >= plan_.factorizations) return last_offer(monitor);
      if (good_enough(monitor)) return Status::converged;
      refuse();
    }
    if (stagnates(monitor)) {
      if (restarts_ >= 6) return Status::stalled;
      restart(monitor);
      if (offer(monitor)) return Status::converged;
    }
  }
  return Status::iteration_limit;
}

// What a surrogate has come to; true when that is the end. Beyond the tolerance one goes on only where the matrix serves
// again, or stiffer penalties leave the contacts as they are.
bool AlNewton::take(const Surrogate& surrogate, Monitor& monitor) {
  const double before = surrogate_.natural();
  last_multiplier_ = surrogate_.multiplier();  // should the new ones be worse
  surrogate_.adopt_solved(surrogate.residual);
  if (surrogate_.natural() > 2.0 * before && refused_ < 6) {
    if (good_enough(monitor)) return true;
    surrogate_.adopt(last_multiplier_);
    refuse();
    return false;
  }
  if (offer(monitor)) return true;
  const bool repeats = !good_enough(monitor) || surrogate_.natural() < kDeepGain * before;
  if (plan_.beta > 0.0 && surrogate.steps > 0 && repeats && repeat(monitor)) return true;
  const bool stiffens = plan_.stiffens && surrogate.steps <= 1 && beta_ < kStiffEnough;
  if (good_enough(monitor) && !stiffens) return true;
  adapt(surrogate);
  if (good_enough(monitor)) beta_ *= kStiffening;
  return false;
}

// Newton on the equation itself for as long as it gets ahead.
bool AlNewton::follow_natural(Monitor& monitor) {
  double damping = 1.0;
  Index refused = 0;
  for (Index k = 0; k < plan_.natural_steps; ++k, ++outer_) {
    if (newton_count_ >= plan_.factorizations || outer_ > monitor.iterations_left()) return false;
    const bool ahead = surrogate_.natural_step(damping);
    newton_count_ += surrogate_.factorizations();
    for (Index f = 0; f < surrogate_.factorizations(); ++f) monitor.count_factorization();
    if (!ahead && ++refused > kNaturalRefused) return false;
    damping = ahead ? std::max(1.0, damping / kNaturalDamping) : damping * kNaturalDamping;
    if (!ahead) continue;
    const bool inside = surrogate_.is_inside(last_multiplier_);
    if (inside ? offer(monitor) : monitor.check(outer_, last_multiplier_, beta_)) return true;
    if (good_enough(monitor)) return true;
  }
  return false;
}

// Where the factorisations are used up within a surrogate, what it has so far may do.
Status AlNewton::last_offer(Monitor& monitor) {
  surrogate_.adopt(surrogate_.trial());
  return offer(monitor) ? Status::converged : Status::iteration_limit;
}

// From a good start the matrix of the last step is as good for the next surrogates.
bool AlNewton::repeat(Monitor& monitor) {
  for (Index k = 0; k < kRepeats; ++k) {
    const double before = surrogate_.natural();
    if (!surrogate_.repeat_step()) return false;
    if (offer(monitor)) return true;
    if (surrogate_.natural() > kRepeatGain * before) return false;
  }
  return false;
}

void AlNewton::count_step(Monitor& monitor, Surrogate& surrogate) {
  ++surrogate.steps;
  ++newton_count_;
  monitor.count_factorization();
}

// Newton on the surrogate, from the state of the multipliers.
AlNewton::Surrogate AlNewton::solve_surrogate(Monitor& monitor) {
  Surrogate result;
  double& residual = result.residual;
  residual = surrogate_.residual();
  const double target =
      std::max(std::min(0.3 * residual, accuracy_ * surrogate_.natural()), surrogate_.rounding());
  // From a good start the contacts are as their impulses say; velocities, times the penalty, say so less well.
  if (plan_.beta > 0.0 && residual > target && newton_count_ < plan_.factorizations &&
      surrogate_.keep_step(residual, kKeptShare)) {
    count_step(monitor, result);
  }
  while (residual > target) {
    if (result.steps == (stiff_ ? kStiffSteps : newton_steps_)) return result;
    if (newton_count_ >= plan_.factorizations) return result;
    count_step(monitor, result);
    if (!surrogate_.newton_step(residual, backtracks_)) return result;
  }
  result.solved = true;
  return result;
}

void AlNewton::adapt(const Surrogate& surrogate) {
  refused_ = 0;
  if (surrogate.steps <= 3) {
    beta_ *= 4.0;
  } else if (surrogate.steps <= 8) {
    beta_ *= 2.0;
  }
  beta_ = std::min(beta_, kHighestBeta);
}

void AlNewton::refuse() {
  ++refused_;
  beta_ = stiff_ ? kGoodStartBeta : std::max(beta_ / 4.0, kLowestBeta);
  stiff_ = false;
  system_->start(surrogate_.multiplier());
}

bool AlNewton::stagnates(const Monitor& monitor) {
  if (monitor.best_error() < 0.9 * best_) {
    best_ = monitor.best_error();
    last_gain_ = outer_;
  }
  return outer_ - last_gain_ >= patience_;
}

// Each restart first runs longer on ADMM; its point, not the best one, is where Newton goes on: that one is
// where it was stuck.
void AlNewton::restart(Monitor& monitor) {
  ++restarts_;
  last_gain_ = outer_;
  refused_ = 0;
  stiff_ = false;
  beta_ = kGoodStartBeta;
  first_stage(monitor, 100 << restarts_, restarts_ % 2 == 1 ? monitor.best() : monitor.start());
}

void AlNewton::first_stage(Monitor& monitor, Index iterations, const Vector& start) {
  Settings settings;
  settings.tolerance = monitor.tolerance();
  settings.measure = monitor.settings().measure;
  settings.law = law_;
  settings.max_iterations = iterations;
  settings.time_limit = std::max(1e-9, monitor.remaining_time());
  settings.islands = false;
  if (!admm_) admm_ = make_admm();
  const Report report = admm_->solve(*problem_, settings, admm_solution_, &start);
  for (Index k = 0; k < report.factorizations; ++k) monitor.count_factorization();
  surrogate_.adopt(admm_solution_.impulse);
  beta_ = kGoodStartBeta;
}

}  // namespace

double factor_flops(const Solver& alnewton) { return static_cast<const AlNewton&>(alnewton).factor_flops(); }

void set_plan(Solver& alnewton, const AlNewtonPlan& plan) { static_cast<AlNewton&>(alnewton).set_plan(plan); }

std::unique_ptr<Solver> make_alnewton() { return std::make_unique<AlNewton>(); }

}  // namespace tribo
