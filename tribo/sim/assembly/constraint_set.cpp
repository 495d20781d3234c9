#include "tribo/sim/assembly/constraint_set.h"

#include <algorithm>

namespace tribo {
namespace {

// F (omega x r) = L omega: the rows of L are r x f of the rows f of F.
Mat3 lever(const Mat3& rows, const Vec3& arm) {
  Mat3 out;
  out.col(0) = arm.y() * rows.col(2) - arm.z() * rows.col(1);
  out.col(1) = arm.z() * rows.col(0) - arm.x() * rows.col(2);
  out.col(2) = arm.x() * rows.col(1) - arm.y() * rows.col(0);
  return out;
}

// block += rows V + turning Omega over the degrees of freedom that move the body, (V, Omega) their motion. Three rows fill
// no register: a fourth one is zero, and adds nothing to the number behind each column.
void add_motion_columns(const Kinematics& kinematics, Index body, const Mat3& rows, const Mat3& turning,
                        double* block) {
  using Four = Eigen::Array4d;
  const Model& model = kinematics.model();
  Four columns[6];
  for (int c = 0; c < 3; ++c) {
    columns[c] << rows(0, c), rows(1, c), rows(2, c), 0.0;
    columns[3 + c] << turning(0, c), turning(1, c), turning(2, c), 0.0;
  }
  const Index first = model.tree_dof(model.body_tree(body));
  for (Index d = model.body_dof(body); d >= 0; d = model.dof_parent(d)) {
    const double* motion = kinematics.motion().data() + 6 * static_cast<std::size_t>(d);
    const Four moving = columns[0] * motion[0] + columns[1] * motion[1] + columns[2] * motion[2];
    const Four turned = columns[3] * motion[3] + columns[4] * motion[4] + columns[5] * motion[5];
    Eigen::Map<Four>(block + 3 * static_cast<std::ptrdiff_t>(d - first)) += moving + turned;
  }
}

}  // namespace

void ConstraintSet::clear() {
  entries_.clear();
  pieces_.clear();
  bodies_.clear();
  used_ = 0;
}

Index ConstraintSet::add(const ProblemFiller::Constraint& data, ConstraintSource source, Index origin) {
  const auto begin = static_cast<Index>(pieces_.size());
  const auto bodies = static_cast<Index>(bodies_.size());
  entries_.push_back({.data = data,
                      .source = source,
                      .origin = origin,
                      .piece_begin = begin,
                      .piece_end = begin,
                      .body_begin = bodies,
                      .body_end = bodies});
  return size() - 1;
}

void ConstraintSet::drop_last() {
  const Entry& entry = entries_.back();
  if (entry.piece_begin < entry.piece_end) used_ = pieces_[entry.piece_begin].start;
  pieces_.resize(entry.piece_begin, {0, 0});
  bodies_.resize(entry.body_begin);
  entries_.pop_back();
}

double* ConstraintSet::piece_on(Index tree, Index dofs) {
  bool fresh;
  double* block = raw_piece_on(tree, dofs, fresh);
  if (fresh) std::fill(block, values_.data() + used_ + 1, 0.0);  // with what add_motion_columns may touch
  return block;
}

double* ConstraintSet::raw_piece_on(Index tree, Index dofs, bool& fresh) {
  Entry& entry = entries_.back();
  fresh = false;
  for (Index p = entry.piece_begin; p < entry.piece_end; ++p) {
    if (pieces_[p].tree == tree) return values_.data() + pieces_[p].start;
  }
  fresh = true;
  const std::size_t start = used_;
  pieces_.push_back({tree, start});
  ++entry.piece_end;
  used_ += static_cast<std::size_t>(entry.data.rows()) * dofs;
  if (used_ >= values_.size()) values_.resize(std::max(used_ + 1, 2 * values_.size()));
  return values_.data() + start;
}

void ConstraintSet::add_node_rows(Index tree, Index node, Index rows, const double* block) {
  const std::size_t start = used_, size = 3 * static_cast<std::size_t>(rows);
  pieces_.push_back({tree, start, node});
  ++entries_.back().piece_end;
  used_ += size;
  if (used_ >= values_.size()) values_.resize(std::max(used_ + 1, 2 * values_.size()));
  std::copy_n(block, size, values_.data() + start);
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

void ConstraintSet::carry(const Vec3& velocity) {
  entries_.back().data.bias.head<3>() += velocity;
  entries_.back().carried += velocity;
}

void ConstraintSet::add_point_rows(const Kinematics& kinematics, Index body, const Vec3& point,
                                   const Mat3& rows) {
  const Model& model = kinematics.model();
  const Index tree = model.body_tree(body);
  if (tree < 0) {
    if (body != 0) carry(rows * kinematics.point_velocity(body, point));
    return;
  }
  const Pose& pose = kinematics.pose(body);
  if (model.is_free_body(tree) && kinematics_ == nullptr) {  // v of the frame in world axes, omega in its own
    bool fresh;
    double* block = raw_piece_on(tree, 6, fresh);
    Eigen::Map<Mat3> moving(block), turning(block + 9);
    if (fresh) {
      moving = rows;
      turning = lever(rows, point - pose.position).lazyProduct(pose.rotation);
    } else {
      moving += rows;
      turning += lever(rows, point - pose.position).lazyProduct(pose.rotation);
    }
    return;
  }
  double* block = piece_on(tree, model.tree_dof_count(tree));
  double* of_body = body_on(model, tree, body);
  const Mat3 turning = lever(rows, point - kinematics.origin(tree));
  if (of_body != nullptr) {
    Eigen::Map<Mat3>{of_body} += rows;
    Eigen::Map<Mat3>(of_body + 9) += turning;
  }
  add_motion_columns(kinematics, body, rows, turning, block);
}

void ConstraintSet::add_elliptic_rows(const Kinematics& kinematics, Index body, const Vec3& point,
                                      const Mat3& frame, double sign, const EllipticRows& rows) {
  // Stored rows of a motion: velocity of the point, angular velocity.
  const auto add = [&](const Vec3& linear, const Vec3& angular, double* to) {
    RowValues given = RowValues::Zero();
    const Vec3 slip = frame * linear, turn = frame * angular;
    given[0] = slip[0];
    given[1] = slip[1];
    if (rows.given > 3) given[2] = turn[2];
    if (rows.given > 4) given.segment<2>(3) = turn.head<2>();
    given[rows.given - 1] = slip[2];
    for (Index r = 0; r < rows.rows; ++r) {
      if (rows.source[r] >= 0) to[r] += sign * rows.factor[r] * given[rows.source[r]];
    }
  };
  const Model& model = kinematics.model();
  const Index tree = model.body_tree(body);
  if (tree < 0) {
    if (body == 0) return;
    const Vec3 linear = kinematics.point_velocity(body, point);
    add(linear, kinematics.velocity(body).tail<3>(), entries_.back().data.bias.data());
    entries_.back().carried += sign * (frame * linear);
    return;
  }
  const Index first = model.tree_dof(tree);
  double* block = piece_on(tree, model.tree_dof_count(tree));
  const Vec3 arm = point - kinematics.origin(tree);
  if (double* of_body = body_on(model, tree, body)) {
    for (int c = 0; c < 3; ++c) {
      add(Vec3::Unit(c), Vec3::Zero(), of_body + rows.rows * c);
      add(Vec3::Unit(c).cross(arm), Vec3::Unit(c), of_body + rows.rows * (3 + c));
    }
  }
  for (Index d = model.body_dof(body); d >= 0; d = model.dof_parent(d)) {
    const Vec3 linear = kinematics.motion().col(d).head<3>(), angular = kinematics.motion().col(d).tail<3>();
    add(linear + angular.cross(arm), angular, block + static_cast<std::ptrdiff_t>(rows.rows) * (d - first));
  }
}

void ConstraintSet::add_point_row(const Kinematics& kinematics, Index body, const Vec3& point,
                                  const Vec3& direction) {
  const Model& model = kinematics.model();
  const Index tree = model.body_tree(body);
  if (tree < 0) {
    if (body != 0) carry(Vec3(direction.dot(kinematics.point_velocity(body, point)), 0.0, 0.0));
    return;
  }
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
  if (tree < 0) {
    if (body != 0) carry(Vec3(direction.dot(kinematics.velocity(body).tail<3>()), 0.0, 0.0));
    return;
  }
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
