#include "tribo/io/mjcf/writer.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/io/loading.h"
#include "tribo/collide/shapes/convex_hull.h"
#include "tribo/scenes/scene.h"
#include "tribo/sim/simulator.h"

namespace tribo::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

World written_and_read(const World& world) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "world.xml";
  write_mjcf(world, file);
  LoadReport report;
  LoadOptions options;
  options.strict = true;
  return load_mjcf(file, options, report);
}

std::string refusal_to_write(const World& world) {
  const TemporaryFolder folder;
  try {
    write_mjcf(world, folder.path() / "world.xml");
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "written";
}

Mat3 turned(double angle) {
  return Eigen::AngleAxisd(angle, Vec3(1.0, -2.0, 0.5).normalized()).toRotationMatrix();
}

// Numbers that single precision has as well, so that the hull comes back as it was.
Shape wedge() {
  const std::vector<Vec3> points{{-0.125, -0.125, -0.125}, {0.125, -0.125, -0.125}, {-0.125, 0.25, -0.125},
                                 {0.125, 0.25, -0.125},    {0.0, -0.125, 0.25},     {0.0, 0.25, 0.25}};
  return Shape::hull(ConvexHull::around(points));
}

// Every joint, every shape that can be written, and everything that couples them.
World everything() {
  World world;
  ModelBuilder builder;
  const RigidInertia skew =
      uniform_inertia(Shape::box({0.1, 0.2, 0.3}), 2.0).placed({Vec3(0.1, 0, 0), turned(0.7)});
  const Index base = builder.add_body({.name = "base", .position = {0, 0, 1.5}, .inertia = skew});
  const Index slider = builder.add_joint({.name = "rail",
                                          .body = base,
                                          .kind = JointKind::slide,
                                          .axis = {1, 0, 0},
                                          .reference = 0.25,
                                          .armature = 0.5,
                                          .damping = 2.0,
                                          .limited = true,
                                          .lower = -1.0,
                                          .upper = 1.0,
                                          .limit_margin = 0.01,
                                          .dry_friction = 0.75});
  const Index arm = builder.add_body({.name = "arm",
                                      .parent = base,
                                      .position = {0.3, 0, 0.1},
                                      .rotation = Quat(turned(0.3)),
                                      .inertia = skew});
  const Index elbow = builder.add_joint({.name = "elbow",
                                         .body = arm,
                                         .kind = JointKind::hinge,
                                         .axis = {0, 1, 1},
                                         .anchor = {0, 0, 0.1},
                                         .stiffness = 3.0,
                                         .spring_reference = 0.2});
  const Index hand = builder.add_body({.parent = arm, .position = {0, 0, -0.4}, .inertia = skew});
  builder.add_joint({.body = hand, .kind = JointKind::ball, .limited = true, .upper = 1.0});
  const Index tip =
      builder.add_body({.name = "tip", .parent = hand, .position = {0, 0, -0.1}});  // welded, no mass
  const std::vector<Shape> shapes{
      Shape::sphere(0.2),         Shape::capsule(0.1, 0.2),           Shape::box({0.1, 0.2, 0.15}),
      Shape::cylinder(0.15, 0.2), Shape::ellipsoid({0.1, 0.2, 0.15}), wedge()};
  std::vector<Index> loose;
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    const Vec3 place(2.0 + 0.5 * static_cast<double>(k), 0.3, 0.14);
    loose.push_back(builder.add_free_body("loose" + std::to_string(k),
                                          {place, turned(0.2 * static_cast<double>(k))},
                                          uniform_inertia(shapes[k], 1.5)));
  }
  const Index cable = builder.add_tendon({.name = "cable",
                                          .terms = {{slider, 2.0}, {elbow, -1.0}},
                                          .damping = 0.1,
                                          .stiffness = 5.0,
                                          .spring_lower = 0.1,
                                          .spring_upper = 0.2});
  builder.add_actuator({.name = "motor",
                        .joint = elbow,
                        .gear = (Vec6() << 3, 0, 0, 0, 0, 0).finished(),
                        .control_lower = -1.0,
                        .control_upper = 2.0});
  builder.add_actuator(
      {.tendon = cable, .gain = 7.0, .bias = {0.0, -7.0, -0.5}, .force_lower = -9.0, .force_upper = 9.0});
  builder.add_site({.name = "tool", .body = tip, .pose = {Vec3(0, 0, 0.05), turned(1.0)}});
  world.model = builder.build();

  world.add_geom(
      {.name = "floor", .pose = {Vec3(0, 0, 0.01), Mat3::Identity()}, .material = {.friction = 0.7}});
  // Geoms come back in the order of their bodies, so that is how they are added here.
  const Index ball = world.add_geom({.name = "knob",
                                     .shape = Shape::sphere(0.1),
                                     .body = tip,
                                     .pose = {Vec3(0.01, 0.02, 0.03), turned(0.4)},
                                     .contact_type = 0,
                                     .contact_affinity = 0});
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    world.add_geom({.shape = shapes[k],
                    .body = loose[k],
                    .material = {.friction = 0.3, .priority = k == 2 ? 1 : 0},
                    .contact_type = k == 3 ? 0xffffffffU : 1U,
                    .frictionless = k == 4});
  }
  world.pairs.push_back({.first = 0, .second = ball, .material = {.friction = 0.9}, .margin = 0.02});
  world.geoms[0].thickness = 0.03;
  world.geoms[0].pressure = PressureField{.modulus = 2e4, .depth = 0.05};
  world.excluded_bodies.emplace_back(loose[0], loose[1]);
  world.connects.push_back({"hook", loose[4], loose[5], Vec3(0.25, 0, 0), Vec3(-0.25, 0, 0)});
  world.welds.push_back(
      {"glue", loose[2], loose[3], {Vec3(0.25, 0, 0), turned(0.1)}, {Vec3(-0.25, 0, 0), turned(0.3)}});
  world.joint_couplings.push_back({"gears", elbow, slider, {0.0, 0.5, 0.1, 0.0, 0.0}});
  world.gravity = Vec3(0.1, 0.0, -9.0);
  world.time_step = 0.004;
  State state = initial_state(world.model);
  state.v.setLinSpaced(-0.3, 0.4);
  integrate(world.model, state.v, 0.01, state.q);
  world.keyframes.push_back({"moving", state, (Vector(2) << 0.5, 0.1).finished()});
  return world;
}

void expect_equal(const World& a, const World& b) {
  ASSERT_EQ(a.model.body_count(), b.model.body_count());
  ASSERT_EQ(a.model.joint_count(), b.model.joint_count());
  EXPECT_EQ(a.gravity, b.gravity);
  EXPECT_EQ(a.time_step, b.time_step);
  for (Index i = 1; i < a.model.body_count(); ++i) {
    EXPECT_EQ(a.model.body_parent(i), b.model.body_parent(i));
    EXPECT_EQ(a.model.inertia(i).mass, b.model.inertia(i).mass);
    EXPECT_LE((a.model.inertia(i).center - b.model.inertia(i).center).norm(), 1e-15);
    EXPECT_LE((a.model.inertia(i).rotational - b.model.inertia(i).rotational).norm(), 1e-15);
    EXPECT_LE((a.model.body_position(i) - b.model.body_position(i)).norm(), 1e-15);
    EXPECT_LE(a.model.body_rotation(i).angularDistance(b.model.body_rotation(i)), 1e-7);
  }
  for (Index j = 0; j < a.model.joint_count(); ++j) {
    const JointDescription &x = a.model.joint(j), &y = b.model.joint(j);
    EXPECT_EQ(x.kind, y.kind);
    for (const auto field :
         {&JointDescription::reference, &JointDescription::armature, &JointDescription::damping,
          &JointDescription::stiffness, &JointDescription::spring_reference, &JointDescription::dry_friction,
          &JointDescription::limit_margin}) {
      EXPECT_EQ(x.*field, y.*field) << "joint " << j;
    }
    EXPECT_EQ(x.limited, y.limited);
    EXPECT_EQ(x.limited ? x.upper : 0.0, y.limited ? y.upper : 0.0);
  }
  ASSERT_EQ(a.geoms.size(), b.geoms.size());
  for (std::size_t g = 0; g < a.geoms.size(); ++g) {
    const Geom &x = a.geoms[g], &y = b.geoms[g];
    EXPECT_EQ(x.shape.kind(), y.shape.kind());
    EXPECT_EQ(x.shape.size(), y.shape.size());
    EXPECT_EQ(x.body, y.body);
    EXPECT_EQ(x.material, y.material);
    EXPECT_EQ(x.frictionless, y.frictionless);
    EXPECT_EQ(x.contact_type, y.contact_type);
    EXPECT_EQ(x.contact_affinity, y.contact_affinity);
    // A mesh comes back about its centre of mass; where it is in the body must be the same.
    const auto place = [](const Geom& geom) { return Vec3(geom.pose * geom.shape.moments().center); };
    EXPECT_LE((place(x) - place(y)).norm(), 1e-15);
    EXPECT_LE((x.pose.rotation - y.pose.rotation).norm(), 1e-14);
  }
}

// The difference after a step from the state, in v.
double step_difference(const World& a, const World& b, const State& state, const Vector& control) {
  Simulator first(a), second(b);
  for (Simulator* s : {&first, &second}) {
    s->set_state(state);
    if (control.size() > 0) s->control() = control;
    s->step();
  }
  return (first.state().v - second.state().v).lpNorm<Eigen::Infinity>();
}

TEST(MjcfWriter, EverythingComesBack) {
  const World world = everything();
  const World again = written_and_read(world);
  expect_equal(world, again);
  EXPECT_EQ(again.model.tendons().size(), 1u);
  EXPECT_EQ(again.model.actuators().size(), 2u);
  EXPECT_EQ(again.model.actuators()[1].bias, Vec3(0.0, -7.0, -0.5));
  EXPECT_EQ(again.model.actuators()[0].force_upper, kInfinity);
  EXPECT_EQ(again.pairs.size(), 1u);
  EXPECT_EQ(again.pairs[0].margin, 0.02);
  EXPECT_EQ(again.geoms[0].thickness, 0.03);
  EXPECT_EQ(again.geoms[0].pressure, world.geoms[0].pressure);
  EXPECT_EQ(again.excluded_bodies, world.excluded_bodies);
  EXPECT_EQ(again.connects.size(), 1u);
  EXPECT_EQ(again.welds.size(), 1u);
  EXPECT_EQ(again.joint_couplings[0].polynomial, world.joint_couplings[0].polynomial);
  ASSERT_EQ(again.keyframes.size(), 1u);
  EXPECT_LE((again.keyframes[0].state.q - world.keyframes[0].state.q).norm(), 1e-15);
  EXPECT_EQ(again.keyframes[0].state.v, world.keyframes[0].state.v);
}

TEST(MjcfWriter, OneStepIsTheSame) {
  World world = everything();
  // Coupled bodies that start apart make huge impulses; the motion itself is what is compared here.
  world.connects.clear();
  world.welds.clear();
  world.joint_couplings.clear();
  const Keyframe& key = world.keyframes.front();
  EXPECT_LE(step_difference(world, written_and_read(world), key.state, key.control), 1e-12);
  const Scene scene = make_scene("pyramid");
  EXPECT_LE(step_difference(scene.world, written_and_read(scene.world), scene.start, {}), 1e-12);
}

TEST(MjcfWriter, WhatMjcfCannotSayIsNamed) {
  const auto with = [](auto change) {
    World world = everything();
    change(world);
    return refusal_to_write(world);
  };
  EXPECT_TRUE(contains(with([](World& w) { w.geoms[1].material.stiffness = 1e6; }), "finite stiffness"));
  EXPECT_TRUE(
      contains(with([](World& w) { w.geoms[0].material.restitution = 0.5; }), "'floor' has restitution"));
  EXPECT_TRUE(contains(with([](World& w) { w.friction_rule = FrictionRule::harmonic; }), "maximum"));
  EXPECT_TRUE(contains(with([](World& w) { w.geoms[1].name = "floor"; }), "name 'floor'"));
  EXPECT_TRUE(contains(with([](World& w) { w.margin = w.geoms[1].margin = 0.01; }), "margin"));
  EXPECT_TRUE(contains(with([](World& w) { w.fluid_ellipsoids.push_back({}); }), "fluid ellipsoids"));
  EXPECT_EQ(with([](World&) {}), "written");
  EXPECT_TRUE(contains(refusal_to_write(make_scene("clutter").world), "finite stiffness"));
  EXPECT_THROW(write_mjcf(World{}, "no/such/folder/world.xml"), InvalidInput);
}

// The smallest margin of a world belongs to pairs, half of it to each geom.
TEST(MjcfWriter, MarginOfTheWorldIsShared) {
  World world = make_scene("stack").world;
  world.margin = 0.01;
  const World again = written_and_read(world);
  EXPECT_EQ(again.geoms[0].margin + again.geoms[1].margin, 0.01);
}

TEST(MjcfWriter, ForcesAndActuationComeBack) {
  const World world = load_model(R"(<option density="1.2" viscosity=".3" wind="1 2 3"/>
      <default><geom mass="1"/></default><worldbody><site name="w"/><geom name="floor" type="plane" size="1 1 1"/>
      <body name="m" mocap="true" pos="0 0 5"/><body name="a" gravcomp=".5">
      <joint name="j" range="-60 45" actuatorgravcomp="true" actuatorfrcrange="-5 6"/><geom size=".1" pos=".3 0 0"/>
      <site name="s" pos="1 0 0"/></body></worldbody><actuator><muscle joint="j" gear=".05"/>
      <general site="s" refsite="w" gear="0 1 0 0 0 2" dyntype="filter" dynprm=".2" actrange="-1 2" actearly="true"
      gaintype="affine" gainprm="1 2 3"/><adhesion body="a" gain="4" ctrlrange="0 1"/></actuator>
      <keyframe><key act=".25 .5" mpos="1 2 3"/></keyframe>)")
                          .world;
  const World again = written_and_read(world);
  EXPECT_EQ(again.medium.density, 1.2);
  EXPECT_EQ(again.medium.viscosity, 0.3);
  EXPECT_EQ(again.medium.wind, Vec3(1, 2, 3));
  EXPECT_EQ(again.model.mocap_bodies(), world.model.mocap_bodies());
  EXPECT_EQ(again.model.gravity_compensation(2), 0.5);
  EXPECT_TRUE(again.model.joint(0).actuator_compensation);
  EXPECT_EQ(again.model.joint(0).actuator_force_lower, -5.0);
  EXPECT_EQ(again.model.joint(0).actuator_force_upper, 6.0);
  ASSERT_EQ(again.model.actuators().size(), 3u);
  const ActuatorDescription &muscle = again.model.actuators()[0], &before = world.model.actuators()[0];
  EXPECT_EQ(muscle.activation, ActivationKind::muscle);
  EXPECT_EQ(muscle.activation_times, before.activation_times);
  for (const auto& [x, y] :
       {std::pair{muscle.muscle_gain, before.muscle_gain}, {muscle.muscle_bias, before.muscle_bias}}) {
    ASSERT_TRUE(x && y);
    EXPECT_GT(x->force, 0.0);
    EXPECT_NEAR(x->force, y->force, 1e-12 * y->force);
    EXPECT_EQ(x->length_lower, y->length_lower);
    EXPECT_EQ(x->length_upper, y->length_upper);
    EXPECT_EQ(x->fastest, y->fastest);
    EXPECT_EQ(x->stretch_force, y->stretch_force);
  }
  const ActuatorDescription& site = again.model.actuators()[1];
  EXPECT_EQ(site.site, again.model.find_site("s"));
  EXPECT_EQ(site.reference_site, again.model.find_site("w"));
  EXPECT_EQ(site.gear, world.model.actuators()[1].gear);
  EXPECT_EQ(site.activation, ActivationKind::filter);
  EXPECT_EQ(site.activation_times[0], 0.2);
  EXPECT_EQ(site.activation_upper, 2.0);
  EXPECT_TRUE(site.activation_early);
  EXPECT_EQ(site.gain_slope, (std::array<double, 2>{2.0, 3.0}));
  EXPECT_EQ(again.model.actuators()[2].body, 2);
  EXPECT_EQ(again.model.actuators()[2].gain, 4.0);
  EXPECT_EQ(again.model.actuators()[2].control_upper, 1.0);
  EXPECT_EQ(again.keyframes[0].state.activation, world.keyframes[0].state.activation);
  EXPECT_EQ(again.keyframes[0].state.mocap, world.keyframes[0].state.mocap);
}

}  // namespace
}  // namespace tribo::test
