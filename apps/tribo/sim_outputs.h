// What `tribo sim` leaves behind besides its summary: recordings, replay pages and pictures; and who may watch.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/tribo/commands.h"
#include "tribo/sim/simulator.h"

namespace tribo::cli {

struct Snapshot {
  double time;  // s, simulated
  std::string file;
};

struct SimOutputOptions {
  std::string record;
  Index record_every = 1;
  std::optional<double> record_fps;         // of pages
  std::vector<std::string> snapshot_texts;  // t=1.5:out.png
  std::optional<std::string> view;          // port, possibly empty
  std::string view_address;                 // empty: loopback

  void add_to(CLI::App& command);
  // InvalidInput for what cannot be, before anything is loaded.
  void check() const;
  std::vector<Snapshot> snapshots() const;
  int port() const;
  bool is_page() const;
  // Shapes that only look like something are worth reading.
  bool wants_visuals() const;
  std::vector<std::string> files() const;
};

// Recordings and pictures of one run.
class SimOutputs {
 public:
  SimOutputs(const SimOutputOptions& options, const Simulator& simulator, const std::string& name);
  ~SimOutputs();

  bool any() const;
  void record(const Simulator& simulator, const StepReport& report);
  void finish();

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace tribo::cli
