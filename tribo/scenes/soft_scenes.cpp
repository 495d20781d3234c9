// Bodies that touch through pressure fields (docs/pressure-fields.md). slip-control: Castro et al. (2022) sec. VI-D.
#include "tribo/scenes/soft_scenes.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>

#include "tribo/collide/shapes/solid.h"
#include "tribo/control/gripper.h"
#include "tribo/control/phases.h"

namespace tribo::detail {

namespace {

// The foam gives by d where E d / H times the area of the block carries its weight.
Scene make_block_on_foam(const SceneValues& values, double dt) {
  Scene scene = empty_scene("block-on-foam", dt, 0.002);
  const Vec3 half(0.1, 0.1, 0.05);
  const double mass = number(values, "mass"), modulus = number(values, "modulus"),
               depth = number(values, "depth");
  const Material material{.friction = number(values, "mu"),
                          .dissipation_time = number(values, "dissipation")};
  ModelBuilder builder;
  scene.world.add_geom({.name = "foam",
                        .shape = Shape::plane(),
                        .material = material,
                        .pressure = PressureField{.modulus = modulus, .depth = depth},
                        .color = Color{0.93f, 0.80f, 0.55f, 1.0f}});
  const Index block =
      add_solid(builder, scene.world, "block", Shape::box(half), mass, {Vec3(0.0, 0.0, half.z())}, material);
  finish_scene(scene, builder);
  scene.duration = 2.0;
  const double area = 4.0 * half.x() * half.y();
  scene.observables = [=](const Simulator& s) {
    double pressure = 0.0;
    for (const Contact& c : s.contacts()) pressure = std::max(pressure, c.pressure());
    return std::vector<Observable>{{"sinkage", half.z() - s.kinematics().pose(block).position.z(), "m"},
                                   {"sinkage_exact", mass * kEarthGravity * depth / (modulus * area), "m"},
                                   {"support_force", contact_force(s, block).z(), "N"},
                                   {"support_force_exact", mass * kEarthGravity, "N"},
                                   {"pressure", pressure, "Pa"},
                                   {"pressure_exact", mass * kEarthGravity / area, "Pa"},
                                   {"contacts", static_cast<double>(s.contacts().size()), ""}};
  };
  return scene;
}

// Square wave that begins tight.
struct GripWave {
  double loose = 1.0, tight = 16.0, period = 6.0, duty = 0.75;
  bool is_tight(double time) const { return std::fmod(time + 1e-9, period) < duty * period; }
  double force(double time) const { return is_tight(time) ? tight : loose; }
};

// What happened to the spatula's pitch phase by phase.
struct PitchRecord {
  double tight = 0.0,
         loose = 0.0;  // rad; the largest turn in a tight phase once settled, all turns in loose phases
  double begin = 0.0;  // pitch where the present phase began to count
  double phase_time = 0.0;
  bool was_tight = true;
  double contacts[2] = {0.0, 0.0}, steps[2] = {0.0, 0.0};  // loose, tight: of both patches
};

constexpr double kSettle = 0.25;  // s after a switch: the pads take up the new force and the spatula stops

double pitch_of(const Simulator& s, Index body) {
  const Vec3 along = s.kinematics().pose(body).rotation.col(0);
  return std::atan2(-along.z(), along.x());
}

// Two slides along y, each with a bubble: the pads move apart as the coordinates grow.
void add_bubbles(ModelBuilder& builder, World& world, const SceneValues& values, double width,
                 const Material& material) {
  const Vec3 axes(0.03, 0.015, 0.03), palm(0.03, 0.005, 0.03);  // half, m
  for (const double way : {1.0, -1.0}) {
    const std::string name = way > 0.0 ? "left" : "right";
    const Index finger = builder.add_body({.name = name,
                                           .parent = 0,
                                           .position = Vec3(0.0, way * (0.5 * width + axes.y()), 0.5),
                                           .inertia = uniform_inertia(Shape::box(palm), 0.2)});
    builder.add_joint({.name = name, .body = finger, .kind = JointKind::slide, .axis = Vec3(0.0, way, 0.0)});
    world.add_geom({.name = name + "_bubble",
                    .shape = Shape::ellipsoid(axes),
                    .body = finger,
                    .material = material,
                    .pressure = PressureField{.modulus = number(values, "modulus"),
                                              .resolution = number(values, "resolution"),
                                              .max_faces = whole(values, "max-faces")},
                    .color = Color{0.85f, 0.85f, 0.88f, 0.6f}});
    world.add_geom({.name = name + "_palm",
                    .shape = Shape::box(palm),
                    .body = finger,
                    .pose = {Vec3(0.0, way * 0.01, 0.0)},
                    .contact_type = 0,
                    .contact_affinity = 0,
                    .color = Color{0.3f, 0.32f, 0.36f, 1.0f}});
  }
}

// Handle between the pads, its middle at the origin; the blade ahead of it.
Index add_spatula(ModelBuilder& builder, World& world, double mass, double width, double ahead,
                  const Material& material) {
  const Shape handle = Shape::box({0.09, 0.5 * width, 0.011}), blade = Shape::box({0.045, 0.035, 0.0015});
  const Pose at_handle{Vec3(ahead, 0.0, 0.0)}, at_blade{Vec3(ahead + 0.135, 0.0, 0.0)};
  const double share = 0.7;  // of the mass in the handle
  const Index body = builder.add_free_body("spatula", {Vec3(0.0, 0.0, 0.5)},
                                           uniform_inertia(handle, share * mass).placed(at_handle) +
                                               uniform_inertia(blade, (1.0 - share) * mass).placed(at_blade));
  world.add_geom({.name = "handle",
                  .shape = handle,
                  .body = body,
                  .pose = at_handle,
                  .material = material,
                  .color = Color{0.35f, 0.22f, 0.14f, 1.0f}});
  world.add_geom({.name = "blade",
                  .shape = blade,
                  .body = body,
                  .pose = at_blade,
                  .material = material,
                  .color = Color{0.75f, 0.76f, 0.78f, 1.0f}});
  return body;
}

void follow_pitch(Scene& scene, Index spatula, const GripWave& wave) {
  const auto record = std::make_shared<PitchRecord>();
  scene.observe = [=](const Simulator& s, const StepReport& r) {
    const double time = s.state().time, pitch = pitch_of(s, spatula);
    const bool tight = wave.is_tight(time - 0.5 * s.time_step());
    if (tight != record->was_tight) {
      if (record->was_tight) record->begin = pitch;
      record->was_tight = tight;
      record->phase_time = 0.0;
    }
    record->phase_time += s.time_step();
    record->contacts[tight ? 1 : 0] += static_cast<double>(r.contacts);
    record->steps[tight ? 1 : 0] += 1.0;
    if (!tight || record->phase_time < kSettle) {
      if (!tight || time > wave.period) record->loose += pitch - record->begin;
      record->begin = pitch;
    } else {
      record->tight = std::max(record->tight, std::abs(pitch - record->begin));
    }
  };
  scene.observables = [=](const Simulator& s) {
    const auto mean = [&](int phase) {
      return record->contacts[phase] / std::max(1.0, record->steps[phase]);
    };
    return std::vector<Observable>{{"pitch", pitch_of(s, spatula), "rad"},
                                   {"pitch_in_tight_phases", record->tight, "rad"},
                                   {"pitch_in_tight_phases_exact", 0.0, "rad"},
                                   {"pitch_in_loose_phases", record->loose, "rad"},
                                   {"contacts_tight", mean(1), ""},
                                   {"contacts_loose", mean(0), ""},
                                   {"fall", 0.5 - s.kinematics().pose(spatula).position.z(), "m"}};
  };
}

Scene make_slip_control(const SceneValues& values, double dt) {
  Scene scene = empty_scene("slip-control", dt, 0.005);
  const double width = 0.02;
  const Material material{.friction = number(values, "mu"), .dissipation_time = 0.02};
  ModelBuilder builder;
  add_bubbles(builder, scene.world, values, width, material);
  const Index spatula =
      add_spatula(builder, scene.world, number(values, "mass"), width, number(values, "offset"), material);
  finish_scene(scene, builder);
  scene.duration = 3.0 * 6.0;
  const GripWave wave{.loose = number(values, "loose"), .tight = number(values, "tight")};
  scene.control = [wave](Simulator& s) {
    s.force().setZero();
    // Stiff enough to stay in the middle, damped like the pads.
    add_grip(s.model(), {.first = 0, .second = 1, .centering = 500.0, .damping = 20.0}, s.state(),
             wave.force(s.state().time), s.force());
  };
  follow_pitch(scene, spatula, wave);
  return scene;
}

// A jar hangs on a bung of rubber, whose radius is by d larger than its own and whose length L is all within: p = E d / H on the
// wall but for the last d at both ends, N = 2 pi r E / H (L d - d^2); friction carries mu N.
Scene make_jar_lid(const SceneValues& values, double dt) {
  Scene scene = empty_scene("jar-lid", dt, 0.002);
  constexpr double kRadius = 0.04, kWall = 0.012, kHalf = 0.06, kPlug = 0.012, kLength = 2.0 * kPlug;  // m
  const double modulus = number(values, "modulus"), wider = number(values, "wider"),
               mu = number(values, "mu");
  // Newton, of the whole wall.
  const double press = 2.0 * std::numbers::pi * kRadius * modulus / kPlug * (kLength * wider - wider * wider);
  const double share = number(values, "share"), mass = share * mu * press / kEarthGravity;
  const Material material{.friction = mu, .dissipation_time = 0.02};
  ModelBuilder builder;
  const double lid = 1.0,
               top = lid + kPlug + 0.01;  // m, heights of the lid's middle and the jar's upper edge
  scene.world.add_geom(
      {.name = "lid",
       .shape = Shape::cylinder(kRadius + wider, kPlug),
       .pose = {Vec3(0.0, 0.0, lid)},
       .material = material,
       .pressure =
           PressureField{.modulus = modulus, .depth = kPlug, .resolution = number(values, "resolution")},
       .color = Color{0.75f, 0.30f, 0.25f, 1.0f}});
  const Solid cavity = Solid::cylinder(kRadius, kHalf).moved({Vec3(0.0, 0.0, kWall)});
  const Index jar = add_solid(builder, scene.world, "jar",
                              subtract(Solid::cylinder(kRadius + kWall, kHalf), cavity).shape(0.01), mass,
                              {Vec3(0.0, 0.0, top - kHalf)}, material);
  scene.world.geoms.back().color = Color{0.70f, 0.82f, 0.86f, 0.5f};
  finish_scene(scene, builder);
  scene.duration = 1.0;
  scene.observables = [=](const Simulator& s) {
    double wall = 0.0;
    for (const Contact& c : s.contacts()) wall += c.pressure() * c.area;
    const double fall = top - kHalf - s.kinematics().pose(jar).position.z();
    std::vector<Observable> list{{"fall", fall, "m"}};
    if (share < 1.0) list.push_back({"fall_exact", 0.0, "m"});
    list.push_back({"wall_force", wall, "N"});
    if (share < 1.0) list.push_back({"wall_force_exact", press, "N"});
    list.push_back({"contacts", static_cast<double>(s.contacts().size()), ""});
    return list;
  };
  return scene;
}

}  // namespace

std::vector<SceneInfo> soft_scene_infos() {
  const SceneParameter friction{"mu", 0.8, 0.0, 10.0, false, "friction coefficient"},
      smooth{"mu", 0.0,   0.0,
             10.0, false, "friction coefficient; where there is some, the walls of the dent carry, too"};
  return {
      {"block-on-foam",
       "a rigid block sinks into a layer of foam with a pressure field",
       {{"mass", 10.0, 1e-3, 1e6, false, "of the block of 0.2 x 0.2 x 0.1 m, kg"},
        {"modulus", 2e4, 1.0, 1e12, false, "E of the foam, Pa"},
        {"depth", 0.05, 1e-4, 10.0, false, "H, thickness of the foam, m"},
        {"dissipation", 0.05, 0.0, 10.0, false, "dissipation time, s"},
        smooth},
       make_block_on_foam},
      {"slip-control",
       "soft bubbles hold a spatula by its handle; the grip changes between tight and loose (Castro et "
       "al. 2022, "
       "sec. VI-D)",
       {{"tight", 16.0, 0.0, 1e4, false, "grip force for 4.5 s of every 6 s, N"},
        {"loose", 1.0, 0.0, 1e4, false, "grip force for the other 1.5 s, N"},
        {"mass", 0.06, 1e-3, 10.0, false, "of the spatula, kg"},
        {"offset", -0.025, -0.08, 0.08, false, "from the grip forward to the middle of the handle, m"},
        {"modulus", 1e5, 1.0, 1e12, false, "E of the bubbles, Pa"},
        {"resolution", 0.0045, 1e-4, 0.03, false, "of the faces, m"},
        {"max-faces", 0.0, 0.0, 1e6, true, "of each patch; 0: all"},
        friction},
       make_slip_control},
      {"jar-lid",
       "a jar hangs on a lid of rubber: friction of the wall against its weight",
       {{"share", 0.95, 0.0, 100.0, false, "weight of the jar over what friction carries; falls beyond 1"},
        {"modulus", 1e5, 1.0, 1e12, false, "E of the lid, Pa"},
        {"wider", 2e-3, 1e-5, 5e-3, false, "radius of the lid over that of the jar, m"},
        {"resolution", 0.006, 1e-3, 0.03, false, "of the faces, m"},
        friction},
       make_jar_lid}};
}

}  // namespace tribo::detail
