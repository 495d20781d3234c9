#include "tribo/io/replay/replay_writer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <optional>
#include <thread>

#include "tests/support/replay_reader.h"
#include "tests/support/temporary_folder.h"
#include "tribo/base/errors.h"
#include "tribo/collide/shapes/convex_hull.h"
#include "tribo/collide/shapes/height_field.h"
#include "tribo/collide/shapes/triangle_mesh.h"
#include "tribo/io/replay/page.h"
#include "tribo/scenes/scene.h"

namespace tribo {
namespace {

using test::PageRun;
using test::TemporaryFolder;

class ReplayWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    if (detail::viewer_page().empty()) GTEST_SKIP() << "built without the viewer";
  }
  PageRun read(const std::filesystem::path& file) const {
    auto runs = test::read_page(test::file_text(file));
    EXPECT_EQ(runs.size(), 1u);
    return runs.empty() ? PageRun() : runs[0];
  }
  // Writes a page of a scene and returns it; `simulator` is where it ended.
  PageRun record(const char* scene_name, double time, const ReplaySettings& settings,
                 std::optional<Simulator>& simulator) {
    Scene scene = make_scene(scene_name);
    simulator.emplace(scene.world, scene.settings);
    simulator->set_state(scene.start);
    ReplayWriter writer(folder_ / "run.html", *simulator, settings);
    while (simulator->state().time < time - 1e-9) writer.record(*simulator, simulator->step());
    writer.finish();
    return read(folder_ / "run.html");
  }
  TemporaryFolder folder_;
};

TEST_F(ReplayWriterTest, FramesComeAtTheirRate) {
  std::optional<Simulator> simulator;
  const PageRun run = record("stack", 0.5, {.frames_per_second = 50.0, .frames_per_chunk = 10}, simulator);
  EXPECT_EQ(run.frame_count(), 26u);
  EXPECT_EQ(run.chunks.size(), 3u);
  std::size_t f = 0;
  for (const auto& chunk : run.chunks) {
    for (std::size_t k = 0; k < chunk.frames; ++k, ++f)
      EXPECT_NEAR(chunk.time[k], 0.02 * static_cast<double>(f), 1e-9);
  }
  EXPECT_EQ(run.end["frames"], 26);
  EXPECT_EQ(run.end["missed_steps"], 0);
  EXPECT_EQ(run.chunks[0].contact_count[0], 0u);  // nothing led to the start
  EXPECT_TRUE(std::isnan(run.chunks[0].error[0]));
}

TEST_F(ReplayWriterTest, EveryStepWhereTheRateIsZero) {
  std::optional<Simulator> simulator;
  EXPECT_EQ(record("stack", 0.1, {.frames_per_second = 0.0}, simulator).frame_count(), 51u);
}

TEST_F(ReplayWriterTest, LastFrameIsTheSimulator) {
  std::optional<Simulator> s;
  const PageRun run = record("sliding-block", 0.1, {.frames_per_second = 0.0}, s);
  const auto& chunk = run.chunks.back();
  const std::size_t f = chunk.frames - 1;
  EXPECT_EQ(chunk.time[f], s->state().time);
  EXPECT_EQ(chunk.step[f], 50u);
  EXPECT_NEAR(chunk.kinetic[f], s->energy().kinetic, 1e-12);
  EXPECT_NEAR(chunk.potential[f], s->energy().weight + s->energy().springs, 1e-12);
  for (Index k = 0; k < 3; ++k) {
    EXPECT_NEAR(chunk.position[3 * f + static_cast<std::size_t>(k)] * chunk.quantum,
                s->kinematics().pose(1).position[k], chunk.quantum);
  }
  std::size_t c = chunk.contacts - chunk.contact_count[f];
  ASSERT_EQ(chunk.contact_count[f], s->contacts().size());
  for (std::size_t k = 0; k < s->contacts().size(); ++k, ++c) {
    const Vec3& impulse = s->contact_impulses()[k];
    for (Index a = 0; a < 3; ++a) {
      EXPECT_NEAR(chunk.contact_impulse[3 * c + static_cast<std::size_t>(a)], impulse[a],
                  2e-4 * impulse.norm());
    }
    EXPECT_EQ(chunk.geoms[2 * c], static_cast<std::uint32_t>(s->contacts()[k].geom_a));
    EXPECT_EQ(chunk.state[c], 2);  // slides
    EXPECT_NEAR(chunk.contact_velocity[3 * c], s->contact_details()[k].velocity[0], 1e-2);
  }
}

World odd_world() {
  World world;
  world.name = "</script><script>alert(1)</script>";
  ModelBuilder builder;
  const std::vector<Vec3> corners{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const auto hull = ConvexHull::around(corners);
  const Index body =
      builder.add_free_body("\xff <b>\"\\\n", {Vec3(0, 0, 5)}, {1.0, Vec3::Zero(), Mat3::Identity()});
  world.model = builder.build();
  world.add_geom(
      {.name = "ground",
       .shape = Shape::height_field(HeightField::make(3, 4, std::vector<double>(12, 0.5), {2, 3, 1, 0.1}))});
  world.add_geom({.shape = Shape::hull(hull), .body = body, .color = Color{0.1f, 0.2f, 0.3f, 0.5f}});
  world.add_geom({.shape = Shape::hull(hull), .body = body, .visual = false});
  world.visuals.push_back({.name = "skin",
                           .shape = Shape::mesh(TriangleMesh::make(corners, {{0, 1, 2}})),
                           .body = body,
                           .pose = {Vec3(1, 2, 3), Mat3::Identity()}});
  return world;
}

TEST_F(ReplayWriterTest, WorldHasShapesAndColours) {
  Simulator simulator(odd_world());
  ReplayWriter(folder_ / "odd.html", simulator).finish();
  const auto world = read(folder_ / "odd.html").world;
  EXPECT_EQ(world["format"], "tribo-replay");
  EXPECT_EQ(world["version"], 1);
  EXPECT_EQ(world["name"], "</script><script>alert(1)</script>");
  EXPECT_EQ(world["dofs"], 6);
  ASSERT_EQ(world["bodies"].size(), 2u);
  EXPECT_EQ(world["bodies"][0]["name"], "world");
  EXPECT_EQ(world["bodies"][1]["name"], "\xEF\xBF\xBD <b>\"\\\n");  // what is no UTF-8 is replaced
  ASSERT_EQ(world["geoms"].size(), 4u);
  const auto& geoms = world["geoms"];
  EXPECT_EQ(geoms[0]["kind"], "height_field");
  EXPECT_EQ(geoms[1]["kind"], "hull");
  EXPECT_NEAR(geoms[1]["color"][3].get<double>(), 0.5, 1e-4);
  EXPECT_EQ(geoms[1]["mesh"], geoms[2]["mesh"]);  // the same hull once
  EXPECT_EQ(geoms[2]["visual"], false);
  EXPECT_EQ(geoms[3]["collides"], false);
  EXPECT_EQ(geoms[3]["kind"], "mesh");
  EXPECT_EQ(geoms[3]["pose"], nlohmann::json({1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0}));
  ASSERT_EQ(world["meshes"].size(), 3u);
  for (const auto& mesh : world["meshes"]) {
    const std::string positions = test::from_base64(mesh["positions"]),
                      triangles = test::from_base64(mesh["triangles"]);
    ASSERT_EQ(positions.size() % 12, 0u);
    ASSERT_EQ(triangles.size() % 12, 0u);
    for (std::size_t k = 0; k < triangles.size(); k += 4) {
      std::uint32_t corner;
      std::memcpy(&corner, triangles.data() + k, 4);
      EXPECT_LT(corner, positions.size() / 12);
    }
  }
  EXPECT_EQ(test::from_base64(world["meshes"][0]["triangles"]).size(), 12u * 12u);  // 2 x 3 cells of two
  EXPECT_EQ(test::from_base64(world["meshes"][1]["triangles"]).size(), 4u * 12u);   // a tetrahedron
}

TEST_F(ReplayWriterTest, NamesAreNoMarkup) {
  Simulator simulator(odd_world());
  ReplayWriter(folder_ / "odd.html", simulator).finish();
  const std::string html = test::file_text(folder_ / "odd.html");
  EXPECT_EQ(html.find("alert(1)</script>"), std::string::npos);
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_NE(html.find("\\u003cscript>alert"), std::string::npos);
}

TEST_F(ReplayWriterTest, StoppedRunsOpen) {
  Scene scene = make_scene("stack");
  Simulator simulator(scene.world, scene.settings);
  ReplayWriter writer(folder_ / "run.html", simulator, {.frames_per_second = 0.0, .frames_per_chunk = 10});
  for (int k = 0; k < 25; ++k) writer.record(simulator, simulator.step());
  EXPECT_EQ(writer.frame_count(), 26);
  // As if it were killed now: two whole chunks are on the disk, or soon will be.
  for (int k = 0; k < 1000 && read(folder_ / "run.html").frame_count() < 20; ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const PageRun run = read(folder_ / "run.html");
  EXPECT_EQ(run.frame_count(), 20u);
  EXPECT_TRUE(run.end.is_null());
  const std::string html = test::file_text(folder_ / "run.html");
  EXPECT_EQ(test::read_page(html.substr(0, html.size() - 30))[0].frame_count(), 10u);  // cut within a chunk
}

TEST_F(ReplayWriterTest, DestructorKeepsWhatWasRecorded) {
  Scene scene = make_scene("stack");
  Simulator simulator(scene.world, scene.settings);
  {
    ReplayWriter writer(folder_ / "run.html", simulator, {.frames_per_second = 0.0});
    for (int k = 0; k < 5; ++k) writer.record(simulator, simulator.step());
  }
  EXPECT_EQ(read(folder_ / "run.html").end["frames"], 6);
}

TEST_F(ReplayWriterTest, MissedStepsAreNotLostBetweenFrames) {
  Scene scene = make_scene("clutter", {{"bodies", 8}});
  scene.settings.max_iterations = 0;  // most steps miss
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  ReplayWriter writer(folder_ / "run.html", simulator, {.frames_per_second = 10.0});
  std::int64_t missed = 0, first = 0;
  for (int k = 0; k < 250; ++k) {
    const StepReport report = simulator.step();
    writer.record(simulator, report);
    if (report.missed() && missed++ == 0) first = report.step;
  }
  writer.finish();
  ASSERT_GT(missed, 0);
  const PageRun run = read(folder_ / "run.html");
  EXPECT_EQ(run.end["missed_steps"], missed);
  bool shown = false;
  for (const auto& chunk : run.chunks) {
    for (std::size_t k = 0; k < chunk.frames; ++k)
      shown = shown || (chunk.step[k] == first && chunk.missed[k] > 0);
  }
  EXPECT_TRUE(shown);
  // One frame every tenth of a second, and at most one more between two of them.
  EXPECT_LE(static_cast<double>(run.frame_count()), 2.0 * 10.0 * simulator.state().time + 2.0);
}

TEST_F(ReplayWriterTest, RefusesWhatCannotBe) {
  Simulator simulator(odd_world());
  EXPECT_THROW(ReplayWriter(folder_ / "no" / "x.html", simulator), InvalidInput);
  EXPECT_THROW(ReplayWriter(folder_ / "x.html", simulator, {.frames_per_second = -1.0}), InvalidInput);
  EXPECT_THROW(ReplayWriter(folder_ / "x.html", simulator, {.frames_per_second = std::nan("")}),
               InvalidInput);
  EXPECT_THROW(ReplayWriter(folder_ / "x.html", simulator, {.frames_per_chunk = 0}), InvalidInput);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x.html"));
}

TEST_F(ReplayWriterTest, RecordingChangesNoBits) {
  const auto hash = [this](bool record) {
    Scene scene = make_scene("clutter", {{"bodies", 10}});
    Simulator simulator(scene.world, scene.settings);
    simulator.set_state(scene.start);
    std::optional<ReplayWriter> writer;
    if (record) writer.emplace(folder_ / "bits.html", simulator, ReplaySettings{.frames_per_second = 0.0});
    for (int k = 0; k < 200; ++k) {
      const StepReport report = simulator.step();
      if (writer) writer->record(simulator, report);
    }
    return simulator.state_hash();
  };
  EXPECT_EQ(hash(true), hash(false));
}

}  // namespace
}  // namespace tribo
