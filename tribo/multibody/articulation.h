// How the dofs of a tree hang together, in the numbering of the tree: what a solver that splits by bodies needs
// (Lee et al. (2024) (30), (31)). With these, A_j + beta sum J^T J of a tree keeps the tree's sparsity: the sums of
// J_{i,b}^T B J_{i,b} over the constraints of a body are its virtual inertia (41), and composite inertias carry them
// to the dofs as they carry the rigid ones (TreeMatrix::add_body_inertias).
//
// Example: a contact of body `foot` at the point p with frame rows e (rows x 3) becomes
//   Articulations trees(model);
//   parents = trees.parents(t);                               // constant
//   motion = tree_motion(kinematics, t);                      // 6 x n_t, at the positions of `kinematics`
//   term = {trees.dof_of_body(foot), e * point_map(kinematics, foot, p)};
#pragma once

#include <span>
#include <vector>

#include "tribo/multibody/kinematics.h"

namespace tribo {

class Articulations {
 public:
  explicit Articulations(const Model& model);  // keeps a pointer: the model must outlive it

  // [dofs of the tree] the dof before on the path to the root; -1 at the root, otherwise smaller than the dof.
  std::span<const Index> parents(Index tree) const {
    return {parent_.data() + model_->tree_dof(tree), static_cast<std::size_t>(model_->tree_dof_count(tree))};
  }
  // The dof by which a moving body is named: the last one that moves it.
  Index dof_of_body(Index body) const {
    return model_->body_dof(body) - model_->tree_dof(model_->body_tree(body));
  }

 private:
  const Model* model_;
  std::vector<Index> parent_;  // [dofs]
};

// The motion columns of one tree, 6 x n_t: V_d = V_parent(d) + column d times v_d, at origin(tree).
inline auto tree_motion(const Kinematics& kinematics, Index tree) {
  return kinematics.motion().middleCols(kinematics.model().tree_dof(tree),
                                        kinematics.model().tree_dof_count(tree));
}

// 3 x 6: spatial velocity of the (moving) body to the velocity of its point at `point` in the world.
Eigen::Matrix<double, 3, 6> point_map(const Kinematics& kinematics, Index body, const Vec3& point);

}  // namespace tribo
