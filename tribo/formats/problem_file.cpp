#include "tribo/formats/problem_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <system_error>

#include "tribo/base/errors.h"
#include "tribo/formats/fclib_reader.h"
#include "tribo/formats/fclib_writer.h"
#include "tribo/formats/hdf5_reader.h"
#include "tribo/formats/siconos_dat.h"

namespace tribo {
namespace {

namespace fs = std::filesystem;

void check_readable(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const std::string name = path.string();
  if (!fs::exists(status)) throw InvalidInput(fmt::format("{}: no such file", name));
  if (fs::is_directory(status)) throw InvalidInput(fmt::format("{}: is a folder; name a file in it", name));
  if (!fs::is_regular_file(status)) throw InvalidInput(fmt::format("{}: is not a regular file", name));
  if (!std::ifstream(path).is_open())
    throw InvalidInput(fmt::format("{}: may not be read (permissions)", name));
}

LoadedProblem read_any(const fs::path& path) {
  if (detail::is_hdf5(path)) return detail::read_fclib(path);
  const std::string extension = path.extension().string();
  if (extension == ".dat") return detail::read_siconos_dat(path);
  if (extension == ".hdf5" || extension == ".h5") {
    throw InvalidInput(fmt::format("{}: is not an HDF5 file, in spite of its name", path.string()));
  }
  throw InvalidInput(
      fmt::format("{}: neither an HDF5 file (FCLIB) nor a Siconos text file (.dat)", path.string()));
}

// Removes the unfinished file unless it was moved to its place.
class Unfinished {
 public:
  explicit Unfinished(fs::path path) : path_(std::move(path)) {}
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished() {
    std::error_code error;
    if (!moved_) fs::remove(path_, error);
  }
  const fs::path& path() const { return path_; }
  void move_to(const fs::path& target) {
    std::error_code error;
    fs::rename(path_, target, error);
    if (error) throw InvalidInput(fmt::format("{}: cannot be written: {}", target.string(), error.message()));
    moved_ = true;
  }

 private:
  fs::path path_;
  bool moved_ = false;
};

// `message` with the file's name in front, once.
std::string with_file(const fs::path& path, const std::string& message) {
  return message.starts_with(path.string()) ? message : fmt::format("{}: {}", path.string(), message);
}

}  // namespace

LoadedProblem read_problem(const fs::path& path) {
  check_readable(path);
  try {
    return read_any(path);
  } catch (const InvalidInput& error) {
    throw InvalidInput(with_file(path, error.what()));
  }
}

void write_problem(const fs::path& path, const ContactProblem& problem, const WriteOptions& options) {
  std::error_code error;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!path.has_filename() || fs::is_directory(path, error)) {
    throw InvalidInput(fmt::format("{}: is a folder; name a file in it", path.string()));
  }
  if (!fs::is_directory(folder, error)) {
    throw InvalidInput(fmt::format("{}: the folder {} does not exist", path.string(), folder.string()));
  }
  Unfinished file(folder / fmt::format(".{}.{}.tmp", path.filename().string(), ::getpid()));
  try {
    detail::write_fclib(file.path(), problem, options);
  } catch (const InvalidInput& failure) {
    std::string message = failure.what();
    const std::string temporary = file.path().string() + ": ";
    if (message.starts_with(temporary)) message.erase(0, temporary.size());
    throw InvalidInput(with_file(path, message));
  }
  file.move_to(path);
}

}  // namespace tribo
