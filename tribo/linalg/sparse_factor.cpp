#include "tribo/linalg/sparse_factor.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

namespace tribo {
namespace {

using Panel = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;
using ConstPanel = Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>;

ConstPanel top(const SupernodePlan& plan, const Numbers& factor, Index s) {
  const Index w = plan.width(s);
  return {factor.data() + plan.panel_start[s], w, w, Eigen::OuterStride<>(w + plan.below(s))};
}
ConstPanel bottom(const SupernodePlan& plan, const Numbers& factor, Index s) {
  const Index w = plan.width(s), b = plan.below(s);
  return {factor.data() + plan.panel_start[s] + w, b, w, Eigen::OuterStride<>(w + b)};
}

template <class T>
bool equal(const std::vector<T>& mine, std::span<const T> other) {
  return mine.size() == other.size() && std::equal(mine.begin(), mine.end(), other.begin());
}

// Different in every object and for all its numbers: an address may be used again.
std::uint64_t new_version() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

// Makes `scratch` at least this large, and returns its beginning.
double* reserve(Numbers& scratch, std::size_t size) {
  if (scratch.size() < size) scratch.resize(size);
  return scratch.data();
}

}  // namespace

bool SparseFactor::same_pattern(const LowerColumns& lower) const {
  return equal(start_, lower.start) && equal(row_, lower.row);
}

bool SparseFactor::operator==(const SparseFactor& other) const {
  return same_pattern(other.lower()) && equal(value_, std::span<const double>(other.value_));
}

bool SparseFactor::factorize(const LowerColumns& lower) {
  const bool known = same_pattern(lower);
  if (known && usable_ && equal(value_, lower.value)) return kSuccess;
  version_ = new_version();
  value_.assign(lower.value.begin(), lower.value.end());
  if (!known) {
    start_.assign(lower.start.begin(), lower.start.end());
    row_.assign(lower.row.begin(), lower.row.end());
    plan_.analyze(size(), start_, row_);
    update_.resize(static_cast<std::size_t>(plan_.count()));
  }
  factor_.assign(plan_.panel_start.back(), 0.0);
  reserve(stack_, plan_.stack);
  for (std::size_t p = 0; p < value_.size(); ++p) factor_[plan_.entry[p]] += value_[p];
  usable_ = eliminate();
  // What elimination leaves looks like a factor: whoever takes it for one shall see that it is none.
  if (!usable_) std::fill(factor_.begin(), factor_.end(), std::numeric_limits<double>::quiet_NaN());
  return usable_;
}

// Adds the update matrix of child c to the front of its parent: panel and update matrix.
void SparseFactor::add_child(Index c, double* parent_update) {
  const Index s = plan_.parent[c], n = plan_.below(c), w = plan_.width(s), b = plan_.below(s);
  const Index* to = plan_.target.data() + plan_.row_start[c];
  const double* from = stack_.data() + update_[c];
  double* panel = factor_.data() + plan_.panel_start[s];
  for (Index k = 0; k < n; ++k, from += n) {
    const std::ptrdiff_t column = to[k];
    double* target = column < w ? panel + column * (w + b) : parent_update + (column - w) * b - w;
    for (Index r = k; r < n; ++r) target[to[r]] += from[r];
  }
}

// Multifrontal: the update matrices of supernodes whose parents are still to come lie on a stack.
bool SparseFactor::eliminate() {
  std::size_t used = 0;
  growth_ = 1.0;
  for (Index s = 0; s < plan_.count(); ++s) {
    const Index w = plan_.width(s), b = plan_.below(s);
    double* update = stack_.data() + used;
    std::fill_n(update, static_cast<std::size_t>(b) * b, 0.0);
    std::size_t begin = used;
    for (Index c = plan_.child[s]; c >= 0; c = plan_.sibling[c]) {
      add_child(c, update);
      begin = std::min(begin, update_[c]);
    }
    double* data = factor_.data() + plan_.panel_start[s];
    Panel pivot(data, w, w, Eigen::OuterStride<>(w + b));
    Eigen::LLT<Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>> llt(pivot);
    if (llt.info() != Eigen::Success) return false;
    if (b > 0) {
      Panel below(data + w, b, w, Eigen::OuterStride<>(w + b));
      pivot.triangularView<Eigen::Lower>().transpose().solveInPlace<Eigen::OnTheRight>(below);
      Eigen::Map<Matrix>(update, b, b).selfadjointView<Eigen::Lower>().rankUpdate(below, -1.0);
      if (begin < used) std::copy(update, update + static_cast<std::size_t>(b) * b, stack_.data() + begin);
    }
    update_[s] = begin;
    used = begin + static_cast<std::size_t>(b) * b;
  }
  for (Index d = 0; d < size(); ++d) {
    const Index k = plan_.position[d], s = plan_.supernode_of[k], column = k - plan_.first[s];
    const double l = factor_[plan_.panel_start[s] +
                             column * static_cast<std::size_t>(plan_.width(s) + plan_.below(s) + 1)];
    const double growth = value_[start_[d]] / (l * l);
    if (!std::isfinite(growth)) return false;
    growth_ = std::max(growth_, growth);
  }
  return true;
}

void SparseFactor::multiply(const double* x, double* y) const {
  std::fill_n(y, size(), 0.0);
  for (Index c = 0; c < size(); ++c) {
    double sum = value_[start_[c]] * x[c];
    for (Index p = start_[c] + 1; p < start_[c + 1]; ++p) {
      sum += value_[p] * x[row_[p]];
      y[row_[p]] += value_[p] * x[c];
    }
    y[c] += sum;
  }
}

void SparseFactor::solve_in_place(double* x, Scratch& scratch) const {
  double* z = reserve(scratch.numbers, static_cast<std::size_t>(size()) + plan_.most_below);
  double* gathered = z + size();
  for (Index k = 0; k < size(); ++k) z[k] = x[plan_.order[k]];
  for (Index s = 0; s < plan_.count(); ++s) {
    const Index w = plan_.width(s), b = plan_.below(s);
    const Index* row = plan_.row.data() + plan_.row_start[s];
    Eigen::Map<Vector> own(z + plan_.first[s], w), sum(gathered, b);
    top(plan_, factor_, s).triangularView<Eigen::Lower>().solveInPlace(own);
    sum.noalias() = bottom(plan_, factor_, s) * own;
    for (Index r = 0; r < b; ++r) z[row[r]] -= sum[r];
  }
  for (Index s = plan_.count() - 1; s >= 0; --s) {
    const Index w = plan_.width(s), b = plan_.below(s);
    const Index* row = plan_.row.data() + plan_.row_start[s];
    Eigen::Map<Vector> own(z + plan_.first[s], w), known(gathered, b);
    for (Index r = 0; r < b; ++r) known[r] = z[row[r]];
    own.noalias() -= bottom(plan_, factor_, s).transpose() * known;
    top(plan_, factor_, s).transpose().triangularView<Eigen::Upper>().solveInPlace(own);
  }
  for (Index k = 0; k < size(); ++k) x[plan_.order[k]] = z[k];
}

// (A^-1)_cc = X^T X with X = L^-1 P, P the unit columns of c. In elimination order a subtree's columns of P follow each
// other, and only they are not zero in its rows of X: at supernode s the product with columns [from, to) is
//   X_s = L_s^-1 (P_s - sum of the children's updates),   C += X_s^T X_s,   update = L_below X_s + children's
void SparseFactor::inverse_block(std::span<const Index> dofs, Matrix& inverse, Scratch& scratch) const {
  const auto n = static_cast<Index>(dofs.size());
  std::vector<Index>& rank = scratch.rank;  // the dofs in elimination order
  rank.resize(dofs.size());
  std::iota(rank.begin(), rank.end(), 0);
  const auto position = [&](Index k) { return plan_.position[dofs[rank[k]]]; };
  std::sort(rank.begin(), rank.end(),
            [&](Index a, Index b) { return plan_.position[dofs[a]] < plan_.position[dofs[b]]; });
  const std::size_t peak = find_paths(dofs, scratch);
  double* stack = reserve(scratch.numbers, peak + static_cast<std::size_t>(n) * n);
  Eigen::Map<Matrix> sum(stack + peak, n, n);
  sum.setZero();
  std::size_t used = 0;
  for (Index s = 0; s < plan_.count(); ++s) {
    const Path& path = scratch.path[s];
    const Index w = plan_.width(s), b = plan_.below(s), k = path.to - path.from;
    if (k == 0) continue;
    Eigen::Map<Matrix> x(stack + used, w, k), update(stack + used + x.size(), b, k);
    x.setZero();
    update.setZero();
    for (Index t = path.own; t < path.to; ++t) x(position(t) - plan_.first[s], t - path.from) = 1.0;
    std::size_t begin = used;
    for (Index c = plan_.child[s]; c >= 0; c = plan_.sibling[c]) {
      const Path& child = scratch.path[c];
      if (child.to == child.from) continue;
      begin = std::min(begin, child.place);
      const Index* to = plan_.target.data() + plan_.row_start[c];
      const double* from = stack + child.place;
      for (Index t = child.from - path.from; t < child.to - path.from; ++t) {
        for (Index r = 0; r < plan_.below(c); ++r) {
          const double value = *from++;
          (to[r] < w ? x(to[r], t) : update(to[r] - w, t)) -= value;
        }
      }
    }
    top(plan_, factor_, s).triangularView<Eigen::Lower>().solveInPlace(x);
    sum.block(path.from, path.from, k, k).selfadjointView<Eigen::Lower>().rankUpdate(x.transpose());
    // Stored with the sign with which the parent subtracts it.
    update = -update;
    update.noalias() += bottom(plan_, factor_, s) * x;
    std::copy(update.data(), update.data() + update.size(), stack + begin);
    scratch.path[s].place = begin;
    used = begin + update.size();
  }
  inverse.resize(n, n);
  for (Index c = 0; c < n; ++c) {
    for (Index r = c; r < n; ++r) inverse(rank[r], rank[c]) = inverse(rank[c], rank[r]) = sum(r, c);
  }
}

// Which columns are not zero where, and how much memory their updates take at most.
std::size_t SparseFactor::find_paths(std::span<const Index> dofs, Scratch& scratch) const {
  const auto n = static_cast<Index>(dofs.size());
  scratch.path.assign(static_cast<std::size_t>(plan_.count()), {});
  std::size_t used = 0, peak = 0;
  for (Index s = 0, next = 0; s < plan_.count(); ++s) {
    Path& path = scratch.path[s];
    path.from = path.own = next;
    while (next < n && plan_.position[dofs[scratch.rank[next]]] < plan_.first[s + 1]) ++next;
    path.to = next;
    std::size_t children = 0;
    for (Index c = plan_.child[s]; c >= 0; c = plan_.sibling[c]) {
      const Path& child = scratch.path[c];
      if (child.to == child.from) continue;
      path.from = std::min(path.from, child.from);
      children += static_cast<std::size_t>(plan_.below(c)) * (child.to - child.from);
    }
    const auto columns = static_cast<std::size_t>(path.to - path.from);
    peak = std::max(peak, used + columns * (plan_.width(s) + plan_.below(s)));
    used += columns * plan_.below(s);
    used -= children;
  }
  return peak;
}

}  // namespace tribo
