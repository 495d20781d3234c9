#include "tribo/problem/infeasibility.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/problem/local_conditions.h"

namespace tribo {
namespace {

using detail::largest_entry;

constexpr long double kRoundoff = std::numeric_limits<long double>::epsilon();
// A constraint is named where |y_i| sqrt(w_i) is at least this share of the largest: below it is rounding of the
// ray, not a reason.
constexpr double kNamed = 1e-6;
// |y_t| may exceed mu y_n by this, relative: rounding of the projection that made it.
constexpr double kConeRounding = 1e-12;

// Of a sum of at most all rows' products in long double, each of them rounded, whose sizes add up to `size`; twice
// the classical bound.
double rounding_of(const ContactProblem& problem, long double size) {
  return static_cast<double>(2.0L * kRoundoff * (problem.row_count() + 1) * size);
}

// Entry of the normal and |tangent| of a contact; of a scalar row its entry and 0.
struct Parts {
  double normal, tangent;
};
Parts normal_and_tangent(const ContactProblem& problem, Index i, const Vector& x) {
  return visit_constraint(
      problem, i,
      [&](auto cone) {
        const auto part = cone.get(x);
        return Parts{part[cone.kNormal], detail::tangent_norm(part)};
      },
      [&](IntervalConstraint row) {
        return Parts{x[row.row], 0.0};
      });
}

// Whether the entries of constraint i lie in the dual cone of its demand.
bool is_admissible(const ContactProblem& problem, Index i, const Vector& ray, Law law) {
  const auto [y, tangent] = normal_and_tangent(problem, i, ray);
  switch (demand_of(problem, i, law)) {
    case Demand::none:
      return y == 0.0 && tangent == 0.0;
    case Demand::at_least_zero:
      return y >= 0.0 && tangent == 0.0;
    case Demand::at_most_zero:
      return y <= 0.0;
    case Demand::zero:
      return true;
    case Demand::dual_cone:
      return y >= 0.0 && tangent <= (1.0 + kConeRounding) * problem.friction(i) * y;
  }
  return false;
}

}  // namespace

Demand demand_of(const ContactProblem& problem, Index i, Law law) {
  return visit_constraint(
      problem, i,
      [&](auto cone) {
        const auto compliance = cone.get(problem.compliance());
        if (compliance[cone.kNormal] > 0.0) return Demand::none;
        const bool rigid = compliance.isZero(0.0);
        return law == Law::convex && rigid && cone.friction > 0.0 ? Demand::dual_cone : Demand::at_least_zero;
      },
      [&](IntervalConstraint row) {
        if (problem.compliance()[row.row] > 0.0 || row.set.is_bounded()) return Demand::none;
        if (row.set.is_free()) return Demand::zero;
        return row.set.has_lower() ? Demand::at_least_zero : Demand::at_most_zero;
      });
}

namespace {

// How far constraint i is from what is demanded of it at the velocities u [rows], m/s; <= 0: not at all.
double violation_of(const ContactProblem& problem, Index i, const Vector& velocity, Law law) {
  const double normal = velocity[problem.row(i) + problem.rows(i) - 1];  // of a scalar row: the row
  switch (demand_of(problem, i, law)) {
    case Demand::none:
      return 0.0;
    case Demand::at_least_zero:
      return -normal;
    case Demand::at_most_zero:
      return normal;
    case Demand::zero:
      return std::abs(normal);
    case Demand::dual_cone:
      return problem.friction(i) * normal_and_tangent(problem, i, velocity).tangent - normal;
  }
  return 0.0;
}

}  // namespace

double relative_violation(const ContactProblem& problem, const Vector& velocity, Law law) {
  double largest = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const double violation = violation_of(problem, i, velocity, law);
    if (violation > 0.0)
      largest = std::max(largest, violation / largest_entry(problem, i, problem.free_velocity()));
  }
  return largest;
}

bool rest_meets_demands(const ContactProblem& problem, Law law) {
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (violation_of(problem, i, problem.bias(), law) > 0.0) return false;
  }
  return true;
}

// J^T y, or W^T y for problems given by W.
void ContradictionCheck::sum_columns(const ContactProblem& problem, const Vector& ray) {
  const bool rows = problem.has_delassus();
  const auto n = static_cast<std::size_t>(rows ? problem.row_count() : problem.dof_count());
  sum_.assign(n, 0.0L);
  size_.assign(n, 0.0L);
  const auto add = [&](Index at, double entry, double y) {
    const long double term = static_cast<long double>(entry) * y;
    sum_[at] += term;
    size_[at] += std::abs(term);
  };
  const BlockJacobian& jacobian = problem.jacobian();
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (largest_entry(problem, i, ray) == 0.0) continue;
    const Index row = problem.row(i);
    if (rows) {
      const BlockMatrix& w = problem.delassus();
      for (Index k = w.row_begin(i); k < w.row_end(i); ++k) {
        const BlockMatrix::Block block = w.block(i, k);
        const Index at = w.start(w.column(k));
        for (Index c = 0; c < block.cols(); ++c) {
          for (Index r = 0; r < block.rows(); ++r) add(at + c, block(r, c), ray[row + r]);
        }
      }
      continue;
    }
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      const BlockJacobian::Piece piece = jacobian.piece(i, p);
      const Index at = jacobian.piece_dof(p);
      for (Index c = 0; c < piece.cols(); ++c) {
        for (Index r = 0; r < piece.rows(); ++r) add(at + c, piece(r, c), ray[row + r]);
      }
    }
  }
}

void ContradictionCheck::transpose_product(const ContactProblem& problem, const Vector& ray, Vector& out) {
  out.setZero(problem.dof_count());
  if (problem.has_delassus()) {  // of the factor that stands for J; W itself is what proofs are judged by
    problem.jacobian().add_transpose_product(ray, out);
    return;
  }
  sum_columns(problem, ray);
  for (Index d = 0; d < problem.dof_count(); ++d) out[d] = static_cast<double>(sum_[d]);
}

// sum over trees |J^T y|_t S_t, J.
double ContradictionCheck::tree_resistance(const ContactProblem& problem, const Vector& ray) {
  const BlockJacobian& jacobian = problem.jacobian();
  speed_.assign(problem.tree_count(), -1.0);
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (largest_entry(problem, i, ray) == 0.0) continue;
    // Of what nothing can move nothing is asked.
    const double asked =
        problem.is_idle(i) ? 0.0 : largest_entry(problem, i, problem.bias()) / problem.root_scale(i);
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      double& speed = speed_[jacobian.piece_tree(p)];
      speed = std::max(speed, asked);
    }
  }
  double total = 0.0;
  for (Index t = 0; t < problem.tree_count(); ++t) {
    if (speed_[t] < 0.0) continue;
    const Index at = problem.mass().block_start(t), n = problem.mass().block_size(t);
    // |x + error| <= |x| + sum over entries of |error_d| |L^-1 unit_d| in the A^-1 norm.
    const auto size = static_cast<std::size_t>(n) * n;
    if (inverse_.size() < size + n) inverse_.resize(size + n);
    Eigen::Map<Matrix> inverse(inverse_.data(), n, n);
    Eigen::Map<Vector> column(inverse_.data() + size, n);
    inverse.setIdentity();
    problem.mass_factor().solve_lower_block_in_place(t, inverse);
    column.setZero();
    double norm = 0.0;
    for (Index d = 0; d < n; ++d) {
      column += static_cast<double>(sum_[at + d]) * inverse.col(d);
      norm += rounding_of(problem, size_[at + d]) * inverse.col(d).norm();
    }
    norm += column.norm();
    const double speed = std::max(speed_[t], problem.tree_root_energy(t));
    total += norm * speed;
  }
  return total;
}

// Given W: sum over rows |W^T y|_j s_j with the impulse s_j = S / sqrt(w_j), S the fastest free velocity of the
// constraints that the ray moves, in sqrt(J).
double ContradictionCheck::row_resistance(const ContactProblem& problem, const Vector& ray) {
  double speed = 0.0;
  const auto touched = [&](Index i) {
    for (Index r = 0; r < problem.rows(i); ++r) {
      if (size_[problem.row(i) + r] > 0.0L) return true;
    }
    return largest_entry(problem, i, ray) > 0.0;
  };
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (!touched(i)) continue;
    speed = std::max(speed, largest_entry(problem, i, problem.free_velocity()) / std::sqrt(problem.scale(i)));
  }
  double total = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    for (Index r = 0; r < problem.rows(i); ++r) {
      const Index at = problem.row(i) + r;
      const double entry = std::abs(static_cast<double>(sum_[at])) + rounding_of(problem, size_[at]);
      total += entry * speed / std::sqrt(problem.scale(i));
    }
  }
  return total;
}

bool ContradictionCheck::measure(const ContactProblem& problem, const Vector& ray, Law law, double& gain,
                                 double& resistance) {
  if (ray.size() != problem.row_count() || !ray.allFinite()) return false;
  long double product = 0.0L, size = 0.0L;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (!is_admissible(problem, i, ray, law)) return false;
    for (Index row = problem.row(i); row < problem.row(i) + problem.rows(i); ++row) {
      const long double term = static_cast<long double>(ray[row]) * problem.bias()[row];
      product += term;
      size += std::abs(term);
    }
  }
  gain = static_cast<double>(-product) - rounding_of(problem, size);
  sum_columns(problem, ray);
  resistance = problem.has_delassus() ? row_resistance(problem, ray) : tree_resistance(problem, ray);
  return true;
}

std::optional<Contradiction> ContradictionCheck::prove(const ContactProblem& problem, const Vector& ray,
                                                       Law law) {
  double gain = 0.0, resistance = 0.0;
  if (!measure(problem, ray, law, gain, resistance)) return std::nullopt;
  if (!(gain > 0.0) || !(gain >= kProofSpeedRatio * resistance)) return std::nullopt;
  Contradiction proof;
  proof.speed_ratio = resistance > 0.0 ? gain / resistance : std::numeric_limits<double>::infinity();
  proof.ray = ray;
  double largest = 0.0, total = 0.0, sum = 0.0;
  const auto share = [&](Index i) { return largest_entry(problem, i, ray) * std::sqrt(problem.scale(i)); };
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    largest = std::max(largest, share(i));
    sum += ray.segment(problem.row(i), problem.rows(i)).norm();
  }
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (share(i) < kNamed * largest) continue;
    proof.constraints.push_back(i);
    proof.shares.push_back(share(i));
    total += share(i);
  }
  for (double& part : proof.shares) part /= total;
  proof.violation = gain / sum;
  proof.ray /= largest;
  return proof;
}

std::optional<Contradiction> prove_contradiction(const ContactProblem& problem, const Vector& ray, Law law) {
  return ContradictionCheck().prove(problem, ray, law);
}

}  // namespace tribo
