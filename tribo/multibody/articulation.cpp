#include "tribo/multibody/articulation.h"

namespace tribo {

Articulations::Articulations(const Model& model) : model_(&model), parent_(model.dof_count()) {
  for (Index t = 0; t < model.tree_count(); ++t) {
    for (Index d = model.tree_dof(t); d < model.tree_dof(t + 1); ++d) {
      parent_[d] = model.dof_parent(d) < 0 ? -1 : model.dof_parent(d) - model.tree_dof(t);
    }
  }
}

Eigen::Matrix<double, 3, 6> point_map(const Kinematics& kinematics, Index body, const Vec3& point) {
  Eigen::Matrix<double, 3, 6> map;
  map.leftCols<3>().setIdentity();
  map.rightCols<3>() = -cross_matrix(point - kinematics.origin(kinematics.model().body_tree(body)));
  return map;
}

}  // namespace tribo
