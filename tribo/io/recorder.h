// Recordings of simulations: positions, contacts, impulses, certificates and energies, step by step, to HDF5 (.h5,
// .hdf5) or CSV (.csv), chosen by the name of the file.
//
// Example
//   Recorder recorder("run.h5", simulator);
//   while (...) recorder.record(simulator, simulator.step());
//   recorder.finish();                        // writes the file; nothing is left half-written before
//
// HDF5: one dataset per quantity, frames along the first axis.
//   /time [frames] s · /q [frames x coordinates] · /v [frames x dofs] · /step [frames]
//   /body_position [frames x bodies x 3] m · /body_rotation [frames x bodies x 4] quaternion wxyz
//   /contact_start [frames + 1]: the contacts of frame f are [contact_start[f], contact_start[f + 1]) of
//   /contact_position, /contact_normal, /contact_impulse [contacts x 3] (world; on the second geom; N s),
//   /contact_torque [contacts x 3] where torsional or rolling friction acted (world; on the second geom; N m s),
//   /contact_gap [contacts] m, /contact_geoms [contacts x 2],
//   /contact_area, /contact_pressure [contacts] m^2, Pa where there were faces of pressure fields
//   /contact_velocity [contacts x 3] (world; second against first; m/s), /contact_friction, /contact_error, /contact_island,
//   /contact_state (0 open, 1 sticks, 2 slides) [contacts]; see ContactDetail
//   /error, /iterations, /islands, /missed, /penetration, /kinetic_energy, /weight_energy, /spring_energy [frames]
//   /solve_time, /step_time [frames] s of wall clock
//   of flexible bodies: /node_position, /node_velocity [frames x nodes x 3], the surface, contacts, elastic energy
//   (io/flexible_recording.h)
//   /view/world, /view/position_quantum: shapes and colours for `tribo view` (docs/replay-format.md)
//   /info/world, /info/solver, /info/law, /info/scheme, /info/version (texts), /info/time_step, /info/tolerance;
//   /names/bodies, /names/geoms (texts, one name per line)
// CSV: one line per frame with time, step, contacts, error, iterations, penetration, energies, then q and v by name;
// nothing of flexible bodies but what is in the energies and the contacts' number.
#pragma once

#include <filesystem>
#include <memory>

#include "tribo/sim/simulator.h"

namespace tribo {

class Recorder {
 public:
  // InvalidInput when the extension is unknown or the file cannot be written there. `every`: frames are taken of
  // every so many steps; the state before the first step is frame 0.
  Recorder(std::filesystem::path file, const Simulator& simulator, Index every = 1);
  ~Recorder();

  void record(const Simulator& simulator, const StepReport& report);
  Index frame_count() const;
  void finish();

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace tribo
