// Mutation fuzzing: dice, and the driver that runs cases in child processes, a batch each, so that a crash or a
// hang is seen, the case that caused it can be named and its files are kept.
//
//   FuzzTarget target{.name = "reader", .prepare = ..., .run = ...};
//   return fuzz(target, argc, argv);  // --seconds 60 --seed 1
#pragma once

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <string_view>

namespace tribo::test {

// Draws that are the same on every machine (the distributions of the standard library are not).
class FuzzDice {
 public:
  explicit FuzzDice(std::uint64_t seed) : engine_(seed) {}
  std::size_t below(std::size_t count) { return count == 0 ? 0 : engine_() % count; }
  bool chance(std::size_t one_in) { return below(one_in) == 0; }
  std::uint64_t bits() { return engine_(); }
  template <class Container>
  const auto& one_of(const Container& container) {
    return container[below(std::size(container))];
  }

 private:
  std::mt19937_64 engine_;
};

inline void store(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

struct FuzzTarget {
  std::string name;
  // Before the first case; how many failures there are already.
  std::function<int(const std::filesystem::path& folder)> prepare;
  // Makes a case in the folder and runs it. 0: it went as it should; else the exit code to be reported.
  std::function<int(const std::filesystem::path& folder, FuzzDice& dice)> run;
};

namespace fuzzing {

constexpr int kBatch = 200;
constexpr unsigned kLongestCaseSeconds = 30;
constexpr int kMostFailures = 10;

// Runs cases [first, first + kBatch) in a child; `progress` is shared with it. Returns true if all went well.
inline bool run_batch(const FuzzTarget& target, const std::filesystem::path& folder, std::uint64_t seed,
                      std::uint64_t first, volatile std::uint64_t* progress) {
  std::fflush(nullptr);
  *progress = first;
  const pid_t child = fork();
  if (child == 0) {
    for (std::uint64_t k = first; k < first + kBatch; ++k) {
      *progress = k;
      alarm(kLongestCaseSeconds);
      FuzzDice dice(seed * 0x9E3779B97F4A7C15ull + k);
      const int failure = target.run(folder, dice);
      if (failure != 0) _exit(failure);
    }
    _exit(0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    fmt::print(stderr, "cannot start a process\n");
    return false;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  const std::string how = WIFSIGNALED(status) ? fmt::format("signal {}{}", WTERMSIG(status),
                                                            WTERMSIG(status) == SIGALRM ? " (hangs)" : "")
                                              : fmt::format("exit code {}", WEXITSTATUS(status));
  fmt::print(stderr, "FAILED: case {} of seed {}: {}\n", *progress, seed, how);
  return false;
}

// Where a case may have written one of several files, the newest is the culprit; all are kept.
inline void keep_files(const std::filesystem::path& folder, std::uint64_t number) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path kept = folder / fmt::format("failed_{}", number);
  fs::create_directories(kept, error);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file(error)) fs::rename(entry.path(), kept / entry.path().filename(), error);
  }
}

}  // namespace fuzzing

// Prints how many cases ran; the exit code is 0 if none failed.
inline int fuzz(const FuzzTarget& target, int argc, char** argv) {
  namespace fs = std::filesystem;
  using Clock = std::chrono::steady_clock;
  double seconds = 60.0;
  std::uint64_t seed = 1;
  for (int k = 1; k + 1 < argc; k += 2) {
    const std::string_view option = argv[k];
    if (option == "--seconds") seconds = std::strtod(argv[k + 1], nullptr);
    if (option == "--seed") seed = std::strtoull(argv[k + 1], nullptr, 10);
  }
  const fs::path folder = fs::temp_directory_path() / fmt::format("tribo_{}_fuzz.{}", target.name, getpid());
  fs::create_directories(folder);
  int failures = target.prepare(folder);
  void* shared =
      mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* progress = static_cast<volatile std::uint64_t*>(shared);

  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  std::uint64_t cases = 0;
  while (Clock::now() < deadline && failures < fuzzing::kMostFailures) {
    if (fuzzing::run_batch(target, folder, seed, cases, progress)) {
      cases += fuzzing::kBatch;
      continue;
    }
    ++failures;
    cases = *progress + 1;
    fuzzing::keep_files(folder, *progress);
  }
  fmt::print("{} cases, {} failures\n", cases, failures);
  if (failures > 0) {
    fmt::print("the files are kept in {}\n", folder.string());
  } else {
    fs::remove_all(folder);
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace tribo::test
