// Coordinates with unit masses against dense algebra.
#include "tribo/sim/assembly/tree_roots.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "tests/support/random_model.h"
#include "tribo/multibody/dynamics.h"
#include "tribo/multibody/model_builder.h"

namespace tribo {
namespace {

// Every kind of tree: chains, free bodies with their centre in the frame or elsewhere.
struct Case {
  Model model;
  Kinematics kinematics;
  Dynamics dynamics;
  TreeRoots roots;

  explicit Case(Model m) : model(std::move(m)), kinematics(model), dynamics(model), roots(model) {}

  bool set(const State& state) {
    kinematics.set_positions(state.q);
    dynamics.set_positions(kinematics);
    bool good = true;
    for (Index t = 0; t < model.tree_count(); ++t)
      good = roots.set(t, dynamics.mass(t).data(), false) && good;
    return good;
  }
};

Model with_free_bodies(test::Random& random) {
  ModelBuilder builder;
  RigidInertia centred = test::random_inertia(random), shifted = centred;
  centred.center.setZero();
  RigidInertia principal = centred;
  principal.rotational = Vec3(centred.rotational.diagonal()).asDiagonal();
  builder.add_free_body("principal", {}, principal);
  builder.add_free_body("centred", {}, centred);
  builder.add_free_body("shifted", {}, shifted);
  return builder.build();
}

Matrix transformed(const TreeRoots& roots, Index tree, const Matrix& j) {
  Matrix block(j.rows(), j.cols() + 1), out(j.rows(), j.cols() + 1);  // with room behind them
  block << j, Matrix::Zero(j.rows(), 1);
  roots.transform(tree, static_cast<Index>(j.rows()), block.data(), out.data());
  return out.leftCols(j.cols());
}

void check(Case& c, test::Random& random) {
  ASSERT_TRUE(c.set(test::random_state(random, c.model)));
  for (Index t = 0; t < c.model.tree_count(); ++t) {
    const Matrix a = c.dynamics.mass(t);
    const Index n = a.rows();
    const Eigen::LLT<Matrix> factor(a);
    const Vector b = random.vector(n);
    Vector unit = b;
    c.roots.transform_momentum(t, unit.data());
    EXPECT_NEAR(unit.squaredNorm(), b.dot(factor.solve(b)), 1e-10 * unit.squaredNorm());
    for (const Index rows : {1, 3, 4, 6}) {
      const Matrix j = random.matrix(rows, n);
      const Matrix changed = transformed(c.roots, t, j);
      const Matrix w = j * factor.solve(j.transpose());
      EXPECT_LT((changed * changed.transpose() - w).norm(), 1e-10 * w.norm()) << n << " dofs";
      // u = J v = J' v'
      EXPECT_LT((changed * unit - j * factor.solve(b)).norm(), 1e-10);
    }
    Vector velocity = unit, solved = b;
    c.roots.recover_velocity(t, velocity.data());
    c.roots.solve(t, solved.data());
    const Vector reference = factor.solve(b);
    EXPECT_LT((velocity - reference).norm(), 1e-10 * reference.norm());
    EXPECT_LT((solved - reference).norm(), 1e-10 * reference.norm());
  }
}

TEST(TreeRoots, AgreeWithDenseAlgebra) {
  test::Random random(1);
  Case bodies(with_free_bodies(random));
  check(bodies, random);
  for (int k = 0; k < 10; ++k) {
    Case trees(test::random_model(random, {.bodies = 12}));
    check(trees, random);
    check(trees, random);  // the same structure with other numbers
  }
}

// As the free motion has them: packed, with what is implicit on top.
TEST(TreeRoots, OfPackedMassesWithADiagonalOnTop) {
  test::Random random(5);
  Case c(test::random_model(random, {.bodies = 12}));
  ASSERT_TRUE(c.set(test::random_state(random, c.model)));
  for (Index t = 0; t < c.model.tree_count(); ++t) {
    if (c.model.is_free_body(t)) continue;
    const Index n = c.model.tree_dof_count(t);
    const Vector diagonal = random.vector(n).cwiseAbs(), b = random.vector(n);
    for (const bool heavier : {true, false}) {
      ASSERT_TRUE(c.roots.set(t, c.dynamics.tree_mass(t), heavier ? diagonal.data() : nullptr));
      Matrix a = c.dynamics.mass(t);
      if (heavier) a.diagonal() += diagonal;
      Vector solved = b;
      c.roots.solve(t, solved.data());
      EXPECT_LT((a * solved - b).norm(), 1e-10 * b.norm());
    }
  }
}

TEST(TreeRoots, RowsOfABranchStayOnIt) {
  ModelBuilder builder;
  test::Random random(2);
  for (Index b = 1; b <= 3; ++b) {  // a root and two arms on it
    builder.add_body({.name = std::string(1, static_cast<char>('a' + b)),
                      .parent = b == 1 ? 0 : 1,
                      .position = random.vec3(),
                      .inertia = test::random_inertia(random)});
    builder.add_joint(test::random_joint(random, b, JointKind::hinge));
  }
  Case c(builder.build());
  ASSERT_TRUE(c.set(initial_state(c.model)));
  Matrix j(3, 3);
  j << random.matrix(3, 1), random.matrix(3, 1), Matrix::Zero(3, 1);  // root and first arm
  const Matrix changed = transformed(c.roots, 0, j);
  EXPECT_TRUE(changed.col(2).isZero(0.0));
  EXPECT_GT(changed.col(0).norm(), 0.0);
}

TEST(TreeRoots, MassesThatAreNotPositiveAreNoticed) {
  test::Random random(3);
  Case c(with_free_bodies(random));
  for (Index t = 0; t < 2; ++t) {
    Mat6 a = Mat6::Identity();
    EXPECT_TRUE(c.roots.set(t, a.data(), false));
    a(4, 4) = -1.0;
    EXPECT_FALSE(c.roots.set(t, a.data(), false)) << t;
    a(4, 4) = 1.0;
    a(0, 0) = 0.0;
    EXPECT_FALSE(c.roots.set(t, a.data(), false)) << t;
  }
}

}  // namespace
}  // namespace tribo
