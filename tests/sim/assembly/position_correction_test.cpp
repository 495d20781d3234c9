// Position errors are led back by displacements: against the optimality conditions, by hand, and by what must not happen:
// no velocity, no energy, no step without a solution.
#include "tribo/sim/assembly/position_correction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/dense_twin.h"
#include "tests/support/random.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/scenes/scene.h"
#include "tribo/sim/assembly/constraint_set.h"
#include "tribo/sim/simulator.h"

namespace tribo {
namespace {

constexpr double kMass = 2.0;

// A crate of half width 0.1 m on a floor, at a height of its centre.
World crate_on_floor(double height) {
  World world;
  ModelBuilder builder;
  const Shape box = Shape::box(Vec3::Constant(0.1));
  const Index crate = builder.add_free_body("crate", {Vec3(0.0, 0.0, height)}, uniform_inertia(box, kMass));
  world.model = builder.build();
  world.add_geom({.name = "floor", .shape = Shape::plane(), .material = {.friction = 0.5}});
  world.add_geom({.name = "crate", .shape = box, .body = crate, .material = {.friction = 0.5}});
  return world;
}

TEST(PositionCorrection, PenetrationIsRemovedWithoutVelocityAndItsWorkIsTold) {
  Simulator simulator(crate_on_floor(0.09));
  const double before = simulator.energy().total();
  double fastest = 0.0, work = 0.0;
  for (Index k = 0; k < 200; ++k) {
    const double height = simulator.state().q[2];
    const StepReport report = simulator.step();
    fastest = std::max(fastest, simulator.state().v.norm());
    work += report.correction_work;
    EXPECT_LE(simulator.state().q[2] - height, 1.001 * simulator.time_step());  // max_correction_speed 1 m/s
    if (k < 3) {
      EXPECT_EQ(report.corrected_islands, 1);
    }
  }
  EXPECT_EQ(simulator.missed_steps(), 0);
  EXPECT_NEAR(simulator.state().q[2], 0.1, 1e-7);
  EXPECT_LT(fastest, 1e-4);  // sweeps leave 0.1 um of the last 2 mm as a tilt, and that gap closes in a step
  EXPECT_NEAR(work, kMass * 9.81 * 0.01, 1e-6);  // lifted by 1 cm
  EXPECT_NEAR(simulator.energy().total() - before, work, 1e-6);
}

TEST(PositionCorrection, NoneAtAllWithoutStabilization) {
  SimulatorSettings settings;
  settings.contact.stabilization = 0.0;
  Simulator simulator(crate_on_floor(0.09), settings);
  for (Index k = 0; k < 50; ++k) EXPECT_EQ(simulator.step().corrected_islands, 0);
  EXPECT_NEAR(simulator.state().q[2], 0.09, 1e-8);
}

// d = A^-1 J^T z where z solves the elastic complementarity problem z >= 0, W z + R z + c g >= 0 (couplings: = 0), here by
// thousands of sweeps over the dense matrix.
TEST(PositionCorrection, SolvesTheElasticProblem) {
  test::Random random(7);
  ContactProblemBuilder builder;
  for (int t = 0; t < 2; ++t) builder.add_tree(test::random_spd(random, 6), random.vector(6));
  const auto piece = [&](Index tree, Index rows) { return JacobianPiece{tree, random.matrix(rows, 6)}; };
  std::vector<double> position;
  for (int k = 0; k < 6; ++k) {
    const std::vector<JacobianPiece> rows{piece(0, 3), piece(1, 3)};
    builder.add_contact(0.3, rows);
    position.push_back(1e-3 * random.uniform(-1.0, 1.0));
  }
  const std::vector<JacobianPiece> coupling{piece(0, 1), piece(1, 1)};
  builder.add_bilateral(coupling);
  position.push_back(5e-4);
  builder.add_box(-1.0, 1.0, coupling);
  position.push_back(ConstraintSet::kNoPosition);
  const ContactProblem step = builder.build();
  const double h = 0.01;
  Solution solved;
  solved.velocity = random.vector(step.row_count());
  solved.impulse = Vector::Zero(step.row_count());
  solved.impulse.segment<3>(0) = Vec3(0.0, 0.1, 1.0);  // the first contact sticks
  ContactLawSettings settings;
  settings.max_correction_speed = 1e3;
  const Matrix jacobian = test::dense(step.jacobian(), 12), mass = test::dense(step.mass());
  const std::vector<Index> rows{2, 5, 8, 11, 14, 17, 18, 0, 1};  // normals, coupling, tangents of the first
  for (const bool at_rest : {false, true}) {
    PositionCorrection correction;
    double standing = 0.0;
    settings.position_slop = at_rest ? 0.02 : 1e-8;  // at rest all of it is drift
    ASSERT_EQ(correction.run(step, solved, position, h, settings, at_rest, standing),
              at_rest ? PositionCorrection::Outcome::drift_undone : PositionCorrection::Outcome::corrected);
    Matrix j(9, 12);
    Vector g(9), z = Vector::Zero(9);
    for (Index k = 0; k < 9; ++k) {
      j.row(k) = jacobian.row(rows[k]);
      g[k] = k < 7 ? position[k] + h * solved.velocity[rows[k]] : 0.0;
    }
    Matrix w = j * mass.inverse() * j.transpose();
    w.diagonal() *= 1.0 + (at_rest ? 1e-6 : 1e-3);
    const Index held = at_rest ? 0 : -1;  // carries: as a coupling
    for (int sweep = 0; sweep < 20000; ++sweep) {
      for (Index k = 0; k < 9; ++k) {
        z[k] -= (w.row(k).dot(z) + g[k]) / w(k, k);
        if (k < 6 && k != held) z[k] = std::max(0.0, z[k]);
      }
    }
    const Vector d = mass.inverse() * j.transpose() * z;
    EXPECT_GE((z.array() != 0.0).count(), 5);
    EXPECT_LT((correction.displacement() - d).norm(), (at_rest ? 1e-7 : 0.03) * d.norm());
    if (at_rest) {
      EXPECT_NEAR(standing, 1e-6 * (w.diagonal().cwiseProduct(z)).head(7).cwiseAbs().maxCoeff(),
                  1e-3 * standing);
    }
  }
}

// A ball that overlaps two walls has nowhere to go: it ends in the middle, at rest, and every step has a solution.
TEST(PositionCorrection, ContradictoryOverlapsStandStill) {
  World world;
  ModelBuilder builder;
  const Shape ball = Shape::sphere(0.1);
  const Index body = builder.add_free_body("ball", {Vec3(0.004, 0.0, 0.0)}, uniform_inertia(ball, 1.0));
  world.model = builder.build();
  world.gravity.setZero();
  world.add_geom({.shape = ball, .body = body, .material = {.friction = 1.0}});
  for (const double side : {-1.0, 1.0}) {
    world.add_geom({.shape = Shape::box(Vec3(0.1, 1.0, 1.0)),
                    .pose = {Vec3(side * 0.19, 0.0, 0.0)},
                    .material = {.friction = 1.0}});
  }
  Simulator simulator(world);
  for (Index k = 0; k < 100; ++k) simulator.step();
  EXPECT_EQ(simulator.missed_steps(), 0);
  EXPECT_NEAR(simulator.state().q[0], 0.0, 1e-5);
  EXPECT_LT(simulator.state().v.norm(), 1e-12);
}

// A crate that floats 5 nm above the floor, 9 nm deep in it, or leans by 80 nm/m: less than the slop, but it is at rest, and
// what it drifts does not stay. It is put where it belongs, exactly, without a velocity, and corners do not slip.
TEST(PositionCorrection, DriftAtRestIsUndone) {
  for (const auto& [height, tilt] : {std::pair{5e-9, 0.0}, {-9e-9, 0.0}, {0.0, 8e-8}}) {
    World world = crate_on_floor(0.1 + height);
    Simulator simulator(world);
    State state = simulator.state();
    const Eigen::Quaterniond turn(Eigen::AngleAxisd(tilt, Vec3::UnitY()));
    state.q.segment<4>(3) = Eigen::Vector4d(turn.w(), turn.x(), turn.y(), turn.z());
    simulator.set_state(state);
    const Vec3 corner(0.1, 0.1, -0.1), before = simulator.kinematics().pose(1) * corner;
    double fastest = 0.0, work = 0.0;
    for (Index k = 0; k < 100; ++k) {
      work += simulator.step().correction_work;
      fastest = std::max(fastest, simulator.state().v.norm());
    }
    const double left = 2.6e-10;  // of a slop of 1e-8: 1/40
    EXPECT_NEAR(simulator.state().q[2], 0.1, left);
    EXPECT_NEAR(work, -kMass * 9.81 * height, kMass * 9.81 * left);
    for (Index axis = 4; axis < 7; ++axis) EXPECT_LT(std::abs(simulator.state().q[axis]), left / 0.2);
    const Vec3 after = simulator.kinematics().pose(1) * corner;
    EXPECT_LT((after - before).head<2>().norm(), 1e-11) << height << ' ' << tilt;
    EXPECT_LT(fastest, 1e-7);
  }
}

// The exact answer is that nothing moves. Layers sink and open by what the tolerance lets pass, 1e-7 m in ten seconds unless
// it is taken back.
TEST(PositionCorrection, StacksStayWhereTheyAre) {
  struct Case {
    const char* scene;
    SceneValues values;
    double boxes;
  };
  for (const Case& c : {Case{"stack", {{"boxes", 10}}, 10.0}, Case{"stack", {{"boxes", 20}}, 20.0},
                        Case{"stack", {{"boxes", 20}, {"mass-ratio", 1e4}}, 20.0},
                        Case{"slope", {{"angle", 15.0}, {"mu", 1.0}}, 1.0}}) {
    const Scene scene = make_scene(c.scene, c.values);
    Simulator simulator(scene.world, scene.settings);
    simulator.set_state(scene.start);
    const auto moved = [&] {
      double largest = 0.0;
      for (Index k = 0; k < simulator.state().q.size(); k += 7) {
        largest = std::max(
            largest,
            (simulator.state().q.segment<3>(k) - scene.start.q.segment<3>(k)).lpNorm<Eigen::Infinity>());
      }
      return largest;
    };
    double largest = 0.0;
    for (Index k = 0; k < 5000; ++k) {
      simulator.step();
      if (k >= 100) largest = std::max(largest, moved());
    }
    EXPECT_LT(largest, 2.5e-10 * (c.boxes + 1.0)) << c.scene << ' ' << c.boxes;
  }
}

// A ball that overlaps two walls by 5 nm on either side is at rest, too, but nothing can be undone: tried once, not for ever.
TEST(PositionCorrection, WhatCannotBeUndoneIsLeftAlone) {
  World world;
  ModelBuilder builder;
  const Shape ball = Shape::sphere(0.1);
  const Index body = builder.add_free_body("ball", {Vec3::Zero()}, uniform_inertia(ball, 1.0));
  world.model = builder.build();
  world.gravity = Vec3(0.0, 0.0, -9.81);
  world.add_geom({.shape = Shape::plane(), .pose = {Vec3(0.0, 0.0, -0.1)}, .material = {.friction = 1.0}});
  world.add_geom({.shape = ball, .body = body, .material = {.friction = 1.0}});
  for (const double side : {-1.0, 1.0}) {
    world.add_geom({.shape = Shape::box(Vec3(0.1, 1.0, 1.0)),
                    .pose = {Vec3(side * (0.2 - 5e-9), 0.0, 0.0)},
                    .material = {.friction = 1.0}});
  }
  Simulator simulator(world);
  Index corrected = 0, solved = 0;
  for (Index k = 0; k < 200; ++k) {
    const StepReport report = simulator.step();
    corrected += report.corrected_islands;
    if (k >= 100 && report.iterations > 0) ++solved;
  }
  EXPECT_GE(corrected, 1);
  EXPECT_LE(corrected, 10);
  EXPECT_LE(solved, 5);
  EXPECT_LT(simulator.state().q.head<3>().norm(), 1e-9);
}

// Four bars on parallel hinges, closed by a connect: a row of it moves nothing but for rounding, differently in every
// attitude. Turned together with gravity, the motion must not change, and energy must not grow.
TEST(PositionCorrection, PlanarLoopsMoveTheSameInEveryAttitude) {
  const auto lowest_angle = [](const Mat3& turn) {
    const RigidInertia bar{0.5, Vec3(0.0, 0.0, 0.1), 2e-3 * Mat3::Identity()};
    ModelBuilder builder;
    const Vec3 axis = turn * Vec3::UnitX();
    const auto hinge = [&](Index parent, const Vec3& at, const char* name) {
      const RigidInertia turned{bar.mass, turn * bar.center, bar.rotational};
      const Index body =
          builder.add_body({.name = name, .parent = parent, .position = turn * at, .inertia = turned});
      builder.add_joint({.body = body, .kind = JointKind::hinge, .axis = axis});
      return body;
    };
    const Index crank = hinge(0, Vec3::Zero(), "crank");
    const Index coupler = hinge(crank, Vec3(0.0, 0.0, 0.2), "coupler");
    const Index follower = hinge(0, Vec3(0.0, 0.2, 0.0), "follower");
    World world;
    world.model = builder.build();
    world.gravity = turn * Vec3(0.0, 3.0, -9.0);
    // A parallelogram: the coupler lies across from the follower's end.
    world.connects.push_back({.first = follower,
                              .second = coupler,
                              .first_anchor = turn * Vec3(0.0, 0.0, 0.2),
                              .second_anchor = turn * Vec3(0.0, 0.2, 0.0)});
    Simulator simulator(world);
    const double energy = simulator.energy().total();
    double lowest = 0.0, highest = energy;
    for (Index k = 0; k < 500; ++k) {
      simulator.step();
      lowest = std::min(lowest, simulator.state().q[0]);
      highest = std::max(highest, simulator.energy().total());
    }
    EXPECT_EQ(simulator.missed_steps(), 0);
    EXPECT_LT(highest,
              energy + 0.05);  // the band of the scheme: weight x fastest centre x h = 14 N 1.7 m/s 2 ms
    const Vec3 end = simulator.kinematics().pose(follower) * (turn * Vec3(0.0, 0.0, 0.2));
    EXPECT_LT((end - simulator.kinematics().pose(coupler) * (turn * Vec3(0.0, 0.2, 0.0))).norm(), 1e-5);
    return lowest;
  };
  const double upright = lowest_angle(Mat3::Identity());
  EXPECT_LT(upright, -0.5);
  for (const Vec3& axis : {Vec3(1.0, 0.0, 0.0), Vec3(1.0, 2.0, 3.0), Vec3(1.0, 1.0, 1.0)}) {
    for (const double angle : {0.3, 0.5 * std::numbers::pi, 2.0 * std::numbers::pi / 3.0}) {
      const Mat3 turn = Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix();
      EXPECT_NEAR(lowest_angle(turn), upright, 1e-4);
    }
  }
}

// A turntable that stands 2 cm in the floor: its joint cannot lift it out, so the floor neither holds nor brakes it.
TEST(PositionCorrection, ContactsThatNoJointCanOpenLeaveItFree) {
  for (const double friction : {0.0, 1.0}) {
    ModelBuilder builder;
    const Shape drum = Shape::cylinder(0.05, 0.1);
    const Index table = builder.add_body(
        {.name = "table", .position = Vec3(0.0, 0.0, 0.08), .inertia = uniform_inertia(drum, 3.0)});
    builder.add_joint({.body = table, .kind = JointKind::hinge, .axis = Vec3::UnitZ()});
    World world;
    world.model = builder.build();
    world.add_geom({.shape = Shape::plane(), .material = {.friction = friction}});
    world.add_geom({.shape = drum, .body = table, .material = {.friction = friction}});
    Simulator simulator(world);
    simulator.force()[0] = 0.01;  // N m
    for (Index k = 0; k < 100; ++k) simulator.step();
    const double inertia = 0.5 * 3.0 * 0.05 * 0.05;
    EXPECT_EQ(simulator.missed_steps(), 0);
    EXPECT_NEAR(simulator.state().v[0], 0.01 * 0.2 / inertia, 1e-9);
  }
}

// A rod that hangs from a ball joint at the end of another one, round ends in each other: the joint is the centre of both, so
// that no motion opens the contact, and its levers are rounding. It swings as if there were no contact.
TEST(PositionCorrection, LinksThatOverlapAroundTheirJointSwingFreely) {
  State end[2];
  for (const bool touching : {false, true}) {
    World world;
    ModelBuilder builder;
    const Shape rod = Shape::capsule(0.01, 0.05);
    const Pose hanging{Vec3(0.0, 0.03, -0.04),
                       Quat::FromTwoVectors(Vec3::UnitZ(), Vec3(0.0, -0.03, 0.04)).toRotationMatrix()};
    const Index link =
        builder.add_body({.name = "link", .inertia = uniform_inertia(rod, 0.1).placed(hanging)});
    builder.add_joint({.name = "ball", .body = link, .kind = JointKind::ball});
    world.model = builder.build();
    world.add_geom({.name = "base", .shape = rod, .pose = {Vec3(0.0, 0.0, 0.05), Mat3::Identity()}});
    world.add_geom({.name = "rod", .shape = rod, .body = link, .pose = hanging});
    if (!touching) world.geoms[1].contact_type = world.geoms[1].contact_affinity = 0;
    Simulator simulator(world);
    for (int k = 0; k < 500; ++k) {
      const StepReport report = simulator.step();
      EXPECT_EQ(report.contacts, touching ? 1 : 0);
      EXPECT_EQ(report.corrected_islands, 0);
    }
    EXPECT_EQ(simulator.missed_steps(), 0);
    EXPECT_GT(std::abs(simulator.state().v[0]), 1e-3);
    end[touching ? 1 : 0] = simulator.state();
  }
  EXPECT_EQ(end[0].q, end[1].q);
  EXPECT_EQ(end[0].v, end[1].v);
}

// Two rods side by side in each other, on hinges whose axes are nearly along the normal between them: to climb out they would
// have to turn far for little. They do not jump, whatever the normal does on the way, and nothing is gained by it.
TEST(PositionCorrection, LinksThatOverlapSideBySideDoNotJump) {
  World world;
  ModelBuilder builder;
  const Shape rod = Shape::capsule(0.012, 0.03);
  const Pose along{Vec3(0.03, 0.0, 0.0),
                   Eigen::AngleAxisd(0.5 * std::numbers::pi, Vec3::UnitY()).toRotationMatrix()};
  const auto finger = [&](const char* name, double y, double lean) {
    const Index link = builder.add_body(
        {.name = name, .position = Vec3(0.0, y, 0.0), .inertia = uniform_inertia(rod, 0.05).placed(along)});
    builder.add_joint({.name = name,
                       .body = link,
                       .kind = JointKind::hinge,
                       .axis = Vec3(0.0, 1.0, lean).normalized(),
                       .damping = 0.01,
                       .stiffness = 0.5});
    world.add_geom({.name = name, .shape = rod, .body = link, .pose = along});
  };
  finger("left", 0.0, 0.04);
  finger("right", 0.022, -0.06);
  world.model = builder.build();
  Simulator simulator(world);
  const double h = simulator.time_step(), begin = simulator.energy().total();
  double paid = 0.0;
  Index corrected = 0;
  for (int k = 0; k < 1000; ++k) {
    const Vector before = simulator.state().q;
    const StepReport report = simulator.step();
    corrected += report.corrected_islands;
    paid += report.correction_work;
    const Vector jump = simulator.state().q - before - h * simulator.state().v;
    EXPECT_LE(jump.cwiseAbs().maxCoeff(), 1.01 * h) << k;  // 1 rad/s, max_correction_speed
    EXPECT_LT(simulator.energy().total() - begin, paid + 1e-6) << k;
  }
  EXPECT_GT(corrected, 100);
  EXPECT_EQ(simulator.missed_steps(), 0);
}

// A ball on a sprung slide starts 20 mm inside a wall: what it costs to push it out is the energy of the spring, exactly.
TEST(PositionCorrection, WorkAgainstASpringIsItsEnergy) {
  World world;
  ModelBuilder builder;
  const Shape ball = Shape::sphere(0.1);
  const Index body = builder.add_body({.name = "ball", .inertia = uniform_inertia(ball, 1.0)});
  const double stiffness = 100.0, depth = 0.02;
  builder.add_joint({.body = body, .kind = JointKind::slide, .axis = Vec3::UnitX(), .stiffness = stiffness});
  world.model = builder.build();
  world.gravity.setZero();
  world.add_geom({.shape = ball, .body = body});
  world.add_geom(
      {.shape = Shape::box(Vec3(0.1, 1.0, 1.0)), .pose = {Vec3(-0.2 + depth, 0.0, 0.0), Mat3::Identity()}});
  Simulator simulator(world);
  double work = 0.0;
  for (int k = 0; k < 400; ++k) work += simulator.step().correction_work;
  EXPECT_NEAR(simulator.state().q[0], depth, 1e-7);
  EXPECT_NEAR(simulator.energy().springs, 0.5 * stiffness * depth * depth, 1e-6);
  EXPECT_NEAR(work, simulator.energy().springs, 1e-7);
}

}  // namespace
}  // namespace tribo
