// Friction with a coefficient per tangential row, cones of 3, 4 and 6 rows: problems with known answers, and every solver
// of the catalogue on random problems.
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>

#include "tests/support/random.h"
#include "tribo/base/errors.h"
#include "tribo/problem/certificate.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/solve/catalogue.h"
#include "tribo/solve/law/one_cone.h"

namespace tribo {
namespace {

using Vec6 = VecN<6>;
using Mat6 = MatN<6>;

// Rows (t1, t2, torsion, rolling 1, rolling 2, n) of a contact below a free body, the lever from its centre being `arm`;
// velocities (v, omega) in world axes.
Matrix contact_rows(const Vec3& arm, Index rows) {
  Mat6 all = Mat6::Zero();
  const auto point = [&](const Vec3& axis) {
    VecN<6> row;
    row << axis, arm.cross(axis);
    return row;
  };
  all.row(0) = point(Vec3::UnitX()).transpose();
  all.row(1) = point(Vec3::UnitY()).transpose();
  all(2, 5) = all(3, 3) = all(4, 4) = 1.0;
  all.row(5) = point(Vec3::UnitZ()).transpose();
  Matrix out(rows, 6);
  out.topRows(rows - 1) = all.topRows(rows - 1);
  out.row(rows - 1) = all.row(5);
  return out;
}

struct Pushed {
  double mass = 2.0;
  double inertia = 0.1;
  std::vector<double> friction;
  Vec3 arm = Vec3::Zero();

  // One step h of a body that presses with its weight and gets a force impulse and a torque impulse.
  Vector solve(const std::string& solver, Law law, const Vec3& push, const Vec3& turn,
               Vector* velocity = nullptr) {
    ContactProblemBuilder builder;
    Mat6 a = Mat6::Identity();
    a.topLeftCorner<3, 3>() *= mass;
    a.bottomRightCorner<3, 3>() *= inertia;
    Vector b(6);
    b << push, turn;
    b[2] -= 1.0;  // N s of weight
    const Index tree = builder.add_tree(a, b);
    const JacobianPiece piece{tree, contact_rows(arm, static_cast<Index>(friction.size()) + 1)};
    builder.add_elliptic_contact(friction, {&piece, 1});
    const ContactProblem problem = builder.build();
    Settings settings;
    settings.law = law;
    settings.tolerance = 1e-12;
    settings.max_iterations = 100000;
    Solution solution;
    const Report report = make_solver(solver)->solve(problem, settings, solution);
    EXPECT_LE(report.certificate.error.value, 1e-10) << solver;
    if (velocity != nullptr) *velocity = solution.generalized_velocity;
    return physical_impulse(problem, solution.impulse);
  }
};

// A force just below the elliptic limit sticks, one just above it slides; so do torques, both laws.
TEST(EllipticCones, BreakawayIsOnTheEllipticLimit) {
  for (const Law law : {Law::exact, Law::convex}) {
    Pushed body;
    body.friction = {0.6, 0.3, 0.02, 0.004, 0.007};
    for (const double angle : {0.0, 0.4, 1.1, 1.5}) {
      const Vec3 edge(0.6 * std::cos(angle), 0.3 * std::sin(angle), 0.0);
      Vector v;
      body.solve("auto", law, (1.0 - 1e-6) * edge, Vec3::Zero(), &v);
      EXPECT_LT(v.cwiseAbs().maxCoeff(), 1e-9);
      body.solve("auto", law, (1.0 + 1e-6) * edge, Vec3::Zero(), &v);
      EXPECT_GT(v.norm(), 1e-8);
    }
    const Vec3 turns[] = {Vec3(0.004, 0, 0), Vec3(0, 0.007, 0), Vec3(0, 0, 0.02),
                          Vec3(0.004, 0.007, 0.02) / std::sqrt(3.0)};
    for (const Vec3& edge : turns) {
      Vector v;
      body.solve("auto", law, Vec3::Zero(), (1.0 - 1e-6) * edge, &v);
      EXPECT_LT(v.cwiseAbs().maxCoeff(), 1e-9);
      body.solve("auto", law, Vec3::Zero(), (1.0 + 1e-6) * edge, &v);
      EXPECT_GT(v.norm(), 1e-9);
    }
  }
}

// Sliding under the exact law: friction lies on the ellipse where its normal is along the slip, lambda_j / mu_j^2 ~ -u_j.
TEST(EllipticCones, AnisotropicSlidingDissipatesMost) {
  Pushed body;
  body.friction = {0.6, 0.3};
  Vector v;
  const Vector lambda = body.solve("nsgs", Law::exact, Vec3(2.0, 1.0, 0.0), Vec3::Zero(), &v);
  ASSERT_EQ(lambda.size(), 3);
  EXPECT_NEAR(lambda[2], 1.0, 1e-10);
  const Vec2 slip = v.head<2>();
  EXPECT_NEAR(std::hypot(lambda[0] / 0.6, lambda[1] / 0.3), 1.0, 1e-10);
  EXPECT_NEAR(lambda[0] / 0.36 * slip[1] - lambda[1] / 0.09 * slip[0], 0.0, 1e-9);
  EXPECT_LT(lambda[0] * slip[0], 0.0);
}

// Equal coefficients of sliding and nothing else: the usual contact to the last bit.
TEST(EllipticCones, EqualSlidingIsTheUsualContact) {
  test::Random random(3);
  ContactProblemBuilder usual, elliptic;
  for (ContactProblemBuilder* b : {&usual, &elliptic})
    b->add_tree(Mat6::Identity(), Vector::Constant(6, -0.3));
  const JacobianPiece three{0, contact_rows(Vec3(0.1, 0.2, -0.3), 3)},
      six{0, contact_rows(Vec3(0.1, 0.2, -0.3), 6)};
  usual.add_contact(0.7, {three});
  const double coefficients[] = {0.7, 0.7, 0.0, 0.0, 0.0};
  elliptic.add_elliptic_contact(coefficients, {&six, 1});
  EXPECT_TRUE(usual.build() == elliptic.build());
}

ContactProblem random_problem(unsigned seed, bool compliant) {
  test::Random random(seed);
  ContactProblemBuilder builder;
  const Index bodies = 3;
  for (Index b = 0; b < bodies; ++b) {
    Mat6 a = Mat6::Identity();
    const double mass = random.uniform(0.5, 3.0);
    a.topLeftCorner<3, 3>() *= mass;
    a.bottomRightCorner<3, 3>() *= 0.02 * mass;
    Vector m(6);
    for (double& x : m) x = random.uniform(-0.5, 0.5);
    m[2] -= mass;
    builder.add_tree(a, m);
  }
  const auto add = [&](Index lower, Index upper) {
    const Index rows = std::array<Index, 3>{3, 4, 6}[static_cast<std::size_t>(random.uniform(0.0, 2.999))];
    std::vector<double> friction;
    for (Index j = 0; j + 1 < rows; ++j)
      friction.push_back(j < 2 ? random.uniform(0.1, 0.9) : random.uniform(0.005, 0.05));
    if (random.uniform(0.0, 1.0) < 0.2) friction.back() = 0.0;
    std::vector<JacobianPiece> pieces;
    const Vec3 below(random.uniform(-0.1, 0.1), random.uniform(-0.1, 0.1), -0.1);
    pieces.push_back({upper, contact_rows(below, rows)});
    if (lower >= 0) pieces.push_back({lower, -contact_rows(Vec3(-below[0], below[1], 0.1), rows)});
    std::vector<double> bias(rows, 0.0), compliance(rows, compliant ? 1e-3 : 0.0);
    if (compliant) compliance.back() = 1e-2;
    bias.back() = random.uniform(-0.05, 0.05);
    builder.add_elliptic_contact(friction, pieces, bias, compliance);
  };
  for (int k = 0; k < 3; ++k) add(-1, 0);
  for (int k = 0; k < 2; ++k) add(0, 1);
  add(1, 2);
  add(-1, 2);
  // A usual contact and a scalar row beside them.
  builder.add_contact(0.4, {{1, contact_rows(Vec3(0.0, 0.05, -0.1), 3)}});
  Matrix row = Matrix::Zero(1, 6);
  row(0, 0) = 1.0;
  const JacobianPiece stop{2, row};
  builder.add_box(-0.02, 0.03, {&stop, 1});
  return builder.build();
}

class EverySolverOnCones : public testing::TestWithParam<std::string> {};

// The ablations of the augmented Lagrangian (fixed schedules, no safeguards) are known to fail now and then on contacts
// of three rows, too: most must be solved.
TEST_P(EverySolverOnCones, SolvesConesOfThreeFourAndSixRows) {
  const std::string name = GetParam();
  const bool ablation = name == "al-dogleg" || name == "al-damped";
  int missed = 0;
  for (const Law law : {Law::exact, Law::convex}) {
    for (unsigned seed = 1; seed <= 6; ++seed) {
      const ContactProblem problem = random_problem(seed, seed % 2 == 0);
      Settings settings;
      settings.law = law;
      settings.tolerance = 1e-7;
      settings.max_iterations = ablation ? 300 : 200000;
      Solution solution;
      const bool sap = name == "sap";
      const auto solver = make_solver(sap ? "sap:near_rigid=off" : name);
      if (!solver->supports(law)) continue;
      const Report report = solver->solve(problem, settings, solution);
      const Certificate judged = certify(problem, solution, law);
      if (ablation) {
        missed += judged.error.value <= 1e-7 ? 0 : 1;
        continue;
      }
      EXPECT_LE(judged.error.value, 1e-7)
          << name << " seed " << seed << " law " << static_cast<int>(law) << " " << to_string(report.status);
    }
  }
  EXPECT_LE(missed, 3);
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const SolverInfo& info : main_solvers()) all.emplace_back(info.name);
  // One of each engine; the others fail on some problems of three rows, too.
  for (const char* name :
       {"fp-vi-upk", "nsn-fb-gp", "nsgs-ac-gp", "nsgs-fp-vi-upk", "ppa-nsn-ac-gp", "tresca-fp-vi-upk",
        "aclm-nsgs-fp-vi-upk", "pana-pgs-fp-vi-upk", "soclcp-nsgs-pli"}) {
    all.emplace_back(name);
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Catalogue, EverySolverOnCones, testing::ValuesIn(names()), [](const auto& instance) {
  std::string name = instance.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

// The one-contact solvers against the certificate's conditions on random matrices.
template <int N>
void check_one_contact() {
  test::Random random(N);
  for (int k = 0; k < 300; ++k) {
    MatN<N> half;
    for (double& x : half.reshaped()) x = random.uniform(-1.0, 1.0);
    MatN<N> w = half * half.transpose() + 1e-3 * MatN<N>::Identity();
    VecN<N> q;
    for (double& x : q) x = random.uniform(-1.0, 1.0);
    const double mu = random.uniform(0.05, 2.0);
    const VecN<N> exact = ExactCone<N>(w, mu).solve(q, VecN<N>::Zero());
    const VecN<N> u = w * exact + q;
    const VecN<N> map = exact - project_cone(VecN<N>(exact - u - de_saxce(u, mu)), mu);
    EXPECT_LT(map.norm(), 1e-9 * (1.0 + exact.norm())) << k;
    const VecN<N> convex = ConvexCone<N>(w, mu).solve(q, VecN<N>::Zero());
    const VecN<N> gap = convex - project_cone(VecN<N>(convex - w * convex - q), mu);
    EXPECT_LT(gap.norm(), 1e-7 * (1.0 + convex.norm())) << k;
  }
}
TEST(OneCone, SolvesFourRows) { check_one_contact<4>(); }
TEST(OneCone, SolvesSixRows) { check_one_contact<6>(); }

// Jacobians of the projections against central differences.
template <int N>
void check_jacobians() {
  test::Random random(7 + N);
  for (int k = 0; k < 200; ++k) {
    VecN<N> z;
    for (double& x : z) x = random.uniform(-1.0, 1.0);
    const double mu = random.uniform(0.1, 1.5), e = 1e-7;
    const auto compare = [&](const auto& f, const MatN<N>& jacobian) {
      for (int c = 0; c < N; ++c) {
        const VecN<N> d = e * VecN<N>::Unit(c);
        const VecN<N> slope = (f(VecN<N>(z + d)) - f(VecN<N>(z - d))) / (2.0 * e);
        EXPECT_LT((slope - jacobian.col(c)).norm(), 1e-5);
      }
    };
    compare([&](const VecN<N>& x) { return project_cone(x, mu); }, project_cone_jacobian(z, mu));
    compare([&](const VecN<N>& x) { return project_dual_cone(x, mu); }, project_dual_cone_jacobian(z, mu));
    compare([&](const VecN<N>& x) { return project_strict(x, mu); }, project_strict_jacobian(z, mu));
    compare([&](const VecN<N>& x) { return project_cone_metric(x, mu, 2.0, 0.5); },
            project_cone_metric_jacobian(z, mu, 2.0, 0.5));
  }
}
TEST(ConeN, JacobiansAreDerivatives) {
  check_jacobians<4>();
  check_jacobians<6>();
}

TEST(EllipticCones, BadInputIsNamed) {
  ContactProblemBuilder builder;
  builder.add_tree(Mat6::Identity(), Vector::Zero(6));
  const JacobianPiece piece{0, contact_rows(Vec3::Zero(), 4)};
  const double four[] = {0.1, 0.1, 0.1, 0.1}, negative[] = {0.1, -0.1, 0.1}, two[] = {0.1, 0.2};
  EXPECT_THROW(builder.add_elliptic_contact(four, {&piece, 1}), InvalidInput);
  EXPECT_THROW(builder.add_elliptic_contact(negative, {&piece, 1}), InvalidInput);
  EXPECT_THROW(builder.add_elliptic_contact(two, {&piece, 1}), InvalidInput);
}

}  // namespace
}  // namespace tribo
