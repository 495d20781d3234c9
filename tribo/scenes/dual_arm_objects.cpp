#include "tribo/scenes/dual_arm_objects.h"

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "tribo/collide/shapes/convex_hull.h"
#include "tribo/scenes/containers.h"

namespace tribo::detail {

namespace {

constexpr double kDegree = std::numbers::pi / 180.0;
constexpr double kMarbleMass = 0.05,
                 kMarbleRadius = 0.0125;           // kg (Castro et al.), m: a ceramic of 6.1 g/cm^3
constexpr double kJarMass = 0.3, kBowlMass = 0.4;  // kg
constexpr double kSurface = 0.006;                 // m, pieces of the surfaces of jar and bowl

// Six to a layer: the middle and five around it.
Vec3 place_in_jar(Index k) {
  const auto layer = static_cast<double>(k / 6);
  const Vec3 middle(0.0, 0.0, 0.5 * kJarWall + 1.02 * kMarbleRadius * (1.0 + 2.0 * layer));
  if (k % 6 == 0) return middle;
  const double angle = (72.0 * static_cast<double>(k % 6) + 36.0 * layer) * kDegree;
  return middle +
         (kJarRadius - 0.5 * kJarWall - 1.05 * kMarbleRadius) * Vec3(std::cos(angle), std::sin(angle), 0.0);
}

void add_seal(World& world, Index lid, double mu) {
  const LidSeal seal;
  world.add_geom(
      {.name = "lid_seal",
       .shape = Shape::cylinder(seal.radius(), seal.half),
       .body = lid,
       .pose = {Vec3(0.0, 0.0, -seal.half), Mat3::Identity()},
       .material = {.friction = mu, .dissipation_time = seal.dissipation_time},
       .pressure = PressureField{.modulus = seal.modulus, .depth = seal.depth, .resolution = seal.resolution},
       .color = Color{0.25f, 0.25f, 0.27f, 1.0f}});
  set_groups(world.geoms.back(), kInside);
}

Index add_lid(ModelBuilder& builder, World& world, const LidShape& lid, const Pose& pose, double mu,
              bool sealed) {
  std::vector<Vec3> points;
  constexpr int corners = 24;
  for (int k = 0; k < corners; ++k) {
    const double angle = 360.0 / corners * k * kDegree;
    const Vec3 out(std::cos(angle), std::sin(angle), 0.0);
    points.push_back(lid.plug_radius * out);
    points.push_back(lid.plug_radius * out - lid.straight * Vec3::UnitZ());
    points.push_back(lid.tip_radius * out - lid.plug_depth * Vec3::UnitZ());
  }
  const Shape plug = Shape::hull(ConvexHull::around(points));
  const Shape disc = Shape::cylinder(lid.disc_radius, lid.disc_half), handle = Shape::box(lid.handle);
  const Pose disc_pose{Vec3(0.0, 0.0, lid.disc_half), Mat3::Identity()};
  const Pose handle_pose{Vec3(0.0, 0.0, lid.handle_height()), Mat3::Identity()};
  const RigidInertia inertia = uniform_inertia(plug, lid.plug_mass) +
                               uniform_inertia(disc, lid.disc_mass).placed(disc_pose) +
                               uniform_inertia(handle, lid.handle_mass).placed(handle_pose);
  const Index body = builder.add_free_body("lid", pose, inertia);
  const Color color{0.80f, 0.33f, 0.26f, 1.0f};
  const auto add = [&](const char* name, const Shape& shape, const Pose& place, std::uint32_t groups) {
    world.add_geom({.name = name,
                    .shape = shape,
                    .body = body,
                    .pose = place,
                    .material = {.friction = mu},
                    .color = color});
    set_groups(world.geoms.back(), groups);
  };
  add("lid_plug", plug, Pose{}, kInside);
  add("lid_disc", disc, disc_pose, kOrdinary | kOutside);
  add("lid_handle", handle, handle_pose, kOrdinary | kOutside);
  if (sealed) add_seal(world, body, mu);
  return body;
}

}  // namespace

DualArmObjects add_dual_arm_objects(ModelBuilder& builder, World& world, Index marbles, double mu,
                                    bool sealed) {
  DualArmObjects objects;
  objects.count = marbles;
  objects.jar =
      add_container(builder, world,
                    {.name = "jar",
                     .wall = dish({{kJarRadius, 0.0}, {kJarRadius, kJarHeight}, kJarWall}).shape(kSurface),
                     .mass = kJarMass,
                     .radius = kJarHull,
                     .bottom = -0.5 * kJarWall,
                     .top = kLidSeat,
                     .pose = {kJarPlace, Mat3::Identity()},
                     .inside = {.friction = mu},
                     .outside = {.friction = mu},
                     .color = {0.55f, 0.75f, 0.85f, 0.45f}});
  objects.lid = add_lid(builder, world, LidShape(), {kJarPlace + Vec3(0.0, 0.0, kLidSeat), Mat3::Identity()},
                        mu, sealed);
  objects.bowl = add_container(builder, world,
                               {.name = "bowl",
                                .wall = dish(kBowl).shape(kSurface),
                                .mass = kBowlMass,
                                .radius = kBowl.a.x(),
                                .bottom = -0.5 * kBowl.thickness,
                                .top = 0.0,
                                .pose = {kBowlPlace, Mat3::Identity()},
                                .inside = {.friction = mu},
                                .outside = {.friction = mu},
                                .color = {0.93f, 0.91f, 0.86f, 1.0f}});
  const Shape marble = Shape::sphere(kMarbleRadius);
  for (Index k = 0; k < objects.count; ++k) {
    const Index body = add_solid(builder, world, "marble" + std::to_string(k), marble, kMarbleMass,
                                 {kJarPlace + place_in_jar(k), Mat3::Identity()}, {.friction = mu});
    set_groups(world.geoms.back(), kOrdinary | kInside);
    world.geoms.back().color = Color{0.25f, 0.35f, 0.70f, 1.0f};
    if (k == 0) objects.marbles = body;
  }
  return objects;
}

}  // namespace tribo::detail
