#include "tribo/sim/constraint_set.h"

namespace tribo {

void ConstraintSet::clear() {
  entries_.clear();
  pieces_.clear();
  bodies_.clear();
  values_.clear();
}

Index ConstraintSet::add(const ProblemFiller::Constraint& data, ConstraintSource source, Index origin) {
  const auto begin = static_cast<Index>(pieces_.size());
  const auto bodies = static_cast<Index>(bodies_.size());
  entries_.push_back({data, source, origin, begin, begin, bodies, bodies});
  return size() - 1;
}

double* ConstraintSet::piece_on(Index tree, Index dofs) {
  Entry& entry = entries_.back();
  for (Index p = entry.piece_begin; p < entry.piece_end; ++p) {
    if (pieces_[p].tree == tree) return values_.data() + pieces_[p].start;
  }
  const std::size_t start = values_.size();
  pieces_.push_back({tree, start});
  ++entry.piece_end;
  values_.resize(start + static_cast<std::size_t>(rows_of(entry.data.kind)) * dofs, 0.0);
  return values_.data() + start;
}

double* ConstraintSet::body_on(const Model& model, Index tree, Index body) {
  if (kinematics_ == nullptr) return nullptr;
  Entry& entry = entries_.back();
  Index piece = entry.piece_begin;
  while (pieces_[piece].tree != tree) ++piece;
  const Index dof = model.body_dof(body) - model.tree_dof(tree);
  for (Index b = entry.body_begin; b < entry.body_end; ++b) {
    if (bodies_[b].piece == piece && bodies_[b].dof == dof) return bodies_[b].block.data();
  }
  bodies_.push_back({piece, dof, {}});
  ++entry.body_end;
  return bodies_.back().block.data();
}

void ConstraintSet::add_point_rows(const Kinematics& kinematics, Index body, const Vec3& point, double sign,
                                   const Mat3& frame) {
  const Model& model = kinematics.model();
  const Index tree = model.body_tree(body);
  if (tree < 0) return;
  const Index first = model.tree_dof(tree);
  Eigen::Map<Eigen::Matrix<double, 3, Eigen::Dynamic>> block(piece_on(tree, model.tree_dof_count(tree)), 3,
                                                             model.tree_dof_count(tree));
  const Vec3 arm = point - kinematics.origin(tree);
  const Mat3 rows = sign * frame;
  // F (v + omega x r) = F v + (r x F^T)^T omega
  const Mat3 lever = rows * cross_matrix(-arm);
  if (double* of_body = body_on(model, tree, body)) {
    Eigen::Map<Eigen::Matrix<double, 3, 6>> sum(of_body);
    sum.leftCols<3>() += rows;
    sum.rightCols<3>() += lever;
  }
  for (Index d = model.body_dof(body); d >= 0; d = model.dof_parent(d)) {
    block.col(d - first) +=
        rows * kinematics.motion().col(d).head<3>() + lever * kinematics.motion().col(d).tail<3>();
  }
}

void ConstraintSet::add_point_row(const Kinematics& kinematics, Index body, const Vec3& point,
                                  const Vec3& direction) {
  const Model& model = kinematics.model();
  const Index tree = model.body_tree(body);
  if (tree < 0) return;
  const Index first = model.tree_dof(tree);
  double* block = piece_on(tree, model.tree_dof_count(tree));
  const Vec3 lever = (point - kinematics.origin(tree)).cross(direction);
  if (double* of_body = body_on(model, tree, body)) {
    Eigen::Map<Vec3>(of_body) += direction;
    Eigen::Map<Vec3>(of_body + 3) += lever;
  }
  for (Index d = model.body_dof(body); d >= 0; d = model.dof_parent(d)) {
    block[d - first] +=
        direction.dot(kinematics.motion().col(d).head<3>()) + lever.dot(kinematics.motion().col(d).tail<3>());
  }
}

void ConstraintSet::add_angular_row(const Kinematics& kinematics, Index body, const Vec3& direction) {
  const Model& model = kinematics.model();
  const Index tree = model.body_tree(body);
  if (tree < 0) return;
  const Index first = model.tree_dof(tree);
  double* block = piece_on(tree, model.tree_dof_count(tree));
  if (double* of_body = body_on(model, tree, body)) Eigen::Map<Vec3>(of_body + 3) += direction;
  for (Index d = model.body_dof(body); d >= 0; d = model.dof_parent(d)) {
    block[d - first] += direction.dot(kinematics.motion().col(d).tail<3>());
  }
}

void ConstraintSet::add_dof(const Model& model, Index tree, Index dof, double coefficient) {
  piece_on(tree, model.tree_dof_count(tree))[dof - model.tree_dof(tree)] += coefficient;
}

}  // namespace tribo
