#include "tribo/solve/newton/alnewton.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tribo/solve/driver/scoped_interrupt.h"
#include "tribo/solve/newton/alnewton_solver.h"
#include "tribo/solve/newton/stack_prediction.h"
#include "tribo/solve/splitting/admm.h"

namespace tribo {
namespace {

constexpr double kLowestBeta = 1e-2;     // penalty
constexpr Index kStiffSteps = 2;         // of a surrogate, while the penalty is that of a prediction
constexpr Index kSlidingFactors = 100;   // of the prediction of a stack that slides
constexpr double kGoodStartBeta = 30.0;  // penalty after a prediction
// Surrogates with the matrix of the last step, and the reduction of the natural map that each must bring.
constexpr Index kRepeats = 4;
constexpr double kRepeatGain = 0.3;
// Reduction of the error by a surrogate below the tolerance; where it was better, another one pays.
constexpr double kDeepGain = 0.1;
constexpr double kStiffEnough = 1e6, kStiffening = 8.0;  // penalties beyond the tolerance
constexpr Index kFirstRestart = 100;                     // iterations of ADMM, doubled with every restart

// Natural steps that may fail in a solve; each makes the next ones more damped by this factor, from 1. Without them
// surrogates took over on one step in eight of a robot that lies on the ground; 10 or 100 differ little.
constexpr Index kNaturalRefused = 2;
constexpr double kNaturalDamping = 30.0;

using Prediction = AlNewtonOptions::Prediction;

}  // namespace

std::vector<Option> describe(AlNewtonOptions& o) {
  return {
      real_option("beta", "initial penalty", "1", o.beta, 1e-2, 1e8),
      integer_option("first_stage", "iterations of accelerated ADMM to begin with, 0 = none", o.first_stage,
                     0, 100000),
      integer_option("newton_steps", "largest number of Newton steps per outer iteration", o.newton_steps, 1,
                     1000),
      integer_option("backtracks", "largest number of halvings of a Newton step", o.backtracks, 0, 60),
      real_option("accuracy", "residual of the surrogate relative to the natural map", "1", o.accuracy, 1e-6,
                  0.9),
      choice_option("prediction", "stacks from zero: the load first; or try nothing else", o.prediction,
                    {{0, "off"}, {1, "first"}, {2, "only"}}),
      integer_option("patience", "outer iterations without headway before starting again", o.patience, 2,
                     1000000),
  };
}

Status AlNewton::iterate(const ContactProblem& problem, Monitor& monitor, const AlNewtonStart& start) {
  problem_ = &problem;
  law_ = monitor.settings().law;
  known_ = start;
  flops_ = 0.0;
  system_ = system_for(suitable_form(problem));
  const ScopedInterrupt limit(monitor, *system_);
  return run(monitor);
}

NewtonSystem* AlNewton::system_for(NewtonForm form) {
  std::unique_ptr<NewtonSystem>& system = systems_[static_cast<std::size_t>(form)];
  if (!system) system = make_newton_system(form);
  return system.get();
}

Status AlNewton::run(Monitor& monitor) {
  const bool cold = options_.first_stage == 0 && monitor.start().isZero(0.0) && monitor.iterations_left() > 0;
  const bool predictable = options_.prediction != Prediction::off && cold && is_stack(*problem_);
  const bool only_prediction = options_.prediction == Prediction::only || known_.only_prediction;
  if (only_prediction && !predictable) return Status::stalled;
  system_->prepare(*problem_, known_.whitened);
  flops_ = system_->factor_flops();
  if (flops_ > monitor.factor_flops_allowed()) return Status::stalled;
  surrogate_.prepare(*problem_, law_, *system_);
  beta_ = known_.beta > 0.0 ? known_.beta : options_.beta;
  refused_ = restarts_ = last_gain_ = 0;
  outer_ = 1;
  best_ = std::numeric_limits<double>::infinity();
  surrogate_.adopt(monitor.start());
  if (options_.first_stage > 0 && first_stage(monitor, options_.first_stage, false)) return Status::converged;
  stiff_ = predictable && predict_sticking(surrogate_, monitor, options_.accuracy, beta_);
  if (stiff_) {
    if (monitor.check(outer_++, surrogate_.multiplier(), system_->velocity(), beta_))
      return Status::converged;
  } else if (predictable &&
             follow_sliding(surrogate_, monitor, std::min(kSlidingFactors, monitor.factorizations_left()),
                            outer_)) {
    return Status::converged;
  }
  if (!stiff_ && only_prediction) return Status::stalled;
  if (known_.beta > 0.0 && known_.natural_steps > 0 && follow_natural(monitor)) return Status::converged;
  for (; outer_ <= monitor.iterations_left(); ++outer_) {
    if (!std::isfinite(surrogate_.natural())) return Status::no_solution_suspected;
    if (!monitor.may_factorize()) return Status::iteration_limit;
    surrogate_.law().prepare(*problem_, beta_);
    const SurrogateOutcome surrogate = solve_surrogate(monitor);
    if (monitor.out_of_time(outer_)) return Status::time_limit;
    if (surrogate.solved) {
      if (take(surrogate, monitor)) return Status::converged;
    } else {
      if (!monitor.may_factorize()) return last_offer(monitor);
      if (good_enough(monitor)) return Status::converged;
      refuse();
    }
    if (stagnates(monitor)) {
      if (restarts_ >= 6) return Status::stalled;
      if (restart(monitor) || offer(monitor)) return Status::converged;
    }
  }
  return Status::iteration_limit;
}

// What a surrogate has come to; true when that is the end. Beyond the tolerance one goes on only where the matrix serves
// again, or stiffer penalties leave the contacts as they are.
bool AlNewton::take(const SurrogateOutcome& surrogate, Monitor& monitor) {
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
  if (known_.beta > 0.0 && surrogate.steps > 0 && repeats && repeat(monitor)) return true;
  const bool stiffens = known_.stiffens && surrogate.steps <= 1 && beta_ < kStiffEnough;
  if (good_enough(monitor) && !stiffens) return true;
  adapt(surrogate);
  if (good_enough(monitor)) beta_ *= kStiffening;
  return false;
}

// Newton on the equation itself for as long as it gets ahead.
bool AlNewton::follow_natural(Monitor& monitor) {
  double damping = 1.0;
  Index refused = 0;
  for (Index k = 0; k < known_.natural_steps; ++k, ++outer_) {
    if (!monitor.may_factorize() || outer_ > monitor.iterations_left()) return false;
    const bool ahead = surrogate_.natural_step(damping);
    monitor.count_factorizations(surrogate_.factorizations());
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

void AlNewton::count_step(Monitor& monitor, SurrogateOutcome& surrogate) {
  ++surrogate.steps;
  monitor.count_factorization();
}

// Newton on the surrogate, from the state of the multipliers.
AlNewton::SurrogateOutcome AlNewton::solve_surrogate(Monitor& monitor) {
  SurrogateOutcome result;
  double& residual = result.residual;
  residual = surrogate_.residual();
  const double target =
      std::max(std::min(0.3 * residual, options_.accuracy * surrogate_.natural()), surrogate_.rounding());
  // From a good start the contacts are as their impulses say; velocities, times the penalty, say so less well.
  if (known_.beta > 0.0 && residual > target && monitor.may_factorize() &&
      surrogate_.keep_step(residual, AlSurrogate::kChangedShare)) {
    count_step(monitor, result);
  }
  while (residual > target) {
    if (result.steps == (stiff_ ? kStiffSteps : options_.newton_steps)) return result;
    if (!monitor.may_factorize()) return result;
    count_step(monitor, result);
    if (!surrogate_.newton_step(residual, options_.backtracks)) return result;
  }
  result.solved = true;
  return result;
}

void AlNewton::adapt(const SurrogateOutcome& surrogate) {
  refused_ = 0;
  if (surrogate.steps <= 3) {
    beta_ *= 4.0;
  } else if (surrogate.steps <= 8) {
    beta_ *= 2.0;
  }
  beta_ = std::min(beta_, AlSurrogate::kHighestBeta);
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
  return outer_ - last_gain_ >= options_.patience;
}

// Each restart first runs longer on ADMM; its point, not the best one, is where Newton goes on: that one is
// where it was stuck. True when the monitor said to end.
bool AlNewton::restart(Monitor& monitor) {
  ++restarts_;
  last_gain_ = outer_;
  refused_ = 0;
  stiff_ = false;
  return first_stage(monitor, kFirstRestart << restarts_, restarts_ % 2 == 1);
}

bool AlNewton::first_stage(Monitor& monitor, Index iterations, bool from_best) {
  if (!admm_) admm_ = make_admm();
  last_multiplier_ = from_best ? monitor.best() : monitor.start();
  if (monitor.run(*admm_, {.iterations = iterations}, last_multiplier_)) return true;
  surrogate_.adopt(monitor.stage_best());
  beta_ = kGoodStartBeta;
  return false;
}

std::unique_ptr<Solver> make_alnewton(const AlNewtonOptions& options) {
  return std::make_unique<AlNewton>(options);
}

}  // namespace tribo
