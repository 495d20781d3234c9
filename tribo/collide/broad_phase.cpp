// Sweep and prune: boxes sorted along the axis on which they spread most, so that each is compared only with those
// that begin before it ends. The order of the last call is almost right for the next one.
#include "tribo/collide/broad_phase.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tribo {

struct BroadPhase::Scratch {
  std::vector<Index> order, unbounded;
  std::vector<double> key;
};

BroadPhase::BroadPhase() : scratch_(std::make_unique<Scratch>()) {}
BroadPhase::~BroadPhase() = default;
BroadPhase::BroadPhase(BroadPhase&&) noexcept = default;
BroadPhase& BroadPhase::operator=(BroadPhase&&) noexcept = default;

void BroadPhase::find(std::span<const Aabb> bounds, std::span<const Index> group,
                      std::vector<std::pair<Index, Index>>& pairs) {
  pairs.clear();
  Scratch& s = *scratch_;
  const auto add = [&](Index i, Index j) {
    if (group[i] >= 0 && group[i] == group[j]) return;
    pairs.emplace_back(std::min(i, j), std::max(i, j));
  };
  s.order.clear();
  s.unbounded.clear();
  for (Index i = 0; i < static_cast<Index>(bounds.size()); ++i)
    (std::isfinite(bounds[i].upper.sum() - bounds[i].lower.sum()) ? s.order : s.unbounded).push_back(i);
  for (std::size_t u = 0; u < s.unbounded.size(); ++u) {
    for (std::size_t v = u + 1; v < s.unbounded.size(); ++v) add(s.unbounded[u], s.unbounded[v]);
    for (const Index i : s.order) add(s.unbounded[u], i);
  }
  std::sort(s.order.begin(), s.order.end(), [&](Index i, Index j) {
    return bounds[i].lower.x() < bounds[j].lower.x() || (bounds[i].lower.x() == bounds[j].lower.x() && i < j);
  });
  for (std::size_t u = 0; u < s.order.size(); ++u) {
    const Aabb& box = bounds[s.order[u]];
    for (std::size_t v = u + 1; v < s.order.size() && bounds[s.order[v]].lower.x() <= box.upper.x(); ++v)
      if (box.overlaps(bounds[s.order[v]])) add(s.order[u], s.order[v]);
  }
  std::sort(pairs.begin(), pairs.end());
}

}  // namespace tribo
