// All pairs of overlapping boxes, found from nothing.
// Few boxes: sweep and prune, that is, boxes sorted along the axis on which they spread most, each compared with
// those that begin before it ends. Many boxes: one grid per power of four of the size; a box meets boxes of its own
// grid and of the coarser ones. Cost: linear in boxes and pairs, as long as boxes of similar size do not overlap
// many times.
#pragma once

#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "tribo/collide/broad/broad_grid.h"
#include "tribo/collide/shape.h"

namespace tribo::detail {

using BroadPairs = std::vector<std::pair<Index, Index>>;

inline bool bounded_box(const Aabb& box) { return std::isfinite(box.upper.sum() - box.lower.sum()); }
inline double box_size(const Aabb& box) { return (box.upper - box.lower).maxCoeff(); }
inline bool same_group(std::span<const Index> group, Index i, Index j) {
  return group[i] >= 0 && group[i] == group[j];
}

class BroadDirect {
 public:
  // Ascending pairs of different groups.
  void find(std::span<const Aabb> bounds, std::span<const Index> group, BroadPairs& pairs);

  // Calls meet(j) for the boxes j of the last call that overlap `box`.
  template <class Meet>
  void meets(const Aabb& box, std::span<const Aabb> bounds, Meet&& meet) const {
    for (const Index i : unbounded_) meet(i);
    if (!gridded_) {
      for (const Index i : bounded_)
        if (box.overlaps(bounds[i])) meet(i);
      return;
    }
    for (int level = 0; level < levels; ++level)
      if (!members_[level].empty()) grids_[level].meets(box, meet);
  }

 private:
  static constexpr int levels = 10;  // smaller sizes count as the last

  template <class Collect>
  void sweep_and_prune(std::span<const Aabb> bounds, Collect&& collect);
  template <class Collect>
  void use_grids(std::span<const Aabb> bounds, Collect&& collect);
  int widest_axis(std::span<const Aabb> bounds) const;
  void sort(BroadPairs& pairs, Index shapes);

  struct Swept {
    double from, to;
    Index number;
  };

  std::vector<Index> bounded_, unbounded_, starts_;
  BroadPairs buffer_;
  std::vector<Swept> sweep_;
  std::array<std::vector<Index>, levels> members_;
  std::array<BroadGrid, levels> grids_;
  bool gridded_ = false;
};

}  // namespace tribo::detail
