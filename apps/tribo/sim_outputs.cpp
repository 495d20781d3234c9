#include "apps/tribo/sim_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <system_error>

#include "apps/tribo/picture.h"
#include "apps/tribo/support.h"
#include "tribo/base/errors.h"
#include "tribo/io/recorder.h"
#include "tribo/io/replay/page.h"
#include "tribo/io/replay/replay_writer.h"

namespace tribo::cli {

namespace {

namespace fs = std::filesystem;

bool ends_in(const std::string& file, std::initializer_list<std::string_view> extensions) {
  const std::string own = fs::path(file).extension().string();
  return std::find(extensions.begin(), extensions.end(), own) != extensions.end();
}

std::optional<double> number(const std::string& text) {
  try {
    std::size_t used = 0;
    const double value = std::stod(text, &used);
    if (used == text.size()) return value;
  } catch (const std::exception&) {
  }
  return std::nullopt;
}

}  // namespace

void SimOutputOptions::add_to(CLI::App& command) {
  command
      .add_option(
          "--record", record,
          "Write the motion: .html (a page for the browser), .h5 (everything, also for `tribo view`) or "
          ".csv (one line per frame)")
      ->type_name("FILE");
  command.add_option("--record-every", record_every, "Record every so many steps (.h5, .csv)")
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--record-fps", record_fps,
                  "Frames per second of simulated time in a page (default 60; 0: every step)")
      ->type_name("F");
  command
      .add_option(
          "--snapshot", snapshot_texts,
          "Picture of the page at time T in s, taken with Chromium, for example t=1.5:out.png; may be "
          "given several times")
      ->type_name("t=T:FILE");
  command
      .add_option(
          "--view", view,
          "Watch and steer in the browser while it runs; prints the address. Without --time it runs until "
          "Ctrl-C (default port: any that is free)")
      ->type_name("PORT")
      ->expected(0, 1);
  command
      .add_option(
          "--view-address", view_address,
          "Address to serve on (default 127.0.0.1: this machine alone; 0.0.0.0: all of its addresses)")
      ->type_name("A");
}

bool SimOutputOptions::is_page() const { return ends_in(record, {".html", ".htm"}); }

bool SimOutputOptions::wants_visuals() const {
  return view || !snapshot_texts.empty() || is_page() || ends_in(record, {".h5", ".hdf5"});
}

int SimOutputOptions::port() const {
  if (!view || view->empty()) return 0;
  const double port = number(*view).value_or(-1.0);
  if (!(port >= 0.0 && port <= 65535.0) || port != std::floor(port)) {
    throw InvalidInput(
        fmt::format("--view {}: a port is a whole number from 0 (any that is free) to 65535", *view));
  }
  return static_cast<int>(port);
}

std::vector<Snapshot> SimOutputOptions::snapshots() const {
  std::vector<Snapshot> list;
  for (const std::string& text : snapshot_texts) {
    const std::size_t colon = text.find(':');
    const std::optional<double> time = text.starts_with("t=") && colon != std::string::npos
                                           ? number(text.substr(2, colon - 2))
                                           : std::nullopt;
    if (!time || !(*time >= 0.0 && std::isfinite(*time)) || colon + 1 == text.size()) {
      throw InvalidInput(
          fmt::format("--snapshot {}: write t=TIME:FILE.png, for example t=1.5:out.png", text));
    }
    const std::string file = text.substr(colon + 1);
    if (!ends_in(file, {".png"}))
      throw InvalidInput(fmt::format("--snapshot {}: a picture ends in .png", text));
    require_writable("--snapshot", file);
    list.push_back({*time, file});
  }
  return list;
}

void SimOutputOptions::check() const {
  if (record_every < 1) throw InvalidInput(fmt::format("--record-every {}: it must be >= 1", record_every));
  if (record_fps && !(std::isfinite(*record_fps) && *record_fps >= 0.0)) {
    throw InvalidInput(fmt::format("--record-fps {}: it must be a number >= 0", *record_fps));
  }
  if (!record.empty()) {
    require_writable("--record", record);
    if (!ends_in(record, {".html", ".htm", ".h5", ".hdf5", ".csv"})) {
      throw InvalidInput(fmt::format("--record {}: a recording ends in .html, .h5, .hdf5 or .csv", record));
    }
    if (is_page()) detail::require_viewer("--record " + record);
  }
  if (record_fps && !is_page()) {
    throw InvalidInput("--record-fps belongs to a page (--record FILE.html); others take --record-every");
  }
  if (is_page() && record_every != 1)
    throw InvalidInput("--record-every belongs to .h5 and .csv; a page takes --record-fps");
  if (!view_address.empty() && !view) throw InvalidInput("--view-address belongs to --view");
  if (view) {
    port();
    detail::require_viewer("--view");
    if (!record.empty() || !snapshot_texts.empty()) {
      throw InvalidInput(
          "--view excludes --record and --snapshot: viewers may lead the run back. The page saves the replay "
          "so far");
    }
  }
  if (!snapshots().empty()) {
    detail::require_viewer("--snapshot");
    find_browser();
  }
}

std::vector<std::string> SimOutputOptions::files() const {
  std::vector<std::string> list;
  if (!record.empty()) list.push_back(record);
  for (const Snapshot& shot : snapshots()) list.push_back(shot.file);
  return list;
}

struct SimOutputs::Data {
  std::unique_ptr<Recorder> recorder;
  std::unique_ptr<ReplayWriter> page;
  std::vector<Snapshot> shots;  // in the order of time
  std::size_t taken = 0;
  std::optional<ScratchFolder> scratch;
  fs::path album_file;                  // in it
  std::unique_ptr<ReplayWriter> album;  // the frames of the pictures
  double half_step = 0.0;
};

SimOutputs::SimOutputs(const SimOutputOptions& options, const Simulator& simulator, const std::string& name)
    : data_(std::make_unique<Data>()) {
  Data& d = *data_;
  if (options.is_page()) {
    ReplaySettings settings;
    settings.name = name;
    if (options.record_fps) settings.frames_per_second = *options.record_fps;
    d.page = std::make_unique<ReplayWriter>(options.record, simulator, settings);
  } else if (!options.record.empty()) {
    d.recorder = std::make_unique<Recorder>(options.record, simulator, options.record_every);
  }
  d.shots = options.snapshots();
  if (d.shots.empty()) return;
  std::stable_sort(d.shots.begin(), d.shots.end(),
                   [](const auto& a, const auto& b) { return a.time < b.time; });
  d.half_step = 0.5 * simulator.time_step();
  d.scratch.emplace();
  d.album_file = d.scratch->path() / "album.html";
  constexpr double kHardlyEver = 1e-9;  // frames per second; the pictures say themselves when
  d.album = std::make_unique<ReplayWriter>(d.album_file, simulator,
                                           ReplaySettings{.frames_per_second = kHardlyEver, .name = name});
  while (d.taken < d.shots.size() && d.shots[d.taken].time < simulator.state().time + d.half_step) ++d.taken;
}

SimOutputs::~SimOutputs() = default;

bool SimOutputs::any() const { return data_->recorder || data_->page || data_->album; }

void SimOutputs::record(const Simulator& simulator, const StepReport& report) {
  Data& d = *data_;
  if (d.recorder) d.recorder->record(simulator, report);
  if (d.page) d.page->record(simulator, report);
  const std::size_t before = d.taken;
  while (d.taken < d.shots.size() && d.shots[d.taken].time < report.time + d.half_step) ++d.taken;
  if (d.taken > before) d.album->add_frame(simulator, report);
}

void SimOutputs::finish() {
  Data& d = *data_;
  if (d.recorder) d.recorder->finish();
  if (d.page) d.page->finish();
  if (!d.album) return;
  d.album->finish();
  for (const Snapshot& shot : d.shots) {
    take_picture(d.album_file, fmt::format("t={:.9g}&ui=0", shot.time + d.half_step), shot.file);
  }
}

}  // namespace tribo::cli
