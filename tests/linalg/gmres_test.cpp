// GMRES against dense matrices: steps and accuracy that theory promises, and that it gives up in time.
#include "tribo/linalg/gmres.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <limits>

#include "tests/support/dense_twin.h"

namespace tribo {
namespace {

constexpr Index kSize = 40;

Matrix well_conditioned(test::Random& random) {
  return random.matrix(kSize, kSize) + 12.0 * Matrix::Identity(kSize, kSize);
}

struct System {
  Matrix h, p;
  bool solve(Gmres& gmres, const Vector& rhs, double tolerance, Index most, Vector& x) const {
    const Eigen::PartialPivLU<Matrix> factors(p);
    return gmres.solve(
        rhs, tolerance, most, [this](const Vector& in, Vector& out) { out.noalias() = h * in; },
        [&factors](Vector& in) { in = factors.solve(in).eval(); }, x);
  }
};

TEST(Gmres, TheMatrixItselfTakesOneStep) {
  test::Random random(3);
  const Matrix h = well_conditioned(random);
  const Vector rhs = random.vector(kSize);
  Gmres gmres;
  Vector x;
  ASSERT_TRUE((System{h, h}.solve(gmres, rhs, 1e-10, 5, x)));
  EXPECT_EQ(gmres.steps(), 1);
  EXPECT_LE((h * x - rhs).norm(), 1e-10 * rhs.norm());
}

TEST(Gmres, ADifferenceOfRankTwoTakesThreeSteps) {
  test::Random random(4);
  Gmres gmres;
  for (int run = 0; run < 5; ++run) {
    const Matrix p = well_conditioned(random);
    const Matrix h = p + 5.0 * random.matrix(kSize, 2) * random.matrix(2, kSize);
    const Vector rhs = random.vector(kSize);
    Vector x;
    ASSERT_TRUE((System{h, p}.solve(gmres, rhs, 1e-9, Gmres::kMostSteps, x)));
    EXPECT_LE(gmres.steps(), 3);
    EXPECT_LE((h * x - rhs).norm(), 1e-8 * rhs.norm());
  }
}

TEST(Gmres, TheResidualIsWhatItSays) {
  test::Random random(5);
  const Matrix p = well_conditioned(random), h = p + 1.5 * random.matrix(kSize, kSize);
  const Vector rhs = random.vector(kSize);
  Gmres gmres;
  Vector x;
  Index last = 0;
  for (const double tolerance : {0.3, 0.1, 1e-2, 1e-4}) {
    ASSERT_TRUE((System{h, p}.solve(gmres, rhs, tolerance, Gmres::kMostSteps, x)));
    EXPECT_LE((h * x - rhs).norm(), (1.0 + 1e-9) * tolerance * rhs.norm());
    EXPECT_GE(gmres.steps(), last);
    last = gmres.steps();
  }
  EXPECT_GT(last, 3);  // or nothing was tested
}

TEST(Gmres, GivesUpWhereItsRatePromisesNoEnd) {
  test::Random random(6);
  const Matrix p = well_conditioned(random), h = random.matrix(kSize, kSize);
  const Vector rhs = random.vector(kSize);
  Gmres gmres;
  Vector x;
  EXPECT_FALSE((System{h, p}.solve(gmres, rhs, 1e-6, 20, x)));
  EXPECT_LT(gmres.steps(), 20);  // before the steps are used up
  EXPECT_FALSE((System{h, p}.solve(gmres, rhs, 1e-6, 0, x)));
}

// One object serves systems and limits of all sizes.
TEST(Gmres, BuffersFollowTheSystem) {
  test::Random random(8);
  Gmres gmres;
  for (const Index size : {20, 40, 10}) {
    for (const Index most : {3, 12, 5}) {
      const Matrix p = random.matrix(size, size) + 12.0 * Matrix::Identity(size, size);
      const Matrix h = p + 2.0 * random.vector(size) * random.vector(size).transpose();
      const Vector rhs = random.vector(size);
      Vector x;
      ASSERT_TRUE((System{h, p}.solve(gmres, rhs, 1e-9, most, x)));
      EXPECT_LE((h * x - rhs).norm(), 1e-8 * rhs.norm());
    }
  }
}

TEST(Gmres, NothingToDoAndNothingToSave) {
  test::Random random(7);
  const System system{well_conditioned(random), well_conditioned(random)};
  Gmres gmres;
  Vector x;
  ASSERT_TRUE(system.solve(gmres, Vector::Zero(kSize), 1e-6, 5, x));
  EXPECT_TRUE(x.isZero(0.0));
  EXPECT_EQ(gmres.steps(), 0);
  Vector rhs = random.vector(kSize);
  rhs[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(system.solve(gmres, rhs, 1e-6, 5, x));
  const System singular{Matrix::Zero(kSize, kSize), Matrix::Identity(kSize, kSize)};
  EXPECT_FALSE(singular.solve(gmres, random.vector(kSize), 1e-6, 5, x));
  Matrix half = Matrix::Identity(kSize, kSize);
  half.bottomRows(kSize / 2).setZero();
  EXPECT_FALSE((System{half, Matrix::Identity(kSize, kSize)}.solve(gmres, random.vector(kSize), 1e-6, 5, x)));
}

}  // namespace
}  // namespace tribo
