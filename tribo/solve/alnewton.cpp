#include "tribo/solve/alnewton.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tribo/solve/admm.h"
#include "tribo/solve/monitor.h"
#include "tribo/solve/newton_system.h"
#include "tribo/solve/proximal_law.h"

namespace tribo {
namespace {

constexpr double kLowestBeta = 1e-2;
constexpr double kHighestBeta = 1e8;
constexpr double kRounding = 2e-15;  // residual that counts as zero, relative to the state
constexpr double kTouch = 1e-12;     // velocity that counts as zero, relative to the fastest free one
// Prediction from zero, see predict().
constexpr double kRestShare = 0.25;  // of the contacts must be at rest ...
constexpr double kRest = 1e-6;       // ... which means normal velocities up to this share of the fastest
constexpr double kStickBeta = 1e6;
constexpr Index kStickSteps = 4;
constexpr double kStickGain = 1e-3;   // of the residual, every step
constexpr double kNaturalGain = 0.5;  // of the natural map, all of them
constexpr Index kStiffSteps = 2;      // of a surrogate, while the penalty is that of a prediction
constexpr double kGoodStartBeta = 30.0;

enum class Prediction { off, first, only };

class AlNewton final : public Solver {
 public:
  std::string_view name() const override { return "alnewton"; }
  bool leaves_tiny_islands() const override { return true; }
  std::vector<Option> options() override;
  void set_plan(const AlNewtonPlan& plan) { plan_ = plan; }

 protected:
  Status iterate(const ContactProblem& problem, Monitor& monitor) override;

 private:
  struct Surrogate {
    bool solved = false;
    Index steps = 0;
  };

  NewtonSystem* system_for(NewtonForm form);
  Status run(Monitor& monitor);
  Surrogate solve_surrogate(Monitor& monitor, double natural);
  bool newton_step(double& residual);
  bool is_resting() const;
  bool predict(Monitor& monitor);
  void adopt(const Vector& impulse);
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
  std::array<std::unique_ptr<NewtonSystem>, 4> systems_;  // by NewtonForm, made when first needed
  NewtonSystem* system_ = nullptr;
  ProximalLaw proximal_, unit_;
  std::unique_ptr<Solver> admm_;
  Solution admm_solution_;
  std::vector<Mat3> derivative_;
  Vector multiplier_, last_multiplier_, trial_, moved_;
  double beta_ = 1.0;
  double touch_ = 0.0;
  bool stiff_ = false;    // the penalty is still that of a prediction
  double natural_ = 0.0;  // natural map of the multipliers, energy norm
  Index refused_ = 0;     // surrogates in a row
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
      choice_option("prediction", "from zero: first try whether all that touches sticks; or try nothing else",
                    prediction_, {{0, "off"}, {1, "first"}, {2, "only"}}),
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
  touch_ = problem_->row_count() > 0 ? kTouch * problem_->free_velocity().lpNorm<Eigen::Infinity>() : 0.0;
  const bool cold = first_stage_ == 0 && monitor.start().isZero(0.0) && monitor.iterations_left() > 0;
  const bool predictable = prediction_ != Prediction::off && cold && is_resting();
  const bool only_prediction = prediction_ == Prediction::only || plan_.only_prediction;
  if (only_prediction && !predictable) return Status::stalled;
  system_->prepare(*problem_);
  trial_.resize(problem_->row_count());
  moved_.resize(problem_->row_count());
  unit_.prepare(*problem_, 1.0);
  beta_ = plan_.beta > 0.0 ? plan_.beta : initial_beta_;
  refused_ = outer_ = restarts_ = last_gain_ = newton_count_ = 0;
  best_ = std::numeric_limits<double>::infinity();
  multiplier_ = monitor.start();
  if (first_stage_ > 0) first_stage(monitor, first_stage_, monitor.start());
  adopt(multiplier_);
  const bool predicted = predictable && predict(monitor);
  if (predicted && monitor.check(1, multiplier_, system_->velocity(), kStickBeta)) return Status::converged;
  if (!predicted && only_prediction) return Status::stalled;
  stiff_ = predicted;
  for (outer_ = predicted ? 2 : 1; outer_ <= monitor.iterations_left(); ++outer_) {
    if (!std::isfinite(natural_)) return Status::no_solution_suspected;
    if (newton_count_ >= plan_.factorizations) return Status::iteration_limit;
    proximal_.prepare(*problem_, beta_);
    const Surrogate surrogate = solve_surrogate(monitor, natural_);
    if (monitor.out_of_time(outer_)) return Status::time_limit;
    if (!surrogate.solved) {
      refuse();
    } else {
      const double before = natural_;
      last_multiplier_.swap(multiplier_);  // the old multipliers, should the new ones be worse
      adopt(trial_);
      if (natural_ > 2.0 * before && refused_ < 6) {
        adopt(last_multiplier_);
        refuse();
      } else {
        if (monitor.check(outer_, multiplier_, system_->velocity(), beta_)) return Status::converged;
        adapt(surrogate);
      }
    }
    if (stagnates(monitor)) {
      if (restarts_ >= 6) return Status::stalled;
      restart(monitor);
      if (monitor.check(outer_, multiplier_, system_->velocity(), beta_)) return Status::converged;
    }
  }
  return Status::iteration_limit;
}

void AlNewton::adopt(const Vector& impulse) {
  multiplier_ = impulse;
  system_->start(multiplier_);
  // The step of penalty 1 from the multipliers leaves them alone exactly at a solution.
  unit_.impulse(*problem_, law_, system_->velocity(), multiplier_, moved_);
  double energy = 0.0;
  for (Index i = 0; i < problem_->constraint_count(); ++i) {
    const Index row = problem_->row(i), rows = problem_->rows(i);
    energy += problem_->scale(i) * (moved_.segment(row, rows) - multiplier_.segment(row, rows)).squaredNorm();
  }
  natural_ = std::sqrt(energy);
}

// Newton on the surrogate, from the state of the multipliers.
AlNewton::Surrogate AlNewton::solve_surrogate(Monitor& monitor, double natural) {
  Surrogate result;
  proximal_.impulse(*problem_, law_, system_->velocity(), multiplier_, trial_);
  double residual = system_->residual(trial_);
  const double target =
      std::max(std::min(0.3 * residual, accuracy_ * natural), kRounding * system_->magnitude());
  while (residual > target) {
    if (result.steps == (stiff_ ? kStiffSteps : newton_steps_)) return result;
    if (newton_count_ >= plan_.factorizations) return result;
    ++result.steps;
    monitor.count_factorization();
    if (!newton_step(residual)) return result;
  }
  result.solved = true;
  return result;
}

bool AlNewton::is_resting() const {
  Index resting = 0;
  for (Index i = 0; i < problem_->constraint_count(); ++i) {
    if (problem_->kind(i) != ConstraintKind::contact) continue;
    if (std::abs(problem_->free_velocity()[problem_->row(i) + 2]) <= kRest / kTouch * touch_) ++resting;
  }
  return static_cast<double>(resting) > kRestShare * static_cast<double>(problem_->contact_count());
}

// A stack at rest: nothing but the contacts with the ground asks for an impulse at first, and penalties that grow
// carry the load upwards contact by contact. With a stiff penalty, all that touches sticking, a single step
// finds the impulses of the whole stack; where it does not, that shows at once. True when the prediction is
// taken; the penalty then stays stiff.
bool AlNewton::predict(Monitor& monitor) {
  const double before = natural_;
  beta_ = kStickBeta;
  proximal_.prepare(*problem_, beta_);
  proximal_.impulse(*problem_, law_, system_->velocity(), multiplier_, trial_);
  double residual = system_->residual(trial_);
  const double target = std::max(0.1 * accuracy_ * natural_, kRounding * system_->magnitude());
  bool ahead = true;
  for (Index k = 0; k < kStickSteps && ahead && residual > target; ++k) {
    const double last = residual;
    monitor.count_factorization();
    proximal_.derivative(*problem_, law_, system_->velocity(), multiplier_, derivative_,
                         k == 0 ? kRest / kTouch * touch_ : touch_);
    ahead = system_->direction(derivative_);
    if (!ahead) break;
    system_->move(1.0);
    proximal_.impulse(*problem_, law_, system_->velocity(), multiplier_, trial_);
    residual = system_->residual(trial_);
    ahead = residual <= kStickGain * last;
  }
  if (residual <= target) {
    last_multiplier_ = multiplier_;
    adopt(trial_);
    if (natural_ <= kNaturalGain * before) {
      beta_ *= 4.0;
      return true;
    }
    multiplier_ = last_multiplier_;
  }
  beta_ = initial_beta_;
  adopt(multiplier_);
  return false;
}

// One damped step; false if no decrease was found.
bool AlNewton::newton_step(double& residual) {
  ++newton_count_;
  proximal_.derivative(*problem_, law_, system_->velocity(), multiplier_, derivative_, touch_);
  if (!system_->direction(derivative_)) return false;
  double step = 1.0;
  system_->move(1.0);
  for (Index k = 0;; ++k) {
    proximal_.impulse(*problem_, law_, system_->velocity(), multiplier_, trial_);
    const double reduced = system_->residual(trial_);
    if (reduced <= (1.0 - 0.1 * step) * residual) {
      residual = reduced;
      return true;
    }
    if (k == backtracks_) return false;
    step *= 0.5;
    system_->move(-step);
  }
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
  system_->start(multiplier_);
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
  adopt(multiplier_);
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
  multiplier_ = admm_solution_.impulse;
  beta_ = kGoodStartBeta;
}

}  // namespace

void set_plan(Solver& alnewton, const AlNewtonPlan& plan) { static_cast<AlNewton&>(alnewton).set_plan(plan); }

std::unique_ptr<Solver> make_alnewton() { return std::make_unique<AlNewton>(); }

}  // namespace tribo
