#include "tribo/multibody/dynamics.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cassert>
#include <cmath>

#include "tribo/multibody/articulation.h"

namespace tribo {
namespace {

using Block6 = Eigen::Map<Mat6>;
using ConstBlock6 = Eigen::Map<const Mat6>;

// The products of a force with the six columns of a free joint at the root: (e_i, 0) and (a_i x arm, a_i) with the
// axes a_i of the body, arm from its frame to the tree's origin.
void put_floating_base(const double* motion, const Vec3& arm, const double* force, double* product) {
  const double f0 = force[0], f1 = force[1], f2 = force[2];
  const double n0 = force[3] + arm[1] * f2 - arm[2] * f1;
  const double n1 = force[4] + arm[2] * f0 - arm[0] * f2;
  const double n2 = force[5] + arm[0] * f1 - arm[1] * f0;
  product[0] = f0;
  product[1] = f1;
  product[2] = f2;
  for (int i = 3; i < 6; ++i) {
    const double* axis = motion + 6 * i + 3;
    product[i] = axis[0] * n0 + axis[1] * n1 + axis[2] * n2;
  }
}

}  // namespace

Dynamics::Dynamics(const Model& model) : model_(&model) {
  const Articulations trees(model);
  for (Index t = 0; t < model.tree_count(); ++t) {
    if (model.is_free_body(t)) {
      tree_item_.push_back(static_cast<Index>(free_.size()));
      free_.push_back({});
      continue;
    }
    tree_item_.push_back(static_cast<Index>(chains_.size()));
    Chain& chain = chains_.emplace_back();
    chain.floating = traits_of(model.joint(model.joint_begin(model.tree_body(t))).kind).floating;
    chain.link_begin = static_cast<Index>(links_.size());
    add_links(t);
    chain.link_end = static_cast<Index>(links_.size());
    chain.mass.analyze(trees.parents(t));
    chain.factor.analyze(trees.parents(t));
  }
  bodies_.assign(36 * free_.size(), 0.0);
  inertia_.resize(links_.size());
  composite_.resize(links_.size());
  force_.resize(links_.size());
  for (Index t = 0; t < model.tree_count(); ++t) {
    if (model.is_free_body(t)) prepare_free(t);
  }
}

// Bodies welded together are one link: their inertias are summed in the frame of the one that has the joints.
void Dynamics::add_links(Index tree) {
  const Index first = model_->tree_body(tree), end = model_->tree_body_end(tree);
  std::vector<Index> link_of(end - first);
  std::vector<Pose> in_link(end - first);
  for (Index b = first; b < end; ++b) {
    const Index parent = model_->body_parent(b);
    if (model_->joint_begin(b) < model_->joint_end(b)) {
      const Index joint = model_->joint_begin(b), last = model_->joint_end(b) - 1;
      link_of[b - first] = static_cast<Index>(links_.size());
      links_.push_back({.body = b,
                        .parent = b == first ? -1 : link_of[parent - first],
                        .dof = model_->joint_dof(joint),
                        .dof_end = model_->joint_dof(last) + dofs_of(model_->joint(last).kind),
                        .inertia = model_->inertia(b)});
    } else {
      const Pose here{model_->body_position(b), model_->body_rotation(b).toRotationMatrix()};
      link_of[b - first] = link_of[parent - first];
      in_link[b - first] = in_link[parent - first] * here;
      RigidInertia& whole = links_[link_of[b - first]].inertia;
      whole = whole + model_->inertia(b).placed(in_link[b - first]);
    }
  }
}

// With the velocity of the frame origin in world axes and the angular velocity in body axes
//   M = [ (m + a) 1    -m R [c]x ]     and the Schur complement of its first block is
//       [ m [c]x R^T    J + a 1  ]     J + a 1 - m^2 / (m + a) [c]x^T [c]x,
// with J about the frame's origin, a the armature: only the block between the two turns with the body.
void Dynamics::prepare_free(Index tree) {
  const Index body = model_->tree_body(tree), dof = model_->tree_dof(tree);
  const RigidInertia& inertia = model_->inertia(body);
  const double armature = model_->armature()[dof];
  FreeBody& free = free_[tree_item_[tree]];
  const Mat3 cross = cross_matrix(inertia.center);
  const Mat3 squared = cross.transpose() * cross;  // symmetric to the last bit
  free.mass = inertia.mass;
  free.moment = inertia.mass * inertia.center;
  free.centered = inertia.center.isZero(0.0);
  free.rotational = inertia.rotational + inertia.mass * squared;
  free.inverse_mass = 1.0 / (inertia.mass + armature);
  Block6 m(bodies_.data() + 36 * tree_item_[tree]);
  m.topLeftCorner<3, 3>() = (inertia.mass + armature) * Mat3::Identity();
  m.bottomRightCorner<3, 3>() = free.rotational + armature * Mat3::Identity();
  const double share = inertia.mass * inertia.mass * free.inverse_mass;
  const Mat3 schur = m.bottomRightCorner<3, 3>() - share * squared;
  const Eigen::LLT<Mat3> factor(schur);
  free.inverse_rotational = factor.solve(Mat3::Identity());
  free.definite = factor.info() == Eigen::Success && std::isfinite(free.inverse_mass) &&
                  free.inverse_rotational.allFinite();
}

void Dynamics::set_positions(const Kinematics& kinematics) {
  for (Index t = 0; t < model_->tree_count(); ++t) {
    if (!model_->is_free_body(t)) {
      set_tree_mass(kinematics, t);
      continue;
    }
    const FreeBody& free = free_[tree_item_[t]];
    if (free.centered) continue;
    Block6 m(bodies_.data() + 36 * tree_item_[t]);
    const Mat3& r = kinematics.pose(model_->tree_body(t)).rotation;
    m.topRightCorner<3, 3>().noalias() = r * -cross_matrix(free.moment);
    m.bottomLeftCorner<3, 3>() = m.topRightCorner<3, 3>().transpose();
  }
}

void Dynamics::set_tree_mass(const Kinematics& kinematics, Index tree) {
  Chain& chain = chains_[tree_item_[tree]];
  const Vec3& origin = kinematics.origin(tree);
  for (Index l = chain.link_begin; l < chain.link_end; ++l) {
    inertia_[l] = composite_[l] =
        SpatialInertia::of(links_[l].inertia, kinematics.pose(links_[l].body), origin);
  }
  const Index first = model_->tree_dof(tree);
  const double* motion = kinematics.motion().data() + 6 * static_cast<std::size_t>(first);
  const double* armature = model_->armature().data() + first;
  const Vec3 arm = origin - kinematics.pose(model_->tree_body(tree)).position;
  for (Index l = chain.link_end - 1; l >= chain.link_begin; --l) {
    const Link& link = links_[l];
    for (Index d = link.dof - first; d < link.dof_end - first; ++d) {
      double force[6];
      composite_[l].apply(motion + 6 * d, force);
      const std::span<const Index> path = chain.mass.path(d);
      double* row = chain.mass.row(d);
      std::size_t p = 0;
      if (chain.floating && d >= 6) {
        put_floating_base(motion, arm, force, row);
        p = 6;
      }
      for (; p < path.size(); ++p) row[p] = dot6(motion + 6 * path[p], force);
      row[path.size() - 1] += armature[d];
    }
    if (link.parent >= 0) composite_[link.parent] += composite_[l];
  }
}

const double* Dynamics::dense_mass(Index tree, double* storage) const {
  if (model_->is_free_body(tree)) return body_mass(tree);
  tree_mass(tree).write_dense(storage);
  return storage;
}

Matrix Dynamics::mass(Index tree) const {
  const Index n = model_->tree_dof_count(tree);
  Matrix storage(n, n);
  return Eigen::Map<const Matrix>(dense_mass(tree, storage.data()), n, n);
}

double Dynamics::mass_diagonal(Index tree, Index dof) const {
  return model_->is_free_body(tree) ? body_mass(tree)[7 * dof]
                                    : tree_mass(tree).row(dof)[tree_mass(tree).path(dof).size() - 1];
}

void Dynamics::multiply_mass(const Vector& v, Vector& y) const {
  assert(v.size() == model_->dof_count());
  y.resize(model_->dof_count());
  for (Index t = 0; t < model_->tree_count(); ++t) {
    const Index first = model_->tree_dof(t);
    if (model_->is_free_body(t)) {
      y.segment<6>(first).noalias() = ConstBlock6(body_mass(t)) * v.segment<6>(first);
    } else {
      tree_mass(t).multiply(v.data() + first, y.data() + first);
    }
  }
}

double Dynamics::kinetic_energy(const Vector& v) const {
  assert(v.size() == model_->dof_count());
  double energy = 0.0;
  for (Index t = 0; t < model_->tree_count(); ++t) {
    const Index first = model_->tree_dof(t);
    if (model_->is_free_body(t)) {
      const Vec6 body = v.segment<6>(first);
      energy += 0.5 * body.dot(ConstBlock6(body_mass(t)) * body);
    } else {
      energy += tree_mass(t).energy(v.data() + first);
    }
  }
  return energy;
}

double Dynamics::weight_energy(const Kinematics& kinematics, const Vec3& gravity) {
  const Model& model = kinematics.model();
  double energy = 0.0;
  for (Index t = 0; t < model.tree_count(); ++t) {
    for (Index b = model.tree_body(t); b < model.tree_body_end(t); ++b) {
      energy -= model.inertia(b).mass * gravity.dot(kinematics.center(b));
    }
  }
  return energy;
}

void Dynamics::bias(const Kinematics& kinematics, const Vec3& gravity, Vector& bias) {
  bias.resize(model_->dof_count());
  for (Index t = 0; t < model_->tree_count(); ++t) {
    if (model_->is_free_body(t)) {
      free_bias(kinematics, gravity, t, bias);
    } else {
      tree_bias(kinematics, gravity, t, bias);
    }
  }
}

// m (g + w x (w x c)) and the moment about the frame's origin, that one in body axes.
void Dynamics::free_bias(const Kinematics& kinematics, const Vec3& gravity, Index tree, Vector& bias) const {
  const Index body = model_->tree_body(tree), dof = model_->tree_dof(tree);
  const FreeBody& free = free_[tree_item_[tree]];
  const Mat3& r = kinematics.pose(body).rotation;
  const Vec3 w = r.transpose() * kinematics.velocity(body).tail<3>();
  Vec3 linear = -free.mass * gravity;
  Vec3 angular = w.cross(free.rotational * w);
  if (!free.centered) {
    linear += r * w.cross(w.cross(free.moment));
    angular -= free.moment.cross(r.transpose() * gravity);
  }
  bias.segment<3>(dof) = linear;
  bias.segment<3>(dof + 3) = angular;
}

// Newton-Euler with vdot = 0 in a frame that accelerates upwards.
void Dynamics::tree_bias(const Kinematics& kinematics, const Vec3& gravity, Index tree, Vector& bias) {
  const Chain& chain = chains_[tree_item_[tree]];
  for (Index l = chain.link_begin; l < chain.link_end; ++l) {
    const double* velocity = kinematics.velocity(links_[l].body).data();
    const double* drift = kinematics.drift(links_[l].body).data();
    const double acceleration[6] = {
        drift[0] - gravity[0], drift[1] - gravity[1], drift[2] - gravity[2], drift[3], drift[4], drift[5]};
    double momentum[6], force[6];
    inertia_[l].apply(velocity, momentum);
    inertia_[l].apply(acceleration, force);
    add_cross_force(velocity, momentum, force);
    std::copy_n(force, 6, force_[l].data());
  }
  const double* motion = kinematics.motion().data();
  for (Index l = chain.link_end - 1; l >= chain.link_begin; --l) {
    const Link& link = links_[l];
    const double* force = force_[l].data();
    for (Index d = link.dof; d < link.dof_end; ++d)
      bias[d] = dot6(motion + 6 * static_cast<std::size_t>(d), force);
    if (link.parent >= 0) force_[link.parent] += force_[l];
  }
}

bool Dynamics::factorize() {
  bool definite = true;
  for (const FreeBody& free : free_) definite = definite && free.definite;
  for (Index t = 0; t < model_->tree_count(); ++t) {
    if (model_->is_free_body(t)) continue;
    Chain& chain = chains_[tree_item_[t]];
    chain.factor.assign(chain.mass, nullptr);
    if (!chain.factor.factorize()) definite = false;
  }
  return definite;
}

void Dynamics::solve_in_place(Vector& x) const {
  assert(x.size() == model_->dof_count());
  for (Index t = 0; t < model_->tree_count(); ++t) solve_tree_in_place(t, x.data() + model_->tree_dof(t));
}

void Dynamics::solve_tree_in_place(Index tree, double* x) const {
  if (!model_->is_free_body(tree)) {
    chains_[tree_item_[tree]].factor.solve_in_place(x);
    return;
  }
  const FreeBody& free = free_[tree_item_[tree]];
  Eigen::Map<Vec3> linear(x), angular(x + 3);
  linear *= free.inverse_mass;
  if (free.centered) {
    angular = free.inverse_rotational * Vec3(angular);
    return;
  }
  const ConstBlock6 m(bodies_.data() + 36 * tree_item_[tree]);
  const Vec3 moment = angular - m.bottomLeftCorner<3, 3>() * linear;
  angular.noalias() = free.inverse_rotational * moment;
  linear -= free.inverse_mass * (m.topRightCorner<3, 3>() * angular);
}

}  // namespace tribo
