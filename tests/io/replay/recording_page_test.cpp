#include "tribo/io/replay/recording_page.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tests/support/hdf5_damage.h"
#include "tests/support/replay_reader.h"
#include "tests/support/temporary_folder.h"
#include "tribo/base/errors.h"
#include "tribo/io/recorder.h"
#include "tribo/io/replay/page.h"
#include "tribo/io/replay/replay_writer.h"
#include "tribo/scenes/scene.h"

namespace tribo {
namespace {

using test::PageRun;
using test::TemporaryFolder;

class RecordingPageTest : public testing::Test {
 protected:
  void SetUp() override {
    if (detail::viewer_page().empty()) GTEST_SKIP() << "built without the viewer";
  }
  // The same run as a recording and as a page; how many steps it has.
  std::size_t record(double time, Law law = Law::exact, const char* name = "run") {
    Scene scene = make_scene("clutter", {{"bodies", 6}});
    scene.settings.law = law;
    Simulator simulator(scene.world, scene.settings);
    simulator.set_state(scene.start);
    Recorder recorder(folder_ / (std::string(name) + ".h5"), simulator);
    ReplayWriter writer(folder_ / (std::string(name) + "-direct.html"), simulator);
    while (simulator.state().time < time - 1e-9) {
      const StepReport report = simulator.step();
      recorder.record(simulator, report);
      writer.record(simulator, report);
    }
    recorder.finish();
    writer.finish();
    return static_cast<std::size_t>(simulator.step_count());
  }
  std::vector<PageRun> read(const char* name) { return test::read_page(test::file_text(folder_ / name)); }
  void poke(const char* dataset, std::size_t place, double value) {
    test::poke(folder_ / "run.h5", dataset, place, value);
  }
  void remove(const char* dataset) { test::remove(folder_ / "run.h5", dataset); }
  std::string complaint() {
    try {
      write_recording_page({folder_ / "run.h5"}, folder_ / "page.html");
    } catch (const InvalidInput& error) {
      EXPECT_FALSE(std::filesystem::exists(folder_ / "page.html"));
      EXPECT_FALSE(std::filesystem::exists(folder_ / "page.html.part"));
      EXPECT_TRUE(std::string(error.what()).starts_with((folder_ / "run.h5").string())) << error.what();
      return error.what();
    }
    return "";
  }
  TemporaryFolder folder_;
};

TEST_F(RecordingPageTest, IsThePageThatARunWrites) {
  record(0.6);
  const auto report = write_recording_page({folder_ / "run.h5"}, folder_ / "page.html");
  const PageRun from = read("page.html").at(0), direct = read("run-direct.html").at(0);
  ASSERT_EQ(from.frame_count(), direct.frame_count());
  EXPECT_EQ(report.frames, std::vector<std::int64_t>{static_cast<std::int64_t>(direct.frame_count())});
  for (const char* key : {"bodies", "geoms", "meshes", "tolerance", "gravity", "law", "solver"}) {
    EXPECT_EQ(from.world[key], direct.world[key]) << key;
  }
  for (std::size_t k = 0; k < from.chunks.size(); ++k) {
    const auto &a = from.chunks[k], &b = direct.chunks[k];
    EXPECT_EQ(a.time, b.time);
    EXPECT_EQ(a.step, b.step);
    EXPECT_EQ(a.position, b.position);
    EXPECT_EQ(a.rotation, b.rotation);
    EXPECT_EQ(a.contact_impulse, b.contact_impulse);
    EXPECT_EQ(a.contact_velocity, b.contact_velocity);
    EXPECT_EQ(a.contact_error, b.contact_error);
    EXPECT_EQ(a.friction, b.friction);
    EXPECT_EQ(a.geoms, b.geoms);
    EXPECT_EQ(a.island, b.island);
    EXPECT_EQ(a.state, b.state);
    ASSERT_EQ(a.solve_time.size(), b.solve_time.size());
    for (std::size_t f = 0; f < a.solve_time.size(); ++f) {
      const bool start = k == 0 && f == 0;  // of the start nothing is known
      EXPECT_EQ(std::isnan(a.solve_time[f]), start);
      EXPECT_EQ(std::isnan(b.solve_time[f]), start);
      if (!start) {
        EXPECT_EQ(a.solve_time[f], b.solve_time[f]);
      }
    }
  }
}

TEST_F(RecordingPageTest, TwoRunsSideBySide) {
  record(0.2);
  record(0.2, Law::convex, "convex");
  write_recording_page({folder_ / "run.h5", folder_ / "convex.h5"}, folder_ / "both.html");
  const auto runs = read("both.html");
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].world["law"], "exact");
  EXPECT_EQ(runs[1].world["law"], "convex");
  EXPECT_EQ(runs[0].frame_count(), runs[1].frame_count());
  EXPECT_THROW(write_recording_page({}, folder_ / "x.html"), InvalidInput);
}

TEST_F(RecordingPageTest, RateIsAnUpperBound) {
  const std::size_t steps = record(0.2);
  write_recording_page({folder_ / "run.h5"}, folder_ / "all.html", 0.0);
  EXPECT_EQ(read("all.html")[0].frame_count(), steps + 1);
  write_recording_page({folder_ / "run.h5"}, folder_ / "few.html", 10.0);
  EXPECT_EQ(read("few.html")[0].frame_count(), 3u);
  EXPECT_THROW(write_recording_page({folder_ / "run.h5"}, folder_ / "x.html", std::nan("")), InvalidInput);
}

TEST_F(RecordingPageTest, RecordingOfNoStepHasItsStart) {
  record(0.0);
  write_recording_page({folder_ / "run.h5"}, folder_ / "page.html");
  EXPECT_EQ(read("page.html")[0].frame_count(), 1u);
}

TEST_F(RecordingPageTest, UnknownNumbersStayUnknown) {
  record(0.05);
  poke("/body_position", 3 * 7 * 5 + 3, std::nan(""));
  poke("/error", 4, std::numeric_limits<double>::infinity());
  write_recording_page({folder_ / "run.h5"}, folder_ / "page.html", 0.0);
  const PageRun run = read("page.html").at(0);
  EXPECT_EQ(run.chunks[0].position[3 * 6 * 5], std::numeric_limits<std::int32_t>::min());
  EXPECT_TRUE(std::isinf(run.chunks[0].error[4]));
}

TEST_F(RecordingPageTest, OlderRecordingsAreRefusedClearly) {
  record(0.05);
  remove("/view/world");
  EXPECT_NE(complaint().find("older version"), std::string::npos);
}

TEST_F(RecordingPageTest, DamageIsNamed) {
  record(0.3);
  const std::string whole = test::file_text(folder_ / "run.h5");
  const auto restored = [&](const std::function<void()>& damage, const char* expected) {
    folder_.write("run.h5", whole);
    damage();
    EXPECT_NE(complaint().find(expected), std::string::npos) << expected;
  };
  restored([&] { remove("/contact_velocity"); }, "/contact_velocity is missing");
  restored([&] { poke("/contact_geoms", 1, 900.0); }, "/contact_geoms");
  restored([&] { poke("/contact_geoms", 0, std::nan("")); }, "/contact_geoms");
  restored([&] { poke("/contact_state", 0, 7.0); }, "/contact_state");
  restored([&] { poke("/contact_start", 3, -4.0); }, "/contact_start");
  restored([&] { poke("/time", 1, std::nan("")); }, "/time");
  restored([&] { poke("/view/position_quantum", 0, 0.0); }, "/view/position_quantum");
  restored([&] { folder_.write("run.h5", "hello"); }, "");
  restored([&] { folder_.write("run.h5", ""); }, "");
  for (std::size_t size = 1; size < whole.size(); size += whole.size() / 23) {
    folder_.write("run.h5", whole.substr(0, size));
    EXPECT_NE(complaint(), "") << "the first " << size << " bytes";
  }
}

}  // namespace
}  // namespace tribo
