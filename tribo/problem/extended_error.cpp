#include "tribo/problem/extended_error.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/problem/constraints.h"
#include "tribo/problem/natural_map.h"
#include "tribo/problem/rounding.h"
#include "tribo/problem/sparse_trees.h"

namespace tribo {
namespace {

using Long = long double;
template <int N>
using LongN = Eigen::Matrix<Long, N, 1>;

constexpr int kRefinements = 2;

Long largest(Long x) { return std::abs(x); }
Long squared(Long x) { return x * x; }
template <int N>
Long largest(const LongN<N>& x) {
  return x.cwiseAbs().template maxCoeff<Eigen::PropagateNaN>();
}
template <int N>
Long squared(const LongN<N>& x) {
  return x.squaredNorm();
}

// On { cosine |x_t| <= sine x_n }, see math/cone.h.
template <int N>
LongN<N> project(const LongN<N>& z, Long sine, Long cosine) {
  const Long tangent = z.template head<N - 1>().norm(), normal = z[N - 1];
  if (cosine * tangent <= sine * normal && normal >= 0.0L) return z;
  if (sine * tangent <= -cosine * normal) return LongN<N>::Zero();
  const Long r = sine * tangent + cosine * normal;
  LongN<N> image = (tangent > 0.0L ? sine * r / tangent : 0.0L) * z;
  image[N - 1] = cosine * r;
  return image;
}

template <int N>
struct LongCone {
  Long mu;
  LongN<N> lambda, hat;

  // lambda - P(lambda - step hat), in the form that keeps hat beside a huge lambda; see certificate.cpp.
  LongN<N> map(Long step) const {
    const LongN<N> move = step * hat;
    const Long cosine = 1.0L / std::sqrt(1.0L + mu * mu), sine = mu * cosine;
    if (lambda.norm() > move.norm()) return move - project<N>(move - lambda, cosine, sine);
    return lambda - project<N>(lambda - move, sine, cosine);
  }
  // Whether velocities that differ by `change` leave the map zero: it is held at zero or at a bound by a margin.
  bool is_steady(Long change) const {
    return lambda.norm() == 0.0L && hat[N - 1] - mu * hat.template head<N - 1>().norm() > 2.0L * change;
  }
};

struct LongRow {
  Long lower, upper, lambda, w;

  Long map(Long step) const {
    const Long move = step * w, target = lambda - move;
    const Long projected = std::min(std::max(target, lower), upper);
    return projected == target ? move : lambda - projected;
  }
  bool is_steady(Long change) const {
    return (lambda == lower && w > change) || (lambda == upper && w < -change);
  }
};

// Calls action with the one or the other.
template <class Action>
void with_values(const ContactProblem& problem, Index i, const Vector& impulse,
                 const std::vector<Long>& velocity, Law law, Action&& action) {
  const auto w_of = [&](Index row) -> Long {
    return velocity[row] + static_cast<Long>(problem.compliance()[row]) * impulse[row];
  };
  visit_constraint(
      problem, i,
      [&](auto cone) {
        constexpr int n = cone.kRows;
        LongCone<n> c;
        c.mu = cone.friction;
        for (Index r = 0; r < n; ++r) {
          c.lambda[r] = impulse[cone.row + r];
          c.hat[r] = w_of(cone.row + r);
        }
        if (law == Law::exact) c.hat[n - 1] += c.mu * c.hat.template head<n - 1>().norm();
        action(c);
      },
      [&](IntervalConstraint row) {
        action(LongRow{row.set.lower, row.set.upper, impulse[row.row], w_of(row.row)});
      });
}

double ratio(Long value, Long reference) {
  if (value == 0.0L) return 0.0;
  return value > 0.0L && reference == 0.0L ? 1.0 : static_cast<double>(value / reference);
}

// Calls action(constraint, piece, dof) for the pieces of J as they were given: those of sparse trees with the degrees of
// freedom behind those of the problem.
template <class Action>
void for_each_given_piece(const ContactProblem& problem, const Action& action) {
  const BlockJacobian& jacobian = problem.jacobian();
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      if (!problem.is_sparse(jacobian.piece_tree(p))) action(i, jacobian.piece(i, p), jacobian.piece_dof(p));
    }
    if (!problem.has_sparse_trees()) continue;
    const BlockJacobian& sparse = problem.sparse_trees().jacobian();
    for (Index p = sparse.piece_begin(i); p < sparse.piece_end(i); ++p) {
      action(i, sparse.piece(i, p), problem.dof_count() + sparse.piece_dof(p));
    }
  }
}

}  // namespace

// motion_ and velocity_ of `impulse`.
void ExtendedEvaluation::move(const ContactProblem& problem, const Vector& impulse) {
  const Index rows = problem.row_count(), dofs = problem.dof_count();
  velocity_.assign(rows, 0.0L);
  if (problem.has_delassus()) {
    const BlockMatrix& w = problem.delassus();
    for (Index g = 0; g < w.group_count(); ++g) {
      for (Index k = w.row_begin(g); k < w.row_end(g); ++k) {
        const auto block = w.block(g, k);
        for (Index r = 0; r < block.rows(); ++r) {
          Long& u = velocity_[w.start(g) + r];
          for (Index c = 0; c < block.cols(); ++c)
            u += static_cast<Long>(block(r, c)) * impulse[w.start(w.column(k)) + c];
        }
      }
    }
    for (Index r = 0; r < rows; ++r) velocity_[r] += problem.free_velocity()[r];
    return;
  }
  residual_.assign(problem.momentum().data(), problem.momentum().data() + dofs);
  if (problem.has_sparse_trees()) {
    const Vector& momentum = problem.sparse_trees().momentum();
    residual_.insert(residual_.end(), momentum.data(), momentum.data() + momentum.size());
  }
  for_each_given_piece(problem, [&](Index i, const BlockJacobian::Piece& piece, Index dof) {
    for (Index c = 0; c < piece.cols(); ++c) {
      Long& f = residual_[dof + c];
      for (Index r = 0; r < piece.rows(); ++r)
        f += static_cast<Long>(piece(r, c)) * impulse[problem.row(i) + r];
    }
  });
  solve(problem);
  for_each_given_piece(problem, [&](Index i, const BlockJacobian::Piece& piece, Index dof) {
    for (Index r = 0; r < piece.rows(); ++r) {
      Long& u = velocity_[problem.row(i) + r];
      for (Index c = 0; c < piece.cols(); ++c) u += static_cast<Long>(piece(r, c)) * motion_[dof + c];
    }
  });
  for (Index r = 0; r < rows; ++r) velocity_[r] += problem.bias()[r];
}

// motion_ = A^-1 residual_.
void ExtendedEvaluation::solve(const ContactProblem& problem) {
  const BlockDiagonal& mass = problem.mass();
  if (mass.is_identity() && !problem.has_sparse_trees()) {
    motion_.assign(residual_.begin(), residual_.end());
    return;
  }
  const std::size_t size = residual_.size();
  const Index dofs = problem.dof_count();
  motion_.assign(size, 0.0L);
  for (int pass = 0; pass <= kRefinements; ++pass) {
    for (std::size_t d = 0; d < size; ++d) step_[d] = static_cast<double>(residual_[d]);
    problem.mass_factor().solve_in_place(step_.head(dofs));
    if (problem.has_sparse_trees())
      problem.sparse_trees().solve_in_place(step_.segment(dofs, size - dofs), scratch_);
    for (std::size_t d = 0; d < size; ++d) motion_[d] += step_[d];
    if (pass == kRefinements) return;
    for (Index t = 0; t < mass.block_count(); ++t) {
      if (problem.is_sparse(t)) continue;
      const auto a = mass.block(t);
      const Index at = mass.block_start(t);
      for (Index c = 0; c < a.cols(); ++c) {
        for (Index r = 0; r < a.rows(); ++r) residual_[at + r] -= static_cast<Long>(a(r, c)) * step_[at + c];
      }
    }
    if (problem.has_sparse_trees()) subtract_sparse_product(problem);
  }
}

// residual_ -= A step_ of the sparse trees.
void ExtendedEvaluation::subtract_sparse_product(const ContactProblem& problem) {
  for (const SparseTree& tree : problem.sparse_trees().trees()) {
    const LowerColumns a = tree.mass->lower();
    const Index at = problem.dof_count() + tree.first;
    for (Index c = 0; c < a.size; ++c) {
      for (Index p = a.start[c]; p < a.start[c + 1]; ++p) {
        const Long value = a.value[p];
        residual_[at + a.row[p]] -= value * step_[at + c];
        if (a.row[p] != c) residual_[at + c] -= value * step_[at + a.row[p]];
      }
    }
  }
}

void ExtendedEvaluation::reserve(const ContactProblem& problem) {
  const Index all =
      problem.dof_count() + (problem.has_sparse_trees() ? problem.sparse_trees().dof_count() : 0);
  const auto dofs = static_cast<std::size_t>(all);
  motion_.reserve(dofs);
  residual_.reserve(dofs);
  velocity_.reserve(static_cast<std::size_t>(problem.row_count()));
  tree_size_.reserve(static_cast<std::size_t>(problem.tree_count()) + 1);
  if (step_.size() < all) step_.resize(all);
}

// As evaluation_rounding(), but tree by tree and with the motion at hand. Residual and product with J are wrong by
// eps |D^1/2 v|, D the diagonal of A, and solving magnifies that by at most |A^-1/2 D^1/2| ~ sqrt(g) in the norm of A:
// less than g |v|_A. After move().
void ExtendedEvaluation::bound_rounding(const ContactProblem& problem, const Vector& impulse) {
  const double factor = kRoundings * static_cast<double>(std::numeric_limits<Long>::epsilon());
  if (problem.has_delassus()) {
    tree_size_.assign(1, factor * (impulse_sizes(problem, impulse).sum + problem.largest_demand()));
    return;
  }
  tree_size_.resize(static_cast<std::size_t>(problem.tree_count()));
  for (Index t = 0; t < problem.tree_count(); ++t) {
    if (problem.is_sparse(t)) continue;
    const auto a = problem.mass().block(t);
    Long squared = 0.0L;
    for (Index k = 0; k < a.rows(); ++k) {
      const Long v = motion_[problem.mass().block_start(t) + k];
      squared += a(k, k) * v * v;
    }
    tree_size_[t] = problem.tree_root_energy(t) + static_cast<double>(std::sqrt(squared));
  }
  if (problem.has_sparse_trees()) {
    for (const SparseTree& tree : problem.sparse_trees().trees()) {
      const LowerColumns a = tree.mass->lower();
      Long squared = 0.0L;
      for (Index k = 0; k < a.size; ++k) {
        const Long v = motion_[problem.dof_count() + tree.first + k];
        squared += a.value[a.start[k]] * v * v;
      }
      tree_size_[tree.tree] = problem.tree_root_energy(tree.tree) + static_cast<double>(std::sqrt(squared));
    }
  }
  const BlockJacobian& jacobian = problem.jacobian();
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Index row = problem.row(i);
    double size = 0.0;
    for (Index r = 0; r < problem.rows(i); ++r) size = std::max(size, std::abs(impulse[row + r]));
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      tree_size_[jacobian.piece_tree(p)] += problem.root_scale(i) * size;
    }
  }
  for (Index t = 0; t < problem.tree_count(); ++t) {
    const double growth =
        problem.is_sparse(t) ? problem.sparse_trees().find(t)->mass->growth() : problem.mass_growth();
    tree_size_[t] *= factor * std::sqrt(growth);
  }
}

// |delta hat w_i| / sqrt(w_i) at most.
double ExtendedEvaluation::rounding_of(const ContactProblem& problem, Index i) const {
  const double slip = 1.0 + problem.friction(i);
  if (problem.has_delassus()) return slip * tree_size_[0];
  const BlockJacobian& jacobian = problem.jacobian();
  double size = 0.0;
  for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
    size += tree_size_[jacobian.piece_tree(p)];
  }
  return slip * size;
}

ExtendedErrors ExtendedEvaluation::errors(const ContactProblem& problem, const Vector& impulse, Law law) {
  reserve(problem);
  move(problem, impulse);
  bound_rounding(problem, impulse);
  ExtendedErrors out;
  const double common = common_reference(problem, impulse);
  const auto raise = [&out](double error, Index i) {
    if (error <= out.scaled || std::isnan(out.scaled)) return;
    out.scaled = error;
    out.worst = i;
  };
  Long sum = 0.0L, q = 0.0L, lambda = 0.0L, u = 0.0L;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    with_values(problem, i, impulse, velocity_, law, [&](const auto& c) {
      const Long root = problem.root_scale(i);
      const double reference = reference_of(problem, i, common);
      double error = ratio(root * largest(c.map(problem.inverse_scale(i))), reference);
      const double rounding = rounding_of(problem, i);
      if (!problem.is_idle(i) && !(error == 0.0 && c.is_steady(root * rounding))) {
        error += ratio(rounding, reference);
        out.rounding = std::max(out.rounding, ratio(rounding, reference));
      }
      raise(error, i);
      if (problem.is_idle(i)) raise(idle_error(problem, i, law), i);
      sum += squared(c.map(1.0L));
    });
  }
  for (Index r = 0; r < problem.row_count(); ++r) {
    q += static_cast<Long>(problem.free_velocity()[r]) * problem.free_velocity()[r];
    lambda += static_cast<Long>(impulse[r]) * impulse[r];
    u += velocity_[r] * velocity_[r];
  }
  out.fclib = ratio(std::sqrt(sum), std::sqrt(q));
  out.siconos = ratio(std::sqrt(sum), std::sqrt(std::max({q, lambda, u})));
  return out;
}

}  // namespace tribo
