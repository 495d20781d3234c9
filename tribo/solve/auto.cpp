#include "tribo/solve/auto.h"

#include <algorithm>
#include <cmath>

#include "tribo/problem/natural_map.h"
#include "tribo/solve/admm.h"
#include "tribo/solve/alnewton.h"
#include "tribo/solve/ipm.h"
#include "tribo/solve/monitor.h"
#include "tribo/solve/nsgs.h"
#include "tribo/solve/patches.h"
#include "tribo/solve/tiny_sweeps.h"

namespace tribo {
namespace {

constexpr Index kTinySweeps = 30;
constexpr Index kSmallSweeps = 6;
constexpr Index kProbeSweeps = 6;       // before and after which the rate of the sweeps is read
constexpr Index kPromisingSweeps = 60;  // more than these are left to the stronger methods
constexpr double kVisitFlops = 200.0;   // what visiting a constraint in a sweep costs, in multiply-adds
constexpr double kDearFactor = 8.0;     // sweeps that one factorisation costs, from where on they are dear
constexpr Index kSweepsPerFactor = 60;  // a Newton method takes about as many factorisations
constexpr double kWarmBeta = 100.0;     // penalty of a Newton method that starts near a solution
constexpr Index kWarmFactors = 3;       // enough where hardly a contact has changed since the last step
constexpr Index kNewtonIterations = 80;
constexpr Index kPredictionFactors = 30;
constexpr Index kNewtonFactors = 150;  // factorisations before the interior point has its turn
constexpr Index kPointIterations = 150;
constexpr Index kShortAdmm = 25;
constexpr Index kRounds = 4;
constexpr double kWideSpread = 1e2;  // largest over smallest scale w_i
constexpr double kSlidingShare = 0.1;
// Piles, see is_pile() and run_pile().
constexpr Index kSmallestPile = 300;  // constraints, ...
constexpr Index kSmallestRedundantPile =
    1500;  // ... where Newton on the whole does better than sweeps for longer
constexpr double kPairsPerTree = 1.2;
constexpr double kRedundantShare = 0.2;
constexpr double kNearlySolved = 1e-3;  // error at the start that a Newton step or two are likely to end
constexpr Index kPileSweeps = 100;
constexpr Index kPlainSweeps = 400;
constexpr double kLowestRelaxation = 0.3;
constexpr Index kPileBudget = 6000;        // sweeps, before other methods have their turn; ...
constexpr Index kPileBudgetAlone = 20000;  // ... where they would have none
constexpr double kFew = 0.02;  // share of bad constraints that Newton does better in patches than sweeps, ...
constexpr double kFewRedundant = 0.1;  // ... which shared pairs of bodies make slow
constexpr Index kPatch = 120;          // constraints of the first patches
constexpr Index kPatchFactors = 20;
constexpr Index kPatchGrowths = 6;
constexpr double kPatchWork =
    60.0;  // factorisations of the whole that patches may be worth where it is an alternative
constexpr Index kLargestWhole = 5000;  // constraints of a pile beyond which nothing else is tried
constexpr Index kTall = 200;           // constraints from where on Newton steps travel through sliding stacks

class Auto final : public Solver {
 public:
  std::string_view name() const override { return "auto"; }
  bool leaves_tiny_islands() const override { return true; }
  std::vector<Option> options() override;

 protected:
  Status iterate(const ContactProblem& problem, Monitor& monitor) override;

 private:
  Status run_small(const ContactProblem& problem, Monitor& monitor);
  Status run_rounds(const ContactProblem& problem, Monitor& monitor);
  bool run_sweeps(Index probe, Index promising, const ContactProblem& problem, Monitor& monitor);
  bool run_warm(const ContactProblem& problem, Monitor& monitor);
  bool run_prediction(const ContactProblem& problem, Monitor& monitor);
  bool run_newton(Index round, const ContactProblem& problem, Monitor& monitor);
  bool is_pile(const ContactProblem& problem);
  bool run_pile(const ContactProblem& problem, Monitor& monitor);
  bool run_part(Solver& solver, Index iterations, const Vector& start, const ContactProblem& problem,
                Monitor& monitor);
  bool run_point(const ContactProblem& problem, Monitor& monitor);
  bool run_sweeps_instead(const ContactProblem& problem, Monitor& monitor);
  bool run(std::unique_ptr<Solver>& solver, std::unique_ptr<Solver> (*make)(), Index iterations,
           const ContactProblem& problem, Monitor& monitor, bool from_best = true);
  bool is_dear(const ContactProblem& problem) const;
  bool prefers_interior_point(const ContactProblem& problem, const Vector& impulse) const;

  // Options.
  Index admm_iterations_ = 40;
  Index large_ = 20000;

  std::unique_ptr<Solver> sweeps_, admm_, newton_, point_;
  std::unique_ptr<Solver> pile_sweeps_;
  PatchSolver patches_;
  Vector pile_;             // where run_pile() has come to
  bool redundant_ = false;  // many contacts of the pile share their pair of bodies
  TinySweeps tiny_;
  Solution solution_;
  double factor_flops_ = 0.0;  // multiply-adds of a factorisation, known once ADMM has made one
  bool point_tried_ = false;
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
  point_tried_ = false;
  if (SmallDelassus::fits(problem)) return run_small(problem, monitor);
  return run_rounds(problem, monitor);
}

Status Auto::run_small(const ContactProblem& problem, Monitor& monitor) {
  const bool tiny = SmallDelassus::is_tiny(problem);
  const bool done = tiny_.run(problem, monitor, tiny ? kTinySweeps : kSmallSweeps);
  monitor.note_stage(tiny ? "tiny sweeps" : "small sweeps");
  if (done) return Status::converged;
  if (run_newton(0, problem, monitor)) return Status::converged;
  return run_rounds(problem, monitor);
}

// Bodies that touch several others each: elimination fills in, so that Newton on the whole costs more per body the larger
// the island is. Stacks and chains are none. Counts the contacts that are one of several of their pair beside.
bool Auto::is_pile(const ContactProblem& problem) {
  redundant_ = false;
  if (problem.constraint_count() <= kSmallestPile || problem.has_delassus()) return false;
  const BlockJacobian& jacobian = problem.jacobian();
  Index pairs = 0, repeated = 0;
  for (Index i = 0, last = -1; i < problem.constraint_count(); ++i) {
    const Index begin = jacobian.piece_begin(i), pieces = jacobian.piece_end(i) - begin;
    bool same = last >= 0 && jacobian.piece_end(last) - jacobian.piece_begin(last) == pieces;
    for (Index p = 0; same && p < pieces; ++p) {
      same = jacobian.piece_tree(begin + p) == jacobian.piece_tree(jacobian.piece_begin(last) + p);
    }
    repeated += same ? 1 : 0;
    pairs += !same && pieces > 1 ? 1 : 0;
    last = i;
  }
  redundant_ = static_cast<double>(repeated) > kRedundantShare * problem.constraint_count();
  return static_cast<double>(pairs) > kPairsPerTree * problem.tree_count() &&
         (!redundant_ || problem.constraint_count() > kSmallestRedundantPile);
}

// Accelerated sweeps, plain ones where momentum carries the impulses round in circles, and Newton on the clusters where
// sweeps do not get ahead: in those left over at the end, or else in the worst of them. Patches, and what may be spent
// on them, grow from time to time. Cost per body does not depend on the size of the island.
bool Auto::run_pile(const ContactProblem& problem, Monitor& monitor) {
  if (!pile_sweeps_) {
    pile_sweeps_ = make_nsgs();
    pile_sweeps_->set_option("accelerate", "cg");
  }
  set_plan(*pile_sweeps_, SweepPlan{});
  pile_ = monitor.best();
  patches_.prepare(problem);
  const double few = (redundant_ ? kFewRedundant : kFew) * problem.constraint_count();
  PatchSolver::Plan plan{.overlap = 1, .largest = kPatch, .factorizations = kPatchFactors};
  double before = std::numeric_limits<double>::infinity();
  Index sweeps = kPileSweeps, patched = 0;
  double relaxation = 1.0;
  bool plain = false;
  const Index most = problem.constraint_count() > kLargestWhole ? kPileBudgetAlone : kPileBudget;
  double work = problem.constraint_count() > kLargestWhole ? std::numeric_limits<double>::infinity()
                                                           : kPatchWork * problem.constraint_count();
  for (Index spent = 0; spent < most && work > 0.0; spent += sweeps) {
    if (run_part(*pile_sweeps_, sweeps, pile_, problem, monitor)) return true;
    pile_ = last_impulse(*pile_sweeps_);
    const double reference = reference_impulse(problem, pile_);
    const double target = monitor.tolerance() * reference;
    plan.allowed = 0.3 * target;
    const Index bad = patches_.inspect(problem, monitor.settings().law, pile_, plan.allowed);
    const double worst = patches_.worst() / reference;
    const bool is_local = bad<few, slow = worst> 0.5 * before;
    const bool circling = !is_local && !plain && worst > before;
    if (circling || (!is_local && !slow)) {
      if (circling) relaxation = std::max(0.8 * relaxation, kLowestRelaxation);
      plain = circling;
      sweeps = plain ? kPlainSweeps : 2 * kPileSweeps;
      before = worst;
      set_plan(
          *pile_sweeps_,
          SweepPlan{
              .same_problem = true, .go_on = true, .relaxation = plain ? relaxation : 1.0, .plain = plain});
      continue;
    }
    if (!is_local) plan.allowed = std::max(plan.allowed, 0.1 * patches_.worst());
    const PatchSolver::Outcome outcome =
        patches_.solve(problem, monitor.settings(), plan, 0.1 * target, pile_);
    work -= outcome.work;
    for (Index k = 0; k < outcome.factorizations; ++k) monitor.count_factorization();
    monitor.note_count("patches", outcome.patches);
    if (patched++ < kPatchGrowths) {
      plan.overlap += patched % 2 == 0 ? 1 : 0;
      plan.largest += plan.largest / 2;
      plan.factorizations += plan.factorizations / 2 + 1;
    }
    sweeps = redundant_ ? kPileSweeps / 2 : kPileSweeps;
    before = std::numeric_limits<double>::infinity();
    plain = false;
    set_plan(*pile_sweeps_, SweepPlan{.same_problem = true});
  }
  return false;
}

Status Auto::run_rounds(const ContactProblem& problem, Monitor& monitor) {
  const bool pile = is_pile(problem);
  if ((!pile || monitor.best_error() < kNearlySolved) && run_warm(problem, monitor)) return Status::converged;
  if (pile) {
    if (run_prediction(problem, monitor) || run_pile(problem, monitor)) return Status::converged;
    if (problem.constraint_count() > kLargestWhole) return Status::stalled;
  }
  if (run_sweeps(kProbeSweeps, kPromisingSweeps, problem, monitor)) return Status::converged;
  const bool first_order_only = problem.constraint_count() > large_;
  if (!pile && !first_order_only && run_prediction(problem, monitor)) return Status::converged;
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
    if (round > 0 && monitor.best_error() > 0.5 * before) return Status::stalled;
  }
  return Status::stalled;
}

// From the impulses of the last step a Newton step or two end far below the tolerance, and the next step then
// needs none; where much has changed that shows at once.
bool Auto::run_warm(const ContactProblem& problem, Monitor& monitor) {
  if (monitor.start().isZero(0.0) || problem.constraint_count() > large_ || SmallDelassus::fits(problem)) {
    return false;
  }
  if (!newton_) newton_ = make_alnewton();
  set_plan(*newton_, {.factorizations = kWarmFactors, .beta = kWarmBeta});
  return run(newton_, make_alnewton, kNewtonIterations, problem, monitor);
}

// Stacks at rest need nothing else, whatever their height; others give up before anything is factorised.
bool Auto::run_prediction(const ContactProblem& problem, Monitor& monitor) {
  if (!monitor.start().isZero(0.0)) return false;
  if (!newton_) newton_ = make_alnewton();
  set_plan(*newton_, {.only_prediction = true, .factorizations = kPredictionFactors});
  return run(newton_, make_alnewton, kNewtonIterations, problem, monitor, false);
}

bool Auto::run_newton(Index round, const ContactProblem& problem, Monitor& monitor) {
  if (!newton_) newton_ = make_alnewton();
  AlNewtonPlan plan;
  if (round == 0 && !is_dear(problem)) plan.factorizations = kNewtonFactors;
  if (round == 0 && !monitor.start().isZero(0.0)) plan.beta = kWarmBeta;
  set_plan(*newton_, plan);
  return run(newton_, make_alnewton, kNewtonIterations << round, problem, monitor);
}

// An interior point begins better far inside the cones than at an iterate near their boundary; a second try
// from there would end where the first one did.
bool Auto::run_point(const ContactProblem& problem, Monitor& monitor) {
  if (point_tried_) return false;
  point_tried_ = true;
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
  return factor_flops_ >= kDearFactor * kVisitFlops * static_cast<double>(problem.constraint_count());
}

// Where the matrix fills in, one factorisation costs many sweeps: they get the time of a Newton method first,
// as long as they promise to need less.
bool Auto::run_sweeps_instead(const ContactProblem& problem, Monitor& monitor) {
  if (!is_dear(problem)) return false;
  const double sweeps_per_factor =
      factor_flops_ / (kVisitFlops * static_cast<double>(problem.constraint_count()));
  const double most = std::min(sweeps_per_factor * kSweepsPerFactor, 1e6);
  return run_sweeps(std::max<Index>(20, static_cast<Index>(most / 20.0)), static_cast<Index>(most), problem,
                    monitor);
}

// One stage from the best iterate so far, or from the caller's start; true when the monitor said to end.
bool Auto::run(std::unique_ptr<Solver>& solver, std::unique_ptr<Solver> (*make)(), Index iterations,
               const ContactProblem& problem, Monitor& monitor, bool from_best) {
  if (iterations == 0) return false;
  if (!solver) solver = make();
  return run_part(*solver, iterations, from_best ? monitor.best() : monitor.start(), problem, monitor);
}

bool Auto::run_part(Solver& solver, Index iterations, const Vector& start, const ContactProblem& problem,
                    Monitor& monitor) {
  const Report report = solver.solve(problem, monitor.part_settings(iterations), solution_, &start);
  factor_flops_ = std::max(factor_flops_, report.factor_flops);
  return monitor.take_over(solver.name(), report, solution_);
}

// The central path does not mind mass ratios or height where contacts slide, which is where Newton needs many
// steps.
bool Auto::prefers_interior_point(const ContactProblem& problem, const Vector& impulse) const {
  double smallest = std::numeric_limits<double>::infinity(), largest = 0.0;
  Index sliding = 0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    smallest = std::min(smallest, problem.scale(i));
    largest = std::max(largest, problem.scale(i));
    if (problem.kind(i) != ConstraintKind::contact) continue;
    const Vec3 r = impulse.segment<3>(problem.row(i));
    if (r[2] > 0.0 && r.head<2>().norm() >= 0.999 * problem.friction(i) * r[2]) ++sliding;
  }
  const bool tall = problem.constraint_count() > kTall && !is_dear(problem);
  return (tall || largest > kWideSpread * smallest) &&
         static_cast<double>(sliding) > kSlidingShare * static_cast<double>(problem.contact_count());
}

}  // namespace

std::unique_ptr<Solver> make_auto() { return std::make_unique<Auto>(); }

}  // namespace tribo
