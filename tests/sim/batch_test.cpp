// Batches against simulators one by one.
#include "tribo/sim/batch.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/io/loading.h"
#include "tribo/sim/batch_parameters.h"

namespace tribo::test {
namespace {

// A body with a driven leg on the ground: contacts, limits, a drive with a force limit, a sensor.
World hopper() {
  return load_model(R"(<worldbody><geom type="plane" size="5 5 .1" friction="0.7"/>
<body name="trunk" pos="0 0 .35"><freejoint/><geom type="box" size=".1 .1 .05" mass="2"/><site name="s"/>
<body name="leg" pos="0 0 -.05"><joint name="j" axis="0 1 0" range="-60 60"/>
<geom name="foot" type="capsule" fromto="0 0 0 0 0 -.25" size=".03" mass=".4"/></body></body></worldbody>
<actuator><position joint="j" kp="40" kv="2" forcerange="-6 6"/></actuator>
<sensor><accelerometer site="s"/><jointpos joint="j"/></sensor>)")
      .world;
}

SimulatorSettings on_threads(Index threads) {
  SimulatorSettings settings;
  settings.threads = threads;
  return settings;
}

Batch::Rows random_controls(Index worlds, Index columns) {
  Batch::Rows rows(worlds, columns);
  std::uint64_t seed = 7;
  for (Index k = 0; k < rows.size(); ++k) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    rows.data()[k] = static_cast<double>(seed >> 40) / 16777216.0 - 0.5;
  }
  return rows;
}

TEST(Batch, HasTheBitsOfSingleSimulatorsOnAnyNumberOfThreads) {
  const World world = hopper();
  const Index n = 7, steps = 40;
  const Batch::Rows controls = random_controls(n, steps);
  for (const Index threads : {1, 2, 3}) {
    Batch batch(world, n, on_threads(threads));
    Batch rolled(world, n, on_threads(threads));
    std::vector<double> q(static_cast<std::size_t>(n * steps * batch.q().cols())),
        error(static_cast<std::size_t>(n * steps)),
        sensors(static_cast<std::size_t>(n * steps * batch.sensor_data().cols()));
    rolled.rollout(steps, controls.data(),
                   {.q = q.data(), .sensor_data = sensors.data(), .error = error.data()});
    const double* where = batch.q().data();
    for (Index s = 0; s < steps; ++s) {
      batch.control().col(0) = controls.col(s);
      batch.step();
    }
    EXPECT_EQ(batch.q().data(), where);
    for (Index k = 0; k < n; ++k) {
      Simulator one(world);
      for (Index s = 0; s < steps; ++s) {
        one.control()[0] = controls(k, s);
        const StepReport report = one.step();
        EXPECT_EQ(report.error, error[static_cast<std::size_t>(k * steps + s)]);
        const Eigen::Map<const Vector> row(q.data() + (k * steps + s) * one.state().q.size(),
                                           one.state().q.size());
        EXPECT_EQ(Vector(row), one.state().q);
        const Eigen::Map<const Vector> felt(sensors.data() + (k * steps + s) * 4, 4);
        EXPECT_EQ(Vector(felt), one.sensor_data());
      }
      EXPECT_EQ(Vector(batch.q().row(k).transpose()), one.state().q);
      EXPECT_EQ(Vector(batch.v().row(k).transpose()), one.state().v);
      EXPECT_EQ(Vector(batch.sensor_data().row(k).transpose()), one.sensor_data());
      EXPECT_EQ(Vector(rolled.v().row(k).transpose()), one.state().v);
      EXPECT_EQ(batch.time()[k], one.state().time);
      EXPECT_EQ(batch.missed()[static_cast<std::size_t>(k)], one.missed_steps());
    }
  }
}

TEST(Batch, AMaskLeavesWorldsOutAndResetBeginsAnew) {
  Batch batch(hopper(), 3);
  batch.control().setConstant(0.4);
  const std::vector<std::uint8_t> middle{0, 1, 0};
  batch.step(10, middle);
  EXPECT_EQ(batch.time()[0], 0.0);
  EXPECT_GT(batch.time()[1], 0.0);
  batch.step(10);
  batch.reset(middle);
  EXPECT_EQ(batch.time()[1], 0.0);
  EXPECT_EQ(batch.control()(1, 0), 0.0);
  EXPECT_EQ(batch.control()(2, 0), 0.4);
  batch.control()(1, 0) = 0.4;
  batch.step(10, middle);
  // World 1 has done after its reset what world 2 did in its first steps.
  EXPECT_EQ(batch.q().row(1), batch.q().row(2));
  Batch::Rows q = batch.q();
  q(0, 2) = 2.0;
  const std::vector<std::uint8_t> first{1, 0, 0};
  batch.reset(first, &q);
  EXPECT_EQ(batch.q()(0, 2), 2.0);
  EXPECT_THROW(batch.step(1, std::vector<std::uint8_t>{1}), InvalidInput);
  q(0, 2) = std::nan("");
  EXPECT_THROW(batch.reset(first, &q), InvalidInput);
}

TEST(Batch, AWorldThatFailsFailsAlone) {
  const World world = hopper();
  Batch batch(world, 4, on_threads(2)), other(world, 4);
  batch.step(5);
  other.step(5);
  const Batch::Rows before = batch.q();
  batch.force()(2, 0) = 1e308;
  batch.step(5);
  other.step(5);
  EXPECT_EQ(batch.status()[2], WorldStatus::failed);
  EXPECT_NE(batch.message(2).find("no longer finite"), std::string::npos);
  EXPECT_TRUE(batch.q().allFinite() && batch.v().allFinite() && batch.sensor_data().allFinite());
  for (const Index k : {0, 1, 3}) {
    EXPECT_EQ(batch.status()[static_cast<std::size_t>(k)], WorldStatus::running);
    EXPECT_EQ(batch.q().row(k), other.q().row(k));
  }
  std::vector<double> error(8);
  batch.rollout(2, nullptr, {.error = error.data()});
  EXPECT_TRUE(std::isinf(error[4]));
  batch.force().setZero();
  batch.reset();
  EXPECT_EQ(batch.status()[2], WorldStatus::running);
  batch.step(5);
  EXPECT_EQ(batch.q().row(2), before.row(0));
}

TEST(Batch, EveryWorldHasItsOwnParameters) {
  const World world = hopper();
  Batch batch(world, 3);
  Batch::Rows mass = batch.parameter(BatchParameter::mass),
              friction = batch.parameter(BatchParameter::friction),
              gain = batch.parameter(BatchParameter::gain),
              gravity = batch.parameter(BatchParameter::gravity);
  EXPECT_EQ(mass(0, 1), 2.0);
  EXPECT_EQ(gain(1, 0), 1.0);
  mass(1, 1) = 5.0;
  friction.row(1).setConstant(0.1);
  gain(1, 0) = 3.0;
  gravity(2, 2) = -1.6;
  batch.set_parameter(BatchParameter::mass, mass);
  batch.set_parameter(BatchParameter::friction, friction);
  batch.set_parameter(BatchParameter::gain, gain);
  batch.set_parameter(BatchParameter::gravity, gravity);
  batch.control().setConstant(0.3);
  batch.step(60);
  Simulator plain(world), moon(world);
  moon.set_gravity(Vec3(0, 0, -1.6));
  Simulator changed(
      with_parameters(world, mass.row(1).transpose(), friction.row(1).transpose(), gain.row(1).transpose()));
  Index row = 0;
  for (Simulator* one : {&plain, &changed, &moon}) {
    one->control()[0] = 0.3;
    for (int s = 0; s < 60; ++s) one->step();
    EXPECT_EQ(Vector(batch.q().row(row++).transpose()), one->state().q);
  }
  EXPECT_NEAR(changed.model().total_mass(), 5.4, 1e-12);
  EXPECT_NEAR(changed.model().inertia(1).rotational(0, 0), 2.5 * world.model.inertia(1).rotational(0, 0),
              1e-14);
  EXPECT_EQ(changed.model().actuators()[0].gain, 120.0);
  mass(0, 2) = -1.0;
  EXPECT_THROW(batch.set_parameter(BatchParameter::mass, mass), InvalidInput);
  EXPECT_THROW(batch.set_parameter(BatchParameter::gravity, gain), InvalidInput);
  EXPECT_EQ(batch.parameter(BatchParameter::mass)(0, 2), 0.4);
}

TEST(Batch, ParametersThatASimulatorRefusesChangeNoWorld) {
  // Two hinges on one axis: without the mass between them they move the same.
  const World world = load_model(R"(<worldbody><body name="a"><joint axis="0 1 0"/>
<geom type="sphere" size=".1" pos="0 0 -.3" mass="1"/><body name="b"><joint axis="0 1 0"/>
<geom type="sphere" size=".1" pos="0 0 -.6" mass="1"/></body></body></worldbody>)")
                          .world;
  Batch batch(world, 3);
  Batch::Rows mass = batch.parameter(BatchParameter::mass);
  mass(0, 2) = 5.0;
  mass(2, 1) = 0.0;
  EXPECT_THROW(batch.set_parameter(BatchParameter::mass, mass), InvalidInput);
  EXPECT_EQ(batch.simulator(0).model().inertia(2).mass, 1.0);
  EXPECT_EQ(batch.parameter(BatchParameter::mass)(0, 2), 1.0);
  mass(2, 1) = 1.0;
  batch.set_parameter(BatchParameter::mass, mass);
  EXPECT_EQ(batch.simulator(0).model().inertia(2).mass, 5.0);
}

TEST(Batch, SizesAreChecked) {
  EXPECT_THROW(Batch(hopper(), 0), InvalidInput);
  EXPECT_THROW(Batch(hopper(), 1, on_threads(0)), InvalidInput);
  Batch batch(hopper(), 1);
  EXPECT_THROW(batch.step(-1), InvalidInput);
  EXPECT_THROW(batch.rollout(-1, nullptr, {}), InvalidInput);
}

}  // namespace
}  // namespace tribo::test
