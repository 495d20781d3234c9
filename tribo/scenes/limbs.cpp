#include "tribo/scenes/limbs.h"

namespace tribo::detail {

Index add_limb(ModelBuilder& builder, World& world, const Limb& limb, const Material& material) {
  const double length = limb.end.norm();
  const Shape shape = length > 0.0 ? Shape::capsule(limb.radius, 0.5 * length) : Shape::sphere(limb.radius);
  const Mat3 turn = length > 0.0 ? Quat::FromTwoVectors(Vec3::UnitZ(), limb.end).toRotationMatrix()
                                 : Mat3(Mat3::Identity());
  const Pose pose{0.5 * limb.end, turn};
  const Index body = builder.add_body({.name = limb.name,
                                       .parent = limb.parent,
                                       .position = limb.position,
                                       .inertia = uniform_inertia(shape, limb.mass).placed(pose)});
  world.add_geom({.name = limb.name, .shape = shape, .body = body, .pose = pose, .material = material});
  return body;
}

Index add_limb_hinge(ModelBuilder& builder, Index body, const std::string& name, const Hinge& hinge) {
  return builder.add_joint({.name = name,
                            .body = body,
                            .kind = JointKind::hinge,
                            .axis = hinge.axis,
                            .armature = hinge.armature,
                            .damping = hinge.damping,
                            .limited = true,
                            .lower = hinge.lower,
                            .upper = hinge.upper});
}

}  // namespace tribo::detail
