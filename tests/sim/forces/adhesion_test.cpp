// Adhesion: forces of MuJoCo 4.0.0 (qfrc_actuator), a box that hangs from a ceiling, and friction that grows with it.
#include "tribo/sim/forces/adhesion.h"

#include <gtest/gtest.h>

#include "tests/io/loading.h"
#include "tribo/sim/simulator.h"

namespace tribo::test {
namespace {

// The force of all contacts on the second geom along z, N.
double pressed(const Simulator& simulator) {
  double sum = 0.0;
  for (const Vec3& impulse : simulator.contact_impulses()) sum += impulse.z();
  return sum / simulator.time_step();
}

TEST(Adhesion, PressesABoxOnTheFloor) {
  const World world =
      load_model(R"(<worldbody><geom type="plane" size="1 1 1"/><body name="b" pos="0 0 .1"><freejoint/>
      <geom type="box" size=".2 .2 .1" mass="3"/></body></worldbody>
      <actuator><adhesion body="b" gain="10" ctrlrange="0 2"/></actuator>)")
          .world;
  Simulator simulator(world);
  simulator.control()[0] = 1.5;  // MuJoCo: qfrc_actuator (0, 0, -15, 0, 0, 0)
  for (int k = 0; k < 20; ++k) simulator.step();
  EXPECT_NEAR(pressed(simulator), 3.0 * 9.81 + 15.0, 1e-3);
  Vector force = Vector::Zero(6);
  add_adhesion(world, simulator.contacts(), simulator.kinematics(), Vector::Constant(1, 1.5), force);
  EXPECT_NEAR(force[2], -15.0, 1e-12);
  force[2] = 0.0;
  EXPECT_LE(force.norm(), 1e-6);
  simulator.control()[0] = 5.0;  // beyond the range: 2
  for (int k = 0; k < 20; ++k) simulator.step();
  EXPECT_NEAR(pressed(simulator), 3.0 * 9.81 + 20.0, 1e-3);
}

// A box under a ceiling stays while the force exceeds its weight, and falls freely when it does not.
TEST(Adhesion, HoldsABoxUnderACeiling) {
  const World world =
      load_model(R"(<worldbody><geom type="box" size="1 1 .1" pos="0 0 1.1"/><body name="b" pos="0 0 .9">
      <freejoint/><geom type="box" size=".2 .2 .1" mass="1"/></body></worldbody>
      <actuator><adhesion body="b" gain="20" ctrlrange="0 1"/></actuator>)")
          .world;
  Simulator simulator(world);
  simulator.control()[0] = 0.6;  // 12 N against 9.81 N
  for (int k = 0; k < 1000; ++k) simulator.step();
  EXPECT_NEAR(simulator.state().q[2], 0.9, 1e-6);
  EXPECT_EQ(simulator.missed_steps(), 0);
  simulator.control()[0] = 0.4;  // 8 N: it falls, and nothing holds it once it is away
  for (int k = 0; k < 250; ++k) simulator.step();
  EXPECT_LT(simulator.state().q[2], 0.9 - 0.5 * 9.81 * 0.25 * 0.9);
}

// On a wall: sliding begins where the weight exceeds mu times the force.
TEST(Adhesion, FrictionGrowsWithIt) {
  for (const auto& [control, stays] : {std::pair{1.0, true}, {0.7, false}}) {
    const World world =
        load_model(
            R"(<worldbody><geom type="box" size=".1 1 1" pos="-.1 0 0" friction=".6"/><body name="b" pos=".1 0 0">
        <freejoint/><geom type="box" size=".1 .1 .1" mass="1" friction=".6"/></body></worldbody>
        <actuator><adhesion body="b" gain="20" ctrlrange="0 1"/></actuator>)")
            .world;
    Simulator simulator(world);
    simulator.control()[0] = control;  // mu f = 12 or 8.4 N
    for (int k = 0; k < 500; ++k) simulator.step();
    const double fallen = -simulator.state().q[2];
    EXPECT_NEAR(fallen, stays ? 0.0 : 0.5 * (9.81 - 8.4), stays ? 1e-4 : 0.02) << control;
  }
}

}  // namespace
}  // namespace tribo::test
