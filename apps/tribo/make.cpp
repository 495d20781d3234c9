// tribo make: writes a generated problem as FCLIB, with a verified solution.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "apps/tribo/commands.h"
#include "apps/tribo/verified_solution.h"
#include "tribo/base/errors.h"
#include "tribo/generate/generators.h"

namespace tribo::cli {

namespace {

struct MakeCommand {
  std::string kind, output;
  std::string seed = "0";
  GeneratorSettings settings;
  std::optional<double> friction, time_step;
  double tolerance = kVerifiedTolerance;
  double time_limit = kVerifiedTimeLimit;
  bool no_solve = false;
  std::vector<const CLI::Option*> size_options;  // --bodies, --mass-ratio

  ExitCode run() const;

 private:
  GeneratorSettings complete_settings(const GeneratorInfo& info) const;
};

// As text: the command-line parser would wrap negative and cut off large numbers without a word.
std::uint64_t parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seed);
  if (error != std::errc() || stop != end) {
    throw InvalidInput(fmt::format("--seed {}: it must be a whole number from 0 to {}", text,
                                   std::numeric_limits<std::uint64_t>::max()));
  }
  return seed;
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const GeneratorInfo& info : generator_catalogue()) names.emplace_back(info.name);
  return names;
}

std::string describe(const GeneratorInfo& info, const GeneratorSettings& s) {
  std::string text = fmt::format("tribo make {}", info.name);
  if (info.sized) text += fmt::format(" --bodies {} --mass-ratio {}", s.bodies, s.mass_ratio);
  if (s.slide) text += " --slide";
  if (s.friction >= 0.0) text += fmt::format(" --mu {}", s.friction);
  if (s.compliance > 0.0) text += fmt::format(" --compliance {}", s.compliance);
  if (s.time_step >= 0.0) text += fmt::format(" --dt {}", s.time_step);
  return text + fmt::format(" --seed {}", s.seed);
}

GeneratorSettings MakeCommand::complete_settings(const GeneratorInfo& info) const {
  // In GeneratorSettings a negative number asks for the kind's own value; here it is a mistake.
  if (friction && !(*friction >= 0.0)) throw InvalidInput(fmt::format("--mu {}: it must be >= 0", *friction));
  if (time_step && !(*time_step > 0.0))
    throw InvalidInput(fmt::format("--dt {}: it must be positive", *time_step));
  GeneratorSettings complete = settings;
  if (friction) complete.friction = *friction;
  if (time_step) complete.time_step = *time_step;
  complete.seed = parse_seed(seed);
  if (!info.sized) {
    for (const CLI::Option* option : size_options) {
      if (option->count() > 0)
        print_error(fmt::format("note: {} does not apply to {}", option->get_name(), info.name));
    }
    complete.bodies = GeneratorSettings{}.bodies;
    complete.mass_ratio = GeneratorSettings{}.mass_ratio;
  }
  return complete;
}

ExitCode MakeCommand::run() const {
  const GeneratorInfo& info = generator_catalogue()[index_of_name("kind", kind, kind_names())];
  require_fclib_name("--output", output);
  if (!(tolerance > 0.0 && std::isfinite(tolerance)))
    throw InvalidInput(fmt::format("--tol {}: it must be positive and finite", tolerance));
  if (!(time_limit > 0.0))
    throw InvalidInput(fmt::format("--time-limit {}: it must be positive", time_limit));
  const GeneratorSettings complete = complete_settings(info);
  const ContactProblem problem = generate(kind, complete);

  WriteOptions options;
  options.title = kind;
  options.description = describe(info, complete);
  VerifiedSolution verified;
  std::string note = "without a solution";
  ExitCode code = ExitCode::success;
  if (!no_solve) {
    verified = find_verified_solution(problem, tolerance, time_limit);
    note = verified.note();
    if (verified.is_good) {
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
  CLI::Option* bodies =
      command->add_option("--bodies", settings.bodies, "Number of bodies (cubes, spheres, links)");
  bodies->type_name("N")->capture_default_str();
  CLI::Option* mass_ratio =
      command->add_option("--mass-ratio", settings.mass_ratio, "Heaviest to lightest body");
  mass_ratio->type_name("R")->capture_default_str();
  state->size_options = {bodies, mass_ratio};
  command->add_flag("--slide", settings.slide, "Give the bodies tangential velocities");
  command->add_option("--mu", state->friction, "Friction coefficient (default: the kind's own)")
      ->type_name("M");
  command
      ->add_option("--compliance", settings.compliance,
                   "Compliance of every contact row, m/(N s); 0 is rigid")
      ->type_name("C")
      ->capture_default_str();
  command->add_option("--dt", state->time_step, "Time step in s (default: the kind's own)")->type_name("H");
  command->add_option("--seed", state->seed, "Seed of the random numbers, a whole number >= 0")
      ->type_name("S")
      ->capture_default_str();
  command->add_flag("--no-solve", state->no_solve, "Do not look for a solution to store");
  command
      ->add_option(
          "--tol", state->tolerance,
          "Accuracy of the stored solution (scaled natural map). Where no solver reaches it, the best "
          "is stored if its certified error is at most 1e-6; the printed line says so")
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
