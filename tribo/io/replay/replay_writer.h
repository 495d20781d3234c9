// A simulation as a page for the browser: one HTML file with the viewer and the motion, contacts, impulses and
// certificates, frame by frame. It is written while the simulation runs: memory stays flat, and a file whose run was
// stopped half way opens and shows the frames that are there. The format is docs/replay-format.md.
//
// Example
//   ReplayWriter replay("run.html", simulator);
//   while (...) replay.record(simulator, simulator.step());
//   replay.finish();
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "tribo/sim/simulator.h"

namespace tribo {

struct ReplaySettings {
  double frames_per_second = 60.0;  // of simulated time; 0: every step
  Index frames_per_chunk =
      60;                 // 1 .. 100000; memory holds up to two chunks: one is written on its own thread
  std::string name = {};  // of the run, in place of the world's
};

class ReplayWriter {
 public:
  // Begins the file; frame 0 is the simulator's state now. InvalidInput when a setting is out of range, the file cannot
  // be created or this tribo was built without the viewer.
  ReplayWriter(std::filesystem::path file, const Simulator& simulator, ReplaySettings settings = {});
  // Writes what was recorded if finish() was not called.
  ~ReplayWriter();

  // After every step; takes a frame where one is due, and of the first missed step between two of them.
  void record(const Simulator& simulator, const StepReport& report);
  // Takes a frame now, whether one is due or not.
  void add_frame(const Simulator& simulator, const StepReport& report);
  std::int64_t frame_count() const;
  // Writes the frames that wait in memory, for a copy of the file as it is.
  void flush();
  void finish();

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace tribo
