// Boxes of similar size in the cells of a uniform grid: a box can only meet boxes of the 27 cells around its centre.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "tribo/collide/shape.h"

namespace tribo::detail {

class BroadGrid {
 public:
  // `members`: which of the boxes. The grid is laid over where most of them are; those outside count for the
  // cells at its border. Cost: linear.
  void build(std::span<const Aabb> bounds, std::span<const Index> members);

  double cell() const { return cell_; }

  // Calls meet(i, j) for the members whose boxes overlap, each pair once.
  template <class Meet>
  void pairs(Meet&& meet) const;
  // Calls meet(member) for the members whose boxes overlap `box`.
  template <class Meet>
  void meets(const Aabb& box, Meet&& meet) const;

 private:
  struct Item {
    Aabb box;
    Index number;
  };

  int coordinate(double x, int axis) const {
    const double c = (x - origin_[axis]) * inverse_[axis];
    // The comparison is written so that NaN ends in the first cell.
    return c >= 1.0 ? static_cast<int>(std::min(c, static_cast<double>(count_[axis] - 1))) : 0;
  }
  // Whether neighbours overlap is a coin toss for the branch predictor, so the hits are gathered without branches.
  template <class Meet>
  void each_overlapping(const Aabb& box, Index from, Index to, Meet&& meet) const {
    constexpr Index chunk = 64;
    Index hits[chunk];
    const Vec3 lower = box.lower, upper = box.upper;
    for (Index begin = from; begin < to; begin += chunk) {
      const Index end = std::min(to, begin + chunk);
      int count = 0;
      for (Index k = begin; k < end; ++k) {
        const Aabb& other = items_[k].box;
        hits[count] = items_[k].number;
        count += static_cast<int>(lower[0] <= other.upper[0]) & static_cast<int>(other.lower[0] <= upper[0]) &
                 static_cast<int>(lower[1] <= other.upper[1]) & static_cast<int>(other.lower[1] <= upper[1]) &
                 static_cast<int>(lower[2] <= other.upper[2]) & static_cast<int>(other.lower[2] <= upper[2]);
      }
      for (int h = 0; h < count; ++h) meet(hits[h]);
    }
  }
  int row(int y, int z) const { return (z * count_[1] + y) * count_[0]; }

  double cell_ = 1.0;
  Vec3 origin_ = Vec3::Zero(), inverse_ = Vec3::Ones();
  int count_[3] = {1, 1, 1};
  std::vector<Index> starts_;    // of the cells in items_, x fastest
  std::vector<Item> items_;      // by cell
  std::vector<Index> cell_of_;   // of the members
  std::vector<double> samples_;  // centres looked at to place the grid
};

template <class Meet>
void BroadGrid::pairs(Meet&& meet) const {
  const int last_x = count_[0] - 1;
  for (int z = 0; z < count_[2]; ++z)
    for (int y = 0; y < count_[1]; ++y)
      for (int x = 0; x <= last_x; ++x) {
        const int cell = row(y, z) + x;
        const Index begin = starts_[cell], end = starts_[cell + 1];
        if (begin == end) continue;
        const int left = std::max(x - 1, 0), right = std::min(x + 1, last_x);
        // The rest of this row, and the four rows that come later: each pair of neighbouring cells once.
        Index from[5], to[5];
        int runs = 1;
        to[0] = starts_[row(y, z) + right + 1];
        const auto add_run = [&](int ny, int nz) {
          if (ny < 0 || ny >= count_[1] || nz >= count_[2]) return;
          from[runs] = starts_[row(ny, nz) + left], to[runs] = starts_[row(ny, nz) + right + 1];
          if (from[runs] < to[runs]) ++runs;
        };
        add_run(y + 1, z);
        for (int ny = y - 1; ny <= y + 1; ++ny) add_run(ny, z + 1);
        for (Index k = begin; k < end; ++k) {
          const Item& item = items_[k];
          from[0] = k + 1;
          for (int r = 0; r < runs; ++r)
            each_overlapping(item.box, from[r], to[r], [&](Index number) { meet(item.number, number); });
        }
      }
}

template <class Meet>
void BroadGrid::meets(const Aabb& box, Meet&& meet) const {
  // Centres of members that can reach the box.
  const double reach = 0.5 * cell_;
  int low[3], high[3];
  for (int axis = 0; axis < 3; ++axis) {
    low[axis] = coordinate(box.lower[axis] - reach, axis);
    high[axis] = coordinate(box.upper[axis] + reach, axis);
  }
  for (int z = low[2]; z <= high[2]; ++z)
    for (int y = low[1]; y <= high[1]; ++y) {
      each_overlapping(box, starts_[row(y, z) + low[0]], starts_[row(y, z) + high[0] + 1], meet);
    }
}

}  // namespace tribo::detail
