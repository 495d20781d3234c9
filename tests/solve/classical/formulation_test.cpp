// The nonsmooth equations of one constraint: Jacobians by finite differences, roots at solutions.
#include "tribo/solve/classical/formulation.h"

#include <gtest/gtest.h>

#include "tests/support/finite_difference.h"
#include "tests/support/random.h"
#include "tribo/solve/law/one_cone.h"

namespace tribo {
namespace {

constexpr Formulation kAll[] = {Formulation::natural_map, Formulation::alart_curnier,
                                Formulation::jean_moreau, Formulation::fischer_burmeister};

LawAt random_law(test::Random& random, Formulation formulation, Law law) {
  LawAt at;
  at.formulation = formulation;
  at.law = law;
  at.mu = random.uniform(0.1, 1.5);
  at.rho = {random.uniform(0.2, 2.0), random.uniform(0.2, 2.0)};
  at.unit = random.uniform(0.5, 2.0);
  return at;
}

template <int N>
void check_jacobians() {
  test::Random random(N);
  for (const Formulation formulation : kAll) {
    for (const Law law : {Law::exact, Law::convex}) {
      int smooth = 0;
      for (int sample = 0; sample < 300; ++sample) {
        const LawAt at = random_law(random, formulation, law);
        const auto function = [&](const Vector& x) {
          return Vector(residual_of<N>(at, VecN<N>(x.head<N>()), VecN<N>(x.tail<N>())));
        };
        const Vector x = random.vector(2 * N);
        const Linearised<N> made = linearise<N>(at, VecN<N>(x.head<N>()), VecN<N>(x.tail<N>()));
        EXPECT_LT((made.value - function(x)).norm(), 1e-14);
        if (!test::is_smooth_at(function, x)) continue;
        ++smooth;
        Matrix own(N, 2 * N);
        own << made.by_impulse, made.by_velocity;
        const Matrix expected = test::finite_difference_jacobian(function, x);
        EXPECT_LT((own - expected).norm(), 2e-6 * (1.0 + expected.norm()))
            << static_cast<int>(formulation) << " sample " << sample;
      }
      EXPECT_GT(smooth, 100);
    }
  }
}

TEST(Formulation, JacobiansOfThreeRows) { check_jacobians<3>(); }
TEST(Formulation, JacobiansOfFourRows) { check_jacobians<4>(); }
TEST(Formulation, JacobiansOfSixRows) { check_jacobians<6>(); }

// Solutions of random contacts (by bisection, solve/law/one_cone.h) are roots of all of them, other impulses are not.
template <int N>
void check_roots() {
  test::Random random(10 + N);
  for (int sample = 0; sample < 200; ++sample) {
    const Matrix spd = test::random_spd(random, N);
    const MatN<N> w = spd / spd.norm();
    VecN<N> q = random.vector(N);
    const double mu = random.uniform(0.05, 1.5);
    const VecN<N> r = ExactContactN<N>(w, mu).solve(q, VecN<N>::Zero());
    const VecN<N> u = w * r + q;
    for (const Formulation formulation : kAll) {
      LawAt at = random_law(random, formulation, Law::exact);
      at.mu = mu;
      if (formulation == Formulation::natural_map) at.rho.tangent = at.rho.normal;
      EXPECT_LT(residual_of<N>(at, r, u).norm(), 1e-7 * (1.0 + r.norm())) << static_cast<int>(formulation);
      VecN<N> wrong = r;
      wrong[N - 1] += 0.3 * (1.0 + r.norm());
      EXPECT_GT(residual_of<N>(at, wrong, VecN<N>(w * wrong + q)).norm(), 1e-4)
          << static_cast<int>(formulation);
    }
  }
}

TEST(Formulation, RootsAreSolutionsOfThreeRows) { check_roots<3>(); }
TEST(Formulation, RootsAreSolutionsOfSixRows) { check_roots<6>(); }

TEST(Formulation, WithoutFriction) {
  LawAt at;
  for (const Formulation formulation : kAll) {
    at.formulation = formulation;
    EXPECT_LT(residual_of<3>(at, Vec3(0.0, 0.0, 2.0), Vec3(0.3, -0.4, 0.0)).norm(), 1e-15);
    EXPECT_LT(residual_of<3>(at, Vec3(0.0, 0.0, 0.0), Vec3(0.3, -0.4, 1.0)).norm(), 1e-15);
    EXPECT_GT(residual_of<3>(at, Vec3(0.5, 0.0, 2.0), Vec3(0.3, -0.4, 0.0)).norm(), 0.1);
    EXPECT_TRUE(linearise<3>(at, Vec3(0.1, 0.2, 1.0), Vec3(0.3, -0.4, 0.1)).by_impulse.allFinite());
  }
}

// Where cone and eigenvalues degenerate an element must still be finite.
TEST(Formulation, KinksAreFinite) {
  for (const Formulation formulation : kAll) {
    LawAt at;
    at.formulation = formulation;
    at.mu = 0.5;
    for (const Vec3& r : {Vec3(0, 0, 0), Vec3(0.5, 0, 1), Vec3(-0.5, 0, -1), Vec3(0, 0, 1)}) {
      for (const Vec3& u : {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(-1, 0, 0), Vec3(0, 0, 1)}) {
        const Linearised<3> made = linearise<3>(at, r, u);
        EXPECT_TRUE(made.value.allFinite() && made.by_impulse.allFinite() && made.by_velocity.allFinite());
      }
    }
  }
}

TEST(Formulation, ScalarRows) {
  test::Random random(3);
  const double infinity = Interval::kInfinity;
  for (const Interval& set : {Interval{0.0, infinity}, Interval{-infinity, infinity}, Interval{-0.5, 0.7},
                              Interval{-infinity, 0.2}}) {
    for (const Formulation formulation : {Formulation::natural_map, Formulation::fischer_burmeister}) {
      for (int sample = 0; sample < 200; ++sample) {
        const LawAt at = random_law(random, formulation, Law::exact);
        const auto function = [&](const Vector& x) {
          return Vector(Vector::Constant(1, linearise_scalar(at, set, x[0], x[1]).value));
        };
        const Vector x = random.vector(2);
        const LinearisedScalar made = linearise_scalar(at, set, x[0], x[1]);
        if (test::is_smooth_at(function, x)) {
          const Matrix expected = test::finite_difference_jacobian(function, x);
          EXPECT_NEAR(made.by_impulse, expected(0, 0), 1e-6);
          EXPECT_NEAR(made.by_velocity, expected(0, 1), 1e-6);
        }
        // Zero exactly at solutions of the row.
        const double inside = set.project(random.uniform());
        EXPECT_NEAR(linearise_scalar(at, set, inside, 0.0).value, 0.0, 1e-15);
        if (set.has_lower()) {
          EXPECT_NEAR(linearise_scalar(at, set, set.lower, 0.4).value, 0.0, 1e-15);
        } else {
          EXPECT_GT(std::abs(linearise_scalar(at, set, inside, 0.4).value), 0.01);
        }
        if (set.has_upper()) {
          EXPECT_NEAR(linearise_scalar(at, set, set.upper, -0.4).value, 0.0, 1e-15);
        }
      }
    }
  }
}

// Rules (109) to (112) on a matrix whose eigenvalues are known.
TEST(Steps, FollowTheirRules) {
  Mat3 w = Mat3::Zero();
  w.diagonal() = Vec3(4.0, 2.0, 8.0);
  EXPECT_NEAR(find_steps<3>(RhoRule::norm, w, 1.0).normal, 1.0 / w.norm(), 1e-15);
  EXPECT_NEAR(find_steps<3>(RhoRule::largest, w, 1.0).tangent, 1.0 / 8.0, 1e-15);
  EXPECT_NEAR(find_steps<3>(RhoRule::split, w, 1.0).normal, 1.0 / 8.0, 1e-15);
  EXPECT_NEAR(find_steps<3>(RhoRule::split, w, 1.0).tangent, 1.0 / 4.0, 1e-15);
  EXPECT_NEAR(find_steps<3>(RhoRule::conditioned, w, 1.0).tangent, 2.0 / 16.0, 1e-15);
  EXPECT_NEAR(find_steps<3>(RhoRule::constant, w, 5.0).tangent, 1.0 / 5.0, 1e-15);
}

}  // namespace
}  // namespace tribo
