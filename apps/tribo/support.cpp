#include "apps/tribo/support.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <sstream>
#include <thread>

#include "tribo/base/errors.h"

namespace tribo::cli {

namespace fs = std::filesystem;

ExitCode worse(ExitCode a, ExitCode b) {
  const auto rank = [](ExitCode code) {
    return code == ExitCode::invalid ? 2 : code == ExitCode::not_converged ? 1 : 0;
  };
  return rank(a) >= rank(b) ? a : b;
}

void print_error(std::string_view message) {
  std::fflush(stdout);  // so that messages appear after the output that preceded them
  fmt::print(stderr, "tribo: {}\n", message);
}

LoadedProblem load_problem(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    throw InvalidInput(fmt::format("{}: {}", path.string(), error ? error.message() : "no such file"));
  }
  if (fs::is_directory(status)) {
    throw InvalidInput(fmt::format("{} is a directory: name problem files (.hdf5, .dat)", path.string()));
  }
  try {
    LoadedProblem loaded = read_problem(path);
    for (const std::string& warning : loaded.warnings) {
      print_error(fmt::format("warning: {}: {}", path.string(), warning));
    }
    return loaded;
  } catch (const std::bad_alloc&) {
    throw InvalidInput(fmt::format("{}: not enough memory to read it", path.string()));
  } catch (const std::exception& exception) {
    const std::string message = exception.what();
    if (message.find(path.string()) != std::string::npos) throw InvalidInput(message);
    throw InvalidInput(fmt::format("{}: {}", path.string(), message));
  }
}

namespace {

// Levenshtein distance: insertions, deletions and substitutions from a to b.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

std::string unknown_name(std::string_view what, std::string_view given,
                         const std::vector<std::string>& known) {
  std::string message = fmt::format("unknown {} '{}'", what, given);
  const auto nearest = std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
    return edit_distance(given, a) < edit_distance(given, b);
  });
  // A guess that shares less than half of its letters helps nobody.
  if (nearest != known.end() &&
      edit_distance(given, *nearest) <= std::max<std::size_t>(1, nearest->size() / 2)) {
    message += fmt::format("; did you mean '{}'?", *nearest);
  } else {
    message += '.';
  }
  return message + fmt::format(" There are: {}", fmt::join(known, ", "));
}

std::size_t index_of_name(std::string_view what, std::string_view given,
                          const std::vector<std::string>& known) {
  const auto found = std::find(known.begin(), known.end(), given);
  if (found == known.end()) throw InvalidInput(unknown_name(what, given, known));
  return static_cast<std::size_t>(found - known.begin());
}

void write_file(const fs::path& path, std::string_view content) {
  std::error_code ignored;
  const bool direct = fs::exists(path, ignored) && !fs::is_regular_file(path, ignored);
  const fs::path target = direct ? path : fs::path(fmt::format("{}.{}.tmp", path.string(), ::getpid()));

  const auto fail = [&](int error) {
    if (!direct) fs::remove(target, ignored);
    throw InvalidInput(fmt::format("cannot write {}: {}", path.string(), std::strerror(error)));
  };
  std::FILE* file = std::fopen(target.c_str(), "wb");
  if (file == nullptr) fail(errno);
  bool good = std::fwrite(content.data(), 1, content.size(), file) == content.size();
  int error = errno;
  if (std::fclose(file) != 0) {
    if (good) error = errno;
    good = false;
  }
  if (!good) fail(error);
  if (!direct && std::rename(target.c_str(), path.c_str()) != 0) fail(errno);
}

void require_writable(std::string_view option, const fs::path& path) {
  std::error_code ignored;
  if (path.empty()) throw InvalidInput(fmt::format("{} needs a file name", option));
  if (fs::is_directory(path, ignored)) {
    throw InvalidInput(fmt::format("{} {}: this is a directory, name a file", option, path.string()));
  }
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ignored)) {
    throw InvalidInput(fmt::format("{} {}: there is no folder {}", option, path.string(), folder.string()));
  }
  const bool special = fs::exists(path, ignored) && !fs::is_regular_file(path, ignored);  // /dev/null, a pipe
  if (!special && ::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw InvalidInput(
        fmt::format("{} {}: the folder {} may not be written to", option, path.string(), folder.string()));
  }
}

void make_folder(std::string_view option, const fs::path& folder) {
  std::error_code error, ignored;
  fs::create_directories(folder, error);
  if (fs::is_directory(folder, ignored)) return;
  const std::string why =
      fs::exists(folder, ignored) ? std::string("there is a file of this name") : error.message();
  throw InvalidInput(fmt::format("{}{}{}: this folder cannot be made: {}", option, option.empty() ? "" : " ",
                                 folder.string(), why));
}

ScratchFolder::ScratchFolder() {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "tribo-XXXXXX").string();
  if (error || ::mkdtemp(name.data()) == nullptr)
    throw InvalidInput("there is no folder for temporary files; name one in TMPDIR");
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

FolderLock::FolderLock(const fs::path& folder)
    : file_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  // The processes of a run that was killed take a moment to be gone.
  constexpr int kAttempts = 40;
  for (int k = 0; k < kAttempts; ++k) {
    // Where a file system knows no locks there is none.
    if (file_ < 0 || ::flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ::close(file_);
  throw InvalidInput(fmt::format(
      "{}: another tribo is writing into this folder; wait for it, or choose another one", folder.string()));
}

FolderLock::~FolderLock() {
  if (file_ >= 0) ::close(file_);
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored) ||
         fs::absolute(a).lexically_normal() == fs::absolute(b).lexically_normal();
}

std::string counted(long long count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string wrap_words(const std::string& text, std::size_t width, const std::string& line_break) {
  std::istringstream words(text);
  std::string wrapped;
  std::size_t line_length = 0;
  for (std::string word; words >> word;) {
    if (line_length > 0) {
      const bool fits = line_length + 1 + word.size() <= width;
      wrapped += fits ? " " : line_break;
      line_length = fits ? line_length + 1 : 0;
    }
    wrapped += word;
    line_length += word.size();
  }
  return wrapped;
}

std::string format_ms(double milliseconds) {
  if (!std::isfinite(milliseconds)) return "-";
  const double magnitude = std::abs(milliseconds);
  if (magnitude >= 100.0) return fmt::format("{:.0f}", milliseconds);
  if (magnitude >= 10.0) return fmt::format("{:.1f}", milliseconds);
  if (magnitude >= 1.0) return fmt::format("{:.2f}", milliseconds);
  return fmt::format("{:.{}f}", milliseconds, magnitude >= 0.1 ? 3 : 4);
}

std::string format_error(double value) { return value == 0.0 ? "0" : fmt::format("{:.1e}", value); }

}  // namespace tribo::cli
