#include "tribo/multibody/state.h"

#include <fmt/format.h>

#include "tribo/base/errors.h"
#include "tribo/multibody/joint_types.h"

namespace tribo {
namespace {

// f(type, first coordinate, first dof) of every joint.
template <class F>
void for_each_joint(const Model& model, const F& f) {
  for (Index j = 0; j < model.joint_count(); ++j) {
    with_joint(model.joint(j).kind,
               [&](auto type) { f(type, model.joint_coordinate(j), model.joint_dof(j)); });
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
    detail::put_quaternion(model.body_rotation(mocap[k]), state.mocap.data() + first + 3);
  }
  return state;
}

Vector spring_coordinates(const Model& model) {
  Vector q = model.reference_coordinates();
  for (Index j = 0; j < model.joint_count(); ++j) {
    const JointDescription& joint = model.joint(j);
    if (traits_of(joint.kind).is_scalar()) q[model.joint_coordinate(j)] = joint.spring_reference;
  }
  return q;
}

void integrate(const Model& model, const Vector& v, double h, Vector& q) {
  for_each_joint(model, [&](auto type, Index c, Index d) { type.integrate(v.data() + d, h, q.data() + c); });
}

void difference(const Model& model, const Vector& from, const Vector& to, Vector& v) {
  v.resize(model.dof_count());
  for_each_joint(model, [&](auto type, Index c, Index d) {
    type.difference(from.data() + c, to.data() + c, v.data() + d);
  });
}

void normalize(const Model& model, Vector& q) {
  if (q.size() != model.coordinate_count()) {
    throw InvalidInput(
        fmt::format("q has {} entries: the model has {} coordinates", q.size(), model.coordinate_count()));
  }
  for (Index j = 0; j < model.joint_count(); ++j) {
    const JointDescription& joint = model.joint(j);
    const Index place = traits_of(joint.kind).quaternion;
    if (place < 0) continue;
    auto quaternion = q.segment<4>(model.joint_coordinate(j) + place);
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
