// Actuators on sites: rows and lengths of MuJoCo 4.0.0 (actuator_moment, actuator_length, computed once with mj_forward on
// the same text), rows against finite differences of the length, and a drone that hovers.
#include "tribo/multibody/site_transmission.h"

#include <gtest/gtest.h>

#include "tests/io/loading.h"
#include "tribo/sim/simulator.h"

namespace tribo::test {
namespace {

const std::string kSites =
    R"(<worldbody><site name="w" pos=".1 .2 .3" quat=".8 .2 -.1 .4"/><body><joint axis="0 1 0"/>
    <joint axis="1 0 0" type="slide"/><geom size=".1" mass="1"/><site name="r" pos=".1 0 .2" quat=".3 .5 .1 -.6"/>
    <body pos="0 0 .5"><joint axis="1 1 0"/><joint type="ball" pos="0 .1 0"/><geom size=".1" mass="2" pos=".1 0 .1"/>
    <site name="s" pos=".3 .1 -.2" quat=".7 -.2 .5 .1"/></body></body></worldbody><actuator>
    <motor site="s" gear="1 2 3 .1 .2 .3"/><position site="s" refsite="r" gear=".5 -1 2 0 0 0" kp="10"/>
    <position site="s" refsite="w" gear="0 0 0 .3 -.2 1" kp="20"/></actuator>)";

Vector coordinates(const Model& model) {
  Vector q(7);
  q << .3, -.2, .7, .9, .1, -.3, .2;
  normalize(model, q);
  return q;
}

TEST(SiteTransmission, RowsAndLengthsAreMujocos) {
  const World world = load_model(kSites).world;
  Kinematics kinematics(world.model);
  kinematics.set_positions(coordinates(world.model));
  const double lengths[3] = {0.0, -0.7147718976106067, -0.4755045813454525};
  Matrix rows(3, 6);
  rows << 0.5829000510111539, 1.1870247159085305, 0.1805878171219527, 0.8215189873417712, 0.09240506329113946,
      0.8746835443037964, 0, 0, 0.02079183885410377, -0.00371041056806434, 0.24930306305071,
      -0.00556561585209658, -0.3647058823529412, 0, -0.2243881744055922, 0.29316398436382674,
      0.3849176769478582, 0.9465163813928361;
  for (Index a = 0; a < 3; ++a) {
    const ActuatorDescription& actuator = world.model.actuators()[static_cast<std::size_t>(a)];
    std::vector<DofTerm> terms;
    EXPECT_NEAR(site_transmission(kinematics, actuator, terms), lengths[a], 1e-14);
    EXPECT_LE((transmission_row(kinematics, actuator) - rows.row(a).transpose()).norm(), 1e-14) << a;
  }
}

// Where the reference site stands still, the row of its translational part is the derivative of the length.
TEST(SiteTransmission, RowsAreDerivativesOfTheLength) {
  World world = load_model(kSites).world;
  ActuatorDescription actuator = world.model.actuators()[1];
  actuator.reference_site = world.model.find_site("w");
  Kinematics kinematics(world.model);
  const Vector q = coordinates(world.model);
  kinematics.set_positions(q);
  const Vector row = transmission_row(kinematics, actuator);
  std::vector<DofTerm> terms;
  for (Index d = 0; d < 6; ++d) {
    double ends[2];
    for (const int side : {0, 1}) {
      Vector moved = q;
      integrate(world.model, Vector::Unit(6, d), side == 0 ? -1e-6 : 1e-6, moved);
      kinematics.set_positions(moved);
      ends[side] = site_transmission(kinematics, actuator, terms);
    }
    EXPECT_NEAR(row[d], (ends[1] - ends[0]) / 2e-6, 1e-9) << d;
  }
}

// Four rotors of a tilted frame each carry a quarter of the weight: nothing moves, on any scheme.
TEST(SiteTransmission, ADroneHoversExactlyAndClimbsAsItShould) {
  std::string text = R"(<worldbody><body name="drone" pos="0 0 1"><freejoint/>
      <inertial pos="0 0 0" mass="1.3" diaginertia=".02 .03 .04"/>)";
  std::string motors;
  for (const char* corner : {".1 .1 0", "-.1 .1 0", "-.1 -.1 0", ".1 -.1 0"}) {
    const std::string name = "r" + std::to_string(motors.size());
    text += "<site name=\"" + name + "\" pos=\"" + corner + "\"/>";
    motors += "<motor site=\"" + name + "\" gear=\"0 0 1 0 0 0\" ctrlrange=\"0 10\"/>";
  }
  const World world = load_model(text + "</body></worldbody><actuator>" + motors + "</actuator>").world;
  ASSERT_EQ(world.model.actuators().size(), 4u);
  for (const Scheme scheme : {Scheme::symplectic_euler, Scheme::implicit_euler, Scheme::midpoint}) {
    SimulatorSettings settings;
    settings.scheme = scheme;
    Simulator simulator(world, settings);
    const State start = simulator.state();
    simulator.control().setConstant(1.3 * 9.81 / 4.0);
    for (int k = 0; k < 1000; ++k) simulator.step();
    EXPECT_LE((simulator.state().q - start.q).norm(), 1e-12) << to_string(scheme);
    simulator.control().setConstant(1.3 * (9.81 + 2.0) / 4.0);
    for (int k = 0; k < 500; ++k) simulator.step();
    EXPECT_NEAR(simulator.state().v[2], 2.0, 1e-11) << to_string(scheme);
    simulator.control() << 3.0, 1.0, 1.0, 3.0;  // more at +x: the nose goes up, about -y
    simulator.step();
    EXPECT_NEAR(simulator.state().v[4], -0.002 * 0.1 * 4.0 / 0.03, 1e-6) << to_string(scheme);
  }
}

// A servo between two sites with a force limit is a box row: it pulls a ball on a slide to the reference.
TEST(SiteTransmission, AServoBetweenSitesReachesItsTarget) {
  const World world =
      load_model(
          R"(<option gravity="0 0 0"/><worldbody><site name="w" pos="0 0 .2"/><body><joint type="slide"/>
      <geom size=".1" mass="1"/><site name="s"/></body></worldbody><actuator>
      <position site="s" refsite="w" gear="0 0 1 0 0 0" kp="100" kv="20" forcerange="-5 5"/></actuator>)")
          .world;
  Simulator simulator(world);
  simulator.control()[0] = 0.3;
  simulator.step();
  EXPECT_NEAR(simulator.state().v[0], 0.002 * 5.0, 1e-9);  // at its limit: kp (0.3 + 0.2) = 50 N
  for (int k = 0; k < 2000; ++k) simulator.step();
  EXPECT_NEAR(simulator.state().q[0], 0.5, 1e-6);
  EXPECT_EQ(simulator.missed_steps(), 0);
}

}  // namespace
}  // namespace tribo::test
