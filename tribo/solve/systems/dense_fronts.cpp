#include "tribo/solve/systems/dense_fronts.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "tribo/linalg/simd/dense_lu.h"
#include "tribo/linalg/simd/padded_product.h"

namespace tribo {
namespace {

constexpr Index kMostDofs = 128;  // bits of a support
// Below, what looking for zeros costs is not got back. Measured: 18 degrees of freedom 3 % slower with fronts (geometric
// mean of quadrupeds), 29 up to 20 % faster.
constexpr Index kFewestDofs = 24;
// Two sets of degrees of freedom become one front where that has at most so many times those of the larger: the rows of
// a hand go with its arm, those of another leg (1.3 to 1.5) do not.
constexpr double kNearlySame = 1.25;
// Multiply-adds of all fronts beside those of one dense matrix: gathering and scattering cost the rest.
constexpr double kWorthIt = 0.6;

template <class Vector>
void grow(Vector& values, std::size_t size) {
  if (values.size() < size) values.resize(size);
}

Index size_of(const std::array<std::uint64_t, 2>& support) {
  return std::popcount(support[0]) + std::popcount(support[1]);
}

}  // namespace

bool DenseFronts::assemble(const ContactProblem& problem, const DenseWhitenedJacobian& whitened) {
  problem_ = &problem;
  if (whitened.dofs() < kFewestDofs || whitened.dofs() > kMostDofs) return false;
  support_.swap(last_support_);
  rows_of_.swap(last_rows_of_);
  find_supports(whitened);
  // From step to step a robot mostly touches the same.
  if (whitened.dofs() != dofs_ || support_ != last_support_ || rows_of_ != last_rows_of_) {
    dofs_ = whitened.dofs();
    deal_constraints();
    worth_it_ = is_worth_it();
    if (worth_it_) number_dofs();
  }
  if (worth_it_) copy_columns(whitened);
  return worth_it_;
}

void DenseFronts::find_supports(const DenseWhitenedJacobian& whitened) {
  const Index count = problem_->constraint_count(), dofs = whitened.dofs();
  support_.assign(count, Support{});
  rows_of_.resize(count);
  for (Index i = 0; i < count; ++i) {
    rows_of_[i] = static_cast<char>(problem_->rows(i));
    for (Index r = problem_->row(i); r < problem_->row(i) + problem_->rows(i); ++r) {
      const double* x = whitened.column(r);
      for (Index word = 0; 64 * word < dofs; ++word) {
        const Index first = 64 * word, end = std::min<Index>(dofs, first + 64);
        std::uint64_t bits = 0;
        for (Index d = first; d < end; ++d) bits |= static_cast<std::uint64_t>(x[d] != 0.0) << (d - first);
        support_[i][word] |= bits;
      }
    }
  }
}

// The largest first: those of joints further up their limb are then part of them.
void DenseFronts::deal_constraints() {
  const Index count = problem_->constraint_count();
  fronts_.clear();
  std::array<Index, kMostDofs + 2> begin{};
  for (const Support& s : support_) ++begin[kMostDofs - size_of(s) + 1];
  for (Index k = 1; k < static_cast<Index>(begin.size()); ++k) begin[k] += begin[k - 1];
  order_.resize(count);
  front_of_.resize(count);
  for (Index i = 0; i < count; ++i) order_[begin[kMostDofs - size_of(support_[i])]++] = i;
  for (const Index i : order_) {
    const Support& s = support_[i];
    Index best = -1;
    double least = kNearlySame;
    for (Index f = 0; f < static_cast<Index>(fronts_.size()); ++f) {
      const Support both{fronts_[f].support[0] | s[0], fronts_[f].support[1] | s[1]};
      const double growth =
          static_cast<double>(size_of(both)) / std::max<Index>(size_of(fronts_[f].support), 1);
      if (growth < least) {
        least = growth;
        best = f;
      }
    }
    if (best < 0) {
      best = static_cast<Index>(fronts_.size());
      fronts_.emplace_back();
    }
    Front& front = fronts_[best];
    for (int k = 0; k < 2; ++k) front.support[k] |= s[k];
    front.rows += problem_->rows(i);
    ++front.constraints;
    front_of_[i] = best;
  }
}

bool DenseFronts::is_worth_it() const {
  if (fronts_.size() < 2) return false;
  const auto cost = [](double size, double rows) { return size * size * (rows + size / 3.0); };
  double fronts = 0.0;
  for (const Front& front : fronts_) {
    fronts += cost(static_cast<double>(padded_rows(size_of(front.support))), static_cast<double>(front.rows));
  }
  const double rows = problem_->row_count(), dense = dofs_;
  return fronts < kWorthIt * (rows < dense ? cost(rows, dense) : cost(dense, rows));
}

void DenseFronts::number_dofs() {
  shared_.clear();
  shared_place_.assign(dofs_, -1);
  Support seen{}, twice{};
  for (const Front& front : fronts_) {
    for (int k = 0; k < 2; ++k) {
      twice[k] |= seen[k] & front.support[k];
      seen[k] |= front.support[k];
    }
  }
  const auto has = [](const Support& s, Index d) { return (s[d / 64] >> (d % 64) & 1) != 0; };
  for (Index d = 0; d < dofs_; ++d) {
    if (!has(twice, d)) continue;
    shared_place_[d] = static_cast<Index>(shared_.size());
    shared_.push_back(d);
  }
  dof_.clear();
  std::size_t matrix = 0;
  for (Front& front : fronts_) {
    front.dof_begin = static_cast<Index>(dof_.size());
    for (Index d = 0; d < dofs_; ++d) {
      if (has(front.support, d) && !has(twice, d)) dof_.push_back(d);
    }
    front.own = static_cast<Index>(dof_.size()) - front.dof_begin;
    for (const Index d : shared_) {
      if (has(front.support, d)) dof_.push_back(d);
    }
    front.size = static_cast<Index>(dof_.size()) - front.dof_begin;
    front.stride = padded_rows(front.size);
    front.matrix = matrix;
    matrix += static_cast<std::size_t>(front.stride) * front.size;
  }
  grow(matrix_, matrix);
  grow(exchanges_, dof_.size());
  const auto shared = static_cast<Index>(shared_.size());
  grow(shared_matrix_, static_cast<std::size_t>(shared) * padded_rows(shared));
  grow(shared_exchanges_, shared_.size());
  grow(shared_part_, shared_.size());
}

void DenseFronts::copy_columns(const DenseWhitenedJacobian& whitened) {
  Index constraints = 0, rows = 0, widest = 0, most_rows = 0;
  std::size_t entries = 0;
  for (Front& front : fronts_) {
    front.constraint_begin = constraints;
    front.row_begin = rows;
    front.columns = entries;
    constraints += front.constraints;
    rows += front.rows;
    entries += static_cast<std::size_t>(front.size) * front.rows;
    widest = std::max(widest, front.stride);
    most_rows = std::max(most_rows, front.rows);
    front.constraints = front.rows = 0;  // counted again below
  }
  constraint_.resize(constraints);
  row_.resize(rows);
  grow(columns_, entries);
  grow(active_, static_cast<std::size_t>(widest) * most_rows);
  grow(weighted_, static_cast<std::size_t>(widest) * most_rows);
  grow(part_, static_cast<std::size_t>(widest));
  grow(rows_part_, static_cast<std::size_t>(most_rows));
  for (Index i = 0; i < problem_->constraint_count(); ++i) {
    Front& front = fronts_[front_of_[i]];
    constraint_[front.constraint_begin + front.constraints++] = i;
    for (Index r = problem_->row(i); r < problem_->row(i) + problem_->rows(i); ++r) {
      const double* x = whitened.column(r);
      double* to = columns_.data() + front.columns + static_cast<std::size_t>(front.size) * front.rows;
      for (Index k = 0; k < front.size; ++k) to[k] = x[dof_[front.dof_begin + k]];
      row_[front.row_begin + front.rows++] = r;
    }
  }
}

void DenseFronts::add_impulses(const Vector& impulse, double sign, Vector& target) {
  for (const Front& front : fronts_) {
    std::fill_n(part_.begin(), front.size, 0.0);
    const double* columns = columns_.data() + front.columns;
    for (Index c = front.constraint_begin; c < front.constraint_begin + front.constraints; ++c) {
      const Index i = constraint_[c], rows = problem_->rows(i);
      add_columns(columns, front.size, rows, impulse.data() + problem_->row(i), sign, part_.data());
      columns += front.size * rows;
    }
    for (Index k = 0; k < front.size; ++k) target[dof_[front.dof_begin + k]] += part_[k];
  }
}

void DenseFronts::multiply_transposed(const Vector& y, Vector& u) {
  u.resize(problem_->row_count());
  for (const Front& front : fronts_) {
    for (Index k = 0; k < front.size; ++k) part_[k] = y[dof_[front.dof_begin + k]];
    const double* columns = columns_.data() + front.columns;
    double* out = rows_part_.data();
    Index r = 0;
    for (; r + 4 <= front.rows; r += 4) {
      column_products<4>(columns + r * front.size, front.size, part_.data(), out + r);
    }
    for (; r < front.rows; ++r) {
      column_products<1>(columns + r * front.size, front.size, part_.data(), out + r);
    }
    for (r = 0; r < front.rows; ++r) u[row_[front.row_begin + r]] = out[r];
  }
}

bool DenseFronts::factorize(const GroupBlocks& derivative) {
  for (Front& front : fronts_) front.stale = true;
  return factorize_stale(derivative);
}

bool DenseFronts::factorize_again(const GroupBlocks& derivative, std::span<const Index> changed) {
  for (const Index i : changed) fronts_[front_of_[i]].stale = true;
  return factorize_stale(derivative);
}

bool DenseFronts::factorize_stale(const GroupBlocks& derivative) {
  for (Front& front : fronts_) {
    if (!front.stale) continue;
    form(front, derivative);
    if (!eliminate(front)) return false;
    front.stale = false;
  }
  return factorize_shared();
}

// X_a D X_a^T of the constraints with D != 0, and 1 on the diagonal of the own degrees of freedom.
void DenseFronts::form(const Front& front, const GroupBlocks& derivative) {
  const Index n = front.size;
  const double* x = columns_.data() + front.columns;
  double *active = active_.data(), *out = weighted_.data();
  Index rows = 0;
  for (Index c = front.constraint_begin; c < front.constraint_begin + front.constraints; ++c) {
    const Index count = problem_->rows(constraint_[c]);
    const Eigen::Map<const Matrix> w = derivative.block(constraint_[c], count);
    const double* x0 = x;
    x += n * count;
    if (w.isZero(0.0)) continue;
    active = std::copy(x0, x0 + n * count, active);
    rows += count;
    for (Index k = 0; k < count; ++k, out += front.stride) {
      if (count == 3) {
        const double w0 = w(0, k), w1 = w(1, k), w2 = w(2, k);
        const double *x1 = x0 + n, *x2 = x1 + n;
        for (Index d = 0; d < n; ++d) out[d] = w0 * x0[d] + w1 * x1[d] + w2 * x2[d];
      } else {
        std::fill_n(out, n, 0.0);
        for (Index r = 0; r < count; ++r) {
          for (Index d = 0; d < n; ++d) out[d] += w(r, k) * x0[r * n + d];
        }
      }
      std::fill(out + n, out + front.stride, 0.0);
    }
  }
  double* matrix = matrix_.data() + front.matrix;
  multiply_padded(weighted_.data(), front.stride, rows, active_.data(), n, 1, n, matrix);
  for (Index d = 0; d < front.own; ++d) matrix[d * front.stride + d] += 1.0;
}

bool DenseFronts::eliminate(const Front& front) {
  if (front.own == 0) return true;
  double* matrix = matrix_.data() + front.matrix;
  int* exchanges = exchanges_.data() + front.dof_begin;
  if (!factorize_lu(matrix, front.own, front.stride, exchanges)) return false;
  const Index shared = front.size - front.own;
  for (Index c = front.own; c < front.size; ++c) {
    double* b = matrix + c * front.stride;
    solve_lu(matrix, front.own, front.stride, exchanges, b);
    for (Index k = 0; k < front.own; ++k) {
      const double* left = matrix + k * front.stride + front.own;
      for (Index r = 0; r < shared; ++r) b[front.own + r] -= left[r] * b[k];
    }
  }
  return true;
}

bool DenseFronts::factorize_shared() {
  const auto n = static_cast<Index>(shared_.size());
  if (n == 0) return true;
  const Index stride = padded_rows(n);
  std::fill_n(shared_matrix_.begin(), static_cast<std::size_t>(stride) * n, 0.0);
  for (Index d = 0; d < n; ++d) shared_matrix_[d * stride + d] = 1.0;
  for (const Front& front : fronts_) {
    const double* matrix = matrix_.data() + front.matrix;
    const Index* dof = dof_.data() + front.dof_begin;
    for (Index c = front.own; c < front.size; ++c) {
      double* to = shared_matrix_.data() + shared_place_[dof[c]] * stride;
      for (Index r = front.own; r < front.size; ++r)
        to[shared_place_[dof[r]]] += matrix[c * front.stride + r];
    }
  }
  return factorize_lu(shared_matrix_.data(), n, stride, shared_exchanges_.data());
}

void DenseFronts::solve_in_place(double* r) {
  const auto shared = static_cast<Index>(shared_.size());
  for (Index k = 0; k < shared; ++k) shared_part_[k] = r[shared_[k]];
  for (const Front& front : fronts_) {
    const double* matrix = matrix_.data() + front.matrix;
    const Index* dof = dof_.data() + front.dof_begin;
    for (Index k = 0; k < front.own; ++k) part_[k] = r[dof[k]];
    if (front.own == 0) continue;
    solve_lu(matrix, front.own, front.stride, exchanges_.data() + front.dof_begin, part_.data());
    std::fill_n(part_.begin() + front.own, front.size - front.own, 0.0);
    for (Index k = 0; k < front.own; ++k) {
      const double* left = matrix + k * front.stride;
      for (Index d = front.own; d < front.size; ++d) part_[d] += left[d] * part_[k];
      r[dof[k]] = part_[k];
    }
    for (Index d = front.own; d < front.size; ++d) shared_part_[shared_place_[dof[d]]] -= part_[d];
  }
  if (shared == 0) return;
  solve_lu(shared_matrix_.data(), shared, padded_rows(shared), shared_exchanges_.data(), shared_part_.data());
  for (Index k = 0; k < shared; ++k) r[shared_[k]] = shared_part_[k];
  for (const Front& front : fronts_) {
    const double* matrix = matrix_.data() + front.matrix;
    const Index* dof = dof_.data() + front.dof_begin;
    for (Index k = 0; k < front.own; ++k) part_[k] = r[dof[k]];
    for (Index c = front.own; c < front.size; ++c) {
      const double x = r[dof[c]];
      for (Index k = 0; k < front.own; ++k) part_[k] -= matrix[c * front.stride + k] * x;
    }
    for (Index k = 0; k < front.own; ++k) r[dof[k]] = part_[k];
  }
}

}  // namespace tribo
