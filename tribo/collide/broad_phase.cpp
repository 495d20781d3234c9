// Most boxes move little from one call to the next, and much as they did before. So candidates are found for boxes with a
// skin around them, longer to where they are going, and as long as a box stays within its skin, its pairs are among its
// candidates: a call only looks at the candidates, which are already in order. The few boxes that left their skin ask the
// grids anew; if they become many, everything is found again. Neither skin nor history changes the result.
#include "tribo/collide/broad_phase.h"

#include <algorithm>

#include "tribo/collide/broad/broad_direct.h"

namespace tribo {

namespace {

constexpr double thinnest = 0.01, thickest = 0.15;  // skin, in sizes of the box
constexpr int short_life = 3, long_life = 25;       // calls between two searches
constexpr int direct_calls = 10;                    // without skin, when it does not pay
constexpr double calls_ahead = 12.0;  // that the motion since the last search is believed to go on, ...
constexpr double farthest = 1.0;      // ... at most by this, in sizes of the box

bool within(const Aabb& inner, const Aabb& outer) {
  return (static_cast<int>(outer.lower[0] <= inner.lower[0]) &
          static_cast<int>(inner.upper[0] <= outer.upper[0]) &
          static_cast<int>(outer.lower[1] <= inner.lower[1]) &
          static_cast<int>(inner.upper[1] <= outer.upper[1]) &
          static_cast<int>(outer.lower[2] <= inner.lower[2]) &
          static_cast<int>(inner.upper[2] <= outer.upper[2])) != 0;
}

int overlap(const Aabb& x, const Aabb& y) {
  return static_cast<int>(x.lower[0] <= y.upper[0]) & static_cast<int>(y.lower[0] <= x.upper[0]) &
         static_cast<int>(x.lower[1] <= y.upper[1]) & static_cast<int>(y.lower[1] <= x.upper[1]) &
         static_cast<int>(x.lower[2] <= y.upper[2]) & static_cast<int>(y.lower[2] <= x.upper[2]);
}

}  // namespace

struct BroadPhase::Scratch {
  detail::BroadDirect direct;
  Filter may_meet;
  std::vector<Aabb> skins;
  std::vector<Vec3> centers;  // at the last search
  std::vector<Index> group;
  detail::BroadPairs candidates, strays, merged;
  std::vector<Index> left;  // boxes outside their skin
  std::vector<char> has_left;
  double skin = 0.03;
  int life = 0, direct_left = 0;
  bool known = false;
  bool foresaw = false;  // skins of the last search follow the motion

  void set_skins(std::span<const Aabb> bounds);
  void refuse(detail::BroadPairs& pairs) const;
  bool still_good(std::span<const Aabb> bounds, std::span<const Index> new_group);
  void search(std::span<const Aabb> bounds, std::span<const Index> new_group);
  void filter(std::span<const Aabb> bounds, detail::BroadPairs& pairs) const;
  void add_strays(std::span<const Aabb> bounds, detail::BroadPairs& pairs);
};

// Finds the boxes that left their skin; false: too many, or not the boxes of the last search.
bool BroadPhase::Scratch::still_good(std::span<const Aabb> bounds, std::span<const Index> new_group) {
  if (!known || skins.size() != bounds.size() || !std::equal(group.begin(), group.end(), new_group.begin()))
    return false;
  for (const Index i : left) has_left[i] = 0;
  left.clear();
  const std::size_t most = 8 + bounds.size() / 100;
  for (Index i = 0; i < static_cast<Index>(bounds.size()); ++i) {
    if (within(bounds[i], skins[i])) continue;
    if (left.size() == most || !detail::bounded_box(bounds[i]) || !detail::bounded_box(skins[i]))
      return false;
    left.push_back(i);
    has_left[i] = 1;
  }
  return true;
}

// Where there was a search before, every box has a mean velocity since.
void BroadPhase::Scratch::set_skins(std::span<const Aabb> bounds) {
  foresaw = known && centers.size() == bounds.size();
  skins.resize(bounds.size());
  centers.resize(bounds.size(), Vec3::Zero());
  const double calls = calls_ahead / (life + 1.0);
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    skins[i] = bounds[i];
    if (!detail::bounded_box(bounds[i])) {
      centers[i].setZero();
      continue;
    }
    const double size = detail::box_size(bounds[i]);
    const Vec3 center = 0.5 * (bounds[i].lower + bounds[i].upper);
    Vec3 motion = Vec3::Zero();
    if (foresaw)
      motion = (calls * (center - centers[i])).cwiseMax(-farthest * size).cwiseMin(farthest * size);
    skins[i].lower += motion.cwiseMin(0.0) - Vec3::Constant(skin * size);
    skins[i].upper += motion.cwiseMax(0.0) + Vec3::Constant(skin * size);
    centers[i] = center;
  }
}

void BroadPhase::Scratch::refuse(detail::BroadPairs& pairs) const {
  if (may_meet) std::erase_if(pairs, [this](const auto& pair) { return !may_meet(pair.first, pair.second); });
}

void BroadPhase::Scratch::search(std::span<const Aabb> bounds, std::span<const Index> new_group) {
  if (known && life < short_life) skin = std::min(2.0 * skin, thickest);
  if (known && life > long_life) skin = std::max(0.7 * skin, thinnest);
  // Even the thickest skin does not hold: everything flies, and not straight on.
  if (known && foresaw && life < short_life && skin == thickest) direct_left = direct_calls;
  set_skins(bounds);
  group.assign(new_group.begin(), new_group.end());
  left.clear();
  has_left.assign(bounds.size(), 0);
  direct.find(skins, group, candidates);
  refuse(candidates);
  known = true;
  life = 0;
}

void BroadPhase::Scratch::filter(std::span<const Aabb> bounds, detail::BroadPairs& pairs) const {
  pairs.resize(candidates.size());
  std::size_t count = 0;
  if (left.empty()) {
    for (const auto& pair : candidates) {
      pairs[count] = pair;
      count += static_cast<std::size_t>(overlap(bounds[pair.first], bounds[pair.second]));
    }
  } else {
    for (const auto& pair : candidates) {
      pairs[count] = pair;
      const bool stays = (has_left[pair.first] | has_left[pair.second]) == 0;
      count += static_cast<std::size_t>(stays && overlap(bounds[pair.first], bounds[pair.second]) != 0);
    }
  }
  pairs.resize(count);
}

void BroadPhase::Scratch::add_strays(std::span<const Aabb> bounds, detail::BroadPairs& pairs) {
  strays.clear();
  const auto add = [&](Index i, Index j) {
    const auto [first, second] = std::minmax(i, j);
    if (!detail::same_group(group, i, j) && overlap(bounds[i], bounds[j]) != 0 &&
        (!may_meet || may_meet(first, second))) {
      strays.emplace_back(first, second);
    }
  };
  for (std::size_t k = 0; k < left.size(); ++k) {
    const Index i = left[k];
    direct.meets(bounds[i], skins, [&](Index j) {
      if (has_left[j] == 0) add(i, j);
    });
    for (std::size_t other = k + 1; other < left.size(); ++other) add(i, left[other]);
  }
  std::sort(strays.begin(), strays.end());
  merged.resize(pairs.size() + strays.size());
  std::merge(pairs.begin(), pairs.end(), strays.begin(), strays.end(), merged.begin());
  std::swap(pairs, merged);
}

BroadPhase::BroadPhase() : scratch_(std::make_unique<Scratch>()) {}
BroadPhase::~BroadPhase() = default;
BroadPhase::BroadPhase(BroadPhase&&) noexcept = default;
BroadPhase& BroadPhase::operator=(BroadPhase&&) noexcept = default;

void BroadPhase::set_filter(Filter may_meet) {
  scratch_->may_meet = std::move(may_meet);
  scratch_->known = false;
}

void BroadPhase::find(std::span<const Aabb> bounds, std::span<const Index> group,
                      std::vector<std::pair<Index, Index>>& pairs) {
  Scratch& s = *scratch_;
  if (s.direct_left > 0) {
    --s.direct_left;
    s.known = false;
    s.direct.find(bounds, group, pairs);
    s.refuse(pairs);
    return;
  }
  if (s.still_good(bounds, group))
    ++s.life;
  else
    s.search(bounds, group);
  s.filter(bounds, pairs);
  if (!s.left.empty()) s.add_strays(bounds, pairs);
}

}  // namespace tribo
