// tribo compare: every solver on every problem, as a table, as CSV and as a page with performance profiles.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <new>

#include "apps/tribo/commands.h"
#include "apps/tribo/compare_page.h"
#include "apps/tribo/comparison.h"
#include "apps/tribo/progress.h"
#include "apps/tribo/solve_options.h"
#include "apps/tribo/text_table.h"
#include "tribo/base/errors.h"
#include "tribo/solve/catalogue.h"

namespace tribo::cli {

namespace {

namespace fs = std::filesystem;

// Iterations of different solvers cost differently: here the time decides.
constexpr double kDefaultTimeLimit = 10.0;  // s
constexpr Index kDefaultIterations = 1'000'000;

struct Source {
  std::string path, name;
  bool named = false;  // by the user himself, not found in a folder
};

struct CompareCommand {
  std::vector<std::string> inputs, solver_lists;
  SolveOptions options{kDefaultTimeLimit, kDefaultIterations};
  int repeat = 1;
  std::string csv, html;

  ExitCode run() const;

 private:
  std::vector<Source> sources() const;
  std::vector<std::string> solvers(Law law) const;
  void check_outputs(const std::vector<Source>& files) const;
  void measure_problem(const Source& source, Comparison& comparison, ProgressBar& progress) const;
};

bool is_problem_file(const fs::path& path) {
  return path.extension() == ".hdf5" || path.extension() == ".h5" || path.extension() == ".dat";
}

std::vector<Source> CompareCommand::sources() const {
  std::vector<Source> found;
  for (const std::string& input : inputs) {
    std::error_code error;
    if (!fs::exists(input, error)) throw InvalidInput(fmt::format("{}: no such file or folder", input));
    if (!fs::is_directory(input)) {
      found.push_back({input, fs::path(input).filename().string(), true});
      continue;
    }
    std::vector<Source> in_folder;
    for (const fs::directory_entry& entry : fs::directory_iterator(input)) {
      if (entry.is_regular_file() && is_problem_file(entry.path())) {
        in_folder.push_back({entry.path().string(), entry.path().filename().string()});
      }
    }
    if (in_folder.empty()) throw InvalidInput(fmt::format("{}: no .hdf5 or .dat file in this folder", input));
    std::sort(in_folder.begin(), in_folder.end(),
              [](const Source& a, const Source& b) { return a.path < b.path; });
    found.insert(found.end(), in_folder.begin(), in_folder.end());
  }
  // File names identify the problems in tables; where they do not, whole paths do.
  for (Source& source : found) {
    const bool ambiguous = std::count_if(found.begin(), found.end(), [&](const Source& other) {
                             return fs::path(other.path).filename() == fs::path(source.path).filename();
                           }) > 1;
    if (ambiguous) source.name = source.path;
  }
  return found;
}

std::vector<std::string> CompareCommand::solvers(Law law) const {
  std::vector<std::string> names;
  for (const std::string& list : solver_lists) {
    for (const std::string& solver : expand_families(split_solver_list(list), law)) {
      make_named_solver(solver);  // throws if there is no such solver or option
      if (std::find(names.begin(), names.end(), solver) == names.end()) names.push_back(solver);
    }
  }
  if (!solver_lists.empty() && names.empty()) throw InvalidInput("--solvers names no solver");
  if (names.empty()) {
    for (const SolverInfo& info : main_solvers()) {
      if (info.make()->supports(law)) names.emplace_back(info.name);
    }
  }
  return names;
}

void CompareCommand::check_outputs(const std::vector<Source>& files) const {
  const auto check = [&](const char* option, const std::string& path) {
    if (path.empty()) return;
    require_writable(option, path);
    for (const Source& source : files) {
      if (same_file(path, source.path))
        throw InvalidInput(fmt::format("{} {} would overwrite a problem", option, path));
    }
  };
  check("--csv", csv);
  check("--html", html);
  if (!csv.empty() && !html.empty() && same_file(csv, html))
    throw InvalidInput("--csv and --html name the same file");
}

void CompareCommand::measure_problem(const Source& source, Comparison& comparison,
                                     ProgressBar& progress) const {
  const LoadedProblem loaded = load_problem(source.path);
  std::vector<Run> runs;
  for (const std::string& solver : comparison.solvers) {
    progress.show(fmt::format("{} on {}", solver, source.name));
    runs.push_back(measure(solver, loaded.problem, comparison.settings, repeat));
  }
  comparison.problems.push_back({source.name, loaded.problem.contact_count()});
  std::move(runs.begin(), runs.end(), std::back_inserter(comparison.runs));
}

std::string run_table(const Comparison& comparison) {
  using Align = TextTable::Align;
  TextTable table({{"problem"},
                   {"contacts", Align::right},
                   {"solver"},
                   {"status"},
                   {"iterations", Align::right},
                   {"cpu ms", Align::right},
                   {"error", Align::right},
                   {"fclib", Align::right},
                   {"siconos", Align::right},
                   {"penetration m/s", Align::right},
                   {"creep m/s", Align::right}});
  for (std::size_t p = 0; p < comparison.problems.size(); ++p) {
    const ComparedProblem& problem = comparison.problems[p];
    for (std::size_t s = 0; s < comparison.solvers.size(); ++s) {
      const Run& run = comparison.run(p, s);
      const Certificate& c = run.certificate;
      table.add_row({s == 0 ? problem.name : "", s == 0 ? std::to_string(problem.contacts) : "",
                     comparison.solvers[s], std::string(to_string(run.status)),
                     std::to_string(run.iterations), format_ms(run.cpu_ms), format_error(c.error.value),
                     format_error(c.fclib_error), format_error(c.siconos_error),
                     format_error(c.penetration_velocity.value), format_error(c.stick_slip_velocity.value)});
    }
  }
  return table.str();
}

std::string summary_table(const Comparison& comparison) {
  using Align = TextTable::Align;
  TextTable table({{"solver"},
                   {"solved", Align::right},
                   {"fastest", Align::right},
                   {"median ms", Align::right},
                   {"mean slowdown", Align::right},
                   {"not solved"}});
  for (std::size_t s = 0; s < comparison.solvers.size(); ++s) {
    const SolverSummary summary = summarize(comparison, s);
    table.add_row({comparison.solvers[s], fmt::format("{}/{}", summary.solved, comparison.problems.size()),
                   std::to_string(summary.fastest), format_ms(summary.median_ms),
                   summary.solved > 0 ? fmt::format("{:.3g}", summary.slowdown) : "-", summary.failures});
  }
  return table.str();
}

ExitCode CompareCommand::run() const {
  if (repeat < 1) throw InvalidInput(fmt::format("--repeat {}: it must be >= 1", repeat));
  Comparison comparison;
  comparison.settings = options.settings();
  comparison.repeat = repeat;
  comparison.solvers = solvers(comparison.settings.law);
  const std::vector<Source> files = sources();
  check_outputs(files);
  // Recording costs one small append per check, far below the noise of the clock.
  comparison.settings.history = !html.empty() && files.size() <= kMostHistories;

  ExitCode code = ExitCode::success;
  {
    ProgressBar progress(static_cast<int>(files.size()));
    for (const Source& source : files) {
      const auto skip = [&](const std::string& reason) {
        progress.clear();
        print_error(fmt::format("skipped: {}", reason));
        comparison.skipped.push_back({source.name, reason});
        if (source.named) code = ExitCode::invalid;
      };
      try {
        measure_problem(source, comparison, progress);
      } catch (const InvalidInput& error) {
        skip(error.what());
      } catch (const std::bad_alloc&) {
        skip(fmt::format("{}: not enough memory", source.path));
      }
      progress.advance();
    }
  }
  if (comparison.problems.empty()) throw InvalidInput("nothing to compare: no problem could be read");

  fmt::print("{}\n{}", run_table(comparison), summary_table(comparison));
  if (!comparison.skipped.empty()) fmt::print("{} skipped\n", counted(comparison.skipped.size(), "file"));
  if (!csv.empty()) write_file(csv, to_csv(comparison));
  if (!html.empty()) write_file(html, compare_page(comparison));
  return code;
}

}  // namespace

void add_compare_command(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command =
      app.add_subcommand("compare", "Run solvers on problems: table, CSV, page with profiles");
  const auto state = std::make_shared<CompareCommand>();
  command->add_option("PROBLEMS", state->inputs, "Problem files, or folders of .hdf5 and .dat files")
      ->type_name("")
      ->required();
  command
      ->add_option(
          "--solvers", state->solver_lists,
          "Solvers separated by commas, each with options if wanted: admm,nsgs:local=newton,omega=1.2 "
          "(default: those of tribo and its ablations). all, classical and the families of `tribo solvers` "
          "stand "
          "for those that solve the law")
      ->type_name("LIST")
      ->allow_extra_args(false);
  state->options.add_to(*command);
  command
      ->add_option("--repeat", state->repeat,
                   "Measure each solve N times from scratch, keep the least CPU time")
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--csv", state->csv, "Write the table as comma-separated values")->type_name("OUT.csv");
  command
      ->add_option("--html", state->html,
                   "Write one self-contained page: tables, performance profiles, histories")
      ->type_name("OUT.html");
  command->footer(
      "Solvers that do not converge are a result, not a failure: the exit code is 0 when the comparison was "
      "made,\n"
      "2 if an argument or a named file is invalid. Unreadable files of a folder are skipped with a notice.\n"
      "Example:\n"
      "  tribo compare problems/ --solvers admm,nsgs --tol 1e-8 --csv out.csv --html out.html");
  command->callback([state, &exit_code] { exit_code = state->run(); });
}

}  // namespace tribo::cli
