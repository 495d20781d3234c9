#include "tribo/io/state_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_folder.h"
#include "tribo/base/errors.h"
#include "tribo/io/recorder.h"
#include "tribo/scenes/scene.h"

namespace tribo {
namespace {

World crate_and_rod() {
  World world;
  ModelBuilder builder;
  const Index crate =
      builder.add_body({.name = "crate", .parent = 0, .inertia = uniform_inertia(Shape::sphere(0.1), 1.0)});
  static_cast<void>(crate);
  builder.add_joint({.name = "float", .body = 1, .kind = JointKind::free});
  const Index rod =
      builder.add_body({.name = "rod", .parent = 0, .inertia = RigidInertia::point(1.0, {0.0, 0.0, -1.0})});
  builder.add_joint({.name = "pivot", .body = rod, .kind = JointKind::hinge, .axis = Vec3::UnitY()});
  world.model = builder.build();
  return world;
}

class StateFile : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& text, const std::string& name = "state.json") const {
    const std::filesystem::path file = folder / name;
    std::ofstream(file) << text;
    return file;
  }
  // The message of reading it.
  std::string complaint(const std::string& text) const {
    try {
      read_state(world.model, write(text));
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "none";
  }
  World world = crate_and_rod();
  test::TemporaryFolder folder;
};

TEST_F(StateFile, TakesWhatIsNamedAndKeepsTheRest) {
  const State state = read_state(
      world.model,
      write(R"({"time": 2.5, "v": [1, 2, 3, 4, 5, 6, 7], "joints": {"pivot": {"q": 0.5, "v": [-1]}}})"));
  EXPECT_EQ(state.time, 2.5);
  EXPECT_EQ(state.q[7], 0.5);
  EXPECT_EQ(state.q[3], 1.0);  // the reference
  EXPECT_EQ(state.v[5], 6.0);
  EXPECT_EQ(state.v[6], -1.0);
}

TEST_F(StateFile, NormalisesQuaternions) {
  const State state =
      read_state(world.model, write(R"({"joints": {"float": {"q": [0, 0, 1, 2, 0, 0, 0]}}})"));
  EXPECT_EQ(state.q[3], 1.0);
}

TEST_F(StateFile, NamesFileAndField) {
  EXPECT_NE(complaint(R"({"q": [1, 2]})").find("state.json: q: has 2 numbers; this model needs 8"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"v": [1, 2, 3, "x", 5, 6, 7]})").find("v[3]: is no number"), std::string::npos);
  EXPECT_NE(complaint(R"({"v": [1, 2, 3, 1e999, 5, 6, 7]})").find("state.json"), std::string::npos);
  EXPECT_NE(complaint(R"({"joints": {"hip": {"q": 1}}})").find("joints.hip: the model has no joint"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"joints": {"pivot": {"qq": 1}}})").find("joints.pivot.qq: unknown"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"joints": {"float": {"q": [0, 0, 1, 0, 0, 0, 0]}}})").find("state.json: q:"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"speed": 1})").find("speed: unknown"), std::string::npos);
  EXPECT_NE(complaint(R"([1, 2])").find("must hold an object"), std::string::npos);
  EXPECT_NE(complaint("{").find("neither a recording"), std::string::npos);
  EXPECT_THROW(read_state(world.model, folder.path() / "none.json"), InvalidInput);
  EXPECT_THROW(read_state(world.model, folder.path()), InvalidInput);
  EXPECT_THROW(read_state(world.model, write("{}"), 0), InvalidInput);
}

// A run that goes on from a file is the run that never stopped, as far as the state decides.
TEST_F(StateFile, WrittenStatesComeBackBitForBit) {
  Scene scene = make_scene("spin");
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  for (int k = 0; k < 37; ++k) simulator.step();
  const std::filesystem::path file = folder.path() / "end.json";
  write_state(simulator.model(), simulator.state(), file);
  const State state = read_state(simulator.model(), file);
  EXPECT_EQ(state.q, simulator.state().q);
  EXPECT_EQ(state.v, simulator.state().v);
  EXPECT_EQ(state.time, simulator.state().time);
  EXPECT_THROW(write_state(simulator.model(), state, folder.path() / "no" / "end.json"), InvalidInput);
}

TEST_F(StateFile, FramesOfRecordings) {
  Simulator simulator(world);
  State state = initial_state(world.model);
  state.v[6] = 1.0;
  simulator.set_state(state);
  const std::filesystem::path file = folder.path() / "run.h5";
  Recorder recorder(file, simulator);
  std::vector<State> states{simulator.state()};
  for (int k = 0; k < 5; ++k) {
    recorder.record(simulator, simulator.step());
    states.push_back(simulator.state());
  }
  recorder.finish();
  EXPECT_EQ(read_state(world.model, file).q, states.back().q);
  for (Index frame = 0; frame <= 5; ++frame) {
    const State read = read_state(world.model, file, frame);
    EXPECT_EQ(read.q, states[static_cast<std::size_t>(frame)].q);
    EXPECT_EQ(read.v, states[static_cast<std::size_t>(frame)].v);
  }
  EXPECT_THROW(read_state(world.model, file, 6), InvalidInput);
  EXPECT_THROW(read_state(make_scene("spin").world.model, file), InvalidInput);
}

TEST_F(StateFile, FramesOfRecordingsHaveActivationsAndMocapBodies) {
  World driven;
  ModelBuilder builder;
  const Index rod =
      builder.add_body({.name = "rod", .parent = 0, .inertia = RigidInertia::point(1.0, {0.0, 0.0, -1.0})});
  const Index pivot =
      builder.add_joint({.name = "pivot", .body = rod, .kind = JointKind::hinge, .axis = Vec3::UnitY()});
  const Index hand = builder.add_body({.name = "hand", .parent = 0, .mocap = true});
  ActuatorDescription motor{.name = "motor", .joint = pivot};
  motor.activation = ActivationKind::filter;
  motor.activation_times = {0.05, 0.0, 0.0};
  builder.add_actuator(motor);
  driven.model = builder.build();
  Simulator simulator(driven);
  simulator.control()[0] = 1.0;
  const std::filesystem::path file = folder.path() / "run.h5";
  Recorder recorder(file, simulator);
  for (int k = 0; k < 5; ++k) {
    simulator.move_mocap(hand, {Vec3(0.01 * (k + 1), 0.0, 0.2), Mat3::Identity()});
    recorder.record(simulator, simulator.step());
  }
  recorder.finish();
  const State read = read_state(driven.model, file);
  ASSERT_GT(simulator.state().activation[0], 0.0);
  EXPECT_EQ(read.activation, simulator.state().activation);
  EXPECT_EQ(read.mocap, simulator.state().mocap);
}

TEST_F(StateFile, NodesOfFlexibleBodiesComeBack) {
  Scene scene = make_scene("flexible-stack");
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  const std::filesystem::path recording = folder.path() / "run.h5", json = folder.path() / "end.json";
  Recorder recorder(recording, simulator);
  for (int k = 0; k < 3; ++k) recorder.record(simulator, simulator.step());
  recorder.finish();
  write_state(simulator.model(), simulator.state(), json);
  ASSERT_GT(simulator.state().node_velocity.norm(), 0.0);
  for (const std::filesystem::path& file : {recording, json}) {
    const State read = read_state(simulator.model(), file);
    EXPECT_EQ(read.node_position, simulator.state().node_position) << file;
    EXPECT_EQ(read.node_velocity, simulator.state().node_velocity) << file;
  }
}

// A world in which nothing moves has coordinates neither.
TEST_F(StateFile, ModelsWithoutCoordinates) {
  const Model none = ModelBuilder().build();
  EXPECT_EQ(read_state(none, write(R"({"time": 2})")).time, 2.0);
}

}  // namespace
}  // namespace tribo
