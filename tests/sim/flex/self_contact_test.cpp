// A surface against itself: a folded strip whose arms clap together, and bodies that must not feel themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tribo/flex/ready_meshes.h"
#include "tribo/sim/flex/rest_neighbours.h"
#include "tribo/sim/simulator.h"

namespace tribo {
namespace {

// How deep nodes lie inside elements that are not theirs, measured to the nearest face of the element, m.
double overlap(const TetMesh& mesh, const Vector& positions) {
  const auto at = [&](Index n) { return Vec3(positions.segment<3>(3 * n)); };
  double deepest = 0.0;
  for (const TetMesh::Tet& tet : mesh.tets) {
    Mat3 edges;
    for (int k = 0; k < 3; ++k) edges.col(k) = at(tet[k + 1]) - at(tet[0]);
    const Mat3 inverse = edges.inverse();  // rows: gradients of the shape functions 1, 2, 3
    const Vec3 first = -inverse.colwise().sum().transpose();
    for (Index n = 0; n < mesh.node_count(); ++n) {
      if (std::find(tet.begin(), tet.end(), n) != tet.end()) continue;
      const Vec3 w = inverse * (at(n) - at(tet[0]));
      double depth = (1.0 - w.sum()) / first.norm();
      for (int k = 0; k < 3; ++k) depth = std::min(depth, w[k] / inverse.row(k).norm());
      deepest = std::max(deepest, depth);
    }
  }
  return deepest;
}

constexpr double kLong = 0.5, kShort = 0.4, kRadius = 0.1, kThick = 0.04;
constexpr double kLength = kLong + std::numbers::pi * kRadius + kShort;

// A straight strip folded around a half circle: the long arm above, the short one below, 0.16 m between them, both turning towards
// each other; the whole flies and turns.
Simulator clapping_strip(bool self_contact, double friction = 0.5) {
  World world;
  world.gravity.setZero();
  world.add_flexible_body(
      {.name = "strip",
       .mesh = box_mesh(Vec3(kLength, 0.1, kThick), {24, 2, 1}),
       .elasticity = {.young = 2e4, .poisson = 0.3, .density = 1000.0, .stiffness_damping = 0.002},
       .material = {.friction = friction},
       .self_contact = self_contact});
  Simulator s(world, {.time_step = 0.002, .tolerance = 1e-8});
  State state = s.state();
  const TetMesh& mesh = world.flexible_bodies[0].mesh;
  for (Index n = 0; n < mesh.node_count(); ++n) {
    const Vec3& rest = mesh.nodes[n];
    const double along = rest.x() + 0.5 * kLength;  // from the free end of the long arm
    const double turn = std::clamp((along - kLong) / kRadius, 0.0, std::numbers::pi);
    const double arm =
        along < kLong ? kLong - along : std::max(0.0, along - kLong - std::numbers::pi * kRadius);
    const Vec3 inward(std::sin(turn), 0.0, -std::cos(turn));
    const Vec3 x =
        arm * Vec3::UnitX() + (rest.z() - kRadius) * inward + (rest.y() + 0.05 * along) * Vec3::UnitY();
    state.node_position.segment<3>(3 * n) = x;
    state.node_velocity.segment<3>(3 * n) =
        Vec3(0.3, -0.2, 0.1) + Vec3(0.5, 0.3, 0.4).cross(x) + 2.0 * arm * std::cos(turn) * -Vec3::UnitZ();
  }
  s.set_state(state);
  return s;
}

TEST(SelfContact, ArmsOfAFoldedStripMeet) {
  Simulator s = clapping_strip(true), through = clapping_strip(false);
  const TetMesh& mesh = s.world().flexible_bodies[0].mesh;
  const Vec6 before = s.momentum();
  double deepest = 0.0, crossed = 0.0, push = 0.0;
  std::size_t contacts = 0;
  for (int k = 0; k < 150; ++k) {
    s.step();
    through.step();
    deepest = std::max(deepest, overlap(mesh, s.state().node_position));
    crossed = std::max(crossed, overlap(mesh, through.state().node_position));
    for (std::size_t c = 0; c < s.flexible_contacts().size(); ++c) {
      const FlexibleContact& contact = s.flexible_contacts()[c];
      const Vec3& impulse = s.flexible_contact_impulses()[c];
      EXPECT_EQ(contact.a.flexible, 0);
      EXPECT_EQ(contact.b.flexible, 0);
      EXPECT_GE(contact.gap, -1e-5);
      // Coulomb's law.
      const double normal = contact.normal.dot(impulse);
      EXPECT_LE((impulse - normal * contact.normal).norm(), 0.5 * normal + 1e-9);
      push += normal;
      if (normal > 0.0) ++contacts;
    }
  }
  EXPECT_EQ(s.missed_steps(), 0);
  EXPECT_TRUE(through.flexible_contacts().empty());
  EXPECT_GT(contacts, 20u);
  EXPECT_GT(push, 0.1);      // N s; each arm came with 0.5 to 1 N s
  EXPECT_GT(crossed, 5e-3);  // without contacts the arms go through each other
  EXPECT_LT(deepest, 1e-5);
  // What the body does to itself changes no momentum.
  EXPECT_LT((s.momentum() - before).head<3>().norm(), 1e-10 * before.head<3>().norm());
  EXPECT_LT((s.momentum() - before).tail<3>().norm(), (through.momentum() - before).tail<3>().norm() + 1e-3);
}

// Neither at rest nor squeezed, thin or round does a body meet itself where it is in one piece, and its motion keeps its bits.
TEST(SelfContact, NothingHappensWhereNothingMeets) {
  const std::vector<TetMesh> meshes{
      box_mesh(Vec3(0.2, 0.2, 0.2), {4, 4, 4}), box_mesh(Vec3(0.6, 0.4, 0.01), {6, 4, 1}),
      box_mesh(Vec3(0.3, 0.3, 0.02), {4, 4, 3}), sphere_mesh(0.1, 6), cylinder_mesh(0.02, 0.5, 4, 10)};
  for (std::size_t m = 0; m < meshes.size(); ++m) {
    std::vector<std::uint64_t> hashes;
    for (const bool self_contact : {false, true}) {
      World world;
      world.add_geom({.shape = Shape::plane()});
      world.add_flexible_body(
          {.mesh = meshes[m],
           .pose = {Vec3(0, 0, 0.13)},
           .elasticity = {.young = 2e4, .poisson = 0.3, .density = 1000.0, .stiffness_damping = 0.01},
           .self_contact = self_contact});
      Simulator s(world, {.time_step = 0.005});
      for (int k = 0; k < 60; ++k) {
        s.step();
        for (const FlexibleContact& contact : s.flexible_contacts()) EXPECT_EQ(contact.a.flexible, -1) << m;
      }
      hashes.push_back(s.state_hash());
    }
    EXPECT_EQ(hashes[0], hashes[1]) << m;
  }
}

// Along a straight bar: near within 2.5 longest edges, far beyond; around a gap the way through the body counts.
TEST(SelfContact, NeighboursAreThoseAlongTheBody) {
  TetMesh mesh = box_mesh(Vec3(2.0, 0.1, 0.1), {20, 1, 1});
  const FlexibleSurface surface(mesh);
  const RestNeighbours rest(mesh, surface);
  EXPECT_NEAR(rest.longest_edge(), 0.1 * std::sqrt(2.0), 1e-12);
  for (Index v = 0; v < surface.vertex_count(); ++v) {
    for (Index other = 0; other < surface.vertex_count(); ++other) {
      const Vec3 apart = (mesh.nodes[surface.node(v)] - mesh.nodes[surface.node(other)]).cwiseAbs();
      const bool near = rest.is_near(v, {other, other, other});
      if (apart.norm() > 2.5 * rest.longest_edge()) {
        EXPECT_FALSE(near);
      }
      if (apart.sum() <= 2.5 * rest.longest_edge() - 1e-9) {  // along the edges of the cells
        EXPECT_TRUE(near);
      }
    }
  }
  // Bent into a ring whose ends nearly touch: they are as far apart as before.
  for (Vec3& x : mesh.nodes) {
    const double angle = 3.1 * x.x();
    x = Vec3((0.32 + x.z()) * std::sin(angle), x.y(), (0.32 + x.z()) * std::cos(angle));
  }
  const RestNeighbours ring(mesh, surface);
  EXPECT_LT((mesh.nodes.front() - mesh.nodes[20]).norm(), 0.03);
  EXPECT_FALSE(ring.is_near(0, {20, 20, 20}));
}

TEST(SelfContact, SameBitsOnTwoThreads) {
  Simulator one = clapping_strip(true);
  Simulator two(one.world(), {.time_step = 0.002, .tolerance = 1e-8, .threads = 2});
  two.set_state(one.state());
  for (int k = 0; k < 80; ++k) {
    one.step();
    two.step();
  }
  EXPECT_FALSE(one.flexible_contacts().empty());
  EXPECT_EQ(one.state_hash(), two.state_hash());
}

}  // namespace
}  // namespace tribo
