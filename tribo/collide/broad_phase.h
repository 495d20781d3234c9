// Pairs of boxes that overlap, in a deterministic order (ascending (first, second), first < second).
//
// Example
//   BroadPhase broad;
//   broad.find(bounds, pairs);      // bounds: one Aabb per shape; unbounded ones (planes) meet everything
#pragma once

#include <functional>
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

  // Pairs (i < j) it refuses never come up. It must answer the same for good; asked when pairs are new, not every time.
  using Filter = std::function<bool(Index i, Index j)>;
  void set_filter(Filter may_meet);

  // `group` [shapes]: two shapes of the same group >= 0 (fixed to one body, or both fixed in the world) never
  // pair. The pairs do not depend on the history; what is kept between calls only makes it faster.
  void find(std::span<const Aabb> bounds, std::span<const Index> group,
            std::vector<std::pair<Index, Index>>& pairs);

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace tribo
