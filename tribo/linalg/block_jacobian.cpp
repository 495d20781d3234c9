#include "tribo/linalg/block_jacobian.h"

#include <cassert>
#include <type_traits>

namespace tribo {

void BlockJacobian::reserve(Index groups, Index pieces, std::size_t entries) {
  row_start_.reserve(static_cast<std::size_t>(groups) + 1);
  piece_start_.reserve(static_cast<std::size_t>(groups) + 1);
  tree_.reserve(pieces);
  dof_.reserve(pieces);
  cols_.reserve(pieces);
  data_start_.reserve(pieces);
  data_.reserve(entries);
}

void BlockJacobian::clear() {
  row_start_.resize(1);
  piece_start_.resize(1);
  for (std::vector<Index>* list : {&tree_, &dof_, &cols_}) list->clear();
  data_start_.clear();
  data_.clear();
}

Index BlockJacobian::add_group(Index rows) {
  row_start_.push_back(row_start_.back() + rows);
  piece_start_.push_back(piece_start_.back());
  return group_count() - 1;
}

void BlockJacobian::add_piece(Index tree, Index first_dof, const Eigen::Ref<const Matrix>& block) {
  assert(block.rows() == rows(group_count() - 1));
  tree_.push_back(tree);
  dof_.push_back(first_dof);
  cols_.push_back(static_cast<Index>(block.cols()));
  data_start_.push_back(data_.size());
  data_.resize(data_.size() + block.size());
  Eigen::Map<Matrix>(data_.data() + data_start_.back(), block.rows(), block.cols()) = block;
  ++piece_start_.back();
}

// Calls action(row, J_g v) for every group; contacts on free bodies (3x6 pieces) have fixed sizes.
template <class Action>
void BlockJacobian::for_each_product(const Eigen::Ref<const Vector>& v, const Action& action) const {
  using PieceX = Eigen::Map<const Eigen::Matrix<double, 3, Eigen::Dynamic>>;
  for (Index g = 0; g < group_count(); ++g) {
    if (rows(g) == 3) {
      Vec3 sum = Vec3::Zero();
      for (Index p = piece_start_[g]; p < piece_start_[g + 1]; ++p) {
        if (cols_[p] == 6) {
          const double* j = piece_data(p);
          const double* x = v.data() + dof_[p];
          for (int r = 0; r < 3; ++r) {  // two short chains of additions instead of one long one
            sum[r] += (j[r] * x[0] + j[3 + r] * x[1] + j[6 + r] * x[2]) +
                      (j[9 + r] * x[3] + j[12 + r] * x[4] + j[15 + r] * x[5]);
          }
        } else {
          sum.noalias() += PieceX(piece_data(p), 3, cols_[p]) * v.segment(dof_[p], cols_[p]);
        }
      }
      action(row_start_[g], sum);
    } else {
      for (Index r = 0; r < rows(g); ++r) {
        Eigen::Matrix<double, 1, 1> sum(0.0);
        for (Index p = piece_start_[g]; p < piece_start_[g + 1]; ++p) {
          sum[0] += piece(g, p).row(r).dot(v.segment(dof_[p], cols_[p]));
        }
        action(row_start_[g] + r, sum);
      }
    }
  }
}

void BlockJacobian::multiply(const Eigen::Ref<const Vector>& v, Eigen::Ref<Vector> u) const {
  for_each_product(v, [&](Index row, const auto& product) {
    u.segment<std::decay_t<decltype(product)>::RowsAtCompileTime>(row) = product;
  });
}

void BlockJacobian::subtract_weighted_product(const Eigen::Ref<const Vector>& v, const Vector& weights,
                                              Eigen::Ref<Vector> u) const {
  for_each_product(v, [&](Index row, const auto& product) {
    constexpr int kRows = std::decay_t<decltype(product)>::RowsAtCompileTime;
    u.segment<kRows>(row) -= weights.segment<kRows>(row).cwiseProduct(product);
  });
}

void BlockJacobian::add_transpose_product(const Eigen::Ref<const Vector>& lambda,
                                          Eigen::Ref<Vector> f) const {
  for (Index g = 0; g < group_count(); ++g) {
    const Index r = rows(g);
    const double* l = lambda.data() + row_start_[g];
    if (l[0] == 0.0 && (r == 1 || (l[1] == 0.0 && l[2] == 0.0))) continue;  // open contacts are many
    for (Index p = piece_start_[g]; p < piece_start_[g + 1]; ++p) {
      if (r == 3 && cols_[p] == 6) {
        // Columns of three do not fill a register; read across them the products do.
        const double* j = piece_data(p);
        double* target = f.data() + dof_[p];
        for (int c = 0; c < 6; ++c) target[c] += j[3 * c] * l[0] + j[3 * c + 1] * l[1] + j[3 * c + 2] * l[2];
      } else {
        f.segment(dof_[p], cols_[p]).noalias() += piece(g, p).transpose() * lambda.segment(row_start_[g], r);
      }
    }
  }
}

}  // namespace tribo
