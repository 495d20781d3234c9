#include "tribo/io/recorder.h"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/support/temporary_folder.h"
#include "tribo/base/errors.h"
#include "tribo/formats/hdf5_reader.h"

namespace tribo {
namespace {

// A crate that falls on the floor beside a pendulum.
World crate_and_pendulum(const std::string& joint = "pivot") {
  World world;
  world.name = "yard";
  ModelBuilder builder;
  const Shape box = Shape::box(Vec3::Constant(0.1));
  const Index crate = builder.add_free_body("crate", {Vec3(0.0, 0.0, 0.11)}, uniform_inertia(box, 2.0));
  const Index rod = builder.add_body({.name = "rod",
                                      .position = Vec3(1.0, 0.0, 2.0),
                                      .inertia = {1.0, Vec3(0.0, 0.0, -0.4), 0.01 * Mat3::Identity()}});
  builder.add_joint(
      {.name = joint, .body = rod, .axis = Vec3::UnitY(), .stiffness = 1.0, .spring_reference = 0.2});
  world.model = builder.build();
  world.add_geom({.name = "floor", .shape = Shape::plane()});
  world.add_geom({.name = "crate", .shape = box, .body = crate});
  return world;
}

std::vector<std::vector<std::string>> read_csv(const std::filesystem::path& file) {
  std::vector<std::vector<std::string>> rows;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::stringstream cells(line);
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

// The numbers of a table of any rank, frame after frame; empty unless it has the extents.
Vector read_table(const std::filesystem::path& path, const char* name, const std::vector<hsize_t>& extents) {
  Vector values;
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
  std::vector<hsize_t> found(8, 0);
  found.resize(static_cast<std::size_t>(H5Sget_simple_extent_dims(space, found.data(), nullptr)));
  if (found == extents) {
    values.resize(H5Sget_simple_extent_npoints(space));
    H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  }
  H5Sclose(space);
  H5Dclose(set);
  H5Fclose(file);
  return values;
}

TEST(Recorder, CsvHasOneLinePerFrameAndOneColumnPerNumber) {
  const test::TemporaryFolder folder;
  Simulator simulator(crate_and_pendulum());
  Recorder recorder(folder / "run.csv", simulator);
  StepReport report;
  for (Index k = 0; k < 60; ++k) recorder.record(simulator, report = simulator.step());
  EXPECT_EQ(recorder.frame_count(), 61);
  recorder.finish();

  const auto rows = read_csv(folder / "run.csv");
  ASSERT_EQ(rows.size(), 62u);
  const std::vector<std::string> header{
      "time",           "step",          "contacts",      "error",    "iterations", "penetration",
      "kinetic_energy", "weight_energy", "spring_energy", "crate.x",  "crate.y",    "crate.z",
      "crate.qw",       "crate.qx",      "crate.qy",      "crate.qz", "pivot",      "crate.vx",
      "crate.vy",       "crate.vz",      "crate.wx",      "crate.wy", "crate.wz",   "pivot.rate"};
  EXPECT_EQ(rows[0], header);
  for (const auto& row : rows) ASSERT_EQ(row.size(), header.size());
  EXPECT_EQ(rows[1][0], "0");
  EXPECT_EQ(std::stod(rows[1][11]), 0.11);
  const std::vector<std::string>& last = rows.back();
  EXPECT_EQ(std::stod(last[0]), simulator.state().time);
  EXPECT_EQ(last[1], "60");
  EXPECT_EQ(std::stod(last[2]), report.contacts);
  EXPECT_EQ(std::stod(last[3]), report.error);
  const Energy energy = simulator.energy();
  EXPECT_EQ(std::stod(last[6]), energy.kinetic);
  EXPECT_EQ(std::stod(last[7]), energy.weight);
  EXPECT_EQ(std::stod(last[8]), energy.springs);
  for (Index k = 0; k < 8; ++k) EXPECT_EQ(std::stod(last[9 + k]), simulator.state().q[k]);  // to the last bit
  for (Index k = 0; k < 7; ++k) EXPECT_EQ(std::stod(last[17 + k]), simulator.state().v[k]);
}

TEST(Recorder, CsvQuotesNamesThatNeedIt) {
  const test::TemporaryFolder folder;
  Simulator simulator(crate_and_pendulum("knee, \"left\""));
  Recorder recorder(folder / "run.csv", simulator);
  recorder.finish();
  std::ifstream in(folder / "run.csv");
  std::string header, line;
  ASSERT_TRUE(std::getline(in, header));
  EXPECT_NE(header.find(R"(,crate.qz,"knee, ""left""",crate.vx,)"), std::string::npos) << header;
  EXPECT_TRUE(header.ends_with(R"(,"knee, ""left"".rate")")) << header;
  ASSERT_TRUE(std::getline(in, line));
  EXPECT_EQ(std::count(line.begin(), line.end(), ','), 23);
}

TEST(Recorder, Hdf5HoldsMotionContactsAndCertificates) {
  const test::TemporaryFolder folder;
  Simulator simulator(crate_and_pendulum());
  Recorder recorder(folder / "run.h5", simulator, 20);
  std::vector<Index> contacts{0};  // up to each frame
  contacts.push_back(0);           // nothing was found before the first step
  Vector times(4);
  times[0] = 0.0;
  std::vector<Vec3> impulses;
  for (Index k = 1; k <= 60; ++k) {
    recorder.record(simulator, simulator.step());
    if (k % 20 != 0) continue;
    times[k / 20] = simulator.state().time;
    contacts.push_back(contacts.back() + static_cast<Index>(simulator.contacts().size()));
    for (const Vec3& impulse : simulator.contact_impulses()) impulses.push_back(impulse);
  }
  recorder.finish();
  ASSERT_EQ(recorder.frame_count(), 4);
  ASSERT_GE(impulses.size(), 4u);

  const std::filesystem::path path = folder / "run.h5";
  const detail::Hdf5Reader file(path);
  EXPECT_EQ(file.reals_of_size("/time", 4), times);
  EXPECT_EQ(file.reals_of_size("/step", 4), (Vector(4) << 0, 20, 40, 60).finished());
  const Vector q = read_table(path, "/q", {4, 8}), v = read_table(path, "/v", {4, 7});
  ASSERT_EQ(q.size(), 32);
  ASSERT_EQ(v.size(), 28);
  EXPECT_EQ(q.tail(8), simulator.state().q);
  EXPECT_EQ(v.tail(7), simulator.state().v);
  const Vector position = read_table(path, "/body_position", {4, 3, 3});
  const Vector rotation = read_table(path, "/body_rotation", {4, 3, 4});
  ASSERT_EQ(position.size(), 36);
  ASSERT_EQ(rotation.size(), 48);
  EXPECT_EQ(position.tail(6).head(3), simulator.kinematics().pose(1).position);
  EXPECT_EQ(position.tail(3), Vector(Vec3(1.0, 0.0, 2.0)));
  EXPECT_EQ(rotation.head(4), (Vector(4) << 1, 0, 0, 0).finished());

  EXPECT_EQ(file.indices_of_size("/contact_start", 5, 0, 1000), contacts);
  const auto count = static_cast<hsize_t>(contacts.back());
  const Vector pushed = read_table(path, "/contact_impulse", {count, 3});
  ASSERT_EQ(pushed.size(), 3 * contacts.back());
  for (std::size_t c = 0; c < impulses.size(); ++c) {
    EXPECT_EQ(pushed.segment(3 * static_cast<Index>(c), 3), Vector(impulses[c]));
  }
  const Vector normal = read_table(path, "/contact_normal", {count, 3});
  ASSERT_EQ(normal.size(), pushed.size());
  EXPECT_EQ(normal.tail(3), Vector(Vec3::UnitZ()));  // from the floor to the crate
  EXPECT_EQ(read_table(path, "/contact_position", {count, 3}).size(), pushed.size());
  EXPECT_EQ(file.reals("/contact_gap").size(), contacts.back());
  EXPECT_EQ(read_table(path, "/contact_geoms", {count, 2}).tail(2), (Vector(2) << 0, 1).finished());
  for (const char* name : {"/error", "/iterations", "/islands", "/missed", "/penetration", "/kinetic_energy",
                           "/weight_energy", "/spring_energy"}) {
    EXPECT_EQ(file.reals(name).size(), 4) << name;
  }
  EXPECT_EQ(file.text("/info/world"), "yard");
  EXPECT_EQ(file.text("/info/solver"), "auto");
  EXPECT_EQ(file.text("/info/law"), "exact");
  EXPECT_EQ(file.text("/info/scheme"), "symplectic-euler");
  EXPECT_EQ(file.reals("/info/time_step")[0], 0.002);
  EXPECT_EQ(file.reals("/info/tolerance")[0], 1e-6);
  EXPECT_EQ(file.text("/names/bodies"), "world\ncrate\nrod");
  EXPECT_EQ(file.text("/names/geoms"), "floor\ncrate");
}

TEST(Recorder, LeavesNothingUnlessFinished) {
  const test::TemporaryFolder folder;
  Simulator simulator(crate_and_pendulum());
  for (const char* name : {"a.csv", "a.h5", "a.hdf5"}) {
    {
      Recorder recorder(folder / name, simulator);
      recorder.record(simulator, simulator.step());
      EXPECT_FALSE(std::filesystem::exists(folder / name));
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << name;
  }
  folder.write("old.csv", "kept");
  { Recorder recorder(folder / "old.csv", simulator); }
  EXPECT_EQ(std::filesystem::file_size(folder / "old.csv"), 4u);
}

TEST(Recorder, RefusesWhatItCannotWrite) {
  const test::TemporaryFolder folder;
  Simulator simulator(crate_and_pendulum());
  EXPECT_THROW(Recorder(folder / "run.txt", simulator), InvalidInput);
  EXPECT_THROW(Recorder(folder / "nowhere" / "run.csv", simulator), InvalidInput);
  EXPECT_THROW(Recorder(folder / "run.csv", simulator, 0), InvalidInput);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Recorder, AWorldWithoutContactsIsRecorded) {
  const test::TemporaryFolder folder;
  World world = crate_and_pendulum();
  world.geoms.clear();
  Simulator simulator(world);
  Recorder recorder(folder / "run.h5", simulator);
  recorder.record(simulator, simulator.step());
  recorder.finish();
  const detail::Hdf5Reader file(folder / "run.h5");
  EXPECT_EQ(file.indices_of_size("/contact_start", 3, 0, 0), (std::vector<Index>{0, 0, 0}));
  EXPECT_EQ(file.reals("/contact_gap").size(), 0);
}

}  // namespace
}  // namespace tribo
