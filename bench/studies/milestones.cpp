// tribo_bench_milestones: which solvers solve which problem files from zero at 1e-8, 1e-6 and 1e-4, and how fast.
//
//   tribo_bench_milestones [--measure siconos|scaled] [--time-cap 2] [--repeat 1] [--no-islands] [--solvers classical,auto] FILE...
//
// One CSV row per problem, solver and tolerance: how the solve ended, whether the certificate recomputed from the impulses
// confirms it, CPU ms of one cold solve. Where a solver misses a tolerance, the next looser one is tried only if the error
// reached lies below it. --repeat: the least time of so many solves, each by a new solver, where one takes less than 50 ms; the
// first in a process also pays for pages of the heap. Solvers: names, with options, or families (`tribo solvers`).
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "measure.h"
#include "tribo/base/errors.h"
#include "tribo/formats/problem_file.h"
#include "tribo/solve/catalogue.h"

namespace {

using namespace tribo;

constexpr std::array<double, 3> kTolerances = {1e-8, 1e-6, 1e-4};
// A solver that does not look at the CPU clock is ended by the wall clock, generous on a busy machine.
constexpr double kWallPerCpu = 8.0;

constexpr double kShort = 50.0;  // ms

struct Arguments {
  std::vector<std::string> solvers, files;
  Measure measure = Measure::siconos;
  double time_cap = 2.0;
  int repeat = 1;
  bool islands = true;
};

// Words may be families; a part with '=' belongs to the solver before it.
std::vector<std::string> expand(const std::string& list) {
  std::vector<std::string> solvers;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    const std::string word = list.substr(begin, comma - begin);
    begin = comma + 1;
    if (word.empty()) continue;
    if (word.find('=') != std::string::npos && word.find(':') == std::string::npos && !solvers.empty()) {
      solvers.back() += "," + word;
      continue;
    }
    bool family = false;
    for (const SolverInfo& info : solver_catalogue()) {
      const bool meant = word == "all" || word == to_string(info.family) ||
                         (word == "classical" && is_classical(info.family));
      family = family || meant;
      if (meant && info.make()->supports(Law::exact)) solvers.emplace_back(info.name);
    }
    if (!family) solvers.push_back(word);
  }
  return solvers;
}

struct Run {
  Report report;
  double error = 0.0, ms = 0.0;
};

Run run(const std::string& name, const ContactProblem& problem, const Arguments& arguments,
        double tolerance) {
  const auto solver = make_solver(name);
  Settings settings;
  settings.measure = arguments.measure;
  settings.tolerance = tolerance;
  settings.max_iterations = 100'000'000;
  settings.time_limit = kWallPerCpu * arguments.time_cap;
  settings.prove_infeasible = false;
  settings.islands = arguments.islands;
  const double begin = bench::cpu_ms(), end = begin + 1e3 * arguments.time_cap;
  // CPU time is at most wall time, and its clock costs more.
  settings.on_progress = [&](const Progress& progress) {
    return progress.seconds < arguments.time_cap || bench::cpu_ms() < end;
  };
  Solution solution;
  Run made;
  made.report = solver->solve(problem, settings, solution);
  made.ms = bench::cpu_ms() - begin;
  Solution bare;
  bare.impulse = solution.impulse;
  made.error = value_of(certify(problem, bare), arguments.measure);
  return made;
}

// The strictest first: where it is not met, tolerances below the error reached are not tried.
void measure_solver(const std::string& name, const ContactProblem& problem, const std::string& file,
                    const Arguments& arguments) {
  double reached = 0.0;
  for (const double tolerance : kTolerances) {
    if (reached > tolerance) continue;
    Run made = run(name, problem, arguments, tolerance);
    for (int k = 1; k < arguments.repeat && made.ms < kShort; ++k)
      made.ms = std::min(made.ms, run(name, problem, arguments, tolerance).ms);
    reached = made.error;
    std::printf("%s,%d,\"%s\",%.0e,%s,%d,%d,%d,%.3e,%.3f\n",
                std::filesystem::path(file).stem().string().c_str(),
                static_cast<int>(problem.contact_count()), name.c_str(), tolerance,
                std::string(to_string(made.report.status)).c_str(),
                made.error <= tolerance * bench::kMargin ? 1 : 0, static_cast<int>(made.report.iterations),
                static_cast<int>(made.report.factorizations), made.error, made.ms);
    std::fflush(stdout);
  }
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&]() -> std::string {
      if (++i >= argc) throw InvalidInput("tribo_bench_milestones: " + word + " needs a value");
      return argv[i];
    };
    if (word == "--measure") {
      const std::string name = value();
      if (name != "siconos" && name != "scaled")
        throw InvalidInput("--measure " + name + ": siconos or scaled");
      arguments.measure = name == "siconos" ? Measure::siconos : Measure::scaled;
    } else if (word == "--time-cap") {
      arguments.time_cap = std::atof(value().c_str());
    } else if (word == "--repeat") {
      arguments.repeat = std::atoi(value().c_str());
    } else if (word == "--no-islands") {
      arguments.islands = false;
    } else if (word == "--solvers") {
      arguments.solvers = expand(value());
    } else if (word.starts_with("--")) {
      throw InvalidInput("tribo_bench_milestones: unknown option " + word);
    } else {
      arguments.files.push_back(word);
    }
  }
  if (arguments.solvers.empty()) arguments.solvers = expand("auto,classical");
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments arguments = parse(argc, argv);
    std::puts("problem,contacts,solver,tolerance,status,solved,iterations,factorizations,error,ms");
    for (const std::string& file : arguments.files) {
      try {
        const LoadedProblem loaded = read_problem(file);
        for (const std::string& solver : arguments.solvers)
          measure_solver(solver, loaded.problem, file, arguments);
      } catch (const InvalidInput& error) {
        std::fprintf(stderr, "%s\n", error.what());
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return 0;
}
