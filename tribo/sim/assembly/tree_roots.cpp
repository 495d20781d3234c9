#include "tribo/sim/assembly/tree_roots.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "tribo/linalg/group_blocks.h"

namespace tribo {

TreeRoots::TreeRoots(const Model& model) : model_(&model) {
  std::vector<Index> parent;
  for (Index t = 0; t < model.tree_count(); ++t) {
    const Index first = model.tree_dof(t), n = model.tree_dof_count(t);
    simple_.push_back(model.is_free_body(t) && model.inertia(model.tree_body(t)).center.isZero(0.0));
    item_.push_back(static_cast<Index>(simple_.back() ? bodies_.size() : factors_.size()));
    if (simple_.back()) {
      bodies_.emplace_back();
      continue;
    }
    parent.clear();
    for (Index d = first; d < first + n; ++d) {
      parent.push_back(model.dof_parent(d) < 0 ? -1 : model.dof_parent(d) - first);
    }
    factors_.emplace_back(parent);
  }
}

// diag(m 1, I), I = C C^T: L = diag(sqrt(m) 1, C^T).
bool TreeRoots::set_body(Index tree, const double* matrix) {
  const Eigen::Map<const Mat6> a(matrix);
  const Eigen::LLT<Mat3> factor(Mat3(a.bottomRightCorner<3, 3>()));
  if (factor.info() != Eigen::Success || !(a(0, 0) > 0.0)) return false;
  Body& body = bodies_[item_[tree]];
  body.inverse_root_mass = 1.0 / std::sqrt(a(0, 0));
  body.inverse_root = factor.matrixU().solve(Mat3::Identity());
  body.diagonal = body.inverse_root.isDiagonal(0.0);
  return body.inverse_root.allFinite();
}

bool TreeRoots::set(Index tree, const double* matrix, bool same) {
  if (simple_[tree]) return (same && bodies_[item_[tree]].inverse_root_mass > 0.0) || set_body(tree, matrix);
  TreeMatrix& factor = factors_[item_[tree]];
  const Index n = factor.size();
  factor.assign(Eigen::Map<const Matrix>(matrix, n, n));
  return factor.factorize();
}

bool TreeRoots::set(Index tree, const TreeMatrix& mass, const double* diagonal) {
  TreeMatrix& factor = factors_[item_[tree]];
  factor.assign(mass, diagonal);
  return factor.factorize();
}

void TreeRoots::transform(Index tree, Index rows, const double* block, double* out) const {
  if (!simple_[tree]) {
    const TreeMatrix& factor = factors_[item_[tree]];
    return rows == 3 ? factor.transform_three_rows({&block, 1}, out)
                     : factor.transform_rows(rows, block, out);
  }
  const Body& body = bodies_[item_[tree]];
  with_rows(rows, [&](auto size) { transform_body<size()>(body, block, out); });
}

// `block` and `out` lie apart from each other.
template <int kRows>
void TreeRoots::transform_body(const Body& body, const double* __restrict block, double* __restrict out) {
  for (int k = 0; k < 3 * kRows; ++k) out[k] = body.inverse_root_mass * block[k];
  block += 3 * kRows;
  out += 3 * kRows;
  if (body.diagonal) {
    for (int c = 0; c < 3; ++c) {
      for (int r = 0; r < kRows; ++r) out[c * kRows + r] = body.inverse_root(c, c) * block[c * kRows + r];
    }
    return;
  }
  using Block = Eigen::Matrix<double, kRows, 3, kRows == 1 ? Eigen::RowMajor : Eigen::ColMajor>;
  Eigen::Map<Block>{out}.noalias() = Eigen::Map<const Block>(block).lazyProduct(body.inverse_root);
}

void TreeRoots::transform_contacts(Index tree, std::span<const double* const> blocks, double* out) const {
  factors_[item_[tree]].transform_three_rows(blocks, out);
}

void TreeRoots::transform_momentum(Index tree, double* momentum) const {
  if (!simple_[tree]) return factors_[item_[tree]].solve_transposed_in_place(momentum);
  const Body& body = bodies_[item_[tree]];
  Eigen::Map<Vec3> linear(momentum), angular(momentum + 3);
  linear *= body.inverse_root_mass;
  angular = body.inverse_root.transpose() * Vec3(angular);
}

void TreeRoots::recover_velocity(Index tree, double* velocity) const {
  if (!simple_[tree]) return factors_[item_[tree]].solve_lower_in_place(velocity);
  const Body& body = bodies_[item_[tree]];
  Eigen::Map<Vec3> linear(velocity), angular(velocity + 3);
  linear *= body.inverse_root_mass;
  angular = body.inverse_root * Vec3(angular);
}

void TreeRoots::solve(Index tree, double* x) const {
  transform_momentum(tree, x);
  recover_velocity(tree, x);
}

}  // namespace tribo
