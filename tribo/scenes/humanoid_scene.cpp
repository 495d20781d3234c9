#include "tribo/scenes/humanoid_scene.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "tribo/base/errors.h"
#include "tribo/scenes/limbs.h"
#include "tribo/scenes/paper_scenes.h"
#include "tribo/sim/attach.h"
#include "tribo/sim/contact/initial_overlaps.h"

namespace tribo::detail {

namespace {

// 30 hinges on a floating pelvis: waist 2, head 2, arms 2 x 7, legs 2 x 6; masses of Talos, 94 kg in all.
class Humanoid {
 public:
  Humanoid(Scene& scene, double height, double mu) : world_(scene.world), material_{.friction = mu} {
    world_.add_geom({.name = "floor", .shape = Shape::plane(), .material = material_});
    const Shape pelvis = Shape::box(Vec3(0.08, 0.13, 0.07));
    pelvis_ = builder_.add_free_body("pelvis", {Vec3(0.0, 0.0, height)}, uniform_inertia(pelvis, 14.0));
    world_.add_geom({.name = "pelvis", .shape = pelvis, .body = pelvis_, .material = material_});
    const Index waist =
        link("waist", pelvis_, Vec3(0.0, 0.0, 0.08), Vec3(0.0, 0.0, 0.04), 0.06, 3.0, Vec3::UnitZ(), 1.2);
    const Index chest =
        link("chest", waist, Vec3(0.0, 0.0, 0.06), Vec3(0.0, 0.0, 0.30), 0.12, 21.0, Vec3::UnitY(), 0.7);
    const Index neck =
        link("neck", chest, Vec3(0.0, 0.0, 0.46), Vec3(0.0, 0.0, 0.04), 0.05, 1.0, Vec3::UnitZ(), 1.3);
    link("head", neck, Vec3(0.0, 0.0, 0.15), Vec3::Zero(), 0.09, 3.0, Vec3::UnitY(), 0.7);
    for (const double side : {1.0, -1.0}) add_arm(chest, side);
    for (const double side : {1.0, -1.0}) add_leg(side);
    finish_scene(scene, builder_);
    // The arms hang beside the body, the knees are a little bent.
    const auto set = [&](const char* joint, double q) {
      const Model& model = scene.world.model;
      scene.start.q[model.joint_coordinate(model.find_joint(joint))] = q;
    };
    for (const char* joint : {"left_leg3", "right_leg3"}) set(joint, -0.2);
    for (const char* joint : {"left_leg4", "right_leg4"}) set(joint, 0.4);
  }
  Index pelvis() const { return pelvis_; }

 private:
  Index link(const std::string& name, Index parent, const Vec3& position, const Vec3& end, double radius,
             double mass, const Vec3& axis, double range) {
    const Index body = add_limb(builder_, world_, {name, parent, position, end, radius, mass}, material_);
    add_limb_hinge(builder_, body, name, {.axis = axis, .lower = -range, .upper = range});
    return body;
  }
  void add_arm(Index chest, double side) {
    const std::string arm = side > 0.0 ? "left_arm" : "right_arm";
    Index body = link(arm + "1", chest, Vec3(0.0, side * 0.17, 0.25), Vec3(0.0, side * 0.03, 0.0), 0.05, 2.0,
                      Vec3::UnitZ(), 1.0);
    body = link(arm + "2", body, Vec3(0.0, side * 0.06, 0.0), Vec3(0.0, side * 0.02, 0.0), 0.05, 1.5,
                Vec3::UnitX(), 1.5);
    body = link(arm + "3", body, Vec3(0.0, side * 0.05, 0.0), Vec3(0.0, 0.0, -0.24), 0.045, 2.2,
                Vec3::UnitZ(), 1.5);
    body =
        link(arm + "4", body, Vec3(0.0, 0.0, -0.27), Vec3(0.0, 0.0, -0.05), 0.045, 1.0, Vec3::UnitY(), 2.0);
    body = link(arm + "5", body, Vec3(0.0, 0.0, -0.06), Vec3(0.0, 0.0, -0.15), 0.04, 1.5, Vec3::UnitZ(), 2.0);
    body =
        link(arm + "6", body, Vec3(0.0, 0.0, -0.18), Vec3(0.0, 0.0, -0.02), 0.035, 0.5, Vec3::UnitX(), 1.2);
    link(arm + "7", body, Vec3(0.0, 0.0, -0.03), Vec3(0.0, 0.0, -0.10), 0.035, 1.0, Vec3::UnitY(), 0.7);
  }
  void add_leg(double side) {
    const std::string leg = side > 0.0 ? "left_leg" : "right_leg";
    Index body = link(leg + "1", pelvis_, Vec3(0.0, side * 0.09, -0.05), Vec3(0.0, 0.0, -0.04), 0.06, 2.0,
                      Vec3::UnitZ(), 0.8);
    body = link(leg + "2", body, Vec3(0.0, 0.0, -0.05), Vec3(0.0, 0.0, -0.03), 0.06, 1.5, Vec3::UnitX(), 0.5);
    body =
        link(leg + "3", body, Vec3(0.0, 0.0, -0.03), Vec3(0.0, 0.0, -0.33), 0.065, 5.8, Vec3::UnitY(), 1.6);
    body = link(leg + "4", body, Vec3(0.0, 0.0, -0.38), Vec3(0.0, 0.0, -0.30), 0.05, 3.8, Vec3::UnitY(), 2.2);
    body = link(leg + "5", body, Vec3(0.0, 0.0, -0.34), Vec3::Zero(), 0.04, 1.2, Vec3::UnitY(), 0.8);
    const Shape foot = Shape::box(Vec3(0.105, 0.065, 0.02));
    const Pose sole{Vec3(0.02, 0.0, -0.07)};
    const Index sole_body = builder_.add_body(
        {.name = leg + "6", .parent = body, .inertia = uniform_inertia(foot, 1.9).placed(sole)});
    add_limb_hinge(builder_, sole_body, leg + "6", {.axis = Vec3::UnitX(), .lower = -0.5, .upper = 0.5});
    world_.add_geom(
        {.name = leg + "6", .shape = foot, .body = sole_body, .pose = sole, .material = material_});
  }

  World& world_;
  Material material_;
  ModelBuilder builder_;
  Index pelvis_ = 0;
};

// A model, the way it is described or as in its first keyframe; returns its pelvis, the floating body.
Index attach_humanoid(Scene& scene, const World& model, double height, double mu) {
  const Material material{.friction = mu, .priority = 10};  // the floor's friction, whatever the model says
  scene.world.add_geom({.name = "floor", .shape = Shape::plane(), .material = material});
  ModelBuilder builder;
  const Attached added = attach(builder, scene.world, model, {.actuators = false});
  finish_scene(scene, builder);
  const Model& own = scene.world.model;
  for (Index b = added.body; b < added.body + added.body_count; ++b) {
    const Index joint = own.joint_begin(b);
    if (joint == own.joint_end(b) || own.joint(joint).kind != JointKind::free) continue;
    // The model was added first: its coordinates are the scene's.
    if (!model.keyframes.empty())
      scene.start.q.head(model.model.coordinate_count()) = model.keyframes[0].state.q;
    scene.start.q.segment<3>(own.joint_coordinate(joint)) << 0.0, 0.0, height;
    return b;
  }
  throw InvalidInput("humanoid-fall: the model has no floating body");
}

// No drives: it collapses. What is exact of a fall: all contact impulses with the floor together are the weight over time
// and the change of the momentum; and no energy comes from anywhere.
Scene make_humanoid_fall(const SceneValues& values, double dt, const Robots& robots) {
  Scene scene = empty_scene("humanoid-fall", dt, 0.001);
  const World* model = robots.find("humanoid");
  const Index pelvis = model != nullptr
                           ? attach_humanoid(scene, *model, number(values, "height"), number(values, "mu"))
                           : Humanoid(scene, number(values, "height"), number(values, "mu")).pelvis();
  // Links of one limb overlap around the joints between them.
  for (const InitialOverlap& overlap : initial_overlaps(scene.world, scene.start))
    exclude(scene.world, overlap);
  const Model& own = scene.world.model;
  const double lean = 0.1;  // rad, forward
  scene.start.q.segment<4>(own.joint_coordinate(own.joint_begin(pelvis)) + 3) << std::cos(0.5 * lean), 0.0,
      std::sin(0.5 * lean), 0.0;
  scene.duration = 2.0;
  struct Sums {
    double impulse = 0.0, deepest = 0.0;
  };
  const auto sums = std::make_shared<Sums>();
  scene.observe = [sums](const Simulator& s, const StepReport& r) {
    for (std::size_t c = 0; c < s.contacts().size(); ++c) {
      if (s.contacts()[c].body_a == 0) sums->impulse += s.contact_impulses()[c].z();
      if (s.contacts()[c].body_b == 0) sums->impulse -= s.contact_impulses()[c].z();
    }
    sums->deepest = std::max(sums->deepest, r.penetration);
  };
  const double mass = scene.world.model.total_mass();
  scene.observables = [=](const Simulator& s) {
    const double wanted = mass * kEarthGravity * s.state().time + s.momentum()[2];
    return std::vector<Observable>{
        {"pelvis_height", s.kinematics().pose(pelvis).position.z(), "m"},
        {"floor_impulse", sums->impulse / (mass * kEarthGravity * s.state().time), "of the weight's"},
        {"floor_impulse_exact", wanted / (mass * kEarthGravity * s.state().time), "of the weight's"},
        {"deepest_penetration", sums->deepest, "m"}};
  };
  follow_energy(scene);
  return scene;
}

}  // namespace

std::vector<SceneInfo> humanoid_scene_infos() {
  return {{"humanoid-fall",
           "a humanoid of 36 degrees of freedom falls without drives (Carpentier et al. 2024, Fig. 3)",
           {{"height", 1.02, 0.9, 5.0, false, "of the pelvis, m"},
            {"mu", 0.7, 0.0, 10.0, false, "friction coefficient"}},
           make_humanoid_fall,
           {{"humanoid", "pal_talos", "talos_motor.xml"}}}};
}

}  // namespace tribo::detail
