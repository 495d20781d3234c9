// Limbs of primitives that the scenes with robots share.
#pragma once

#include <string>

#include "tribo/scenes/scene.h"

namespace tribo::detail {

struct Limb {
  std::string name;
  Index parent = 0;
  Vec3 position = Vec3::Zero();  // of its frame in the parent's, m
  Vec3 end = Vec3::Zero();       // of its capsule, from the origin of its frame; zero: a sphere
  double radius = 0.02;          // m
  double mass = 1.0;             // kg
};

// A body with a capsule from the origin of its frame to the end, or a sphere at the origin.
Index add_limb(ModelBuilder& builder, World& world, const Limb& limb, const Material& material);

struct Hinge {
  Vec3 axis = Vec3::UnitY();
  double lower = -2.0, upper = 2.0;  // rad
  double armature = 0.01;            // kg m^2
  double damping = 0.1;              // N m s/rad
};

// A limited hinge of the body added last, named as given.
Index add_limb_hinge(ModelBuilder& builder, Index body, const std::string& name, const Hinge& hinge);

}  // namespace tribo::detail
