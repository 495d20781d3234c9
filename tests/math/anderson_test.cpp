#include "tribo/math/anderson.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "tests/support/random.h"
#include "tribo/math/cone.h"

namespace tribo {
namespace {

using test::Random;

struct Outcome {
  int evaluations = 0;
  int rejections = 0;
  double residual = 0.0;
  Vector x;
};

// The loop of the header's example; memory 0 iterates without acceleration.
template <class G>
Outcome iterate(const G& map, Vector x, Index memory, double tolerance, int limit) {
  AndersonAccelerator accelerator;
  if (memory > 0) accelerator.reset(static_cast<Index>(x.size()), memory);
  Outcome run;
  Vector g, plain;
  while (run.evaluations < limit) {
    g = map(x);
    ++run.evaluations;
    run.residual = (g - x).norm();
    if (run.residual <= tolerance) break;
    if (memory == 0) {
      x = g;
    } else if (!accelerator.accept(run.residual)) {
      ++run.rejections;
      x = plain;
    } else {
      plain = g;
      accelerator.extrapolate(x, g, x);
    }
  }
  run.x = x;
  return run;
}

TEST(Anderson, LinearFixedPointInAboutAsManyStepsAsUnknowns) {
  Random random(51);
  for (const Index n : {1, 2, 5, 10}) {
    Matrix m = random.matrix(n, n);
    m *= 0.9 / m.norm();
    const Vector b = random.vector(n);
    const Vector exact = (Matrix::Identity(n, n) - m).lu().solve(b);
    const Outcome run =
        iterate([&](const Vector& x) { return Vector(m * x + b); }, Vector::Zero(n), n + 1, 1e-9, 100);
    EXPECT_LE(run.evaluations, n + 3);
    EXPECT_LE((run.x - exact).norm(), 1e-7);
  }
}

TEST(Anderson, SolvesALinearMapWhosePlainIterationDiverges) {
  Random random(52);
  Matrix m = random.matrix(4, 4);
  m *= 3.0 / m.norm();
  m.diagonal().array() -= 2.0;
  const Vector b = random.vector(4);
  const Vector exact = (Matrix::Identity(4, 4) - m).lu().solve(b);
  AndersonAccelerator accelerator(4, 6);
  Vector x = Vector::Zero(4);
  for (int k = 0; k < 8; ++k) {
    const Vector g = m * x + b;
    accelerator.extrapolate(x, g, x);
  }
  EXPECT_LE((x - exact).norm(), 1e-8);
}

// Projected gradient for min 1/2 x^T A x + b^T x over a product of friction cones: nonsmooth, badly
// conditioned.
TEST(Anderson, BeatsThePlainIterationOnANonsmoothContraction) {
  Random random(53);
  const Index contacts = 20;
  const Index n = 3 * contacts;
  const Matrix half = random.matrix(n, n);
  const Matrix a = half * half.transpose() + 0.3 * Matrix::Identity(n, n);
  const Vector b = random.vector(n) * 3.0;
  const double step = 1.0 / a.norm();
  const auto map = [&](const Vector& x) {
    Vector z = x - step * (a * x + b);
    for (Index i = 0; i < contacts; ++i) z.segment<3>(3 * i) = project_cone(z.segment<3>(3 * i), 0.6);
    return z;
  };
  const Outcome plain = iterate(map, Vector::Zero(n), 0, 1e-9, 20000);
  const Outcome fast = iterate(map, Vector::Zero(n), 8, 1e-9, 20000);
  ASSERT_LE(plain.residual, 1e-9);
  ASSERT_LE(fast.residual, 1e-9);
  EXPECT_LT(fast.evaluations, plain.evaluations / 3);
  EXPECT_LE((fast.x - plain.x).norm(), 1e-5 * (1 + plain.x.norm()));
}

TEST(Anderson, RejectsABadStepAndForgets) {
  AndersonAccelerator accelerator(2, 3);
  Vector out(2);
  EXPECT_TRUE(accelerator.accept(1.0));
  EXPECT_FALSE(accelerator.extrapolate(Vec2(0, 0), Vec2(1, 0), out));
  EXPECT_EQ(out, Vec2(1, 0));
  EXPECT_TRUE(accelerator.accept(100.0));  // the step before was not accelerated: nothing to reject
  EXPECT_TRUE(accelerator.extrapolate(Vec2(1, 0), Vec2(1.5, 0), out));
  EXPECT_LE((out - Vec2(2, 0)).norm(), 1e-14);  // the secant through residuals 1 and 0.5 meets zero at 2
  EXPECT_EQ(accelerator.columns(), 1);
  EXPECT_TRUE(accelerator.accept(200.0));  // exactly the factor 2
  EXPECT_TRUE(accelerator.extrapolate(Vec2(2, 0), Vec2(2, 1), out));
  EXPECT_FALSE(accelerator.accept(400.1));
  EXPECT_EQ(accelerator.columns(), 0);
  EXPECT_TRUE(accelerator.accept(1e9));
  EXPECT_FALSE(accelerator.extrapolate(Vec2(3, 0), Vec2(3, 2), out));
  EXPECT_EQ(out, Vec2(3, 2));

  accelerator.set_reject_factor(1.0);
  EXPECT_TRUE(accelerator.accept(5.0));
  EXPECT_TRUE(accelerator.extrapolate(Vec2(3, 2), Vec2(3, 3), out));
  EXPECT_FALSE(accelerator.accept(std::numeric_limits<double>::quiet_NaN()));
}

// G(v) = v - r(v) with r flat far from its root 1 and a cliff behind it: the first secant overshoots over the
// cliff.
TEST(Anderson, RejectedStepsFallBackToThePlainIteration) {
  const auto residual = [](double v) {
    return v > 2.0 ? 1.0 + 0.1 * (v - 2.0) : (v > 1.0 ? 1.0 : 30.0) * (v - 1.0);
  };
  const auto map = [&](const Vector& x) { return Vector(x - x.unaryExpr(residual)); };
  const Outcome run = iterate(map, Vector::Constant(3, 4.0), 4, 1e-8, 50);
  EXPECT_GE(run.rejections, 1);
  EXPECT_LE((run.x - Vector::Ones(3)).norm(), 1e-8);
}

TEST(Anderson, DependentAndZeroDifferencesAreHarmless) {
  AndersonAccelerator accelerator(3, 4);
  Vector out(3);
  // All residual differences parallel: the rank of the least-squares problem stays 1.
  const Vec3 direction(1, 2, 3);
  for (int k = 0; k < 10; ++k) {
    const Vec3 x = direction * k;
    const Vec3 g = x + direction * (20 - k);
    accelerator.extrapolate(x, g, out);
    ASSERT_TRUE(out.allFinite());
    if (k > 0) {
      EXPECT_LE((out - 20 * direction).norm(), 1e-9);
    }
  }
  // The same pair again: no information, the plain image comes back and the history stays consistent.
  const Vec3 x = direction * 9;
  const Vec3 g = x + direction * 11;
  EXPECT_FALSE(accelerator.extrapolate(x, g, out));
  EXPECT_EQ(out, Vector(g));
  EXPECT_TRUE(accelerator.extrapolate(Vec3(1, 0, 0), Vec3(0, 1, 0), out));
  EXPECT_TRUE(out.allFinite());
  EXPECT_FALSE(accelerator.extrapolate(Vec3::Constant(1e300), Vec3::Constant(-1e300), out));
  EXPECT_EQ(out, Vec3::Constant(-1e300));
}

// The ring of columns and its Gram matrix against a plain dense least-squares twin that keeps the last m
// differences.
TEST(Anderson, MatchesTheDenseTwin) {
  Random random(54);
  const Index n = 12, memory = 4;
  AndersonAccelerator accelerator(n, memory);
  std::vector<Vector> xs, gs;
  Vector out(n);
  for (int k = 0; k < 15; ++k) {
    xs.push_back(random.vector(n));
    gs.push_back(random.vector(n));
    accelerator.extrapolate(xs.back(), gs.back(), out);
    const Index columns = std::min<Index>(k, memory);
    Vector expected = gs.back();
    if (columns > 0) {
      Matrix df(n, columns), dg(n, columns);
      for (Index j = 0; j < columns; ++j) {
        const auto at = static_cast<std::size_t>(k - j);
        dg.col(j) = gs[at] - gs[at - 1];
        df.col(j) = dg.col(j) - (xs[at] - xs[at - 1]);
      }
      expected -= dg * df.colPivHouseholderQr().solve(gs.back() - xs.back());
    }
    EXPECT_LE((out - expected).norm(), 1e-11 * expected.norm()) << "step " << k;
  }
}

// Long vectors are summed in chunks; a last chunk of one entry, and any number of threads, change nothing.
TEST(Anderson, ThreadsGiveTheSameBits) {
  const Index n = 3 * 1024 + 1, memory = 5;
  Random random(55);
  std::vector<Vector> xs, gs;
  for (int k = 0; k < 9; ++k) {
    xs.push_back(random.vector(n));
    gs.push_back(random.vector(n));
  }
  Workers workers(3);
  AndersonAccelerator alone(n, memory), threaded(n, memory);
  threaded.set_workers(&workers);
  Vector expected(n), found(n);
  for (std::size_t k = 0; k < xs.size(); ++k) {
    EXPECT_EQ(alone.extrapolate(xs[k], gs[k], expected), k > 0);
    threaded.extrapolate(xs[k], gs[k], found);
    EXPECT_TRUE((found.array() == expected.array()).all()) << "step " << k;
  }
}

TEST(Anderson, ResetReusesStorageAndChecksItsArguments) {
  Random random(55);
  AndersonAccelerator used(50, 10);
  Vector big(50);
  for (int k = 0; k < 5; ++k) used.extrapolate(random.vector(50), random.vector(50), big);
  used.reset(6, 3);
  AndersonAccelerator fresh(6, 3);
  Vector a(6), b(6);
  for (int k = 0; k < 8; ++k) {
    const Vector x = random.vector(6);
    const Vector g = random.vector(6);
    EXPECT_EQ(used.extrapolate(x, g, a), fresh.extrapolate(x, g, b));
    EXPECT_EQ(a, b);
  }
  EXPECT_THROW(used.reset(-1, 3), std::invalid_argument);
  EXPECT_THROW(used.reset(5, 0), std::invalid_argument);
  EXPECT_THROW(used.reset(5, AndersonAccelerator::max_memory + 1), std::invalid_argument);
}

}  // namespace
}  // namespace tribo
