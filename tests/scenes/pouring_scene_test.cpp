// Short forms of the pouring task: what is held is carried, what is poured arrives, and without friction neither happens.
#include "tribo/scenes/pouring_scene.h"

#include <gtest/gtest.h>

#include <map>
#include <numbers>

#include "tribo/base/errors.h"

namespace tribo {
namespace {

struct Task {
  std::map<std::string, double> values;
  std::int64_t missed = 0;
  double operator[](const std::string& name) const { return values.at(name); }
};

// From the hands around the bottles until all has fallen: 2.8 s.
Task pour(const SceneValues& values, const char* solver, double time = 2.8) {
  Scene scene = make_scene("pouring", values);
  scene.settings.solver = solver;
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  while (simulator.state().time < time) {
    scene.control(simulator);
    scene.observe(simulator, simulator.step());
  }
  Task task;
  task.missed = simulator.missed_steps();
  for (const Observable& o : scene.observables(simulator)) task.values[o.name] = o.value;
  return task;
}

TEST(PouringScene, HasLeesRobotAndSpheres) {
  const Scene scene = make_scene("pouring", {{"spheres", 27}});
  const Model& model = scene.world.model;
  const Index free_bodies = 2 + 27;
  EXPECT_EQ(model.dof_count(), 28 + 6 * free_bodies);
  const double radius = 0.005, volume = 4.0 / 3.0 * std::numbers::pi * radius * radius * radius;
  EXPECT_NEAR(model.inertia(model.find_body("sphere26")).mass, 10000.0 * volume, 1e-12);
  EXPECT_THROW(make_scene("pouring", {{"spheres", 0}}), InvalidInput);
}

TEST(PouringScene, AllSpheresEndInTheSecondBottle) {
  for (const char* solver : {"auto", "canal"}) {
    const Task task = pour({{"spheres", 9}, {"start", 1}}, solver);
    EXPECT_EQ(task["spheres_in_second"], task["spheres_in_second_exact"]) << solver;
    EXPECT_EQ(task["spilled"], 0.0) << solver;
    EXPECT_LE(task["slip_in_hand"], 0.01) << solver;
    EXPECT_EQ(task.missed, 0) << solver;
  }
}

// A simulator that is set back does the same again, bit for bit.
TEST(PouringScene, CanBeRepeated) {
  Scene scene = make_scene("pouring", {{"spheres", 2}, {"start", 1}});
  Simulator simulator(scene.world, scene.settings);
  std::uint64_t hash[2];
  for (std::uint64_t& end : hash) {
    simulator.restart(scene.start);
    while (simulator.state().time < 0.9) {  // into the second phase
      scene.control(simulator);
      scene.observe(simulator, simulator.step());
    }
    end = simulator.state_hash();
  }
  EXPECT_EQ(hash[0], hash[1]);
}

// The same task with hands of ice: the bottles stay on the table, the spheres in theirs.
TEST(PouringScene, NothingIsPouredWithoutFriction) {
  const Task task = pour({{"spheres", 1}, {"start", 1}, {"grip", 0.0}, {"mu", 0.0}}, "auto");
  EXPECT_EQ(task["spheres_in_second"], 0.0);
  EXPECT_EQ(task["poured_at"], -1.0);
  EXPECT_GE(task["slip_in_hand"], 0.05);
}

}  // namespace
}  // namespace tribo
