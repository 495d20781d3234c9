// tribo solvers: lists the solvers and their options.
#include <fmt/format.h>

#include "apps/tribo/commands.h"
#include "apps/tribo/text_table.h"
#include "tribo/solve/catalogue.h"

namespace tribo::cli {

namespace {

void list_solvers() {
  std::string text;
  for (const SolverInfo& info : solver_catalogue()) {
    if (!text.empty()) text += '\n';
    text += fmt::format("{}  {}\n", info.name, info.summary);
    TextTable table({{"option"}, {"default"}, {"allowed"}, {"unit"}, {"meaning"}});
    const std::unique_ptr<Solver> solver = info.make();
    const std::vector<Option> options = solver->options();
    for (const Option& option : options)
      table.add_row({option.name, option.get(), option.allowed, option.unit, option.meaning});
    if (!options.empty()) text += table.str("    ");
  }
  fmt::print("{}", text);
}

}  // namespace

void add_solvers_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("solvers", "List the solvers and their options");
  command->footer(
      "Example:\n"
      "  tribo solvers\n"
      "  tribo solve tower.hdf5 --solver nsgs --set omega=1.2");
  command->callback(list_solvers);
}

}  // namespace tribo::cli
