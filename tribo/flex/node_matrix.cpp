#include "tribo/flex/node_matrix.h"

#include <algorithm>
#include <utility>

namespace tribo {

NodePattern::NodePattern(const TetMesh& mesh) {
  std::vector<std::pair<Index, Index>> pairs;
  pairs.reserve(10 * mesh.tets.size());
  for (const TetMesh::Tet& tet : mesh.tets) {
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b <= a; ++b) pairs.emplace_back(std::min(tet[a], tet[b]), std::max(tet[a], tet[b]));
    }
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  row_start_.assign(mesh.nodes.size() + 1, 0);
  column_.reserve(pairs.size());
  for (const auto& [i, j] : pairs) {
    ++row_start_[i + 1];
    column_.push_back(j);
  }
  for (std::size_t i = 1; i < row_start_.size(); ++i) row_start_[i] += row_start_[i - 1];
  place_.resize(mesh.tets.size());
  for (std::size_t e = 0; e < mesh.tets.size(); ++e) {
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b < 4; ++b) {
        const auto [i, j] = std::minmax(mesh.tets[e][a], mesh.tets[e][b]);
        const auto begin = column_.begin() + row_start_[i], end = column_.begin() + row_start_[i + 1];
        place_[e][4 * a + b] = static_cast<Index>(std::lower_bound(begin, end, j) - column_.begin());
      }
    }
  }
}

NodeMatrix::NodeMatrix(std::shared_ptr<const NodePattern> pattern)
    : pattern_(std::move(pattern)), blocks_(pattern_->block_count(), Mat3::Zero()) {}

void NodeMatrix::set_zero() { std::fill(blocks_.begin(), blocks_.end(), Mat3::Zero()); }

void NodeMatrix::add_scaled(double factor, const NodeMatrix& other) {
  for (std::size_t k = 0; k < blocks_.size(); ++k) blocks_[k] += factor * other.blocks_[k];
}

void NodeMatrix::add_product(double factor, const Vector& x, Vector& y) const {
  for (Index i = 0; i < pattern_->node_count(); ++i) {
    const Vec3 xi = factor * x.segment<3>(3 * i);
    Vec3 sum = Vec3::Zero();
    for (Index k = pattern_->row_begin(i); k < pattern_->row_end(i); ++k) {
      const Index j = pattern_->column(k);
      sum += blocks_[k] * (factor * x.segment<3>(3 * j));
      if (j != i) y.segment<3>(3 * j) += blocks_[k].transpose() * xi;
    }
    y.segment<3>(3 * i) += sum;
  }
}

Matrix NodeMatrix::to_dense() const {
  Matrix dense = Matrix::Zero(size(), size());
  for (Index i = 0; i < pattern_->node_count(); ++i) {
    for (Index k = pattern_->row_begin(i); k < pattern_->row_end(i); ++k) {
      const Index j = pattern_->column(k);
      dense.block<3, 3>(3 * i, 3 * j) = blocks_[k];
      dense.block<3, 3>(3 * j, 3 * i) = blocks_[k].transpose();
    }
  }
  return dense;
}

NodeFactor::NodeFactor(const NodePattern& pattern, std::span<const Index> fixed)
    : fixed_(pattern.node_count(), 0), start_{0}, factor_{std::make_shared<SparseFactor>()} {
  for (const Index node : fixed) fixed_[node] = 1;
  for (Index i = 0; i < pattern.node_count(); ++i) {
    for (int column = 0; column < 3; ++column) {
      for (Index k = pattern.row_begin(i); k < pattern.row_end(i); ++k) {
        const Index j = pattern.column(k);
        if (j != i && (is_fixed(i) || is_fixed(j))) continue;
        for (int row = j == i ? column : 0; row < 3; ++row) row_.push_back(3 * j + row);
      }
      start_.push_back(static_cast<Index>(row_.size()));
    }
  }
  value_.resize(row_.size());
}

bool NodeFactor::factorize(const NodeMatrix& matrix) {
  const NodePattern& pattern = matrix.pattern();
  std::size_t at = 0;
  for (Index i = 0; i < pattern.node_count(); ++i) {
    for (int column = 0; column < 3; ++column) {
      for (Index k = pattern.row_begin(i); k < pattern.row_end(i); ++k) {
        const Index j = pattern.column(k);
        if (j != i && (is_fixed(i) || is_fixed(j))) continue;
        for (int row = j == i ? column : 0; row < 3; ++row) {
          value_[at++] = is_fixed(i) ? (row == column ? 1.0 : 0.0) : matrix.block(k)(column, row);
        }
      }
    }
  }
  for (current_ = 0; current_ < factor_.size() && factor_[current_].use_count() > 1;) ++current_;
  if (current_ == factor_.size()) factor_.push_back(std::make_shared<SparseFactor>(*factor_.front()));
  return factor_[current_]->factorize({3 * pattern.node_count(), start_, row_, value_});
}

void NodeFactor::solve(Eigen::Ref<Vector> x) {
  clear_fixed(x);
  factor_[current_]->solve_in_place(x.data(), scratch_);
}

void NodeFactor::clear_fixed(Eigen::Ref<Vector> x) const {
  for (std::size_t n = 0; n < fixed_.size(); ++n) {
    if (fixed_[n] != 0) x.segment<3>(3 * static_cast<Index>(n)).setZero();
  }
}

}  // namespace tribo
