#include "tribo/multibody/state.h"

#include <fmt/format.h>

#include "tribo/base/errors.h"
#include "tribo/multibody/rotation.h"

namespace tribo {
namespace {

Quat quaternion_at(const Vector& q, Index first) {
  return Quat(q[first], q[first + 1], q[first + 2], q[first + 3]);
}

void put_quaternion(const Quat& value, Vector& q, Index first) {
  q[first] = value.w();
  q.segment<3>(first + 1) = value.vec();
}

void turn(const Vec3& rotation, Vector& q, Index first) {
  put_quaternion((quaternion_at(q, first) * rotation_exp(rotation)).normalized(), q, first);
}

// f(kind, first coordinate, first dof) of every joint.
template <class F>
void for_each_joint(const Model& model, const F& f) {
  for (Index j = 0; j < model.joint_count(); ++j) {
    f(model.joint(j).kind, model.joint_coordinate(j), model.joint_dof(j));
  }
}

}  // namespace

State initial_state(const Model& model) {
  State state{model.reference_coordinates(), Vector::Zero(model.dof_count()), 0.0};
  state.activation = Vector::Zero(model.activation_count());
  const std::vector<Index>& mocap = model.mocap_bodies();
  state.mocap.resize(static_cast<Eigen::Index>(7 * mocap.size()));
  for (std::size_t k = 0; k < mocap.size(); ++k) {
    const auto first = static_cast<Eigen::Index>(7 * k);
    state.mocap.segment<3>(first) = model.body_position(mocap[k]);
    put_quaternion(model.body_rotation(mocap[k]), state.mocap, first + 3);
  }
  return state;
}

void integrate(const Model& model, const Vector& v, double h, Vector& q) {
  for_each_joint(model, [&](JointKind kind, Index c, Index d) {
    switch (kind) {
      case JointKind::free:
        q.segment<3>(c) += h * v.segment<3>(d);
        turn(h * v.segment<3>(d + 3), q, c + 3);
        break;
      case JointKind::ball:
        turn(h * v.segment<3>(d), q, c);
        break;
      case JointKind::hinge:
      case JointKind::slide:
        q[c] += h * v[d];
        break;
    }
  });
}

void difference(const Model& model, const Vector& from, const Vector& to, Vector& v) {
  v.resize(model.dof_count());
  const auto turned = [&](Index c) -> Vec3 {
    return rotation_log(quaternion_at(from, c).conjugate() * quaternion_at(to, c));
  };
  for_each_joint(model, [&](JointKind kind, Index c, Index d) {
    switch (kind) {
      case JointKind::free:
        v.segment<3>(d) = to.segment<3>(c) - from.segment<3>(c);
        v.segment<3>(d + 3) = turned(c + 3);
        break;
      case JointKind::ball:
        v.segment<3>(d) = turned(c);
        break;
      case JointKind::hinge:
      case JointKind::slide:
        v[d] = to[c] - from[c];
        break;
    }
  });
}

void normalize(const Model& model, Vector& q) {
  if (q.size() != model.coordinate_count()) {
    throw InvalidInput(
        fmt::format("q has {} entries: the model has {} coordinates", q.size(), model.coordinate_count()));
  }
  for (Index j = 0; j < model.joint_count(); ++j) {
    const JointDescription& joint = model.joint(j);
    if (joint.kind == JointKind::hinge || joint.kind == JointKind::slide) continue;
    auto quaternion = q.segment<4>(model.joint_coordinate(j) + (joint.kind == JointKind::free ? 3 : 0));
    const double length = quaternion.stableNorm();
    if (!(length > 0.0) || !std::isfinite(length)) {
      throw InvalidInput(
          fmt::format("the quaternion of joint {} \"{}\" in q is zero or not finite: give four numbers "
                      "w x y z of length 1",
                      j, joint.name));
    }
    quaternion /= length;
  }
}

}  // namespace tribo
