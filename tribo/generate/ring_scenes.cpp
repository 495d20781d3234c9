#include "tribo/generate/ring_scenes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "tribo/base/random.h"
#include "tribo/generate/rigid_scene.h"

namespace tribo::detail {

namespace {

constexpr double kTurn = 2.0 * std::numbers::pi;

// Half of the contacts touch, the others are open by up to `largest`.
double random_gap(Random& random, double largest) {
  return largest * std::max(0.0, random.uniform(-1.0, 1.0));
}

Vec3 scattered(const Vec3& direction, double scatter, Random& random) {
  return (direction + scatter * random.normal_vector()).normalized();
}

}  // namespace

// An M48 nut (pitch 5 mm, height 38 mm, 1 kg) on a fixed bolt whose axis is z. A contact at the angle theta
// of the helix lies on one of the two flanks of the thread: its normal is orthogonal to the helix tangent
// cos(a) e_theta + sin(a) e_z and leans outwards by half the thread angle.
ContactProblem make_bolt(const GeneratorSettings& settings) {
  constexpr Index contacts = 120;
  constexpr double inner = 0.0215, outer = 0.024, pitch = 0.005, height = 0.038, mass = 1.0;
  const double lead_angle = std::atan(pitch / (kTurn * 0.5 * (inner + outer)));
  const double flank = kTurn / 12.0;

  Random random(settings.seed);
  RigidScene scene(settings);
  scene.reserve(1, contacts);
  RigidBody nut{.mass = mass, .inertia = tube_inertia(mass, outer, 0.0375, height)};
  nut.force = 50.0 * random.normal_vector();
  nut.torque = 1.0 * random.normal_vector();
  if (settings.slide) {
    nut.spin.z() = kSlideSpeed / outer;
    nut.velocity.z() = nut.spin.z() * pitch / kTurn;
  }
  scene.add_body(nut);
  for (Index i = 0; i < contacts; ++i) {
    const double theta = kTurn * (height / pitch) * random.uniform(-0.5, 0.5);
    const double radius = random.uniform(inner, outer);
    const Vec3 radial(std::cos(theta), std::sin(theta), 0.0);
    const Vec3 around(-radial.y(), radial.x(), 0.0);
    const Vec3 across = std::cos(lead_angle) * Vec3::UnitZ() - std::sin(lead_angle) * around;
    const Vec3 normal = std::sin(flank) * radial + alternating_sign(i) * std::cos(flank) * across;
    // The flanks of a turn are half a pitch apart at mid height of the thread.
    const double lift = pitch * (theta / kTurn + 0.25 * alternating_sign(i));
    scene.add_contact(0, kGround, radius * radial + lift * Vec3::UnitZ(), scattered(normal, 0.02, random),
                      random_gap(random, 2e-5), i);
  }
  return scene.build();
}

// Bowl, bowl, plate and pot: each rests in the one below (the first on a fixed stand) on a ring of 30
// contacts of a cone that is 10 degrees steep and centres it.
ContactProblem make_dishes(const GeneratorSettings& settings) {
  struct Dish {
    double mass, radius, ring;  // kg, m; radius of the ring it rests on
  };
  constexpr std::array<Dish, 4> dishes{
      {{0.1, 0.08, 0.04}, {0.1, 0.08, 0.05}, {0.1, 0.12, 0.06}, {5.0, 0.12, 0.08}}};
  constexpr Index ring_contacts = 30;
  constexpr double height = 0.05;
  const double slope = kTurn / 36.0;

  Random random(settings.seed);
  RigidScene scene(settings);
  scene.reserve(4, 4 * ring_contacts);
  for (Index i = 0; i < 4; ++i) {
    const Dish& dish = dishes[i];
    RigidBody body{.mass = dish.mass, .inertia = tube_inertia(dish.mass, 0.0, dish.radius, height)};
    body.position = Vec3(0.0, 0.0, (i + 0.5) * height);
    body.force = 10.0 * dish.mass * random.normal_vector();
    body.torque = dish.radius * 5.0 * dish.mass * random.normal_vector();
    if (settings.slide) {
      body.velocity.x() = kSlideSpeed * alternating_sign(i);
      body.spin.z() = alternating_sign(i);
    }
    scene.add_body(body);
    const double phase = random.uniform();
    for (Index k = 0; k < ring_contacts; ++k) {
      const double theta = kTurn * (k + phase) / ring_contacts;
      const Vec3 radial(std::cos(theta), std::sin(theta), 0.0);
      const Vec3 normal = std::cos(slope) * Vec3::UnitZ() - std::sin(slope) * radial;
      scene.add_contact(i, i == 0 ? kGround : i - 1, dish.ring * radial + i * height * Vec3::UnitZ(),
                        scattered(normal, 0.01, random), random_gap(random, 1e-5), k);
    }
  }
  return scene.build();
}

}  // namespace tribo::detail
