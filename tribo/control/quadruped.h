// A four-legged robot as its structure shows it: a floating trunk and four chains of three hinges that end in a ball.
#pragma once

#include <array>

#include "tribo/sim/world.h"

namespace tribo {

struct QuadrupedLeg {
  std::array<Index, 3> joints{};    // hinges from the trunk to the foot
  Index hip = 0;                    // body of the first of them
  Index foot = 0;                   // body that the foot belongs to
  Vec3 foot_center = Vec3::Zero();  // m, in that body's frame
  double foot_radius = 0.0;         // m
};

struct Quadruped {
  Index trunk = 0;
  std::array<QuadrupedLeg, 4>
      legs;  // front left, front right, rear left, rear right: x of the trunk ahead, y left
};

// The first tree of the world that has this structure. The ball is the sphere furthest from the last hinge, of those that
// touch. InvalidInput says what is missing.
Quadruped find_quadruped(const World& world);

}  // namespace tribo
