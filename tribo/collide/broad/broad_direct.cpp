#include "tribo/collide/broad/broad_direct.h"

#include <algorithm>
#include <limits>

namespace tribo::detail {

namespace {

constexpr std::size_t few = 128;  // sweep and prune below

}  // namespace

int BroadDirect::widest_axis(std::span<const Aabb> bounds) const {
  Vec3 sum = Vec3::Zero(), squares = Vec3::Zero();
  for (const Index i : bounded_) {
    const Vec3 c = bounds[i].lower + bounds[i].upper;
    sum += c;
    squares += c.cwiseProduct(c);
  }
  const Vec3 spread = squares - sum.cwiseProduct(sum) / static_cast<double>(bounded_.size());
  int best = 0;
  for (int k = 1; k < 3; ++k)
    if (spread[k] > spread[best]) best = k;
  return best;
}

template <class Collect>
void BroadDirect::sweep_and_prune(std::span<const Aabb> bounds, Collect&& collect) {
  if (bounded_.empty()) return;
  const int axis = widest_axis(bounds);
  sweep_.clear();
  for (const Index i : bounded_) sweep_.push_back({bounds[i].lower[axis], bounds[i].upper[axis], i});
  std::sort(sweep_.begin(), sweep_.end(), [](const Swept& x, const Swept& y) { return x.from < y.from; });
  for (std::size_t u = 0; u < sweep_.size(); ++u) {
    const Swept& s = sweep_[u];
    const Aabb& box = bounds[s.number];
    for (std::size_t v = u + 1; v < sweep_.size() && sweep_[v].from <= s.to; ++v)
      if (box.overlaps(bounds[sweep_[v].number])) collect(s.number, sweep_[v].number);
  }
}

template <class Collect>
void BroadDirect::use_grids(std::span<const Aabb> bounds, Collect&& collect) {
  double largest = std::numeric_limits<double>::min();
  for (const Index i : bounded_) largest = std::max(largest, box_size(bounds[i]));
  for (auto& list : members_) list.clear();
  for (const Index i : bounded_) {
    const int halvings = -std::ilogb(std::max(box_size(bounds[i]), 1e-300) / largest);
    members_[std::clamp(halvings / 2, 0, levels - 1)].push_back(i);
  }
  for (int level = 0; level < levels; ++level) {
    if (members_[level].empty()) continue;
    grids_[level].build(bounds, members_[level]);
    grids_[level].pairs(collect);
    for (int coarse = 0; coarse < level; ++coarse) {
      if (members_[coarse].empty()) continue;
      for (const Index i : members_[level]) grids_[coarse].meets(bounds[i], [&](Index j) { collect(i, j); });
    }
  }
}

// Grouped by the first number by counting, by the second within the few of a group.
void BroadDirect::sort(BroadPairs& pairs, Index shapes) {
  starts_.assign(shapes + 1, 0);
  for (const auto& pair : pairs) ++starts_[pair.first + 1];
  for (Index i = 0; i < shapes; ++i) starts_[i + 1] += starts_[i];
  buffer_.resize(pairs.size());
  for (const auto& pair : pairs) buffer_[starts_[pair.first]++] = pair;
  std::swap(pairs, buffer_);
  Index begin = 0;
  for (Index i = 0; i < shapes; ++i) {
    const Index end = starts_[i];
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

void BroadDirect::find(std::span<const Aabb> bounds, std::span<const Index> group, BroadPairs& pairs) {
  pairs.clear();
  bounded_.clear();
  unbounded_.clear();
  const auto collect = [&](Index i, Index j) {
    if (!same_group(group, i, j)) pairs.emplace_back(std::min(i, j), std::max(i, j));
  };
  for (Index i = 0; i < static_cast<Index>(bounds.size()); ++i)
    (bounded_box(bounds[i]) ? bounded_ : unbounded_).push_back(i);
  for (std::size_t u = 0; u < unbounded_.size(); ++u) {
    for (std::size_t v = u + 1; v < unbounded_.size(); ++v) collect(unbounded_[u], unbounded_[v]);
    for (const Index i : bounded_) collect(unbounded_[u], i);
  }
  gridded_ = bounded_.size() >= few;
  if (gridded_)
    use_grids(bounds, collect);
  else
    sweep_and_prune(bounds, collect);
  sort(pairs, static_cast<Index>(bounds.size()));
}

}  // namespace tribo::detail
