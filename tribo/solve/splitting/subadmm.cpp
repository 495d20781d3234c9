// Subsystem-based ADMM: Lee et al. (2024), section VI and Alg. 2, for every set kind, both laws, rigid and
// compliant; and its ablations, which differ only in how the constraints are split (solve/splitting/split_terms.h).
//
// Every constraint i has one slack per body it touches, |Z_i| of them (31), with the penalty B_i. Because all
// multipliers of a constraint agree after the first update, (39), the slacks need not be stored, and the
// whole state is the velocity v and the impulses lambda. One iteration:
//
//   u      = J v + e                                                 per constraint
//   lambda'= T((p lambda - u) / (R + p)),   p = |Z_i| / B_i          (36)-(38), solve/law/proximal_law.h
//   v     <- v + H^-1 (b - A v + J^T (2 lambda' - lambda))           (34), per tree, solve/splitting/split_dynamics.h
//   lambda <- lambda'                                                then Anderson extrapolation of (v, lambda)
//
// The fixed points solve the problem whatever B is, so B may change at any time. `scaling=contact`:
// B_i = beta / w_i, w_i the constraint's own scale, which makes beta dimensionless. `scaling=uniform`: one B
// for all, started at the geometric mean of the pseudo-densities (mass / constraints on it), as in the paper.
// Penalty rule (43): beta *= sqrt(theta_p / theta_d) when they differ by more than `threshold`, with both
// residuals (42) taken as roots of energies, theta_p in the norm of 1 / w_i and theta_d in that of A^-1, so
// that their ratio has no unit.
//
// Cost per iteration and memory: linear in bodies and contacts. Trees and constraints run in parallel; every
// sum has a fixed order, so that any number of threads gives the same bits.
#include "tribo/solve/splitting/subadmm.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tribo/base/workers.h"
#include "tribo/math/anderson.h"
#include "tribo/problem/natural_map.h"
#include "tribo/solve/driver/monitor.h"
#include "tribo/solve/driver/scoped_interrupt.h"
#include "tribo/solve/law/proximal_law.h"
#include "tribo/solve/splitting/split_dynamics.h"
#include "tribo/solve/splitting/split_terms.h"

namespace tribo {
namespace {

using Scaling = SubAdmmOptions::Scaling;

constexpr double kLowestPenalty = 1e-8, kHighestPenalty = 1e8;  // relative to 1 / w_i
// Impulses beyond this multiple of the natural scale do not come from a solvable problem.
constexpr double kDivergence = 1e12;
constexpr Index kStallIterations = 20000;  // without a better iterate
constexpr Index kCheckInterval = 20;       // iterations between two looks at the residual
// Anderson: iterations of an accelerated window, what counts as headway, longest plain window.
constexpr Index kWindow = 100;
constexpr double kAndersonGain = 0.5;
constexpr Index kLongestWindow = 3200;

// Long vectors are worked on in chunks of fixed length: sums then do not depend on the threads.
constexpr Index kChunk = 1024;

struct Chunk {
  Index first, size;
};

Index chunks_of(const Vector& x) { return (static_cast<Index>(x.size()) + kChunk - 1) / kChunk; }
Chunk chunk_of(const Vector& x, Index c) {
  return {c * kChunk, std::min(kChunk, static_cast<Index>(x.size()) - c * kChunk)};
}

class SubAdmm final : public Solver {
 public:
  SubAdmm(std::string_view name, Splitting splitting, const SubAdmmOptions& options)
      : name_(name), splitting_(splitting), options_(options) {}
  std::string_view name() const override { return name_; }
  std::unique_ptr<Solver> clone() const override {
    return std::make_unique<SubAdmm>(name_, splitting_, options_);
  }
  SolverTraits traits() const override { return {.uses_masses = true}; }
  std::vector<Option> options() override { return describe(options_); }
  Status iterate(const ContactProblem& problem, Monitor& monitor) override;

 private:
  Status run(const ContactProblem& problem, Monitor& monitor);
  void prepare(const ContactProblem& problem, const Settings& settings);
  bool factorize(const ContactProblem& problem, Monitor& monitor);
  void start(const ContactProblem& problem, const Vector& impulse);
  void evaluate(const ContactProblem& problem, Law law);
  double pack();
  double advance(const ContactProblem& problem);
  void choose_mode(double length);
  void unpack(const ContactProblem& problem);
  bool update_penalty(const ContactProblem& problem);
  bool must_check(Index iteration, double residual, const Monitor& monitor) const;

  std::string_view name_;
  Splitting splitting_;

  SubAdmmOptions options_;

  std::unique_ptr<Workers> workers_;
  SplitTerms terms_;
  SplitDynamics dynamics_;
  ProximalLaw law_;
  AndersonAccelerator anderson_;
  Vector v_, change_, dof_root_;                       // [dofs]; roots of the diagonal of A
  Vector extended_;                                    // V, see SplitTerms
  Vector lambda_, next_, s_, u_, penalty_, row_root_;  // [rows]; sqrt(w_i)
  Vector skew_, skew_rows_, skew_dofs_;                // unsymmetric W only
  std::vector<double> partial_;                        // sums of every chunk
  Vector x_, image_, plain_;                           // Anderson: roots of energies, (v, lambda)
  double beta_ = 1.0;
  double error_per_residual_ = 0.0;
  Index since_update_ = 0;
  bool plainly_ = false;                         // no extrapolation at present
  Index window_ = 0, plain_window_ = 0;          // iterations in the present window; length of a plain one
  double window_best_ = 0.0, stage_best_ = 0.0;  // shortest steps
};

void SubAdmm::prepare(const ContactProblem& problem, const Settings& settings) {
  const Index threads = std::max<Index>(1, settings.threads);
  if (!workers_ || workers_->count() != threads) workers_ = std::make_unique<Workers>(threads);
  terms_.prepare(problem, splitting_);
  dynamics_.prepare(problem, terms_, *workers_);
  const Index rows = problem.row_count(), dofs = problem.dof_count();
  for (Vector* x : {&lambda_, &next_, &s_, &u_, &penalty_, &row_root_}) x->resize(rows);
  for (Vector* x : {&v_, &change_, &dof_root_}) x->resize(dofs);
  extended_.resize(terms_.extended_size());
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const double w = problem.scale(i);
    row_root_.segment(problem.row(i), problem.rows(i)).setConstant(std::sqrt(w));
  }
  for (Index tree = 0; tree < problem.tree_count(); ++tree) {
    dof_root_.segment(problem.mass().block_start(tree), problem.mass().block_size(tree)) =
        problem.mass().block(tree).diagonal().cwiseSqrt();
  }
  if (options_.anderson > 0) {
    for (Vector* x : {&x_, &image_, &plain_}) x->resize(dofs + rows);
    anderson_.reset(dofs + rows, options_.anderson);
    anderson_.set_workers(workers_.get());
  }
  beta_ = options_.beta * (options_.scaling == Scaling::uniform ? terms_.pseudo_density(problem) : 1.0);
  since_update_ = 0;
  error_per_residual_ = 0.0;
  plainly_ = false;
  window_ = 0;
  plain_window_ = kWindow;
  window_best_ = stage_best_ = std::numeric_limits<double>::infinity();
}

bool SubAdmm::factorize(const ContactProblem& problem, Monitor& monitor) {
  law_.prepare_each(problem, [&](Index i) {
    const double b = options_.scaling == Scaling::contact ? beta_ / problem.scale(i) : beta_;
    return static_cast<double>(terms_.slack_count(i)) / b;
  });
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    for (Index r = problem.row(i); r < problem.row(i) + problem.rows(i); ++r) {
      penalty_[r] = static_cast<double>(terms_.slack_count(i)) / law_.proximal(r);
    }
  }
  if (!monitor.may_factorize()) return false;
  monitor.count_factorization();
  return dynamics_.factorize(problem, terms_, penalty_, *workers_);
}

void SubAdmm::start(const ContactProblem& problem, const Vector& impulse) {
  lambda_ = impulse;
  problem.generalized_velocity_of(impulse, v_);
  if (options_.anderson > 0) {
    x_.head(v_.size()) = v_.cwiseProduct(dof_root_);
    x_.tail(lambda_.size()) = lambda_.cwiseProduct(row_root_);
  }
  for (Index tree = 0; tree < problem.tree_count(); ++tree) {
    dynamics_.extend(problem, terms_, tree, v_.data() + problem.mass().block_start(tree),
                     extended_.data() + terms_.extended_start(tree));
  }
}

// From (v, lambda): next_ = lambda', change_ = the step of v.
void SubAdmm::evaluate(const ContactProblem& problem, Law law) {
  const bool skewed = !problem.is_symmetric();
  if (skewed) {  // the part of W that J and A do not know acts on the last impulses
    problem.velocity_of(lambda_, skew_dofs_, skew_rows_);
    problem.skew_velocity_of(lambda_, skew_rows_, skew_dofs_, skew_);
  }
  const Index count = problem.constraint_count();
  workers_->run(
      count,
      [&](Index i, Index) {
        const Index row = problem.row(i), rows = problem.rows(i);
        terms_.velocity_of(problem, i, extended_, u_);
        if (skewed) u_.segment(row, rows) += skew_.segment(row, rows);
        law_.impulse_of(problem, law, i, u_, lambda_, next_);
        s_.segment(row, rows) = 2.0 * next_.segment(row, rows) - lambda_.segment(row, rows);
        dynamics_.push(problem, terms_, i, s_);
      },
      workers_->share(count));
  dynamics_.step(problem, terms_, v_, change_, *workers_);
}

// (v, lambda) from x_ or, without acceleration, by the plain step; and V.
void SubAdmm::unpack(const ContactProblem& problem) {
  const Index trees = problem.tree_count();
  const bool scaled = options_.anderson > 0;
  workers_->run(
      trees + chunks_of(lambda_),
      [&](Index item, Index) {
        if (item >= trees) {
          const auto [row, n] = chunk_of(lambda_, item - trees);
          if (scaled) {
            lambda_.segment(row, n) = x_.segment(v_.size() + row, n).cwiseQuotient(row_root_.segment(row, n));
          } else {
            lambda_.segment(row, n) = next_.segment(row, n);
          }
          return;
        }
        const Index dof = problem.mass().block_start(item), n = problem.mass().block_size(item);
        if (scaled) {
          v_.segment(dof, n) = x_.segment(dof, n).cwiseQuotient(dof_root_.segment(dof, n));
        } else {
          v_.segment(dof, n) += change_.segment(dof, n);
        }
        dynamics_.extend(problem, terms_, item, v_.data() + dof,
                         extended_.data() + terms_.extended_start(item));
      },
      workers_->share(trees));
}

// The image of the state into image_ (acceleration only); returns the length of the plain step as the root of
// an energy.
double SubAdmm::pack() {
  const Index dof_chunks = chunks_of(v_), count = dof_chunks + chunks_of(lambda_);
  const bool scaled = options_.anderson > 0;
  partial_.resize(count);
  workers_->run(count, [&](Index item, Index) {
    double sum = 0.0;
    if (item < dof_chunks) {
      const auto [first, n] = chunk_of(v_, item);
      for (Index d = first; d < first + n; ++d) {
        const double step = change_[d] * dof_root_[d];
        if (scaled) image_[d] = v_[d] * dof_root_[d] + step;
        sum += step * step;
      }
    } else {
      const auto [first, n] = chunk_of(lambda_, item - dof_chunks);
      for (Index r = first; r < first + n; ++r) {
        const double step = (next_[r] - lambda_[r]) * row_root_[r];
        if (scaled) image_[v_.size() + r] = next_[r] * row_root_[r];
        sum += step * step;
      }
    }
    partial_[item] = sum;
  });
  double squared = 0.0;
  for (Index item = 0; item < count; ++item) squared += partial_[item];
  return std::sqrt(squared);
}

// The next state; returns the length of the plain step.
double SubAdmm::advance(const ContactProblem& problem) {
  const double length = pack();
  if (options_.anderson > 0) {
    if (plainly_) {
      x_.swap(image_);
    } else if (!anderson_.accept(length)) {
      x_ = plain_;
    } else {
      plain_.swap(image_);
      anderson_.extrapolate(x_, plain_, x_);
    }
  }
  unpack(problem);
  return length;
}

// Where contacts change between stick and slip the extrapolation may go round in circles that the plain
// iteration leaves. Accelerated windows that bring no headway are followed by plain ones, each time longer.
void SubAdmm::choose_mode(double length) {
  if (options_.anderson == 0) return;
  window_best_ = std::min(window_best_, length);
  if (++window_ < (plainly_ ? plain_window_ : kWindow)) return;
  const bool headway = window_best_ <= kAndersonGain * stage_best_;
  stage_best_ = std::min(stage_best_, window_best_);
  window_best_ = std::numeric_limits<double>::infinity();
  window_ = 0;
  if (plainly_) {
    plainly_ = false;
    anderson_.clear();
  } else if (!headway) {
    plainly_ = true;
    plain_window_ = std::min(2 * plain_window_, kLongestWindow);
  }
}

// (43); the state needs no change.
bool SubAdmm::update_penalty(const ContactProblem& problem) {
  if (options_.interval == 0 || ++since_update_ < options_.interval) return false;
  since_update_ = 0;
  double squared = 0.0;
  for (Index r = 0; r < lambda_.size(); ++r) {
    const double gap = (next_[r] - lambda_[r]) / (penalty_[r] * row_root_[r]);
    squared += gap * gap;
  }
  const double primal = std::sqrt(squared);
  const double dual = dynamics_.momentum_residual(problem, terms_, v_, next_, *workers_);
  if (!(primal > options_.threshold * dual || dual > options_.threshold * primal)) return false;
  const double factor = std::sqrt(primal / std::max(dual, 1e-300));
  const double beta = std::clamp(beta_ * std::clamp(factor, 1e-2, 1e2), kLowestPenalty, kHighestPenalty);
  if (beta == beta_) return false;
  beta_ = beta;
  return true;
}

Status SubAdmm::iterate(const ContactProblem& problem, Monitor& monitor) {
  const ScopedInterrupt limit(monitor, dynamics_);
  return run(problem, monitor);
}

Status SubAdmm::run(const ContactProblem& problem, Monitor& monitor) {
  const Settings& settings = monitor.settings();
  prepare(problem, settings);
  if (!factorize(problem, monitor)) return monitor.give_up(0);
  start(problem, monitor.start());
  double best = monitor.best_error();
  Index best_iteration = 0;
  for (Index k = 1; k <= monitor.iterations_left(); ++k) {
    evaluate(problem, settings.law);
    const bool changed = update_penalty(problem);
    const double residual = advance(problem);
    if (!std::isfinite(residual)) return Status::no_solution_suspected;
    if (monitor.out_of_time(k)) return Status::time_limit;
    if (must_check(k, residual, monitor) || k == monitor.iterations_left()) {
      if (monitor.check(k, next_, beta_)) return Status::converged;
      error_per_residual_ = residual > 0.0 ? monitor.last_error() / residual : 0.0;
      if (monitor.best_error() < 0.99 * best) {
        best = monitor.best_error();
        best_iteration = k;
      }
      if (k - best_iteration > kStallIterations) return Status::stalled;
      if (impulse_sizes(problem, next_).largest > kDivergence * problem.largest_demand())
        return Status::no_solution_suspected;
    }
    choose_mode(residual);
    if (changed) {
      if (!factorize(problem, monitor)) return monitor.give_up(k);
      anderson_.clear();
    }
  }
  return Status::iteration_limit;
}

// The full error costs as much as an iteration: look when the residual, by what was learned, says so.
bool SubAdmm::must_check(Index iteration, double residual, const Monitor& monitor) const {
  if (iteration == 5 || iteration % kCheckInterval == 0) return true;
  return error_per_residual_ > 0.0 && residual * error_per_residual_ <= 1.5 * monitor.tolerance();
}

}  // namespace

std::vector<Option> describe(SubAdmmOptions& o) {
  return {
      choice_option("scaling", "penalties: one per contact, beta / w_i, or the same for all", o.scaling,
                    {{0, "contact"}, {1, "uniform"}}),
      real_option("beta", "initial penalty; scaling=uniform: in units of the pseudo-density", "1", o.beta,
                  1e-6, 1e6),
      integer_option("interval", "iterations between penalty updates, 0 = never", o.interval, 0, 1000000),
      real_option("threshold", "ratio of the residuals that triggers an update", "1", o.threshold, 1.0, 1e6),
      integer_option("anderson", "memory of the Anderson acceleration, 0 = off", o.anderson, 0, 30),
  };
}

std::unique_ptr<Solver> make_subadmm(const SubAdmmOptions& options) {
  return std::make_unique<SubAdmm>("subadmm", Splitting::body, options);
}
std::unique_ptr<Solver> make_subadmm_nobody(const SubAdmmOptions& options) {
  return std::make_unique<SubAdmm>("subadmm-nobody", Splitting::tree, options);
}
std::unique_ptr<Solver> make_admm_full(const SubAdmmOptions& options) {
  return std::make_unique<SubAdmm>("admm-full", Splitting::none, options);
}

}  // namespace tribo
