#include <gtest/gtest.h>

#include <cmath>

#include "tests/io/loading.h"
#include "tribo/collide/shapes/convex_hull.h"
#include "tribo/multibody/kinematics.h"

namespace tribo::test {
namespace {

const std::string kInertial =
    "<inertial><mass value=\"2\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" "
    "iyz=\"0\"/></inertial>";

std::string link(const std::string& name, const std::string& inner = kInertial) {
  return "<link name=\"" + name + "\">" + inner + "</link>\n";
}

std::string joint(const std::string& name, const std::string& type, const std::string& child,
                  const std::string& inner = "<axis xyz=\"0 0 1\"/>", const std::string& parent = "base") {
  return "<joint name=\"" + name + "\" type=\"" + type + "\"><parent link=\"" + parent +
         "\"/><child link=\"" + child + "\"/>" + inner + "</joint>\n";
}

const std::string kLimit =
    "<axis xyz=\"0 0 1\"/><limit lower=\"-1\" upper=\"2\" effort=\"30\" velocity=\"1\"/>";

Loaded load_robot(const std::string& inner, const LoadOptions& options = {}) {
  return load_text("<robot name=\"r\">\n" + inner + "</robot>", "robot.urdf", options);
}

std::string robot_refusal(const std::string& inner) {
  return refusal("<robot name=\"r\">\n" + inner + "</robot>", "robot.urdf");
}

TEST(Urdf, JointsOfEveryKind) {
  const Loaded loaded =
      load_robot(link("base") + link("a") + link("b") + link("c") + link("d") + link("e") + link("f") +
                 joint("turn", "revolute", "a",
                       "<origin xyz=\"1 2 3\" rpy=\"0 0 1.5707963267948966\"/>" + kLimit +
                           "<dynamics damping=\".3\" friction=\".1\"/>") +
                 joint("spin", "continuous", "b") + joint("push", "prismatic", "c", kLimit) +
                 joint("fix", "fixed", "d") + joint("float", "floating", "e") +
                 joint("plane", "planar", "f", "<axis xyz=\"1 0 0\"/>"));
  const Model& model = loaded.world.model;
  ASSERT_EQ(loaded.report.warnings.size(), 1u);  // of the velocity limits
  EXPECT_EQ(loaded.world.name, "r");
  EXPECT_EQ(model.dof_count(), 1 + 1 + 1 + 0 + 6 + 3);
  const JointDescription& turn = model.joint(model.find_joint("turn"));
  EXPECT_EQ(turn.kind, JointKind::hinge);
  EXPECT_TRUE(turn.limited);
  EXPECT_EQ(turn.upper, 2.0);
  EXPECT_EQ(turn.damping, 0.3);
  EXPECT_EQ(turn.dry_friction, 0.1);
  EXPECT_FALSE(model.joint(model.find_joint("spin")).limited);
  EXPECT_EQ(model.joint(model.find_joint("push")).kind, JointKind::slide);
  ASSERT_EQ(model.actuators().size(), 3u);
  EXPECT_EQ(model.actuators()[0].name, "turn");
  EXPECT_EQ(model.actuators()[0].force_upper, 30.0);
  EXPECT_TRUE(std::isinf(model.actuators()[1].force_upper));
  Kinematics kinematics(model);
  kinematics.set_positions(model.reference_coordinates());
  const Pose pose = kinematics.pose(model.find_body("a"));
  EXPECT_TRUE(pose.position.isApprox(Vec3(1, 2, 3)));
  EXPECT_TRUE((pose.rotation * Vec3::UnitX()).isApprox(Vec3::UnitY(), 1e-12));
}

TEST(Urdf, PlanarJointsMoveInTheirPlane) {
  const World world =
      load_robot(link("base") + link("a") + joint("p", "planar", "a", "<axis xyz=\"0 0 1\"/>")).world;
  ASSERT_EQ(world.model.joint_count(), 3);
  EXPECT_EQ(world.model.joint(2).kind, JointKind::hinge);
  Mat3 axes;
  for (int k = 0; k < 3; ++k) axes.col(k) = world.model.joint(k).axis;
  EXPECT_TRUE(axes.isApprox(Mat3::Identity(), 1e-14)) << axes;
}

TEST(Urdf, TheBaseFloatsWhenAsked) {
  const World world = load_robot(link("base"), {.fixed_base = false}).world;
  EXPECT_TRUE(world.model.is_free_body(0));
  EXPECT_EQ(load_robot(link("base")).world.model.dof_count(), 0);
}

TEST(Urdf, InertialsAreTurnedAndShifted) {
  const World world = load_robot(link("base", R"(<inertial><origin xyz="0 0 1" rpy="1.5707963267948966 0 0"/>
      <mass value="3"/><inertia ixx="1" iyy="2" izz="2.5" ixy="0" ixz="0" iyz="0"/></inertial>)"))
                          .world;
  const RigidInertia& inertia = world.model.inertia(1);
  EXPECT_EQ(inertia.mass, 3.0);
  EXPECT_TRUE(inertia.center.isApprox(Vec3(0, 0, 1)));
  EXPECT_NEAR(inertia.rotational(1, 1), 2.5, 1e-12);
  EXPECT_NEAR(inertia.rotational(2, 2), 2.0, 1e-12);
}

TEST(Urdf, MimicsAreCouplings) {
  const World world =
      load_robot(link("base") + link("a") + link("b") + joint("j", "revolute", "a", kLimit) +
                 joint("k", "revolute", "b", kLimit + "<mimic joint=\"j\" multiplier=\"-2\" offset=\".5\"/>"))
          .world;
  ASSERT_EQ(world.joint_couplings.size(), 1u);
  EXPECT_EQ(world.joint_couplings[0].first, 1);
  EXPECT_EQ(world.joint_couplings[0].second, 0);
  EXPECT_EQ(world.joint_couplings[0].polynomial, (std::array<double, 5>{0.5, -2, 0, 0, 0}));
  EXPECT_EQ(world.model.actuators().size(), 1u);
}

TEST(Urdf, CollisionShapes) {
  const std::string base =
      link("base",
           R"(<collision name="box"><origin xyz="1 0 0"/><geometry><box size="1 2 3"/></geometry></collision>
      <collision><geometry><sphere radius=".3"/></geometry></collision>
      <collision><geometry><cylinder radius=".1" length="2"/></geometry></collision>
      <collision><geometry><capsule radius=".1" length="2"/></geometry></collision>
      <visual><geometry><sphere radius="9"/></geometry></visual>)");
  const World world = load_robot(base, {.visual_geometry = true}).world;
  ASSERT_EQ(world.geoms.size(), 4u);
  EXPECT_TRUE(world.geoms[0].shape.size().isApprox(Vec3(.5, 1, 1.5)));
  EXPECT_TRUE(world.geoms[0].pose.position.isApprox(Vec3(1, 0, 0)));
  EXPECT_EQ(world.geoms[1].shape.radius(), 0.3);
  EXPECT_EQ(world.geoms[2].shape.kind(), ShapeKind::cylinder);
  EXPECT_EQ(world.geoms[3].shape.kind(), ShapeKind::capsule);
  EXPECT_EQ(world.geoms[3].shape.half_length(), 1.0);
  const std::string look = link("base", "<visual><geometry><sphere radius=\"9\"/></geometry></visual>");
  EXPECT_TRUE(load_robot(look).world.geoms.empty());
  EXPECT_EQ(load_robot(look, {.visual_geometry = true}).world.geoms.size(), 1u);
}

TEST(Urdf, MeshesFromPackagesAndFolders) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "robot_description/meshes");
  std::filesystem::create_directories(folder / "robot_description/urdf");
  folder.write("robot_description/meshes/cube.obj", cube_obj());
  const auto load_mesh = [&](const std::string& uri, const LoadOptions& options) {
    const auto file = folder.write("robot_description/urdf/r.urdf",
                                   "<robot name=\"r\">" +
                                       link("base", "<collision><geometry><mesh filename=\"" + uri +
                                                        "\" scale=\".5 .5 .5\"/></geometry></collision>") +
                                       "</robot>");
    LoadReport report;
    return load_world(file, options, report);
  };
  const LoadOptions root{.packages = {{"elsewhere", folder / "robot_description"}}};
  for (const std::string& uri :
       {std::string("package://robot_description/meshes/cube.obj"),
        std::string("model://robot_description/meshes/cube.obj"),
        std::string("package://elsewhere/meshes/cube.obj"), std::string("../meshes/cube.obj"),
        "file://" + (folder / "robot_description/meshes/cube.obj").string()}) {
    const Geom geom = load_mesh(uri, root).geoms.at(0);
    EXPECT_TRUE(geom.shape.bounds(geom.pose).upper.isApprox(Vec3(1, 1, 1), 1e-9)) << uri;
  }
  EXPECT_THROW(load_mesh("package://unknown/cube.obj", root), InvalidInput);
  EXPECT_THROW(load_mesh("../meshes/none.obj", root), InvalidInput);
  EXPECT_THROW(load_mesh("http://host/cube.obj", root), InvalidInput);
}

TEST(Urdf, DamageIsRefusedQuietlyByName) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  for (const std::string& inner :
       {std::string(""), link("base") + link("base"), link("base") + joint("j", "revolute", "none"),
        link("base") + link("a") + joint("j", "helical", "a"), link("base") + link("a"),
        link("base") + link("a") + joint("j", "continuous", "a", "<axis xyz=\"0 0 0\"/>"),
        link("base", "<collision><geometry><sphere radius=\"-1\"/></geometry></collision>"),
        link("base") + link("a") + joint("j", "revolute", "a", kLimit + "<mimic joint=\"none\"/>"),
        link("base") + link("a", "") + joint("j", "revolute", "a", kLimit), std::string("<link")}) {
    const std::string message = robot_refusal(inner);
    EXPECT_TRUE(contains(message, "robot.urdf")) << inner << ": " << message;
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(Urdf, PiecesThatUrdfdomDropsAreNamed) {
  const std::string flat = link("base", "<collision><geometry><box size=\"1 2\"/></geometry></collision>");
  EXPECT_TRUE(load_robot(flat).warned_of("urdfdom left something out"));
}

TEST(Urdf, VelocityLimitsAreOneWarning) {
  const std::string unknown =
      "<axis xyz=\"0 0 1\"/><limit lower=\"-1\" upper=\"2\" effort=\"30\" velocity=\"0\"/>";
  const std::string links = link("base") + link("a") + link("b");
  EXPECT_TRUE(load_robot(links + joint("j", "revolute", "a", unknown) + joint("k", "continuous", "b"))
                  .report.warnings.empty());
  const Loaded one =
      load_robot(links + joint("j", "revolute", "a", unknown) + joint("k", "prismatic", "b", kLimit));
  ASSERT_EQ(one.report.warnings.size(), 1u);
  EXPECT_EQ(one.report.warnings[0].line, 6);
  EXPECT_TRUE(one.warned_of("<joint>: the velocity limit of this joint is ignored"));
  const std::string both =
      links + joint("j", "revolute", "a", kLimit) + joint("k", "continuous", "b", kLimit);
  const Loaded two = load_robot(both);
  ASSERT_EQ(two.report.warnings.size(), 1u);
  EXPECT_EQ(two.report.warnings[0].line, 5);
  EXPECT_TRUE(two.warned_of("this joint and 1 more"));
  EXPECT_THROW(load_robot(both, {.strict = true}), InvalidInput);
}

TEST(Urdf, UnknownElementsAreNamed) {
  const Loaded loaded = load_robot(link("base") + "<gazebo/><transmission/>\n<spell/>");
  ASSERT_EQ(loaded.report.warnings.size(), 1u);
  EXPECT_EQ(loaded.report.warnings[0].line, 4);
}

}  // namespace
}  // namespace tribo::test
