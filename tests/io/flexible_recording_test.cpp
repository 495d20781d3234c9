// Flexible bodies in recordings: every number of a run, read back with the HDF5 library and by read_state().
#include "tribo/io/flexible_recording.h"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <set>

#include "tests/support/temporary_folder.h"
#include "tribo/flex/ready_meshes.h"
#include "tribo/formats/hdf5_reader.h"
#include "tribo/io/recorder.h"
#include "tribo/io/state_file.h"

namespace tribo {
namespace {

// A cube that lies on the floor and a ball of another mesh that falls on it.
World cube_and_ball() {
  World world;
  world.add_geom({.name = "floor", .shape = Shape::plane()});
  const Elasticity soft{.young = 5e4, .poisson = 0.3, .density = 1000.0, .stiffness_damping = 0.01};
  world.add_flexible_body({.name = "cube",
                           .mesh = box_mesh(Vec3::Constant(0.2), {2, 2, 2}),
                           .pose = {Vec3(0.0, 0.0, 0.1)},
                           .elasticity = soft});
  world.add_flexible_body(
      {.name = "ball", .mesh = sphere_mesh(0.08, 2), .pose = {Vec3(0.01, 0.02, 0.281)}, .elasticity = soft});
  return world;
}

std::vector<hsize_t> extents_of(const std::filesystem::path& path, const char* name) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
  std::vector<hsize_t> extents(8, 0);
  extents.resize(static_cast<std::size_t>(H5Sget_simple_extent_dims(space, extents.data(), nullptr)));
  H5Sclose(space), H5Dclose(set), H5Fclose(file);
  return extents;
}

TEST(FlexibleRecording, HoldsNodesSurfaceAndContacts) {
  const test::TemporaryFolder folder;
  const auto path = folder / "run.h5";
  Simulator s(cube_and_ball(), {.time_step = 0.005});
  Recorder recorder(path, s);
  const Vector start = s.state().node_position;
  std::vector<Index> contacts{0, 0};
  Vec3 floor = Vec3::Zero();  // impulse of the last step
  for (int k = 0; k < 12; ++k) {
    recorder.record(s, s.step());
    contacts.push_back(contacts.back() + static_cast<Index>(s.flexible_contacts().size()));
  }
  for (std::size_t c = 0; c < s.flexible_contacts().size(); ++c) {
    if (s.flexible_contacts()[c].a.geom == 0) floor += s.flexible_contact_impulses()[c];
  }
  recorder.finish();
  const World& world = s.world();
  const Index cube = world.flexible_bodies[0].mesh.node_count(), nodes = first_node(world, 2);
  const auto size = static_cast<hsize_t>(nodes);
  EXPECT_EQ(extents_of(path, "/node_position"), (std::vector<hsize_t>{13, size, 3}));
  EXPECT_EQ(extents_of(path, "/node_velocity"), (std::vector<hsize_t>{13, size, 3}));

  const detail::Hdf5Reader file(path);
  const Vector x = file.numbers("/node_position", 13 * 3 * size),
               v = file.numbers("/node_velocity", 39 * size);
  EXPECT_EQ(x.head(3 * nodes), start);
  EXPECT_EQ(x.tail(3 * nodes), s.state().node_position);
  EXPECT_TRUE(v.head(3 * nodes).isZero(0.0));
  EXPECT_EQ(v.tail(3 * nodes), s.state().node_velocity);
  EXPECT_EQ(file.numbers("/elastic_energy", 13)[12], s.energy().elastic);
  EXPECT_EQ(file.text("/names/flexible_bodies"), "cube\nball");
  EXPECT_EQ(file.indices("/flexible/first_node", 0, nodes), (std::vector<Index>{0, cube, nodes}));

  // The surface encloses the volume of the meshes: sum of x0 . (x1 x x2) / 6 over its triangles.
  const std::vector<Index> first = file.indices("/flexible/first_triangle", 0, 1 << 20);
  ASSERT_EQ(first.size(), 3u);
  const Vector triangles = file.numbers("/flexible/triangles", 3 * static_cast<std::size_t>(first.back()));
  for (Index f = 0; f < 2; ++f) {
    double enclosed = 0.0;
    for (Index t = first[f]; t < first[f + 1]; ++t) {
      Mat3 corners;
      for (int k = 0; k < 3; ++k) {
        corners.col(k) = start.segment<3>(3 * static_cast<Index>(triangles[3 * t + k]));
      }
      enclosed += corners.determinant() / 6.0;
    }
    EXPECT_NEAR(enclosed, volume(world.flexible_bodies[f].mesh), 1e-12);
  }

  EXPECT_EQ(file.indices_of_size("/flexible_contact_start", 14, 0, 1 << 20), contacts);
  const auto count = static_cast<std::size_t>(contacts.back());
  const Vector impulse = file.numbers("/flexible_contact_impulse", 3 * count);
  const Vector sides = file.numbers("/flexible_contact_sides", 3 * count);
  Vec3 recorded = Vec3::Zero();
  std::set<double> second;
  for (Index c = contacts[12]; c < contacts[13]; ++c) {
    if (sides[3 * c] == 0.0) recorded += impulse.segment<3>(3 * c);
    second.insert(sides[3 * c + 2]);
  }
  EXPECT_EQ(recorded, floor);
  EXPECT_GT(floor.z(), 0.0);
  EXPECT_EQ(second, (std::set<double>{0.0, 1.0}));
}

// A frame is a state: from there the same bits follow as in the run (without warm starts, which a recording does not hold).
TEST(FlexibleRecording, AFrameIsAState) {
  const test::TemporaryFolder folder;
  Simulator s(cube_and_ball(), {.time_step = 0.005, .warm_start = false});
  Recorder recorder(folder / "run.h5", s);
  for (int k = 0; k < 8; ++k) recorder.record(s, s.step());
  recorder.finish();
  Simulator again(cube_and_ball(), {.time_step = 0.005, .warm_start = false});
  again.set_state(read_state(again.model(), folder / "run.h5", 5));
  for (int k = 0; k < 3; ++k) again.step();
  EXPECT_EQ(again.state().node_position, s.state().node_position);
  EXPECT_EQ(again.state().node_velocity, s.state().node_velocity);
}

TEST(FlexibleRecording, WithoutFlexibleBodiesThereIsNothing) {
  const test::TemporaryFolder folder;
  World world;
  world.add_geom({.shape = Shape::plane()});
  Simulator s(world);
  Recorder recorder(folder / "run.h5", s);
  recorder.finish();
  const detail::Hdf5Reader file(folder / "run.h5");
  for (const char* name : {"/flexible", "/node_position", "/elastic_energy", "/names/flexible_bodies"}) {
    EXPECT_FALSE(file.has(name)) << name;
  }
}

}  // namespace
}  // namespace tribo
