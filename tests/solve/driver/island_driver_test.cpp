// Islands solved one by one through the driver that every solver has.
#include "tribo/solve/driver/island_driver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "tests/support/small_problems.h"
#include "tribo/generate/generators.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/solve/catalogue.h"

namespace tribo {
namespace {

// Cubes side by side, 8 contacts each, on slopes that grow steeper: the later ones slide.
ContactProblem cubes_apart(Index count) {
  ContactProblemBuilder builder;
  for (Index c = 0; c < count; ++c) {
    const double angle = 0.1 * static_cast<double>(c + 1), mass = 1.0 + static_cast<double>(c);
    Matrix inertia = Matrix::Identity(6, 6) * mass;
    inertia.bottomRightCorner<3, 3>() *= 1.0 / 6.0;
    Vector momentum = Vector::Zero(6);
    momentum.head<3>() = mass * Vec3(std::sin(angle), 0.0, -std::cos(angle));
    const Index body = builder.add_tree(inertia, momentum);
    for (const double x : {-0.5, 0.0, 0.5}) {
      for (const double y : {-0.5, 0.0, 0.5}) {
        if (x == 0.0 && y == 0.0) continue;
        builder.add_contact(0.4, {{body, test::point_jacobian(Vec3(x, y, -0.5))}});
      }
    }
  }
  return builder.build();
}

class IslandsOfEverySolver : public testing::TestWithParam<std::string_view> {};

TEST_P(IslandsOfEverySolver, SolvesIslandsAsItSolvesThemAlone) {
  const ContactProblem problem = cubes_apart(6);
  const auto solver = make_solver(GetParam());
  Settings settings;
  settings.law = solver->supports(Law::exact) ? Law::exact : Law::convex;
  settings.tolerance = 1e-7;
  Solution split;
  const Report report = solver->solve(problem, settings, split);
  EXPECT_EQ(report.islands, 6);
  if (report.status == Status::regularized) return;  // a rigid problem under sap
  // Solvers of the literature may fail on stacked contacts, and say so.
  const bool may_fail =
      std::ranges::none_of(main_solvers(), [](const auto& info) { return info.name == GetParam(); });
  if (may_fail && report.status != Status::converged) {
    EXPECT_GT(certify(problem, split, settings.law).error.value, settings.tolerance);
    return;
  }
  EXPECT_EQ(report.status, Status::converged) << GetParam();
  for (Index c = 0; settings.law == Law::exact && c < 6; ++c) {
    Vec3 sum = Vec3::Zero();
    for (Index i = 8 * c; i < 8 * c + 8; ++i) sum += split.impulse.segment<3>(problem.row(i));
    const double angle = 0.1 * static_cast<double>(c + 1), mass = 1.0 + static_cast<double>(c);
    const double normal = mass * std::cos(angle);
    EXPECT_NEAR(sum[2], normal, 1e-5 * mass);
    EXPECT_NEAR(sum[0], -std::min(0.4 * normal, mass * std::sin(angle)), 1e-5 * mass);
  }
}

TEST_P(IslandsOfEverySolver, GivesTheSameBitsForAnyNumberOfThreads) {
  const ContactProblem problem = cubes_apart(9);
  Settings settings;
  const auto solver = make_solver(GetParam());
  settings.law = solver->supports(Law::exact) ? Law::exact : Law::convex;
  Solution one, many;
  solver->solve(problem, settings, one);
  settings.threads = 3;
  solver->solve(problem, settings, many);
  EXPECT_TRUE(one.impulse == many.impulse);
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> list;
  for (const SolverInfo& info : solver_catalogue()) list.push_back(info.name);
  return list;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, IslandsOfEverySolver, testing::ValuesIn(names()),
                         [](const auto& parameter) {
                           std::string name(parameter.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Two bilateral rows that contradict each other, far from a resting cube with a thousand times the impulse.
TEST(IslandDriver, AnIslandWithoutSolutionIsNotHiddenByTheOthers) {
  ContactProblemBuilder builder;
  const Index heavy = builder.add_tree(1e4 * Mat3::Identity(), Vec3(0.0, 0.0, -1e4));
  for (const double shift : {0.0, 0.1, 0.2, 0.3}) {  // enough constraints to be taken apart
    builder.add_contact(0.5, {{heavy, Mat3::Identity()}}, Vec3(0.0, 0.0, shift));
  }
  const Index light = builder.add_tree(1e-3 * Mat3::Identity(), Vec3(0.0, 0.0, -1e-3));
  const Matrix row = (Matrix(1, 3) << 0, 0, 1).finished();
  builder.add_bilateral(std::vector<JacobianPiece>{{light, row}}, 0.0);
  builder.add_bilateral(std::vector<JacobianPiece>{{light, row}}, 0.5);
  const ContactProblem problem = builder.build();
  for (const std::string_view name : {"auto", "admm", "alnewton"}) {
    Settings settings;
    settings.max_iterations = 3000;
    Solution solution;
    const Report report = make_solver(name)->solve(problem, settings, solution);
    EXPECT_NE(report.status, Status::converged) << name;
    EXPECT_TRUE(solution.impulse.allFinite());
  }
}

TEST(IslandDriver, TinyIslandsNeedNoFactorisation) {
  ContactProblemBuilder builder;
  for (int k = 0; k < 8; ++k) {
    const Index body = builder.add_tree(Mat3::Identity(), Vec3(0.1 * k, 0.0, -1.0));
    builder.add_contact(0.4, {{body, Mat3::Identity()}});
  }
  const ContactProblem problem = builder.build();
  Solution solution;
  Report report = make_solver("auto")->solve(problem, {}, solution);
  EXPECT_EQ(report.status, Status::converged);
  EXPECT_EQ(report.islands, 8);
  EXPECT_EQ(report.factorizations, 0);
  // A solver that is named runs everywhere: the small islands are its own, all together.
  for (const std::string_view name : {"admm", "alnewton", "ipm"}) {
    Settings settings;
    settings.explain = true;
    report = make_solver(name)->solve(problem, settings, solution);
    EXPECT_EQ(report.status, Status::converged) << name;
    EXPECT_GT(report.factorizations, 0) << name;
    for (const Stage& stage : report.stages) EXPECT_NE(stage.name, "single constraints");
  }
}

TEST(IslandDriver, MergesHistories) {
  const ContactProblem problem = cubes_apart(4);
  Settings settings;
  settings.history = true;
  settings.tolerance = 1e-8;
  Solution solution;
  const Report report = make_solver("admm")->solve(problem, settings, solution);
  ASSERT_GE(report.history.size(), 2u);
  for (std::size_t k = 1; k < report.history.size(); ++k) {
    EXPECT_GT(report.history[k].iteration, report.history[k - 1].iteration);
    EXPECT_GE(report.history[k].seconds, report.history[k - 1].seconds);
  }
  EXPECT_LE(report.history.back().error, 1e-8);
  EXPECT_EQ(report.history.back().iteration, report.iterations);
}

TEST(IslandDriver, PassesCancellationOn) {
  const ContactProblem problem = cubes_apart(4);
  Settings settings;
  settings.tolerance = 1e-12;
  settings.threads = 2;
  std::atomic<int> calls{0};
  settings.on_progress = [&](const Progress&) { return ++calls < 3; };
  Solution solution;
  EXPECT_EQ(make_solver("nsgs")->solve(problem, settings, solution).status, Status::cancelled);
}

TEST(IslandDriver, CopiesFollowTheOptions) {
  const ContactProblem problem = cubes_apart(4);
  const auto solver = make_solver("admm");
  Settings settings;
  Solution solution;
  const Index plain = solver->solve(problem, settings, solution).iterations;
  solver->set_option("rho", "100");
  const Index stiff = solver->solve(problem, settings, solution).iterations;
  EXPECT_NE(plain, stiff);
}

// Constraints of every kind that are islands of their own, under both laws, also from a start.
TEST(IslandDriver, SingleConstraintsAreSolvedInPlace) {
  ContactProblemBuilder builder;
  const Matrix row = (Matrix(1, 3) << 0.1, 0.2, 1).finished();
  for (int k = 0; k < 4; ++k) {
    const auto body = [&] {
      return builder.add_tree((1.0 + k) * Mat3::Identity(), Vec3(0.4 * k, 0.1, -1.0));
    };
    Mat3 block;
    block << 1, 0, 0.3, 0, 1, 0.1, 0.2, 0, 1;
    builder.add_contact(0.3 * k, {{body(), block}}, Vec3::Zero(), Vec3(0.1, 0.2, 0.1 * k));
    builder.add_unilateral(std::vector<JacobianPiece>{{body(), row}}, k % 2 == 0 ? 0.0 : 5.0);
    builder.add_bilateral(std::vector<JacobianPiece>{{body(), row}}, 0.5);
    builder.add_box(-0.1, 0.2 * (k + 1), std::vector<JacobianPiece>{{body(), row}}, 0.1);
  }
  const ContactProblem problem = builder.build();
  for (const Law law : {Law::exact, Law::convex}) {
    Settings settings;
    settings.law = law;
    settings.tolerance = 1e-10;
    settings.history = settings.explain = true;
    Solution apart, together, again;
    const Report report = make_solver("auto")->solve(problem, settings, apart);
    EXPECT_EQ(report.status, Status::converged);
    EXPECT_EQ(report.islands, 16);
    ASSERT_EQ(report.stages.size(), 1u);
    EXPECT_EQ(report.stages.front().name, "single constraints");
    EXPECT_EQ(report.stages.front().islands, 16);
    ASSERT_EQ(report.history.size(), 2u);
    EXPECT_GT(report.history[0].error, 1e-3);
    EXPECT_LE(report.history[1].error, 1e-10);
    settings.islands = false;
    make_solver("auto")->solve(problem, settings, together);
    EXPECT_LT((apart.impulse - together.impulse).norm(), 1e-8 * together.impulse.norm());
    settings.islands = true;
    EXPECT_EQ(make_solver("auto")->solve(problem, settings, again, &apart.impulse).iterations, 0);
    settings.on_progress = [](const Progress&) { return false; };
    EXPECT_EQ(make_solver("auto")->solve(problem, settings, again).status, Status::cancelled);
  }
}

// Fixed against fixed and approaching: no impulse helps, and none may pass for a solution.
TEST(IslandDriver, ASingleConstraintThatCannotBeMetIsFoundOut) {
  ContactProblemBuilder builder;
  for (int k = 0; k < 6; ++k) {
    const Index body = builder.add_tree(Mat3::Identity(), Vec3(0.1 * k, 0.0, -1.0));
    builder.add_contact(0.4, {{body, Mat3::Identity()}});
  }
  builder.add_contact(0.4, std::span<const JacobianPiece>(), Vec3(0.0, 0.0, -1.0));
  Solution solution;
  EXPECT_NE(make_solver("auto")->solve(builder.build(), {}, solution).status, Status::converged);
}

}  // namespace
}  // namespace tribo
