// The dual-arm task in a short form, with two of the marbles.
#include "tribo/scenes/dual_arm_scene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tribo/scenes/dual_arm_objects.h"

namespace tribo {
namespace {

TEST(DualArmScene, HasThePapersDofs) {
  const Scene scene = make_scene("dual-arm");
  EXPECT_EQ(scene.world.model.dof_count(), 160);  // Castro et al. (2022), sec. VI-E
  EXPECT_NEAR(scene.world.model.inertia(scene.world.model.find_body("marble15")).mass, 0.05, 1e-15);
}

TEST(DualArmScene, OpensPoursClosesAndPutsBack) {
  Scene scene = make_scene("dual-arm", {{"marbles", 2}});
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  double jar_highest = 0.0, lid_farthest = 0.0;
  const Index jar = scene.world.model.find_body("jar"), lid = scene.world.model.find_body("lid");
  while (simulator.state().time < 11.2) {
    scene.control(simulator);
    scene.observe(simulator, simulator.step());
    const Vec3 &at = simulator.kinematics().pose(jar).position,
               &lid_at = simulator.kinematics().pose(lid).position;
    jar_highest = std::max(jar_highest, at.z());
    lid_farthest = std::max(lid_farthest, (lid_at - at).norm());
  }
  std::map<std::string, double> values;
  for (const Observable& o : scene.observables(simulator)) values[o.name] = o.value;
  // It was open and in the air in between.
  EXPECT_GE(jar_highest, 0.2);
  EXPECT_GE(lid_farthest, 0.3);
  EXPECT_EQ(values["marbles_in_bowl"], 2.0);
  EXPECT_EQ(values["spilled"], 0.0);
  EXPECT_EQ(values["lid_seated"], 1.0);
  EXPECT_EQ(values["jar_back"], 1.0);
  EXPECT_GT(values["finished_at"], 0.0);
  EXPECT_EQ(simulator.missed_steps(), 0);
}

// The ring of rubber presses as its pressure over the wall says, and the lid still comes off and on.
TEST(DualArmScene, SealedLidHoldsThroughItsPressureField) {
  Scene scene = make_scene("dual-arm", {{"marbles", 2}, {"lid-field", 1}});
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  const Index jar = scene.world.model.find_body("jar"), lid = scene.world.model.find_body("lid");
  double closed_force = -1.0, lid_farthest = 0.0;
  while (simulator.state().time < 11.2) {
    scene.control(simulator);
    scene.observe(simulator, simulator.step());
    const Kinematics& at = simulator.kinematics();
    lid_farthest = std::max(lid_farthest, (at.pose(lid).position - at.pose(jar).position).norm());
    if (closed_force >= 0.0 || simulator.state().time < 0.5) continue;
    closed_force = 0.0;
    for (const Contact& contact : simulator.contacts()) {
      if (contact.area > 0.0 && std::min(contact.body_a, contact.body_b) == jar)
        closed_force += contact.pressure() * contact.area;
    }
  }
  const double press = detail::LidSeal().press();
  EXPECT_NEAR(closed_force, press, 0.2 * press);  // cells of 4 mm on a wall of 4.3 mm
  EXPECT_GE(lid_farthest, 0.3);
  std::map<std::string, double> values;
  for (const Observable& o : scene.observables(simulator)) values[o.name] = o.value;
  EXPECT_EQ(values["marbles_in_bowl"], 2.0);
  EXPECT_EQ(values["lid_seated"], 1.0);
  EXPECT_EQ(values["jar_back"], 1.0);
  EXPECT_EQ(simulator.missed_steps(), 0);
}

}  // namespace
}  // namespace tribo
