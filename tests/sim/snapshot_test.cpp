// Simulator::save_state() and load_state(): the steps that follow have the same bits.
#include "tribo/sim/snapshot.h"

#include <gtest/gtest.h>

#include "tests/io/loading.h"
#include "tribo/scenes/scene.h"
#include "tribo/sim/simulator.h"
#include "tribo/sim/world_hash.h"

namespace tribo::test {
namespace {

struct Trace {
  std::vector<std::uint64_t> hashes;
  std::vector<Index> iterations;
  std::int64_t steps = 0, missed = 0;
  bool operator==(const Trace&) const = default;
};

Trace follow(Simulator& simulator, int steps) {
  Trace trace;
  for (int k = 0; k < steps; ++k) {
    trace.iterations.push_back(simulator.step().iterations);
    trace.hashes.push_back(simulator.state_hash());
  }
  trace.steps = simulator.step_count();
  trace.missed = simulator.missed_steps();
  return trace;
}

void expect_same_future(const World& world, const SimulatorSettings& settings, const State& start,
                        const std::function<void(Simulator&)>& prepare, int before, int after) {
  Simulator simulator(world, settings);
  simulator.set_state(start);
  if (prepare) prepare(simulator);
  follow(simulator, before);
  const std::vector<std::uint8_t> bytes = simulator.save_state();
  const Vector sensors = simulator.sensor_data();
  const Trace expected = follow(simulator, after);
  Simulator fresh(world, settings);
  for (Simulator* other : {&fresh, &simulator}) {
    other->load_state(bytes);
    EXPECT_EQ(other->save_state(), bytes);
    EXPECT_EQ(other->sensor_data(), sensors);
    EXPECT_EQ(other->contact_impulses().size(), other->contacts().size());
    EXPECT_TRUE(follow(*other, after) == expected);
  }
}

TEST(Snapshot, ScenesGoOnWithTheSameBits) {
  for (const char* name : {"stack", "clutter", "quadrupeds", "cradle", "arm-press", "cylinder-stand"}) {
    SCOPED_TRACE(name);
    const Scene scene = make_scene(name);
    SimulatorSettings settings = scene.settings;
    expect_same_future(scene.world, settings, scene.start, scene.control, 60, 60);
    settings.threads = 2;
    settings.scheme = Scheme::midpoint;
    expect_same_future(scene.world, settings, scene.start, scene.control, 20, 20);
  }
}

TEST(Snapshot, SleepersSleepOn) {
  const Scene scene = make_scene("stack", {{"boxes", 3}});
  SimulatorSettings settings = scene.settings;
  settings.sleeping = true;
  settings.sleep_time = 0.1;
  const int falls_asleep =
      static_cast<int>(0.1 / (settings.time_step > 0 ? settings.time_step : scene.world.time_step));
  for (const int before : {falls_asleep / 2, 4 * falls_asleep}) {
    expect_same_future(scene.world, settings, scene.start, nullptr, before, 3 * falls_asleep);
  }
}

TEST(Snapshot, ControlsForcesGravityActivationsAndMocapAreKept) {
  const World world = load_model(R"(<worldbody><geom type="plane" size="5 5 .1"/>
<body name="m" mocap="true" pos="0 0 .05"><geom type="box" size="1 1 .05"/></body>
<body pos="0 0 .2"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/><body pos="0 0 .1"><joint name="j" axis="0 1 0"/>
<geom type="capsule" size=".03 .1" pos="0 0 .1" mass=".3"/><site name="s" pos="0 0 .2"/></body></body></worldbody>
<actuator><general joint="j" dyntype="filter" dynprm="0.05" gainprm="2"/></actuator>
<sensor><accelerometer site="s"/><force site="s"/><jointpos joint="j"/></sensor>)")
                          .world;
  expect_same_future(
      world, {}, initial_state(world.model),
      [](Simulator& simulator) {
        simulator.control()[0] = 0.3;
        simulator.force()[1] = 0.2;
        simulator.set_gravity(Vec3(0.1, 0.0, -8.0));
        simulator.move_mocap(1, {Vec3(0.0, 0.0, 0.06), Mat3::Identity()});
      },
      40, 40);
}

std::string refused(Simulator& simulator, std::span<const std::uint8_t> bytes) {
  const std::uint64_t before = simulator.state_hash();
  std::string message = "loaded";
  try {
    simulator.load_state(bytes);
  } catch (const InvalidInput& error) {
    message = error.what();
  }
  EXPECT_EQ(simulator.state_hash(), before);
  return message;
}

TEST(Snapshot, DamagedBytesAreRefusedAndChangeNothing) {
  const Scene scene = make_scene("stack", {{"boxes", 2}});
  Simulator simulator(scene.world, scene.settings);
  follow(simulator, 5);
  std::vector<std::uint8_t> bytes = simulator.save_state();
  simulator.step();
  for (std::size_t length = 0; length < bytes.size(); length += length < 40 ? 1 : 37) {
    EXPECT_NE(refused(simulator, std::span(bytes).first(length)), "loaded") << length;
  }
  EXPECT_TRUE(contains(refused(simulator, std::span(bytes).first(bytes.size() - 1)), "truncated"));
  for (std::size_t at = 0; at < bytes.size(); at += 11) {
    std::vector<std::uint8_t> changed = bytes;
    changed[at] ^= 0x10;
    EXPECT_NE(refused(simulator, changed), "loaded") << at;
  }
  std::vector<std::uint8_t> longer = bytes;
  longer.push_back(0);
  EXPECT_TRUE(contains(refused(simulator, longer), "after its end"));
  EXPECT_TRUE(contains(refused(simulator, std::vector<std::uint8_t>(200, 7)), "not a saved state"));
}

TEST(Snapshot, AnotherWorldIsRefused) {
  const Scene scene = make_scene("stack", {{"boxes", 2}});
  Simulator simulator(scene.world, scene.settings);
  const std::vector<std::uint8_t> bytes = simulator.save_state();
  World heavier = scene.world;
  heavier.geoms.back().material.friction += 0.1;
  Simulator other(heavier, scene.settings);
  EXPECT_TRUE(contains(refused(other, bytes), "another world"));
  World otherwise = scene.world;
  otherwise.friction_rule = FrictionRule::harmonic;
  EXPECT_NE(world_hash(otherwise), world_hash(scene.world));
  World windy = scene.world;
  windy.medium.wind.x() = 1.0;
  EXPECT_NE(world_hash(windy), world_hash(scene.world));
  World renamed = scene.world;
  renamed.geoms.back().name = "renamed";
  renamed.gravity.z() = -1.0;
  EXPECT_EQ(world_hash(renamed), world_hash(scene.world));
}

// With the right sum, so that the content itself is looked at.
TEST(Snapshot, NumbersThatDoNotFitAreRefused) {
  const Scene scene = make_scene("stack", {{"boxes", 2}});
  Simulator simulator(scene.world, scene.settings);
  follow(simulator, 3);
  const std::uint64_t hash = world_hash(scene.world);
  const Snapshot good = decode(simulator.save_state(), scene.world, hash);
  const auto check = [&](const std::function<void(Snapshot&)>& spoil, const std::string& words) {
    Snapshot bad = good;
    spoil(bad);
    EXPECT_TRUE(contains(refused(simulator, encode(bad, hash)), words)) << words;
  };
  check([](Snapshot& s) { s.state.q.conservativeResize(3); }, "sizes");
  check([](Snapshot& s) { s.state.q[0] = std::nan(""); }, "not finite");
  check([](Snapshot& s) { s.steps = -1; }, "counters");
  check([](Snapshot& s) { s.memory.sleeping.group[0] = 99; }, "sleeper");
  check([](Snapshot& s) { s.memory.contacts.at(0).geom_b = 99; }, "geom");
  check([](Snapshot& s) { s.memory.contact_torques.pop_back(); }, "as many");
  check([](Snapshot& s) { s.memory.settling.steps.pop_back(); }, "settling");
}

}  // namespace
}  // namespace tribo::test
