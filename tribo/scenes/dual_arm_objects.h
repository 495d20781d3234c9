// What the dual-arm task handles: a jar with a lid, marbles in it, and a bowl.
#pragma once

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

struct DualArmObjects {
  Index jar = 0, lid = 0, bowl = 0, marbles = 0;  // bodies; the first of the marbles
  Index count = 0;                                // of marbles
};

// The jar at its place, closed, `marbles` in it, the bowl beside. `mu`: friction of all of them.
DualArmObjects add_dual_arm_objects(ModelBuilder& builder, World& world, Index marbles, double mu);

}  // namespace tribo::detail
