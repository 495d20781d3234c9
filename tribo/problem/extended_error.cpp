#include "tribo/problem/extended_error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tribo/problem/natural_map.h"
#include "tribo/problem/rounding.h"

namespace tribo {
namespace {

using Long = long double;
using Long3 = std::array<Long, 3>;  // t1, t2, n; scalars use the first

constexpr int kRefinements = 2;

Long norm(const Long3& x) { return std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }
Long largest(const Long3& x) {
  const Long size = std::max({std::abs(x[0]), std::abs(x[1]), std::abs(x[2])});
  return std::isnan(x[0] + x[1] + x[2]) ? std::numeric_limits<Long>::quiet_NaN() : size;
}
Long3 operator-(const Long3& a, const Long3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Long3 operator*(Long a, const Long3& x) { return {a * x[0], a * x[1], a * x[2]}; }

// On { cosine |x_t| <= sine x_n }, see math/cone.h.
Long3 project(const Long3& z, Long sine, Long cosine) {
  const Long tangent = std::sqrt(z[0] * z[0] + z[1] * z[1]);
  if (cosine * tangent <= sine * z[2] && z[2] >= 0.0L) return z;
  if (sine * tangent <= -cosine * z[2]) return {};
  const Long r = sine * tangent + cosine * z[2];
  const Long stretch = tangent > 0.0L ? sine * r / tangent : 0.0L;
  return {stretch * z[0], stretch * z[1], cosine * r};
}

struct Constraint {
  ConstraintKind kind;
  Long mu, lower, upper;
  Long3 lambda, hat;
};

// lambda - P(lambda - step hat), in the form that keeps hat beside a huge lambda; see certificate.cpp.
Long3 map_of(const Constraint& c, Long step) {
  const Long3 move = step * c.hat;
  if (c.kind == ConstraintKind::contact) {
    const Long cosine = 1.0L / std::sqrt(1.0L + c.mu * c.mu), sine = c.mu * cosine;
    if (norm(c.lambda) > norm(move)) return move - project(move - c.lambda, cosine, sine);
    return c.lambda - project(c.lambda - move, sine, cosine);
  }
  const Long target = c.lambda[0] - move[0];
  Long projected = target;
  if (c.kind == ConstraintKind::unilateral) projected = std::max(target, 0.0L);
  if (c.kind == ConstraintKind::box) projected = std::min(std::max(target, c.lower), c.upper);
  return {projected == target ? move[0] : c.lambda[0] - projected, 0.0L, 0.0L};
}

Constraint constraint_at(const ContactProblem& problem, Index i, const Vector& impulse,
                         const std::vector<Long>& velocity, Law law) {
  Constraint c{problem.kind(i), problem.friction(i), problem.lower(i), problem.upper(i), {}, {}};
  for (Index r = 0; r < problem.rows(i); ++r) {
    const Index row = problem.row(i) + r;
    c.lambda[r] = impulse[row];
    c.hat[r] = velocity[row] + static_cast<Long>(problem.compliance()[row]) * impulse[row];
  }
  if (c.kind == ConstraintKind::contact && law == Law::exact) {
    c.hat[2] += c.mu * std::sqrt(c.hat[0] * c.hat[0] + c.hat[1] * c.hat[1]);
  }
  return c;
}

// Whether velocities that differ by `change` leave the map zero: it is held at zero or at a bound by a margin.
bool is_steady(const Constraint& c, Long change) {
  switch (c.kind) {
    case ConstraintKind::contact: {
      const Long slip = std::sqrt(c.hat[0] * c.hat[0] + c.hat[1] * c.hat[1]);
      return norm(c.lambda) == 0.0L && c.hat[2] - c.mu * slip > 2.0L * change;
    }
    case ConstraintKind::unilateral:
      return c.lambda[0] == 0.0L && c.hat[0] > change;
    case ConstraintKind::box:
      return (c.lambda[0] == c.lower && c.hat[0] > change) || (c.lambda[0] == c.upper && c.hat[0] < -change);
    default:
      return false;
  }
}

double ratio(Long value, Long reference) {
  if (value == 0.0L) return 0.0;
  return value > 0.0L && reference == 0.0L ? 1.0 : static_cast<double>(value / reference);
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
  const BlockJacobian& jacobian = problem.jacobian();
  const BlockDiagonal& mass = problem.mass();
  residual_.assign(problem.momentum().data(), problem.momentum().data() + dofs);
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      const auto piece = jacobian.piece(i, p);
      for (Index c = 0; c < piece.cols(); ++c) {
        Long& f = residual_[jacobian.piece_dof(p) + c];
        for (Index r = 0; r < piece.rows(); ++r)
          f += static_cast<Long>(piece(r, c)) * impulse[problem.row(i) + r];
      }
    }
  }
  if (mass.is_identity()) {
    motion_.assign(residual_.begin(), residual_.end());
  } else {
    motion_.assign(dofs, 0.0L);
    for (int pass = 0; pass <= kRefinements; ++pass) {
      for (Index d = 0; d < dofs; ++d) step_[d] = static_cast<double>(residual_[d]);
      problem.mass_factor().solve_in_place(step_.head(dofs));
      for (Index d = 0; d < dofs; ++d) motion_[d] += step_[d];
      if (pass == kRefinements) break;
      for (Index t = 0; t < mass.block_count(); ++t) {
        const auto a = mass.block(t);
        const Index at = mass.block_start(t);
        for (Index c = 0; c < a.cols(); ++c) {
          for (Index r = 0; r < a.rows(); ++r)
            residual_[at + r] -= static_cast<Long>(a(r, c)) * step_[at + c];
        }
      }
    }
  }
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      const auto piece = jacobian.piece(i, p);
      for (Index r = 0; r < piece.rows(); ++r) {
        Long& u = velocity_[problem.row(i) + r];
        for (Index c = 0; c < piece.cols(); ++c)
          u += static_cast<Long>(piece(r, c)) * motion_[jacobian.piece_dof(p) + c];
      }
    }
  }
  for (Index r = 0; r < rows; ++r) velocity_[r] += problem.bias()[r];
}

void ExtendedEvaluation::reserve(const ContactProblem& problem) {
  const auto dofs = static_cast<std::size_t>(problem.dof_count());
  motion_.reserve(dofs);
  residual_.reserve(dofs);
  velocity_.reserve(static_cast<std::size_t>(problem.row_count()));
  tree_size_.reserve(static_cast<std::size_t>(problem.tree_count()) + 1);
  if (step_.size() < problem.dof_count()) step_.resize(problem.dof_count());
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
    const auto a = problem.mass().block(t);
    Long squared = 0.0L;
    for (Index k = 0; k < a.rows(); ++k) {
      const Long v = motion_[problem.mass().block_start(t) + k];
      squared += a(k, k) * v * v;
    }
    tree_size_[t] = problem.tree_root_energy(t) + static_cast<double>(std::sqrt(squared));
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
  for (double& size : tree_size_) size *= factor * std::sqrt(problem.mass_growth());
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
  Long squared = 0.0L, q = 0.0L, lambda = 0.0L, u = 0.0L;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Constraint c = constraint_at(problem, i, impulse, velocity_, law);
    const Long root = problem.root_scale(i);
    const double reference = reference_of(problem, i, common);
    double error = ratio(root * largest(map_of(c, problem.inverse_scale(i))), reference);
    const double rounding = rounding_of(problem, i);
    if (!problem.is_idle(i) && !(error == 0.0 && is_steady(c, root * rounding))) {
      error += ratio(rounding, reference);
      out.rounding = std::max(out.rounding, ratio(rounding, reference));
    }
    raise(error, i);
    if (problem.is_idle(i)) raise(idle_error(problem, i, law), i);
    const Long plain = norm(map_of(c, 1.0L));
    squared += plain * plain;
  }
  for (Index r = 0; r < problem.row_count(); ++r) {
    q += static_cast<Long>(problem.free_velocity()[r]) * problem.free_velocity()[r];
    lambda += static_cast<Long>(impulse[r]) * impulse[r];
    u += velocity_[r] * velocity_[r];
  }
  out.fclib = ratio(std::sqrt(squared), std::sqrt(q));
  out.siconos = ratio(std::sqrt(squared), std::sqrt(std::max({q, lambda, u})));
  return out;
}

}  // namespace tribo
