// Files that MJCF names: where they are looked for, and what happens when something cannot be loaded.
#include <gtest/gtest.h>

#include "tests/io/loading.h"
#include "tests/support/png_maker.h"
#include "tribo/collide/shapes/height_field.h"

namespace tribo::test {
namespace {

namespace fs = std::filesystem;

World load_file(const fs::path& file, bool allow_missing = false) {
  LoadReport report;
  return load_world(file, {.allow_missing = allow_missing}, report);
}

std::string message_of(const fs::path& file) {
  try {
    load_file(file);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "loaded";
}

// MuJoCo 4.0 finds a mesh in FOLDER OF MAIN FILE/meshdir/NAME, or else in FOLDER OF THE FILE THAT NAMES IT/NAME,
// without meshdir (tried out with every combination below).
TEST(MjcfFiles, MeshesAreFoundInMeshdirOrBesideTheFileThatNamesThem) {
  const auto found = [](const std::string& meshdir, const std::string& place) {
    const TemporaryFolder folder;
    fs::create_directories(folder / "sub/m");
    fs::create_directories(folder / "m");
    folder.write(place, cube_obj());
    folder.write("sub/part.xml", R"(<mujoco><asset><mesh name="cube" file="cube.obj"/></asset>
        <worldbody><geom type="mesh" mesh="cube"/></worldbody></mujoco>)");
    const std::string compiler = meshdir.empty() ? "" : "<compiler meshdir=\"" + meshdir + "\"/>";
    return message_of(folder.write(
               "main.xml", "<mujoco>" + compiler + R"(<include file="sub/part.xml"/></mujoco>)")) == "loaded";
  };
  EXPECT_TRUE(found("", "cube.obj"));
  EXPECT_TRUE(found("", "sub/cube.obj"));
  EXPECT_TRUE(found("m", "m/cube.obj"));
  EXPECT_TRUE(found("m", "sub/cube.obj"));
  EXPECT_FALSE(found("m", "sub/m/cube.obj"));
  EXPECT_FALSE(found("m", "cube.obj"));
}

TEST(MjcfFiles, MeshdirHoldsHeightFieldsToo) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "m");
  folder.write("m/hill.png", png_file({2, 2, 8, 0}, bytes_of({0, 0, 10, 0, 20, 40})));
  const std::string rest = R"(<asset><hfield file="hill.png" size="1 1 1 1"/></asset>
      <worldbody><geom type="hfield" hfield="hill"/></worldbody></mujoco>)";
  EXPECT_EQ(message_of(folder.write("main.xml", R"(<mujoco><compiler meshdir="m" assetdir="a"/>)" + rest)),
            "loaded");
  EXPECT_NE(message_of(folder.write("main.xml", R"(<mujoco><compiler meshdir="a" assetdir="m"/>)" + rest)),
            "loaded");
}

// Expected: hfield_data of MuJoCo 4.0 for the same image, the last row of the image first.
TEST(MjcfFiles, HeightFieldsFromImages) {
  const TemporaryFolder folder;
  const auto heights = [&](const std::string& png) {
    folder.write("hill.png", png);
    const World world = load_file(folder.write("main.xml", R"(<mujoco>
        <asset><hfield name="h" file="hill.png" size="1 1 1 1"/></asset>
        <worldbody><geom type="hfield" hfield="h"/></worldbody></mujoco>)"));
    const HeightField& field = world.geoms.at(0).shape.height_field();
    EXPECT_EQ(field.rows(), 2);
    EXPECT_EQ(field.columns(), 3);
    std::vector<double> z;
    for (Index k = 0; k < 6; ++k) z.push_back(field.vertex(k / 3, k % 3).z());
    return z;
  };
  const auto expect = [&](const std::string& png, const std::vector<double>& expected) {
    const std::vector<double> z = heights(png);
    for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(z[k], expected[k], 1e-7) << k;
  };
  expect(png_file({3, 2, 8, 0}, bytes_of({0, 0, 10, 200, 0, 255, 50, 20})),
         {1.0, 0.1960784, 0.07843138, 0.0, 0.03921569, 0.7843137});
  expect(png_file({3, 2, 8, 2},
                  bytes_of({0, 0, 0, 0, 10, 20, 30, 200, 0, 0, 0, 255, 255, 255, 0, 50, 0, 0, 0, 20})),
         {1.0, 0.0, 0.0, 0.0, 0.03921569, 0.7843137});
  expect(png_file({3, 2, 4, 0}, bytes_of({0, 0x01, 0xf0, 0, 0x71, 0x00})),
         {0.4666667, 0.06666667, 0.0, 0.0, 0.06666667, 1.0});
  expect(png_file({3, 2, 8, 0}, bytes_of({0, 7, 7, 7, 0, 7, 7, 7})), {0, 0, 0, 0, 0, 0});
}

// What removes ground or actuators is an error that says what to do, and a warning where it is allowed.
TEST(MjcfFiles, GroundThatCannotBeReadIsAnError) {
  const TemporaryFolder folder;
  folder.write("hill.png", "no image");
  const auto file = [&](const std::string& geom) {
    return folder.write("main.xml", R"(<mujoco><asset><hfield name="hill" file="hill.png" size="1 1 1 1"/>
        <mesh name="rock" file="rock.obj"/></asset><worldbody><geom size="1"/>)" +
                                        geom + "</worldbody></mujoco>");
  };
  for (const std::string geom : {R"(<geom type="hfield" hfield="hill")", R"(<geom type="mesh" mesh="rock")",
                                 R"(<geom type="sdf" mesh="rock")"}) {
    const std::string message = message_of(file(geom + "/>"));
    EXPECT_TRUE(contains(message, "main.xml:2: <geom>") && contains(message, "--allow-missing")) << message;
    LoadReport report;
    EXPECT_EQ(load_world(file(geom + "/>"), {.allow_missing = true}, report).geoms.size(), 1u);
    ASSERT_EQ(report.warnings.size(), 1u) << geom;
    EXPECT_TRUE(contains(report.warnings[0].message, "left out")) << report.warnings[0].message;
    // What is only seen may be missing, unless a pair names it.
    report = {};
    load_world(file(geom + R"( contype="0" conaffinity="0"/>)"), {}, report);
    EXPECT_EQ(report.warnings.size(), 1u) << geom;
  }
  const fs::path paired =
      folder.write("paired.xml", R"(<mujoco><asset><mesh name="rock" file="rock.obj"/></asset>
      <worldbody><geom name="a" size="1"/>
        <body><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
          <geom name="b" type="mesh" mesh="rock" contype="0" conaffinity="0"/></body></worldbody>
      <contact><pair geom1="a" geom2="b"/></contact></mujoco>)");
  EXPECT_TRUE(contains(message_of(paired), "rock.obj"));
  EXPECT_TRUE(load_file(paired, true).pairs.empty());
  folder.write("rock.obj", "v 0 0 nonsense\n");
  EXPECT_TRUE(contains(message_of(paired), "rock.obj"));
  EXPECT_TRUE(load_file(paired, true).pairs.empty());
}

TEST(MjcfFiles, ActuatorsThatAreNotCoveredAreErrors) {
  const std::string model = R"(<mujoco><worldbody><body><joint name="j"/><geom size="1"/></body></worldbody>
<actuator><motor joint="j"/>
<plugin name="drive" joint="j" plugin="mujoco.pid"/>
<motor joint="j" gear="2"/></actuator><keyframe><key ctrl="1 2 3"/><key ctrl="4 5 6"/></keyframe></mujoco>)";
  const std::string message = refusal(model);
  EXPECT_TRUE(contains(message, "model.xml:3: <plugin>: actuator 'drive'")) << message;
  EXPECT_TRUE(contains(message, "--allow-missing")) << message;
  const Loaded loaded = load_text(model, "model.xml", {.allow_missing = true});
  EXPECT_TRUE(loaded.warned_of("actuator 'drive'"));
  // The controls of a keyframe keep their numbers.
  ASSERT_EQ(loaded.world.keyframes.size(), 2u);
  EXPECT_EQ(loaded.world.keyframes[0].control, Vector(Eigen::Vector2d(1, 3)));
  EXPECT_EQ(loaded.world.keyframes[1].control, Vector(Eigen::Vector2d(4, 6)));
  EXPECT_TRUE(contains(refusal(model, "model.xml", {.strict = true, .allow_missing = true}), "strict"));
}

}  // namespace
}  // namespace tribo::test
