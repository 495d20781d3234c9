// tribo convert: rewrites a problem file as FCLIB, with the guess or solution it carries.
#include <fmt/format.h>

#include <memory>

#include "apps/tribo/commands.h"
#include "apps/tribo/verified_solution.h"
#include "tribo/problem/certificate.h"
#include "tribo/problem/errors.h"

namespace tribo::cli {

namespace {

struct ConvertCommand {
  std::string input, output;
  bool solve = false;

  ExitCode run() const;
};

ExitCode ConvertCommand::run() const {
  require_fclib_name("OUT", output);
  const LoadedProblem loaded = load_problem(input);
  WriteOptions options;
  options.title = loaded.title;
  options.description = loaded.description;

  std::string note = "no guess, no solution";
  Solution solution;
  VerifiedSolution verified;
  ExitCode code = ExitCode::success;
  if (solve) {
    verified = find_verified_solution(loaded.problem, kVerifiedTolerance, kVerifiedTimeLimit);
    if (verified.is_good()) options.solution = &verified.solution;
    note = verified.note();
    code = verified.is_good() ? ExitCode::success : ExitCode::not_converged;
  } else if (loaded.guess) {
    solution.impulse = *loaded.guess;
    const double error = Certifier().complete(loaded.problem, solution, Law::exact).error.value;
    if (error <= kVerifiedError) {
      options.solution = &solution;
      note = fmt::format("solution of certified error {}", format_error(error));
    } else {
      note = fmt::format("guess of error {}", format_error(error));
    }
  }
  if (options.solution == nullptr && loaded.guess) options.guess = &*loaded.guess;
  write_problem(output, loaded.problem, options);
  fmt::print("{}: {} from {} ({}); {}\n", output, counted(loaded.problem.contact_count(), "contact"), input,
             loaded.format, note);
  return code;
}

}  // namespace

void add_convert_command(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command = app.add_subcommand("convert", "Rewrite a problem file (.dat, .hdf5) as FCLIB .hdf5");
  const auto state = std::make_shared<ConvertCommand>();
  command->add_option("IN", state->input, "Problem file to read: FCLIB .hdf5 or Siconos .dat")
      ->type_name("")
      ->required();
  command->add_option("OUT", state->output, "FCLIB file to write; its name ends in .hdf5 or .h5")->required();
  command->add_flag("--solve", state->solve, "Solve the problem and store the verified solution");
  command->footer(
      "The guess or solution of IN is carried over.\n"
      "Example:\n"
      "  tribo convert Capsules-i100-889.dat capsules.hdf5");
  command->callback([state, &exit_code] { exit_code = state->run(); });
}

}  // namespace tribo::cli
