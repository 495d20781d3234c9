// tribo_bench: tribo's own numbers, in process, as CSV on standard output.
//
//   tribo_bench towers   [--solver SPEC]... [--tolerance T]... [--both] [--repeat N] TOWER...
//       build + cold solve to a scaled error
//   tribo_bench problems [--solver SPEC]... [--tolerance T]... [--scaled] [--both] [--time-cap S] FILE...
//       cold solve to a siconos error; --scaled: to a scaled error
//   --both: to a scaled error of 1e-6 and a siconos error of 1e-8 at once, after the tolerances given
//   tribo_bench pile SPHERES FOLDER
//       one size of the scaling curve: file, load, sweep, certify, memory
//   tribo_bench describe TOWER
//       q and W x of a tower, for peers to prove that they solve the same problem
//   tribo_bench certify TOWER
//       certificates of impulse vectors on standard input, one vector per line
//
// Cold means a new solver object, so every allocation and the symbolic analysis are inside the measured time.
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "measure.h"
#include "studies/tower.h"
#include "tribo/formats/problem_file.h"
#include "tribo/solve/catalogue.h"

namespace {

using namespace tribo;
using namespace tribo::bench;

// A solve that does not look at the clock often is ended by its own time limit (wall clock, generous on a busy
// machine).
constexpr double kWallPerCpu = 50.0;

struct Arguments {
  std::vector<std::string> solvers, inputs;
  std::vector<double> tolerances;
  double time_cap = 5.0;     // s of CPU time per solve
  double budget_ms = 100.0;  // repetitions stop here
  int repeat = 5;
  bool both = false, scaled = false;
};

void use_defaults(Arguments& arguments) {
  if (arguments.solvers.empty()) {
    for (const SolverInfo& info : main_solvers()) {
      if (info.make()->supports(Law::exact)) arguments.solvers.emplace_back(info.name);
    }
  }
}

Row describe(const std::string& name, const ContactProblem& problem, const std::string& solver) {
  Row row;
  row.problem = name;
  row.contacts = problem.contact_count();
  row.rows = problem.row_count();
  row.dofs = problem.dof_count();
  row.family = "tribo";
  row.method = solver.substr(0, solver.find(':'));
  row.variant = solver.find(':') == std::string::npos ? "default" : solver.substr(solver.find(':') + 1);
  return row;
}

struct Target {
  Measure measure;
  double tolerance;
};

// A solver stops on one measure. Who needs both asks for the loosest of these whose result meets both; the
// peers climb such a ladder too.
constexpr Target kBothLadder[] = {{Measure::siconos, 1e-8},  {Measure::scaled, 1e-6},
                                  {Measure::siconos, 1e-9},  {Measure::scaled, 1e-7},
                                  {Measure::siconos, 1e-10}, {Measure::scaled, 1e-8}};

// Cold solves from zero; fills everything of the row that concerns the solver. The cap is CPU time, as for
// the peers; reading that clock costs as much as a small iteration, so it is read once per millisecond only.
void measure_solves(const ContactProblem& problem, const std::string& spec, const Target& target,
                    const Arguments& arguments, Row& row) {
  constexpr double kReadingInterval = 1e-3;  // s
  double begin = 0.0, last_reading = 0.0;
  Settings settings;
  settings.measure = target.measure;
  settings.tolerance = target.tolerance;
  settings.max_iterations = std::numeric_limits<Index>::max();
  settings.on_progress = [&](const Progress& progress) {
    if (progress.seconds - last_reading < kReadingInterval) return true;
    last_reading = progress.seconds;
    return cpu_ms() - begin < 1e3 * arguments.time_cap;
  };
  settings.time_limit = kWallPerCpu * arguments.time_cap;
  std::vector<double> times;
  int wanted = 1;
  for (int run = 0; run < wanted; ++run) {
    Solution solution;
    const std::unique_ptr<Solver> solver = make_solver(spec);  // allocates nothing yet
    begin = cpu_ms();
    last_reading = 0.0;
    const Report report = solver->solve(problem, settings, solution);
    const double elapsed = cpu_ms() - begin;
    if (run == 0) {
      if (elapsed < 100.0 * arguments.time_cap) {  // it will not need the cap: no watching in the timed runs
        settings.on_progress = nullptr;
        settings.time_limit = std::numeric_limits<double>::infinity();
      }
      // A run that met the cap has no time worth repeating.
      const bool capped = report.status == Status::cancelled || report.status == Status::time_limit;
      const int most = elapsed > 1000.0 ? 2 : arguments.repeat + 1;
      wanted = capped ? 1 : repetitions(elapsed, most, arguments.budget_ms);
      row.status = report.status == Status::cancelled ? "time limit" : to_string(report.status);
      row.iterations = report.iterations;
      row.factorizations = report.factorizations;
      Solution impulses;
      impulses.impulse = solution.impulse;
      row.certificate = certify(problem, impulses, settings.law);
      row.certified = true;
      const double error = value_of(row.certificate, target.measure);
      if (report.status == Status::converged && !(error <= target.tolerance * kMargin)) {
        row.status = "false success";
      }
    }
    if (row.status == "false success" || (row.measure == "both" && !solved(row))) break;
    if (run > 0 || wanted <= 2) times.push_back(elapsed);  // the first run warms up caches and the heap
  }
  row.solve = spread_of(times);
}

// The rows of one problem and solver: one per tolerance on `measure`, one more with --both.
void print_rows(const ContactProblem& problem, const std::string& solver, Measure measure,
                const Arguments& arguments, const Row& head) {
  for (const double tolerance : arguments.tolerances) {
    Row row = head;
    row.measure = to_string(measure);
    row.tolerance = tolerance;
    measure_solves(problem, solver, {measure, tolerance}, arguments, row);
    print_row(row);
  }
  if (!arguments.both) return;
  Row row = head;
  row.measure = "both";
  row.tolerance = kBothSiconos;
  for (const Target& target : kBothLadder) {
    measure_solves(problem, solver, target, arguments, row);
    if (solved(row) || row.status != "converged") break;
  }
  print_row(row);
}

int towers(Arguments arguments) {
  use_defaults(arguments);
  print_header();
  for (const std::string& name : arguments.inputs) {
    const GeneratorSettings scene = tower_settings(name);
    const ContactProblem problem = generate("tower", scene);
    std::vector<double> builds;
    for (int run = 0; run < 4 * arguments.repeat; ++run) {
      const double begin = cpu_ms();
      const ContactProblem again = generate("tower", scene);
      builds.push_back(cpu_ms() - begin);
    }
    for (const std::string& solver : arguments.solvers) {
      Row head = describe(name, problem, solver);
      head.build = spread_of(builds);
      print_rows(problem, solver, Measure::scaled, arguments, head);
    }
  }
  return 0;
}

int problems(Arguments arguments) {
  use_defaults(arguments);
  print_header();
  for (const std::string& file : arguments.inputs) {
    const LoadedProblem loaded = read_problem(file);
    if (loaded.space_dimension != 3) {
      std::fprintf(stderr, "%s: planar; left out\n", file.c_str());
      continue;
    }
    const std::string name = std::filesystem::path(file).stem().string();
    const Measure measure = arguments.scaled ? Measure::scaled : Measure::siconos;
    for (const std::string& solver : arguments.solvers) {
      print_rows(loaded.problem, solver, measure, arguments, describe(name, loaded.problem, solver));
    }
  }
  return 0;
}

// Resident memory of this process, MB, after giving back what the heap only keeps for later.
double resident_mb() {
  malloc_trim(0);
  std::ifstream statm("/proc/self/statm");
  long total = 0, resident = 0;
  statm >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1048576.0;
}

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

// CPU time of `sweeps` iterations of nsgs, set-up included.
double sweeps_ms(const ContactProblem& problem, Index sweeps) {
  Settings settings;
  settings.tolerance = 1e-300;
  settings.max_iterations = sweeps;
  Solution solution;
  const double begin = cpu_ms();
  make_solver("nsgs")->solve(problem, settings, solution);
  return cpu_ms() - begin;
}

// One process per size, so that memory is only this size's.
int pile(const Arguments& arguments) {
  if (arguments.inputs.size() != 2) throw InvalidInput("tribo_bench pile SPHERES FOLDER");
  constexpr Index kSweeps = 10;
  const std::filesystem::path file =
      std::filesystem::path(arguments.inputs[1]) / ("pile" + arguments.inputs[0] + ".hdf5");
  GeneratorSettings scene;
  scene.bodies = std::stoi(arguments.inputs[0]);
  if (!std::filesystem::exists(file)) {  // a second call then measures without the generator's memory
    const ContactProblem problem = generate("pile", scene);
    write_problem(file, problem);
    std::printf("%d\n", problem.contact_count());
    return 0;
  }
  const double empty_mb = resident_mb();
  double begin = cpu_ms();
  const LoadedProblem loaded = read_problem(file);
  const double load_ms = cpu_ms() - begin;
  const ContactProblem& problem = loaded.problem;
  const double problem_mb = resident_mb() - empty_mb;

  // Memory first, while the heap holds nothing to reuse.
  Settings settings;
  settings.tolerance = 1e-300;
  settings.max_iterations = kSweeps;
  Solution solution;
  const std::unique_ptr<Solver> solver = make_solver("nsgs");
  const double before_solver_mb = resident_mb();
  solver->solve(problem, settings, solution);
  const double solver_mb = std::max(0.0, resident_mb() - before_solver_mb);
  const double setup_ms = sweeps_ms(problem, 1);
  const double sweep_ms = (sweeps_ms(problem, 1 + kSweeps) - setup_ms) / kSweeps;
  begin = cpu_ms();
  const Certificate certificate = certify(problem, solution);
  const double certify_ms = cpu_ms() - begin;
  std::printf("%d,%d,%d,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.4g\n", problem.tree_count(),
              problem.contact_count(), problem.row_count(),
              static_cast<double>(std::filesystem::file_size(file)) / 1048576.0, load_ms, setup_ms, sweep_ms,
              certify_ms, problem_mb, solver_mb, peak_mb(), certificate.error.value);
  return 0;
}

int describe_tower(const Arguments& arguments) {
  const ContactProblem problem = generate("tower", tower_settings(arguments.inputs.at(0)));
  Vector x(problem.row_count()), v(problem.dof_count()), u(problem.row_count());
  for (Index i = 0; i < x.size(); ++i) x[i] = std::sin(i + 1.0);
  problem.velocity_of(x, v, u);
  const Vector& q = problem.free_velocity();
  for (Index i = 0; i < q.size(); ++i) std::printf("%.17g%c", q[i], i + 1 < q.size() ? ' ' : '\n');
  for (Index i = 0; i < q.size(); ++i) std::printf("%.17g%c", u[i] - q[i], i + 1 < q.size() ? ' ' : '\n');
  return 0;
}

int certify_tower(const Arguments& arguments) {
  const ContactProblem problem = generate("tower", tower_settings(arguments.inputs.at(0)));
  std::puts("error,siconos_error,fclib_error");
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream numbers(line);
    Solution solution;
    solution.impulse.resize(problem.row_count());
    for (Index i = 0; i < solution.impulse.size(); ++i) {
      if (!(numbers >> solution.impulse[i]))
        throw InvalidInput("tribo_bench certify: too few numbers in a line");
    }
    const Certificate c = certify(problem, solution);
    std::printf("%.6g,%.6g,%.6g\n", c.error.value, c.siconos_error, c.fclib_error);
  }
  return 0;
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&]() -> std::string {
      if (++i >= argc) throw InvalidInput("tribo_bench: " + word + " needs a value");
      return argv[i];
    };
    if (word == "--solver") {
      arguments.solvers.push_back(value());
    } else if (word == "--tolerance") {
      arguments.tolerances.push_back(std::stod(value()));
    } else if (word == "--both") {
      arguments.both = true;
    } else if (word == "--scaled") {
      arguments.scaled = true;
    } else if (word == "--time-cap") {
      arguments.time_cap = std::stod(value());
    } else if (word == "--budget") {
      arguments.budget_ms = std::stod(value());
    } else if (word == "--repeat") {
      arguments.repeat = std::stoi(value());
    } else if (word.starts_with("--")) {
      throw InvalidInput("tribo_bench: unknown option " + word);
    } else {
      arguments.inputs.push_back(word);
    }
  }
  if (arguments.tolerances.empty() && !arguments.both) arguments.tolerances.push_back(1e-6);
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string mode = argc > 1 ? argv[1] : "";
    const Arguments arguments = parse(argc, argv);
    if (mode == "towers") return towers(arguments);
    if (mode == "problems") return problems(arguments);
    if (mode == "pile") return pile(arguments);
    if (mode == "describe") return describe_tower(arguments);
    if (mode == "certify") return certify_tower(arguments);
    throw InvalidInput("tribo_bench towers | problems | pile | describe | certify");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
