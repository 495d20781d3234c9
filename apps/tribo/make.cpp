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
#include "tribo/scenes/single_steps.h"

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
  std::vector<const CLI::Option*> size_options;   // --bodies, --mass-ratio
  std::vector<const CLI::Option*> shape_options;  // --slide, --compliance

  ExitCode run() const;

 private:
  // Where a problem comes from. `sized`, `shaped`: whether size_options, shape_options apply.
  struct Kind {
    std::string_view name;
    bool sized, shaped;
  };
  Kind find_kind() const;
  GeneratorSettings complete_settings(const Kind& kind_info) const;
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
  for (const SingleStepInfo& info : single_step_catalogue()) names.emplace_back(info.name);
  return names;
}

std::string describe(std::string_view kind, bool sized, const GeneratorSettings& s) {
  std::string text = fmt::format("tribo make {}", kind);
  if (sized) text += fmt::format(" --bodies {} --mass-ratio {}", s.bodies, s.mass_ratio);
  if (s.slide) text += " --slide";
  if (s.friction >= 0.0) text += fmt::format(" --mu {}", s.friction);
  if (s.compliance > 0.0) text += fmt::format(" --compliance {}", s.compliance);
  if (s.time_step >= 0.0) text += fmt::format(" --dt {}", s.time_step);
  return text + fmt::format(" --seed {}", s.seed);
}

MakeCommand::Kind MakeCommand::find_kind() const {
  const std::size_t number = index_of_name("kind", kind, kind_names());
  const std::size_t generators = generator_catalogue().size();
  if (number >= generators) return {single_step_catalogue()[number - generators].name, false, false};
  const GeneratorInfo& info = generator_catalogue()[number];
  return {info.name, info.sized, true};
}

GeneratorSettings MakeCommand::complete_settings(const Kind& info) const {
  // In GeneratorSettings a negative number asks for the kind's own value; here it is a mistake.
  if (friction && !(*friction >= 0.0)) throw InvalidInput(fmt::format("--mu {}: it must be >= 0", *friction));
  if (time_step && !(*time_step > 0.0))
    throw InvalidInput(fmt::format("--dt {}: it must be positive", *time_step));
  GeneratorSettings complete = settings;
  if (friction) complete.friction = *friction;
  if (time_step) complete.time_step = *time_step;
  complete.seed = parse_seed(seed);
  const auto refuse = [&info](const std::vector<const CLI::Option*>& options) {
    for (const CLI::Option* option : options) {
      if (option->count() > 0)
        print_error(fmt::format("note: {} does not apply to {}", option->get_name(), info.name));
    }
  };
  if (!info.sized) {
    refuse(size_options);
    complete.bodies = GeneratorSettings{}.bodies;
    complete.mass_ratio = GeneratorSettings{}.mass_ratio;
  }
  if (!info.shaped) {
    refuse(shape_options);
    complete.slide = false;
    complete.compliance = 0.0;
  }
  return complete;
}

ExitCode MakeCommand::run() const {
  const Kind info = find_kind();
  require_fclib_name("--output", output);
  if (!(tolerance > 0.0 && std::isfinite(tolerance)))
    throw InvalidInput(fmt::format("--tol {}: it must be positive and finite", tolerance));
  if (!(time_limit > 0.0))
    throw InvalidInput(fmt::format("--time-limit {}: it must be positive", time_limit));
  const GeneratorSettings complete = complete_settings(info);
  const ContactProblem problem = info.shaped ? generate(kind, complete)
                                             : make_single_step(kind, {.friction = complete.friction,
                                                                       .time_step = complete.time_step,
                                                                       .seed = complete.seed});

  WriteOptions options;
  options.title = kind;
  options.description = describe(info.name, info.sized, complete);
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
             counted(problem.full_dof_count(), "dof"), note);
  return code;
}

std::string kind_list() {
  std::string text = "Kinds:\n";
  const auto add = [&text](std::string_view name, std::string_view summary) {
    text +=
        fmt::format("  {:<9} {}\n", name, wrap_words(std::string(summary), 96, "\n" + std::string(12, ' ')));
  };
  for (const GeneratorInfo& info : generator_catalogue()) add(info.name, info.summary);
  for (const SingleStepInfo& info : single_step_catalogue()) add(info.name, info.summary);
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
  CLI::Option* slide = command->add_flag("--slide", settings.slide, "Give the bodies tangential velocities");
  command->add_option("--mu", state->friction, "Friction coefficient (default: the kind's own)")
      ->type_name("M");
  CLI::Option* compliance = command->add_option("--compliance", settings.compliance,
                                                "Compliance of every contact row, m/(N s); 0 is rigid");
  compliance->type_name("C")->capture_default_str();
  state->shape_options = {slide, compliance};
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
