// Pressure fields in the simulator: statics, momentum, friction moments of patches.
#include "tribo/sim/contact/field_contacts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tribo/base/errors.h"
#include "tribo/collide/shapes/convex_hull.h"
#include "tribo/collide/shapes/triangle_mesh.h"
#include "tribo/sim/simulator.h"

namespace tribo {
namespace {

using std::numbers::pi;
constexpr double kFall = 9.81;

struct Grounded {
  World world;
  State start;
};
// One free body of 5 kg at the height on the ground, which is the plane z = 0.
Grounded on_ground(const Geom& ground, Geom body, double height) {
  Grounded made;
  ModelBuilder builder;
  body.body = builder.add_free_body("body", {Vec3(0.0, 0.0, height)}, uniform_inertia(body.shape, 5.0));
  made.world.model = builder.build();
  made.world.add_geom(ground);
  made.world.add_geom(body);
  made.start = initial_state(made.world.model);
  return made;
}

TEST(FieldContacts, BlockSinksUntilItsPressureCarriesIt) {
  const Vec3 half(0.1, 0.1, 0.05);
  const Material foam{.friction = 0.0, .dissipation_time = 0.05};  // else its walls would hold it, too
  const Grounded made =
      on_ground({.material = foam, .pressure = PressureField{.modulus = 2e4, .depth = 0.05}},
                {.shape = Shape::box(half), .material = {.friction = 0.0}}, half.z());
  const double sinkage = 5.0 * kFall * 0.05 / (2e4 * 0.04);
  for (const Law law : {Law::exact, Law::convex}) {
    Simulator simulator(made.world, {.law = law, .tolerance = 1e-9});
    while (simulator.state().time < 1.0) simulator.step();
    EXPECT_NEAR(half.z() - simulator.state().q[2], sinkage, 1e-6 * sinkage);
    EXPECT_EQ(simulator.missed_steps(), 0);
    // The rigid block does not count for the dissipation.
    for (const Contact& c : simulator.contacts()) EXPECT_DOUBLE_EQ(c.dissipation_time, 0.05);
  }
}

// Of a slanted sheet no depth is found: it must not become a rigid one without a word.
TEST(FieldContacts, SheetsNeedADepth) {
  std::vector<Vec3> corners{Vec3(0, 0, 0), Vec3(0.1, 0.013, 0.05), Vec3(0.02, 0.11, 0.03)};
  const Vec3 normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalized();
  for (int k = 0; k < 3; ++k) corners.push_back(corners[static_cast<std::size_t>(k)] + 1e-6 * normal);
  Geom sheet{.name = "sheet",
             .shape = Shape::hull(ConvexHull::around(corners)),
             .pressure = PressureField{.modulus = 1e5}};
  const Grounded made = on_ground({}, sheet, 0.2);
  EXPECT_THROW(Simulator{made.world}, InvalidInput);
  Grounded given = made;
  given.world.geoms.back().pressure->depth = 1e-6;
  EXPECT_NO_THROW(Simulator{given.world});
}

// A box that just touches foam: thicknesses press it in. A pair says friction, dissipation time and thickness itself.
TEST(FieldContacts, ThicknessAndPairsCount) {
  const Vec3 half(0.1, 0.1, 0.05);
  Grounded made = on_ground({.thickness = 0.002, .pressure = PressureField{.modulus = 1e5, .depth = 0.1}},
                            {.shape = Shape::box(half), .thickness = 0.001}, half.z());
  const auto expect = [&](double thickness, double dissipation, double friction) {
    Simulator simulator(made.world);
    simulator.step();
    double most = 0.0;
    for (std::size_t c = 0; c < simulator.contacts().size(); ++c) {
      const Contact& contact = simulator.contacts()[c];
      most = std::max(most, contact.pressure());
      EXPECT_EQ(contact.dissipation_time, dissipation);
      EXPECT_EQ(simulator.contact_details()[c].friction, friction);
    }
    EXPECT_NEAR(most, 1e5 * thickness / 0.1, 1e-6 * most);
  };
  expect(0.003, 0.0, 0.5);
  made.world.pairs.push_back(
      {.first = 0, .second = 1, .material = {.friction = 0.9, .dissipation_time = 0.07}, .thickness = 0.006});
  expect(0.006, 0.07, 0.9);
  made.world.pairs.clear();
  made.world.geoms[1].material = {.friction = 0.2, .dissipation_time = 0.01, .priority = 1};
  expect(0.003, 0.01, 0.2);
}

// Action and reaction: an oblique impact of two soft bodies without gravity.
TEST(FieldContacts, ImpactKeepsBothMomenta) {
  World world;
  ModelBuilder builder;
  const Shape ball = Shape::sphere(0.1), box = Shape::box({0.1, 0.08, 0.06});
  const Index first = builder.add_free_body("ball", {}, uniform_inertia(ball, 1.0));
  const Index second = builder.add_free_body("box", {Vec3(0.21, 0.05, 0.02)}, uniform_inertia(box, 2.0));
  world.model = builder.build();
  world.gravity.setZero();
  world.add_geom({.shape = ball, .body = first, .pressure = PressureField{.modulus = 1e5}});
  world.add_geom({.shape = box, .body = second, .pressure = PressureField{.modulus = 3e5}});
  State start = initial_state(world.model);
  start.v[0] = 2.0;
  Simulator simulator(world, {.time_step = 0.001, .tolerance = 1e-10});
  simulator.set_state(start);
  const Vec6 before = simulator.momentum();
  Index touched = 0;
  for (Index k = 0; k < 100; ++k) touched += simulator.step().contacts > 0 ? 1 : 0;
  EXPECT_GT(touched, 5);
  EXPECT_TRUE(simulator.contacts().empty());  // they have parted
  EXPECT_GT(simulator.state().v[6], 0.3);     // and the box has been pushed
  const Vec6 after = simulator.momentum();
  EXPECT_LT((after - before).head<3>().norm(), 1e-12);
  // Symplectic Euler keeps the angular momentum of free bodies to the order of the step.
  EXPECT_LT((after - before).tail<3>().norm(), 1e-3 * before.head<3>().norm());
}

// Speed of turning about the vertical after some steps under a constant torque.
double turning_speed(const Grounded& made, double torque) {
  Simulator simulator(made.world, {.tolerance = 1e-8});
  simulator.set_state(made.start);
  for (Index k = 0; k < 40; ++k) {
    simulator.force()[5] = torque;
    simulator.step();
  }
  return std::abs(simulator.state().v[5]);
}

// What the torque must be at least for it to turn, found to 0.4 %.
double breakaway(Grounded made, double guess) {
  Simulator settling(made.world);
  settling.set_state(made.start);
  for (Index k = 0; k < 250; ++k) settling.step();
  made.start = settling.state();
  double low = 0.5 * guess, high = 1.5 * guess;
  while (high - low > 0.004 * guess) {
    const double middle = 0.5 * (low + high);
    (turning_speed(made, middle) > 1e-5 ? high : low) = middle;
  }
  return 0.5 * (low + high);
}

constexpr double kFriction = 0.6, kWeight = 5.0 * kFall;

// A disc under uniform pressure resists with mu F times its mean radius, 2/3 R, and with the wall of its dent, which the mean
// pressure p / 2 presses over the depth d: mu (2 pi R d p / 2) R = mu F d. A point contact of four rows does as it is told.
TEST(FieldContacts, TorsionOfADiscEmerges) {
  const double radius = 0.1, modulus = 1e6, depth = 0.05;
  const double sinkage = kWeight * depth / (modulus * pi * radius * radius);
  const Material rough{.friction = kFriction, .dissipation_time = 0.05};
  const Geom foam{.material = rough, .pressure = PressureField{.modulus = modulus, .depth = depth}};
  const double exact = 2.0 / 3.0 * kFriction * kWeight * radius;
  const Grounded patch = on_ground(foam,
                                   {.shape = Shape::cylinder(radius, 0.05),
                                    .material = rough,
                                    .pressure = PressureField{.resolution = 0.02}},
                                   0.05 - sinkage);
  // Faces of 1/10 of its width have their centres nearer to the axis: h^2 / (8 R^2), 0.5 % less.
  EXPECT_NEAR(breakaway(patch, exact), exact + kFriction * kWeight * sinkage, 0.01 * exact);

  const Material twisted{.friction = kFriction, .torsional = 2.0 / 3.0 * kFriction * radius};
  const Grounded point = on_ground({.material = twisted, .friction_rows = 4},
                                   {.shape = Shape::sphere(0.05), .material = twisted}, 0.05);
  EXPECT_NEAR(breakaway(point, exact), exact, 0.01 * exact);
}

// M = mu int 2 pi s^2 p ds with p = E (1 - sqrt(s^2 + a^2) / r), that of a soft sphere on a rigid plane; near 8/15 mu F R.
TEST(FieldContacts, TorsionOfASphereIsTheIntegralOfItsPressure) {
  const double r = 0.1, modulus = 3e4, depth = 0.02, a = r - depth, reach = std::sqrt(r * r - a * a);
  double force = 0.0, moment = 0.0;
  const int slices = 4000;
  for (int k = 0; k < slices; ++k) {
    const double s = (k + 0.5) * reach / slices, width = reach / slices;
    const double pressure = modulus * (1.0 - std::sqrt(s * s + a * a) / r);
    force += 2.0 * pi * s * pressure * width;
    moment += kFriction * 2.0 * pi * s * s * pressure * width;
  }
  EXPECT_NEAR(moment, 8.0 / 15.0 * kFriction * force * reach, 0.02 * moment);
  const Material rough{.friction = kFriction, .dissipation_time = 0.05};
  Grounded made = on_ground({.material = rough},
                            {.shape = Shape::sphere(r),
                             .material = rough,
                             .pressure = PressureField{.modulus = modulus, .resolution = 0.01}},
                            a);
  made.world.gravity.z() = -force / 5.0;
  EXPECT_NEAR(breakaway(made, moment), moment, 0.03 * moment);
}

TEST(FieldContacts, SameBitsOnTwoThreadsAndFromASavedState) {
  World world;
  ModelBuilder builder;
  world.add_geom({.name = "foam", .pressure = PressureField{.modulus = 1e5, .depth = 0.1}});
  const Shape ball = Shape::sphere(0.05);
  for (Index k = 0; k < 80; ++k) {
    const Vec3 place(0.095 * (k % 5), 0.095 * (k / 5 % 4), 0.045 + 0.09 * (k / 20));
    const Index body = builder.add_free_body("ball" + std::to_string(k), {place}, uniform_inertia(ball, 0.5));
    world.add_geom({.shape = ball,
                    .body = body,
                    .pressure = PressureField{.modulus = 1e5, .resolution = 0.04, .max_faces = 9}});
  }
  world.model = builder.build();
  Simulator one(world, {.threads = 1}), two(world, {.threads = 2});
  for (Index k = 0; k < 5; ++k) {
    one.step();
    two.step();
  }
  EXPECT_GT(one.contacts().size(), 100u);
  EXPECT_EQ(one.state_hash(), two.state_hash());
  Simulator again(world, {.threads = 1});
  again.load_state(two.save_state());
  ASSERT_EQ(again.contacts().size(), one.contacts().size());
  EXPECT_EQ(again.contacts()[0].pressure(), one.contacts()[0].pressure());
  one.step();
  again.step();
  EXPECT_EQ(one.state_hash(), again.state_hash());
}

TEST(FieldContacts, NamesWhatItCannotMeet) {
  const auto mesh = TriangleMesh::make({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                       {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}});
  Grounded made =
      on_ground({.name = "rock", .shape = Shape::mesh(mesh)},
                {.name = "pad", .shape = Shape::sphere(0.1), .pressure = PressureField{.modulus = 1e5}}, 3.0);
  try {
    Simulator simulator(made.world);
    FAIL() << "a mesh has no inside";
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find("'rock'"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("'pad'"), std::string::npos);
  }
  made.world.geoms[0].contact_type = made.world.geoms[0].contact_affinity = 0;
  EXPECT_NO_THROW(Simulator{made.world});
  made.world.geoms[1].pressure->modulus = -1.0;
  EXPECT_THROW(Simulator{made.world}, InvalidInput);
}

}  // namespace
}  // namespace tribo
