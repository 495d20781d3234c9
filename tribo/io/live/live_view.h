// A running simulation in the browser: a small HTTP server on this machine that shows the motion and takes commands (play,
// pause, step, reset, speed, push a body, controls, gravity, dump the step as a problem file, save the replay so far).
// Any number of browsers may come and go; none of them stops or slows the simulation.
//
// Example
//   Simulator simulator(world);
//   LiveView view(simulator);
//   fmt::print("{}\n", view.url());           // open it in a browser
//   while (view.wait()) {                     // paces, pauses, applies commands
//     simulator.control()[0] = 0.5;
//     view.step();                            // in place of simulator.step()
//   }
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "tribo/sim/simulator.h"

namespace tribo {

struct LiveViewSettings {
  // Only programs of this machine can connect unless another address is given ("0.0.0.0": all of its addresses).
  std::string address = "127.0.0.1";
  int port = 0;                       // 0: any that is free
  double speed = 1.0;                 // simulated s per s of wall clock, at most; 0: as fast as it goes
  double frames_per_second = 60.0;    // of wall clock, at most, > 0
  bool paused = false;                // wait for `play`
  std::filesystem::path folder = "";  // for dumped problems and saved replays; empty: where the program runs
  std::string name = {};              // of the run, in place of the world's
};

class LiveView {
 public:
  // The simulator must outlive the view and stay where it is. `reset` leads back to its state now. InvalidInput when a
  // setting is out of range, the port is taken or this tribo was built without the viewer.
  explicit LiveView(Simulator& simulator, LiveViewSettings settings = {});
  ~LiveView();

  // With a random token, without which nothing is answered.
  std::string url() const;
  int viewer_count() const;

  // Applies what viewers have asked for and returns true when the next step is due; false after stop().
  bool wait();
  // simulator.step() with the pushes and controls of viewers. InvalidInput as there; the view is then paused until a reset.
  StepReport step();
  // From any thread or signal handler.
  void stop();

  // Called by wait() after the simulator was led back to where it was when the view began: for what a program keeps beside it.
  std::function<void()> on_reset;
  // Asked by wait() at least every 20 ms; true: it returns false, and goes on when it is called again. For Ctrl-C.
  std::function<bool()> interrupted;

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace tribo
