// What the commands share: exit codes, messages, reading problem files, writing results whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tribo/formats/problem_file.h"

namespace tribo::cli {

// Scripts rely on these numbers.
enum class ExitCode : int { success = 0, invalid = 2, not_converged = 3 };

// The graver of the two: invalid input before non-convergence before success.
ExitCode worse(ExitCode a, ExitCode b);

// Writes "tribo: <message>" to the standard error.
void print_error(std::string_view message);

// Reads a problem file; InvalidInput always names the file. Its warnings go to the standard error.
LoadedProblem load_problem(const std::filesystem::path& path);

// "unknown <what> 'x'; did you mean 'y'? There are: a, b, c"
std::string unknown_name(std::string_view what, std::string_view given,
                         const std::vector<std::string>& known);

// The position of `given` in `known`, or InvalidInput with the message above.
std::size_t index_of_name(std::string_view what, std::string_view given,
                          const std::vector<std::string>& known);

// Writes `content` to a temporary file beside `path` and renames it, so that readers never see half a file.
// Anything that exists and is not a regular file (/dev/null, a pipe) is written directly.
void write_file(const std::filesystem::path& path, std::string_view content);

// InvalidInput unless a file can be put at `path`: before a long computation rather than after it.
void require_writable(std::string_view option, const std::filesystem::path& path);

// Makes a folder and those above it; InvalidInput says why that cannot be. `option` stands before its name, may be empty.
void make_folder(std::string_view option, const std::filesystem::path& folder);

// A new folder for temporary files that nobody else may enter; removed at the end with all that is in it.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// One program at a time writes into a folder; InvalidInput for the second one.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int file_;
};

// True if both name the same existing file, or are the same path.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

// "1 contact", "40 contacts".
std::string counted(long long count, std::string_view noun);

// Words in lines of at most `width` characters; `line_break` stands between the lines.
std::string wrap_words(const std::string& text, std::size_t width, const std::string& line_break);

// Milliseconds, e.g. "0.0412", "3.50", "12.8", "1280".
std::string format_ms(double milliseconds);

// An error value, e.g. "3.2e-09"; "0" for zero, "nan" and "inf" as such.
std::string format_error(double value);

}  // namespace tribo::cli
