// tribo solve: solves problem files and prints reports.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "apps/tribo/commands.h"
#include "apps/tribo/json_output.h"
#include "apps/tribo/solve_options.h"
#include "apps/tribo/text_table.h"
#include "tribo/base/errors.h"

namespace tribo::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* kOwnGuess = "guess";  // --warm-start: what is inside each file

// Where to start from, of all that a file holds: nothing is closer than a solution.
const std::optional<Vector>& best_start(const LoadedProblem& loaded) {
  return loaded.solution ? loaded.solution : loaded.guess;
}

struct SolveCommand {
  std::vector<std::string> files;
  std::string solver = "auto";
  std::vector<std::string> assignments;
  SolveOptions options{Settings{}.time_limit, Settings{}.max_iterations};
  std::string warm_start, history, solution;
  bool explain = false;
  bool json = false;
  bool quiet = false;

  ExitCode run() const;

 private:
  void check_outputs() const;
  std::unique_ptr<Solver> make() const;
  std::optional<Vector> initial_impulse(const LoadedProblem& loaded, const FileOrder& order) const;
  ExitCode solve_file(const std::string& file, Solver& solver, const Settings& settings) const;
};

std::string certificate_text(const Certificate& c, const FileOrder& order) {
  using Align = TextTable::Align;
  TextTable table({{"", Align::left}, {"", Align::right}, {"", Align::left}, {"", Align::left}});
  const auto add = [&](const char* name, double value, const char* unit, Index constraint) {
    const bool located = constraint >= 0 && value > 0.0;
    table.add_row({name, format_error(value), unit,
                   located ? fmt::format("at constraint {}", order.constraint(constraint)) : std::string()});
  };
  add("error (scaled natural map)", c.error.value, "-", c.error.constraint);
  add("fclib error", c.fclib_error, "-", -1);
  add("siconos error", c.siconos_error, "-", -1);
  add("momentum", c.momentum, "-", -1);
  add("cone, primal", c.cone_primal.value, "N s", c.cone_primal.constraint);
  add("cone, dual", c.cone_dual.value, "m/s", c.cone_dual.constraint);
  add("complementarity", c.complementarity.value, "J", c.complementarity.constraint);
  add("penetration velocity", c.penetration_velocity.value, "m/s", c.penetration_velocity.constraint);
  add("slip of sticking contacts", c.stick_slip_velocity.value, "m/s", c.stick_slip_velocity.constraint);
  add("angle of slip to friction", c.slip_angle.value, "rad", c.slip_angle.constraint);
  add("contact residual (Lee)", c.lee_residual, "m/s", -1);
  return table.str("  ");
}

// What the solve went through, for --explain.
std::string stages_text(const Report& report) {
  using Align = TextTable::Align;
  TextTable table({{"stage", Align::left},
                   {"islands", Align::right},
                   {"constraints", Align::right},
                   {"iterations", Align::right},
                   {"factorizations", Align::right},
                   {"ms", Align::right},
                   {"error after", Align::right}});
  for (const Stage& stage : report.stages) {
    table.add_row({std::string(stage.name), fmt::format("{}", stage.islands),
                   fmt::format("{}", stage.contacts), fmt::format("{}", stage.iterations),
                   fmt::format("{}", stage.factorizations), format_ms(stage.seconds * 1e3),
                   format_error(stage.error)});
  }
  const std::string islands = counted(report.islands, "island");
  if (report.stages.empty()) return fmt::format("  {}; {} works in one stage\n", islands, report.solver);
  return fmt::format("  {}, stages summed over them:\n{}", islands, table.str("    "));
}

// Why there is no solution.
std::string contradictions_text(const Report& report, const FileOrder& order) {
  constexpr std::size_t kNamed = 12;  // as many as a line holds
  std::string text;
  for (const Contradiction& c : report.contradictions) {
    std::string names;
    for (std::size_t k = 0; k < std::min(kNamed, c.constraints.size()); ++k) {
      names += fmt::format("{}{}", k > 0 ? ", " : "", order.constraint(c.constraints[k]));
    }
    if (c.constraints.size() > kNamed) names += fmt::format(" and {} more", c.constraints.size() - kNamed);
    text += c.constraints.size() == 1
                ? fmt::format("  no solution: every velocity violates constraint {} by at least {:.3g} m/s\n",
                              names, c.violation)
                : fmt::format(
                      "  no solution: constraints {} contradict each other; every velocity violates one "
                      "of them by at least {:.3g} m/s\n",
                      names, c.violation);
  }
  if (!text.empty()) text += "  the velocities returned are those of least violation\n";
  return text;
}

std::string report_text(const std::string& file, const LoadedProblem& loaded, const FileOrder& order,
                        const Report& report, bool explain) {
  const ContactProblem& problem = loaded.problem;
  std::string supplied =
      report.regularized_count > 0
          ? fmt::format(
                "  the solver gave {} compliance (near-rigid rule); the certificate is that of the rigid "
                "problem\n",
                counted(report.regularized_count, "constraint"))
          : std::string();
  if (!std::isnan(report.faceted_error)) {
    supplied += fmt::format(
        "  friction cones with facets: solved to {:.1e}; the certificate is that of the round cones\n",
        report.faceted_error);
  }
  return fmt::format("{}: {}, {}, {}\n  {}: {}, {}, {}, {} ms\n{}{}{}{}", file,
                     counted(problem.contact_count(), "contact"), counted(problem.row_count(), "row"),
                     counted(problem.full_dof_count(), "dof"), report.solver, to_string(report.status),
                     counted(report.iterations, "iteration"), counted(report.factorizations, "factorization"),
                     format_ms(report.seconds * 1e3), contradictions_text(report, order), supplied,
                     explain ? stages_text(report) : "", certificate_text(report.certificate, order));
}

std::string history_text(const Report& report) {
  std::string text = "iteration,seconds,error,penalty\n";
  for (const Progress& p : report.history) {
    text += fmt::format("{},{:.9g},{:.9g},{:.9g}\n", p.iteration, p.seconds, p.error, p.penalty);
  }
  return text;
}

void SolveCommand::check_outputs() const {
  const auto check = [&](const char* option, const std::string& path) {
    if (path.empty()) return;
    if (files.size() > 1)
      throw InvalidInput(fmt::format("{} takes the result of one file: solve one at a time", option));
    require_writable(option, path);
    if (same_file(path, files.front()))
      throw InvalidInput(fmt::format("{} {} would overwrite the problem", option, path));
  };
  check("--history", history);
  check("--solution", solution);
  if (!history.empty() && !solution.empty() && same_file(history, solution)) {
    throw InvalidInput("--history and --solution name the same file");
  }
  if (files.size() > 1 && !warm_start.empty() && warm_start != kOwnGuess) {
    throw InvalidInput(
        "--warm-start FILE fits one problem: solve one file at a time, or use --warm-start guess");
  }
}

std::unique_ptr<Solver> SolveCommand::make() const {
  std::unique_ptr<Solver> made = make_named_solver(solver);
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw InvalidInput(
          fmt::format("--set {}: expected option=value; 'tribo solvers' lists the options", assignment));
    }
    made->set_option(assignment.substr(0, equals), assignment.substr(equals + 1));
  }
  return made;
}

std::optional<Vector> SolveCommand::initial_impulse(const LoadedProblem& loaded,
                                                    const FileOrder& order) const {
  if (warm_start.empty()) return std::nullopt;
  if (warm_start == kOwnGuess) {
    if (!best_start(loaded))
      throw InvalidInput("--warm-start guess: the file holds no guess and no solution");
    return best_start(loaded);
  }
  if (fs::path(warm_start).extension() == ".json") {
    return stored_impulse(loaded.problem, read_impulse(warm_start, order));
  }
  const std::optional<Vector> start = best_start(load_problem(warm_start));
  if (!start)
    throw InvalidInput(fmt::format("--warm-start {}: it holds no guess and no solution", warm_start));
  if (start->size() != loaded.problem.row_count()) {
    throw InvalidInput(fmt::format("--warm-start {}: its problem has {} rows, this one {}", warm_start,
                                   start->size(), loaded.problem.row_count()));
  }
  return start;
}

ExitCode SolveCommand::solve_file(const std::string& file, Solver& solver_object,
                                  const Settings& settings) const {
  const LoadedProblem loaded = load_problem(file);
  const FileOrder order(loaded);
  const std::optional<Vector> start = initial_impulse(loaded, order);

  Solution result;
  const Report report = solver_object.solve(loaded.problem, settings, result, start ? &*start : nullptr);
  if (json) {
    fmt::print("{}\n", dump_line(to_json(file, loaded, order, report)));
  } else if (!quiet) {
    fmt::print("{}", report_text(file, loaded, order, report, explain));
  }
  std::fflush(stdout);
  if (!solution.empty()) {
    result.impulse = physical_impulse(loaded.problem, result.impulse);
    result.velocity = physical_velocity(loaded.problem, result.velocity);
    write_file(solution, solution_text(result, report, order));
  }
  if (!history.empty()) write_file(history, history_text(report));
  return report.status == Status::converged ? ExitCode::success : ExitCode::not_converged;
}

ExitCode SolveCommand::run() const {
  Settings settings = options.settings();
  settings.history = !history.empty();
  settings.explain = explain;
  check_outputs();
  const std::unique_ptr<Solver> solver_object = make();

  ExitCode code = ExitCode::success;
  for (const std::string& file : files) {
    try {
      code = worse(code, solve_file(file, *solver_object, settings));
    } catch (const InvalidInput& error) {
      print_error(error.what());
      code = ExitCode::invalid;
    }
  }
  return code;
}

}  // namespace

void add_solve_command(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command = app.add_subcommand("solve", "Solve problem files and print a certificate of accuracy");
  const auto state = std::make_shared<SolveCommand>();
  command->add_option("FILE", state->files, "Problem files: FCLIB .hdf5 or Siconos .dat")
      ->type_name("")
      ->required();
  command
      ->add_option("--solver", state->solver, "Solver, with options if wanted: nsgs:local=newton,omega=1.2")
      ->type_name("NAME")
      ->capture_default_str();
  command
      ->add_option("--set", state->assignments,
                   "Set one option of the solver, repeatable; 'tribo solvers' lists them")
      ->type_name("OPTION=VALUE")
      ->allow_extra_args(false);
  state->options.add_to(*command);
  command
      ->add_option(
          "--warm-start", state->warm_start,
          "Start from the impulses of a solution .json or of a problem file, its solution if it has one and "
          "its guess otherwise; the word 'guess' takes those inside each FILE (default: start from zero)")
      ->type_name("FILE");
  command->add_option("--history", state->history, "Write iteration,seconds,error,penalty of every check")
      ->type_name("FILE.csv");
  command
      ->add_option("--solution", state->solution,
                   "Write {\"impulse\":[...],\"velocity\":[...]} in the file's order: contacts, each as "
                   "(n, t1, t2) or (n, t) in planar problems, then bilateral rows, then unilateral and box "
                   "rows; physical units, N s and m/s (torsion, rolling: N m s and rad/s); of infeasible "
                   "problems with the proof, \"contradictions\"")
      ->type_name("OUT.json");
  command->add_flag("--explain", state->explain, "Show the stages of the solve, their cost and their effect");
  CLI::Option* json =
      command->add_flag("--json", state->json, "Print one JSON object per file, one per line");
  command->add_flag("--quiet", state->quiet, "Print no report: only messages and the exit code")
      ->excludes(json);
  command->footer(
      "Exit code: 0 all converged, 3 some not (infeasible: proved to have no solution), 2 some file or "
      "argument invalid (the other files are "
      "solved).\n"
      "Of problems given by W, as FCLIB local, the dofs in the report are the numerical rank of W.\n"
      "Example:\n"
      "  tribo make tower --bodies 10 --slide -o tower.hdf5\n"
      "  tribo solve tower.hdf5 --tol 1e-8 --explain --solution tower.json");
  command->callback([state, &exit_code] { exit_code = state->run(); });
}

}  // namespace tribo::cli
