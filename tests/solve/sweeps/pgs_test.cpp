#include "tribo/solve/sweeps/pgs.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "tests/support/random.h"
#include "tests/support/small_problems.h"
#include "tribo/base/errors.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/solve/sweeps/nsgs.h"

namespace tribo {
namespace {

Settings tight(double tolerance = 1e-10) {
  Settings settings;
  settings.tolerance = tolerance;
  settings.max_iterations = 500000;
  return settings;
}

TEST(Pgs, PointOnSlope) {
  const double mu = 0.5;
  Solution solution;
  for (const double angle : {0.1, 0.46, 0.47, 1.2}) {
    ASSERT_EQ(make_pgs()->solve(test::point_on_slope(angle, mu), tight(1e-12), solution).status,
              Status::converged);
    const double normal = std::cos(angle);
    EXPECT_NEAR(solution.impulse[2], normal, 1e-11);
    EXPECT_NEAR(solution.impulse[0], -std::min(mu * normal, std::sin(angle)), 1e-11);
  }
}

TEST(Pgs, CubeOnSlope) {
  Solution solution;
  for (const double angle : {0.2, 0.9}) {
    const double mu = 0.6, mass = 3.0;
    ASSERT_EQ(make_pgs()->solve(test::cube_on_slope(angle, mu, mass), tight(), solution).status,
              Status::converged);
    test::expect_slope_impulses(solution.impulse, angle, mu, mass);
  }
}

TEST(Pgs, AllKindsAgreeWithADenseReferenceAndNsgs) {
  const ContactProblem problem = test::all_kinds(21, 1.0);
  for (const Law law : {Law::exact, Law::convex}) {
    Settings settings = tight(1e-11);
    settings.law = law;
    const Vector expected = test::dense_reference(problem, law);
    Solution by_pgs, by_nsgs;
    ASSERT_EQ(make_pgs()->solve(problem, settings, by_pgs).status, Status::converged);
    ASSERT_EQ(make_nsgs()->solve(problem, settings, by_nsgs).status, Status::converged);
    const double size = expected.cwiseAbs().maxCoeff();
    EXPECT_LT((by_pgs.impulse - expected).cwiseAbs().maxCoeff(), 1e-8 * size);
    EXPECT_LT((by_pgs.impulse - by_nsgs.impulse).cwiseAbs().maxCoeff(), 1e-8 * size);
  }
}

TEST(Pgs, RelaxationAndOrderReachTheSameSolution) {
  const ContactProblem problem = test::all_kinds(22, 1.0);
  Solution reference;
  make_pgs()->solve(problem, tight(1e-12), reference);
  for (const char* omega : {"0.6", "1.0", "1.3"}) {
    for (const char* order : {"forward", "symmetric", "shuffled"}) {
      auto solver = make_pgs();
      solver->set_option("omega", omega);
      solver->set_option("order", order);
      Solution solution;
      ASSERT_EQ(solver->solve(problem, tight(1e-12), solution).status, Status::converged) << omega << order;
      EXPECT_LT((solution.impulse - reference.impulse).norm(), 1e-9 * reference.impulse.norm());
    }
  }
  EXPECT_THROW(make_pgs()->set_option("omega", "0"), InvalidInput);
}

// Frictionless contacts are a linear complementarity problem: try every set of active rows.
Vector lcp_by_enumeration(const Matrix& w, const Vector& q) {
  const Index n = static_cast<Index>(q.size());
  for (Index mask = 0; mask < (1 << n); ++mask) {
    std::vector<Index> active;
    for (Index i = 0; i < n; ++i) {
      if (mask >> i & 1) active.push_back(i);
    }
    const Matrix reduced = w(active, active);
    const Vector rhs = q(active);
    const Vector x = active.empty() ? Vector() : Vector(reduced.partialPivLu().solve(-rhs));
    Vector full = Vector::Zero(n);
    for (std::size_t k = 0; k < active.size(); ++k) full[active[k]] = x[static_cast<Index>(k)];
    if (full.minCoeff() >= 0.0 && (w * full + q).minCoeff() >= -1e-12) return full;
  }
  return {};
}

TEST(Pgs, FrictionlessEqualsTheComplementarityProblem) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    test::Random random(seed);
    ContactProblemBuilder unilateral, contacts;
    const Matrix mass = test::random_spd(random, 9);
    const Vector momentum = random.vector(9);
    unilateral.add_tree(mass, momentum);
    contacts.add_tree(mass, momentum);
    for (int i = 0; i < 6; ++i) {
      const Matrix j = random.matrix(3, 9);
      const Vec3 bias = 0.3 * random.vec3();
      const std::vector<JacobianPiece> normal = {{0, j.bottomRows(1)}};
      unilateral.add_unilateral(normal, bias[2]);
      contacts.add_contact(0.0, {{0, j}}, bias);
    }
    const ContactProblem rows = unilateral.build(), cones = contacts.build();
    const Vector expected = lcp_by_enumeration(test::dense_delassus(rows), rows.free_velocity());
    ASSERT_EQ(expected.size(), 6);
    for (const bool use_pgs : {true, false}) {
      auto solver = use_pgs ? make_pgs() : make_nsgs();
      Solution a, b;
      ASSERT_EQ(solver->solve(rows, tight(1e-12), a).status, Status::converged);
      ASSERT_EQ(solver->solve(cones, tight(1e-12), b).status, Status::converged);
      for (Index i = 0; i < 6; ++i) {
        EXPECT_NEAR(a.impulse[i], expected[i], 1e-9);
        EXPECT_NEAR(b.impulse[3 * i + 2], expected[i], 1e-9);
        EXPECT_EQ(b.impulse[3 * i], 0.0);
      }
    }
  }
}

TEST(Pgs, RandomProblemsToTenDigits) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const ContactProblem problem = test::all_kinds(200 + seed, 0.2, 10);
    Solution solution;
    EXPECT_EQ(make_pgs()->solve(problem, tight(), solution).status, Status::converged) << "seed " << seed;
  }
}

TEST(Pgs, NothingToDo) {
  ContactProblemBuilder builder;
  builder.add_tree(Mat3::Identity(), Vec3(1.0, 2.0, 3.0));
  const ContactProblem problem = builder.build();
  Solution solution;
  EXPECT_EQ(make_pgs()->solve(problem, tight(), solution).status, Status::converged);
}

TEST(Pgs, SameBitsEveryTime) {
  const ContactProblem problem = test::all_kinds(24, 0.1, 20);
  Solution first, second;
  auto solver = make_pgs();
  solver->set_option("order", "shuffled");
  solver->solve(problem, tight(), first);
  solver->solve(problem, tight(), second);
  EXPECT_EQ(first.impulse, second.impulse);
}

}  // namespace
}  // namespace tribo
