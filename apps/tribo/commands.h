// The commands of the tribo tool. Each adds its subcommand, with its options and help, to the command line;
// `exit_code` receives the result when the command has run. Problems of usage and input are thrown as
// InvalidInput.
#pragma once

#include <CLI/CLI.hpp>

#include "apps/tribo/support.h"

namespace tribo::cli {

void add_solve_command(CLI::App& app, ExitCode& exit_code);
void add_info_command(CLI::App& app, ExitCode& exit_code);
void add_convert_command(CLI::App& app, ExitCode& exit_code);
void add_make_command(CLI::App& app, ExitCode& exit_code);
void add_compare_command(CLI::App& app, ExitCode& exit_code);
void add_collect_command(CLI::App& app, ExitCode& exit_code);
void add_campaign_command(CLI::App& app, ExitCode& exit_code);
void add_solvers_command(CLI::App& app);
void add_sim_command(CLI::App& app, ExitCode& exit_code);
void add_scenes_command(CLI::App& app);
void add_reproduce_command(CLI::App& app, ExitCode& exit_code);
void add_view_command(CLI::App& app);

}  // namespace tribo::cli
