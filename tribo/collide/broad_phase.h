// Pairs of boxes that overlap, in a deterministic order (ascending (first, second), first < second).
//
// Example
//   BroadPhase broad;
//   broad.find(bounds, pairs);      // bounds: one Aabb per shape; unbounded ones (planes) meet everything
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tribo/collide/shape.h"

namespace tribo {

class BroadPhase {
 public:
  BroadPhase();
  ~BroadPhase();
  BroadPhase(BroadPhase&&) noexcept;
  BroadPhase& operator=(BroadPhase&&) noexcept;

  // `group` [shapes]: two shapes of the same group >= 0 (fixed to one body, or both fixed in the world) never
  // pair. The pairs do not depend on the history; what is kept between calls only makes it faster.
  void find(std::span<const Aabb> bounds, std::span<const Index> group,
            std::vector<std::pair<Index, Index>>& pairs);

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace tribo
