#include "tests/support/random_model.h"

#include <fmt/format.h>

#include <vector>

#include "tribo/multibody/model_builder.h"
#include "tribo/multibody/rotation.h"

namespace tribo::test {

Index random_index(Random& random, Index count) {
  return static_cast<Index>(random.uniform(0.0, static_cast<double>(count) - 1e-9));
}

Quat random_rotation(Random& random) { return rotation_exp(3.0 * random.vec3()); }

RigidInertia random_inertia(Random& random) {
  RigidInertia inertia = RigidInertia::point(random.uniform(0.2, 1.0), 0.5 * random.vec3());
  for (int i = 0; i < 5; ++i) {
    inertia = inertia + RigidInertia::point(random.uniform(0.2, 1.0), 0.5 * random.vec3());
  }
  return inertia;
}

JointDescription random_joint(Random& random, Index body, JointKind kind, bool first) {
  JointDescription joint{.name = fmt::format("j{}", body), .body = body, .kind = kind};
  joint.axis = random.vec3();
  if (random.uniform() > 0.0) joint.anchor = 0.3 * random.vec3();
  if (!first || random.uniform() > 0.0) joint.armature = random.uniform(0.1, 0.5);
  if (traits_of(kind).is_scalar()) joint.reference = random.uniform();
  return joint;
}

Model random_model(Random& random, const RandomModel& options) {
  ModelBuilder builder;
  std::vector<Index> open{0};
  for (Index b = 1; b <= options.bodies; ++b) {
    const Index depth = random_index(random, static_cast<Index>(open.size()) + 2);
    if (depth < static_cast<Index>(open.size())) open.resize(depth + 1);
    const Index parent = open.back();
    builder.add_body({.name = fmt::format("b{}", b),
                      .parent = parent,
                      .position = random.vec3(),
                      .rotation = random_rotation(random),
                      .inertia = random_inertia(random)});
    open.push_back(b);
    if (parent == 0 && random.uniform(0.0, 1.0) < options.free_share) {
      builder.add_joint(random_joint(random, b, JointKind::free));
      continue;
    }
    constexpr JointKind kinds[] = {JointKind::hinge, JointKind::slide, JointKind::hinge, JointKind::ball};
    const Index joints = random_index(random, 4);
    for (Index j = 0; j < joints; ++j) {
      const JointKind kind = kinds[random_index(random, 4)];
      builder.add_joint(random_joint(random, b, kind, j == 0));
      if (kind == JointKind::ball && !options.ball_anywhere) break;
    }
  }
  return builder.build();
}

State random_state(Random& random, const Model& model) {
  State state = initial_state(model);
  integrate(model, random.vector(model.dof_count()), 2.0, state.q);
  state.v = random.vector(model.dof_count());
  return state;
}

RandomMechanism::RandomMechanism(Random& random, const RandomModel& options)
    : model(random_model(random, options)), state(random_state(random, model)), kinematics(model) {
  kinematics.set_positions(state.q);
  kinematics.set_velocities(state.v);
}

}  // namespace tribo::test
