#include "tribo/linalg/tree_matrix.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "tribo/linalg/group_blocks.h"

namespace tribo {
namespace {

using Four = Eigen::Array4d;

constexpr Index kUsual = 64;  // degrees of freedom of a tree that is transformed on the stack

Index padded(Index entries) { return (entries + 3) / 4 * 4; }

}  // namespace

void TreeMatrix::analyze(std::span<const Index> parent) {
  if (std::ranges::equal(parent, parent_)) return;
  const Index n = static_cast<Index>(parent.size());
  parent_.assign(parent.begin(), parent.end());
  depth_.resize(n);
  start_.assign(1, 0);
  path_.clear();
  entry_count_ = 0;
  for (Index d = 0; d < n; ++d) {
    assert(parent[d] >= -1 && parent[d] < d);
    depth_[d] = parent[d] < 0 ? 0 : depth_[parent[d]] + 1;
    const Index begin = start_.back();
    start_.push_back(begin + padded(depth_[d] + 1));
    path_.resize(start_.back());
    for (Index k = d, at = begin + depth_[d]; k >= 0; k = parent[k], --at) path_[at] = k;
    entry_count_ += depth_[d] + 1;
  }
  values_.assign(path_.size(), 0.0);
  inverse_.assign(n, 0.0);
}

void TreeMatrix::assign(const Eigen::Ref<const Matrix>& dense) {
  assert(dense.rows() == size() && dense.cols() == size());
  for (Index d = 0; d < size(); ++d) {
    for (Index p = 0; p <= depth_[d]; ++p) row(d)[p] = dense(d, path(d)[p]);
  }
}

void TreeMatrix::assign(const TreeMatrix& other, const double* diagonal) {
  assert(other.values_.size() == values_.size());
  std::copy(other.values_.begin(), other.values_.end(), values_.begin());
  if (diagonal == nullptr) return;
  for (Index d = 0; d < size(); ++d) row(d)[depth_[d]] += diagonal[d];
}

Matrix TreeMatrix::to_dense() const {
  Matrix dense(size(), size());
  write_dense(dense.data());
  return dense;
}

void TreeMatrix::write_dense(double* dense) const {
  Eigen::Map<Matrix> matrix(dense, size(), size());
  matrix.setZero();
  for (Index d = 0; d < size(); ++d) {
    for (Index p = 0; p <= depth_[d]; ++p) {
      const Index k = path(d)[p];
      matrix(d, k) = matrix(k, d) = row(d)[p];
    }
  }
}

void TreeMatrix::add_body_inertias(const Motion& motion, std::span<Mat6> inertia) {
  assert(motion.cols() == size() && static_cast<Index>(inertia.size()) == size());
  for (Index d = size() - 1; d >= 0; --d) {
    const Eigen::Matrix<double, 6, 1> force = inertia[d] * motion.col(d);
    for (Index p = 0; p <= depth_[d]; ++p) row(d)[p] += motion.col(path(d)[p]).dot(force);
    if (parent_[d] >= 0) inertia[parent_[d]] += inertia[d];
  }
}

void TreeMatrix::add_rows(Index first, const Eigen::Ref<const Matrix>& block,
                          const Eigen::Ref<const Vector>& weights) {
  for (Index l = 0; l < block.cols(); ++l) {
    if (block.col(l).isZero(0.0)) continue;
    for (Index k = 0; k <= l; ++k) {
      if (block.col(k).isZero(0.0)) continue;
      assert(on_path(first + k, first + l));
      double sum = 0.0;
      for (Index r = 0; r < block.rows(); ++r) sum += block(r, l) * weights[r] * block(r, k);
      row(first + l)[depth_[first + k]] += sum;
    }
  }
}

void TreeMatrix::multiply(const double* x, double* y) const {
  std::fill(y, y + size(), 0.0);
  for (Index d = 0; d < size(); ++d) {
    const Index* columns = path(d).data();
    const double* entries = row(d);
    const double xd = x[d];
    double sum = entries[depth_[d]] * xd;
    for (Index p = 0; p < depth_[d]; ++p) {
      sum += entries[p] * x[columns[p]];
      y[columns[p]] += entries[p] * xd;
    }
    y[d] += sum;
  }
}

double TreeMatrix::energy(const double* x) const {
  double sum = 0.0;
  for (Index d = 0; d < size(); ++d) {
    const Index* columns = path(d).data();
    const double* entries = row(d);
    double half = 0.5 * entries[depth_[d]] * x[d];
    for (Index p = 0; p < depth_[d]; ++p) half += entries[p] * x[columns[p]];
    sum += half * x[d];
  }
  return sum;
}

// The path of an ancestor is the beginning of the path of d, so that the rank-one update of its row runs over
// contiguous entries of both, four at a time; what that leaves behind the end of a row is cleared before it counts.
bool TreeMatrix::factorize() {
  for (Index d = size() - 1; d >= 0; --d) {
    double* l = row(d);
    const Index last = depth_[d];
    if (!(l[last] > 0.0) || !std::isfinite(l[last])) {
      // Whoever solves all the same shall notice.
      std::fill(inverse_.begin(), inverse_.end(), std::numeric_limits<double>::quiet_NaN());
      return false;
    }
    // The next rows wait for this update: it goes without the root, which is taken beside it.
    const double inverse_square = 1.0 / l[last];
    const double pivot = std::sqrt(l[last]);
    std::fill(l + last + 1, l + padded(last + 1), 0.0);
    for (Index p = 0; p < last; ++p) {
      double* target = row(path(d)[p]);
      const double factor = l[p] * inverse_square;
      for (Index q = 0; q <= p; q += 4)
        Eigen::Map<Four>(target + q) -= factor * Eigen::Map<const Four>(l + q);
    }
    const double inverse = inverse_[d] = pivot * inverse_square;
    for (Index p = 0; p < last; p += 4) Eigen::Map<Four>(l + p) *= inverse;
    l[last] = pivot;
  }
  return true;
}

void TreeMatrix::solve_in_place(double* x) const {
  solve_transposed_in_place(x);
  solve_lower_in_place(x);
}

void TreeMatrix::solve_transposed_in_place(double* x) const {
  for (Index d = size() - 1; d >= 0; --d) {
    if (x[d] == 0.0) continue;
    const Index* columns = path(d).data();
    const double* l = row(d);
    const double xd = x[d] *= inverse_[d];
    for (Index p = 0; p < depth_[d]; ++p) x[columns[p]] -= l[p] * xd;
  }
}

void TreeMatrix::solve_lower_in_place(double* x) const {
  for (Index d = 0; d < size(); ++d) {
    const Index* columns = path(d).data();
    const double* l = row(d);
    double sum = x[d];
    for (Index p = 0; p < depth_[d]; ++p) sum -= l[p] * x[columns[p]];
    x[d] = sum * inverse_[d];
  }
}

void TreeMatrix::transform_three_rows(std::span<const double* const> blocks, double* out) const {
  assert(!blocks.empty() && static_cast<Index>(blocks.size()) <= kBlocks);
  if (size() > kUsual) {
    for (const double* block : blocks) {
      transform_rows(3, block, out);
      out += 3 * size();
    }
  } else if (blocks.size() == 1) {
    transform_packed<1>(blocks, out);
  } else if (blocks.size() == 2) {
    transform_packed<2>(blocks, out);
  } else {
    transform_packed<3>(blocks, out);
  }
}

// Three rows fill no register, but four blocks of them fill three; and one walk through the tree serves them all. They are
// put in and taken out by fours, in an order in which the number too many is overwritten.
template <int kFours>
void TreeMatrix::transform_packed(std::span<const double* const> blocks, double* out) const {
  constexpr Index kWidth = 4 * kFours;
  const auto used = static_cast<Index>(3 * blocks.size());
  alignas(32) double packed[kWidth * kUsual + 4];
  using Column = Eigen::Array<double, kWidth, 1>;
  const auto column = [&](Index d) { return Eigen::Map<Column, Eigen::Aligned32>(packed + kWidth * d); };
  for (Index d = 0; d < size(); ++d) {
    double* to = packed + kWidth * d;
    for (const double* block : blocks) {
      Eigen::Map<Four>{to} = Eigen::Map<const Four>(block + 3 * d);
      to += 3;
    }
    for (Index r = used; r < kWidth; ++r) *to++ = 0.0;
  }
  for (Index d = size() - 1; d >= 0; --d) {
    if ((column(d) == 0.0).all()) continue;
    const Column now = column(d) * inverse_[d];
    column(d) = now;
    const Index* columns = path(d).data();
    const double* l = row(d);
    for (Index p = 0; p < depth_[d]; ++p) column(columns[p]) -= l[p] * now;
  }
  for (Index r = 0; r < used; r += 3, out += 3 * size()) {
    for (Index d = 0; d < size(); ++d) {
      Eigen::Map<Four>(out + 3 * d) = Eigen::Map<const Four>(packed + kWidth * d + r);
    }
  }
}

template <int N>
void TreeMatrix::transform_in_place(double* block) const {
  using Rows = Eigen::Map<Eigen::Array<double, N, 1>>;
  for (Index d = size() - 1; d >= 0; --d) {
    Rows column(block + N * d);
    if ((column == 0.0).all()) continue;
    const Index* columns = path(d).data();
    const double* l = row(d);
    const Eigen::Array<double, N, 1> x = column *= inverse_[d];
    for (Index p = 0; p < depth_[d]; ++p) Rows(block + N * columns[p]) -= l[p] * x;
  }
}

void TreeMatrix::transform_rows(Index rows, const double* block, double* out) const {
  std::copy_n(block, rows * size(), out);
  with_rows(rows, [&](auto n) { transform_in_place<n()>(out); });
}

}  // namespace tribo
