#include "tribo/solve/sweeps/sweep_loop.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tribo {
namespace {

constexpr Index kStillPeriod = 4;     // accelerated sweeps between two looks at who rests
constexpr double kStillStep = 4e-16;  // relative step of a sweep that changed nothing but the last digits

}  // namespace

void SweepOrder::reset(Index count, std::uint64_t seed) {
  order_.resize(count);
  for (Index i = 0; i < count; ++i) order_[i] = i;
  state_ = seed;
}

// Fisher-Yates on splitmix64: the same permutations on every machine.
void SweepOrder::shuffle() {
  for (std::size_t i = order_.size(); i > 1; --i) {
    state_ += 0x9e3779b97f4a7c15ull;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    std::swap(order_[i - 1], order_[z % i]);
  }
}

void SweepOrder::reverse() { std::reverse(order_.begin(), order_.end()); }

void SweepRest::reset(Index count, Index longest, bool only_still) {
  longest_ = only_still ? std::max<Index>(longest / kStillPeriod, std::min<Index>(longest, 1)) : longest;
  only_still_ = only_still;
  sweep_ = 0;
  period_ = only_still ? kStillPeriod : 1;
  resting_ = 0;
  if (longest_ == 0) return;
  rest_.assign(count, 0);
  quiet_.assign(count, 0);
  steps_.assign(count, 0.0);
  awake_.reserve(count);
}

std::span<const Index> SweepRest::find_awake(std::span<const Index> order) {
  if (resting_ == 0) return order;
  awake_.resize(order.size());
  resting_ = 0;
  std::size_t awake = 0;
  for (const Index i : order) {  // without branches: who rests is hard to predict
    const std::uint16_t left = rest_[i];
    awake_[awake] = i;
    awake += left == 0 ? 1 : 0;
    rest_[i] = left - (left > 0 ? 1 : 0);
    resting_ += left > 1 ? 1 : 0;
  }
  return {awake_.data(), awake};
}

void SweepRest::update(std::span<const Index> awake, const SweepChange& change) {
  // Nothing moves among those awake: only a complete sweep can tell whether that is the end.
  if (change.step <= kStillStep * kStillStep * change.impulse) {
    std::fill(rest_.begin(), rest_.end(), 0);
    resting_ = 0;
    return;
  }
  const double small = only_still_ ? 0.0 : 1e-4 * change.step / static_cast<double>(awake.size());
  for (const Index i : awake) {
    if (steps_[i] > small) {
      quiet_[i] = 0;
    } else if (++quiet_[i] >= 3) {
      rest_[i] = static_cast<std::uint16_t>(std::min<Index>(longest_, quiet_[i] - 2));
      quiet_[i] = rest_[i] + 2;  // no more than the longest rest needs
      ++resting_;
    }
  }
}

SweepWatch::SweepWatch(const ContactProblem& problem, double tolerance) : tolerance_(tolerance) {
  // Natural size of the impulses: what stops each constraint alone, and all the momentum there is (a heavy
  // body that rests on light ones shows only there). In Delassus form the momentum is unknown, hence the
  // larger factor.
  double natural = problem.momentum().squaredNorm();
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    natural += problem.free_velocity().segment(problem.row(i), problem.rows(i)).squaredNorm() /
               (problem.scale(i) * problem.scale(i));
  }
  const double factor =
      (problem.has_delassus() ? 1e4 : 10.0) * std::max<Index>(problem.constraint_count(), 1);
  huge_ = natural * factor * factor;
}

bool SweepWatch::due(Index sweep, const SweepChange& change) {
  step_ = change.impulse > 0.0 ? std::sqrt(change.step / change.impulse) : 0.0;
  still_ = step_ > kStillStep ? 0 : still_ + (change.complete ? 1 : 0);
  if (sweep == mark_) {
    // Growth in proportion to the sweeps: impulses doubled, steps as long as before (squares: factors 4 and
    // 1).
    const bool linear = change.impulse > huge_ && change.impulse >= 3.6 * marked_.impulse &&
                        change.step >= 0.8 * marked_.step && marked_.impulse > 0.0;
    doublings_ = linear ? doublings_ + 1 : 0;
    marked_ = change;
    mark_ *= 2;
  }
  return sweep >= next_ || ratio_ * step_ <= tolerance_ || stuck() || diverging();
}

void SweepWatch::learn(Index sweep, double error) {
  next_ = sweep + 1 + std::min(sweep / 2, 6 + sweep / 12);
  if (step_ > 0.0) ratio_ = error / step_;
  if (error < 0.9 * best_) {
    best_ = error;
    best_at_ = sweep;
  }
}

bool SweepWatch::cycling(Index sweep, const SweepChange& change, const Vector& impulse, Vector& past) {
  constexpr Index kLength = 50;
  if (circle_from_ == 0) {
    if (sweep <= 2 * best_at_ + 500) return false;
    circle_from_ = sweep;
    travelled_ = 0.0;
    past = impulse;
    return false;
  }
  travelled_ += std::sqrt(change.step);
  if (sweep < circle_from_ + kLength) return false;
  circle_from_ = 0;
  best_at_ = sweep / 2;  // the next test after as many sweeps again
  return (impulse - past).norm() < 0.2 * travelled_;
}

}  // namespace tribo
