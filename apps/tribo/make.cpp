// tribo make: writes a generated problem as FCLIB, with a verified solution.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "apps/tribo/commands.h"
#include "apps/tribo/verified_solution.h"
#include "tribo/problem/errors.h"
#include "tribo/problem/generators.h"

namespace tribo::cli {

namespace {

struct MakeCommand {
  std::string kind, output;
  GeneratorSettings settings;
  std::optional<double> friction, time_step;
  double tolerance = kVerifiedTolerance;
  double time_limit = kVerifiedTimeLimit;
  bool no_solve = false;

  ExitCode run() const;
};

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const GeneratorInfo& info : generator_catalogue()) names.emplace_back(info.name);
  return names;
}

std::string describe(const std::string& kind, const GeneratorSettings& s) {
  std::string text = fmt::format("tribo make {} --bodies {} --mass-ratio {}", kind, s.bodies, s.mass_ratio);
  if (s.slide) text += " --slide";
  if (s.friction >= 0.0) text += fmt::format(" --mu {}", s.friction);
  if (s.compliance > 0.0) text += fmt::format(" --compliance {}", s.compliance);
  if (s.time_step >= 0.0) text += fmt::format(" --dt {}", s.time_step);
  return text + fmt::format(" --seed {}", s.seed);
}

ExitCode MakeCommand::run() const {
  index_of_name("kind", kind, kind_names());
  require_fclib_name("--output", output);
  if (!(tolerance > 0.0)) throw InvalidInput(fmt::format("--tol {}: it must be positive", tolerance));
  if (!(time_limit > 0.0))
    throw InvalidInput(fmt::format("--time-limit {}: it must be positive", time_limit));
  // In GeneratorSettings a negative number asks for the kind's own value; here it is a mistake.
  if (friction && !(*friction >= 0.0)) throw InvalidInput(fmt::format("--mu {}: it must be >= 0", *friction));
  if (time_step && !(*time_step > 0.0))
    throw InvalidInput(fmt::format("--dt {}: it must be positive", *time_step));
  GeneratorSettings complete = settings;
  if (friction) complete.friction = *friction;
  if (time_step) complete.time_step = *time_step;
  const ContactProblem problem = generate(kind, complete);

  WriteOptions options;
  options.title = kind;
  options.description = describe(kind, complete);
  VerifiedSolution verified;
  std::string note = "without a solution";
  ExitCode code = ExitCode::success;
  if (!no_solve) {
    verified = find_verified_solution(problem, tolerance, time_limit);
    note = verified.note();
    if (verified.is_good()) {
      options.solution = &verified.solution;
    } else {
      code = ExitCode::not_converged;
    }
  }
  write_problem(output, problem, options);
  fmt::print("{}: {}, {}; {}\n", output, counted(problem.contact_count(), "contact"),
             counted(problem.dof_count(), "dof"), note);
  return code;
}

std::string kind_list() {
  std::string text = "Kinds:\n";
  for (const GeneratorInfo& info : generator_catalogue()) {
    const std::string summary = wrap_words(std::string(info.summary), 96, "\n" + std::string(12, ' '));
    text += fmt::format("  {:<9} {}\n", info.name, summary);
  }
  return text;
}

}  // namespace

void add_make_command(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command = app.add_subcommand("make", "Make a test problem and write it as FCLIB");
  const auto state = std::make_shared<MakeCommand>();
  GeneratorSettings& settings = state->settings;
  command->add_option("KIND", state->kind, "What to make; see below")->type_name("")->required();
  command->add_option("--bodies", settings.bodies, "Number of bodies (cubes, spheres, links)")
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--mass-ratio", settings.mass_ratio, "Heaviest to lightest body")
      ->type_name("R")
      ->capture_default_str();
  command->add_flag("--slide", settings.slide, "Give the bodies tangential velocities");
  command->add_option("--mu", state->friction, "Friction coefficient (default: the kind's own)")
      ->type_name("M");
  command
      ->add_option("--compliance", settings.compliance,
                   "Compliance of every contact row, m/(N s); 0 is rigid")
      ->type_name("C")
      ->capture_default_str();
  command->add_option("--dt", state->time_step, "Time step in s (default: the kind's own)")->type_name("H");
  command->add_option("--seed", settings.seed, "Seed of the random numbers")
      ->type_name("S")
      ->capture_default_str();
  command->add_flag("--no-solve", state->no_solve, "Do not look for a solution to store");
  command->add_option("--tol", state->tolerance, "Accuracy of the stored solution (scaled natural map)")
      ->type_name("T")
      ->capture_default_str();
  command->add_option("--time-limit", state->time_limit, "Time for each solver that looks for it, in seconds")
      ->type_name("S")
      ->capture_default_str();
  command->add_option("-o,--output", state->output, "FCLIB file to write (.hdf5)")
      ->type_name("FILE")
      ->required();
  command->footer(kind_list() +
                  "Exit code 3: the file was written without a solution, because none could be verified.\n"
                  "Example:\n"
                  "  tribo make tower --bodies 10 --mass-ratio 1e4 --slide -o tower.hdf5");
  command->callback([state, &exit_code] { exit_code = state->run(); });
}

}  // namespace tribo::cli
