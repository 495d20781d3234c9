#include "tribo/solve/auto/auto.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "tribo/problem/constraints.h"
#include "tribo/solve/auto/pile_stage.h"
#include "tribo/solve/auto/restarts.h"
#include "tribo/solve/driver/monitor.h"
#include "tribo/solve/interior/ipm.h"
#include "tribo/solve/newton/alnewton.h"
#include "tribo/solve/newton/canal.h"
#include "tribo/solve/splitting/admm.h"
#include "tribo/solve/sweeps/nsgs.h"
#include "tribo/solve/sweeps/tiny_sweeps.h"
#include "tribo/solve/systems/newton_system.h"

namespace tribo {
namespace {

constexpr Index kTinySweeps = 30;
constexpr Index kProbeSweeps = 6;       // before and after which the rate of the sweeps is read
constexpr Index kPromisingSweeps = 60;  // more than these are left to the stronger methods
constexpr double kVisitFlops = 200.0;   // what visiting a constraint in a sweep costs, in multiply-adds
constexpr double kDearFactor = 8.0;     // sweeps that one factorisation costs, from where on they are dear
constexpr Index kSweepsPerFactor = 60;  // a Newton method takes about as many factorisations
constexpr double kWarmBeta = 100.0;     // penalty of a Newton method that starts near a solution
constexpr Index kWarmSweeps = 6;
constexpr double kNear = 1e-3;  // error from where Newton finds the contacts as they were
constexpr double kRobotNear =
    1e-2;  // ... of a robot, whose rows are long: sweeps cost more of a factorisation
constexpr double kVeryNear = 1e-5;  // ... and hardly a contact changes
constexpr double kDeep = 1e-4;      // error then aimed at, relative to the tolerance
constexpr double kStiffBeta = 3e3, kSoftBeta = 30.0;
constexpr Index kNaturalSteps = 8;
constexpr Index kPolishFactors = 6;  // of a start that could have been returned
constexpr Index kWarmFactors = 8;    // enough where hardly a contact has changed since the last step
constexpr Index kShallowPileFactors = 200;
constexpr Index kLargestFrictionalPile = 3000;  // constraints; as a whole it takes many factorisations, ...
constexpr double kFrictionalFactor = 150.0;     // ... each worth so many sweeps at most: some serve again
constexpr double kPathTarget = 1e-4;            // error at which its interior path is left
constexpr Index kPathIterations = 22;
constexpr Index kConvexSteps = 120, kLongConvexSteps = 300;  // outer steps of convex surrogates
constexpr double kShallowPileBeta = 1e3;
constexpr double kCheapFactor = 40.0;    // sweeps that one factorisation of it may cost, ...
constexpr double kFinishFactor = 400.0;  // ... and where few of them are left to do
constexpr Index kFewConstraints = 200;   // up to here a factorisation costs little
constexpr Index kDenseFactors = 40;
constexpr Index kNewtonIterations = 80;
constexpr Index kPredictionFactors = 60;
constexpr Index kNewtonFactors = 150;  // factorisations before the interior point has its turn
constexpr Index kPointIterations = 150;
constexpr Index kShortAdmm = 25;
constexpr Index kRounds = 4;
constexpr double kLastResort = 60000.0;  // sweeps that the last attempt at a step of a simulation may cost
constexpr Index kFewestFactors = 10, kLastFactors = 600, kLastSurrogateSteps = 1500;
constexpr Index kFewToRestart = 30;  // constraints of an island that is worth other starts
// Newton, given time, arrives from zero in 400 to 1600 factorisations where it does; other starts in 150 or not at all.
constexpr Index kPatientFactors = 2000, kPatientIterations = 400;
constexpr Index kRestarts = 8, kRestartFactors = 150;
constexpr double kUsedAgain = 3.0;   // Newton steps of surrogates per factorisation
constexpr double kWideSpread = 1e2;  // largest over smallest scale w_i
constexpr double kSlidingShare = 0.1;

double near_error(const ContactProblem& problem) {
  constexpr Index kRobotDofs = 20;  // of a tree, on average
  return problem.dof_count() >= kRobotDofs * problem.tree_count() ? kRobotNear : kNear;
}

// Stacks: bodies that touch each other in no rings, the ground aside, whose contacts can all be closed. What bends
// them as a whole is soft, the more so the higher they are, and takes stiff penalties.
bool is_chain(const ContactProblem& problem) {
  return !problem.has_delassus() && count_pairs(problem).pairs < problem.tree_count();
}

// Multiply-adds of one sweep.
double sweep_flops(const ContactProblem& problem) {
  return kVisitFlops * static_cast<double>(problem.constraint_count());
}

// Of a Newton method that starts with this error: the nearer, the fewer contacts change, and the stiffer it may be.
double penalty_from(double error) {
  return error <= kVeryNear ? kStiffBeta : std::max(2.0 / std::sqrt(error), kSoftBeta);
}

// Under the law that Newton finds hard.
bool is_frictional(const ContactProblem& problem, const Monitor& monitor) {
  return monitor.settings().law == Law::exact && problem.has_friction();
}

class Auto final : public Solver {
 public:
  std::string_view name() const override { return "auto"; }
  bool leaves_tiny_islands() const override { return true; }
  std::vector<Option> options() override;

 protected:
  Status iterate(const ContactProblem& problem, Monitor& monitor) override;

 private:
  Status run_tiny(const ContactProblem& problem, Monitor& monitor);
  bool run_dense(const ContactProblem& problem, Monitor& monitor);
  bool run_newton_from_here(Index factorizations, const ContactProblem& problem, Monitor& monitor,
                            const DenseHalf* half = nullptr);
  Status run_rounds(const ContactProblem& problem, Monitor& monitor);
  bool run_sweeps(Index probe, Index promising, const ContactProblem& problem, Monitor& monitor);
  bool run_warm(const ContactProblem& problem, Monitor& monitor);
  bool run_prediction(const ContactProblem& problem, Monitor& monitor);
  bool run_shallow_pile(const ContactProblem& problem, Monitor& monitor);
  bool run_frictional_pile(const ContactProblem& problem, Monitor& monitor);
  bool run_convex(const ContactProblem& problem, Monitor& monitor);
  // Of `canal`: growth of the penalty, outer steps without headway, Newton steps and outer steps.
  struct Surrogates {
    const char* growth;
    Index stall, newton_steps, outer_steps;
    bool from_best;
  };
  bool run_surrogates(const Surrogates& how, const ContactProblem& problem, Monitor& monitor);
  bool run_last_resort(const ContactProblem& problem, Monitor& monitor);
  bool run_restarts(const ContactProblem& problem, Monitor& monitor);
  bool run_newton(Index round, const ContactProblem& problem, Monitor& monitor);
  bool run_point(const ContactProblem& problem, Monitor& monitor);
  bool run_sweeps_instead(const ContactProblem& problem, Monitor& monitor);
  bool run(std::unique_ptr<Solver>& solver, std::unique_ptr<Solver> (*make)(), Index iterations,
           const ContactProblem& problem, Monitor& monitor, bool from_best = true);
  bool is_dear(const ContactProblem& problem) const;
  bool is_dear_pile() const { return pile_factor_ > dear_from_; }
  bool prefers_interior_point(const ContactProblem& problem, const Vector& impulse) const;

  // Options.
  Index admm_iterations_ = 40;
  Index large_ = 20000;

  std::unique_ptr<Solver> sweeps_, admm_, newton_, convex_, point_;
  PileStage pile_;
  TinySweeps tiny_;
  DenseSweeps sweeps_on_few_;
  Solution solution_;
  Vector origin_;                    // where the caller started
  double factor_flops_ = 0.0;        // multiply-adds of a factorisation, known once ADMM has made one
  double pile_factor_ = 0.0;         // sweeps that one factorisation of a pile costs, 0: not known, ...
  double dear_from_ = kCheapFactor;  // ... and how many are too many
  bool point_tried_ = false, convex_tried_ = false;
  bool cold_ = true;  // started from zero
};

std::vector<Option> Auto::options() {
  return {
      integer_option("admm_iterations", "iterations of ADMM before the second-order methods",
                     admm_iterations_, 0, 1000000),
      integer_option("large", "constraints of an island above which only first-order methods are used",
                     large_, 1, 100000000),
  };
}

Status Auto::iterate(const ContactProblem& problem, Monitor& monitor) {
  factor_flops_ = 0.0;
  point_tried_ = convex_tried_ = false;
  origin_ = monitor.start();
  cold_ = origin_.isZero(0.0);
  if (SmallDelassus::is_tiny(problem) &&
      (cold_ || problem.constraint_count() == 1 || problem.has_delassus())) {
    return run_tiny(problem, monitor);
  }
  return run_rounds(problem, monitor);
}

Status Auto::run_tiny(const ContactProblem& problem, Monitor& monitor) {
  const bool done = tiny_.run(problem, monitor, kTinySweeps);
  monitor.note_stage("tiny sweeps");
  if (done || monitor.prove_infeasible() || run_newton(0, problem, monitor)) return Status::converged;
  return run_rounds(problem, monitor);
}

// A robot on the ground, a body in a corner: one dense factorisation costs no more than a few sweeps.
bool Auto::run_dense(const ContactProblem& problem, Monitor& monitor) {
  if (cold_ && run_prediction(problem, monitor)) return true;
  const bool near = monitor.best_error() <= near_error(problem);
  if (!near) {
    const bool done = sweeps_on_few_.run(problem, monitor, kWarmSweeps);
    monitor.note_stage("dense sweeps");
    if (done) return true;
  }
  return run_newton_from_here(kDenseFactors, problem, monitor, near ? nullptr : &sweeps_on_few_.half());
}

Status Auto::run_rounds(const ContactProblem& problem, Monitor& monitor) {
  const bool dense = suitable_form(problem) == NewtonForm::dense;
  const bool pile = !dense && pile_.fits(problem, cold_);
  if (dense && (run_dense(problem, monitor) || monitor.prove_infeasible())) return Status::converged;
  if (!dense && (!pile || monitor.best_error() <= kNear) && run_warm(problem, monitor)) {
    return Status::converged;
  }
  if (pile) {
    if (cold_ && run_prediction(problem, monitor)) return Status::converged;
    if (run_shallow_pile(problem, monitor)) return Status::converged;
    const bool alone = problem.constraint_count() > PileStage::kLargestWhole;
    const auto effort = alone || is_dear_pile() ? PileStage::Effort::patiently : PileStage::Effort::usually;
    if (pile_.run(problem, monitor, effort)) return Status::converged;
    if (alone) return Status::stalled;
    // Even where it fills in, a few factorisations end it from here.
    if (is_dear_pile() && monitor.best_error() <= kNear && pile_factor_ <= kFinishFactor &&
        run_newton_from_here(kWarmFactors, problem, monitor)) {
      return Status::converged;
    }
  }
  if (pile && !cold_) return run_last_resort(problem, monitor) ? Status::converged : Status::stalled;
  if (run_sweeps(kProbeSweeps, kPromisingSweeps, problem, monitor)) return Status::converged;
  if (monitor.prove_infeasible()) return Status::converged;  // the monitor knows better how it ended
  const bool first_order_only = problem.constraint_count() > large_;
  if (cold_ && !dense && !pile && !first_order_only && run_prediction(problem, monitor))
    return Status::converged;
  Index admm_iterations = admm_iterations_;
  if (!first_order_only && prefers_interior_point(problem, monitor.best())) {
    // Sweeps tell sliding from sticking badly under mass ratios; a short ADMM does.
    if (run(admm_, make_admm, std::min(kShortAdmm, admm_iterations), problem, monitor, false))
      return Status::converged;
    if (prefers_interior_point(problem, monitor.best()) && run_point(problem, monitor)) {
      return Status::converged;
    }
  }
  for (Index round = 0; round < kRounds; ++round) {
    const double before = monitor.best_error();
    if (run(admm_, make_admm, admm_iterations, problem, monitor, round > 0)) return Status::converged;
    admm_iterations = first_order_only ? admm_iterations * 20 : std::max<Index>(500, 2 * admm_iterations);
    if (round == 0 && run_sweeps_instead(problem, monitor)) return Status::converged;
    if (first_order_only) continue;
    if (run_newton(round, problem, monitor)) return Status::converged;
    if (run_point(problem, monitor)) return Status::converged;
    // Slower, but it gets through where Newton on the exact law circles.
    if (round == 0 && is_frictional(problem, monitor) && problem.constraint_count() <= kFewConstraints &&
        run_surrogates({"2", 30, 800, kConvexSteps, false}, problem, monitor)) {
      return Status::converged;
    }
    if (round > 0 && monitor.best_error() > 0.5 * before) break;
  }
  return run_restarts(problem, monitor) ? Status::converged : Status::stalled;
}

// The last resort of small islands that began from zero: Newton with patience, then from elsewhere; a step of a simulation has the next one to do better.
bool Auto::run_restarts(const ContactProblem& problem, Monitor& monitor) {
  if (!cold_ || problem.constraint_count() > kFewToRestart || !is_frictional(problem, monitor)) return false;
  if (!newton_) newton_ = make_alnewton();
  for (Index k = -1; k < kRestarts; ++k) {
    if (k >= 0) restart(problem, monitor.best(), k, origin_);
    set_plan(*newton_, {.factorizations = k < 0 ? kPatientFactors : kRestartFactors});
    if (run(newton_, make_alnewton, kPatientIterations, problem, monitor, false)) return true;
  }
  return false;
}

// From the impulses of the last step a Newton step or two end far below the tolerance, and the next step then
// needs none. Where contacts have changed since, sweeps find out which for less.
bool Auto::run_warm(const ContactProblem& problem, Monitor& monitor) {
  if (cold_ || problem.constraint_count() > large_) return false;
  if (!sweeps_) sweeps_ = make_nsgs();
  if (monitor.best_error() > near_error(problem) && iterate_as(*sweeps_, kWarmSweeps, problem, monitor))
    return true;
  const bool small = problem.constraint_count() <= kFewConstraints;
  return run_newton_from_here(small ? kDenseFactors : kWarmFactors, problem, monitor);
}

bool Auto::run_newton_from_here(Index factorizations, const ContactProblem& problem, Monitor& monitor,
                                const DenseHalf* half) {
  if (!newton_) newton_ = make_alnewton();
  const double error = monitor.best_error();
  const bool good_enough = error <= monitor.tolerance();
  const NewtonForm form = suitable_form(problem);
  const bool dense = form == NewtonForm::dense || form == NewtonForm::trees;
  if (good_enough) factorizations = kPolishFactors;
  set_plan(*newton_, {.factorizations = factorizations,
                      .beta = penalty_from(error),
                      .natural_steps = dense ? kNaturalSteps : 0,
                      .stiffens = error <= kVeryNear && is_chain(problem),
                      .half = half});
  if (error <= kVeryNear) monitor.aim(kDeep * monitor.tolerance());
  iterate_as(*newton_, kNewtonIterations, problem, monitor);
  return monitor.settle();
}

// Stacks, at rest or sliding, need nothing else, whatever their height; others give up before anything is
// factorised.
bool Auto::run_prediction(const ContactProblem& problem, Monitor& monitor) {
  if (!newton_) newton_ = make_alnewton();
  set_plan(*newton_, {.only_prediction = true, .factorizations = kPredictionFactors});
  return run(newton_, make_alnewton, kNewtonIterations, problem, monitor, false);
}

// A pile that is wide rather than deep hardly fills in: Newton on the whole, stiff at once, after sweeps have found out
// which contacts carry.
bool Auto::run_shallow_pile(const ContactProblem& problem, Monitor& monitor) {
  pile_factor_ = 0.0;
  dear_from_ = kCheapFactor;
  if (problem.constraint_count() > std::min(large_, pile_.largest_shallow())) return false;
  if (is_frictional(problem, monitor) && problem.constraint_count() <= kLargestFrictionalPile &&
      suitable_form(problem) != NewtonForm::trees) {
    return run_frictional_pile(problem, monitor);
  }
  if (pile_.run(problem, monitor, PileStage::Effort::briefly) || monitor.prove_infeasible()) return true;
  if (!newton_) newton_ = make_alnewton();
  set_plan(*newton_, {.factorizations = kShallowPileFactors,
                      .beta = kShallowPileBeta,
                      .most_flops = kCheapFactor * sweep_flops(problem)});
  if (iterate_as(*newton_, kNewtonIterations, problem, monitor)) return true;
  pile_factor_ = factor_flops(*newton_) / sweep_flops(problem);
  return !is_dear_pile() && run_point(problem, monitor);
}

// With friction Newton goes round in circles from what sweeps leave: penalties too stiff to be solved, and softer ones
// that lead nowhere. An interior path gets near in some fifteen steps, whatever changes on the way, and convex surrogates
// end from there. Where sweeps get ahead, they cost less.
bool Auto::run_frictional_pile(const ContactProblem& problem, Monitor& monitor) {
  dear_from_ = kFrictionalFactor;
  if (pile_.run(problem, monitor, PileStage::Effort::at_a_glance) || monitor.prove_infeasible()) return true;
  if (!point_) point_ = make_ipm();
  set_plan(*point_, {.target = kPathTarget, .most_flops = dear_from_ * sweep_flops(problem)});
  if (iterate_as(*point_, kPathIterations, problem, monitor)) return true;
  pile_factor_ = path_flops(*point_) / sweep_flops(problem);
  if (is_dear_pile()) return false;
  return run_convex(problem, monitor) || run_point(problem, monitor);
}

// As long as their penalty grows slowly. Where they do not get ahead from what the stages before have found, they mostly
// do from where those began.
bool Auto::run_convex(const ContactProblem& problem, Monitor& monitor) {
  return run_surrogates({"2", 30, 800, kConvexSteps, true}, problem, monitor) ||
         run_surrogates({"1.5", 60, 2000, kLongConvexSteps, false}, problem, monitor);
}

bool Auto::run_surrogates(const Surrogates& how, const ContactProblem& problem, Monitor& monitor) {
  convex_tried_ = true;
  if (!convex_) {
    convex_ = make_canal();
    convex_->set_option("beta", "30");
    convex_->set_option("inner", "0.3");
  }
  convex_->set_option("growth", how.growth);
  convex_->set_option("stall", std::to_string(how.stall));
  convex_->set_option("newton_total", std::to_string(how.newton_steps));
  return run(convex_, make_canal, how.outer_steps, problem, monitor, how.from_best);
}

// A pile on its way that nothing above has solved: one more attempt, as long as its factorisations are worth their time.
// The step then ends with the best impulses known and what they are good for.
bool Auto::run_last_resort(const ContactProblem& problem, Monitor& monitor) {
  if (run_sweeps(kProbeSweeps, kPromisingSweeps, problem, monitor)) return true;
  if (run(admm_, make_admm, admm_iterations_, problem, monitor, false)) return true;
  const double factor = std::max({pile_factor_, factor_flops_ / sweep_flops(problem), 1.0});
  const auto worth = static_cast<Index>(kLastResort / factor);
  if (worth < kFewestFactors || problem.constraint_count() > large_) return false;
  if (is_frictional(problem, monitor) && !convex_tried_) {
    const Index steps = std::min(static_cast<Index>(kUsedAgain * worth), kLastSurrogateSteps);
    return run_surrogates({"2", 30, steps, kConvexSteps, true}, problem, monitor);
  }
  if (!newton_) newton_ = make_alnewton();
  set_plan(*newton_, {.factorizations = std::min(worth, kLastFactors), .beta = kWarmBeta});
  return run(newton_, make_alnewton, kNewtonIterations, problem, monitor) ||
         (worth >= kPointIterations && run_point(problem, monitor));
}

bool Auto::run_newton(Index round, const ContactProblem& problem, Monitor& monitor) {
  if (!newton_) newton_ = make_alnewton();
  AlNewtonPlan plan;
  if (round == 0 && !is_dear(problem)) plan.factorizations = kNewtonFactors;
  if (round == 0 && !cold_) plan.beta = kWarmBeta;
  set_plan(*newton_, plan);
  return run(newton_, make_alnewton, kNewtonIterations << round, problem, monitor);
}

// An interior point begins better far inside the cones than at an iterate near their boundary; a second try
// from there would end where the first one did.
bool Auto::run_point(const ContactProblem& problem, Monitor& monitor) {
  if (point_tried_) return false;
  point_tried_ = true;
  if (!point_) point_ = make_ipm();
  set_plan(*point_, IpmPlan{});
  return run(point_, make_ipm, kPointIterations, problem, monitor, false);
}

// A few sweeps; more where their rate of convergence promises the tolerance soon.
bool Auto::run_sweeps(Index probe, Index promising, const ContactProblem& problem, Monitor& monitor) {
  if (run(sweeps_, make_nsgs, probe, problem, monitor)) return true;
  double before = monitor.last_error();
  for (Index done = 0; done < promising; done += probe) {
    if (run(sweeps_, make_nsgs, probe, problem, monitor)) return true;
    const double after = monitor.last_error();
    if (!(after < before)) return false;
    const double per_sweep = std::log(before / after) / static_cast<double>(probe);
    const double needed = std::log(after / monitor.tolerance()) / per_sweep;
    if (needed > static_cast<double>(promising - done)) return false;
    before = after;
  }
  return false;
}

// One factorisation costs many sweeps; false as long as none has been made.
bool Auto::is_dear(const ContactProblem& problem) const {
  return factor_flops_ >= kDearFactor * sweep_flops(problem);
}

// Where the matrix fills in, one factorisation costs many sweeps: they get the time of a Newton method first,
// as long as they promise to need less.
bool Auto::run_sweeps_instead(const ContactProblem& problem, Monitor& monitor) {
  if (!is_dear(problem)) return false;
  const double sweeps_per_factor = factor_flops_ / sweep_flops(problem);
  const double most = std::min(sweeps_per_factor * kSweepsPerFactor, 1e6);
  return run_sweeps(std::max<Index>(20, static_cast<Index>(most / 20.0)), static_cast<Index>(most), problem,
                    monitor);
}

// One stage from the best iterate so far, or from the caller's start; true when the monitor said to end.
bool Auto::run(std::unique_ptr<Solver>& solver, std::unique_ptr<Solver> (*make)(), Index iterations,
               const ContactProblem& problem, Monitor& monitor, bool from_best) {
  if (iterations == 0) return false;
  if (!solver) solver = make();
  const Report report = solver->solve(problem, monitor.part_settings(iterations), solution_,
                                      from_best ? &monitor.best() : &origin_);
  factor_flops_ = std::max(factor_flops_, report.factor_flops);
  return monitor.take_over(solver->name(), report, solution_);
}

// The central path does not mind mass ratios where contacts slide, which is where Newton needs many steps.
bool Auto::prefers_interior_point(const ContactProblem& problem, const Vector& impulse) const {
  double smallest = std::numeric_limits<double>::infinity(), largest = 0.0;
  Index sliding = 0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    smallest = std::min(smallest, problem.scale(i));
    largest = std::max(largest, problem.scale(i));
  }
  for_each_cone(problem, [&](auto cone) {
    const auto r = cone.get(impulse);
    const double pressed = r[cone.kNormal];
    if (pressed > 0.0 && detail::tangent_norm(r) >= 0.999 * cone.friction * pressed) ++sliding;
  });
  return largest > kWideSpread * smallest &&
         static_cast<double>(sliding) > kSlidingShare * static_cast<double>(problem.contact_count());
}

}  // namespace

std::unique_ptr<Solver> make_auto() { return std::make_unique<Auto>(); }

}  // namespace tribo
