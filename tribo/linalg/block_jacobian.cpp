#include "tribo/linalg/block_jacobian.h"

#include <algorithm>
#include <cassert>

#include "tribo/linalg/group_blocks.h"

namespace tribo {
namespace {

// Pieces of one or three rows times a vector: too small for general products, whose set-up costs as much. Columns of three
// are read by fours; the last number is of no use.
void add_three_rows(const double* j, const double* x, Index n, double* sum) {
  using Four = Eigen::Array4d;
  Four even = Four::Zero(), odd = Four::Zero();  // two short chains of additions instead of a long one
  Index c = 0;
  for (; c + 1 < n; c += 2, j += 6) {
    even += Eigen::Map<const Four>(j) * x[c];
    odd += Eigen::Map<const Four>(j + 3) * x[c + 1];
  }
  Four all = even + odd;
  if (c < n) all += Eigen::Map<const Four>(j) * x[c];
  for (int r = 0; r < 3; ++r) sum[r] += all[r];
}

// The same for a free body, without a loop.
[[gnu::always_inline]] inline void add_six_columns(const double* j, const double* x, double* sum) {
  using Four = Eigen::Array4d;
  const auto column = [j](int c) { return Eigen::Map<const Four>(j + 3 * c); };
  const Four all = (column(0) * x[0] + column(1) * x[1] + column(2) * x[2]) +
                   (column(3) * x[3] + column(4) * x[4] + column(5) * x[5]);
  for (int r = 0; r < 3; ++r) sum[r] += all[r];
}

// The sums stand apart from f, which the compiler cannot know to lie elsewhere than j.
template <int kColumns>
void add_columns_transposed(const double* j, double a, double b, double c, double* f) {
  double sum[kColumns];
  for (int k = 0; k < kColumns; ++k) sum[k] = j[3 * k] * a + j[3 * k + 1] * b + j[3 * k + 2] * c;
  for (int k = 0; k < kColumns; ++k) f[k] += sum[k];
}

void add_three_rows_transposed(const double* j, const double* l, Index n, double* f) {
  const double a = l[0], b = l[1], c = l[2];
  if (n == 6) return add_columns_transposed<6>(j, a, b, c, f);  // a free body
  Index k = 0;
  for (; k + 4 <= n; k += 4) add_columns_transposed<4>(j + 3 * k, a, b, c, f + k);
  for (; k < n; ++k) add_columns_transposed<1>(j + 3 * k, a, b, c, f + k);
}

}  // namespace

void BlockJacobian::reserve(Index groups, Index pieces, std::size_t entries) {
  row_start_.reserve(static_cast<std::size_t>(groups) + 1);
  piece_start_.reserve(static_cast<std::size_t>(groups) + 1);
  pieces_.reserve(pieces);
  data_.reserve(entries + 1);
}

void BlockJacobian::clear() {
  row_start_.resize(1);
  piece_start_.resize(1);
  pieces_.clear();
  used_ = 0;
  most_rows_ = 0;
}

bool BlockJacobian::operator==(const BlockJacobian& other) const {
  return row_start_ == other.row_start_ && piece_start_ == other.piece_start_ && pieces_ == other.pieces_ &&
         std::equal(data_.begin(), data_.begin() + static_cast<std::ptrdiff_t>(used_), other.data_.begin());
}

Index BlockJacobian::add_group(Index rows) {
  row_start_.push_back(row_start_.back() + rows);
  most_rows_ = std::max(most_rows_, rows);
  piece_start_.push_back(piece_start_.back());
  return group_count() - 1;
}

void BlockJacobian::add_piece(Index tree, Index first_dof, const Eigen::Ref<const Matrix>& block) {
  assert(block.rows() == rows(group_count() - 1));
  double* data = add_piece(tree, first_dof, static_cast<Index>(block.cols()));
  Eigen::Map<Matrix>(data, block.rows(), block.cols()) = block;
}

double* BlockJacobian::add_piece(Index tree, Index first_dof, Index cols) {
  const std::size_t start = used_;
  pieces_.push_back({tree, first_dof, cols, start});
  used_ += static_cast<std::size_t>(rows(group_count() - 1)) * cols;
  if (used_ >= data_.size()) {  // one more than is used: columns of three are read by fours
    if (used_ >= data_.capacity()) data_.reserve(std::max(used_ + 1, 2 * data_.capacity()));
    data_.resize(data_.capacity());
  }
  ++piece_start_.back();
  return data_.data() + start;
}

// Of a single row; the order of the sum does not depend on where the numbers lie.
[[gnu::always_inline]] inline double product_of_row(const double* j, const double* x, Index n) {
  using Four = Eigen::Array4d;
  Four sums = Four::Zero();
  Index k = 0;
  for (; k + 4 <= n; k += 4) sums += Eigen::Map<const Four>(j + k) * Eigen::Map<const Four>(x + k);
  double sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);
  for (; k < n; ++k) sum += j[k] * x[k];
  return sum;
}

// Calls action(row, (J v)_row) for every row; contacts on free bodies (3x6 pieces) have fixed sizes.
template <class Action>
void BlockJacobian::for_each_product(const Eigen::Ref<const Vector>& v, const Action& action) const {
  for (Index g = 0; g < group_count(); ++g) {
    with_rows(
        rows(g), [&](auto size) __attribute__((always_inline)) {
          constexpr int n = size();
          double sum[n] = {};
          for (Index p = piece_start_[g]; p < piece_start_[g + 1]; ++p) {
            const double* j = piece_data(p);
            const double* x = v.data() + piece_dof(p);
            if constexpr (n == 1) {
              sum[0] += product_of_row(j, x, piece_cols(p));
            } else if constexpr (n == 3) {
              if (piece_cols(p) == 6) {
                add_six_columns(j, x, sum);
              } else {
                add_three_rows(j, x, piece_cols(p), sum);
              }
            } else {
              for (Index c = 0; c < piece_cols(p); ++c, j += n) {
                for (int r = 0; r < n; ++r) sum[r] += j[r] * x[c];
              }
            }
          }
          for (int r = 0; r < n; ++r) action(row_start_[g] + r, sum[r]);
        });
  }
}

void BlockJacobian::multiply(const Eigen::Ref<const Vector>& v, Eigen::Ref<Vector> u) const {
  for_each_product(v, [&](Index row, double product) { u[row] = product; });
}

void BlockJacobian::subtract_weighted_product(const Eigen::Ref<const Vector>& v, const Vector& weights,
                                              Eigen::Ref<Vector> u) const {
  for_each_product(v, [&](Index row, double product) { u[row] -= weights[row] * product; });
}

void BlockJacobian::add_transpose_product(const Eigen::Ref<const Vector>& lambda,
                                          Eigen::Ref<Vector> f) const {
  for (Index g = 0; g < group_count(); ++g) {
    const double* l = lambda.data() + row_start_[g];
    with_rows(rows(g), [&](auto size) {
      constexpr int n = size();
      bool zero = true;
      for (int r = 0; r < n; ++r) zero = zero && l[r] == 0.0;
      if (zero) return;  // open contacts are many
      for (Index p = piece_start_[g]; p < piece_start_[g + 1]; ++p) {
        if constexpr (n == 1) {
          const Eigen::Map<const Vector> row(piece_data(p), piece_cols(p));
          f.segment(piece_dof(p), piece_cols(p)) += l[0] * row;
        } else if constexpr (n == 3) {
          // Columns of three do not fill a register; read across them the products do.
          add_three_rows_transposed(piece_data(p), l, piece_cols(p), f.data() + piece_dof(p));
        } else {
          const double* j = piece_data(p);
          double* target = f.data() + piece_dof(p);
          for (Index c = 0; c < piece_cols(p); ++c, j += n) {
            for (int r = 0; r < n; ++r) target[c] += j[r] * l[r];
          }
        }
      }
    });
  }
}

}  // namespace tribo
