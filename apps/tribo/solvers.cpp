// tribo solvers: lists the solvers and their options.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "apps/tribo/commands.h"
#include "apps/tribo/text_table.h"
#include "tribo/base/errors.h"
#include "tribo/solve/catalogue.h"

namespace tribo::cli {

namespace {

std::string_view heading(SolverFamily family) {
  switch (family) {
    case SolverFamily::tribo:
      return "Solvers of tribo";
    case SolverFamily::ablation:
      return "Ablations: what papers compare with";
    case SolverFamily::projection:
      return "Projection methods for variational inequalities (Acary et al. 2018; this and what follows: for "
             "comparison)";
    case SolverFamily::newton:
      return "Nonsmooth Newton methods";
    case SolverFamily::splitting:
      return "Splitting: sweeps over the contacts";
    case SolverFamily::proximal:
      return "Proximal point";
    case SolverFamily::fixed_point:
      return "Fixed points of convex problems, and the convex relaxation";
    case SolverFamily::pivoting:
      return "Pivoting on cones with facets";
  }
  return "";
}

struct SolversCommand {
  std::string which;
  bool names = false;

  bool wanted(const SolverInfo& info) const {
    return which.empty() || info.name == which || to_string(info.family) == which ||
           (which == "classical" && is_classical(info.family));
  }
  void run() const;
};

// Long lists have a heading per family, and one line per solver; options where a solver or a family is asked for.
void SolversCommand::run() const {
  std::string text;
  const SolverFamily* present = nullptr;
  bool found = false;
  for (const SolverInfo& info : solver_catalogue()) {
    if (!wanted(info)) continue;
    found = true;
    if (!names && (present == nullptr || *present != info.family)) {
      text +=
          fmt::format("{}{} ({})\n", text.empty() ? "" : "\n", heading(info.family), to_string(info.family));
    }
    present = &info.family;
    if (names) {
      text += fmt::format("{}\n", info.name);
      continue;
    }
    text += fmt::format("  {:<24} {}\n", info.name, info.summary);
    if (which.empty() && is_classical(info.family)) continue;
    TextTable table({{"option"}, {"default"}, {"allowed"}, {"unit"}, {"meaning"}});
    const std::unique_ptr<Solver> solver = info.make();
    const std::vector<Option> options = solver->options();
    for (const Option& option : options)
      table.add_row({option.name, option.get(), option.allowed, option.unit, option.meaning});
    if (!options.empty()) text += table.str("      ");
  }
  if (!found) {
    throw InvalidInput(fmt::format(
        "there is no solver or family '{}'; tribo solvers lists them all, with their families in brackets",
        which));
  }
  fmt::print("{}", text);
  if (which.empty() && !names)
    fmt::print("\nOptions of the classical ones: tribo solvers NAME, or FAMILY.\n");
}

}  // namespace

void add_solvers_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("solvers", "List the solvers and their options");
  const auto state = std::make_shared<SolversCommand>();
  command
      ->add_option("WHICH", state->which, "A solver, a family, or classical: only these, with their options")
      ->type_name("");
  command->add_flag("--names", state->names, "Only the names, one per line");
  command->footer(
      "Example:\n"
      "  tribo solvers\n"
      "  tribo solvers newton\n"
      "  tribo solve tower.hdf5 --solver nsgs --set omega=1.2");
  command->callback([state] { state->run(); });
}

}  // namespace tribo::cli
