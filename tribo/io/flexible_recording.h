// What a recording in HDF5 (io/recorder.h) holds of flexible bodies. Nothing where the world has none.
//
//   /flexible/first_node, /flexible/first_triangle [flexible bodies + 1]: the nodes of body f among all nodes, its triangles
//   among all triangles
//   /flexible/triangles [triangles x 3]: the nodes of the surface among all nodes, counter-clockwise seen from outside
//   /node_position [frames x nodes x 3] m, /node_velocity [frames x nodes x 3] m/s, world axes
//   /elastic_energy [frames] J
//   /flexible_contact_start [frames + 1]: the contacts of frame f are [start[f], start[f + 1]) of
//   /flexible_contact_position, _normal, _impulse [contacts x 3] (world; towards and on the second side; N s),
//   /flexible_contact_gap, _friction [contacts] m, 1,
//   /flexible_contact_sides [contacts x 3]: geom of the first side, flexible body of the first side (-1: none), flexible body of
//   the second side
//   /names/flexible_bodies (text, one name per line)
#pragma once

#include <string>
#include <vector>

#include "tribo/formats/hdf5_writer.h"
#include "tribo/sim/simulator.h"

namespace tribo::detail {

class FlexibleRecording {
 public:
  explicit FlexibleRecording(const World& world);

  // A frame: the state of the simulator now, the contacts of its last step.
  void add(const Simulator& simulator);
  // After the group /names.
  void write(Hdf5Writer& out) const;

 private:
  std::vector<Index> first_node_, first_triangle_, contact_start_{0};
  std::vector<double> triangle_;
  std::string names_;
  std::vector<double> position_, velocity_, energy_;
  std::vector<double> contact_position_, contact_normal_, contact_impulse_, contact_gap_, contact_friction_,
      contact_sides_;
};

}  // namespace tribo::detail
