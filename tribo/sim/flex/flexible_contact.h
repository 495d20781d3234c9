// A contact of the surface of a flexible body with a geom or with another flexible body: both sides are points whose
// velocity is a mean of velocities, of one body or of the nodes of a triangle, weighted with barycentric coordinates.
#pragma once

#include <array>
#include <cstdint>

#include "tribo/base/types.h"

namespace tribo {

struct FlexibleContact {
  struct Side {
    Index flexible = -1;           // number of the flexible body; -1: a geom
    Index geom = -1, body = 0;     // of a geom
    Index count = 0;               // of a flexible body: nodes that carry the point, 1 to 3 ...
    std::array<Index, 3> nodes{};  // ... their numbers in the body ...
    Vec3 weights = Vec3::Zero();   // ... and their shares, which add up to 1
  };
  Side a, b;              // b is flexible
  Vec3 position;          // in the world, m
  Vec3 normal;            // from a to b
  double gap = 0.0;       // m
  double friction = 0.0;  // mu
  std::uint64_t key = 0;
};

}  // namespace tribo
