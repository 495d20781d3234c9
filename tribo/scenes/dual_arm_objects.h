// What the dual-arm task handles: a jar with a lid, marbles in it, and a bowl.
#pragma once

#include <numbers>

#include "tribo/collide/shapes/ready_solids.h"
#include "tribo/scenes/scene.h"

namespace tribo::detail {

inline constexpr double kJarWall = 0.003;  // m
inline constexpr double kJarRadius = 0.0415,
                        kJarHeight = 0.16;  // m, middle of its wall; to the middle of the rim
inline constexpr double kJarHull = kJarRadius + 0.5 * kJarWall;
inline constexpr double kLidSeat =
    kJarHeight + 0.5 * kJarWall;          // m, of the closed lid above the jar's origin
inline constexpr double kJarGrip = 0.08;  // m, above the jar's origin
inline const DishShape kBowl{{0.05, 0.0}, {0.105, 0.065}, 0.005};
inline const Vec3 kJarPlace(0.66, 0.0, 0.5 * kJarWall), kBowlPlace(0.66, -0.26, 0.5 * kBowl.thickness);

// Origin in the middle of the disc's lower side, which lies on the rim; a plug that narrows finds into the jar by itself.
struct LidShape {
  double disc_radius = 0.048, disc_half = 0.003;                  // m
  double plug_radius = 0.0388, plug_depth = 0.022;                // m: 1.2 mm less than the jar's inside
  double tip_radius = 0.030, straight = 0.008;                    // m
  Vec3 handle = Vec3(0.016, 0.052, 0.03);                         // half sizes, m: as wide as three fingers
  double disc_mass = 0.05, plug_mass = 0.03, handle_mass = 0.04;  // kg
  double handle_height() const { return 2.0 * disc_half + handle.z(); }
};

// A ring about the plug, right below the disc: wider than the jar's inside, so that its rubber is pressed in by `wider`.
struct LidSeal {
  double wider = 4e-4, half = 0.003;                   // m
  double modulus = 1e5, depth = 0.006;                 // E, Pa; H, m
  double resolution = 0.004, dissipation_time = 0.02;  // m, s
  double radius() const { return kJarRadius - 0.5 * kJarWall + wider; }
  // N, of the wall below its round rim: p = E d / H but for the last d at the ring's lower end.
  double press() const {
    const double length = 2.0 * half - 0.5 * kJarWall - 0.5 * wider;
    const double area = 2.0 * std::numbers::pi * (radius() - wider) * length;
    return modulus / depth * wider * area;
  }
};

struct DualArmObjects {
  Index jar = 0, lid = 0, bowl = 0, marbles = 0;  // bodies; the first of the marbles
  Index count = 0;                                // of marbles
};

// The jar at its place, closed, `marbles` in it, the bowl beside. `mu`: friction of all of them. `sealed`: the lid has a ring of
// soft rubber, which touches the jar through a pressure field and holds by friction.
DualArmObjects add_dual_arm_objects(ModelBuilder& builder, World& world, Index marbles, double mu,
                                    bool sealed = false);

}  // namespace tribo::detail
