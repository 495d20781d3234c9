// <option> and <keyframe> of MJCF.
#pragma once

#include <vector>

#include "tribo/io/mjcf/tree.h"

namespace tribo::detail {

// <option>: gravity, time step, and the flags that switch parts of the physics off. Works on the tree and on the
// couplings of the world.
struct MjcfSwitches {
  bool contact = true, equality = true, gravity = true, limit = true, dry_friction = true, spring = true,
       damper = true, filter_parent = true;
};
MjcfSwitches read_options(const MjcfFile& file, World& world, LoadLog& log);
void apply_switches(const MjcfSwitches& switches, MjcfTree& tree);

// `activated`: the actuators with activations in the order of MuJoCo, -1: left out.
void read_keyframes(const MjcfFile& file, const std::vector<Index>& actuator_numbers,
                    const std::vector<Index>& activated, World& world, LoadLog& log);

}  // namespace tribo::detail
