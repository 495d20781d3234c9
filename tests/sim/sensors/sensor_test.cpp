// Readings against mechanics, finite differences and balances of whole trees.
#include "tribo/sim/sensors/sensor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/io/loading.h"
#include "tribo/scenes/scene.h"
#include "tribo/sim/simulator.h"

namespace tribo::test {
namespace {

Vec3 three(const Simulator& simulator, std::string_view name) {
  const std::span<const double> data = simulator.sensor(name);
  EXPECT_EQ(data.size(), 3u) << name;
  return {data[0], data[1], data[2]};
}

double one(const Simulator& simulator, std::string_view name) {
  EXPECT_EQ(simulator.sensor(name).size(), 1u) << name;
  return simulator.sensor(name)[0];
}

void run(Simulator& simulator, int steps) {
  for (int k = 0; k < steps; ++k) simulator.step();
}

const std::string kStack = R"(<worldbody><geom name="floor" type="plane" size="5 5 .1"/>
<body name="b" pos="0 0 .1"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="2"/>
  <site name="skin" type="box" size=".11 .11 .02" pos="0 0 -.1"/><site name="lid" type="sphere" size=".05" pos="0 0 .2"/>
  <body name="c" pos="0 0 .2"><geom type="box" size=".05 .05 .1" mass="1"/>
    <site name="t" pos="0.01 0 -.1" euler="0 0 90"/></body></body></worldbody>)";

TEST(Sensor, AtRestTheGroundAndTheJointsCarryTheWeight) {
  Simulator simulator(
      load_model(kStack + R"(<sensor><accelerometer name="acc" site="t"/><force name="f" site="t"/>
<torque name="m" site="t"/><touch name="touch" site="skin"/><touch name="lid" site="lid"/><touch name="cut" site="skin" cutoff="7"/>
<framelinacc name="la" objtype="site" objname="t"/><gyro name="w" site="t"/></sensor>)")
          .world);
  EXPECT_EQ(simulator.sensor_data(), Vector::Zero(18));  // before the first step
  run(simulator, 200);
  EXPECT_NEAR((three(simulator, "acc") - Vec3(0, 0, 9.81)).norm(), 0.0, 1e-5);
  EXPECT_NEAR((three(simulator, "la") - Vec3(0, 0, 9.81)).norm(), 0.0, 1e-5);
  EXPECT_NEAR((three(simulator, "f") - Vec3(0, 0, 9.81)).norm(), 0.0, 1e-5);
  // The site stands 1 cm off the centre along x, its x axis along y: 9.81 N at -1 cm along x give 0.0981 N m about +y.
  EXPECT_NEAR((three(simulator, "m") - Vec3(0.0981, 0, 0)).norm(), 0.0, 1e-6);
  EXPECT_NEAR(one(simulator, "touch"), 3.0 * 9.81, 1e-4);
  EXPECT_EQ(one(simulator, "lid"), 0.0);
  EXPECT_EQ(one(simulator, "cut"), 7.0);
}

TEST(Sensor, InFreeFallNothingIsFelt) {
  Simulator simulator(load_model(R"(<worldbody><body pos="0 0 5"><freejoint/><geom size=".1" mass="1"/>
<site name="s" pos=".3 .2 .1"/></body></worldbody><sensor><accelerometer name="a" site="s"/><velocimeter name="v" site="s"/>
<clock name="t"/></sensor>)")
                          .world);
  run(simulator, 100);
  EXPECT_NEAR(three(simulator, "a").norm(), 0.0, 1e-10);
  EXPECT_NEAR((three(simulator, "v") - Vec3(0, 0, -9.81 * 0.2)).norm(), 0.0, 1e-12);
  EXPECT_NEAR(one(simulator, "t"), 0.2, 1e-12);
}

// Turning at w about z: centripetal w^2 r towards the axis.
TEST(Sensor, ATurntableIsFeltAsCentripetalAcceleration) {
  Simulator simulator(
      load_model(R"(<option gravity="0 0 0" timestep="1e-4"/><worldbody><body><joint name="j"/>
<geom type="cylinder" size=".5 .1" mass="1"/><site name="s" pos=".4 0 0"/></body></worldbody>
<sensor><accelerometer name="a" site="s"/><gyro name="w" site="s"/><magnetometer name="b" site="s"/></sensor>)")
          .world);
  State state = simulator.state();
  state.v[0] = 3.0;
  simulator.set_state(state);
  run(simulator, 10);
  EXPECT_NEAR((three(simulator, "a") - Vec3(-9.0 * 0.4, 0, 0)).norm(), 0.0, 1e-9);
  EXPECT_NEAR((three(simulator, "w") - Vec3(0, 0, 3)).norm(), 0.0, 1e-9);
  const double angle = simulator.state().q[0];
  EXPECT_NEAR((three(simulator, "b") - Vec3(-0.5 * std::sin(angle), -0.5 * std::cos(angle), 0)).norm(), 0.0,
              1e-12);
}

// What passes through the free joint of a robot without a joint spring is nothing, whatever it does: the impulses of its
// contacts, the weight and the accelerations of its bodies are in balance.
void expect_balance(World world, SimulatorSettings settings, const State& start, int steps,
                    double tolerance) {
  std::vector<std::string> names;
  for (Index b = 1; b < world.model.body_count(); ++b) {
    const Index j = world.model.joint_begin(b);
    if (j == world.model.joint_end(b) || world.model.joint(j).kind != JointKind::free) continue;
    for (const SensorKind kind : {SensorKind::force, SensorKind::torque}) {
      names.push_back(std::to_string(b) + std::string(traits_of(kind).name));
      world.sensors.push_back({.name = names.back(), .kind = kind, .frame = {b, {Vec3(0.1, -0.2, 0.3)}}});
    }
  }
  ASSERT_FALSE(names.empty());
  Simulator simulator(world, settings);
  simulator.set_state(start);
  int touching = 0;  // steps in contact
  for (int k = 0; k < 5000 && touching < steps; ++k) {
    simulator.step();
    if (!simulator.contacts().empty()) ++touching;
    for (const std::string& name : names) {
      ASSERT_NEAR(three(simulator, name).norm(), 0.0, tolerance) << name << " in step " << k;
    }
  }
  EXPECT_EQ(touching, steps);
}

TEST(Sensor, ForcesOfARobotInContactAreInBalance) {
  const Scene scene = make_scene("quadrupeds", {{"robots", 1}});
  expect_balance(scene.world, scene.settings, scene.start, 200, 1e-6);
}

TEST(Sensor, ConnectsAndWeldsArePartOfTheBalance) {
  const World world = load_model(R"(<worldbody><geom type="plane" size="5 5 .1"/>
<body name="a" pos="0 0 1"><freejoint/><geom type="box" size=".1 .2 .1" mass="1"/><body pos=".3 0 0"><joint axis="0 1 0"/>
<geom type="box" size=".1 .1 .1" mass=".5"/></body></body>
<body name="b" pos="0 1 1"><freejoint/><geom type="box" size=".1 .2 .1" mass="2"/><body pos=".3 0 0"><joint axis="0 0 1"/>
<geom type="box" size=".1 .1 .1" mass=".5"/></body></body>
<body name="c" pos="0 2 1.3"><freejoint/><geom type="box" size=".1 .2 .1" mass="3"/><body pos=".3 0 0"><joint axis="0 0 1"/>
<geom type="box" size=".1 .1 .1" mass=".5"/></body></body>
</worldbody><equality><connect body1="a" body2="b" anchor="0 .5 0"/><weld body1="b" body2="c"/></equality>)")
                          .world;
  expect_balance(world, {}, initial_state(world.model), 300, 1e-6);
}

TEST(Sensor, SubtreesAddUpToTheMomentum) {
  Scene scene = make_scene("quadrupeds", {{"robots", 1}});
  scene.world.sensors = {{.name = "c", .kind = SensorKind::subtree_center, .object = 0},
                         {.name = "p", .kind = SensorKind::subtree_velocity, .object = 0},
                         {.name = "l", .kind = SensorKind::subtree_angular_momentum, .object = 0},
                         {.name = "e", .kind = SensorKind::kinetic_energy},
                         {.name = "u", .kind = SensorKind::potential_energy}};
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  run(simulator, 120);
  double mass = 0.0;
  for (Index b = 1; b < simulator.model().body_count(); ++b) mass += simulator.model().inertia(b).mass;
  const Vec3 linear = mass * three(simulator, "p");
  const Vec3 angular = three(simulator, "l") + three(simulator, "c").cross(linear);
  EXPECT_GT(linear.norm(), 0.1);
  EXPECT_NEAR((linear - simulator.momentum().head<3>()).norm(), 0.0, 1e-11);
  EXPECT_NEAR((angular - simulator.momentum().tail<3>()).norm(), 0.0, 1e-11);
  EXPECT_EQ(one(simulator, "e"), simulator.energy().kinetic);
  EXPECT_NEAR(one(simulator, "u"), simulator.energy().weight + simulator.energy().springs, 1e-12);
}

const std::string kArm =
    R"(<worldbody><body name="a" pos="0 0 1" euler="20 0 0"><joint name="x" axis="0 1 0" damping=".1"/>
<geom type="capsule" size=".05 .2" pos="0 0 .2" mass="1"/><camera name="eye" pos=".1 0 0" euler="0 90 0"/>
<body name="b" pos="0 0 .4"><joint name="ball" type="ball"/><geom name="g" type="box" size=".1 .05 .2" pos="0 .1 .2" mass="2"/>
<site name="s" pos=".1 .2 .3" euler="10 20 30"/></body></body></worldbody>)";

// d/dt of position and rotation readings along v, by central differences of the state.
TEST(Sensor, VelocitiesAreDerivativesOfPositions) {
  std::string sensors = "<sensor><ballquat joint='ball' name='bq'/><ballangvel joint='ball' name='bw'/>";
  const std::vector<std::string> own{"objtype='site' objname='s'", "objtype='body' objname='b'",
                                     "objtype='geom' objname='g'", "objtype='xbody' objname='b'"};
  const std::vector<std::string> from{"", " reftype='camera' refname='eye'", " reftype='body' refname='a'"};
  int count = 0;
  for (const std::string& o : own) {
    for (const std::string& f : from) {
      const std::string n = std::to_string(count++) + "' " + o + f + "/>";
      for (const char* kind :
           {"framepos", "framequat", "framelinvel", "frameangvel", "framexaxis", "framezaxis"}) {
        sensors += std::string("<") + kind + " name='" + kind + n;
      }
    }
  }
  Simulator simulator(load_model(kArm + sensors + "</sensor>").world);
  State state = simulator.state();
  state.q << 0.4, 0.5, -0.5, 0.1, 0.7;
  state.v << 0.7, -1.0, 2.0, 0.5;
  simulator.set_state(state);
  state = simulator.state();
  const auto at = [&](double t) {
    State moved = state;
    integrate(simulator.model(), state.v, t, moved.q);
    simulator.set_state(moved);
    return Vector(simulator.sensor_data());
  };
  const double eps = 1e-6;
  const Vector before = at(-eps), after = at(eps), now = at(0.0);
  const auto find = [&](const std::string& name, const Vector& data) {
    const std::span<const double> there = simulator.sensor(name);
    const auto start = there.data() - simulator.sensor_data().data();
    return Vector(data.segment(start, static_cast<Index>(there.size())));
  };
  for (int k = 0; k < count; ++k) {
    const std::string n = std::to_string(k);
    const Vec3 slope = (find("framepos" + n, after) - find("framepos" + n, before)) / (2.0 * eps);
    EXPECT_NEAR((slope - find("framelinvel" + n, now)).norm(), 0.0, 1e-8) << n;
    // Angular velocity turns the axes of the frame.
    const Vec3 w = find("frameangvel" + n, now);
    for (const char* axis : {"framexaxis", "framezaxis"}) {
      const Vec3 turn = (find(axis + n, after) - find(axis + n, before)) / (2.0 * eps);
      EXPECT_NEAR((turn - w.cross(Vec3(find(axis + n, now)))).norm(), 0.0, 1e-8) << n << axis;
    }
    const Vector q = find("framequat" + n, now);
    EXPECT_NEAR((Quat(q[0], q[1], q[2], q[3]) * Vec3::UnitX() - Vec3(find("framexaxis" + n, now))).norm(),
                0.0, 1e-12);
  }
}

// Between two steps, O(h).
TEST(Sensor, AccelerationsAreDifferencesOfVelocities) {
  const std::string sensors = R"(<sensor><framelinvel name="v" objtype="site" objname="s"/>
<frameangvel name="w" objtype="site" objname="s"/><framelinacc name="a" objtype="site" objname="s"/>
<frameangacc name="al" objtype="site" objname="s"/></sensor>)";
  for (const Scheme scheme : {Scheme::symplectic_euler, Scheme::implicit_euler, Scheme::midpoint}) {
    const double h = 1e-5;
    SimulatorSettings settings;
    settings.time_step = h;
    settings.scheme = scheme;
    Simulator simulator(load_model(kArm + sensors).world, settings);
    State state = simulator.state();
    state.v << 0.7, -1.0, 2.0, 0.5;
    simulator.set_state(state);
    simulator.step();
    const Vec3 v = three(simulator, "v"), w = three(simulator, "w");
    simulator.step();
    const Vec3 slope = (three(simulator, "v") - v) / h, turn = (three(simulator, "w") - w) / h;
    EXPECT_NEAR((slope + Vec3(0, 0, 9.81) - three(simulator, "a")).norm(), 0.0, 2e-3) << to_string(scheme);
    EXPECT_NEAR((turn - three(simulator, "al")).norm(), 0.0, 2e-3) << to_string(scheme);
    EXPECT_GT(turn.norm(), 1.0);
  }
}

TEST(Sensor, JointsTendonsAndActuatorsReadWhatTheyAre) {
  Simulator simulator(load_model(R"(<option gravity="0 0 -10"/><worldbody>
<body><joint name="up" type="slide" axis="0 0 1" limited="true" range="-1 1"/><geom size=".1" mass="2"/></body>
<body pos="1 0 0"><joint name="low" type="slide" axis="0 0 1" limited="true" range="0 1"/><geom size=".1" mass="3"/></body>
<body pos="2 0 0"><joint name="x" type="slide" axis="1 0 0"/><geom size=".1" mass="1"/></body></worldbody>
<tendon><fixed name="t"><joint joint="up" coef="2"/><joint joint="x" coef="-1"/></fixed></tendon>
<actuator><motor name="m" joint="x" gear="2"/><position name="p" joint="up" kp="1000" kv="50" forcerange="-5 5"/>
<motor name="pull" tendon="t" gear="0.5"/></actuator>
<sensor><jointpos name="q" joint="x"/><jointvel name="v" joint="x"/><tendonpos name="tp" tendon="t"/>
<tendonvel name="tv" tendon="t"/><actuatorpos name="ap" actuator="m"/><actuatorvel name="av" actuator="m"/>
<actuatorfrc name="af" actuator="m"/><actuatorfrc name="pf" actuator="p"/><jointactuatorfrc name="jf" joint="x"/>
<tendonactuatorfrc name="tf" tendon="t"/><jointlimitfrc name="lf" joint="low"/><jointlimitfrc name="uf" joint="up"/>
<jointlimitpos name="lp" joint="low"/><jointpos name="cut" joint="up" cutoff="0.001"/></sensor>)")
                          .world);
  simulator.control() << 3.0, 0.5, 0.4;
  run(simulator, 50);
  const State& state = simulator.state();
  EXPECT_EQ(one(simulator, "q"), state.q[2]);
  EXPECT_EQ(one(simulator, "v"), state.v[2]);
  EXPECT_NEAR(one(simulator, "tp"), 2.0 * state.q[0] - state.q[2], 1e-14);
  EXPECT_NEAR(one(simulator, "tv"), 2.0 * state.v[0] - state.v[2], 1e-14);
  EXPECT_NEAR(one(simulator, "ap"), 2.0 * state.q[2], 1e-14);
  EXPECT_NEAR(one(simulator, "av"), 2.0 * state.v[2], 1e-14);
  EXPECT_NEAR(one(simulator, "af"), 3.0, 1e-12);
  EXPECT_NEAR(one(simulator, "pf"), 5.0, 1e-9);  // it asks for 500 N and gets what it may
  EXPECT_NEAR(one(simulator, "jf"), 2.0 * 3.0 - 0.5 * 0.4, 1e-9);
  EXPECT_NEAR(one(simulator, "tf"), 0.5 * 0.4, 1e-12);
  EXPECT_NEAR(one(simulator, "lf"), 30.0, 1e-4);
  EXPECT_EQ(one(simulator, "uf"), 0.0);
  EXPECT_NEAR(one(simulator, "lp"), 0.0, 1e-8);
  EXPECT_EQ(one(simulator, "cut"), -0.001);
}

TEST(Sensor, ContactsAreChosenSortedAndAddedUp) {
  Simulator simulator(load_model(kStack + R"(<sensor>
<contact name="box" geom1="box" num="3" data="found force dist pos normal tangent"/>
<contact name="floor" geom1="floor" geom2="box" data="found force normal"/>
<contact name="net" geom1="box" data="found force torque pos" reduce="netforce"/>
<contact name="net2" geom1="floor" data="force" reduce="netforce"/>
<contact name="tree" subtree1="b" body2="world" data="found"/><contact name="none" body1="c" num="2" data="found force"/>
<contact name="in" site="lid" data="found"/><contact name="skin" site="skin" data="found"/><contact name="all" data="found"/>
<contact name="most" geom1="box" num="4" data="force" reduce="maxforce"/></sensor>)")
                          .world);
  run(simulator, 200);
  const std::span<const double> box = simulator.sensor("box");
  ASSERT_EQ(box.size(), 3u * 14u);
  double sum = 0.0;
  for (std::size_t k = 0; k < 3; ++k) {
    const double* m = box.data() + 14 * k;
    EXPECT_EQ(m[0], 4.0);
    EXPECT_GT(m[1], 0.0);  // pushes the floor away from the box
    EXPECT_NEAR(m[4], 0.0, 1e-8);
    EXPECT_NEAR(std::abs(m[5]), 0.1, 1e-9);
    EXPECT_NEAR(m[10], -1.0, 1e-12);  // from the box to the floor
    EXPECT_NEAR(Vec3(m + 11).dot(Vec3(m + 8)), 0.0, 1e-12);
    sum += m[1];
  }
  EXPECT_LT(sum, 3.0 * 9.81);
  const std::span<const double> floor = simulator.sensor("floor");
  EXPECT_EQ(floor[0], 4.0);
  EXPECT_NEAR(floor[6], 1.0, 1e-12);
  const std::span<const double> net = simulator.sensor("net");
  EXPECT_EQ(net[0], 4.0);
  EXPECT_NEAR((Vec3(net.data() + 1) - Vec3(0, 0, -3.0 * 9.81)).norm(), 0.0, 1e-4);
  EXPECT_NEAR(Vec3(net.data() + 4).norm(), 0.0, 1e-6);  // about its own centre
  EXPECT_NEAR(Vec3(net.data() + 7).norm(), 0.0, 1e-6);
  EXPECT_NEAR((three(simulator, "net2") - Vec3(0, 0, 3.0 * 9.81)).norm(), 0.0, 1e-4);
  EXPECT_EQ(one(simulator, "tree"), 4.0);
  EXPECT_EQ(one(simulator, "in"), 0.0);
  EXPECT_EQ(one(simulator, "skin"), 4.0);
  EXPECT_EQ(one(simulator, "all"), 4.0);
  for (const double x : simulator.sensor("none")) EXPECT_EQ(x, 0.0);
  const std::span<const double> most = simulator.sensor("most");
  for (std::size_t k = 3; k < most.size(); k += 3) {
    EXPECT_GE(Vec3(most.data() + k - 3).norm(), Vec3(most.data() + k).norm());
  }
}

// The first step of a ball that is 1 mm in the floor.
TEST(Sensor, ANetForceHasNoDistance) {
  Simulator simulator(load_model(R"(<worldbody><geom name="floor" type="plane" size="5 5 .1"/>
<body pos="0 0 .099"><freejoint/><geom name="ball" size=".1" mass="1"/></body></worldbody>
<sensor><contact name="one" geom1="ball" data="dist"/><contact name="net" geom1="ball" data="found dist" reduce="netforce"/>
</sensor>)")
                          .world);
  simulator.step();
  EXPECT_NEAR(one(simulator, "one"), -1e-3, 1e-12);
  EXPECT_EQ(simulator.sensor("net")[0], 1.0);
  EXPECT_EQ(simulator.sensor("net")[1], 0.0);
}

TEST(Sensor, RaysMeetVolumes) {
  const Vec3 up = Vec3::UnitZ(), out(0.0, 0.0, -3.0);
  for (const Shape& shape : {Shape::sphere(1.0), Shape::capsule(0.5, 0.5), Shape::cylinder(0.7, 1.0),
                             Shape::box(Vec3::Ones()), Shape::ellipsoid(Vec3(1.0, 0.5, 2.0))}) {
    EXPECT_TRUE(meets(shape, Vec3(0.1, 0.1, 0.1), Vec3::Zero())) << to_string(shape.kind());
    EXPECT_TRUE(meets(shape, out, up));
    EXPECT_FALSE(meets(shape, out, -up));
    EXPECT_FALSE(meets(shape, out, Vec3::Zero()));
    EXPECT_FALSE(meets(shape, Vec3(2.0, 0.0, -3.0), up));
  }
  EXPECT_THROW(meets(Shape::plane(), out, up), InvalidInput);
}

TEST(Sensor, WhatDoesNotFitIsNamed) {
  World world = load_model(kStack).world;
  const auto message = [&](const SensorDescription& sensor) {
    World changed = world;
    changed.sensors = {sensor};
    try {
      validate(changed);
    } catch (const InvalidInput& error) {
      return std::string(error.what());
    }
    return std::string("fits");
  };
  EXPECT_EQ(message({.name = "x", .kind = SensorKind::joint_position, .object = 7}),
            "sensor 'x': joint is 7: there are 1");
  EXPECT_EQ(message({.name = "x", .kind = SensorKind::joint_position, .object = 0}),
            "sensor 'x': the joint must be a hinge or a slide");
  EXPECT_TRUE(contains(message({.kind = SensorKind::touch}), "sensor 0: its volume"));
  EXPECT_TRUE(
      contains(message({.kind = SensorKind::gyro, .reference = SensorFrame{}}), "no reference frame"));
  EXPECT_TRUE(contains(message({.kind = SensorKind::clock, .cutoff = -1.0}), "cutoff"));
  EXPECT_TRUE(
      contains(message({.kind = SensorKind::contact, .contact = {.count = 0}}), "number of contacts"));
  Simulator simulator(world);
  EXPECT_THROW(simulator.sensor("none"), InvalidInput);
}

// Asking changes no bits, and readings do not outlive what they are about.
TEST(Sensor, ReadingsAreOfTheLastStepAlone) {
  const World world =
      load_model(
          kStack +
          R"(<sensor><touch name="f" site="skin"/><framepos name="p" objtype="xbody" objname="b"/></sensor>)")
          .world;
  Simulator asked(world), quiet(world);
  for (int k = 0; k < 50; ++k) {
    asked.step();
    quiet.step();
    asked.sensor_data();
  }
  EXPECT_EQ(asked.state_hash(), quiet.state_hash());
  EXPECT_GT(one(asked, "f"), 1.0);
  State state = asked.state();
  state.q[2] = 3.0;
  asked.set_state(state);
  EXPECT_EQ(one(asked, "f"), 0.0);
  EXPECT_EQ(three(asked, "p").z(), 3.0);
}

}  // namespace
}  // namespace tribo::test
