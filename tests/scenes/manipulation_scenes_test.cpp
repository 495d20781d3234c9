// Robots of primitives, and the short ends of the tasks they do: the nut sits where the workpiece is, on its helix; the pot
// stands where the pile's geometry puts it.
#include <gtest/gtest.h>

#include <cmath>

#include "tribo/base/errors.h"
#include "tribo/multibody/kinematics.h"
#include "tribo/scenes/manipulators.h"
#include "tribo/scenes/scene.h"

namespace tribo {
namespace {

struct TaskRun {
  std::map<std::string, double> values;
  std::int64_t missed = 0;
  double operator[](const std::string& name) const { return values.at(name); }
};

TaskRun run_task(const char* name, const SceneValues& values, double time) {
  Scene scene = make_scene(name, values);
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  while (simulator.state().time < time - 1e-9) {
    scene.control(simulator);
    scene.observe(simulator, simulator.step());
  }
  TaskRun run;
  for (const Observable& o : scene.observables(simulator)) run.values[o.name] = o.value;
  run.missed = simulator.missed_steps();
  return run;
}

// Seated to a micrometre from a quarter of a millimetre above, the flanks within their play of the helix all the way.
TEST(ManipulationScenes, NutIsScrewedDownToItsSeat) {
  const TaskRun start = run_task("assembly", {{"start", 2}}, 0.004);
  EXPECT_NEAR(start["nut_height"], 0.05 * 0.005, 1e-5);
  const TaskRun run = run_task("assembly", {{"start", 2}}, 0.9);
  EXPECT_EQ(run.missed, 0);
  EXPECT_NEAR(run["nut_height"], run["nut_height_exact"], 1e-6);
  EXPECT_LE(std::abs(run["lead_error"]), run["lead_error_bound"] + 1e-6);
  EXPECT_GE(run["turns"], 0.05);
  EXPECT_NEAR(run["turns"], run["turns_exact"], 2.0 * run["lead_error_bound"] / 0.005 + 1e-3);
  EXPECT_GE(run["largest_torque"], 1.5);
  EXPECT_LE(run["deepest_penetration"], 2e-5);
}

TEST(ManipulationScenes, PotIsSetDownOnThePile) {
  EXPECT_EQ(make_scene("piling").world.model.dof_count(), 47);
  const TaskRun run = run_task("piling", {{"first", 4}}, 0.5);
  EXPECT_EQ(run.missed, 0);
  EXPECT_EQ(run["dishes_stacked"], run["dishes_stacked_exact"]);
  EXPECT_NEAR(run["bowl1_height"], run["bowl1_height_exact"], 5e-4);
  EXPECT_NEAR(run["plate_height"], run["plate_height_exact"], 5e-4);
  EXPECT_NEAR(run["pot_height"], run["pot_height_exact"], 5e-4);
  EXPECT_LE(run["deepest_penetration"], 5e-4);
}

TEST(Manipulators, ArmReachesPosesAndSaysWhenItCannot) {
  ModelBuilder builder;
  World world;
  const Vec3 base(0.1, -0.2, 0.3);
  const Mat3 turn = Eigen::AngleAxisd(0.4, Vec3::UnitZ()).toRotationMatrix();
  const detail::Manipulator arm = detail::add_arm7(builder, world, {.prefix = "a_", .pose = {base, turn}});
  const detail::Manipulator hand =
      detail::add_hand16(builder, world, {.prefix = "a_", .parent = arm.body, .pose = arm.end});
  world.model = builder.build();
  const Model& model = world.model;
  EXPECT_EQ(model.dof_count(), 23);
  EXPECT_NEAR(model.total_mass(), 30.61 + 0.4154 + 3 * 0.1388 + 0.1231, 1e-9);
  // Upright the fingertips are above the base by the lengths of all links.
  Kinematics kinematics(model);
  kinematics.set_positions(initial_state(model).q);
  const double length = 0.1575 + 0.2025 + 0.2045 + 0.2155 + 0.1845 + 0.2155 + 0.081 + 0.045 + 0.1778;
  EXPECT_LE((kinematics.pose(hand.body) * hand.end.position - base - Vec3(0.0, 0.0, length)).norm(), 1e-12);
  Vector q = initial_state(model).q;
  const std::vector<Index> joints = detail::joint_numbers(model, arm.joints);
  const double bent[7] = {0.2, 0.5, 0.1, -1.4, 0.0, 1.0, 0.1};
  for (std::size_t k = 0; k < 7; ++k) q[model.joint_coordinate(joints[k])] = bent[k];
  kinematics.set_positions(q);
  Pose target = kinematics.pose(hand.body);
  target.position = target * hand.end.position + Vec3(0.05, 0.1, -0.08);
  target.rotation = Eigen::AngleAxisd(0.3, Vec3(1.0, 2.0, -1.0).normalized()) * target.rotation;
  const Vector found = detail::reach(model, q, arm, hand.body, hand.end.position, target);
  kinematics.set_positions(found);
  EXPECT_LE((kinematics.pose(hand.body) * hand.end.position - target.position).norm(), 2e-6);
  EXPECT_LE((kinematics.pose(hand.body).rotation - target.rotation).norm(), 5e-6);
  for (const Index j : joints) EXPECT_LE(std::abs(found[model.joint_coordinate(j)]), model.joint(j).upper);
  target.position.x() += 3.0;
  EXPECT_THROW(detail::reach(model, q, arm, hand.body, hand.end.position, target), InvalidInput);
  EXPECT_THROW(detail::joint_numbers(model, {"a_arm_joint8"}), InvalidInput);
}

}  // namespace
}  // namespace tribo
