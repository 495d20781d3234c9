#include "apps/tribo/picture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <system_error>
#include <thread>
#include <vector>

#include "apps/tribo/support.h"
#include "tribo/base/errors.h"

extern char** environ;

namespace tribo::cli {

namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0;
}

// Percent-encoded where a path has characters that an address has not.
std::string address_of(const fs::path& file) {
  std::string address = "file://";
  for (const char c : fs::absolute(file).string()) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) ||
                       std::string_view("/-_.~").find(c) != std::string_view::npos;
    address += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return address;
}

// Runs a program in a process group of its own, quietly; false: it failed or had to be ended.
bool run(const std::vector<std::string>& words, std::chrono::seconds patience) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  for (const int stream : {0, 1, 2}) posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_RDWR, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child = 0;
  const int failed = posix_spawn(&child, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) return false;
  const auto end = std::chrono::steady_clock::now() + patience;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      ::kill(-child, SIGKILL);
      ::waitpid(child, &status, 0);
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

fs::path find_browser() {
  if (const char* given = std::getenv("TRIBO_CHROMIUM")) {
    if (is_program(given)) return given;
    throw InvalidInput(fmt::format("TRIBO_CHROMIUM is {}: there is no such program", given));
  }
  const char* path = std::getenv("PATH");
  for (const char* name : {"chromium", "chromium-browser", "google-chrome", "chrome"}) {
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
      if (is_program(fs::path(folder) / name)) return fs::path(folder) / name;
    }
  }
  throw InvalidInput(
      "--snapshot needs the browser Chromium, which is not installed: apt-get install chromium, or name one "
      "in "
      "TRIBO_CHROMIUM. --record FILE.html needs none");
}

void take_picture(const fs::path& page, const std::string& state, const fs::path& picture) {
  constexpr auto kPatience = std::chrono::seconds(120);
  const ScratchFolder scratch;  // the browser's profile, and the picture until it is whole
  const fs::path shot = scratch.path() / "shot.png";
  std::vector<std::string> words{find_browser().string(),
                                 "--headless=new",
                                 "--use-angle=swiftshader",
                                 "--enable-unsafe-swiftshader",
                                 "--hide-scrollbars",
                                 "--no-first-run",
                                 "--disable-extensions",
                                 "--window-size=1280,800",
                                 "--virtual-time-budget=10000",
                                 "--user-data-dir=" + (scratch.path() / "profile").string(),
                                 "--screenshot=" + shot.string()};
  if (::geteuid() == 0) words.emplace_back("--no-sandbox");  // Chromium refuses its sandbox to root
  words.push_back(address_of(page) + "#" + state);
  const bool good = run(words, kPatience);
  std::error_code error;
  if (!good || !fs::is_regular_file(shot, error) || fs::file_size(shot, error) == 0) {
    throw InvalidInput(fmt::format("{}: {} could not take the picture", picture.string(), words[0]));
  }
  fs::copy_file(shot, picture, fs::copy_options::overwrite_existing, error);
  if (error) throw InvalidInput(fmt::format("{}: cannot be written: {}", picture.string(), error.message()));
}

}  // namespace tribo::cli
