// The interface of every solver: Settings in, Report out, one object = one reusable workspace.
//
// Example
//   auto solver = make_solver("admm");                       // solve/catalogue.h
//   Settings settings;                                       // tolerance 1e-6 on the scaled natural map
//   Solution solution;
//   Report report = solver->solve(problem, settings, solution);
//   if (report.status != Status::converged) ...              // solution holds the best certified iterate
//   anyway
//
// A solver object keeps its buffers: solving a problem of the same structure again allocates nothing.
// Objects are not shared between threads; the problem is only read.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tribo/problem/certificate.h"
#include "tribo/problem/contact_problem.h"
#include "tribo/problem/infeasibility.h"
#include "tribo/problem/solution.h"
#include "tribo/solve/option.h"

namespace tribo {

enum class Status : std::uint8_t {
  converged,              // the certificate is below the tolerance
  iteration_limit,        // best iterate returned
  time_limit,             // best iterate returned
  stalled,                // no further progress possible (rounding, cycling); best iterate returned
  infeasible,             // proved: no velocity meets all constraints; see Report::contradictions
  no_solution_suspected,  // impulses grow without bound, but no such proof was found
  cancelled,              // Settings::on_progress said stop
  regularized,            // solved with compliance supplied by the solver (sap on a rigid problem); the
                          // certificate of the raw problem stays above the tolerance
};

std::string_view to_string(Status status);

struct Progress {
  Index iteration = 0;
  double error = 0.0;    // the chosen measure
  double seconds = 0.0;  // wall clock since the start of solve()
  double penalty = 0.0;  // solver's own parameter (ADMM: rho), 0 where there is none
};

struct Settings {
  double tolerance = 1e-6;  // on `measure`; nominal 1e-12 .. 1e-2
  // A given start is returned as it is only below this (and the tolerance). Less than the tolerance where the answer is
  // the next problem's start: errors left in one step have to be worked off in the next.
  double start_tolerance = std::numeric_limits<double>::infinity();
  Measure measure = Measure::scaled;
  Law law = Law::exact;
  Index max_iterations = 20000;                                 // >= 0
  double time_limit = std::numeric_limits<double>::infinity();  // s, wall clock
  bool history = false;                                         // record every checked iterate in the Report
  std::function<bool(const Progress&)> on_progress;  // called at every check; return false to cancel
  Index threads = 1;                                 // >= 1; the result has the same bits for any number
  bool islands = true;   // solve the connected components of the contact graph one by one
  bool explain = false;  // record the stages of the solve in the Report
  // Look for a proof that there is no solution where none is found (Status::infeasible); some ten factorisations.
  bool prove_infeasible = true;
  // Report::certificate with all its entries; without, `measure` alone may be filled, the others are NaN, and solve()
  // does not read the clock (Report::seconds is 0) unless something else asks for times: for callers that solve a
  // hundred thousand small problems per second.
  bool full_certificate = true;
};

// What one part of a solve cost, for Settings::explain.
struct Stage {
  std::string_view name;  // "tiny islands", "alnewton", ...
  Index islands = 0;      // islands that went through it
  Index contacts = 0;     // constraints in them
  Index iterations = 0;
  Index factorizations = 0;
  double seconds = 0.0;  // summed over the islands
  double error = 0.0;    // worst error after it, the chosen measure of the island
};

struct Report {
  std::string_view solver;
  Status status = Status::iteration_limit;
  Index iterations = 0;
  Index factorizations = 0;
  double factor_flops = 0.0;  // multiply-adds of the costliest one, 0 where not known
  double seconds = 0.0;       // wall clock, certification included
  Certificate certificate;
  // Of the impulses it started from, chosen measure; infinite where islands were solved one by one.
  double start_error = std::numeric_limits<double>::infinity();
  std::vector<Progress> history;
  Index islands = 1;            // connected components of the contact graph, 1 when not split
  Index regularized_count = 0;  // constraints that were given compliance (Status::regularized)
  std::vector<Stage> stages;    // with Settings::explain
  // Status::infeasible: the proofs, one per island that has no solution; their rays and constraints are those of the
  // whole problem.
  std::vector<Contradiction> contradictions;
};

// Projects every constraint's impulse onto its own set: any vector becomes an admissible start.
void project_impulse(const ContactProblem& problem, Vector& impulse);

class Monitor;
class IslandDriver;
class LeastViolation;

class Solver {
 public:
  Solver();
  virtual ~Solver();

  virtual std::string_view name() const = 0;
  // The solver's own parameters, bound to this object: for listing and for setting by name.
  virtual std::vector<Option> options() { return {}; }
  // Whether the solver can solve this law at all; solve() refuses the other one.
  virtual bool supports(Law) const { return true; }
  // Whether tiny islands of a larger problem may take the direct path of `auto`: solvers whose factorisation
  // has to be set up say yes. Baselines and ablations stay themselves everywhere.
  virtual bool leaves_tiny_islands() const { return false; }
  // Sets one option by name ("omega", "1.2"); InvalidInput lists the names or the allowed values.
  void set_option(std::string_view option_name, std::string_view value);

  // Starts from `initial_impulse` ([rows]; projected onto the sets first) or from zero. Where it ends with
  // Status::infeasible, solution.velocity and generalized_velocity are those of least violation
  // (solve/driver/least_violation.h) in the islands concerned; the impulses are the best iterate as always and do not
  // belong to them.
  Report solve(const ContactProblem& problem, const Settings& settings, Solution& solution,
               const Vector* initial_impulse = nullptr);

 protected:
  // The loop of the solver. Starts from monitor.start(), reports iterates through monitor.check(), which
  // tells when to stop. Returns how it ended when monitor did not say so itself.
  virtual Status iterate(const ContactProblem& problem, Monitor& monitor) = 0;
  // The loop of another solver, up to `iterations` from the best iterate so far, its iterates offered to the caller's monitor: a stage
  // without a solve() of its own, whose checks and certificate cost as much as a small problem. monitor.start() is
  // that iterate afterwards. Returns whether the monitor said to end.
  static bool iterate_as(Solver& part, Index iterations, const ContactProblem& problem, Monitor& monitor);

 private:
  using Clock = std::chrono::steady_clock;
  Status solve_whole(const ContactProblem& problem, const Settings& settings, Clock::time_point begin,
                     Report& report);
  Status solve_parts(const ContactProblem& problem, const Settings& settings, Clock::time_point begin,
                     Report& report, bool& divided);
  void take_least_violation(const ContactProblem& problem, bool divided, Solution& solution) const;

  Certifier certifier_;
  Vector start_, best_, scratch_v_, scratch_u_;
  std::unique_ptr<IslandDriver> driver_;
  std::unique_ptr<LeastViolation> least_violation_;
  bool vetted_ = false;  // see Monitor::vetted_
  double vetted_error_ = 0.0;
  Index option_version_ = 0;  // changes with the options, so that copies at work on islands follow
  friend class Monitor;
};

}  // namespace tribo
