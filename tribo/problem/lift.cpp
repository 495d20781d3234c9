#include "tribo/problem/lift.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tribo/base/errors.h"

namespace tribo {
namespace {

// Pivots below this share of the largest diagonal entry are rounding: the numerical rank ends there.
constexpr double kRankCut = 1e-12;
// A remainder of the elimination below -kSuspicious (relative to the largest entry) is looked into by eigenvalues;
// below -kNoisy the elimination itself is of no use, for pivots out of rounding errors blow up what follows.
constexpr double kSuspicious = 1e-9;
constexpr double kNoisy = 1e-6;

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

// The factor of one component of W, and how indefinite that is.
struct Factor {
  Matrix columns;      // W_sym = columns columns^T, up to what is indefinite
  double share = 0.0;  // -smallest / largest eigenvalue
  bool too_much = false;
};

// J = V sqrt(Lambda) of the eigenvalues beyond the noise, which the most negative one measures: the factor of the
// nearest semi-definite matrix of that rank.
Matrix spectral_factor(const Eigen::SelfAdjointEigenSolver<Matrix>& spectrum) {
  const Vector& values = spectrum.eigenvalues();  // ascending
  const double noise = std::max(-values[0], kRankCut * values[values.size() - 1]);
  Eigen::Index kept = 0;
  while (kept < values.size() && values[values.size() - 1 - kept] > noise) ++kept;
  if (kept == 0) return Matrix::Zero(values.size(), 1);
  return spectrum.eigenvectors().rightCols(kept) * values.tail(kept).cwiseSqrt().asDiagonal();
}

Factor factorize(const Matrix& w) {
  Factor factor;
  const double remainder = pivoted_cholesky(w, factor.columns);
  if (!(remainder < -kSuspicious)) return factor;
  const bool noisy = remainder < -kNoisy;
  const Eigen::SelfAdjointEigenSolver<Matrix> spectrum(
      w, noisy ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  const Vector& values = spectrum.eigenvalues();
  const double largest = values[values.size() - 1];
  factor.share =
      largest > 0.0 ? std::max(0.0, -values[0] / largest) : std::numeric_limits<double>::infinity();
  factor.too_much = -values[0] > kPrintedRounding * w.norm();
  if (noisy && !factor.too_much) factor.columns = spectral_factor(spectrum);
  return factor;
}

}  // namespace

ContactProblem lift(BlockMatrix delassus, const Vector& q, const std::vector<ConstraintSpec>& constraints,
                    IndefiniteShare* indefinite) {
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
    const Factor factor = factorize(symmetric_part(delassus, groups, local_start));
    if (factor.too_much) {
      throw InvalidInput(fmt::format(
          "delassus matrix W is indefinite (its smallest eigenvalue is {:.2g} times the largest) in the "
          "component of constraint {}: W must be positive semi-definite, up to what rounding to six "
          "digits explains",
          -factor.share, groups.front()));
    }
    if (indefinite != nullptr && factor.share > indefinite->share)
      *indefinite = {factor.share, groups.front()};
    const Eigen::Index rank = factor.columns.cols();
    const Index tree = builder.add_tree(Matrix::Identity(rank, rank), Vector::Zero(rank));
    for (const Index g : groups)
      piece[g] = {tree, factor.columns.middleRows(local_start[g], delassus.rows(g))};
  }
  for (Index g = 0; g < count; ++g) {
    add_constraint(builder, constraints[g], {&piece[g], 1},
                   {q.data() + delassus.start(g), static_cast<std::size_t>(delassus.rows(g))});
  }
  builder.set_delassus(std::move(delassus));
  return builder.build();
}

}  // namespace tribo
