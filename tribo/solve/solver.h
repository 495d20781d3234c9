// The interface of every solver: Settings in, Report out, one object = one reusable workspace.
//
// Example
//   auto solver = make_solver("admm");                       // solve/catalogue.h
//   Settings settings;                                       // tolerance 1e-6 on the scaled natural map
//   Solution solution;
//   Report report = solver->solve(problem, settings, solution);
//   if (report.status != Status::converged) ...              // solution holds the best certified iterate anyway
//
// A solver object keeps its buffers: solving a problem of the same structure again allocates nothing.
// Objects are not shared between threads; the problem is only read.
//
// To write a solver, derive from this class: name(), clone() and the loop, iterate(). solve() does the rest (the start,
// islands, limits, the best iterate, the certificate) and is the same for all; nothing has to be registered anywhere.
// docs/architecture.md walks through an example.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "tribo/problem/contact_problem.h"
#include "tribo/problem/solution.h"
#include "tribo/solve/option.h"
#include "tribo/solve/report.h"
#include "tribo/solve/settings.h"

namespace tribo {

// Projects every constraint's impulse onto its own set: any vector becomes an admissible start.
void project_impulse(const ContactProblem& problem, Vector& impulse);

class Monitor;
class SolveDriver;

// What callers must know of a solver before they give it a problem.
struct SolverTraits {
  bool exact_law = true, convex_law = true;  // the laws it solves; solve() refuses the other one
  // Islands of few constraints are worth solving one by one, those of a single constraint in closed form (the report
  // names them: "single constraints"). Other solvers get the small islands of a problem together.
  bool small_islands_apart = false;
  // It wants the trees' mass matrices and bodies; all others do as well, and faster, in coordinates in which A = I.
  bool uses_masses = false;
};

class Solver {
 public:
  Solver();
  virtual ~Solver();
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  virtual std::string_view name() const = 0;
  // Another solver with the same options and a workspace of its own: one for every island.
  virtual std::unique_ptr<Solver> clone() const = 0;
  virtual SolverTraits traits() const { return {}; }
  // Whether the solver can solve this law at all.
  bool supports(Law law) const { return law == Law::exact ? traits().exact_law : traits().convex_law; }
  // The solver's own parameters, bound to this object: for listing and for setting by name.
  virtual std::vector<Option> options() { return {}; }
  // Sets one option by name ("omega", "1.2"); InvalidInput lists the names or the allowed values.
  void set_option(std::string_view option_name, std::string_view value);

  // Starts from `initial_impulse` ([rows]; projected onto the sets first) or from zero. Where it ends with
  // Status::infeasible, solution.velocity and generalized_velocity are those of least violation
  // (solve/driver/least_violation.h) in the islands concerned; the impulses are the best iterate as always and do not
  // belong to them.
  Report solve(const ContactProblem& problem, const Settings& settings, Solution& solution,
               const Vector* initial_impulse = nullptr);

  // The loop of the solver: from monitor.start(), within the limits that the monitor tells, offering its iterates to
  // monitor.check(), which says when to end. Returns how it ended where the monitor did not say so itself. Called by
  // solve(), and through Monitor::run() by solvers of which this one is a stage.
  virtual Status iterate(const ContactProblem& problem, Monitor& monitor) = 0;

 private:
  std::unique_ptr<SolveDriver> driver_;
  Index option_version_ = 0;  // changes with the options, so that copies at work on islands follow
};

}  // namespace tribo
