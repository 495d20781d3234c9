// Flexible bodies in a replay page, as the page says them: one body per triangle of the surface, where the nodes are.
#include "tribo/io/replay/flexible_look.h"

#include <gtest/gtest.h>

#include "tests/support/replay_reader.h"
#include "tests/support/temporary_folder.h"
#include "tribo/flex/ready_meshes.h"
#include "tribo/io/replay/replay_writer.h"

namespace tribo {
namespace {

World falling_cube() {
  World world;
  world.add_geom({.name = "floor", .shape = Shape::plane()});
  FlexibleBody cube{
      .name = "cube",
      .mesh = box_mesh(Vec3::Constant(0.2), {2, 2, 2}),
      .pose = {Vec3(0.1, 0.2, 0.12)},
      .elasticity = {.young = 2e4, .poisson = 0.3, .density = 1000.0, .stiffness_damping = 0.01}};
  world.add_flexible_body(cube);
  return world;
}

// Where the corners of all pieces are drawn, against where their nodes are.
double largest_gap(const detail::FlexibleLook& look, const State& state) {
  double gap = 0.0;
  for (const detail::FlexibleLook::Piece& piece : look.pieces()) {
    const Pose pose = detail::FlexibleLook::pose(piece.node, state.node_position.data());
    for (int k = 0; k < 3; ++k) {
      gap = std::max(gap, (pose * piece.shape[k] - state.node_position.segment<3>(3 * piece.node[k])).norm());
    }
  }
  return gap;
}

TEST(FlexibleLook, PiecesLieWhereTheNodesAre) {
  Simulator s(falling_cube(), {.time_step = 0.005});
  const detail::FlexibleLook look(s.world());
  EXPECT_EQ(look.pieces().size(), 48u);
  EXPECT_LT(largest_gap(look, s.state()), 1e-15);
  for (int k = 0; k < 40; ++k) s.step();
  const double stretched = largest_gap(look, s.state());
  EXPECT_GT(stretched, 1e-5);  // the cube is soft
  EXPECT_LT(stretched, 0.01);
}

TEST(FlexibleLook, PageHasABodyPerTriangleAndTheContacts) {
  test::TemporaryFolder folder;
  Simulator s(falling_cube(), {.time_step = 0.005});
  ReplayWriter replay(folder / "run.html", s, {.frames_per_second = 0.0});
  std::size_t contacts = 0;
  for (int k = 0; k < 20; ++k) {
    replay.record(s, s.step());
    contacts += s.flexible_contacts().size();
  }
  replay.finish();
  const std::vector<test::PageRun> runs = test::read_page(test::file_text(folder / "run.html"));
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].world["bodies"].size(), 49u);
  EXPECT_EQ(runs[0].world["geoms"].size(), 49u);
  EXPECT_EQ(runs[0].world["meshes"].size(), 48u);
  EXPECT_EQ(runs[0].frame_count(), 21u);
  std::size_t shown = 0;
  for (const test::DecodedChunk& chunk : runs[0].chunks) {
    EXPECT_EQ(chunk.bodies, 48u);
    shown += chunk.contacts;
    for (const std::uint32_t geom : chunk.geoms) EXPECT_LT(geom, 49u);
  }
  EXPECT_EQ(shown, contacts);
  EXPECT_GT(shown, 0u);
}

}  // namespace
}  // namespace tribo
