// Memory the narrow phase keeps between calls.
#pragma once

#include <vector>

#include "tribo/math/types.h"

namespace tribo::detail {

struct PairScratch {
  std::vector<double> distances;
  std::vector<Index> triangles;
};

}  // namespace tribo::detail
