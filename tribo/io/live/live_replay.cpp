#include "tribo/io/live/live_replay.h"

#include <fmt/format.h>

#include <cctype>
#include <fstream>
#include <random>
#include <system_error>
#include <utility>

#include "tribo/base/errors.h"
#include "tribo/io/replay/page.h"

namespace tribo::detail {

namespace fs = std::filesystem;

fs::path fresh_file(const fs::path& folder, const std::string& stem, const std::string& extension) {
  std::error_code ignored;
  fs::path file = folder / (stem + extension);
  for (int k = 2; fs::exists(file, ignored); ++k) file = folder / fmt::format("{}-{}{}", stem, k, extension);
  return file;
}

std::string file_stem(const std::string& name) {
  constexpr std::size_t kLongest = 60;  // characters
  std::string stem;
  for (const char c : name.substr(0, kLongest)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
    stem += plain ? c : '_';
  }
  return stem.empty() ? "tribo" : stem;
}

// A name that nobody can guess and that tells views apart.
LiveReplay::LiveReplay(std::string name) : name_(std::move(name)) {
  std::random_device random;
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  if (!error) file_ = folder / fmt::format("tribo-live-{:08x}{:08x}.html", random(), random());
}

LiveReplay::~LiveReplay() {
  writer_.reset();
  std::error_code ignored;
  if (!file_.empty()) fs::remove(file_, ignored);
}

void LiveReplay::begin(const Simulator& simulator) {
  writer_.reset();
  problem_.clear();
  if (file_.empty()) {
    problem_ = "there is no folder for temporary files (TMPDIR)";
    return;
  }
  try {
    writer_ = std::make_unique<ReplayWriter>(file_, simulator, ReplaySettings{.name = name_});
  } catch (const InvalidInput& error) {
    problem_ = error.what();
  }
}

void LiveReplay::record(const Simulator& simulator, const StepReport& report) {
  if (!problem_.empty()) return;
  try {
    writer_->record(simulator, report);
  } catch (const InvalidInput& error) {
    problem_ = error.what();
  }
}

fs::path LiveReplay::save(const fs::path& folder, std::int64_t missed_steps) {
  if (problem_.empty()) {
    try {
      writer_->flush();
    } catch (const InvalidInput& error) {
      problem_ = error.what();
    }
  }
  if (!problem_.empty()) throw InvalidInput("the replay could not be recorded: " + problem_);
  const fs::path file = fresh_file(folder, file_stem(name_), ".html");
  std::error_code error;
  fs::copy_file(file_, file, error);
  if (!error) {
    std::ofstream out(file, std::ios::binary | std::ios::app);
    write_end(out, writer_->frame_count(), missed_steps, 0);
    out.close();
    if (!out) error = std::make_error_code(std::errc::io_error);
  }
  if (error) {
    std::error_code ignored;
    fs::remove(file, ignored);
    throw InvalidInput(fmt::format("{}: cannot be written: {}", file.string(), error.message()));
  }
  return fs::absolute(file);
}

}  // namespace tribo::detail
