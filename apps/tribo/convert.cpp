// tribo convert: rewrites a problem file as FCLIB, with the guess and the solution it carries.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/tribo/commands.h"
#include "apps/tribo/verified_solution.h"
#include "tribo/base/errors.h"
#include "tribo/problem/certificate.h"

namespace tribo::cli {

namespace {

struct ConvertCommand {
  std::string input, output;
  bool solve = false;

  ExitCode run() const;
};

// The impulses of the file with the velocities that follow from them.
struct Carried {
  Solution solution;
  double error = 0.0;  // certified

  Carried(const ContactProblem& problem, const Vector& impulse) {
    solution.impulse = impulse;
    error = Certifier().complete(problem, solution, Law::exact).error.value;
  }
};

ExitCode ConvertCommand::run() const {
  require_fclib_name("OUT", output);
  if (same_file(input, output)) {
    throw InvalidInput(fmt::format("OUT {} is the same file as IN: name another one", output));
  }
  const LoadedProblem loaded = load_problem(input);
  const ContactProblem& problem = loaded.problem;
  WriteOptions options;
  options.title = loaded.title;
  options.description = loaded.description;

  std::vector<std::string> notes;
  ExitCode code = ExitCode::success;
  VerifiedSolution verified;
  if (solve) {
    verified = find_verified_solution(problem, kVerifiedTolerance, kVerifiedTimeLimit);
    if (verified.is_good) options.solution = &verified.solution;
    notes.push_back(verified.note());
    code = verified.is_good ? ExitCode::success : ExitCode::not_converged;
  }
  std::optional<Carried> solution;
  if (loaded.solution && options.solution == nullptr) {
    solution.emplace(problem, *loaded.solution);
    options.solution = &solution->solution;
    const bool good = is_verified(problem, solution->solution, solution->error, kVerifiedError);
    notes.push_back(fmt::format("solution of IN, certified error {}{}", format_error(solution->error),
                                good ? "" : ": not verified"));
  }
  if (loaded.guess) {
    options.guess = &*loaded.guess;
    notes.push_back(fmt::format("guess of error {}", format_error(Carried(problem, *loaded.guess).error)));
  }
  if (notes.empty()) notes.emplace_back("no guess, no solution");
  write_problem(output, problem, options);
  fmt::print("{}: {} from {} ({}); {}\n", output, counted(problem.contact_count(), "contact"), input,
             loaded.format, fmt::join(notes, "; "));
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
      "The guess and the solution of IN are carried over; with --solve the new solution, certified error at "
      "most 1e-6,\nreplaces that of IN. Exit code 3: none could be verified.\n"
      "Example:\n"
      "  tribo convert Capsules-i100-889.dat capsules.hdf5");
  command->callback([state, &exit_code] { exit_code = state->run(); });
}

}  // namespace tribo::cli
