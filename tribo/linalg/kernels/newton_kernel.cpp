#include "tribo/linalg/kernels/newton_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/linalg/simd/columns6.h"

namespace tribo {
namespace {

using Stride = Eigen::OuterStride<>;
using Jacobian6 = Eigen::Map<const Eigen::Matrix<double, 3, 6>>;

// Refines x against the true matrix while that helps; returns the relative residual reached.
template <class Multiply>
double refine(const BlockLu& lu, const Vector& rhs, Vector& x, Index refinements, Vector& residual,
              Vector& correction, const Multiply& multiply) {
  const double size = rhs.norm();
  if (size == 0.0) return 0.0;
  constexpr double kGoodEnough = 1e-14;
  double last = std::numeric_limits<double>::infinity();
  for (Index step = 0;; ++step) {
    multiply(x, residual);
    residual = rhs - residual;
    const double error = residual.norm() / size;
    if (!(error < last)) {  // the last correction did harm: take it back
      if (step > 0) x -= correction;
      return step > 0 ? last : error;
    }
    last = error;
    if (step == refinements || error <= kGoodEnough) return last;
    correction = residual;
    lu.solve_in_place(correction);
    x += correction;
  }
}

}  // namespace

bool PrimalLu::analyze(const BlockDiagonal& mass, const BlockJacobian& jacobian) {
  if (lu_.is_analyzed() && pattern_.matches(mass, jacobian)) return false;
  const BlockEdges edges = pattern_.remember(mass, jacobian);
  lu_.analyze(pattern_.sizes(), edges);
  has_factors_ = false;

  diagonal_.resize(mass.block_count());
  for (Index t = 0; t < mass.block_count(); ++t) diagonal_[t] = lu_.find(t, t);
  terms_.clear();
  group_terms_.assign(1, 0);
  between_bodies_.clear();
  for (Index g = 0; g < jacobian.group_count(); ++g) {
    bool bodies = jacobian.rows(g) == 3 && jacobian.piece_end(g) - jacobian.piece_begin(g) <= 2;
    for (Index p = jacobian.piece_begin(g); p < jacobian.piece_end(g); ++p) {
      bodies = bodies && jacobian.piece_cols(p) == 6;
      for (Index q = jacobian.piece_begin(g); q < jacobian.piece_end(g); ++q) {
        const BlockLu::Slot slot = lu_.find(jacobian.piece_tree(p), jacobian.piece_tree(q));
        // (J_p^T D J_q)^T = J_q^T D^T J_p.
        terms_.push_back(
            {g, slot.transposed ? q : p, slot.transposed ? p : q, slot.offset, slot.stride, slot.transposed});
      }
    }
    group_terms_.push_back(terms_.size());
    between_bodies_.push_back(bodies ? 1 : 0);
  }
  return true;
}

// The contact of free bodies. Pieces of three rows do not fill a register; transposed ones do, and D J is formed
// once for all terms it is part of.
void PrimalLu::add_body_terms(const BlockJacobian& jacobian, std::size_t first, const Mat3& d) {
  using Half = Eigen::Matrix<double, 6, 3>;
  const Index group = terms_[first].group;
  const Index begin = jacobian.piece_begin(group), count = jacobian.piece_end(group) - begin;
  Half j[2], plain[2], transposed[2];  // J^T, (D J)^T, (D^T J)^T
  for (Index p = 0; p < count; ++p) {
    j[p] = Jacobian6(jacobian.piece_data(begin + p)).transpose();
    for (int r = 0; r < 3; ++r) {
      plain[p].col(r) = j[p].col(0) * d(r, 0) + j[p].col(1) * d(r, 1) + j[p].col(2) * d(r, 2);
      transposed[p].col(r) = j[p].col(0) * d(0, r) + j[p].col(1) * d(1, r) + j[p].col(2) * d(2, r);
    }
  }
  for (std::size_t k = first; k < group_terms_[group + 1]; ++k) {
    const Term& term = terms_[k];
    const Half& a = j[term.a - begin];
    const Half& b = term.transposed_d ? transposed[term.b - begin] : plain[term.b - begin];
    double* target = lu_.data() + term.offset;
    Columns6 product;
    product.set<3>(a.data(), [&](int c, int row) { return b(c, row); });
    product.add_to(target, term.stride);
  }
}

template <int N>
void PrimalLu::add_term(const BlockJacobian& jacobian, const Term& term, const MatN<N>& d) {
  double* target = lu_.data() + term.offset;
  const Index a_cols = jacobian.piece_cols(term.a);
  const Index b_cols = jacobian.piece_cols(term.b);
  const double* a = jacobian.piece_data(term.a);
  const double* b = jacobian.piece_data(term.b);
  if constexpr (N == 1) {
    for (Index c = 0; c < b_cols; ++c, target += term.stride) {
      const double weighted = d(0, 0) * b[c];
      if (weighted == 0.0) continue;
      for (Index r = 0; r < a_cols; ++r) target[r] += a[r] * weighted;
    }
    return;
  }
  // Transposed, the rows of the piece fill registers. Columns of joints that the contact does not move are zero.
  transposed_.resize(N * static_cast<std::size_t>(a_cols));
  double* rows[N];
  for (int k = 0; k < N; ++k) rows[k] = transposed_.data() + static_cast<std::size_t>(k) * a_cols;
  for (Index r = 0; r < a_cols; ++r, a += N) {
    for (int k = 0; k < N; ++k) rows[k][r] = a[k];
  }
  const MatN<N> weight = term.transposed_d ? MatN<N>(d.transpose()) : d;
  for (Index c = 0; c < b_cols; ++c, target += term.stride) {
    const VecN<N> column = Eigen::Map<const VecN<N>>(b + N * c);
    if (column.isZero(0.0)) continue;
    const VecN<N> w = weight * column;
    if constexpr (N == 3) {
      const double *a0 = rows[0], *a1 = rows[1], *a2 = rows[2];
      for (Index r = 0; r < a_cols; ++r) target[r] += w[0] * a0[r] + w[1] * a1[r] + w[2] * a2[r];
    } else {
      for (int k = 0; k < N; ++k) {
        for (Index r = 0; r < a_cols; ++r) target[r] += w[k] * rows[k][r];
      }
    }
  }
}

bool PrimalLu::factorize(const BlockDiagonal& mass, const BlockJacobian& jacobian, const GroupBlocks& d) {
  mass_ = &mass;
  jacobian_ = &jacobian;
  d_ = &d;
  lu_.set_zero();
  for (Index t = 0; t < mass.block_count(); ++t) {
    const Index n = mass.block_size(t);
    const BlockLu::Slot& slot = diagonal_[t];
    Eigen::Map<Matrix, 0, Stride>(lu_.data() + slot.offset, n, n, Stride(slot.stride)) = mass.block(t);
  }
  for (Index g = 0; g < jacobian.group_count(); ++g) {
    const std::size_t first = group_terms_[g], end = group_terms_[g + 1];
    with_rows(jacobian.rows(g), [&](auto rows) {
      const MatN<rows()> block = d.at<rows()>(g);
      if (block.isZero(0.0)) return;
      if constexpr (rows() == 3) {
        if (between_bodies_[g] != 0 && end > first) return add_body_terms(jacobian, first, block);
      }
      for (std::size_t k = first; k < end; ++k) add_term<rows()>(jacobian, terms_[k], block);
    });
  }
  has_factors_ = lu_.factorize();
  return has_factors_;
}

void PrimalLu::multiply(const Vector& x, Vector& y) {
  rows_.resize(jacobian_->row_count());
  jacobian_->multiply(x, rows_);
  for (Index g = 0; g < jacobian_->group_count(); ++g) {
    const Index row = jacobian_->row_start(g);
    with_rows(jacobian_->rows(g), [&](auto rows) {
      rows_.segment<rows()>(row) = (d_->at<rows()>(g) * rows_.segment<rows()>(row)).eval();
    });
  }
  y.resize(x.size());
  mass_->multiply(x, y);
  jacobian_->add_transpose_product(rows_, y);
}

void PrimalLu::solve(const Vector& rhs, Vector& x, Index refinements) {
  x = rhs;
  lu_.solve_in_place(x);
  if (refinements == 0) return;
  backward_error_ = refine(lu_, rhs, x, refinements, residual_, correction_,
                           [this](const Vector& in, Vector& out) { multiply(in, out); });
}

// A factorisation runs at the speed of multiplications, a step of GMRES at that of memory, some four times slower per
// number: so many steps cost as much.
bool PrimalLu::solve_with_last_factors(const BlockDiagonal& mass, const BlockJacobian& jacobian,
                                       const GroupBlocks& d, const Vector& rhs, double tolerance, Vector& x) {
  constexpr double kFlopsPerNumber = 4.0;
  if (!has_factors_ || rhs.size() == 0) return false;
  mass_ = &mass;
  jacobian_ = &jacobian;
  d_ = &d;
  const double numbers =
      static_cast<double>(lu_.factor_entries()) + 2.0 * static_cast<double>(jacobian.entry_count());
  const double worth = lu_.factor_flops() / (kFlopsPerNumber * numbers);
  const auto most = static_cast<Index>(std::min(worth, static_cast<double>(Gmres::kMostSteps)));
  return gmres_.solve(
      rhs, tolerance, most, [this](const Vector& in, Vector& out) { multiply(in, out); },
      [this](Vector& in) { lu_.solve_in_place(in); }, x);
}

bool RowLu::analyze(const BlockMatrix& w) {
  if (lu_.is_analyzed() && pattern_.matches(w)) return false;
  const BlockEdges edges = pattern_.remember(w);
  lu_.analyze(pattern_.sizes(), edges);
  slots_.clear();
  for (Index g = 0; g < w.group_count(); ++g) {
    for (Index k = w.row_begin(g); k < w.row_end(g); ++k) slots_.push_back(lu_.find(g, w.column(k)));
  }
  return true;
}

bool RowLu::factorize(const BlockMatrix& w, const GroupBlocks& p, const GroupBlocks& q) {
  w_ = &w;
  p_ = &p;
  q_ = &q;
  lu_.set_zero();
  for (Index g = 0; g < w.group_count(); ++g) {
    with_rows(w.rows(g), [&](auto size) {
      constexpr int n = size();
      const MatN<n> left = p.at<n>(g);
      const bool idle = left.isZero(0.0);
      for (Index k = w.row_begin(g); k < w.row_end(g); ++k) {
        const Index c = w.column(k);
        if (idle && c != g) continue;
        place_block<n>(w, k, left);
        if (c != g) continue;
        const BlockLu::Slot& slot = slots_[k];
        const MatN<n> added = q.at<n>(g);
        for (Index column = 0; column < n; ++column) {
          double* target = lu_.data() + slot.offset + column * slot.stride;
          for (Index row = 0; row < n; ++row) target[row] += added(row, column);
        }
      }
    });
  }
  return lu_.factorize();
}

// P_g W_gk at its place.
template <int N>
void RowLu::place_block(const BlockMatrix& w, Index k, const MatN<N>& p) {
  const BlockLu::Slot& slot = slots_[k];
  const Index cols = w.rows(w.column(k));
  const double* block = w.data(k);
  double* target = lu_.data() + slot.offset;
  if (cols == N && N > 1) {
    const MatN<N> product = p * Eigen::Map<const MatN<N>>(block);
    Eigen::Map<MatN<N>, 0, Stride> placed(target, Stride(slot.stride));
    if (slot.transposed) {
      placed = product.transpose();
    } else {
      placed = product;
    }
    return;
  }
  for (Index column = 0; column < cols; ++column) {
    for (Index row = 0; row < N; ++row) {
      double sum = 0.0;
      for (Index inner = 0; inner < N; ++inner) sum += p(row, inner) * block[inner + column * N];
      target[slot.transposed ? column + row * slot.stride : row + column * slot.stride] = sum;
    }
  }
}

void RowLu::multiply(const Vector& x, Vector& y) {
  product_.resize(x.size());
  y.resize(x.size());
  w_->multiply(x, product_);
  for (Index g = 0; g < w_->group_count(); ++g) {
    const Index row = w_->start(g);
    with_rows(w_->rows(g), [&](auto size) {
      constexpr int n = size();
      y.segment<n>(row) = p_->at<n>(g) * product_.segment<n>(row) + q_->at<n>(g) * x.segment<n>(row);
    });
  }
}

void RowLu::solve(const Vector& rhs, Vector& x, Index refinements) {
  x = rhs;
  lu_.solve_in_place(x);
  if (refinements == 0) return;
  backward_error_ = refine(lu_, rhs, x, refinements, residual_, correction_,
                           [this](const Vector& in, Vector& out) { multiply(in, out); });
}

}  // namespace tribo
