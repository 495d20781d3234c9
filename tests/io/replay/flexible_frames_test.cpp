// Recordings of flexible bodies as pages: the page that the run itself writes, and damage by name.
#include "tribo/io/replay/flexible_frames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tests/support/hdf5_damage.h"
#include "tests/support/replay_reader.h"
#include "tests/support/temporary_folder.h"
#include "tribo/base/errors.h"
#include "tribo/flex/ready_meshes.h"
#include "tribo/io/recorder.h"
#include "tribo/io/replay/page.h"
#include "tribo/io/replay/recording_page.h"
#include "tribo/io/replay/replay_writer.h"

namespace tribo {
namespace {

constexpr std::size_t kSteps = 20;
constexpr double kNodes = 2 * 27.0;

// A rigid box and two flexible cubes: one on the other beside the box.
World cubes_and_box() {
  World world;
  ModelBuilder builder;
  const Shape box = Shape::box(Vec3::Constant(0.05));
  const Index body = builder.add_free_body("box", {Vec3(1.0, 0.0, 0.051)}, uniform_inertia(box, 1.0));
  world.model = builder.build();
  world.add_geom({.name = "floor", .shape = Shape::plane()});
  world.add_geom({.name = "box", .shape = box, .body = body});
  world.visuals.push_back({.name = "mark", .shape = Shape::sphere(0.01)});
  for (const double z : {0.101, 0.3015}) {
    world.add_flexible_body(
        {.name = "cube",
         .mesh = box_mesh(Vec3::Constant(0.2), {2, 2, 2}),
         .pose = {Vec3(0.0, 0.0, z)},
         .elasticity = {.young = 2e4, .poisson = 0.3, .density = 1000.0, .stiffness_damping = 0.01}});
  }
  return world;
}

class FlexibleFramesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (detail::viewer_page().empty()) GTEST_SKIP() << "built without the viewer";
    Simulator s(cubes_and_box(), {.time_step = 0.005});
    Recorder recorder(file_, s);
    ReplayWriter writer(folder_ / "direct.html", s);
    for (std::size_t k = 0; k < kSteps; ++k) {
      const StepReport report = s.step();
      recorder.record(s, report);
      writer.record(s, report);
    }
    recorder.finish();
    writer.finish();
  }
  test::PageRun read(const char* name) { return test::read_page(test::file_text(folder_ / name)).at(0); }
  std::string complaint() {
    try {
      write_recording_page({file_}, folder_ / "page.html");
    } catch (const InvalidInput& error) {
      EXPECT_FALSE(std::filesystem::exists(folder_ / "page.html"));
      return error.what();
    }
    return "";
  }
  test::TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_ / "run.h5";
};

TEST_F(FlexibleFramesTest, PageIsThatOfTheRun) {
  write_recording_page({file_}, folder_ / "page.html");
  const test::PageRun from = read("page.html"), direct = read("direct.html");
  ASSERT_EQ(from.frame_count(), direct.frame_count());
  for (const char* key : {"bodies", "geoms", "meshes"}) EXPECT_EQ(from.world[key], direct.world[key]) << key;
  std::size_t contacts = 0;
  for (std::size_t k = 0; k < from.chunks.size(); ++k) {
    const auto &a = from.chunks[k], &b = direct.chunks[k];
    EXPECT_EQ(a.bodies, 1 + 2 * 48u);
    EXPECT_EQ(a.position, b.position);
    EXPECT_EQ(a.rotation, b.rotation);
    EXPECT_EQ(a.kinetic, b.kinetic);
    EXPECT_EQ(a.potential, b.potential);
    EXPECT_EQ(a.contact_position, b.contact_position);
    EXPECT_EQ(a.normal, b.normal);
    EXPECT_EQ(a.contact_impulse, b.contact_impulse);
    EXPECT_EQ(a.friction, b.friction);
    EXPECT_EQ(a.geoms, b.geoms);
    EXPECT_EQ(a.state, b.state);
    contacts += a.contacts;
  }
  EXPECT_GT(contacts, 0u);
}

TEST_F(FlexibleFramesTest, UnknownNodesStayUnknown) {
  test::poke(file_, "/node_position", 0, std::nan(""));
  write_recording_page({file_}, folder_ / "page.html", 0.0);
  const test::PageRun page = read("page.html");
  const auto& positions = page.chunks[0].position;
  const auto start = positions.begin(), end = start + 3 * 97;  // of the first frame
  EXPECT_GT(std::count(start, end, std::numeric_limits<std::int32_t>::min()), 0);
}

TEST_F(FlexibleFramesTest, DamageIsNamed) {
  const std::string whole = test::file_text(file_);
  const auto expect = [&](const char* expected, const std::function<void()>& damage) {
    folder_.write("run.h5", whole);
    damage();
    const std::string found = complaint();
    EXPECT_NE(found.find(expected), std::string::npos) << expected << " in: " << found;
    EXPECT_TRUE(found.starts_with(file_.string())) << found;
  };
  const auto frames = static_cast<hsize_t>(kSteps + 1);
  expect("/node_position is missing", [&] { test::remove(file_, "/node_position"); });
  expect("/node_position has", [&] { test::reshape(file_, "/node_position", {frames, 53, 3}); });
  expect("/node_position has", [&] { test::reshape(file_, "/node_position", {frames - 1, 54, 3}); });
  expect("/elastic_energy is missing", [&] { test::remove(file_, "/elastic_energy"); });
  expect("/flexible/first_node is missing", [&] { test::remove(file_, "/flexible"); });
  expect("/flexible/triangles", [&] { test::poke(file_, "/flexible/first_node", 2, kNodes - 1); });
  expect("/flexible/first_node", [&] { test::poke(file_, "/flexible/first_node", 2, 3.0); });
  expect("/flexible/first_node", [&] { test::poke(file_, "/flexible/first_node", 0, 1.0); });
  expect("/flexible/first_triangle", [&] { test::poke(file_, "/flexible/first_triangle", 2, 1000.0); });
  expect("/flexible/first_triangle", [&] { test::poke(file_, "/flexible/first_triangle", 1, -1.0); });
  expect("/flexible/triangles [0][1]", [&] { test::poke(file_, "/flexible/triangles", 1, kNodes); });
  expect("/flexible/triangles [0][1]", [&] { test::poke(file_, "/flexible/triangles", 1, 27.0); });
  expect("/flexible/triangles [1][0]", [&] { test::poke(file_, "/flexible/triangles", 3, 0.5); });
  expect("/flexible/triangles [0][0]", [&] { test::poke(file_, "/flexible/triangles", 0, std::nan("")); });
  expect("/flexible_contact_start", [&] { test::poke(file_, "/flexible_contact_start", 5, -1.0); });
  expect("/flexible_contact_sides [0]", [&] { test::poke(file_, "/flexible_contact_sides", 0, 3.0); });
  expect("/flexible_contact_sides [0]", [&] { test::poke(file_, "/flexible_contact_sides", 2, 2.0); });
  expect("/flexible_contact_gap is missing", [&] { test::remove(file_, "/flexible_contact_gap"); });
  expect("/flexible_contact_impulse has", [&] { test::reshape(file_, "/flexible_contact_impulse", {1, 3}); });
}

}  // namespace
}  // namespace tribo
