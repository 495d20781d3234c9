#include "tribo/sim/simulator.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/allocation_counter.h"
#include "tests/support/random.h"
#include "tribo/base/errors.h"
#include "tribo/problem/certificate.h"
#include "tribo/scenes/scene.h"
#include "tribo/solve/catalogue.h"

namespace tribo {
namespace {

World crate_on_floor(const Material& material, double height = 0.1) {
  World world;
  ModelBuilder builder;
  const Shape box = Shape::box(Vec3::Constant(0.1));
  const Index crate = builder.add_free_body("crate", {Vec3(0.0, 0.0, height)}, uniform_inertia(box, 2.0));
  world.model = builder.build();
  world.add_geom({.name = "floor", .shape = Shape::plane(), .material = material});
  world.add_geom({.name = "crate", .shape = box, .body = crate, .material = material});
  return world;
}

TEST(Simulator, RestsWithItsWeightOnTheFloor) {
  Simulator simulator(crate_on_floor({.friction = 0.5}));
  StepReport report;
  for (Index k = 0; k < 100; ++k) report = simulator.step();
  EXPECT_NEAR(simulator.state().q[2], 0.1, 1e-9);
  Vec3 sum = Vec3::Zero();
  for (const Vec3& impulse : simulator.contact_impulses()) sum += impulse;
  EXPECT_NEAR(sum.z() / simulator.time_step(), 2.0 * 9.81, 1e-4);
  EXPECT_LE(report.error, 1e-6);
  EXPECT_EQ(report.contacts, 4);
  EXPECT_EQ(report.step, 100);
  EXPECT_NEAR(report.time, 0.2, 1e-12);
}

TEST(Simulator, FallsFreelyAndLandsWithoutSinking) {
  Simulator simulator(crate_on_floor({.friction = 0.5}, 0.6));
  double lowest = 1.0;
  for (Index k = 0; k < 500; ++k) {
    simulator.step();
    lowest = std::min(lowest, simulator.state().q[2]);
    if (k == 99) {
      EXPECT_NEAR(simulator.state().v[2], -9.81 * 0.2, 1e-9);
    }
  }
  EXPECT_GE(lowest, 0.1 - 1e-9);  // the gap closes exactly: nothing sinks on impact
  EXPECT_NEAR(simulator.state().q[2], 0.1, 1e-6);
}

// Static penetration of a compliant contact: weight over stiffness, four points.
TEST(Simulator, CompliantGroundGivesWayByWeightOverStiffness) {
  for (const Law law : {Law::exact, Law::convex}) {
    SimulatorSettings settings;
    settings.law = law;
    Simulator simulator(crate_on_floor({.friction = 0.5, .stiffness = 2e4, .dissipation_time = 0.05}),
                        settings);
    for (Index k = 0; k < 2000; ++k) simulator.step();
    const double stiffness = 4.0 * 1e4;  // two equal materials in series
    EXPECT_NEAR(simulator.state().q[2], 0.1 - 2.0 * 9.81 / stiffness, 1e-7);
  }
}

TEST(Simulator, RestitutionBouncesToItsSquareOfTheHeight) {
  World world = crate_on_floor({.friction = 0.0, .restitution = 0.8}, 0.0);
  world.geoms.pop_back();
  world.add_geom({.shape = Shape::sphere(0.1), .body = 1, .material = world.geoms[0].material});
  world.time_step = 1e-4;
  Simulator simulator(world);
  State state = simulator.state();
  state.q[2] = 1.1;
  simulator.set_state(state);
  double apex = 0.0;
  bool bounced = false;
  for (Index k = 0; k < 12000; ++k) {
    simulator.step();
    bounced = bounced || simulator.state().v[2] > 1.0;
    if (bounced && simulator.state().v[2] < 0.0) break;
    if (bounced) apex = std::max(apex, simulator.state().q[2] - 0.1);
  }
  EXPECT_NEAR(apex, 0.64, 0.01);
}

TEST(Simulator, FrictionlessContactsPushAlongTheirNormals) {
  const World world = crate_on_floor({.friction = 0.0}, 0.0);
  Simulator simulator(world);
  for (Index k = 0; k < 20; ++k) simulator.step();
  Vec3 sum = Vec3::Zero();
  for (std::size_t c = 0; c < simulator.contacts().size(); ++c) {
    const Vec3& normal = simulator.contacts()[c].normal;
    const Vec3& impulse = simulator.contact_impulses()[c];
    EXPECT_LT(impulse.cross(normal).norm(), 1e-15);
    sum += impulse;
  }
  const double weight = -world.gravity.z() * world.model.inertia(1).mass * world.time_step;
  EXPECT_NEAR(std::abs(sum.z()), weight, 1e-5 * weight);
}

TEST(Simulator, EverySolverGivesTheSameMotion) {
  const auto final_state = [](const std::string& solver) {
    Scene scene = make_scene("stack", {{"boxes", 3}});
    scene.start.v[0] = 0.3;
    scene.settings.solver = solver;
    scene.settings.tolerance = 1e-9;
    Simulator simulator(scene.world, scene.settings);
    simulator.set_state(scene.start);
    for (Index k = 0; k < 20; ++k) simulator.step();
    return simulator.state().q;
  };
  const Vector reference = final_state("auto");
  for (const char* solver : {"nsgs", "admm", "alnewton", "ipm"}) {
    EXPECT_LE((final_state(solver) - reference).norm(), 1e-6) << solver;
  }
}

TEST(Simulator, MissedStepsAreReported) {
  Scene scene = make_scene("stack", {{"boxes", 5}});
  scene.settings.solver = "nsgs";
  scene.settings.max_iterations = 1;
  scene.settings.tolerance = 1e-10;
  scene.settings.warm_start = false;
  Simulator simulator(scene.world, scene.settings);
  Index calls = 0;
  simulator.on_missed = [&](const StepReport& report) {
    ++calls;
    EXPECT_TRUE(report.missed());
    EXPECT_GT(report.error, 1e-10);
  };
  for (Index k = 0; k < 3; ++k) simulator.step();
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(simulator.missed_steps(), 3);
}

TEST(Simulator, WarmStartedStepsAtRestNeedNoIterations) {
  Simulator simulator(crate_on_floor({.friction = 0.5}));
  Index iterations = 0;
  for (Index k = 0; k < 50; ++k) {
    const StepReport report = simulator.step();
    if (k >= 10) iterations += report.iterations;
  }
  EXPECT_LE(iterations, 40);
}

// Towers and walls of boxes at rest: errors let pass in one step would have to be undone in the next ones, about every
// other step; a point of contact that jumps about would change the impulses in every one.
TEST(Simulator, IslandsSettle) {
  struct Case {
    const char* scene;
    SceneValues values;
    Index most;  // steps of 500 that take iterations
  };
  for (const Case& c : {Case{"stack", {{"boxes", 20}}, 40}, Case{"pyramid", {}, 190}}) {
    const Scene scene = make_scene(c.scene, c.values);
    Simulator simulator(scene.world, scene.settings);
    simulator.set_state(scene.start);
    Index solved = 0;
    for (Index k = 0; k < 600; ++k) {
      const StepReport report = simulator.step();
      EXPECT_LE(report.error, simulator.settings().tolerance);
      if (k >= 100 && report.iterations > 0) ++solved;
    }
    EXPECT_LE(solved, c.most) << c.scene;
  }
}

// One that leans is bent by its weight; what bends it as a whole is a hundred thousand times as soft as one contact.
TEST(Simulator, ALeaningStackSettles) {
  Scene scene = make_scene("stack", {{"boxes", 20}});
  test::Random random(17);
  for (Index box = 0; box < 20; ++box) {
    for (Index axis = 0; axis < 2; ++axis) scene.start.q[7 * box + axis] += random.uniform(-3e-3, 3e-3);
  }
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  Index factorizations = 0;
  for (Index k = 0; k < 600; ++k) {
    const StepReport report = simulator.step();
    EXPECT_LE(report.error, simulator.settings().tolerance);
    if (k >= 100) factorizations += report.factorizations;
  }
  EXPECT_LE(factorizations, 300);
}

// So do bodies that have moved for a long time before.
TEST(Simulator, WhatSlidesComesToRestAndStaysThere) {
  const Scene scene = make_scene("sliding-block", {{"speed", 1.0}});
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  while (simulator.state().v.norm() > 1e-6 && simulator.state().time < 2.0) simulator.step();
  ASSERT_LT(simulator.state().time, 2.0);
  Index solved = 0;
  for (Index k = 0; k < 300; ++k) solved += simulator.step().iterations > 0 ? 1 : 0;
  EXPECT_LE(solved, 15);
}

// What the solver knows of the steps before goes with them.
TEST(Simulator, SameBitsAfterSetStateAsFresh) {
  const auto run = [](Simulator& simulator) {
    for (Index k = 0; k < 60; ++k) simulator.step();
    return simulator.state_hash();
  };
  const Scene scene = make_scene("stack", {{"boxes", 5}});
  Simulator fresh(scene.world, scene.settings), used(scene.world, scene.settings);
  State kicked = scene.start;
  kicked.v.setConstant(0.1);
  used.set_state(kicked);
  run(used);
  for (Simulator* simulator : {&used, &fresh}) simulator->set_state(scene.start);
  EXPECT_EQ(run(used), run(fresh));
}

// Controls, forces and counters as well: a run after restart() is the first one again, with every robot in its hands.
TEST(Simulator, RestartIsANewBeginning) {
  const Scene scene = make_scene("arm-press", {});
  Simulator fresh(scene.world, scene.settings), used(scene.world, scene.settings);
  fresh.set_state(scene.start);
  used.set_state(scene.start);
  used.force().setConstant(1.0);
  for (Index k = 0; k < 30; ++k) {
    scene.control(used);
    used.step();
  }
  used.restart(scene.start);
  EXPECT_EQ(used.step_count(), 0);
  EXPECT_EQ(used.missed_steps(), 0);
  EXPECT_TRUE(used.contacts().empty());
  EXPECT_TRUE(used.control().isZero(0.0));
  for (Simulator* simulator : {&used, &fresh}) {
    for (Index k = 0; k < 30; ++k) simulator->step();
  }
  EXPECT_EQ(used.state_hash(), fresh.state_hash());
  EXPECT_EQ(used.step_count(), 30);
}

TEST(Simulator, SleepersDoNotMoveAndWakeWhenTouched) {
  World world;
  ModelBuilder builder;
  const Shape box = Shape::box(Vec3::Constant(0.1));
  world.add_geom({.shape = Shape::plane()});
  for (Index k = 0; k < 2; ++k) {
    const Index body = builder.add_free_body("b" + std::to_string(k), {Vec3(0.0, 0.0, k == 0 ? 0.1 : 3.0)},
                                             uniform_inertia(box, 1.0));
    world.add_geom({.shape = box, .body = body});
  }
  world.model = builder.build();
  SimulatorSettings settings;
  settings.sleeping = true;
  settings.sleep_time = 0.1;
  Simulator simulator(world, settings);
  bool slept = false, woke = false;
  for (Index k = 0; k < 600; ++k) {
    const StepReport report = simulator.step();
    if (k == 200) slept = report.constraints == 0 && simulator.state().v.head<6>().isZero(0.0);
    if (slept && report.constraints >= 8) woke = true;
  }
  EXPECT_TRUE(slept);
  EXPECT_TRUE(woke);
  EXPECT_NEAR(simulator.state().q[9], 0.3, 1e-5);
}

// Whatever is left out before shapes are looked at: contacts with a tilted plane begin at its margin, also where a pair
// has one of its own.
TEST(Simulator, TiltedPlanesMeetWhatIsWithinTheMargin) {
  const auto contacts = [](double gap, double pair_margin) {
    const Pose slope{Vec3(0.3, -0.2, 0.1),
                     Eigen::AngleAxisd(0.7, Vec3(1.0, 2.0, 0.5).normalized()).toRotationMatrix()};
    const Shape ball = Shape::sphere(0.2);
    World world;
    ModelBuilder builder;
    const Vec3 center = slope * Vec3(1.0, -2.0, 0.2 + gap);
    const Index body = builder.add_free_body("ball", {center}, uniform_inertia(ball, 1.0));
    world.model = builder.build();
    world.gravity.setZero();
    world.margin = 0.01;
    world.add_geom({.shape = Shape::plane(), .pose = slope});
    world.add_geom({.shape = ball, .body = body});
    if (pair_margin > 0.0) world.pairs.push_back({.first = 0, .second = 1, .margin = pair_margin});
    Simulator simulator(world);
    simulator.step();
    return simulator.contacts().size();
  };
  EXPECT_EQ(contacts(0.009, 0.0), 1u);
  EXPECT_EQ(contacts(0.011, 0.0), 0u);
  EXPECT_EQ(contacts(0.5, 0.0), 0u);
  EXPECT_EQ(contacts(-0.1, 0.0), 1u);
  EXPECT_EQ(contacts(0.49, 0.5), 1u);
  EXPECT_EQ(contacts(0.51, 0.5), 0u);
}

TEST(Simulator, FiltersFollowMasksParentsAndExclusions) {
  const auto contacts = [](const std::function<void(World&)>& change) {
    World world = crate_on_floor({.friction = 0.5});
    change(world);
    Simulator simulator(world);
    return simulator.step().contacts;
  };
  EXPECT_EQ(contacts([](World&) {}), 4);
  EXPECT_EQ(contacts([](World& w) { w.geoms[0].contact_type = w.geoms[0].contact_affinity = 2; }), 0);
  EXPECT_EQ(contacts([](World& w) { w.excluded_bodies = {{0, 1}}; }), 0);
  EXPECT_EQ(contacts([](World& w) {
              w.excluded_bodies = {{0, 1}};
              w.pairs = {{.first = 0, .second = 1, .material = {.friction = 0.2}}};
            }),
            4);
}

TEST(Simulator, WarmedUpStepsAllocateNothing) {
  if (!test::counts_allocations()) GTEST_SKIP() << "allocations cannot be counted in this build";
  Simulator simulator(crate_on_floor({.friction = 0.5}));
  for (Index k = 0; k < 50; ++k) simulator.step();
  const std::size_t before = test::allocation_count();
  for (Index k = 0; k < 10; ++k) simulator.step();
  EXPECT_EQ(test::allocation_count(), before);
}

TEST(Simulator, BadInputIsRefusedByName) {
  const auto message = [](const std::function<void()>& action) -> std::string {
    try {
      action();
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "";
  };
  const World good = crate_on_floor({.friction = 0.5});
  EXPECT_NE(message([&] {
              World w = good;
              w.geoms[1].material.friction = -0.1;
              Simulator s(w);
            }).find("friction of geom 'crate'"),
            std::string::npos);
  EXPECT_NE(message([&] {
              World w = good;
              w.geoms[1].body = 7;
              Simulator s(w);
            }).find("body of geom 'crate'"),
            std::string::npos);
  EXPECT_NE(message([&] {
              World w = good;
              w.time_step = 0.0;
              Simulator s(w);
            }).find("time step"),
            std::string::npos);
  EXPECT_NE(message([] {  // a massive point that floats, and turns with what hangs on it by a ball joint
              World w;
              ModelBuilder builder;
              builder.add_free_body("point", {}, {1.0, Vec3::Zero(), Mat3::Zero()});
              const Index ball = builder.add_body(
                  {.name = "ball", .parent = 1, .inertia = {1.0, Vec3::Zero(), Mat3::Identity()}});
              builder.add_joint({.body = ball, .kind = JointKind::ball});
              w.model = builder.build();
              Simulator s(w);
            })
                .find("the mass matrix is singular: a joint of body \"ball\""),
            std::string::npos);
  EXPECT_NE(message([&] {
              SimulatorSettings s;
              s.solver = "magic";
              Simulator sim(good, s);
            }).find("magic"),
            std::string::npos);
  EXPECT_NE(message([&] {
              SimulatorSettings s;
              s.threads = 0;
              Simulator sim(good, s);
            }).find("threads"),
            std::string::npos);
  Simulator simulator(good);
  State state = simulator.state();
  state.v[0] = std::nan("");
  EXPECT_NE(message([&] { simulator.set_state(state); }).find("finite"), std::string::npos);
  simulator.force() = Vector::Constant(6, 1e308);
  EXPECT_NE(message([&] {
              for (Index k = 0; k < 5; ++k) simulator.step();
            }).find("no longer finite"),
            std::string::npos);
}

}  // namespace
}  // namespace tribo
