// Primal-dual interior point for every set kind, both laws, rigid and compliant.
//
//   1. central path (solve/ipm_path.h) from a cold or warm start until the error falls below `switch` or the
//      path makes no headway;
//   2. polish (solve/polish.h) from the best iterate: the path ends at about 1e-7 where strict
//      complementarity fails (a contact that sticks on the edge of its cone), Newton on the law itself does
//      not notice;
//   3. where the path folds (the exact law is not monotone) proximal sub-problems, alpha >= 4e-4 scaled, each
//      with its own path, then the polish again.
//
// Cost: 8 to 30 iterations, one factorisation and two to four solves each, nearly independent of size, mass
// ratios and sliding. The reduced system has the sparsity of the bodies: a tower costs in proportion to its
// height.
#include "tribo/solve/ipm.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "tribo/solve/ipm_path.h"
#include "tribo/solve/polish.h"

namespace tribo {
namespace {

constexpr double kFirstProximal = 1e-2;
constexpr double kLastProximal = 4e-4;
constexpr double kProximalFactor = 0.2;
constexpr double kProximalTarget = 1e-8;

class Ipm final : public Solver {
 public:
  std::string_view name() const override { return "ipm"; }
  std::vector<Option> options() override;

 protected:
  Status iterate(const ContactProblem& problem, Monitor& monitor) override;

 private:
  Status run(const ContactProblem& problem, Monitor& monitor);
  bool polish(const ContactProblem& problem, Monitor& monitor, Index factorizations, double alpha);

  IpmOptions path_options_;
  double switch_ = 1e-7;
  bool polishes_ = true;
  Index polish_steps_ = 25;
  Index proximal_rounds_ = 40;

  IpmPath path_;
  Polish polish_;
  Vector anchor_;
  Index iteration_ = 0;
};

std::vector<Option> Ipm::options() {
  return {
      choice_option("system", "linear system: degrees of freedom, constraint rows, or by size",
                    path_options_.system, {{0, "automatic"}, {1, "dofs"}, {2, "rows"}}),
      choice_option("start", "cold start: all pairs at one, Mangoni (4.23), Mangoni (4.57)",
                    path_options_.start, {{0, "centre"}, {1, "clamped"}, {2, "shifted"}}),
      choice_option("warm",
                    "what is taken from a given impulse: impulses and velocities, velocities, nothing",
                    path_options_.warm, {{0, "full"}, {1, "partial"}, {2, "none"}}),
      real_option("warm_margin", "how far inside its cone a warm start is pushed, dimensionless",
                  path_options_.warm_margin, 1e-8, 10.0),
      real_option("step_back", "fraction of the way to the boundary of the cones", path_options_.step_back,
                  0.5, 0.9999),
      flag_option("equal_steps", "one step length for impulses and velocities (always so with friction)",
                  path_options_.equal_steps),
      integer_option("refinements", "corrections of every linear solve", path_options_.refinements, 0, 10),
      integer_option("patience", "iterations without headway before the path is left", path_options_.patience,
                     2, 1000),
      real_option("switch", "error at which the polish takes over", switch_, 0.0, 1.0),
      flag_option("polish", "finish with a regularised Newton method on the law itself", polishes_),
      integer_option("polish_steps", "factorisations of one polish", polish_steps_, 1, 10000),
      integer_option("proximal_rounds", "proximal sub-problems tried when the path is lost", proximal_rounds_,
                     0, 10000),
  };
}

// True when the monitor has stopped.
bool Ipm::polish(const ContactProblem& problem, Monitor& monitor, Index factorizations, double alpha) {
  if (!polishes_) return false;
  return polish_.run(problem, monitor, path_.system(), path_.blocks(), monitor.best(), alpha, factorizations,
                     iteration_) == Polish::End::stopped;
}

Status Ipm::run(const ContactProblem& problem, Monitor& monitor) {
  const Index last = monitor.settings().max_iterations;
  iteration_ = 0;
  path_.prepare(problem, monitor.settings().law, path_options_);
  polish_.prepare(problem, monitor.settings().law);
  const bool warm = path_options_.warm != IpmWarm::none && !monitor.start().isZero(0.0);
  if (warm) {
    path_.start_warm(problem, path_options_, monitor.start());
  } else {
    path_.start_cold(problem, path_options_, monitor);
  }
  IpmPath::End end = path_.run(problem, path_options_, monitor, switch_, iteration_, last);
  if (end == IpmPath::End::stopped) return Status::converged;
  const double alpha = std::min(1e-2, monitor.best_error());
  if (polish(problem, monitor, polish_steps_, alpha)) return Status::converged;
  return iteration_ >= last ? Status::iteration_limit : Status::stalled;
}

Status Ipm::iterate(const ContactProblem& problem, Monitor& monitor) {
  const std::function<bool()> interrupt = [&monitor] { return monitor.out_of_time(0); };
  if (std::isfinite(monitor.settings().time_limit)) path_.system().set_interrupt(&interrupt);
  const Status status = run(problem, monitor);
  path_.system().set_interrupt(nullptr);
  return status;
}

}  // namespace

std::unique_ptr<Solver> make_ipm() { return std::make_unique<Ipm>(); }

}  // namespace tribo
