// Scenes with a closed-form answer: stick and slip on a slope, Coulomb's stopping distance, a rolling oscillator,
// Newton's cradle, a free spinning body.
#include "tribo/scenes/sliding_scenes.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

namespace tribo::detail {

namespace {

Scene make_slope(const SceneValues& values, double dt) {
  Scene scene = empty_scene("slope", dt, 0.002);
  const double angle = number(values, "angle") * std::numbers::pi / 180.0, mu = number(values, "mu");
  const Mat3 turn = Eigen::AngleAxisd(angle, Vec3::UnitY()).toRotationMatrix();
  const Vec3 half(0.1, 0.1, 0.05);
  const Material material{.friction = mu};
  ModelBuilder builder;
  scene.world.add_geom(
      {.name = "slope", .shape = Shape::plane(), .pose = {Vec3::Zero(), turn}, .material = material});
  add_solid(builder, scene.world, "box", Shape::box(half), 1.0, {turn * Vec3(0.0, 0.0, half.z()), turn},
            material);
  finish_scene(scene, builder);
  scene.duration = 10.0;
  const double down = kEarthGravity * std::sin(angle), grip = mu * kEarthGravity * std::cos(angle);
  const double h = scene.world.time_step;
  struct Half {
    Vec3 place = Vec3::Zero();
    double time = 0.0;
  };
  // Creep: mean speed over the second half of the motion, when the box has come to rest if it ever does.
  const auto path = std::make_shared<std::vector<Half>>();
  scene.observe = [path](const Simulator& s, const StepReport& r) {
    path->push_back({s.kinematics().pose(1).position, r.time});
  };
  scene.observables = [=](const Simulator& s) {
    const Vec3 along = turn.col(0);
    const double time = s.state().time, a = std::max(0.0, down - grip);
    const double distance = along.dot(s.kinematics().pose(1).position - turn * Vec3(0.0, 0.0, half.z()));
    std::vector<Observable> list;
    if (!path->empty() && time > 0.0) {
      const Half& middle = (*path)[path->size() / 2];
      const double span = std::max(time - middle.time, h);
      list.push_back(
          {"creep_speed", std::abs(along.dot(s.kinematics().pose(1).position - middle.place)) / span, "m/s"});
      if (a == 0.0) list.push_back({"creep_speed_exact", 0.0, "m/s"});
    }
    list.push_back({"distance", distance, "m"});
    list.push_back({"distance_exact", 0.5 * a * time * time, "m"});
    list.push_back({"speed", along.dot(s.state().v.head<3>()), "m/s"});
    list.push_back({"speed_exact", a * time, "m/s"});
    return list;
  };
  return scene;
}

Scene make_sliding_block(const SceneValues& values, double dt) {
  Scene scene = empty_scene("sliding-block", dt, 0.002);
  const double mu = number(values, "mu"), speed = number(values, "speed");
  const Vec3 half(0.1, 0.1, 0.02);
  const Material material{.friction = mu};
  ModelBuilder builder;
  scene.world.add_geom({.name = "floor", .shape = Shape::plane(), .material = material});
  add_solid(builder, scene.world, "block", Shape::box(half), 1.0, {Vec3(0.0, 0.0, half.z())}, material);
  finish_scene(scene, builder);
  scene.start.v[0] = speed;
  scene.start.q[2] += number(values, "gap");
  scene.duration = speed / (mu * kEarthGravity) + 0.2;
  const double h = scene.world.time_step;
  const auto lift = std::make_shared<double>(0.0);
  scene.observe = [lift, half](const Simulator& s, const StepReport&) {
    *lift = std::max(*lift, s.kinematics().pose(1).position.z() - half.z());
  };
  scene.observables = [=](const Simulator& s) {
    return std::vector<Observable>{{"stop_distance", s.kinematics().pose(1).position.x(), "m"},
                                   {"stop_distance_exact", speed * speed / (2.0 * mu * kEarthGravity), "m"},
                                   {"speed", s.state().v[0], "m/s"},
                                   {"lift", *lift, "m"},
                                   {"lift_exact", 0.0, "m"},
                                   {"gliding_gap_of_convex_law", h * mu * speed, "m"}};
  };
  return scene;
}

// Castro et al. (2022) sec. VI-B: a cylinder on compliant ground, held by a horizontal spring.
Scene make_spring_cylinder(const SceneValues& values, double dt) {
  Scene scene = empty_scene("spring-cylinder", dt, 0.02);
  const double radius = 0.05, mass = 0.5, spring = 100.0, ground = 1e4, begin = 0.1,
               mu = number(values, "mu");
  // Two contact points share the ground's stiffness.
  const Material material{.friction = mu, .stiffness = 0.5 * ground, .dissipation_time = 0.02};
  const Shape shape = Shape::cylinder(radius, 0.05);
  const Mat3 lying = Eigen::AngleAxisd(-0.5 * std::numbers::pi, Vec3::UnitX()).toRotationMatrix();
  const double sunk = radius - mass * kEarthGravity / ground;
  ModelBuilder builder;
  scene.world.add_geom({.name = "floor", .shape = Shape::plane(), .material = {.friction = mu}});
  const Index body =
      builder.add_body({.name = "cylinder",
                        .position = Vec3(0.0, 0.0, sunk),
                        .inertia = uniform_inertia(shape, mass).placed({Vec3::Zero(), lying})});
  builder.add_joint(
      {.name = "x", .body = body, .kind = JointKind::slide, .axis = Vec3::UnitX(), .stiffness = spring});
  builder.add_joint({.name = "z", .body = body, .kind = JointKind::slide, .axis = Vec3::UnitZ()});
  builder.add_joint({.name = "turn", .body = body, .kind = JointKind::hinge, .axis = Vec3::UnitY()});
  scene.world.add_geom({.name = "cylinder",
                        .shape = shape,
                        .body = body,
                        .pose = {Vec3::Zero(), lying},
                        .material = material});
  finish_scene(scene, builder);
  scene.start.q[0] = begin;
  scene.settings.scheme = Scheme::midpoint;
  scene.duration = 5.0;
  // Rolling: m + I / r^2, r down to the middle between the two surfaces, where contact is made.
  const double arm = 0.5 * (radius + sunk);
  const double inertia = mu > 0.0 ? mass + 0.5 * mass * radius * radius / (arm * arm) : mass;
  const double frequency = std::sqrt(spring / inertia);
  struct Record {
    double square = 0.0, low = 1e300, high = -1e300, first = 0.0;
    Index steps = 0;
  };
  const auto record = std::make_shared<Record>();
  const double floor_energy = mass * kEarthGravity * sunk;
  scene.observe = [=](const Simulator& s, const StepReport& r) {
    const double error = s.state().q[0] - begin * std::cos(frequency * r.time);
    const double energy = s.energy().total() - floor_energy;
    record->square += error * error;
    record->low = std::min(record->low, energy);
    record->high = std::max(record->high, energy);
    ++record->steps;
  };
  scene.observables = [=](const Simulator& s) {
    const double full = 0.5 * spring * begin * begin;
    const double steps = std::max<double>(1.0, record->steps);
    return std::vector<Observable>{
        {"position_error", std::sqrt(record->square / steps), "m (rms over the motion)"},
        {"energy", s.energy().total() - floor_energy, "J"},
        {"energy_exact", full, "J"},
        {"energy_band", record->steps ? (record->high - record->low) / full : 0.0, "of the energy"},
        {"period_exact", 2.0 * std::numbers::pi / frequency, "s"}};
  };
  return scene;
}

Scene make_cradle(const SceneValues& values, double dt) {
  Scene scene = empty_scene("cradle", dt, 0.002);
  const Index count = whole(values, "balls"), moving = std::min(count, whole(values, "moving"));
  const double radius = 0.02, speed = number(values, "speed"), mass = 0.1;
  const Material material{.friction = 0.0, .restitution = number(values, "restitution")};
  scene.world.gravity.setZero();
  ModelBuilder builder;
  for (Index i = 0; i < count; ++i) {
    // The ones that move come from a ball's width away.
    const double x = 2.0 * radius * i - (i < moving ? 2.0 * radius : 0.0);
    add_solid(builder, scene.world, "ball" + std::to_string(i), Shape::sphere(radius), mass,
              {Vec3(x, 0.0, 0.0)}, material);
  }
  finish_scene(scene, builder);
  for (Index i = 0; i < moving; ++i) scene.start.v[6 * i] = speed;
  scene.settings.contact.restitution_threshold = 1e-6;
  scene.duration = 0.2;
  const double momentum = moving * mass * speed, energy = 0.5 * momentum * speed;
  scene.observables = [=](const Simulator& s) {
    return std::vector<Observable>{
        {"momentum_error", std::abs(s.momentum()[0] - momentum) / std::max(momentum, 1e-300),
         "of the momentum"},
        {"momentum_error_exact", 0.0, ""},
        {"energy_error", std::abs(s.energy().kinetic - energy) / std::max(energy, 1e-300), "of the energy"},
        {"last_speed", s.state().v[6 * (count - 1)], "m/s"},
        {"last_speed_exact", speed, "m/s (restitution 1)"}};
  };
  return scene;
}

Scene make_spin(const SceneValues& values, double dt) {
  Scene scene = empty_scene("spin", dt, 0.002);
  scene.world.gravity.setZero();
  ModelBuilder builder;
  add_solid(builder, scene.world, "body", Shape::box({0.15, 0.1, 0.03}), 1.0, {}, {});
  finish_scene(scene, builder);
  const double rate = number(values, "rate");
  scene.start.v.tail<3>() = Vec3(0.01, 1.0, 0.02) * rate;  // about the unstable axis
  scene.duration = 10.0;
  const Vec3 inertia = uniform_inertia(Shape::box({0.15, 0.1, 0.03}), 1.0).rotational.diagonal();
  const Vec3 spin = inertia.cwiseProduct(scene.start.v.tail<3>());
  const double energy = 0.5 * spin.dot(scene.start.v.tail<3>());
  scene.observables = [=](const Simulator& s) {
    const Vec3 now = s.momentum().tail<3>();
    return std::vector<Observable>{
        {"energy_error", std::abs(s.energy().kinetic - energy) / energy, "of the energy"},
        {"energy_error_exact", 0.0, ""},
        {"momentum_error", (now - spin).norm() / spin.norm(), "of the angular momentum"},
        {"momentum_length_error", std::abs(now.norm() - spin.norm()) / spin.norm(), ""}};
  };
  return scene;
}

}  // namespace

std::vector<SceneInfo> sliding_scene_infos() {
  return {{"slope",
           "a box on an inclined plane: sticks when tan(angle) <= mu, slides otherwise",
           {{"angle", 15.0, 0.0, 89.0, false, "of the plane, degrees"},
            {"mu", 1.0, 0.0, 10.0, false, "friction coefficient"}},
           make_slope},
          {"sliding-block",
           "a block with an initial speed: stops after v^2 / (2 mu g)",
           {{"speed", 6.0, 1e-3, 100.0, false, "m/s"},
            {"mu", 0.5, 1e-3, 2.0, false, "friction coefficient"},
            {"gap", 0.0, 0.0, 1.0, false, "height above the floor at the beginning, m"}},
           make_sliding_block},
          {"spring-cylinder",
           "a cylinder rolling on compliant ground, held by a spring (Castro et al. 2022, Figs. 5-7)",
           {{"mu", 1.0, 0.0, 10.0, false, "friction coefficient; 0: it slides without turning"}},
           make_spring_cylinder},
          {"cradle",
           "balls in a row without gravity; impacts keep momentum and energy",
           {{"balls", 5, 2, 1000, true, "number of balls"},
            {"moving", 1, 1, 1000, true, "balls that arrive"},
            {"speed", 1.0, 1e-3, 100.0, false, "m/s"},
            {"restitution", 1.0, 0.0, 1.0, false, "coefficient of restitution"}},
           make_cradle},
          {"spin",
           "a free body turning about its unstable axis",
           {{"rate", 5.0, 1e-3, 1000.0, false, "rad/s"}},
           make_spin}};
}

}  // namespace tribo::detail
