// The replay of a live view so far, in a temporary file: memory stays flat however long the simulation runs.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "tribo/io/replay/replay_writer.h"

namespace tribo::detail {

// `stem` with `extension` in `folder`, with a number behind it where such a file is there already.
std::filesystem::path fresh_file(const std::filesystem::path& folder, const std::string& stem,
                                 const std::string& extension);
// The name of a run as part of a file's name.
std::string file_stem(const std::string& name);

class LiveReplay {
 public:
  explicit LiveReplay(std::string name);
  ~LiveReplay();
  LiveReplay(const LiveReplay&) = delete;
  LiveReplay& operator=(const LiveReplay&) = delete;

  // From the simulator's state now. A file that cannot be written never stops a simulation: see problem().
  void begin(const Simulator& simulator);
  void record(const Simulator& simulator, const StepReport& report);
  // Why nothing more is recorded; empty: all is well.
  const std::string& problem() const { return problem_; }
  // A copy of what was recorded since begin(). InvalidInput when there is none or it cannot be written.
  std::filesystem::path save(const std::filesystem::path& folder, std::int64_t missed_steps);

 private:
  std::string name_, problem_;
  std::filesystem::path file_;
  std::unique_ptr<ReplayWriter> writer_;
};

}  // namespace tribo::detail
