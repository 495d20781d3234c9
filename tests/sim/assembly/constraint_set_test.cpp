// Rows of constraints against the velocities they stand for.
#include "tribo/sim/assembly/constraint_set.h"

#include <gtest/gtest.h>

#include "tests/support/random_model.h"
#include "tribo/multibody/model_builder.h"

namespace tribo {
namespace {

Model trees_and_bodies(test::Random& random) {
  ModelBuilder builder;
  for (int k = 0; k < 2; ++k) {
    RigidInertia inertia = test::random_inertia(random);
    if (k == 0) inertia.center.setZero();
    builder.add_free_body(k == 0 ? "centred" : "shifted", {}, inertia);
  }
  for (Index b = 3; b <= 5; ++b) {  // a free root with two bodies in a row
    builder.add_body({.name = std::string(1, static_cast<char>('a' + b)),
                      .parent = b == 3 ? 0 : b - 1,
                      .position = random.vec3(),
                      .inertia = test::random_inertia(random)});
    builder.add_joint(test::random_joint(random, b, b == 3 ? JointKind::free : JointKind::hinge));
  }
  return builder.build();
}

// The rows of the last constraint times v, tree by tree.
Vec3 product(const ConstraintSet& set, const Model& model, const Vector& v) {
  Vec3 sum = Vec3::Zero();
  const ConstraintSet::Entry& entry = set.entry(set.size() - 1);
  for (Index p = entry.piece_begin; p < entry.piece_end; ++p) {
    const Index tree = set.piece(p).tree, n = model.tree_dof_count(tree);
    sum += Eigen::Map<const Eigen::Matrix<double, 3, Eigen::Dynamic>>(set.values(set.piece(p)), 3, n) *
           v.segment(model.tree_dof(tree), n);
  }
  return sum;
}

TEST(ConstraintSet, PointRowsGiveRelativeVelocities) {
  test::Random random(3);
  const Model model = trees_and_bodies(random);
  for (const bool bodies : {false, true}) {
    const State state = test::random_state(random, model);
    Kinematics kinematics(model);
    kinematics.set_positions(state.q);
    kinematics.set_velocities(state.v);
    ConstraintSet set;
    if (bodies) set.keep_bodies(kinematics);
    for (Index a = 1; a < model.body_count(); ++a) {
      for (Index b = 0; b < a; ++b) {
        const Vec3 point = random.vec3();
        const Mat3 frame = random.matrix(3, 3);
        set.add({}, ConstraintSource::contact, 0);
        set.add_point_rows(kinematics, a, point, frame);
        set.add_point_rows(kinematics, b, point, -frame);
        const Vec3 relative = kinematics.point_velocity(a, point) - kinematics.point_velocity(b, point);
        EXPECT_LT((product(set, model, state.v) - frame * relative).norm(), 1e-12 * (1.0 + relative.norm()))
            << "bodies " << a << " and " << b;
      }
    }
  }
}

}  // namespace
}  // namespace tribo
