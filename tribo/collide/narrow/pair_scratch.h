// Memory the narrow phase keeps between calls.
#pragma once

#include <vector>

#include "tribo/collide/narrow_phase.h"

namespace tribo::detail {

struct PairScratch {
  std::vector<Vec2> rim;  // cosine and sine of the points that stand for a circular rim
  std::vector<double> distances;
  std::vector<Index> triangles, other_triangles;
  std::vector<ContactPoint> points;  // before clustering
  std::vector<Index> cluster;        // of these points
};

}  // namespace tribo::detail
