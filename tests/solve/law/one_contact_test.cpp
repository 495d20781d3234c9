#include "tribo/solve/law/one_contact.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <limits>

#include "tests/support/random.h"
#include "tribo/math/cone.h"
#include "tribo/solve/law/local_step.h"

namespace tribo {
namespace {

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  double uniform(double lo, double hi) { return random_.uniform(lo, hi); }
  double power(double lo, double hi) { return std::pow(10.0, uniform(lo, hi)); }
  Vec3 vector() { return random_.vec3(); }
  // Symmetric, eigenvalues between 1 and 10^-decades, both attained.
  Mat3 spd(double decades) {
    const Mat3 q = Eigen::Quaterniond(uniform(-1, 1), uniform(-1, 1), uniform(-1, 1), uniform(-1, 1))
                       .normalized()
                       .toRotationMatrix();
    const Vec3 spectrum(1.0, power(-decades, 0.0), std::pow(10.0, -decades));
    const Mat3 w = q * spectrum.asDiagonal() * q.transpose();
    return 0.5 * (w + w.transpose());
  }
  Mat3 skew(double size) {
    const Vec3 a = size * vector();
    Mat3 m;
    m << 0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0;
    return m;
  }
  double friction() { return uniform(0, 1) < 0.05 ? 0.0 : power(-2.0, 1.0); }

 private:
  test::Random random_;
};

// Natural map in impulse units, relative to the impulses.
double natural_map(const Mat3& w, const Vec3& q, double mu, Law law, const Vec3& r) {
  const double scale = w.trace() / 3.0;
  const Vec3 u = w * r + q;
  const Vec3 shifted = law == Law::exact ? Vec3(u + de_saxce(u, mu)) : u;
  const double reference = std::max(r.cwiseAbs().maxCoeff(), q.cwiseAbs().maxCoeff() / scale);
  return (r - project_cone(r - shifted / scale, mu)).cwiseAbs().maxCoeff() / reference;
}

TEST(OneContact, ExactLawLeavesNoResidual) {
  Draw draw(1);
  for (int sample = 0; sample < 30000; ++sample) {
    const Mat3 w = draw.spd(draw.uniform(0.0, 8.0)) * draw.power(-6.0, 6.0);
    const Vec3 q = draw.vector() * draw.power(-6.0, 6.0);
    const double mu = draw.friction();
    const Vec3 r = solve_one_contact(w, q, mu, Law::exact);
    ASSERT_TRUE(in_cone(r, mu, 1e-14 * (1.0 + mu) * r.norm()));
    ASSERT_LT(natural_map(w, q, mu, Law::exact, r), 1e-12) << "sample " << sample << " mu " << mu << "\n"
                                                           << w << "\n"
                                                           << q;
  }
}

TEST(OneContact, ExactLawWithUnsymmetricMatrix) {
  Draw draw(2);
  for (int sample = 0; sample < 20000; ++sample) {
    const Mat3 w = draw.spd(draw.uniform(0.0, 3.0)) + draw.skew(draw.power(-4.0, -1.0));
    const Vec3 q = draw.vector();
    const double mu = draw.friction();
    const Vec3 r = solve_one_contact(w, q, mu, Law::exact);
    ASSERT_LT(natural_map(w, q, mu, Law::exact, r), 1e-12) << "sample " << sample << " mu " << mu << "\n"
                                                           << w << "\n"
                                                           << q;
  }
}

// A visit from any earlier impulse, with the multiplier of an unrelated slip in memory, ends at a solution
// too.
TEST(OneContact, VisitsFromAnyImpulse) {
  Draw draw(3);
  for (int sample = 0; sample < 2000; ++sample) {
    const Mat3 w = draw.spd(draw.uniform(0.0, 4.0)) + draw.skew(1e-3);
    const double mu = draw.friction();
    ExactContact contact(w, mu);
    for (int visit = 0; visit < 10; ++visit) {
      const Vec3 q = draw.vector() * draw.power(-2.0, 2.0);
      const Vec3 start = project_cone(draw.vector(), mu);
      const Vec3 r = contact.solve(w * start + q, start);
      ASSERT_LT(natural_map(w, q, mu, Law::exact, r), 1e-11) << "sample " << sample << " mu " << mu;
    }
  }
}

TEST(OneContact, AgreesWithTheQuarticOnSlip) {
  Draw draw(4);
  int slips = 0;
  for (int sample = 0; sample < 20000; ++sample) {
    const Mat3 w = draw.spd(draw.uniform(0.0, 2.0));
    const Vec3 q = draw.vector();
    const double mu = draw.power(-2.0, 0.0);
    const Vec3 r = solve_one_contact(w, q, mu, Law::exact);
    const Vec3 by_quartic = solve_quartic(LocalMatrix(w, mu), q, Vec3::Zero());
    ASSERT_LT(natural_map(w, q, mu, Law::exact, by_quartic), 1e-7);
    if (q[2] < 0.0 && (w * r + q).head<2>().norm() > 1e-6) ++slips;
    // Several slips may solve the same problem; without strong coupling of tangent and normal there is one.
    if (mu * w.topRightCorner<2, 1>().norm() < 0.5 * w(2, 2)) {
      ASSERT_LT((r - by_quartic).norm(), 1e-6 * r.norm() + 1e-14) << "sample " << sample;
    }
  }
  EXPECT_GT(slips, 5000);
}

TEST(OneContact, ConvexLawLeavesNoResidual) {
  Draw draw(5);
  for (int sample = 0; sample < 20000; ++sample) {
    const Mat3 w = draw.spd(draw.uniform(0.0, 4.0)) * draw.power(-3.0, 3.0);
    const Vec3 q = draw.vector() * draw.power(-3.0, 3.0);
    const double mu = draw.friction();
    const Vec3 r = solve_one_contact(w, q, mu, Law::convex);
    const Vec3 u = w * r + q;
    ASSERT_TRUE(in_cone(r, mu, 1e-14 * (1.0 + mu) * r.norm()));
    ASSERT_TRUE(in_dual_cone(u, mu, 1e-10 * (1.0 + mu) * q.norm())) << "sample " << sample << " mu " << mu;
    ASSERT_LE(std::abs(r.dot(u)), 1e-10 * (1.0 + mu) * r.norm() * q.norm()) << "sample " << sample;
    ASSERT_LT(natural_map(w, q, mu, Law::convex, r), 1e-10) << "sample " << sample << " mu " << mu << "\n"
                                                            << w << "\n"
                                                            << q;
  }
}

// The convex solution is a minimum: no point of the cone has a lower energy.
TEST(OneContact, ConvexLawMinimisesTheEnergy) {
  Draw draw(6);
  for (int sample = 0; sample < 300; ++sample) {
    const Mat3 w = draw.spd(1.0);
    const Vec3 q = draw.vector();
    const double mu = draw.power(-1.0, 1.0);
    const auto energy = [&](const Vec3& r) { return 0.5 * r.dot(w * r) + q.dot(r); };
    const Vec3 r = solve_one_contact(w, q, mu, Law::convex);
    for (int trial = 0; trial < 50; ++trial) {
      ASSERT_LE(energy(r), energy(project_cone(r + 0.1 * draw.vector(), mu)) + 1e-13);
    }
  }
}

TEST(OneContact, NewtonSolvesBothLaws) {
  Draw draw(7);
  int solved = 0, total = 0;
  for (int sample = 0; sample < 5000; ++sample) {
    const Mat3 w = draw.spd(1.0);
    const Vec3 q = draw.vector();
    const double mu = draw.power(-2.0, 0.0);
    for (const Law law : {Law::exact, Law::convex}) {
      const Vec3 r = solve_newton<3>(LocalMatrix(w, mu), law, q, Vec3::Zero());
      ASSERT_TRUE(in_cone(r, mu, 1e-14));
      ++total;
      if (natural_map(w, q, mu, law, r) < 1e-12) ++solved;
    }
  }
  EXPECT_GT(solved, 0.99 * total);
}

TEST(OneContact, ProjectionStepsConverge) {
  Draw draw(8);
  for (int sample = 0; sample < 200; ++sample) {
    const Mat3 w = Mat3::Identity() + 0.3 * draw.spd(1.0);
    const Vec3 q = draw.vector();
    for (const Law law : {Law::exact, Law::convex}) {
      const LocalMatrix local(w, 0.4);
      Vec3 r = Vec3::Zero();
      for (int step = 0; step < 500; ++step) r = step_projection<3>(local, law, w * r + q, r);
      ASSERT_LT(natural_map(w, q, 0.4, law, r), 1e-12);
    }
  }
}

// A row of zeros: the idle tangent of a planar contact, or a contact that sees no mass sideways.
TEST(OneContact, SingularMatrices) {
  Draw draw(9);
  for (int sample = 0; sample < 3000; ++sample) {
    const double mu = draw.friction();
    Mat3 w = draw.spd(2.0);
    Vec3 q = draw.vector();
    w.row(1).setZero();
    w.col(1).setZero();
    q[1] = 0.0;
    for (const Law law : {Law::exact, Law::convex}) {
      const Vec3 r = solve_one_contact(w, q, mu, law);
      ASSERT_TRUE(r.allFinite());
      ASSERT_LT(natural_map(w, q, mu, law, r), law == Law::exact ? 1e-12 : 1e-9) << "sample " << sample;
    }
    // Rank one, with velocities in the range of W.
    const Vec3 a = draw.vector();
    const Mat3 rank_one = a * a.transpose();
    const Vec3 in_range = rank_one * draw.vector();
    const Vec3 r = solve_one_contact(rank_one, in_range, mu, Law::exact);
    ASSERT_TRUE(r.allFinite());
  }
  const Vec3 nothing = solve_one_contact(Mat3::Zero(), Vec3(0.1, 0.2, -0.3), 0.5, Law::exact);
  EXPECT_TRUE(nothing.allFinite());
  const LocalMatrix local(Mat3::Zero(), 0.5);
  EXPECT_TRUE(solve_newton<3>(local, Law::exact, Vec3(0.1, 0.2, -0.3), Vec3::Zero()).allFinite());
  EXPECT_TRUE(solve_quartic(local, Vec3(0.1, 0.2, -0.3), Vec3::Zero()).allFinite());
  EXPECT_TRUE(solve_one_contact(Mat3::Zero(), Vec3(0.1, 0.2, -0.3), 0.5, Law::convex).allFinite());
}

TEST(OneContact, ThreeCasesByHand) {
  const Mat3 w = Mat3::Identity();
  EXPECT_EQ(solve_one_contact(w, Vec3(3.0, 4.0, 0.0), 0.5, Law::exact), Vec3::Zero());
  EXPECT_TRUE(
      solve_one_contact(w, Vec3(0.3, 0.0, -1.0), 0.5, Law::exact).isApprox(Vec3(-0.3, 0.0, 1.0), 1e-15));
  EXPECT_TRUE(
      solve_one_contact(w, Vec3(3.0, 4.0, -1.0), 0.5, Law::exact).isApprox(Vec3(-0.3, -0.4, 1.0), 1e-14));
  EXPECT_TRUE(
      solve_one_contact(w, Vec3(3.0, 4.0, -1.0), 0.0, Law::exact).isApprox(Vec3(0.0, 0.0, 1.0), 1e-15));
  // Convex: the projection of -q = (-3, -4, 1) on the cone of coefficient 1/2.
  EXPECT_TRUE(solve_one_contact(w, Vec3(3.0, 4.0, -1.0), 0.5, Law::convex)
                  .isApprox(project_cone(Vec3(-3.0, -4.0, 1.0), 0.5), 1e-13));
}

TEST(OneContact, ScalarRows) {
  const double inf = std::numeric_limits<double>::infinity();
  const ScalarRow unilateral{0.5, 0.0, inf}, bilateral{0.5, -inf, inf}, box{0.5, -1.0, 2.0};
  EXPECT_EQ(unilateral.solve(4.0, 1.0), 0.0);
  EXPECT_EQ(unilateral.solve(-4.0, 1.0), 3.0);
  EXPECT_EQ(bilateral.solve(4.0, 1.0), -1.0);
  EXPECT_EQ(box.solve(-8.0, 1.0), 2.0);
  EXPECT_EQ(box.solve(8.0, 1.0), -1.0);
  EXPECT_EQ(box.solve(1.0, 1.0), 0.5);
}

}  // namespace
}  // namespace tribo
