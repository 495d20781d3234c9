// Flexible bodies in the simulator: against mechanics (free fall, statics, vibration, conserved quantities), against rigid bodies,
// and against themselves (threads, saved states).
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <string>

#include "tribo/base/errors.h"
#include "tribo/collide/shapes/convex_hull.h"
#include "tribo/collide/shapes/height_field.h"
#include "tribo/collide/shapes/triangle_mesh.h"
#include "tribo/flex/elastic_body.h"
#include "tribo/flex/ready_meshes.h"
#include "tribo/problem/certificate.h"
#include "tribo/sim/simulator.h"
#include "tribo/solve/catalogue.h"

namespace tribo {
namespace {

constexpr double kGravity = 9.81;

FlexibleBody cube(double edge, Index cells, const Vec3& place, double young = 1e5) {
  return {.mesh = box_mesh(Vec3::Constant(edge), {cells, cells, cells}),
          .pose = {place},
          .elasticity = {.young = young, .poisson = 0.3, .density = 1000.0, .stiffness_damping = 0.01}};
}

World floor_world(double friction = 0.5) {
  World world;
  world.add_geom({.name = "floor", .shape = Shape::plane(), .material = {.friction = friction}});
  return world;
}

Vec3 mean_position(const Simulator& s) {
  return s.state().node_position.reshaped(3, s.state().node_position.size() / 3).rowwise().mean();
}

Vec3 sum_of_impulses(const Simulator& s) {
  Vec3 sum = Vec3::Zero();
  for (const Vec3& impulse : s.flexible_contact_impulses()) sum += impulse;
  return sum;
}

double mass_of(const World& world, Index f) {
  return world.flexible_bodies[f].elasticity.density * volume(world.flexible_bodies[f].mesh);
}

// Linear and angular momentum and the energy of a body that turns and trembles freely.
TEST(FlexibleBodies, FreeMotionKeepsMomentum) {
  World world;
  world.gravity.setZero();
  FlexibleBody body = cube(0.2, 2, Vec3(1, 2, 3));
  body.elasticity.stiffness_damping = 0.0;
  world.add_flexible_body(body);
  Simulator s(world, {.time_step = 1e-3, .scheme = Scheme::midpoint});
  State state = s.state();
  for (Index n = 0; n < state.node_position.size() / 3; ++n) {
    const Vec3 arm = state.node_position.segment<3>(3 * n) - Vec3(1, 2, 3);
    state.node_velocity.segment<3>(3 * n) =
        Vec3(1, 0, 0.5) + Vec3(2, -3, 5).cross(arm) + Vec3(0.3 * arm.x(), -0.2 * arm.y(), 0.0) / 0.2;
  }
  s.set_state(state);
  const Vec6 before = s.momentum();
  const double energy = s.energy().total();
  for (int k = 0; k < 200; ++k) s.step();
  EXPECT_LT((s.momentum() - before).head<3>().norm(), 1e-10 * before.head<3>().norm());
  EXPECT_LT((s.momentum() - before).tail<3>().norm(), 1e-6 * before.norm());
  EXPECT_NEAR(s.energy().total(), energy, 2e-3 * energy);
  EXPECT_GT(s.energy().elastic, 0.0);
}

// A cube on the floor: the floor carries its weight, its bottom rests on the floor, it comes to rest.
TEST(FlexibleBodies, FloorCarriesTheWeight) {
  World world = floor_world();
  world.add_flexible_body(cube(0.2, 2, Vec3(0, 0, 0.1)));
  Simulator s(world, {.time_step = 0.005, .tolerance = 1e-8});
  for (int k = 0; k < 200; ++k) s.step();
  EXPECT_EQ(s.missed_steps(), 0);
  const double weight = mass_of(world, 0) * kGravity;
  EXPECT_NEAR(sum_of_impulses(s).z() / s.time_step(), weight, 1e-3 * weight);
  EXPECT_LT(s.state().node_velocity.lpNorm<Eigen::Infinity>(), 1e-4);
  double lowest = 1e300;
  for (Index n = 0; n < s.state().node_position.size() / 3; ++n) {
    lowest = std::min(lowest, s.state().node_position[3 * n + 2]);
  }
  EXPECT_NEAR(lowest, 0.0, 1e-6);
  EXPECT_LT(mean_position(s).z(), 0.1);  // its weight presses it
}

// A table on a slide, held by its limit, feels what lies on it and what hangs on it.
TEST(FlexibleBodies, SensorsOfRigidBodiesFeelThem) {
  for (const bool attached : {false, true}) {
    World world;
    ModelBuilder builder;
    const Shape top = Shape::box(Vec3(0.5, 0.5, 0.05));
    const Index table = builder.add_body({.name = "table", .inertia = uniform_inertia(top, 3.0)});
    builder.add_joint({.body = table,
                       .kind = JointKind::slide,
                       .axis = Vec3::UnitZ(),
                       .limited = true,
                       .lower = 0.0,
                       .upper = 1.0});
    world.model = builder.build();
    world.add_geom({.shape = top, .body = table});
    FlexibleBody body = cube(0.2, 2, Vec3(0, 0, attached ? -0.5 : 0.15));
    if (attached) {
      for (const Index node : nodes_on_plane(body.mesh, Vec3(0, 0, 0.1), Vec3::UnitZ(), 1e-9))
        body.attachments.push_back({node, table, body.pose * body.mesh.nodes[node]});
    }
    world.add_flexible_body(body);
    world.sensors.push_back({.name = "f", .kind = SensorKind::force, .frame = {table}});
    world.sensors.push_back({.name = "t", .kind = SensorKind::torque, .frame = {table}});
    world.sensors.push_back({.name = "touch",
                             .kind = SensorKind::touch,
                             .frame = {table},
                             .volume = Shape::box(Vec3(0.6, 0.6, 0.1))});
    Simulator s(world, {.time_step = 0.005, .tolerance = 1e-9});
    for (int k = 0; k < 300; ++k) s.step();
    const double own = mass_of(world, 0) * kGravity, all = own + 3.0 * kGravity;
    EXPECT_NEAR(s.sensor("f")[2], all, 1e-3 * all);
    EXPECT_NEAR(Vec3(s.sensor("t").data()).norm(), 0.0, 1e-3 * all);
    EXPECT_NEAR(s.sensor("touch")[0], attached ? 0.0 : own, 1e-3 * own);
  }
}

// Pulled sideways by gravity that leans: it sticks below the angle of friction and slides above with g (sin - mu cos).
TEST(FlexibleBodies, SlidesWhereCoulombSaysSo) {
  for (const double slope : {0.3, 0.7}) {  // tan of the angle; mu = 0.5
    World world = floor_world(0.5);
    world.gravity = kGravity * Vec3(std::sin(std::atan(slope)), 0.0, -std::cos(std::atan(slope)));
    world.add_flexible_body(cube(0.2, 2, Vec3(0, 0, 0.1), 1e6));
    Simulator s(world, {.time_step = 0.005, .tolerance = 1e-8});
    for (int k = 0; k < 100; ++k) s.step();
    const double t = s.state().time;
    const double a = slope < 0.5 ? 0.0 : world.gravity.x() + 0.5 * world.gravity.z();
    const double speed = s.momentum()[0] / mass_of(world, 0);
    EXPECT_NEAR(speed, a * t, 0.01 + 0.02 * a * t) << slope;
    EXPECT_EQ(s.missed_steps(), 0);
  }
}

// A rigid box on a flexible cube on the floor, and the other way round: both interfaces carry what lies above.
TEST(FlexibleBodies, StacksWithRigidBodies) {
  for (const bool rigid_above : {true, false}) {
    World world = floor_world();
    ModelBuilder builder;
    const Shape box = Shape::box(Vec3(0.15, 0.15, 0.05));
    const double low = rigid_above ? 0.1 : 0.2, high = rigid_above ? 0.25 : 0.05;
    const Index body = builder.add_free_body("box", {Vec3(0, 0, high)}, uniform_inertia(box, 3.0));
    world.model = builder.build();
    world.add_geom({.shape = box, .body = body});
    world.add_flexible_body(cube(0.2, 2, Vec3(0, 0, low)));
    Simulator s(world, {.time_step = 0.005, .tolerance = 1e-8});
    for (int k = 0; k < 200; ++k) s.step();
    EXPECT_EQ(s.missed_steps(), 0);
    Vec3 against_box = Vec3::Zero();
    for (std::size_t c = 0; c < s.flexible_contacts().size(); ++c) {
      if (s.flexible_contacts()[c].a.body == body) against_box += s.flexible_contact_impulses()[c];
    }
    const double carried = rigid_above ? -3.0 * kGravity : mass_of(world, 0) * kGravity;
    EXPECT_NEAR(against_box.z() / s.time_step(), carried, 2e-3 * std::abs(carried)) << rigid_above;
    EXPECT_LT(s.state().v.norm(), 1e-3);
  }
}

// A cube that falls on the top, z = 0, of every shape: soon it weighs on it with its weight, and does not sink in.
TEST(FlexibleBodies, EveryShapeCarriesThem) {
  const Vec3 half = Vec3::Constant(0.15);
  std::vector<Vec3> corners;
  for (int k = 0; k < 8; ++k) {
    corners.push_back(half.cwiseProduct(Vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1)));
  }
  const std::vector<TriangleMesh::Triangle> faces{{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6},
                                                  {0, 1, 5}, {0, 5, 4}, {2, 6, 7}, {2, 7, 3},
                                                  {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  const std::vector<std::pair<Shape, double>> shapes{
      {Shape::plane(), 0.0},
      {Shape::sphere(1.0), 1.0},
      {Shape::capsule(0.3, 0.5), 0.8},
      {Shape::box(half), half.z()},
      {Shape::cylinder(0.2, 0.1), 0.1},
      {Shape::ellipsoid(Vec3(0.5, 0.6, 0.4)), 0.4},
      {Shape::hull(ConvexHull::around(corners)), half.z()},
      {Shape::mesh(TriangleMesh::make(corners, faces)), half.z()},
      {Shape::height_field(HeightField::make(3, 3, std::vector<double>(9, 0.0), {0.5, 0.5, 1.0, 0.2})), 0.0}};
  for (const auto& [shape, top] : shapes) {
    World world;
    world.add_geom({.shape = shape, .pose = {Vec3(0, 0, -top)}});
    world.add_flexible_body(cube(0.2, 2, Vec3(0, 0, 0.101), 3e5));
    Simulator s(world, {.time_step = 0.005});
    double deepest = 0.0;
    for (int k = 0; k < 60; ++k) deepest = std::max(deepest, s.step().penetration);
    const double weight = mass_of(world, 0) * kGravity;
    EXPECT_EQ(s.missed_steps(), 0) << to_string(shape.kind());
    EXPECT_NEAR(sum_of_impulses(s).z() / s.time_step(), weight, 0.1 * weight) << to_string(shape.kind());
    EXPECT_LT(deepest, 1e-4) << to_string(shape.kind());
  }
}

TEST(FlexibleBodies, RestOnEachOther) {
  World world = floor_world();
  world.add_flexible_body(cube(0.2, 2, Vec3(0, 0, 0.1)));
  world.add_flexible_body(cube(0.16, 2, Vec3(0.01, 0.01, 0.28)));
  Simulator s(world, {.time_step = 0.005, .tolerance = 1e-8});
  for (int k = 0; k < 200; ++k) s.step();
  EXPECT_EQ(s.missed_steps(), 0);
  Vec3 between = Vec3::Zero();  // on the upper one
  for (std::size_t c = 0; c < s.flexible_contacts().size(); ++c) {
    const FlexibleContact& contact = s.flexible_contacts()[c];
    if (contact.a.flexible < 0) continue;
    EXPECT_NE(contact.a.flexible, contact.b.flexible);
    between += (contact.b.flexible == 1 ? 1.0 : -1.0) * s.flexible_contact_impulses()[c];
  }
  const double weight = mass_of(world, 1) * kGravity;
  EXPECT_NEAR(between.z() / s.time_step(), weight, 2e-3 * weight);
}

// A bar that is held at one end comes to rest where statics says, which knows nothing of time.
TEST(FlexibleBodies, ComesToRestInItsEquilibrium) {
  World world;
  FlexibleBody bar{
      .mesh = box_mesh(Vec3(1.0, 0.1, 0.1), {10, 1, 1}),
      .elasticity = {.young = 1e7, .poisson = 0.3, .density = 1000.0, .stiffness_damping = 0.05}};
  bar.fixed_nodes = nodes_on_plane(bar.mesh, Vec3(-0.5, 0, 0), Vec3::UnitX(), 1e-9);
  world.add_flexible_body(bar);
  Simulator s(world, {.time_step = 0.02, .scheme = Scheme::implicit_euler});
  for (int k = 0; k < 200; ++k) s.step();
  const ElasticBody body(bar.mesh, bar.elasticity);
  const Equilibrium rest = equilibrium(body, bar.fixed_nodes, body.weight(world.gravity));
  ASSERT_TRUE(rest.converged);
  EXPECT_LT((s.state().node_position - rest.positions).lpNorm<Eigen::Infinity>(), 1e-8);
  EXPECT_LT(rest.positions.minCoeff(), -0.06);  // it hangs down
}

// Hung on a body that slides freely along z: both fall together; on the world: the same as fixed nodes.
TEST(FlexibleBodies, AttachedNodesFollowTheirBody) {
  World world;
  ModelBuilder builder;
  const Index carrier = builder.add_body(
      {.name = "carrier", .parent = 0, .position = Vec3(0, 0, 1.0), .inertia = {.mass = 2.0}});
  builder.add_joint({.body = carrier, .kind = JointKind::slide, .axis = Vec3::UnitZ()});
  world.model = builder.build();
  FlexibleBody body = cube(0.2, 2, Vec3(0, 0, 0.9));
  for (const Index n : nodes_on_plane(body.mesh, Vec3(0, 0, 0.1), Vec3::UnitZ(), 1e-9)) {
    body.attachments.push_back({n, carrier, body.pose * body.mesh.nodes[n] - Vec3(0, 0, 1.0)});
  }
  world.add_flexible_body(body);
  Simulator s(world, {.time_step = 0.005, .tolerance = 1e-7});
  for (int k = 0; k < 50; ++k) s.step();
  EXPECT_EQ(s.missed_steps(), 0);
  const double fall = -s.state().time * kGravity;
  EXPECT_NEAR(s.state().v[0], fall, 1e-6);
  for (const NodeAttachment& tie : body.attachments) {
    const Vec3 at = s.state().node_position.segment<3>(3 * tie.node);
    EXPECT_LT((at - s.kinematics().pose(carrier) * tie.anchor).norm(), 1e-7);
  }
}

// 10 000 steps of a bar that swings: the midpoint rule keeps a quadratic energy to rounding, and that of the corotational law
// within a band that does not widen.
TEST(FlexibleBodies, MidpointKeepsTheEnergyOverTenThousandSteps) {
  for (const ElasticLaw law : {ElasticLaw::linear, ElasticLaw::corotational}) {
    World world;
    world.gravity.setZero();
    FlexibleBody bar{.mesh = box_mesh(Vec3(0.3, 0.1, 0.1), {2, 1, 1}),
                     .elasticity = {.law = law, .young = 1e5, .poisson = 0.3, .density = 1000.0}};
    bar.fixed_nodes = nodes_on_plane(bar.mesh, Vec3(-0.15, 0, 0), Vec3::UnitX(), 1e-9);
    world.add_flexible_body(bar);
    Simulator s(world, {.time_step = 2e-3, .scheme = Scheme::midpoint});
    State state = s.state();
    for (Index n = 0; n < bar.mesh.node_count(); ++n) {
      state.node_velocity[3 * n + 2] = 0.5 * (bar.mesh.nodes[n].x() + 0.15) / 0.3;
    }
    s.set_state(state);
    const double begin = s.energy().total();
    double early = 0.0, late = 0.0;  // largest deviation in the first and the last thousand steps
    for (int k = 0; k < 10000; ++k) {
      s.step();
      const double off = std::abs(s.energy().total() / begin - 1.0);
      if (k < 1000) early = std::max(early, off);
      if (k >= 9000) late = std::max(late, off);
    }
    const double band = law == ElasticLaw::linear ? 1e-8 : 1e-2;
    EXPECT_LT(early, band) << to_string(law);
    EXPECT_LT(late, std::max(band, 2.0 * early)) << to_string(law);
  }
}

TEST(FlexibleBodies, SameBitsOnTwoThreadsAndFromASavedState) {
  World world = floor_world();
  world.add_flexible_body(cube(0.2, 2, Vec3(0, 0, 0.11)));
  world.add_flexible_body(cube(0.2, 2, Vec3(1, 0, 0.12)));
  Simulator one(world, {.time_step = 0.01}), two(world, {.time_step = 0.01, .threads = 2});
  for (int k = 0; k < 20; ++k) {
    one.step();
    two.step();
  }
  EXPECT_EQ(one.state_hash(), two.state_hash());
  const std::vector<std::uint8_t> saved = one.save_state();
  Simulator again(world, {.time_step = 0.01});
  again.load_state(saved);
  for (int k = 0; k < 10; ++k) {
    one.step();
    again.step();
  }
  EXPECT_EQ(one.state_hash(), again.state_hash());
}

// The problem of a step holds the sparse tree as it is; every solver reaches the same impulse as the step.
TEST(FlexibleBodies, ProblemOfAStepIsThatOfTheSolvers) {
  World world = floor_world();
  world.add_flexible_body(cube(0.2, 1, Vec3(0, 0, 0.1)));
  Simulator s(world, {.time_step = 0.005, .tolerance = 1e-10});
  for (int k = 0; k < 3; ++k) s.step();
  const ContactProblem problem = s.problem();
  ASSERT_TRUE(problem.has_sparse_trees());
  for (const std::string name : {"ipm", "alnewton", "nsgs", "admm"}) {
    Solution solution;
    Settings settings;
    settings.tolerance = 1e-8;
    const Report report = make_solver(name)->solve(problem, settings, solution);
    EXPECT_EQ(report.status, Status::converged) << name;
    double force = 0.0;
    for (Index i = 0; i < problem.constraint_count(); ++i) force += solution.impulse[problem.row(i) + 2];
    EXPECT_NEAR(force, sum_of_impulses(s).z(), 1e-5 * force) << name;
  }
}

TEST(FlexibleBodies, BadOnesAreNamed) {
  const auto message = [](const std::function<void(FlexibleBody&)>& damage) {
    World world;
    FlexibleBody body = cube(0.2, 1, Vec3::Zero());
    body.name = "jelly";
    damage(body);
    world.add_flexible_body(body);
    try {
      Simulator s(world);
    } catch (const InvalidInput& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message([](FlexibleBody&) {}), "");
  const auto expect = [&](const std::string& part, const std::function<void(FlexibleBody&)>& damage) {
    const std::string found = message(damage);
    EXPECT_NE(found.find(part), std::string::npos) << found;
    EXPECT_NE(found.find("jelly"), std::string::npos) << found;
  };
  expect("young", [](FlexibleBody& b) { b.elasticity.young = 0.0; });
  expect("a fixed node", [](FlexibleBody& b) { b.fixed_nodes = {8}; });
  expect("body of an attachment", [](FlexibleBody& b) { b.attachments = {{0, 3, Vec3::Zero()}}; });
  expect("attached or fixed more than once", [](FlexibleBody& b) {
    b.fixed_nodes = {2};
    b.attachments = {{2, 0, Vec3::Zero()}};
  });
  expect("names node 9", [](FlexibleBody& b) { b.mesh.tets[0][1] = 9; });
  expect("friction", [](FlexibleBody& b) { b.material.friction = -1.0; });
}

TEST(FlexibleBodies, StatesOfTheWrongSizeAreRefusedAndFixedNodesStandStill) {
  World world;
  FlexibleBody body = cube(0.2, 1, Vec3::Zero());
  body.fixed_nodes = {0, 3};
  world.add_flexible_body(body);
  Simulator s(world, {.scheme = Scheme::midpoint});
  State state = s.state();
  state.node_velocity.setOnes();
  s.set_state(state);
  const Vec3 before = s.state().node_position.segment<3>(9);
  s.step();
  EXPECT_EQ(Vec3(s.state().node_position.segment<3>(9)), before);
  state.node_position.conservativeResize(21);
  EXPECT_THROW(s.set_state(state), InvalidInput);
  state = s.state();
  state.node_velocity[5] = std::nan("");
  EXPECT_THROW(s.set_state(state), InvalidInput);
}

}  // namespace
}  // namespace tribo
