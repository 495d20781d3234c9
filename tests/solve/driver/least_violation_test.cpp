#include "tribo/solve/driver/least_violation.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <array>
#include <cmath>
#include <limits>

#include "tests/support/dense_twin.h"
#include "tests/support/random.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/problem/lift.h"
#include "tribo/solve/catalogue.h"

namespace tribo {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Rows (t1, t2, n) of a point, n along `normal`.
Mat3 frame(const Vec3& normal) {
  Mat3 rows;
  const Vec3 n = normal.normalized();
  const Vec3 t = n.unitOrthogonal();
  rows << t.transpose(), n.cross(t).transpose(), n.transpose();
  return rows;
}

// A ball of 2 kg between two walls that close on it: v_n >= first and v_n <= -second.
ContactProblem ball_between_walls(double first, double second, double mu = 0.3, double compliance = 0.0) {
  ContactProblemBuilder builder;
  const Index ball = builder.add_tree(2.0 * Mat3::Identity(), Vec3(0.2, 0.0, -0.1));
  builder.add_contact(mu, {{ball, Mat3::Identity()}}, Vec3(0.0, 0.0, -first));
  builder.add_contact(mu, {{ball, Mat3(-Mat3::Identity())}}, Vec3(0.0, 0.0, -second),
                      Vec3::Constant(compliance));
  return builder.build();
}

// The conditions of Farkas' lemma, on dense matrices and without the code under test.
void expect_proof(const ContactProblem& problem, const Vector& ray, double relative = 1e-12) {
  const test::DenseTwin twin(problem);
  ASSERT_EQ(ray.size(), problem.row_count());
  const Vector push = twin.j.transpose() * ray;
  const double size = (twin.j.cwiseAbs().transpose() * ray.cwiseAbs()).maxCoeff();
  EXPECT_LE(push.lpNorm<Eigen::Infinity>(), relative * size);
  EXPECT_LT(ray.dot(twin.e), 0.0);
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Index row = problem.row(i);
    if (problem.kind(i) == ConstraintKind::contact) {
      EXPECT_EQ(ray[row], 0.0);
      EXPECT_EQ(ray[row + 1], 0.0);
      EXPECT_GE(ray[row + 2], 0.0);
    }
    if (problem.kind(i) == ConstraintKind::unilateral) {
      EXPECT_GE(ray[row], 0.0);
    }
  }
}

Report solve_with(std::string_view name, const ContactProblem& problem, Solution& solution,
                  Law law = Law::exact) {
  Settings settings;
  settings.law = law;
  settings.max_iterations = 2000;
  return make_solver(name)->solve(problem, settings, solution);
}

TEST(LeastViolation, BallBetweenWalls) {
  const ContactProblem problem = ball_between_walls(1.0, 0.4);
  LeastViolation search;
  const auto proof = search.prove(problem, Law::exact, 4e9);
  ASSERT_TRUE(proof);
  expect_proof(problem, proof->ray);
  EXPECT_EQ(proof->constraints, (std::vector<Index>{0, 1}));
  EXPECT_NEAR(proof->shares[0], 0.5, 1e-9);
  EXPECT_NEAR(proof->violation, 0.7, 1e-9);  // v_n >= 1 and v_n <= -0.4: nothing is nearer than 0.7 to both
  EXPECT_NEAR(search.velocity()[2], 0.3, 1e-5);
  EXPECT_NEAR(search.velocity()[0], 0.1, 1e-5);  // along the walls it moves as it did
}

TEST(LeastViolation, EverySolverProvesIt) {
  const ContactProblem problem = ball_between_walls(1.0, 0.4);
  for (const SolverInfo& entry : solver_catalogue()) {
    const std::unique_ptr<Solver> solver = make_solver(entry.name);
    for (const Law law : {Law::exact, Law::convex}) {
      if (!solver->supports(law)) continue;
      Solution solution;
      const Report report = solve_with(entry.name, problem, solution, law);
      EXPECT_EQ(report.status, Status::infeasible) << entry.name;
      ASSERT_EQ(report.contradictions.size(), 1u) << entry.name;
      EXPECT_TRUE(prove_contradiction(problem, report.contradictions[0].ray, law)) << entry.name;
      EXPECT_NEAR(solution.generalized_velocity[2], 0.3, 1e-5) << entry.name;
      EXPECT_NEAR(solution.velocity[2], -0.7, 1e-5) << entry.name;
      EXPECT_NEAR(solution.velocity[5], -0.7, 1e-5) << entry.name;
    }
  }
}

TEST(LeastViolation, RowThatNothingMoves) {
  ContactProblemBuilder builder;
  const Index ball = builder.add_tree(Mat3::Identity(), Vec3(0.0, 0.0, -1.0));
  builder.add_contact(0.5, {{ball, Mat3::Identity()}});
  builder.add_contact(0.5, {{ball, Mat3::Zero()}}, Vec3(0.3, 0.0, -2.0));
  const ContactProblem problem = builder.build();
  Solution solution;
  const Report report = solve_with("auto", problem, solution);
  ASSERT_EQ(report.status, Status::infeasible);
  EXPECT_EQ(report.contradictions[0].constraints, std::vector<Index>{1});
  EXPECT_DOUBLE_EQ(report.contradictions[0].violation, 2.0);
  EXPECT_EQ(report.contradictions[0].speed_ratio, kInfinity);
}

TEST(LeastViolation, ThreeContactsAround) {
  ContactProblemBuilder builder;
  const Index ball = builder.add_tree(Mat3::Identity(), Vec3::Zero());
  for (int k = 0; k < 3; ++k) {
    const double angle = 2.0 * M_PI / 3.0 * k;
    builder.add_contact(1.0, {{ball, frame({std::cos(angle), std::sin(angle), 0.0})}}, Vec3(0, 0, -0.5));
  }
  const ContactProblem problem = builder.build();
  LeastViolation search;
  const auto proof = search.prove(problem, Law::exact, 4e9);
  ASSERT_TRUE(proof);
  expect_proof(problem, proof->ray);
  EXPECT_EQ(proof->constraints.size(), 3u);
  EXPECT_NEAR(proof->violation, 0.5, 1e-9);
  EXPECT_NEAR(search.velocity().norm(), 0.0, 1e-9);
}

TEST(LeastViolation, LoopOfContradictingBilateralRows) {
  ContactProblemBuilder builder;
  const Matrix one = Matrix::Identity(1, 1);
  const Index a = builder.add_tree(3.0 * one, Vector::Constant(1, 1.0));
  const Index b = builder.add_tree(1e-3 * one, Vector::Constant(1, -1.0));
  const std::array<JacobianPiece, 2> forth{{{a, one}, {b, -one}}}, back{{{a, -2.0 * one}, {b, 2.0 * one}}};
  builder.add_bilateral(forth, 0.0);
  builder.add_bilateral(back, 0.4);
  const ContactProblem problem = builder.build();
  LeastViolation search;
  const auto proof = search.prove(problem, Law::exact, 4e9);
  ASSERT_TRUE(proof);
  expect_proof(problem, proof->ray);
  // 2 w_1 + w_2 = 0.4 for all v: |w_1| or |w_2| is at least 0.4 / 3.
  EXPECT_NEAR(proof->violation, 0.4 / 3.0, 1e-9);
}

// What a bound or compliance can give way to proves nothing; what it cannot does.
TEST(LeastViolation, BoxesAndComplianceGiveWay) {
  EXPECT_FALSE(LeastViolation().prove(ball_between_walls(1.0, 0.4, 0.3, 1e-3), Law::exact, 4e9));
  const Matrix one = Matrix::Identity(1, 1);
  const auto against_box = [&](double lower, double upper, double bias) {
    ContactProblemBuilder builder;
    const Index slider = builder.add_tree(one, Vector::Zero(1));
    const std::array<JacobianPiece, 1> piece{{{slider, one}}};
    builder.add_bilateral(piece, -1.0);  // v = 1
    builder.add_box(lower, upper, piece, bias);
    return LeastViolation().prove(builder.build(), Law::exact, 4e9).has_value();
  };
  EXPECT_FALSE(against_box(-5.0, 5.0, -3.0));
  EXPECT_TRUE(against_box(0.0, kInfinity, -3.0));    // w = v - 3 >= 0
  EXPECT_FALSE(against_box(0.0, kInfinity, 3.0));    // w = v + 3 >= 0
  EXPECT_FALSE(against_box(-kInfinity, 0.0, -3.0));  // w <= 0
  EXPECT_TRUE(against_box(-kInfinity, 0.0, 3.0));
  EXPECT_TRUE(against_box(-kInfinity, kInfinity, 3.0));
  EXPECT_FALSE(against_box(-kInfinity, kInfinity, -1.0));
}

// Walls that leave a wedge open throw the ball out of it, the faster the narrower it is: a solution.
TEST(LeastViolation, NarrowWedgesAreNotInfeasible) {
  for (const double angle : {1e-1, 1e-3, 1e-5, 1e-6}) {
    ContactProblemBuilder builder;
    const Index ball = builder.add_tree(Mat3::Identity(), Vec3::Zero());
    builder.add_contact(0.0, {{ball, frame({angle, 0.0, 1.0})}}, Vec3(0, 0, -1.0));
    builder.add_contact(0.0, {{ball, frame({angle, 0.0, -1.0})}}, Vec3(0, 0, -1.0));
    const ContactProblem problem = builder.build();
    EXPECT_FALSE(LeastViolation().prove(problem, Law::exact, 4e9)) << angle;
    Solution solution;
    EXPECT_NE(solve_with("auto", problem, solution).status, Status::infeasible) << angle;
  }
}

// Unilateral and bilateral rows and contacts on trees of random masses over `decades`; biases such that `v` meets
// every demand, some of them exactly. With `contradiction` > 0 one more row turns the sum of all around.
ContactProblem random_problem(test::Random& random, double decades, double contradiction, Index& demands) {
  ContactProblemBuilder builder;
  const Index trees = 3, n = 4, constraints = 4 + static_cast<Index>(random.uniform(0.0, 12.0));
  std::vector<double> mass;
  for (Index t = 0; t < trees; ++t) {
    mass.push_back(random.log_uniform(std::pow(10.0, -decades), std::pow(10.0, decades)));
    builder.add_tree(mass.back() * test::random_spd(random, n), mass.back() * random.vector(n));
  }
  const Vector v = random.vector(trees * n);
  Matrix sum = Matrix::Zero(1, trees * n);
  double sum_bias = 0.0;
  demands = constraints + (contradiction > 0.0 ? 1 : 0);
  for (Index i = 0; i < constraints; ++i) {
    const bool contact = random.uniform() > 0.0, bilateral = !contact && random.uniform() > 0.5;
    const Index a = i % trees, b = (i + 1) % trees, rows = contact ? 3 : 1;
    const std::array<JacobianPiece, 2> pieces{{{a, random.matrix(rows, n)}, {b, random.matrix(rows, n)}}};
    const Vector moved = pieces[0].block * v.segment(a * n, n) + pieces[1].block * v.segment(b * n, n);
    const double slack = bilateral || random.uniform() > 0.0 ? 0.0 : random.uniform(0.0, 1.0);
    const double bias = slack - moved[rows - 1];
    const double weight = bilateral ? random.uniform(-2.0, 2.0) : random.uniform(0.1, 2.0);
    sum.middleCols(a * n, n) += weight * pieces[0].block.row(rows - 1);
    sum.middleCols(b * n, n) += weight * pieces[1].block.row(rows - 1);
    sum_bias += weight * bias;
    if (contact) {
      builder.add_contact(random.uniform(0.0, 1.0), pieces, Vec3(random.uniform(), random.uniform(), bias));
    } else if (bilateral) {
      builder.add_bilateral(pieces, bias);
    } else {
      builder.add_unilateral(pieces, bias);
    }
  }
  if (contradiction > 0.0) {
    std::vector<JacobianPiece> pieces;
    for (Index t = 0; t < trees; ++t) pieces.push_back({t, -sum.middleCols(t * n, n)});
    builder.add_unilateral(pieces, -sum_bias - contradiction);
  }
  return builder.build();
}

TEST(LeastViolation, NeverProvesWhatHasASolution) {
  test::Random random(7);
  LeastViolation search;
  Index asked = 0;
  for (int k = 0; k < 400; ++k) {
    Index demands = 0;
    const ContactProblem problem = random_problem(random, k % 2 == 0 ? 0.0 : 4.0, 0.0, demands);
    if (rest_meets_demands(problem, Law::exact)) continue;
    ++asked;
    EXPECT_FALSE(search.prove(problem, Law::exact, 4e9)) << k;
  }
  EXPECT_GT(asked, 300);
}

TEST(LeastViolation, ProvesWhatHasNone) {
  test::Random random(8);
  LeastViolation search;
  for (int k = 0; k < 400; ++k) {
    Index demands = 0;
    const double contradiction = random.log_uniform(1e-4, 1.0);
    const ContactProblem problem = random_problem(random, k % 2 == 0 ? 0.0 : 4.0, contradiction, demands);
    const auto proof = search.prove(problem, Law::exact, 4e9);
    ASSERT_TRUE(proof) << k << ' ' << contradiction;
    expect_proof(problem, proof->ray);
  }
}

// One pair of walls closes on its ball, another ball lies still and a third is left alone: the first alone is named,
// the others are solved. Once few enough to be solved together, once not.
TEST(LeastViolation, OnlyTheIslandThatHasNoSolution) {
  for (const Index extra : {0, 8}) {
    ContactProblemBuilder builder;
    const Index good = builder.add_tree(Mat3::Identity(), Vec3(0.5, 0.0, -1.0));
    const Index bad = builder.add_tree(Mat3::Identity(), Vec3::Zero());
    builder.add_contact(0.1, {{good, Mat3::Identity()}});
    builder.add_contact(0.1, {{bad, Mat3::Identity()}}, Vec3(0.0, 0.0, -1.0));
    builder.add_contact(0.1, {{bad, Mat3(-Mat3::Identity())}}, Vec3(0.0, 0.0, -1.0));
    for (Index k = 0; k < extra; ++k) {
      const Index ball = builder.add_tree(Mat3::Identity(), Vec3(0.5, 0.0, -1.0));
      builder.add_contact(0.1, {{ball, Mat3::Identity()}});
    }
    const ContactProblem problem = builder.build();
    for (const char* name : {"auto", "nsgs", "admm"}) {
      Solution solution;
      const Report report = solve_with(name, problem, solution);
      ASSERT_EQ(report.status, Status::infeasible) << name;
      ASSERT_EQ(report.contradictions.size(), 1u) << name;
      EXPECT_EQ(report.contradictions[0].constraints, (std::vector<Index>{1, 2})) << name;
      expect_proof(problem, report.contradictions[0].ray);
      // Sliding at 0.5 - 0.1 m/s on the ground.
      EXPECT_NEAR(solution.generalized_velocity[0], 0.4, 1e-5) << name;
      EXPECT_NEAR(solution.impulse[2], 1.0, 1e-5) << name;
      EXPECT_NEAR(solution.generalized_velocity.segment<3>(3).norm(), 0.0, 1e-5) << name;
      EXPECT_NEAR(solution.velocity[5], -1.0, 1e-5) << name;
      if (extra > 0) {
        EXPECT_NEAR(solution.generalized_velocity[6], 0.4, 1e-5) << name;
      }
    }
  }
}

// Belts that run against each other above and below a block: the convex law asks for separation from both, the exact
// one lets the block slide.
// What a row in other units asks of another body says nothing about the size of a contradiction: the velocity it is asked for
// is 1e30 times that of the bodies, whether it has it already or not. Nor do its impulses say anything about errors there.
TEST(LeastViolation, AnotherBodysUnitsHideNothing) {
  for (const auto& [asked, mass] : {std::pair{0.5, 1e-5}, {-0.5, 1e-5}, {0.5, 1.0}, {-0.5, 1.0}}) {
    ContactProblemBuilder builder;
    const Index light = builder.add_tree(mass * Mat3::Identity(), mass * Vec3(0.3, -1.0, 0.2));
    const Index other = builder.add_tree(Matrix::Identity(1, 1), Vector::Zero(1));
    const std::vector<JacobianPiece> tiny{{other, Matrix::Constant(1, 1, 1e-30)}};
    builder.add_unilateral(tiny, asked);
    const std::vector<JacobianPiece> row{{light, Matrix::Constant(1, 3, 1.0)}};
    builder.add_bilateral(row, 0.0);
    builder.add_bilateral(row, 1.0);
    const ContactProblem problem = builder.build();
    LeastViolation search;
    const std::optional<Contradiction> proof = search.prove(problem, Law::exact, 4e9);
    ASSERT_TRUE(proof) << asked;
    expect_proof(problem, proof->ray);
    EXPECT_EQ(proof->constraints, (std::vector<Index>{1, 2}));
    for (const char* solver : {"auto", "canal", "subadmm-nobody"}) {
      Solution solution;
      EXPECT_EQ(solve_with(solver, problem, solution).status, Status::infeasible) << solver << ' ' << asked;
    }
  }
}

TEST(LeastViolation, ConvexLawHasContradictionsOfItsOwn) {
  ContactProblemBuilder builder;
  const Index block = builder.add_tree(Mat3::Identity(), Vec3::Zero());
  Mat3 above = -Mat3::Identity();
  above(0, 0) = 1.0;
  builder.add_contact(0.5, {{block, Mat3::Identity()}}, Vec3(1.0, 0.0, 0.0));
  builder.add_contact(0.5, {{block, above}}, Vec3(-1.0, 0.0, 0.0));
  const ContactProblem problem = builder.build();
  EXPECT_TRUE(rest_meets_demands(problem, Law::exact));
  LeastViolation search;
  const auto proof = search.prove(problem, Law::convex, 4e9);
  ASSERT_TRUE(proof);
  EXPECT_FALSE(prove_contradiction(problem, proof->ray, Law::exact));  // tangents prove nothing there
  const test::DenseTwin twin(problem);
  EXPECT_LE((twin.j.transpose() * proof->ray).norm(), 1e-12);
  EXPECT_LT(proof->ray.dot(twin.e), 0.0);
  EXPECT_LE(proof->ray.head<2>().norm(), 0.5 * proof->ray[2] * (1.0 + 1e-12));
  // Both belts at rest relative to a block that does not move along: separation 0.5 is asked for on both sides.
  Solution solution;
  EXPECT_EQ(solve_with("auto", problem, solution, Law::convex).status, Status::infeasible);
  EXPECT_EQ(solve_with("auto", problem, solution, Law::exact).status, Status::converged);
}

// The same walls given by W and q alone.
TEST(LeastViolation, ProblemsGivenByW) {
  const ContactProblem walls = ball_between_walls(1.0, 0.4);
  const test::DenseTwin twin(walls);
  std::vector<ScalarTriplet> triplets;
  for (Index r = 0; r < 6; ++r) {
    for (Index c = 0; c < 6; ++c) triplets.push_back({r, c, twin.w(r, c)});
  }
  std::vector<ConstraintSpec> specs(2);
  for (ConstraintSpec& spec : specs) spec.friction = 0.3;
  const ContactProblem problem = lift(BlockMatrix::from_triplets({0, 3, 6}, triplets), twin.q, specs);
  Solution solution;
  const Report report = solve_with("auto", problem, solution);
  ASSERT_EQ(report.status, Status::infeasible);
  const Vector& ray = report.contradictions[0].ray;
  EXPECT_LE((twin.w.transpose() * ray).norm(), 1e-14);
  EXPECT_NEAR(report.contradictions[0].violation, 0.7, 1e-9);
  EXPECT_EQ(solution.generalized_velocity.size(), 0);
  EXPECT_NEAR(solution.velocity[2], -0.7, 1e-5);
}

TEST(ContradictionCheck, RefusesWhatIsNoProof) {
  const ContactProblem problem = ball_between_walls(1.0, 0.4);
  const auto judged = [&](std::initializer_list<double> values) {
    Vector ray(6);
    std::copy(values.begin(), values.end(), ray.begin());
    return prove_contradiction(problem, ray).has_value();
  };
  EXPECT_TRUE(judged({0, 0, 1, 0, 0, 1}));
  EXPECT_TRUE(judged({0, 0, 1e-200, 0, 0, 1e-200}));
  EXPECT_FALSE(judged({0, 0, 1, 0, 0, 1.001}));  // pushes the ball
  EXPECT_FALSE(judged({0, 0, -1, 0, 0, -1}));    // pulls
  EXPECT_FALSE(judged({0.1, 0, 1, 0.1, 0, 1}));  // tangents, exact law
  EXPECT_FALSE(judged({0, 0, 0, 0, 0, 0}));
  EXPECT_FALSE(judged({0, 0, NAN, 0, 0, 1}));
  EXPECT_FALSE(prove_contradiction(problem, Vector::Ones(3)).has_value());
  // Walls that part: the same ray gains nothing.
  Vector ray = Vector::Zero(6);
  ray[2] = ray[5] = 1.0;
  EXPECT_FALSE(prove_contradiction(ball_between_walls(1.0, -1.5), ray));
  EXPECT_FALSE(prove_contradiction(ball_between_walls(1.0, -1.0), ray));  // touching both
}

}  // namespace
}  // namespace tribo
