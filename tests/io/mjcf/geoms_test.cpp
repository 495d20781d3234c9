// Geoms of MJCF: shapes, masses, inertias, materials, meshes, height fields.
#include <gtest/gtest.h>

#include <cstring>
#include <numbers>

#include "tests/io/loading.h"
#include "tribo/collide/shapes/convex_hull.h"
#include "tribo/collide/shapes/height_field.h"

namespace tribo::test {
namespace {

constexpr double kPi = std::numbers::pi;

// A body with the given geoms on a free joint.
std::string body(const std::string& geoms) {
  return "<worldbody><body name=\"b\"><freejoint/>" + geoms + "</body></worldbody>";
}

RigidInertia inertia(const std::string& geoms, const std::string& before = "") {
  return load_model(before + body(geoms)).world.model.inertia(1);
}

TEST(MjcfGeoms, SolidsOfUniformDensity) {
  const RigidInertia box = inertia("<geom type=\"box\" size=\".1 .2 .3\" density=\"500\"/>");
  EXPECT_NEAR(box.mass, 500 * 8 * 0.006, 1e-12);
  EXPECT_NEAR(box.rotational(0, 0), box.mass * (0.04 + 0.09) / 3, 1e-12);
  const RigidInertia capsule = inertia("<geom type=\"capsule\" size=\".1 .3\"/>");
  EXPECT_NEAR(capsule.mass, 1000 * (kPi * 0.01 * 0.6 + 4.0 / 3 * kPi * 1e-3), 1e-10);
  const RigidInertia sphere = inertia("<geom size=\".1\" mass=\"3\" pos=\"1 0 0\"/>");
  EXPECT_NEAR(sphere.mass, 3.0, 1e-12);
  EXPECT_NEAR(sphere.rotational(1, 1), 0.4 * 3 * 0.01, 1e-12);
  EXPECT_TRUE(sphere.center.isApprox(Vec3(1, 0, 0), 1e-12));
}

// Plugins of tribo in MJCF's own words: shape, pose, exact mass moments; mistakes name the line.
TEST(MjcfGeoms, BodiesFromFormulas) {
  const auto geom = [](const std::string& plugin, const std::string& more = "") {
    return "<geom type=\"sdf\" mass=\"2\" pos=\"0 0 1\"><plugin plugin=\"" + plugin + "\">" + more +
           "</plugin></geom>";
  };
  const std::string sizes = "<config key=\"radius\" value=\".4\"/><config key=\"thickness\" value=\".2\"/>";
  const RigidInertia ring = inertia(geom("tribo.sdf.torus", sizes));
  EXPECT_NEAR(ring.mass, 2.0, 1e-12);
  EXPECT_TRUE(ring.center.isApprox(Vec3(0, 0, 1), 1e-10));
  EXPECT_NEAR(ring.rotational(2, 2), 2.0 * (0.16 + 0.75 * 0.01), 1e-9);
  const World world =
      load_model(body(geom("tribo.sdf.torus", sizes + "<config key=\"spacing\" value=\".1\"/>"))).world;
  ASSERT_EQ(world.geoms.size(), 1u);
  EXPECT_EQ(world.geoms[0].shape.kind(), ShapeKind::distance_field);
  EXPECT_EQ(world.geoms[0].pose.position, Vec3(0, 0, 1));
  EXPECT_THROW(load_model(body(geom("tribo.sdf.teapot"))), InvalidInput);
  EXPECT_THROW(load_model(body(geom("mujoco.sdf.torus"))), InvalidInput);
  EXPECT_THROW(load_model(body(geom("tribo.sdf.nut", "<config key=\"pitch\" value=\"wide\"/>"))),
               InvalidInput);
  EXPECT_THROW(load_model(body(geom("tribo.sdf.nut", "<config key=\"spacing\" value=\"0\"/>"))),
               InvalidInput);
  EXPECT_THROW(load_model(body(geom("tribo.sdf.nut", "<config key=\"colour\" value=\"1\"/>"))), InvalidInput);
}

TEST(MjcfGeoms, PressureFields) {
  const auto geom = [](const std::string& shape, const std::string& more) {
    return "<geom " + shape + "><plugin plugin=\"tribo.pressure\">" + more + "</plugin></geom>";
  };
  const std::string modulus = "<config key=\"modulus\" value=\"1e5\"/>";
  const World world = load_model(body(geom("size=\".1\"", modulus + R"(<config key="resolution" value=".005"/>
      <config key="max_faces" value="60"/><config key="dissipation" value=".02"/>)")))
                          .world;
  ASSERT_TRUE(world.geoms.at(0).pressure.has_value());
  EXPECT_EQ(*world.geoms[0].pressure, (PressureField{.modulus = 1e5, .resolution = 0.005, .max_faces = 60}));
  EXPECT_EQ(world.geoms[0].material.dissipation_time, 0.02);
  const auto refused = [&](const std::string& shape, const std::string& more) {
    EXPECT_THROW(load_model(body(geom(shape, more))), InvalidInput) << more;
  };
  refused("size=\".1\"", "");
  refused("size=\".1\"", "<config key=\"modulus\" value=\"0\"/>");
  refused("size=\".1\"", "<config key=\"modulus\" value=\"nan\"/>");
  refused("size=\".1\"", modulus + "<config key=\"max_faces\" value=\"1.5\"/>");
  refused("size=\".1\"", modulus + "<config key=\"softness\" value=\"1\"/>");
  refused("type=\"plane\" size=\"1 1 1\"", modulus);  // has no deepest point
}

// A plugin changes the physics: one that is misspelt, misplaced or of another program is not passed over silently.
TEST(MjcfGeoms, OtherPluginsAreNotIgnoredSilently) {
  const auto model = [](const std::string& plugin) {
    return body("<geom size=\".1\"><plugin plugin=\"" + plugin +
                "\"><config key=\"modulus\" value=\"1e5\"/></plugin></geom>");
  };
  const auto message = [&](const std::string& plugin) {
    return test::refusal("<mujoco>" + model(plugin) + "</mujoco>");
  };
  EXPECT_NE(message("tribo.presure").find("there is no plugin 'tribo.presure'"), std::string::npos);
  EXPECT_NE(message("tribo.sdf.nut").find("belongs to a geom of type sdf"), std::string::npos);
  EXPECT_TRUE(load_model(model("someone.else")).warned_of("this plugin is not supported"));
  EXPECT_TRUE(load_model(body("<geom size=\".1\"><softness/></geom>")).warned_of("is ignored"));
}

TEST(MjcfGeoms, ShellsHaveTheirOwnInertia) {
  const RigidInertia sphere = inertia("<geom size=\".1\" mass=\"3\" shellinertia=\"true\"/>");
  EXPECT_NEAR(sphere.rotational(0, 0), 2.0 / 3 * 3 * 0.01, 1e-12);
  // A cube of side 2 a: 6 faces, I = m 10/9 a^2 (faces m/6: 2 face-on 2/3 a^2, 4 edge-on 4/3 a^2).
  const RigidInertia cube =
      inertia("<geom type=\"box\" size=\".1 .1 .1\" mass=\"3\" shellinertia=\"true\"/>");
  EXPECT_NEAR(cube.rotational(2, 2), 3 * 10.0 / 9 * 0.01, 1e-12);
  const RigidInertia density = inertia("<geom size=\".1\" density=\"7\" shellinertia=\"true\"/>");
  EXPECT_NEAR(density.mass, 7 * 4 * kPi * 0.01, 1e-12);
}

TEST(MjcfGeoms, SeveralGeomsAddUpAndInertialWins) {
  const std::string two =
      "<geom size=\".1\" mass=\"1\" pos=\"1 0 0\"/><geom size=\".1\" mass=\"3\" pos=\"-1 0 0\"/>";
  const RigidInertia sum = inertia(two);
  EXPECT_NEAR(sum.center.x(), -0.5, 1e-14);
  EXPECT_NEAR(sum.rotational(1, 1), 4 * 0.4 * 0.01 + 1 * 2.25 + 3 * 0.25, 1e-12);
  const std::string given = "<inertial pos=\"0 0 1\" mass=\"2\" fullinertia=\"1 2 3 .1 .2 .3\"/>";
  const RigidInertia explicit_one = inertia(two + given);
  EXPECT_EQ(explicit_one.mass, 2.0);
  EXPECT_EQ(explicit_one.rotational(0, 1), 0.1);
  EXPECT_EQ(explicit_one.rotational(0, 2), 0.2);
  EXPECT_EQ(explicit_one.rotational(1, 2), 0.3);
  EXPECT_NEAR(inertia(two + given, "<compiler inertiafromgeom=\"true\"/>").mass, 4.0, 1e-12);
  const std::string turned = "<inertial pos=\"0 0 0\" mass=\"2\" diaginertia=\"1 2 2.5\" euler=\"0 0 90\"/>";
  EXPECT_NEAR(inertia(turned).rotational(0, 0), 2.0, 1e-14);
}

TEST(MjcfGeoms, CompilerBoundsBalancesAndScales) {
  EXPECT_NEAR(inertia("<geom size=\".1\"/>", "<compiler settotalmass=\"5\"/>").mass, 5.0, 1e-12);
  EXPECT_NEAR(inertia("<geom size=\".001\"/>", "<compiler boundmass=\".5\" boundinertia=\".1\"/>").mass, 0.5,
              0.0);
  const RigidInertia balanced = inertia("<inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 1 7\"/>",
                                        "<compiler balanceinertia=\"true\"/>");
  EXPECT_TRUE(balanced.rotational.isApprox(3.0 * Mat3::Identity(), 1e-12));
  const std::string groups =
      "<geom size=\".1\" mass=\"1\" group=\"1\"/><geom size=\".1\" mass=\"1\" group=\"4\"/>";
  EXPECT_NEAR(inertia(groups, "<compiler inertiagrouprange=\"0 2\"/>").mass, 1.0, 1e-12);
}

TEST(MjcfGeoms, FromtoGivesPlaceLengthAndDirection) {
  const Geom capsule =
      load_model(body("<geom type=\"capsule\" fromto=\"0 0 0 0 2 0\" size=\".1\"/>")).world.geoms[0];
  EXPECT_NEAR(capsule.shape.half_length(), 1.0, 1e-15);
  EXPECT_TRUE(capsule.pose.position.isApprox(Vec3(0, 1, 0)));
  EXPECT_TRUE((capsule.pose.rotation * Vec3::UnitZ()).isApprox(-Vec3::UnitY(), 1e-14));
  const Geom box = load_model(body("<geom type=\"box\" fromto=\"0 0 0 0 2 0\" size=\".1\"/>")).world.geoms[0];
  EXPECT_TRUE(box.shape.size().isApprox(Vec3(0.1, 0.1, 1.0)));
}

TEST(MjcfGeoms, DefaultsAreLayered) {
  const World world =
      load_model(R"(<default><geom size=".1 .2 .3" friction=".7"/>
      <default class="a"><geom type="box"/><default class="b"><geom size=".5"/></default></default></default>)" +
                 std::string(R"(<worldbody><body childclass="a"><joint/><geom/><geom class="b"/>
      <body><joint/><geom class="main"/></body></body></worldbody>)"))
          .world;
  EXPECT_EQ(world.geoms[0].shape.kind(), ShapeKind::box);
  EXPECT_TRUE(world.geoms[0].shape.size().isApprox(Vec3(.1, .2, .3)));
  EXPECT_TRUE(world.geoms[1].shape.size().isApprox(Vec3(.5, .2, .3)));  // a short vector replaces its part
  EXPECT_EQ(world.geoms[2].shape.kind(), ShapeKind::sphere);
  EXPECT_EQ(world.geoms[1].material.friction, 0.7);
  EXPECT_TRUE(contains(refusal("<mujoco>\n<worldbody><geom class=\"x\" size=\"1\"/></worldbody></mujoco>"),
                       "model.xml:2: <geom>: there is no default class 'x'"));
}

TEST(MjcfGeoms, MaterialsAndFilters) {
  const Loaded loaded =
      load_model(body(R"(<geom size=".1" friction=".3 .1" priority="2" condim="1" margin=".02" gap=".03"
      contype="5" conaffinity="6"/><geom size=".1" contype="0" conaffinity="0"/><geom size=".1" condim="6"/>)"));
  ASSERT_EQ(loaded.world.geoms.size(), 2u);  // what can never touch is not there
  const Geom& geom = loaded.world.geoms[0];
  EXPECT_EQ(geom.material.friction, 0.3);
  EXPECT_EQ(geom.material.priority, 2);
  EXPECT_TRUE(geom.frictionless);
  EXPECT_EQ(geom.thickness, 0.02);
  EXPECT_EQ(geom.margin, 0.03);
  EXPECT_EQ(geom.contact_type, 5u);
  EXPECT_EQ(geom.contact_affinity, 6u);
  EXPECT_EQ(geom.material.torsional, 0.1);
  EXPECT_EQ(geom.material.rolling, 0.0001);
  EXPECT_EQ(loaded.world.geoms[1].friction_rows, 6);
  EXPECT_NEAR(loaded.world.model.total_mass(), 3 * 4000 * kPi / 3 * 1e-3, 1e-10);
}

class MjcfMesh : public ::testing::TestWithParam<const char*> {};

// The cube [0, 2]^3 in every mode; the geom must end up where the file says, around its centre.
TEST_P(MjcfMesh, InertiaOfACube) {
  const std::string mode = GetParam();
  const TemporaryFolder folder;
  folder.write("cube.obj", cube_obj());
  const auto file = folder.write(
      "m.xml",
      "<mujoco><compiler meshdir=\".\"/><asset><mesh file=\"cube.obj\" scale=\".5 .5 1\" inertia=\"" + mode +
          "\"/></asset>" + body("<geom type=\"mesh\" mesh=\"cube\" pos=\"1 0 0\" density=\"10\"/>") +
          "</mujoco>");
  LoadReport report;
  const World world = load_world(file, {}, report);
  const RigidInertia& result = world.model.inertia(1);
  EXPECT_TRUE(result.center.isApprox(Vec3(1.5, 0.5, 1.0), 1e-12));
  if (mode == "shell") {
    EXPECT_NEAR(result.mass, 10 * 10.0, 1e-10);
  } else {
    EXPECT_NEAR(result.mass, 10 * 2.0, 1e-10);
    EXPECT_NEAR(result.rotational(0, 0), 20 * (1.0 + 4.0) / 12, 1e-10);
    EXPECT_NEAR(result.rotational(2, 2), 20 * (1.0 + 1.0) / 12, 1e-10);
  }
  const Geom& geom = world.geoms[0];
  EXPECT_EQ(geom.shape.kind(), ShapeKind::hull);
  const Aabb bounds = geom.shape.bounds(geom.pose);
  EXPECT_TRUE(bounds.lower.isApprox(Vec3(1, 0, 0), 1e-9)) << bounds.lower.transpose();
  EXPECT_TRUE(bounds.upper.isApprox(Vec3(2, 1, 2), 1e-9)) << bounds.upper.transpose();
}

INSTANTIATE_TEST_SUITE_P(Modes, MjcfMesh, ::testing::Values("legacy", "exact", "convex", "shell"));

TEST(MjcfGeoms, InlineMeshesAndFittedShapes) {
  const std::string asset =
      R"(<asset><mesh name="m" vertex="0 0 0 2 0 0 0 4 0 2 4 0 0 0 6 2 0 6 0 4 6 2 4 6"/></asset>)";
  const World world =
      load_model(asset + body(R"(<geom type="mesh" mesh="m"/><geom type="box" mesh="m"/>)")).world;
  EXPECT_EQ(world.geoms[0].shape.hull().vertices().size(), 8u);
  Vec3 half = world.geoms[1].shape.size();
  std::sort(half.begin(), half.end());
  EXPECT_TRUE(half.isApprox(Vec3(1, 2, 3), 1e-9));
  EXPECT_TRUE(world.geoms[1].pose.position.isApprox(Vec3(1, 2, 3), 1e-9));
  EXPECT_NEAR(world.model.total_mass(), 2 * 48 * 1000, 1e-4);
}

TEST(MjcfGeoms, MissingMeshesMatterOnlyWhereTheyAreNeeded) {
  const std::string asset = "<asset>\n<mesh name=\"m\" file=\"none.stl\"/></asset>";
  const std::string look = "<geom type=\"mesh\" mesh=\"m\" contype=\"0\" conaffinity=\"0\"/>";
  const std::string mass = "<inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 1 1\"/>";
  EXPECT_TRUE(load_model(asset + body(mass + look)).warned_of("'m' is missing"));
  EXPECT_TRUE(contains(refusal("<mujoco>" + asset + body(look) + "</mujoco>"), "mesh 'm' is missing"));
  EXPECT_TRUE(
      contains(refusal("<mujoco>" + asset + body(mass + "<geom type=\"mesh\" mesh=\"m\"/>") + "</mujoco>"),
               "none.stl"));
  EXPECT_TRUE(
      contains(refusal("<mujoco>" + body("<geom type=\"mesh\" mesh=\"m\"/>") + "</mujoco>"), "no mesh 'm'"));
}

TEST(MjcfGeoms, HeightFieldsFromTextAndFile) {
  const std::string geom = "<worldbody><geom type=\"hfield\" hfield=\"h\"/></worldbody>";
  const World text = load_model(R"(<asset><hfield name="h" nrow="2" ncol="3" size="1 2 .5 .1"
      elevation="0 0 2  0 0 1"/></asset>)" +
                                geom)
                         .world;
  const HeightField& field = text.geoms[0].shape.height_field();
  EXPECT_NEAR(field.vertex(1, 2).z(), 0.5, 1e-15);  // the row written first is the one of the largest y
  EXPECT_NEAR(field.vertex(0, 2).z(), 0.25, 1e-15);
  const TemporaryFolder folder;
  std::string bytes(8 + 16, '\0');
  const std::int32_t counts[2] = {2, 2};
  const float heights[4] = {1, 3, 5, 1};
  std::memcpy(bytes.data(), counts, 8);
  std::memcpy(bytes.data() + 8, heights, 16);
  folder.write("h.bin", bytes);
  LoadReport report;
  const auto file =
      folder.write("m.xml", "<mujoco><asset><hfield name=\"h\" file=\"h.bin\" size=\"1 1 2 .1\"/></asset>" +
                                geom + "</mujoco>");
  EXPECT_NEAR(load_world(file, {}, report).geoms[0].shape.height_field().vertex(0, 1).z(), 1.0, 1e-15);
  folder.write("h.bin", bytes.substr(0, 20));
  EXPECT_THROW(load_world(file, {}, report), InvalidInput);
}

}  // namespace
}  // namespace tribo::test
