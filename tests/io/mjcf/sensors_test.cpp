// <sensor> of MJCF: what is read, what is named.
#include "tribo/io/mjcf/sensors.h"

#include <gtest/gtest.h>

#include "tests/io/loading.h"
#include "tribo/io/mjcf/writer.h"
#include "tribo/sim/simulator.h"

namespace tribo::test {
namespace {

const std::string kBody = R"(<worldbody><geom name="floor" type="plane" size="1 1 1"/>
<body name="a" pos="0 0 1"><joint name="j" axis="0 1 0"/><geom name="g" type="box" size=".1 .2 .3" pos=".1 0 0"/>
<site name="s" pos="0 .1 0" type="capsule" size=".1 .2"/><site name="m" type="mesh" mesh="x"/><camera name="c" pos="0 0 .5"/>
<body><joint name="b" type="ball"/><geom size=".1"/></body></body></worldbody>
<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon><actuator><motor name="u" joint="j"/></actuator>)";

Loaded with(const std::string& sensors) { return load_model(kBody + "<sensor>" + sensors + "</sensor>"); }
std::string refused(const std::string& sensors) {
  return refusal("<mujoco>" + kBody + "<sensor>" + sensors + "</sensor></mujoco>");
}

TEST(MjcfSensors, AreReadWithWhatTheyName) {
  const Loaded loaded =
      with(R"(<jointpos name="q" joint="j" cutoff="2"/><ballquat joint="b"/><tendonvel tendon="t"/>
<actuatorfrc actuator="u"/><framepos objtype="geom" objname="g" reftype="camera" refname="c"/>
<touch name="skin" site="s"/><subtreecom body="a"/><clock/>
<contact geom1="g" subtree2="world" num="2" data="found pos" reduce="mindist"/>)");
  const std::vector<SensorDescription>& s = loaded.world.sensors;
  ASSERT_EQ(s.size(), 9u);
  EXPECT_EQ(s[0].name, "q");
  EXPECT_EQ(s[0].cutoff, 2.0);
  EXPECT_EQ(s[0].object, 0);
  EXPECT_EQ(s[1].object, 1);
  EXPECT_EQ(s[4].frame.pose.position, Vec3(0.1, 0, 0));
  ASSERT_TRUE(s[4].reference);
  EXPECT_EQ(s[4].reference->pose.position, Vec3(0, 0, 0.5));
  ASSERT_TRUE(s[5].volume);
  EXPECT_EQ(s[5].volume->kind(), ShapeKind::capsule);
  EXPECT_EQ(s[5].volume->half_length(), 0.2);
  EXPECT_EQ(s[8].contact.count, 2);
  EXPECT_EQ(s[8].size(), 2 * 4);
  EXPECT_EQ(s[8].contact.second.kind, ContactSide::Kind::subtree);
  EXPECT_EQ(Simulator(loaded.world).sensor_data().size(), 1 + 4 + 1 + 1 + 3 + 1 + 3 + 1 + 8);
  EXPECT_TRUE(loaded.report.warnings.empty());
}

TEST(MjcfSensors, OfTheBodyAreWhereItsMassIs) {
  const Loaded loaded =
      with(R"(<framepos objtype="body" objname="a"/><framepos objtype="xbody" objname="a"/>)");
  EXPECT_NEAR((loaded.world.sensors[0].frame.pose.position - Vec3(0.1, 0, 0)).norm(), 0.0, 1e-12);
  EXPECT_EQ(loaded.world.sensors[1].frame.pose.position, Vec3::Zero());
}

TEST(MjcfSensors, WhatIsNotSupportedIsNamed) {
  const Loaded loaded = with(
      R"(<rangefinder name="laser" site="s"/><user name="mine" dim="2"/><gyro name="w" site="s" noise="0.1"/>)");
  ASSERT_EQ(loaded.world.sensors.size(), 1u);
  EXPECT_TRUE(loaded.warned_of("<rangefinder>: this sensor is not supported and is left out ('laser')"));
  EXPECT_TRUE(loaded.warned_of("('mine')"));
  EXPECT_TRUE(loaded.warned_of("noise of sensors is left out"));
}

// An actuator that may be left out does not take the model with it because a sensor reads it.
TEST(MjcfSensors, OfActuatorsThatAreLeftOutAreLeftOutToo) {
  LoadOptions options;
  options.allow_missing = true;
  const std::string actuators = R"(<actuator><plugin name="drive" joint="j" plugin="someone.drive"/>
<muscle name="flexor" joint="j"/></actuator>)";
  const std::string sensors =
      R"(<sensor><actuatorfrc actuator="drive"/><actuatorpos actuator="flexor"/><jointpos joint="j"/></sensor>)";
  const Loaded loaded = load_model(kBody + actuators + sensors, options);
  ASSERT_EQ(loaded.world.sensors.size(), 1u);
  EXPECT_TRUE(loaded.warned_of("the actuator 'drive' is not supported, so this is left out"));
  EXPECT_TRUE(loaded.warned_of("the actuator 'flexor' is not supported, so this is left out"));
}

TEST(MjcfSensors, MistakesAreRefused) {
  EXPECT_TRUE(contains(refused("<jointpos joint='none'/>"), "there is no joint 'none'"));
  EXPECT_TRUE(contains(refused("<jointpos joint='b'/>"), "must be a hinge or a slide"));
  EXPECT_TRUE(contains(refused("<ballquat joint='j'/>"), "must be a ball"));
  EXPECT_TRUE(
      contains(refused("<framepos objtype='light' objname='c'/>"), "body, xbody, geom, site or camera"));
  EXPECT_TRUE(contains(refused("<touch site='m'/>"), "the site must be a sphere"));
  EXPECT_TRUE(contains(refused("<clock cutoff='-1'/>"), "cutoff"));
  EXPECT_TRUE(contains(refused("<contact data='pos found'/>"), "in this order"));
  EXPECT_TRUE(contains(refused("<contact geom1='g' body1='a'/>"), "exclude each other"));
  EXPECT_TRUE(contains(refused("<contact num='0'/>"), "num"));
}

TEST(MjcfSensors, ReplicasGetTheirOwn) {
  const Loaded loaded =
      load_model(R"(<worldbody><replicate count="3" offset="1 0 0"><body name="b"><freejoint/>
<geom size=".1"/><site name="s"/></body></replicate></worldbody><sensor><gyro name="w" site="s"/><framepos name="p"
objtype="xbody" objname="b"/></sensor>)");
  ASSERT_EQ(loaded.world.sensors.size(), 6u);
  EXPECT_EQ(loaded.world.sensors[0].name, "w0");
  EXPECT_EQ(loaded.world.sensors[1].name, "p0");
  EXPECT_EQ(loaded.world.sensors[5].frame.body, 3);
}

TEST(MjcfSensors, AreWrittenAndReadAgain) {
  const World world =
      with(
          R"(<jointpos name="q" joint="j" cutoff="2"/><ballangvel name="w" joint="b"/><tendonvel name="tv" tendon="t"/>
<actuatorfrc name="f" actuator="u"/><framepos name="p" objtype="geom" objname="g" reftype="camera" refname="c"/>
<touch name="skin" site="s"/><subtreecom name="com" body="a"/><clock name="t"/><accelerometer name="acc" site="s"/>
<contact name="k" geom1="g" subtree2="world" num="2" data="found pos" reduce="mindist"/><contact name="k2" site="s"/>)")
          .world;
  const TemporaryFolder folder;
  const auto file = folder.write("written.xml", "");
  write_mjcf(world, file);
  LoadReport report;
  const World again = load_world(file, {}, report);
  EXPECT_TRUE(report.warnings.empty());
  ASSERT_EQ(again.sensors.size(), world.sensors.size());
  Simulator first(world), second(again);
  for (int k = 0; k < 20; ++k) {
    first.control()[0] = second.control()[0] = 1.0;
    first.step();
    second.step();
  }
  EXPECT_NEAR((first.sensor_data() - second.sensor_data()).cwiseAbs().maxCoeff(), 0.0, 1e-9);
  EXPECT_GT(first.sensor_data().norm(), 1.0);
}

}  // namespace
}  // namespace tribo::test
