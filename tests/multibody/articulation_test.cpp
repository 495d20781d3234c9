#include "tribo/multibody/articulation.h"

#include <gtest/gtest.h>

#include "tests/support/random_model.h"
#include "tribo/linalg/tree_matrix.h"
#include "tribo/multibody/dynamics.h"

namespace tribo {
namespace {

using Rows = Eigen::Matrix<double, 3, Eigen::Dynamic>;

// J_ij = J_{i,b} J_{b,j}, Lee et al. (2024) (31), with J_{b,j} the motion columns on the path of the body.
TEST(Articulation, BodyTermsAddUpToTheJacobian) {
  test::Random random(1);
  for (int i = 0; i < 20; ++i) {
    const test::RandomMechanism mechanism(random);
    const Model& model = mechanism.model;
    const Kinematics& kinematics = mechanism.kinematics;
    const Articulations trees(model);
    for (Index b = 1; b < model.body_count(); ++b) {
      const Index tree = model.body_tree(b);
      if (tree < 0) continue;
      const auto parents = trees.parents(tree);
      const Vec3 point = random.vec3();
      Rows exact(3, model.tree_dof_count(tree)), sum = Rows::Zero(3, model.tree_dof_count(tree));
      kinematics.point_jacobian(b, point, exact);
      const auto motion = tree_motion(kinematics, tree);
      for (Index d = trees.dof_of_body(b); d >= 0; d = parents[d]) {
        sum.col(d) = point_map(kinematics, b, point) * motion.col(d);
      }
      EXPECT_LE((sum - exact).cwiseAbs().maxCoeff(), 1e-13 * (1 + exact.norm()));
    }
  }
}

// M + beta sum J^T J by virtual inertias (41) and composite inertias, against the dense sum.
TEST(Articulation, VirtualInertiasKeepTheSparsity) {
  test::Random random(2);
  for (int i = 0; i < 10; ++i) {
    const test::RandomMechanism mechanism(random, {.bodies = 12});
    const Model& model = mechanism.model;
    const Kinematics& kinematics = mechanism.kinematics;
    Dynamics dynamics(model);
    dynamics.set_positions(kinematics);
    const Articulations trees(model);
    for (Index t = 0; t < model.tree_count(); ++t) {
      const Index n = model.tree_dof_count(t);
      Matrix dense = dynamics.mass(t);
      std::vector<TreeMatrix::Mat6> virtual_inertia(n, TreeMatrix::Mat6::Zero());
      for (Index b = model.tree_body(t); b < model.tree_body_end(t); ++b) {
        const Vec3 point = random.vec3();
        const double beta = random.uniform(0.1, 2.0);
        Rows j(3, n);
        kinematics.point_jacobian(b, point, j);
        dense += beta * j.transpose() * j;
        const auto map = point_map(kinematics, b, point);
        virtual_inertia[trees.dof_of_body(b)] += beta * map.transpose() * map;
      }
      TreeMatrix packed(trees.parents(t));
      packed.assign(dynamics.mass(t));
      packed.add_body_inertias(tree_motion(kinematics, t), virtual_inertia);
      EXPECT_LE((packed.to_dense() - dense).cwiseAbs().maxCoeff(), 1e-12 * dense.norm());
    }
  }
}

}  // namespace
}  // namespace tribo
