#include "tribo/solve/sweeps/sweep_acceleration.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/problem/constraints.h"

namespace tribo {
namespace {

constexpr double kLongestGrowth = 1.3;  // of squared steps, before directions are forgotten
// y (or u), updated along with the impulses, loses digits where c1 + c2 > 1: it is recomputed from the impulses after so many
// sweeps, kPreviousSteps times in a row.
constexpr Index kRenewal = 24;
constexpr double kSingular = 1e-12;      // relative; steps that differ by less count as one
constexpr double kStepRounding = 1e-13;  // of a step relative to the impulses; below it is rounding
constexpr double kFar = 10.0;            // coefficients c above this: y (or u) is recomputed at once

// x: after the last sweep, before: before it.
void advance_along(double ratio, bool forget, Vector& direction, Vector& before, Vector& x) {
  for (Index k = 0; k < x.size(); ++k) {
    const double ahead = ratio * direction[k];
    direction[k] = forget ? 0.0 : ahead + (x[k] - before[k]);
    before[k] = x[k] += ahead;
  }
}

constexpr int kLanes = 8;
using Lanes = Eigen::Array<double, kLanes, 1>;

[[gnu::always_inline]] inline Lanes lanes(const double* x, Index left) {
  if (left >= kLanes) return Eigen::Map<const Lanes>(x);
  Lanes some = Lanes::Zero();
  for (Index k = 0; k < left; ++k) some[k] = x[k];
  return some;
}

double sum(const Lanes& x) { return ((x[0] + x[4]) + (x[1] + x[5])) + ((x[2] + x[6]) + (x[3] + x[7])); }

// The three previous steps at eight entries.
struct StepLanes {
  Lanes now, step[3];
  [[gnu::always_inline]] StepLanes(const Vector& x, const std::array<Vector, 3>& before, Index k)
      : now(lanes(x.data() + k, x.size() - k)) {
    Lanes from = now;
    for (int i = 0; i < 3; ++i) {
      const Lanes to = from;
      from = lanes(before[i].data() + k, x.size() - k);
      step[i] = to - from;
    }
  }
};

// x + D c, ...
void move(const Vec3& factors, const std::array<Vector, 3>& before, Vector& x) {
  const double c0 = factors[0], c1 = factors[1], c2 = factors[2];
  const double *x0 = before[0].data(), *x1 = before[1].data(), *x2 = before[2].data();
  double* to = x.data();
  for (Index k = 0; k < x.size(); ++k) {
    to[k] += c0 * (to[k] - x0[k]) + c1 * (x0[k] - x1[k]) + c2 * (x1[k] - x2[k]);
  }
}

// ... from which the next steps are measured.
void remember(const Vector& x, std::array<Vector, 3>& before) {
  std::rotate(before.begin(), before.end() - 1, before.end());
  before[0] = x;
}

}  // namespace

void SweepMomentum::reset() {
  fresh_ = true;
  last_ = ratio_ = 0.0;
}

void SweepMomentum::advance(SweepOperator& sweeps, Vector& impulse) {
  if (fresh_) {
    impulse_ = impulse;
    state_ = sweeps.state();
    direction_.setZero(impulse_.size());
    direction_state_.setZero(state_.size());
    return;
  }
  advance_along(ratio_, forget_, direction_, impulse_, impulse);
  advance_along(ratio_, forget_, direction_state_, state_, sweeps.state());
}

void SweepMomentum::learn(const SweepChange& change) {
  forget_ = !fresh_ && !(change.step <= kLongestGrowth * last_);
  ratio_ = fresh_ || forget_ || change.step == 0.0 ? 0.0 : change.step / last_;
  last_ = change.step;
  fresh_ = false;
}

// H and -g, in lanes.
struct SweepSubspace::Sums {
  Lanes products[kPreviousSteps * (kPreviousSteps + 1) / 2], slopes[kPreviousSteps];
  Lanes sizes[kPreviousSteps], whole;  // squares of the steps of y (or u), and of y (or u) itself

  Sums() {
    for (Lanes& sum : products) sum.setZero();
    for (Lanes& sum : slopes) sum.setZero();
    for (Lanes& sum : sizes) sum.setZero();
    whole.setZero();
  }
  [[gnu::always_inline]] void add_sizes(const StepLanes& x) {
    for (int i = 0; i < kPreviousSteps; ++i) sizes[i] += x.step[i] * x.step[i];
    whole += x.now * x.now;
  }
  [[gnu::always_inline]] void add_products(const Lanes* left, const Lanes* right) {
    for (int i = 0, at = 0; i < kPreviousSteps; ++i) {
      for (int j = 0; j <= i; ++j) products[at++] += left[i] * right[j];
    }
  }
  [[gnu::always_inline]] void add_slopes(const Lanes* step, const Lanes& slope) {
    for (int i = 0; i < kPreviousSteps; ++i) slopes[i] -= step[i] * slope;
  }
  // c, with the steps scaled to the same energy; zero for those that are rounding.
  Vec3 solve() const {
    Mat3 h;
    Vec3 g, scale;
    for (int i = 0, at = 0; i < kPreviousSteps; ++i) {
      g[i] = sum(slopes[i]);
      for (int j = 0; j <= i; ++j) h(i, j) = h(j, i) = sum(products[at++]);
      const bool rounding = !(sum(sizes[i]) > kStepRounding * kStepRounding * sum(whole));
      scale[i] = h(i, i) > 0.0 && !rounding ? 1.0 / std::sqrt(h(i, i)) : 0.0;
    }
    h = (scale.asDiagonal() * h * scale.asDiagonal()).eval();
    h.diagonal().setConstant(1.0 + kSingular);
    return scale.cwiseProduct(h.ldlt().solve(scale.cwiseProduct(g)));
  }
};

void SweepSubspace::setup(const ContactProblem& problem) {
  problem_ = &problem;
  known_ = false;
  owner_.resize(problem.row_count());
  lower_.setZero(problem.row_count());
  upper_.setZero(problem.row_count());
  for_each_constraint(
      problem,
      [&](auto cone) {
        std::fill_n(owner_.begin() + cone.row, cone.kRows, cone.index);
        cone.normal(upper_) = Interval::kInfinity;
      },
      [&](IntervalConstraint row) {
        owner_[row.row] = row.index;
        lower_[row.row] = row.set.lower;
        upper_[row.row] = row.set.upper;
      });
  one_sided_ = lower_.isZero(0.0) && (upper_.array() == std::numeric_limits<double>::infinity()).all();
}

void SweepSubspace::begin(const Vector& impulse, const Vector& image) {
  impulse_.fill(impulse);
  image_.fill(image);
  known_ = true;
  advanced_ = 0;
}

// With A = L L^T: D^T W D = (Y D)^T (Y D) of what D makes in y, and D^T u = (Y D)^T y + D^T b.
void SweepSubspace::add_energy(const Vector& impulse, const Vector& image, Sums& sums) const {
  const bool rigid = problem_->is_rigid();
  const Vector& slope = rows_ ? image : problem_->bias();
  for (Index k = 0; !rows_ && k < image.size(); k += kLanes) {
    const StepLanes y(image, image_, k);
    sums.add_products(y.step, y.step);
    sums.add_slopes(y.step, y.now);
    sums.add_sizes(y);
  }
  for (Index k = 0; k < impulse.size(); k += kLanes) {
    const StepLanes x(impulse, impulse_, k);
    Lanes s = lanes(slope.data() + k, impulse.size() - k);
    if (rows_) {
      const StepLanes u(image, image_, k);
      sums.add_products(x.step, u.step);
      sums.add_sizes(u);
    }
    if (!rigid) {
      const Lanes compliance = lanes(problem_->compliance().data() + k, impulse.size() - k);
      const Lanes resisted[kPreviousSteps] = {compliance * x.step[0], compliance * x.step[1],
                                              compliance * x.step[2]};
      sums.add_products(x.step, resisted);
      s += compliance * x.now;
    }
    sums.add_slopes(x.step, s);
  }
}

bool SweepSubspace::is_outside(const Vector& impulse, Index begin, Index end) const {
  bool outside = false;
  if (one_sided_) {  // half the memory to read
    for (Index r = begin; r < end; ++r) outside |= impulse[r] < 0.0;
  } else {
    for (Index r = begin; r < end; ++r) outside |= (impulse[r] < lower_[r]) | (impulse[r] > upper_[r]);
  }
  return outside;
}

void SweepSubspace::project(SweepOperator& sweeps, Vector& impulse) const {
  for (Index k = 0; k < impulse.size(); k += kLanes) {
    const Index end = std::min<Index>(k + kLanes, static_cast<Index>(impulse.size()));
    if (!is_outside(impulse, k, end)) continue;
    for (Index r = k; r < end; ++r) {
      const double inside = std::min(std::max(impulse[r], lower_[r]), upper_[r]);
      if (inside == impulse[r]) continue;
      Vec3 step = Vec3::Zero();
      step[r - problem_->row(owner_[r])] = inside - impulse[r];
      sweeps.push(owner_[r], step);
      impulse[r] = inside;
    }
  }
}

void SweepSubspace::advance(SweepOperator& sweeps, Vector& impulse) {
  rows_ = sweeps.mode() == SweepOperator::Mode::rows;
  if (rows_) sweeps.find_velocity(impulse, velocity_);
  const Vector& image = rows_ ? velocity_ : sweeps.state();
  if (!known_) return begin(impulse, image);
  Sums sums;
  add_energy(impulse, image, sums);
  const Vec3 factors = sums.solve();
  if (!factors.allFinite()) {
    sweeps.renew_state(impulse);
    return begin(impulse, image);
  }
  move(factors, impulse_, impulse);
  if (!rows_) move(factors, image_, sweeps.state());
  project(sweeps, impulse);
  if (rows_) {
    sweeps.find_velocity(impulse, velocity_);
  } else if (advanced_++ % kRenewal < kPreviousSteps || factors.cwiseAbs().maxCoeff() > kFar) {
    sweeps.renew_state(impulse);
  }
  remember(impulse, impulse_);
  remember(image, image_);
}

}  // namespace tribo
