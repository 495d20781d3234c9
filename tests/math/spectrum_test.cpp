#include "tribo/math/spectrum.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "tests/support/random.h"

namespace tribo {
namespace {

using test::Random;

// A symmetric matrix with the given eigenvalues in random directions.
Matrix with_spectrum(Random& random, const Vector& eigenvalues) {
  const Index n = static_cast<Index>(eigenvalues.size());
  const Matrix q = Eigen::HouseholderQR<Matrix>(random.matrix(n, n)).householderQ();
  return q * eigenvalues.asDiagonal() * q.transpose();
}

SpectrumBounds lanczos(const Matrix& a, Index steps) {
  SpectrumWorkspace workspace;
  const auto apply = [&](const Eigen::Ref<const Vector>& in, Eigen::Ref<Vector> out) {
    out.noalias() = a * in;
  };
  return lanczos_bounds(apply, static_cast<Index>(a.rows()), steps, workspace);
}

TEST(Lanczos, FullBasisGivesTheExactExtremes) {
  Random random(41);
  for (const Index n : {1, 2, 3, 7, 30, 64}) {
    const Matrix half = random.matrix(n, n);
    const Matrix a = half * half.transpose();
    const Vector exact = Eigen::SelfAdjointEigenSolver<Matrix>(a).eigenvalues();
    const SpectrumBounds bounds = lanczos(a, n);
    EXPECT_EQ(bounds.steps, n);
    EXPECT_NEAR(bounds.lambda_max, exact[n - 1], 1e-12 * exact[n - 1]);
    EXPECT_NEAR(bounds.lambda_min, exact[0], 1e-12 * exact[n - 1]);
    EXPECT_GE(bounds.upper_bound, exact[n - 1]);
    EXPECT_LE(bounds.upper_bound, exact[n - 1] * (1 + 1e-10));
  }
}

TEST(Lanczos, FewStepsEncloseTheSpectrum) {
  Random random(42);
  for (const Index steps : {2, 5, 10, 20}) {
    for (int i = 0; i < 20; ++i) {
      Vector eigenvalues(150);
      for (double& value : eigenvalues) value = random.log_uniform(1e-4, 1e4);
      const SpectrumBounds bounds = lanczos(with_spectrum(random, eigenvalues), steps);
      EXPECT_EQ(bounds.steps, steps);
      EXPECT_LE(bounds.lambda_max, eigenvalues.maxCoeff() * (1 + 1e-12));
      EXPECT_GE(bounds.lambda_min, eigenvalues.minCoeff() - 1e-12 * eigenvalues.maxCoeff());
      EXPECT_GE(bounds.upper_bound, eigenvalues.maxCoeff() * (1 - 1e-12));
      if (steps == 20) {
        EXPECT_NEAR(bounds.lambda_max, eigenvalues.maxCoeff(), 1e-2 * eigenvalues.maxCoeff());
        EXPECT_LE(bounds.upper_bound, 1.1 * eigenvalues.maxCoeff());
      }
    }
  }
}

TEST(Lanczos, SurvivesInvariantSubspaces) {
  const SpectrumBounds zero = lanczos(Matrix::Zero(9, 9), 5);
  EXPECT_EQ(zero.lambda_min, 0.0);
  EXPECT_EQ(zero.upper_bound, 0.0);
  const SpectrumBounds identity = lanczos(3.0 * Matrix::Identity(9, 9), 5);
  EXPECT_NEAR(identity.lambda_min, 3.0, 1e-14);
  EXPECT_NEAR(identity.upper_bound, 3.0, 1e-11);
  Random random(43);
  const Vector v = random.vector(12);
  const SpectrumBounds rank_one = lanczos(v * v.transpose(), 6);
  EXPECT_NEAR(rank_one.lambda_max, v.squaredNorm(), 1e-13 * v.squaredNorm());
  EXPECT_NEAR(rank_one.lambda_min, 0.0, 1e-13);
  EXPECT_EQ(lanczos(Matrix(0, 0), 5).steps, 0);
}

TEST(Lanczos, SameBitsOnEveryCallAndNoGrowthOnTheSecond) {
  Random random(44);
  const Matrix half = random.matrix(40, 40);
  const Matrix a = half * half.transpose();
  const auto apply = [&](const Eigen::Ref<const Vector>& in, Eigen::Ref<Vector> out) {
    out.noalias() = a * in;
  };
  SpectrumWorkspace workspace;
  const SpectrumBounds first = lanczos_bounds(apply, 40, 12, workspace);
  const double* storage = workspace.basis.data();
  const SpectrumBounds small = lanczos_bounds(apply, 40, 4, workspace);
  const SpectrumBounds second = lanczos_bounds(apply, 40, 12, workspace);
  EXPECT_EQ(workspace.basis.data(), storage);
  EXPECT_EQ(first.lambda_max, second.lambda_max);
  EXPECT_EQ(first.lambda_min, second.lambda_min);
  EXPECT_LE(small.lambda_max, first.lambda_max);
}

TEST(PowerIteration, FindsTheLargestEigenvalue) {
  Random random(45);
  Vector eigenvalues = Vector::LinSpaced(50, 0.0, 1.0);
  eigenvalues[7] = 2.0;
  const Matrix a = with_spectrum(random, eigenvalues);
  SpectrumWorkspace workspace;
  const auto apply = [&](const Eigen::Ref<const Vector>& in, Eigen::Ref<Vector> out) {
    out.noalias() = a * in;
  };
  const PowerResult result = power_iteration(apply, 50, 200, 1e-8, workspace);
  EXPECT_NEAR(result.lambda_max, 2.0, 1e-13);
  EXPECT_LE(result.residual, 2e-8);
  EXPECT_LT(result.iterations, 60);
  const PowerResult limited = power_iteration(apply, 50, 3, 1e-8, workspace);
  EXPECT_EQ(limited.iterations, 3);
  EXPECT_LT(limited.lambda_max, 2.0);
  EXPECT_GT(limited.residual, 1e-3);
}

TEST(PowerIteration, ZeroOperator) {
  SpectrumWorkspace workspace;
  const auto apply = [](const Eigen::Ref<const Vector>&, Eigen::Ref<Vector> out) { out.setZero(); };
  const PowerResult result = power_iteration(apply, 5, 10, 1e-6, workspace);
  EXPECT_EQ(result.lambda_max, 0.0);
  EXPECT_EQ(result.iterations, 1);
}

}  // namespace
}  // namespace tribo
