// tribo: contact problems on the command line. Exit codes: 0 fine (solve: all converged), 3 not converged, 2
// invalid input or usage. Results go to the standard output, messages ("tribo: ...") to the standard error.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "apps/tribo/commands.h"
#include "tribo/version.h"

namespace tribo::cli {

namespace {

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

// Long descriptions in lines of their own column, instead of wherever the terminal breaks them.
class WrappingFormatter : public CLI::Formatter {
 public:
  WrappingFormatter() { column_width(kColumn); }
  std::string make_option_desc(const CLI::Option* option) const override {
    return wrap_words(option->get_description(), kLine, "\n");
  }

 private:
  static constexpr std::size_t kColumn = 28;
  static constexpr std::size_t kLine = 80;
};

int usage_error(const std::string& message, const std::string& help_of) {
  print_error(message);
  fmt::print(stderr, "Try '{} --help'.\n", help_of);
  return static_cast<int>(ExitCode::invalid);
}

// "Could not convert: --jobs = x" in words that say what is wrong.
std::string conversion_message(const std::string& message) {
  constexpr std::string_view kStart = "Could not convert: ";
  const std::size_t equals = message.find(" = ");
  if (!message.starts_with(kStart) || equals == std::string::npos) return message;
  return fmt::format("{}: '{}' is not a number of the kind that it takes",
                     message.substr(kStart.size(), equals - kStart.size()), message.substr(equals + 3));
}

int run(int argc, char** argv) {
  CLI::App app(
      "Rigid and compliant multi-contact with exact Coulomb friction: solve, inspect, make, compare, "
      "simulate "
      "and watch problems.",
      "tribo");
  app.set_version_flag("--version", fmt::format("tribo {}", version()), "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.formatter(std::make_shared<WrappingFormatter>());
  app.footer(
      "Exit codes: 0 success, 3 not converged, 2 invalid input or usage.\n"
      "'tribo COMMAND --help' tells more, with an example.");
  app.require_subcommand(1);

  ExitCode exit_code = ExitCode::success;
  add_solve_command(app, exit_code);
  add_info_command(app, exit_code);
  add_convert_command(app, exit_code);
  add_make_command(app, exit_code);
  add_compare_command(app, exit_code);
  add_collect_command(app, exit_code);
  add_campaign_command(app, exit_code);
  add_solvers_command(app);
  add_sim_command(app, exit_code);
  add_scenes_command(app);
  add_reproduce_command(app, exit_code);
  add_view_command(app);

  if (argc < 2) return usage_error("no command given: see 'tribo --help'", "tribo");
  const std::string first = argv[1];
  const std::vector<std::string> names = command_names(app);
  const bool is_command = std::find(names.begin(), names.end(), first) != names.end();
  if (first.empty() || first.front() != '-') {
    if (!is_command) return usage_error(unknown_name("command", first, names), "tribo");
  }

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {  // --help, --version
    app.exit(request);
  } catch (const CLI::ConversionError& error) {
    return usage_error(conversion_message(error.what()), is_command ? "tribo " + first : "tribo");
  } catch (const CLI::ParseError& error) {
    if (!is_command)
      return usage_error(fmt::format("there is no option {} before a command", first), "tribo");
    return usage_error(error.what(), is_command ? "tribo " + first : "tribo");
  }
  return static_cast<int>(exit_code);
}

}  // namespace

}  // namespace tribo::cli

int main(int argc, char** argv) {
  using tribo::cli::ExitCode;
  using tribo::cli::print_error;
  int code = static_cast<int>(ExitCode::invalid);
  try {
    code = tribo::cli::run(argc, argv);
  } catch (const std::bad_alloc&) {
    print_error("not enough memory");
  } catch (const std::exception& exception) {
    print_error(exception.what());
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    print_error("cannot write to the standard output");
    code = static_cast<int>(ExitCode::invalid);
  }
  return code;
}
