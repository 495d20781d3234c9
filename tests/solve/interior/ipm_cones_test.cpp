#include "tribo/solve/interior/ipm_cones.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "tests/support/dense_twin.h"
#include "tests/support/random.h"
#include "tests/support/sample_problems.h"
#include "tests/support/small_problems.h"
#include "tribo/problem/contact_problem_builder.h"

namespace tribo {
namespace {

struct Setting {
  explicit Setting(const ContactProblem& given) : problem(given), w(test::dense_delassus(given)) {
    cones.prepare(problem);
    cones.start_cold();
    blocks.resize(problem);
  }

  // w~ = S ((W + R) lambda + q) / c at the present x.
  Vector velocity() const {
    const Vector impulse = cones.unit() * cones.scaling().cwiseProduct(cones.x());
    const Vector raw = w * impulse + problem.compliance().cwiseProduct(impulse) + problem.free_velocity();
    return raw.cwiseProduct(cones.scaling()) / cones.unit();
  }

  // One Newton direction on dense matrices.
  void direct(Law law, double target, bool second_order) {
    const Vector velocities = velocity();
    cones.primal_residual(law, velocities, rp);
    ASSERT_TRUE(cones.scale_pairs(problem, law, problem.compliance(), velocities, 1e-10, blocks));
    Vector r(problem.row_count());
    cones.aim(target, second_order, 1.0, rp, r);
    const Matrix p = test::dense_weights(problem.jacobian(), blocks.p);
    const Matrix q = test::dense_weights(problem.jacobian(), blocks.q);
    cones.set_direction((p * w + q).fullPivLu().solve(r));
  }

  ContactProblem problem;
  Matrix w;
  IpmCones cones;
  RowBlocks blocks;
  Vector rp;
};

// A frictionless contact is a scalar: its sliding says nothing about its normal.
TEST(IpmCones, SlipIsAddedToConesOnly) {
  for (const double mu : {0.0, 0.5}) {
    const ContactProblem problem = test::cube_on_slope(0.3, mu);
    IpmCones cones;
    cones.prepare(problem);
    const Vector w = Vector::Ones(problem.row_count());
    Vector exact = w, convex = w;
    cones.add_slip(Law::exact, w, exact);
    cones.add_slip(Law::convex, w, convex);
    EXPECT_EQ(convex, w);
    for (Index i = 0; i < problem.constraint_count(); ++i) {
      const Vec3 added = (exact - w).segment<3>(problem.row(i));
      EXPECT_LT((added - Vec3(0.0, 0.0, mu > 0.0 ? std::sqrt(2.0) : 0.0)).norm(), 1e-15) << mu;
    }
  }
}

TEST(IpmCones, ScalingMakesTheMeanDiagonalOne) {
  const ContactProblem problem = test::all_kinds(3, 0.3);
  IpmCones cones;
  cones.prepare(problem);
  const test::DenseTwin twin(problem);
  const Vector diagonal = (twin.w.diagonal() + twin.r).cwiseProduct(cones.scaling().cwiseAbs2());
  double largest = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    EXPECT_NEAR(diagonal.segment(problem.row(i), problem.rows(i)).mean(), 1.0, 1e-12);
  }
  for (Index row = 0; row < problem.row_count(); ++row) {
    largest = std::max(largest, std::abs(cones.scaling()[row] * problem.free_velocity()[row]));
  }
  EXPECT_NEAR(cones.unit(), largest, 1e-12 * largest);
}

// A small Newton step reduces the residual to first order under both laws: the blocks are the derivative.
TEST(IpmCones, NewtonStepReducesTheResidual) {
  for (const double compliance : {0.0, 0.4}) {
    Setting setting(test::all_kinds(4, compliance));
    for (const Law law : {Law::exact, Law::convex}) {
      setting.cones.start_cold();
      const double mu = setting.cones.mu();
      EXPECT_GT(mu, 0.0);
      setting.direct(law, mu, false);
      Vector before, after;
      setting.cones.primal_residual(law, setting.velocity(), before);
      const double step = 1e-6;
      setting.cones.move(step, step);
      setting.cones.primal_residual(law, setting.velocity(), after);
      // rp + step * derivative = (1 - step) rp, up to second order in the step.
      EXPECT_LT((after - (1.0 - step) * before).norm(), 1e-4 * step * before.norm());
    }
  }
}

// With full centring the products x o y move to the target: mu after the step is the target to second order.
TEST(IpmCones, AffineStepTakesComplementarityDown) {
  Setting setting(test::all_kinds(5, 0.2));
  setting.direct(Law::convex, 0.0, false);
  const double mu = setting.cones.mu();
  const double step = 1e-5;
  EXPECT_NEAR(setting.cones.mu_at(step, step), (1.0 - step) * mu, 1e-4 * step * mu);
}

TEST(IpmCones, StepsEndInsideAndMoveKeepsThePairs) {
  Setting setting(test::mixed_problem(6));
  for (int k = 0; k < 12; ++k) {
    setting.direct(Law::exact, 0.1 * setting.cones.mu(), false);
    const Vec2 steps = setting.cones.step_lengths(0.95);
    EXPECT_GT(steps.minCoeff(), 0.0);
    EXPECT_LE(steps.maxCoeff(), 1.0);
    const double predicted = setting.cones.mu_at(steps.minCoeff(), steps.minCoeff());
    setting.cones.move(steps.minCoeff(), steps.minCoeff());
    EXPECT_NEAR(setting.cones.mu(), predicted, 1e-9 * predicted);
    EXPECT_GT(setting.cones.mu(), 0.0);
  }
}

TEST(IpmCones, RowsWithoutFreedomDoNotMove) {
  test::Random random(7);
  ContactProblemBuilder builder;
  builder.add_tree(test::random_spd(random, 6), random.vector(6));
  builder.add_contact(0.0, {{0, random.matrix(3, 6)}}, random.vec3());
  builder.add_box(0.4, 0.4, std::vector<JacobianPiece>{{0, random.matrix(1, 6)}});
  Setting setting(builder.build());
  setting.direct(Law::exact, 0.0, false);
  setting.cones.move(0.5, 0.5);
  EXPECT_EQ(setting.cones.x()[0], 0.0);
  EXPECT_EQ(setting.cones.x()[1], 0.0);
  EXPECT_NEAR(setting.cones.x()[3] * setting.cones.unit() * setting.cones.scaling()[3], 0.4, 1e-15);
}

// Whatever is handed over, a warm start lies strictly inside.
TEST(IpmCones, WarmStartsAreStrictlyInside) {
  Setting setting(test::all_kinds(8, 0.0));
  test::Random random(8);
  for (const double size : {1e-9, 1.0, 1e9}) {
    const Vector x = size * random.vector(setting.problem.row_count());
    const Vector y = size * random.vector(setting.problem.row_count());
    setting.cones.start_from(&x, &y, 1e-3);
    RowBlocks& blocks = setting.blocks;
    EXPECT_TRUE(setting.cones.scale_pairs(setting.problem, Law::exact, setting.problem.compliance(),
                                          setting.velocity(), 1e-10, blocks));
    EXPECT_GT(setting.cones.mu(), 0.0);
  }
}

TEST(IpmCones, ShiftedStartIsInside) {
  Setting setting(test::all_kinds(9, 0.0));
  setting.cones.start_shifted(5.0 * test::Random(9).vector(setting.problem.row_count()));
  EXPECT_TRUE(setting.cones.scale_pairs(setting.problem, Law::exact, setting.problem.compliance(),
                                        setting.velocity(), 1e-10, setting.blocks));
}

}  // namespace
}  // namespace tribo
