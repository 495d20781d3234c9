// Pivoting against the conditions of the problem itself, and against enumeration.
#include "tribo/solve/classical/lcp.h"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include "tests/support/random.h"

namespace tribo {
namespace {

void expect_solution(const Matrix& m, const Vector& q, const Vector& z) {
  const Vector w = m * z + q;
  // Lemke's right-hand side is perturbed by some 1e-9.
  EXPECT_GE(z.minCoeff(), -1e-8);
  EXPECT_GE(w.minCoeff(), -1e-8);
  EXPECT_LT(z.cwiseMin(w).cwiseAbs().maxCoeff(), 1e-8);
}

const auto kPatient = [](Index pivots) { return pivots < 10000; };

TEST(Lcp, PositiveDefiniteUnsymmetric) {
  test::Random random(1);
  for (int sample = 0; sample < 100; ++sample) {
    const Index size = 1 + sample % 12;
    const Matrix skew = random.matrix(size, size);
    const Matrix m = test::random_spd(random, size) + skew - skew.transpose();
    const Vector q = random.vector(size);
    Vector z;
    ASSERT_EQ(Lemke().solve(m, q, kPatient, z), LcpEnd::solved);
    expect_solution(m, q, z);
    Dantzig dantzig;
    dantzig.prepare(m);
    Vector same;
    ASSERT_EQ(dantzig.solve(q, kPatient, same), LcpEnd::solved);
    expect_solution(m, q, same);
    EXPECT_LT((z - same).norm(), 1e-6);  // positive definite: only one
    // Again from the basis of another right-hand side.
    const Vector other = random.vector(size);
    ASSERT_EQ(dantzig.solve(other, kPatient, same), LcpEnd::solved);
    expect_solution(m, other, same);
  }
}

// z1 = q's own, the artificial column alone cannot help: w1 = -1 whatever z is.
TEST(Lcp, SaysThatThereIsNone) {
  Matrix m = Matrix::Zero(2, 2);
  m(1, 1) = 1.0;
  Vector z;
  EXPECT_EQ(Lemke().solve(m, Vec2(-1.0, -1.0), kPatient, z), LcpEnd::ray);
  EXPECT_EQ(Lemke().solve(
                Matrix::Identity(2, 2), Vec2(-1.0, -2.0), [](Index) { return false; }, z),
            LcpEnd::limit);
}

// The faceted contact of a point: copositive, not positive semidefinite. Its friction row ties many ratios.
TEST(Lcp, DegenerateCopositive) {
  const double mu = 0.5;
  Matrix m = Matrix::Zero(6, 6);  // n, +x, +y, -x, -y, s
  m(0, 0) = 1.0;
  Matrix d(2, 4);
  d << 1, 0, -1, 0, 0, 1, 0, -1;
  m.block<4, 4>(1, 1) = d.transpose() * d;
  m.block<4, 1>(1, 5).setOnes();
  m.block<1, 4>(5, 1).setConstant(-1.0);
  m(5, 0) = mu;
  for (const Vec3& v : {Vec3(0.2, 0.0, -1.0), Vec3(2.0, 0.0, -1.0), Vec3(0.0, 0.0, -1.0),
                        Vec3(1.0, 1.0, -1.0), Vec3(0.1, 0.2, 1.0)}) {
    Vector q(6), z;
    q << v[2], d.transpose() * v.head<2>(), 0.0;
    ASSERT_EQ(Lemke().solve(m, q, kPatient, z), LcpEnd::solved);
    expect_solution(m, q, z);
    EXPECT_NEAR(z[0], std::max(0.0, -v[2]), 1e-8);
  }
}

}  // namespace
}  // namespace tribo
