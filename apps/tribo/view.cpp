// tribo view: a recording, or two side by side, as a page for the browser.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "apps/tribo/commands.h"
#include "tribo/base/errors.h"
#include "tribo/io/replay/page.h"
#include "tribo/io/replay/recording_page.h"

namespace tribo::cli {

namespace {

namespace fs = std::filesystem;

struct ViewCommand {
  std::vector<std::string> files;
  std::string output;
  double fps = 60.0;

  fs::path page() const {
    if (!output.empty()) return output;
    fs::path name = fs::path(files[0]);
    const std::string stem = name.stem().string();
    return name.replace_filename(
        files.size() == 1 ? stem + ".html" : stem + "-" + fs::path(files[1]).stem().string() + ".html");
  }

  void run() const {
    if (!(std::isfinite(fps) && fps >= 0.0))
      throw InvalidInput(fmt::format("--fps {}: it must be a number >= 0", fps));
    const fs::path target = page();
    detail::require_viewer("tribo view");
    require_writable("-o", target);
    for (const std::string& file : files) {
      if (!fs::exists(file)) throw InvalidInput(fmt::format("{}: there is no such file", file));
      if (fs::is_directory(file)) throw InvalidInput(fmt::format("{}: this is a directory", file));
      if (same_file(file, target))
        throw InvalidInput(fmt::format("-o {}: this is the recording itself", output));
    }
    const RecordingPageReport report = write_recording_page({files.begin(), files.end()}, target, fps);
    fmt::print("{}: {}", target.string(), counted(report.frames[0], "frame"));
    if (report.frames.size() > 1) fmt::print(" beside {}", counted(report.frames[1], "frame"));
    fmt::print(", {:.1f} MB; open it in a browser\n", static_cast<double>(fs::file_size(target)) / 1e6);
  }
};

}  // namespace

void add_view_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("view", "Make a page for the browser of one or two recordings");
  const auto state = std::make_shared<ViewCommand>();
  command
      ->add_option("FILE", state->files,
                   "Recordings of `tribo sim --record FILE.h5`; two are shown side by side")
      ->required()
      ->expected(1, 2)
      ->type_name("");
  command->add_option("-o,--output", state->output, "The page (default: the recording's name with .html)")
      ->type_name("PAGE");
  command
      ->add_option("--fps", state->fps,
                   "Frames per second of simulated time, at most (0: all that were recorded)")
      ->type_name("F")
      ->capture_default_str();
  command->footer(
      "The page is one file that needs no network.\n"
      "Examples:\n"
      "  tribo sim --scene clutter --record exact.h5\n"
      "  tribo sim --scene clutter --law convex --record convex.h5\n"
      "  tribo view exact.h5 convex.h5 -o both.html");
  command->callback([state] { state->run(); });
}

}  // namespace tribo::cli
