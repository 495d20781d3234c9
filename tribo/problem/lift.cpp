#include "tribo/problem/lift.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tribo/base/errors.h"

namespace tribo {
namespace {

// Pivots below this share of the largest diagonal entry are rounding: the numerical rank ends there. Real
// files carry eigenvalues of -1e-7 relative, so an indefinite remainder is tolerated up to kIndefinite.
constexpr double kRankCut = 1e-12;
constexpr double kIndefinite = 1e-6;

// Connected components of the block pattern (in either direction), numbered by their first constraint.
std::vector<std::vector<Index>> components_of(const BlockMatrix& w) {
  const Index n = w.group_count();
  std::vector<Index> parent(n);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](Index g) {
    while (parent[g] != g) g = parent[g] = parent[parent[g]];
    return g;
  };
  for (Index g = 0; g < n; ++g) {
    for (Index k = w.row_begin(g); k < w.row_end(g); ++k) {
      const Index a = root(g);
      const Index b = root(w.column(k));
      parent[std::max(a, b)] = std::min(a, b);
    }
  }
  std::vector<std::vector<Index>> components;
  std::vector<Index> number(n, -1);
  for (Index g = 0; g < n; ++g) {
    const Index r = root(g);
    if (number[r] < 0) {
      number[r] = static_cast<Index>(components.size());
      components.emplace_back();
    }
    components[number[r]].push_back(g);
  }
  return components;
}

// Symmetric part of W on one component, rows stacked in the order of `groups`.
Matrix symmetric_part(const BlockMatrix& w, const std::vector<Index>& groups,
                      std::vector<Index>& local_start) {
  Index size = 0;
  for (const Index g : groups) {
    local_start[g] = size;
    size += w.rows(g);
  }
  Matrix dense = Matrix::Zero(size, size);
  for (const Index g : groups) {
    for (Index k = w.row_begin(g); k < w.row_end(g); ++k) {
      const Index c = w.column(k);
      dense.block(local_start[g], local_start[c], w.rows(g), w.rows(c)) += w.block(g, k);
    }
  }
  return 0.5 * (dense + dense.transpose());
}

// A bound from above on the smallest eigenvalue of W - L L^T on the rows that are not `used`: the 2x2 minors
// tell what the diagonal, which may be zero there, does not.
double smallest_remainder(const Matrix& w, const Matrix& factor, const std::vector<bool>& used) {
  std::vector<Eigen::Index> rest;
  for (Eigen::Index r = 0; r < w.rows(); ++r) {
    if (!used[r]) rest.push_back(r);
  }
  const Matrix rows = factor(rest, Eigen::all);
  Vector column;
  double smallest = 0.0;
  for (std::size_t c = 0; c < rest.size(); ++c) {
    column = w(rest, rest[c]) - rows * rows.row(c).transpose();
    for (std::size_t r = 0; r < rest.size(); ++r) {
      const double entry = column[r];
      smallest = std::min(smallest, r == c ? entry : -std::abs(entry));
    }
  }
  return smallest;
}

// Diagonally pivoted Cholesky W = L L^T with as many columns as the numerical rank. Rows keep their order.
// Returns how negative the remainder is, relative to the largest entry of W: 0 for a semi-definite W, up to
// rounding.
double pivoted_cholesky(const Matrix& w, Matrix& factor) {
  const Eigen::Index n = w.rows();
  const double largest = w.cwiseAbs().maxCoeff();
  if (largest == 0.0) {
    factor.setZero(n, 1);
    return 0.0;
  }
  factor.setZero(n, n);
  Eigen::Index rank = 0;
  Vector diagonal = w.diagonal();
  std::vector<bool> used(n, false);
  for (; rank < n; ++rank) {
    Eigen::Index pivot = -1;
    for (Eigen::Index r = 0; r < n; ++r) {
      if (!used[r] && (pivot < 0 || diagonal[r] > diagonal[pivot])) pivot = r;
    }
    if (!(diagonal[pivot] > kRankCut * largest)) break;
    used[pivot] = true;
    // Left-looking column: L_:k = (W_:p - L L_p^T) / sqrt(d_p), zero on rows already eliminated.
    Vector column = w.col(pivot) - factor.leftCols(rank) * factor.row(pivot).head(rank).transpose();
    column /= std::sqrt(diagonal[pivot]);
    for (Eigen::Index r = 0; r < n; ++r) {
      if (used[r] && r != pivot) column[r] = 0.0;
    }
    column[pivot] = std::sqrt(diagonal[pivot]);
    factor.col(rank) = column;
    diagonal -= column.cwiseAbs2();
  }
  factor.conservativeResize(n, std::max<Eigen::Index>(rank, 1));
  return smallest_remainder(w, factor, used) / largest;
}

void add_constraint(ContactProblemBuilder& builder, const ConstraintSpec& spec, const JacobianPiece& piece,
                    std::span<const double> q) {
  const std::span pieces(&piece, 1);
  if (!spec.unit.empty()) {
    builder.add_scaled_contact(spec.unit, pieces, q, {spec.compliance.data(), spec.unit.size()}, spec.key);
    return;
  }
  switch (spec.kind) {
    case ConstraintKind::contact:
      builder.add_contact(spec.friction, pieces, Vec3(q[0], q[1], q[2]), spec.compliance.head<3>(), spec.key);
      break;
    case ConstraintKind::unilateral:
      builder.add_unilateral(pieces, q[0], spec.compliance[0], spec.key);
      break;
    case ConstraintKind::bilateral:
      builder.add_bilateral(pieces, q[0], spec.compliance[0], spec.key);
      break;
    case ConstraintKind::box:
      builder.add_box(spec.lower, spec.upper, pieces, q[0], spec.compliance[0], spec.key);
      break;
  }
}

}  // namespace

Index rows_of(const ConstraintSpec& spec) {
  return spec.unit.empty() ? rows_of(spec.kind) : static_cast<Index>(spec.unit.size());
}

ContactProblem lift(BlockMatrix delassus, const Vector& q, const std::vector<ConstraintSpec>& constraints) {
  const Index count = delassus.group_count();
  if (static_cast<Index>(constraints.size()) != count || q.size() != delassus.size()) {
    throw InvalidInput(
        fmt::format("delassus matrix has {} constraints and {} rows: {} sets and q of {} were given", count,
                    delassus.size(), constraints.size(), q.size()));
  }
  for (Index g = 0; g < count; ++g) {
    if (delassus.rows(g) != rows_of(constraints[g])) {
      throw InvalidInput(fmt::format("delassus block of constraint {} has {} rows: a {} has {}", g,
                                     delassus.rows(g), to_string(constraints[g].kind),
                                     rows_of(constraints[g])));
    }
  }
  if (!delassus.all_finite()) throw InvalidInput("delassus matrix W is not finite");

  ContactProblemBuilder builder;
  std::vector<JacobianPiece> piece(count);
  std::vector<Index> local_start(count);
  for (const std::vector<Index>& groups : components_of(delassus)) {
    Matrix factor;
    const double remainder = pivoted_cholesky(symmetric_part(delassus, groups, local_start), factor);
    if (remainder < -kIndefinite) {
      throw InvalidInput(
          fmt::format("delassus matrix W is indefinite (relative {:.2g}) in the component of constraint {}: "
                      "W must be positive "
                      "semi-definite",
                      remainder, groups.front()));
    }
    const Eigen::Index rank = factor.cols();
    const Index tree = builder.add_tree(Matrix::Identity(rank, rank), Vector::Zero(rank));
    for (const Index g : groups) piece[g] = {tree, factor.middleRows(local_start[g], delassus.rows(g))};
  }
  for (Index g = 0; g < count; ++g) {
    add_constraint(builder, constraints[g], piece[g],
                   {q.data() + delassus.start(g), static_cast<std::size_t>(delassus.rows(g))});
  }
  builder.set_delassus(std::move(delassus));
  return builder.build();
}

}  // namespace tribo
