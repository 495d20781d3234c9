#include "tribo/formats/matrix_problem.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <limits>

#include "tribo/base/errors.h"

namespace tribo {
namespace {

std::vector<ScalarTriplet> entries_of(const Matrix& m) {
  std::vector<ScalarTriplet> entries;
  for (Index r = 0; r < m.rows(); ++r) {
    for (Index c = 0; c < m.cols(); ++c) {
      if (m(r, c) != 0.0) entries.push_back({r, c, m(r, c)});
    }
  }
  return entries;
}

struct Example {
  // Dofs 0 and 2 are coupled across 1; 3 stands alone.
  Matrix mass = (Matrix(4, 4) << 2, 0, 0.5, 0, 0, 1, 0, 0, 0.5, 0, 3, 0, 0, 0, 0, 4).finished();
  Matrix h = (Matrix(4, 3) << 1, 0, 0.2, 0, 1, 0, 0.3, 0, 1, 0, 0.5, 1).finished();
  Vector f = (Vector(4) << 0.1, -0.2, -1.0, 0.4).finished();
  Vector w = (Vector(3) << 0.01, 0.0, -0.02).finished();

  GlobalMatrices matrices() const {
    return {.dofs = 4,
            .mass = entries_of(mass),
            .momentum = f,
            .jacobian = entries_of(h),
            .bias = w,
            .friction = {0.5}};
  }
};

TEST(MatrixProblem, KeepsTheOrderOfTheDofsWhereTreesAreInterleaved) {
  const Example e;
  const ContactProblem problem = problem_from_matrices(e.matrices());
  ASSERT_EQ(problem.tree_count(), 2);
  EXPECT_EQ(problem.mass().block_size(0), 3);
  EXPECT_EQ(problem.mass().block_size(1), 1);
  const Vector impulse = Vec3(0.1, -0.05, 0.7);
  Vector v;
  problem.generalized_velocity_of(impulse, v);
  EXPECT_LT((v - e.mass.inverse() * (e.f + e.h * impulse)).norm(), 1e-14);
  EXPECT_LT((problem.free_velocity() - (e.h.transpose() * e.mass.inverse() * e.f + e.w)).norm(), 1e-14);
}

TEST(MatrixProblem, GroupsOfSixAreOneTree) {
  GlobalMatrices m{.dofs = 12,
                   .mass = {},
                   .momentum = Vector::Ones(12),
                   .jacobian = {{0, 0, 1.0}, {7, 1, 1.0}, {8, 2, 1.0}},
                   .bias = Vector::Zero(3),
                   .friction = {0.5}};
  for (Index d = 0; d < 12; ++d) m.mass.push_back({d, d, 2.0});
  EXPECT_EQ(problem_from_matrices(m).tree_count(), 2);
}

TEST(MatrixProblem, DelassusFormSaysTheSame) {
  const Example e;
  const ContactProblem whole = problem_from_matrices(e.matrices());
  const Matrix w = e.h.transpose() * e.mass.inverse() * e.h;
  const ContactProblem local = problem_from_delassus(entries_of(w), whole.free_velocity(), {0.5});
  ASSERT_TRUE(local.has_delassus());
  const Vector impulse = Vec3(0.1, -0.05, 0.7);
  Vector scratch, u, expected;
  local.velocity_of(impulse, scratch, u);
  whole.velocity_of(impulse, scratch, expected);
  EXPECT_LT((u - expected).norm(), 1e-13);
}

TEST(MatrixProblem, RefusesWhatDoesNotFit) {
  const auto message = [](auto change) {
    GlobalMatrices m = Example().matrices();
    change(m);
    try {
      problem_from_matrices(m);
    } catch (const InvalidInput& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message([](auto& m) {
              m.mass.push_back({9, 0, 1.0});
            }).find("M has an entry at (9, 0)"),
            std::string::npos);
  EXPECT_NE(message([](auto& m) { m.jacobian.push_back({0, 5, 1.0}); }).find("H has"), std::string::npos);
  EXPECT_NE(message([](auto& m) {
              m.momentum[1] = std::numeric_limits<double>::quiet_NaN();
            }).find("f has nan at 1"),
            std::string::npos);
  EXPECT_NE(message([](auto& m) { m.bias.resize(2); }).find("w has 2 entries"), std::string::npos);
  EXPECT_NE(message([](auto& m) { m.friction[0] = -1.0; }).find("mu"), std::string::npos);
  EXPECT_NE(message([](auto& m) { m.dofs = 0; }).find("M"), std::string::npos);
}

}  // namespace
}  // namespace tribo
