#include "tribo/linalg/block_matrix.h"

#include <algorithm>
#include <cmath>

#include "tribo/linalg/group_blocks.h"

namespace tribo {

BlockMatrix BlockMatrix::from_pattern(std::vector<Index> starts,
                                      const std::vector<std::vector<Index>>& columns) {
  BlockMatrix matrix;
  matrix.starts_ = std::move(starts);
  const Index groups = matrix.group_count();
  matrix.block_start_.push_back(0);
  std::size_t entries = 0;
  for (Index g = 0; g < groups; ++g) {
    matrix.most_rows_ = std::max(matrix.most_rows_, matrix.rows(g));
    for (const Index c : columns[g]) {
      if (c == g) matrix.diagonal_.push_back(static_cast<Index>(matrix.column_.size()));
      matrix.column_.push_back(c);
      matrix.data_start_.push_back(entries);
      entries += static_cast<std::size_t>(matrix.rows(g)) * matrix.rows(c);
    }
    matrix.block_start_.push_back(static_cast<Index>(matrix.column_.size()));
  }
  matrix.data_.assign(entries, 0.0);
  return matrix;
}

BlockMatrix BlockMatrix::from_triplets(std::vector<Index> starts, std::span<const ScalarTriplet> triplets) {
  const Index groups = static_cast<Index>(starts.size()) - 1;
  std::vector<Index> group_of(starts.back());
  for (Index g = 0; g < groups; ++g) {
    for (Index r = starts[g]; r < starts[g + 1]; ++r) group_of[r] = g;
  }
  std::vector<std::vector<Index>> columns(groups);
  for (Index g = 0; g < groups; ++g) columns[g].push_back(g);
  for (const ScalarTriplet& t : triplets) {
    std::vector<Index>& row = columns[group_of[t.row]];
    if (row.back() != group_of[t.col]) row.push_back(group_of[t.col]);
  }
  for (std::vector<Index>& row : columns) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
  }
  BlockMatrix matrix = from_pattern(std::move(starts), columns);
  for (const ScalarTriplet& t : triplets) {
    const Index g = group_of[t.row];
    const Index c = group_of[t.col];
    const auto begin = matrix.column_.begin() + matrix.block_start_[g];
    const auto end = matrix.column_.begin() + matrix.block_start_[g + 1];
    const Index k = static_cast<Index>(std::lower_bound(begin, end, c) - matrix.column_.begin());
    matrix.mutable_block(g, k)(t.row - matrix.starts_[g], t.col - matrix.starts_[c]) += t.value;
  }
  return matrix;
}

void BlockMatrix::assign_part(const BlockMatrix& whole, std::span<const Index> groups,
                              std::span<const Index> local) {
  starts_.assign(1, 0);
  block_start_.assign(1, 0);
  column_.clear();
  diagonal_.clear();
  data_start_.clear();
  data_.clear();
  most_rows_ = 0;
  for (const Index g : groups) {
    most_rows_ = std::max(most_rows_, whole.rows(g));
    starts_.push_back(starts_.back() + whole.rows(g));
    for (Index k = whole.row_begin(g); k < whole.row_end(g); ++k) {
      const Index c = whole.column(k);
      if (c == g) diagonal_.push_back(static_cast<Index>(column_.size()));
      column_.push_back(local[c]);
      data_start_.push_back(data_.size());
      data_.insert(data_.end(), whole.data(k), whole.data(k) + whole.rows(g) * whole.rows(c));
    }
    block_start_.push_back(static_cast<Index>(column_.size()));
  }
}

void BlockMatrix::set_zero() { std::fill(data_.begin(), data_.end(), 0.0); }

bool BlockMatrix::all_finite() const {
  return std::all_of(data_.begin(), data_.end(), [](double x) { return std::isfinite(x); });
}

void BlockMatrix::multiply_row(Index g, const double* x, double* y) const {
  with_rows(rows(g), [&](auto size) {
    constexpr int n = size();
    if constexpr (n == 3) {
      Vec3 sum = Vec3::Zero();
      for (Index k = block_start_[g]; k < block_start_[g + 1]; ++k) {
        const Index c = column_[k];
        with_rows(rows(c), [&](auto cols) {
          constexpr int m = cols();
          if constexpr (m == 1) {
            sum += Eigen::Map<const Vec3>(data(k)) * x[starts_[c]];
          } else {
            sum.noalias() += Eigen::Map<const Eigen::Matrix<double, 3, m>>(data(k)) *
                             Eigen::Map<const VecN<m>>(x + starts_[c]);
          }
        });
      }
      Eigen::Map<Vec3> target(y);
      target = sum;
    } else {
      Eigen::Map<Vector> target(y, n);
      target.setZero();
      for (Index k = block_start_[g]; k < block_start_[g + 1]; ++k) {
        const Index c = column_[k];
        target.noalias() += block(g, k) * Eigen::Map<const Vector>(x + starts_[c], rows(c));
      }
    }
  });
}

void BlockMatrix::multiply(const Eigen::Ref<const Vector>& x, Eigen::Ref<Vector> y) const {
  for (Index g = 0; g < group_count(); ++g) multiply_row(g, x.data(), y.data() + starts_[g]);
}

double BlockMatrix::asymmetry() const {
  double largest = 0.0;
  double difference = 0.0;
  for (Index g = 0; g < group_count(); ++g) {
    for (Index k = row_begin(g); k < row_end(g); ++k) {
      const Index c = column_[k];
      const Block mine = block(g, k);
      largest = std::max(largest, mine.cwiseAbs().maxCoeff());
      const auto begin = column_.begin() + block_start_[c];
      const auto end = column_.begin() + block_start_[c + 1];
      const auto partner = std::lower_bound(begin, end, g);
      if (partner != end && *partner == g) {
        const Block theirs = block(c, static_cast<Index>(partner - column_.begin()));
        difference = std::max(difference, (mine - theirs.transpose()).cwiseAbs().maxCoeff());
      } else {
        difference = std::max(difference, mine.cwiseAbs().maxCoeff());
      }
    }
  }
  return largest > 0.0 ? difference / largest : 0.0;
}

Matrix BlockMatrix::to_dense() const {
  Matrix dense = Matrix::Zero(size(), size());
  for (Index g = 0; g < group_count(); ++g) {
    for (Index k = row_begin(g); k < row_end(g); ++k) {
      dense.block(starts_[g], starts_[column_[k]], rows(g), rows(column_[k])) = block(g, k);
    }
  }
  return dense;
}

}  // namespace tribo
