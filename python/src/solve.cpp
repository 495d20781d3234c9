// tribo.solve, tribo.certify, tribo.solvers.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <optional>

#include "arrays.h"
#include "calls.h"
#include "module.h"
#include "report.h"
#include "settings.h"
#include "tribo/base/errors.h"
#include "tribo/problem/certificate.h"
#include "tribo/solve/catalogue.h"

namespace tribo::python {
namespace {

using namespace nb::literals;

// Solvers that wait for their next problem, with their buffers, by specification ("nsgs:omega=1.2"). A solve takes one out,
// so every thread has its own.
class SolverPool {
 public:
  std::unique_ptr<Solver> take(const std::string& specification) {
    {
      const std::lock_guard lock(mutex_);
      forget_if_forked();
      const auto found = idle_.find(specification);
      if (found != idle_.end() && !found->second.empty()) {
        std::unique_ptr<Solver> solver = std::move(found->second.back());
        found->second.pop_back();
        return solver;
      }
    }
    return make_solver(specification);
  }

  void give_back(const std::string& specification, std::unique_ptr<Solver> solver, Index rows) {
    if (rows > kMostRows) return;  // their buffers are not worth keeping
    const std::lock_guard lock(mutex_);
    if (idle_.size() >= kMostSpecifications) idle_.clear();
    std::vector<std::unique_ptr<Solver>>& waiting = idle_[specification];
    if (waiting.size() < kMostWaiting) waiting.push_back(std::move(solver));
  }

 private:
  static constexpr Index kMostRows = 3000;  // some MB of buffers
  static constexpr std::size_t kMostSpecifications = 16, kMostWaiting = 2;

  // In a child process the threads of the parent's solvers do not exist: they must not even be destroyed.
  void forget_if_forked() {
    if (owner_ == getpid()) return;
    owner_ = getpid();
    new std::map<std::string, std::vector<std::unique_ptr<Solver>>>(std::move(idle_));
    idle_.clear();
  }

  std::mutex mutex_;
  pid_t owner_ = getpid();
  std::map<std::string, std::vector<std::unique_ptr<Solver>>> idle_;
};

// Never destroyed: at the end of the program other threads may still be at work.
SolverPool& pool() {
  static auto* const solvers = new SolverPool();
  return *solvers;
}

Settings settings_of(double tolerance, std::string_view measure, std::string_view law,
                     std::optional<double> time_limit, std::optional<Index> max_iterations, Index threads,
                     bool history, bool explain, bool islands) {
  Settings settings;
  if (!(tolerance > 0.0) || !std::isfinite(tolerance))
    throw InvalidInput(fmt::format("tolerance: expected a finite number > 0, not {}", tolerance));
  if (time_limit && !(*time_limit > 0.0))
    throw InvalidInput(fmt::format("time_limit: expected seconds > 0, not {}", *time_limit));
  if (max_iterations && *max_iterations < 0)
    throw InvalidInput(fmt::format("max_iterations: expected a count >= 0, not {}", *max_iterations));
  settings.tolerance = tolerance;
  settings.measure = measure_of(measure);
  settings.law = law_of(law);
  if (time_limit) settings.time_limit = *time_limit;
  if (max_iterations) settings.max_iterations = *max_iterations;
  settings.threads = threads_of(threads);
  settings.history = history;
  settings.explain = explain;
  settings.islands = islands;
  return settings;
}

const Vector& rows_of(const ContactProblem& problem, const Vector& impulse, const char* argument) {
  if (impulse.size() == problem.row_count()) return impulse;
  throw InvalidInput(fmt::format("{}: expected {} entries, not {}: it is the solution of another problem",
                                 argument, problem.row_count(), impulse.size()));
}

nb::tuple solve(const ContactProblem& problem, const std::string& solver_name, double tolerance,
                std::string_view measure, std::string_view law, nb::handle warm_start,
                std::optional<double> time_limit, std::optional<Index> max_iterations, Index threads,
                bool history, bool explain, nb::handle progress, bool islands) {
  Settings settings =
      settings_of(tolerance, measure, law, time_limit, max_iterations, threads, history, explain, islands);
  std::optional<Vector> start;
  if (!warm_start.is_none()) {
    const bool whole = nb::isinstance<PhysicalSolution>(warm_start);
    start = stored_impulse(
        problem, whole ? rows_of(problem, nb::cast<const PhysicalSolution&>(warm_start).impulse, "warm_start")
                       : to_vector(warm_start, "warm_start", problem.row_count()));
  }
  Interruption interruption;
  const bool asked = !progress.is_none();
  settings.on_progress = [&](const Progress& p) {
    if (interruption.requested()) return false;
    if (!asked) return true;
    return interruption.ask([&] { return !progress(p.iteration, p.error, p.seconds).is(Py_False); });
  };
  Solution solution;
  Report report;
  {
    const nb::gil_scoped_release release;
    std::unique_ptr<Solver> solver = pool().take(solver_name);
    report = solver->solve(problem, settings, solution, start ? &*start : nullptr);
    pool().give_back(solver_name, std::move(solver), problem.row_count());
  }
  interruption.rethrow();
  return nb::make_tuple(physical(problem, std::move(solution)), std::move(report));
}

Certificate certify_impulse(const ContactProblem& problem, nb::handle impulse, std::string_view law) {
  const Vector rows = nb::isinstance<PhysicalSolution>(impulse)
                          ? rows_of(problem, nb::cast<const PhysicalSolution&>(impulse).impulse, "impulse")
                          : to_vector(impulse, "impulse", problem.row_count());
  const Law chosen = law_of(law);
  const Solution solution{
      .impulse = stored_impulse(problem, rows), .velocity = {}, .generalized_velocity = {}};
  const nb::gil_scoped_release release;
  return certify(problem, solution, chosen);
}

void bind_catalogue(nb::module_& m) {
  nb::class_<SolverInfo>(m, "SolverInfo", "A solver of the catalogue.")
      .def_ro("name", &SolverInfo::name, "For tribo.solve(solver=...).")
      .def_ro("summary", &SolverInfo::summary, "What it is and when to use it.")
      .def_prop_ro(
          "family", [](const SolverInfo& info) { return to_string(info.family); },
          "\"tribo\", \"ablation\" or a family of the literature.")
      .def_prop_ro(
          "laws",
          [](const SolverInfo& info) {
            std::vector<std::string> laws;
            const std::unique_ptr<Solver> solver = info.make();
            if (solver->supports(Law::exact)) laws.emplace_back("exact");
            if (solver->supports(Law::convex)) laws.emplace_back("convex");
            return laws;
          },
          "Laws that it solves.")
      .def_prop_ro(
          "options",
          [](const SolverInfo& info) {
            nb::list table;
            const std::unique_ptr<Solver> solver = info.make();
            for (const Option& o : solver->options())
              table.append(nb::make_tuple(o.name, o.meaning, o.unit, o.allowed, o.get()));
            return table;
          },
          nb::sig("def options(self) -> list[tuple[str, str, str, str, str]]"),
          "Its options: (name, meaning, unit, allowed, default) as text.")
      .def("__repr__", [](const SolverInfo& info) {
        return fmt::format("tribo.SolverInfo({}: {})", info.name, info.summary);
      });
  m.def(
      "solvers",
      [] {
        std::vector<SolverInfo> all;
        for (const SolverInfo& info : solver_catalogue()) all.push_back(info);
        return all;
      },
      "All solvers by family, `auto` first.");
}

}  // namespace

void bind_solve(nb::module_& m) {
  bind_certificate(m);
  bind_report(m);
  bind_catalogue(m);
  m.def("solve", &solve, "problem"_a, "solver"_a, "tolerance"_a, "measure"_a, "law"_a, "warm_start"_a.none(),
        "time_limit"_a.none(), "max_iterations"_a.none(), "threads"_a, "history"_a, "explain"_a,
        "progress"_a.none(), "islands"_a,
        nb::sig(
            "def solve(problem: Problem, solver: str, tolerance: float, measure: str, law: str, warm_start: "
            "typing.Any, time_limit: float | None, max_iterations: int | None, threads: int, history: bool, "
            "explain: "
            "bool, progress: typing.Any, islands: bool) -> tuple[Solution, Report]"),
        "See tribo.solve.");
  m.def("certify", &certify_impulse, "problem"_a, "impulse"_a, "law"_a = "exact",
        nb::sig("def certify(problem: Problem, impulse: numpy.typing.ArrayLike | Solution, law: str = "
                "'exact') -> Certificate"),
        "How exact impulses are: recomputes velocities from them (rows,), N s, physical units, or a "
        "Solution's, on the raw data "
        "of the problem. `law`: \"exact\" or \"convex\".\n\nExample::\n\n    tribo.certify(problem, "
        "solution.impulse).error.value");
}

}  // namespace tribo::python
