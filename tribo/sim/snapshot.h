// Everything that the next steps of a simulator depend on, and its bytes: Simulator::save_state() and load_state().
//
// Bytes, little endian, in this order: "tribosim", version, world, number of bytes of the content, content, sum. World: a
// number made of what is simulated (world_hash.h), so that a state is not loaded into another world. Sum: FNV-1a over
// everything before it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tribo/sim/contact/contact_finder.h"
#include "tribo/sim/settling.h"
#include "tribo/sim/sleeping.h"
#include "tribo/sim/world.h"

namespace tribo {

// What a step has to know of the steps before it.
struct StepMemory {
  struct Impulse {
    std::uint64_t key;
    RowValues impulse;
  };
  std::vector<Impulse> impulses;  // for warm starts
  SettlingPolicy::Memory settling, impact_settling;
  Sleeping::Memory sleeping;
  // Not for the next step but for who asks about the last one: its contacts and the readings of all sensors.
  std::vector<Contact> contacts;
  std::vector<Vec3> contact_impulses, contact_torques;
  Vector sensor_data;
};

struct Snapshot {
  State state;
  Vector control, force, mocap_goal;
  Vec3 gravity = Vec3::Zero();
  std::int64_t steps = 0, missed = 0;
  StepMemory memory;
};

std::vector<std::uint8_t> encode(const Snapshot& snapshot, std::uint64_t world_hash);
// InvalidInput: not a state, of another version, truncated or changed, of another world, or with numbers that do not fit.
Snapshot decode(std::span<const std::uint8_t> bytes, const World& world, std::uint64_t world_hash);

}  // namespace tribo
