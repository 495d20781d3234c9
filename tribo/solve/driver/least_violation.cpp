#include "tribo/solve/driver/least_violation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tribo/linalg/whitened_jacobian.h"
#include "tribo/math/rtsafe.h"
#include "tribo/problem/constraints.h"

namespace tribo {
namespace {

// Proximal weight over the curvature of one violated constraint. The smaller, the fewer proximal steps; Cholesky keeps
// half of its digits in H, and residuals are taken afresh in every Newton step.
constexpr double kDelta = 1e-8;
constexpr Index kProximalSteps = 5;
constexpr Index kNewtonSteps = 40;  // per proximal step; the pieces of the function are finite in number
// Newton decrement left, relative to the violation: refine() takes it from there.
constexpr double kDecrement = 1e-10;
// Violation, relative to the velocities of the free motion and the biases, below which the demands count as met:
// contradictions as small as that are lost in a solution's tolerance, and may be rounding of the biases.
constexpr double kMet = 1e-10;
constexpr int kRefinements = 3;
// A lever whose mobility is below this share of the constraint's is rounding (1e-16 squared is 1e-32) and says nothing
// about masses.
constexpr double kLever = 1e-20;
constexpr int kBalancings = 10;  // sweeps; masses are balanced along chains of about as many bodies
// |y_i| sqrt(w_i) below this share of the largest is left out of the ray where it is a proof without: what the
// proximal term leaves of constraints that are met.
constexpr double kPruned = 1e-9;
constexpr double kLongestStep = 1024.0;

}  // namespace

std::optional<Contradiction> LeastViolation::prove(const ContactProblem& problem, Law law, double most_flops,
                                                   const std::function<bool()>* interrupt) {
  factorizations_ = 0;
  for (Vector* x : {&gradient_, &direction_, &weighted_}) x->resize(problem.dof_count());
  for (Vector* x : {&u_, &change_, &ray_}) x->resize(problem.row_count());
  ray_.setZero();
  weigh(problem);
  kernel_.analyze(weight_, problem.jacobian());
  too_expensive_ = kernel_.cholesky().factor_flops() > most_flops;
  if (too_expensive_) return std::nullopt;
  potential_.prepare_demands(problem, law, row_weight_);
  center_ = problem.momentum();
  problem.mass_factor().solve_in_place(center_);
  place(problem, center_);
  find_parts(problem);
  kernel_.set_interrupt(interrupt);
  std::optional<Contradiction> proof;
  for (Index step = 0; step < kProximalSteps && !proof; ++step) {
    if (!minimize(problem, interrupt) || is_met(problem)) break;
    proof = judge(problem, law);
    center_ = v_;
  }
  kernel_.set_interrupt(nullptr);
  return proof;
}

Eigen::Map<Matrix> LeastViolation::scratch(Index rows, Index cols) {
  const auto size = static_cast<std::size_t>(rows) * cols;
  if (scratch_.size() < size) scratch_.resize(size);
  return {scratch_.data(), rows, cols};
}

// log J_it A_t^-1 J_it^T = log s_t + log w_i as nearly as possible, by turns; then B and w_i.
void LeastViolation::weigh(const ContactProblem& problem) {
  const BlockJacobian& jacobian = problem.jacobian();
  const double nothing = -std::numeric_limits<double>::infinity();
  mobility_.assign(jacobian.piece_count(), nothing);
  row_weight_.assign(problem.constraint_count(), 0.0);
  tree_weight_.assign(problem.tree_count(), 0.0);
  const auto each_piece = [&](Index i, const auto& act) {
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      if (mobility_[p] > nothing) act(p, jacobian.piece_tree(p));
    }
  };
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      Eigen::Map<Matrix> columns = scratch(jacobian.piece_cols(p), problem.rows(i));
      whiten_piece(problem.mass_factor(), jacobian, i, p, columns.data(), columns.rows());
      const double mobility = columns.squaredNorm() / static_cast<double>(problem.rows(i));
      if (mobility > kLever * problem.scale(i)) mobility_[p] = std::log(mobility);
    }
  }
  for (int k = 0; k < kBalancings; ++k) {
    sum_.assign(problem.tree_count(), 0.0);
    count_.assign(problem.tree_count(), 0);
    for (Index i = 0; i < problem.constraint_count(); ++i) {
      double sum = 0.0;
      Index count = 0;
      each_piece(i, [&](Index p, Index t) {
        sum += mobility_[p] - tree_weight_[t];
        ++count;
      });
      row_weight_[i] = count > 0 ? sum / static_cast<double>(count) : 0.0;
      each_piece(i, [&](Index p, Index t) {
        sum_[t] += mobility_[p] - row_weight_[i];
        ++count_[t];
      });
    }
    for (Index t = 0; t < problem.tree_count(); ++t) {
      if (count_[t] > 0) tree_weight_[t] = sum_[t] / static_cast<double>(count_[t]);
    }
  }
  weight_.clear();
  for (Index t = 0; t < problem.tree_count(); ++t) {
    Eigen::Map<Matrix> block = scratch(problem.mass().block_size(t), problem.mass().block_size(t));
    block = std::exp(tree_weight_[t]) * problem.mass().block(t);
    weight_.add_block(block);
  }
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    double w = 0.0;
    each_piece(i, [&](Index p, Index t) { w += std::exp(mobility_[p] - tree_weight_[t]); });
    row_weight_[i] = kDelta * (w > 0.0 ? w : problem.scale(i));
  }
}

void LeastViolation::place(const ContactProblem& problem, const Vector& v) {
  v_ = v;
  problem.jacobian().multiply(v_, u_);
  u_ += problem.bias();
}

// One proximal step, all terms over delta: 1/2 |v - c|_B^2 + sum viol^2 / (2 delta w).
bool LeastViolation::minimize(const ContactProblem& problem, const std::function<bool()>* interrupt) {
  for (Index k = 0; k < kNewtonSteps; ++k) {
    if (interrupt != nullptr && (*interrupt)()) return false;
    potential_.evaluate(u_, ray_, derivative_);
    direction_ = v_ - center_;
    weight_.multiply(direction_, gradient_);
    weighted_.setZero();
    problem.jacobian().add_transpose_product(ray_, weighted_);
    gradient_ -= weighted_;
    if (!kernel_.factorize(weight_, problem.jacobian(), derivative_)) return false;
    ++factorizations_;
    direction_ = -gradient_;
    kernel_.solve_in_place(direction_);
    const double slope = direction_.dot(gradient_);
    if (!(slope < 0.0) || has_converged(problem)) return true;
    problem.jacobian().multiply(direction_, change_);
    weight_.multiply(direction_, weighted_);
    quadratic_ = direction_.dot(weighted_);
    linear_ = weighted_.dot(v_ - center_);
    const double length = step_length(slope);
    if (!(length > 0.0) || !std::isfinite(length)) return true;
    v_ += length * direction_;
    // Afresh: what is violated by little beside large velocities would be lost in sums of changes.
    problem.jacobian().multiply(v_, u_);
    u_ += problem.bias();
  }
  return true;
}

// The root of the derivative along the direction, which grows at least like quadratic_.
double LeastViolation::step_length(double slope) const {
  const auto derivative = [&](double alpha) -> ValueAndDerivative {
    const ValueAndDerivative phi = potential_.along(u_, change_, alpha);
    return {linear_ + alpha * quadratic_ + phi.value, quadratic_ + phi.derivative};
  };
  return step_to_root(derivative, slope, 1e-8 * std::abs(slope), kLongestStep);
}

Index LeastViolation::part_of(Index tree) {
  while (part_[tree] != tree) {
    part_[tree] = part_[part_[tree]];
    tree = part_[tree];
  }
  return tree;
}

// The parts and the sizes of their velocities. Of what nothing can move they count where it is violated, as it will stay.
void LeastViolation::find_parts(const ContactProblem& problem) {
  const BlockJacobian& jacobian = problem.jacobian();
  part_.resize(problem.tree_count());
  std::iota(part_.begin(), part_.end(), 0);
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    for (Index p = jacobian.piece_begin(i) + 1; p < jacobian.piece_end(i); ++p) {
      const Index a = part_of(jacobian.piece_tree(p - 1)), b = part_of(jacobian.piece_tree(p));
      part_[std::max(a, b)] = std::min(a, b);
    }
  }
  potential_.impulse(u_, ray_);
  size_.assign(problem.tree_count(), 0.0);
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Index row = problem.row(i), n = problem.rows(i), first = jacobian.piece_begin(i);
    if (first == jacobian.piece_end(i)) continue;
    if (problem.is_idle(i) && ray_.segment(row, n).isZero(0.0)) continue;
    const double speed = std::max(u_.segment(row, n).lpNorm<Eigen::Infinity>(),
                                  problem.bias().segment(row, n).lpNorm<Eigen::Infinity>());
    double& size = size_[part_of(jacobian.piece_tree(first))];
    size = std::max(size, speed * std::sqrt(kDelta / row_weight_[i]));
  }
}

// Whether the Newton decrement, of direction_ and gradient_, is small in every part.
bool LeastViolation::has_converged(const ContactProblem& problem) {
  found_.assign(problem.tree_count(), 0.0);
  for (Index t = 0; t < problem.tree_count(); ++t) {
    const Index at = problem.mass().block_start(t), n = problem.mass().block_size(t);
    found_[part_of(t)] -= direction_.segment(at, n).dot(gradient_.segment(at, n));
  }
  for (Index t = 0; t < problem.tree_count(); ++t) {
    if (found_[t] > 0.0 && !(std::sqrt(found_[t] * kDelta) <= kDecrement * size_[t])) return false;
  }
  return true;
}

// The ray y = viol / w at the iterate, without the parts where sqrt(sum viol^2 / w) is small: what the proximal term leaves
// there proves nothing and may be large in its units. True if nothing is left.
bool LeastViolation::is_met(const ContactProblem& problem) {
  const BlockJacobian& jacobian = problem.jacobian();
  potential_.impulse(u_, ray_);
  ray_ *= kDelta;
  found_.assign(problem.tree_count(), 0.0);
  const auto touches = [&](Index i) { return jacobian.piece_begin(i) < jacobian.piece_end(i); };
  const auto part = [&](Index i) { return part_of(jacobian.piece_tree(jacobian.piece_begin(i))); };
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (!touches(i)) continue;
    const double norm = ray_.segment(problem.row(i), problem.rows(i)).norm();
    found_[part(i)] += row_weight_[i] / kDelta * norm * norm;
  }
  bool met = true;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    auto y = ray_.segment(problem.row(i), problem.rows(i));
    if (touches(i) && std::sqrt(found_[part(i)]) <= kMet * size_[part(i)]) y.setZero();
    met = met && y.isZero(0.0);
  }
  return met;
}

std::optional<Contradiction> LeastViolation::judge(const ContactProblem& problem, Law law) {
  for (int k = 0; k < kRefinements; ++k) refine(problem, law);
  std::optional<Contradiction> proof = check_.prove(problem, ray_, law);
  if (!proof) return proof;
  pruned_ = ray_;
  const auto size = [&](Index i) {
    return ray_.segment(problem.row(i), problem.rows(i)).norm() * std::sqrt(row_weight_[i]);
  };
  double largest = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) largest = std::max(largest, size(i));
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (size(i) < kPruned * largest) pruned_.segment(problem.row(i), problem.rows(i)).setZero();
  }
  std::optional<Contradiction> shorter = check_.prove(problem, pruned_, law);
  return shorter ? std::move(shorter) : std::move(proof);
}

// y -= D J H^-1 J^T y on what is violated; what leaves its cone is put back on it.
void LeastViolation::refine(const ContactProblem& problem, Law law) {
  check_.transpose_product(problem, ray_, direction_);
  kernel_.solve_in_place(direction_);
  problem.jacobian().multiply(direction_, change_);
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Index row = problem.row(i), n = problem.rows(i);
    auto y = ray_.segment(row, n);
    if (y.isZero(0.0)) continue;
    const auto d = derivative_.block(i, n);
    switch (demand_of(problem, i, law)) {
      case Demand::none:
        break;
      case Demand::at_least_zero:
        y[n - 1] = std::max(0.0, y[n - 1] - d(n - 1, n - 1) * change_[row + n - 1]);
        break;
      case Demand::at_most_zero:
        y[0] = std::min(0.0, y[0] - d(0, 0) * change_[row]);
        break;
      case Demand::zero:
        y[0] -= d(0, 0) * change_[row];
        break;
      case Demand::dual_cone: {
        y -= d.lazyProduct(change_.segment(row, n));
        y[n - 1] = std::max(0.0, y[n - 1]);
        const double limit = problem.friction(i) * y[n - 1], tangent = y.head(n - 1).norm();
        if (tangent > limit) y.head(n - 1) *= limit / tangent;
        break;
      }
    }
  }
}

}  // namespace tribo
