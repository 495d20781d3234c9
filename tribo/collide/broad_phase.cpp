// Few boxes: sweep and prune, that is, boxes sorted along the axis on which they spread most, each compared with
// those that begin before it ends; the order of the last call is almost right for the next one.
// Many boxes: one grid per power of four of the size. A box meets boxes of its own grid and of the coarser ones.
// Cost: linear in boxes and pairs, as long as boxes of similar size do not overlap many times.
#include "tribo/collide/broad_phase.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tribo/collide/broad_grid.h"

namespace tribo {

namespace {

constexpr std::size_t few = 128;  // sweep and prune below
constexpr int levels = 10;        // powers of four below the largest size; smaller ones count as the last

using Pairs = std::vector<std::pair<Index, Index>>;

bool bounded_box(const Aabb& box) { return std::isfinite(box.upper.sum() - box.lower.sum()); }

struct Collector {
  std::span<const Index> group;
  Pairs& pairs;
  void operator()(Index i, Index j) const {
    if (group[i] >= 0 && group[i] == group[j]) return;
    pairs.emplace_back(std::min(i, j), std::max(i, j));
  }
};

// Ascending: grouped by the first number by counting, by the second within the few of a group.
void sort_pairs(Pairs& pairs, Index shapes, std::vector<Index>& starts, Pairs& buffer) {
  starts.assign(shapes + 1, 0);
  for (const auto& pair : pairs) ++starts[pair.first + 1];
  for (Index i = 0; i < shapes; ++i) starts[i + 1] += starts[i];
  buffer.resize(pairs.size());
  for (const auto& pair : pairs) buffer[starts[pair.first]++] = pair;
  std::swap(pairs, buffer);
  Index begin = 0;
  for (Index i = 0; i < shapes; ++i) {
    const Index end = starts[i];
    if (end - begin > 32) {
      std::sort(pairs.begin() + begin, pairs.begin() + end);
    } else {
      for (Index k = begin + 1; k < end; ++k) {
        const auto pair = pairs[k];
        Index slot = k;
        for (; slot > begin && pair.second < pairs[slot - 1].second; --slot) pairs[slot] = pairs[slot - 1];
        pairs[slot] = pair;
      }
    }
    begin = end;
  }
}

}  // namespace

struct BroadPhase::Scratch {
  std::vector<Index> bounded, unbounded;
  Pairs buffer;
  std::vector<Index> starts;

  struct Swept {
    double from, to;
    Index number;
  };
  std::vector<Swept> sweep;
  int axis = -1;

  std::array<std::vector<Index>, levels> members;
  std::array<detail::BroadGrid, levels> grids;

  void sweep_and_prune(std::span<const Aabb> bounds, const Collector& collect);
  void use_grids(std::span<const Aabb> bounds, const Collector& collect);

 private:
  int widest_axis(std::span<const Aabb> bounds) const;
};

int BroadPhase::Scratch::widest_axis(std::span<const Aabb> bounds) const {
  Vec3 sum = Vec3::Zero(), squares = Vec3::Zero();
  for (const Index i : bounded) {
    const Vec3 c = bounds[i].lower + bounds[i].upper;
    sum += c;
    squares += c.cwiseProduct(c);
  }
  const Vec3 spread = squares - sum.cwiseProduct(sum) / static_cast<double>(bounded.size());
  int best = 0;
  for (int k = 1; k < 3; ++k)
    if (spread[k] > spread[best]) best = k;
  // Stay with the last axis unless another is clearly better, so that its order can be used.
  return axis >= 0 && spread[axis] > 0.7 * spread[best] ? axis : best;
}

void BroadPhase::Scratch::sweep_and_prune(std::span<const Aabb> bounds, const Collector& collect) {
  if (bounded.empty()) return;
  const int last_axis = axis;
  axis = widest_axis(bounds);
  const auto less = [](const Swept& x, const Swept& y) {
    return x.from < y.from || (x.from == y.from && x.number < y.number);
  };
  const auto known = [&] {
    return axis == last_axis && sweep.size() == bounded.size() &&
           std::all_of(sweep.begin(), sweep.end(), [&](const Swept& s) {
             return s.number < static_cast<Index>(bounds.size()) && bounded_box(bounds[s.number]);
           });
  };
  if (known()) {
    for (Swept& s : sweep) s.from = bounds[s.number].lower[axis], s.to = bounds[s.number].upper[axis];
    std::size_t moves = 0;
    for (std::size_t k = 1; k < sweep.size() && moves < 8 * sweep.size(); ++k) {
      const Swept s = sweep[k];
      std::size_t slot = k;
      for (; slot > 0 && less(s, sweep[slot - 1]); --slot, ++moves) sweep[slot] = sweep[slot - 1];
      sweep[slot] = s;
    }
    if (moves >= 8 * sweep.size()) std::sort(sweep.begin(), sweep.end(), less);
  } else {
    sweep.clear();
    for (const Index i : bounded) sweep.push_back({bounds[i].lower[axis], bounds[i].upper[axis], i});
    std::sort(sweep.begin(), sweep.end(), less);
  }
  for (std::size_t u = 0; u < sweep.size(); ++u) {
    const Swept& s = sweep[u];
    const Aabb& box = bounds[s.number];
    for (std::size_t v = u + 1; v < sweep.size() && sweep[v].from <= s.to; ++v)
      if (box.overlaps(bounds[sweep[v].number])) collect(s.number, sweep[v].number);
  }
}

void BroadPhase::Scratch::use_grids(std::span<const Aabb> bounds, const Collector& collect) {
  const auto size = [&](Index i) { return (bounds[i].upper - bounds[i].lower).maxCoeff(); };
  double largest = std::numeric_limits<double>::min();
  for (const Index i : bounded) largest = std::max(largest, size(i));
  for (auto& list : members) list.clear();
  for (const Index i : bounded) {
    const int level = std::ilogb(std::max(size(i), 1e-300) / largest);  // 0: the largest, then negative
    members[std::clamp(-level / 2, 0, levels - 1)].push_back(i);
  }
  for (int level = 0; level < levels; ++level) {
    if (members[level].empty()) continue;
    grids[level].build(bounds, members[level]);
    grids[level].pairs(collect);
    for (int coarse = 0; coarse < level; ++coarse) {
      if (members[coarse].empty()) continue;
      for (const Index i : members[level]) grids[coarse].meets(bounds[i], [&](Index j) { collect(i, j); });
    }
  }
}

BroadPhase::BroadPhase() : scratch_(std::make_unique<Scratch>()) {}
BroadPhase::~BroadPhase() = default;
BroadPhase::BroadPhase(BroadPhase&&) noexcept = default;
BroadPhase& BroadPhase::operator=(BroadPhase&&) noexcept = default;

void BroadPhase::find(std::span<const Aabb> bounds, std::span<const Index> group,
                      std::vector<std::pair<Index, Index>>& pairs) {
  Scratch& s = *scratch_;
  pairs.clear();
  s.bounded.clear();
  s.unbounded.clear();
  const Collector collect{group, pairs};
  for (Index i = 0; i < static_cast<Index>(bounds.size()); ++i)
    (bounded_box(bounds[i]) ? s.bounded : s.unbounded).push_back(i);
  for (std::size_t u = 0; u < s.unbounded.size(); ++u) {
    for (std::size_t v = u + 1; v < s.unbounded.size(); ++v) collect(s.unbounded[u], s.unbounded[v]);
    for (const Index i : s.bounded) collect(s.unbounded[u], i);
  }
  if (s.bounded.size() < few)
    s.sweep_and_prune(bounds, collect);
  else
    s.use_grids(bounds, collect);
  sort_pairs(pairs, static_cast<Index>(bounds.size()), s.starts, s.buffer);
}

}  // namespace tribo
