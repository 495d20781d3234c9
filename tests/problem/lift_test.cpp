#include "tribo/problem/lift.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <string>

#include "tests/support/dense_twin.h"
#include "tests/support/sample_problems.h"
#include "tribo/base/errors.h"

namespace tribo {
namespace {

BlockMatrix blocks_of(const Matrix& w, const std::vector<Index>& starts) {
  std::vector<ScalarTriplet> triplets;
  for (Index r = 0; r < w.rows(); ++r) {
    for (Index c = 0; c < w.cols(); ++c) {
      if (w(r, c) != 0.0) triplets.push_back({r, c, w(r, c)});
    }
  }
  return BlockMatrix::from_triplets(starts, triplets);
}

std::vector<Index> contact_starts(Index contacts) {
  std::vector<Index> starts;
  for (Index i = 0; i <= contacts; ++i) starts.push_back(3 * i);
  return starts;
}

ContactProblem lift_contacts(const Matrix& w, const Vector& q) {
  const Index contacts = static_cast<Index>(w.rows()) / 3;
  std::vector<ConstraintSpec> specs(contacts);
  for (ConstraintSpec& spec : specs) spec.friction = 0.3;
  return lift(blocks_of(w, contact_starts(contacts)), q, specs);
}

std::string refusal(const Matrix& w) {
  try {
    lift_contacts(w, Vector::Zero(w.rows()));
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Lift, FactorReproducesTheSymmetricPart) {
  for (const double skew : {0.0, 0.2}) {
    for (unsigned seed = 0; seed < 5; ++seed) {
      const test::DelassusSample sample = test::mixed_delassus(seed, skew);
      const Matrix w = sample.delassus.to_dense();
      const ContactProblem problem = lift(sample.delassus, sample.q, sample.constraints);
      const test::DenseTwin twin(problem);
      EXPECT_TRUE(twin.a.isIdentity(0.0));
      EXPECT_LT((twin.j * twin.j.transpose() - 0.5 * (w + w.transpose())).norm(), 1e-12 * w.norm());
      EXPECT_EQ(problem.free_velocity(), sample.q);
      // W itself is kept, skew part and all.
      ASSERT_TRUE(problem.has_delassus());
      EXPECT_EQ(problem.delassus().to_dense(), w);
      EXPECT_EQ(problem.is_symmetric(), skew == 0.0);
      // Constraint 2 is coupled to nothing: a tree of its own.
      EXPECT_EQ(problem.tree_count(), 2);
      for (Index i = 0; i < problem.constraint_count(); ++i) {
        EXPECT_EQ(problem.kind(i), sample.constraints[i].kind);
        EXPECT_EQ(problem.friction(i), sample.constraints[i].friction);
        EXPECT_EQ(problem.key(i), sample.constraints[i].key);
        EXPECT_EQ(problem.compliance()[problem.row(i)], sample.constraints[i].compliance[0]);
      }
    }
  }
}

TEST(Lift, VelocitiesComeFromTheGivenMatrix) {
  const test::DelassusSample sample = test::mixed_delassus(7, 0.3);
  const ContactProblem problem = lift(sample.delassus, sample.q, sample.constraints);
  test::Random random(7);
  const Vector lambda = random.vector(problem.row_count());
  Vector scratch, u;
  problem.velocity_of(lambda, scratch, u);
  EXPECT_LT((u - sample.delassus.to_dense() * lambda - sample.q).norm(), 1e-12);
}

TEST(Lift, RankOfRedundantContacts) {
  test::Random random(8);
  for (const Index rank : {1, 4, 6, 11}) {
    const Matrix g = random.matrix(12, rank);
    const Matrix w = g * g.transpose();
    const ContactProblem problem = lift_contacts(0.5 * (w + w.transpose()), random.vector(12));
    EXPECT_EQ(problem.dof_count(), rank);
    const test::DenseTwin twin(problem);
    EXPECT_LT((twin.j * twin.j.transpose() - w).norm(), 1e-10 * w.norm());
  }
}

TEST(Lift, OneTreePerComponent) {
  test::Random random(9);
  Matrix w = Matrix::Zero(15, 15);
  // Contacts {0, 3}, {1, 2} and {4}; the second is coupled in one direction only.
  for (const auto& [i, j] : {std::pair<Index, Index>{0, 3}, {1, 2}, {4, 4}}) {
    w.block<3, 3>(3 * i, 3 * i) = test::random_spd(random, 3);
    w.block<3, 3>(3 * j, 3 * j) = test::random_spd(random, 3);
  }
  const Mat3 coupling = random.matrix(3, 3);
  w.block<3, 3>(0, 9) = coupling;
  w.block<3, 3>(9, 0) = coupling.transpose();
  w.block<3, 3>(6, 3) = coupling;
  const ContactProblem problem = lift_contacts(w, Vector::Zero(15));
  EXPECT_EQ(problem.tree_count(), 3);
  const auto tree = [&](Index i) { return problem.jacobian().piece_tree(problem.jacobian().piece_begin(i)); };
  EXPECT_EQ(tree(0), tree(3));
  EXPECT_EQ(tree(1), tree(2));
  EXPECT_NE(tree(0), tree(1));
  EXPECT_NE(tree(4), tree(0));
  EXPECT_EQ(problem.dof_count(), 15);
}

TEST(Lift, ZeroMatrixAndNoConstraintsAtAll) {
  const ContactProblem zero = lift_contacts(Matrix::Zero(3, 3), Vec3(1, 2, 3));
  EXPECT_EQ(zero.row_count(), 3);
  EXPECT_EQ(zero.free_velocity(), Vector(Vec3(1, 2, 3)));
  EXPECT_TRUE(test::DenseTwin(zero).j.isZero(0.0));
  const ContactProblem none = lift(BlockMatrix::from_triplets({0}, {}), Vector(), {});
  EXPECT_EQ(none.constraint_count(), 0);
}

TEST(Lift, RefusesIndefiniteMatrices) {
  test::Random random(10);
  Matrix w = test::random_spd(random, 6);
  w(4, 4) = -1.0;
  EXPECT_NE(refusal(w).find("indefinite"), std::string::npos);
  // Positive diagonal.
  Matrix large_coupling = Matrix::Identity(6, 6);
  large_coupling(0, 4) = large_coupling(4, 0) = 2.0;
  EXPECT_NE(refusal(large_coupling).find("indefinite"), std::string::npos);
  // Zero diagonal: the eigenvalue -1 shows only off it.
  Matrix zero_diagonal = Matrix::Zero(6, 6);
  zero_diagonal(0, 4) = zero_diagonal(4, 0) = 1.0;
  EXPECT_NE(refusal(zero_diagonal).find("indefinite"), std::string::npos);
  zero_diagonal(2, 2) = 1.0;
  EXPECT_NE(refusal(zero_diagonal).find("indefinite"), std::string::npos);
  // The message names the component.
  Matrix second = Matrix::Identity(6, 6);
  second(5, 5) = -0.5;
  EXPECT_NE(refusal(second).find("constraint 1"), std::string::npos);
}

// W of rank 3 in 12 rows with entries rounded to six significant digits, as printed files have them: indefinite by
// some 1e-6, accepted, and a solution of the rounded problem is judged by the rounded W.
TEST(Lift, AcceptsMatricesPrintedWithSixDigits) {
  test::Random random(12);
  const Matrix g = random.matrix(12, 3);
  Matrix w = g * g.transpose();
  for (Index r = 0; r < 12; ++r) {
    for (Index c = 0; c < 12; ++c) {
      const double digit =
          std::pow(10.0, std::floor(std::log10(std::abs(w(std::max(r, c), std::min(r, c))))) - 5);
      w(r, c) = std::round(w(std::max(r, c), std::min(r, c)) / digit) * digit;
    }
  }
  w = w.selfadjointView<Eigen::Lower>();
  const Eigen::SelfAdjointEigenSolver<Matrix> spectrum(w);
  const double negative = -spectrum.eigenvalues()[0];
  ASSERT_GT(negative, 1e-7 * spectrum.eigenvalues()[11]);

  IndefiniteShare indefinite;
  const ContactProblem problem = lift(blocks_of(w, contact_starts(4)), Vector::LinSpaced(12, -1.0, 1.0),
                                      std::vector<ConstraintSpec>(4), &indefinite);
  EXPECT_NEAR(indefinite.share, negative / spectrum.eigenvalues()[11], 1e-12);
  EXPECT_EQ(indefinite.constraint, 0);
  EXPECT_EQ(problem.delassus().to_dense(), w);  // the authority is what the file says
  const Matrix j = test::DenseTwin(problem).j;
  EXPECT_LT((j * j.transpose() - w).norm(), 20 * negative);
}

// Ten times more noise than printing explains.
TEST(Lift, RefusesMoreThanRoundingExplains) {
  test::Random random(13);
  const Matrix g = random.matrix(12, 3);
  Matrix w = g * g.transpose();
  w -= 1e-4 * w.norm() * Matrix::Identity(12, 12);
  EXPECT_NE(refusal(w).find("indefinite"), std::string::npos);
}

TEST(Lift, ToleratesRoundingBelowZero) {
  test::Random random(11);
  const Matrix g = random.matrix(9, 3);
  Matrix w = g * g.transpose();
  w = 0.5 * (w + w.transpose());
  const Matrix noise = random.matrix(9, 9);
  w += 1e-9 * (noise + noise.transpose());  // eigenvalues of -1e-9
  const ContactProblem problem = lift_contacts(w, Vector::Zero(9));
  const test::DenseTwin twin(problem);
  EXPECT_LT((twin.j * twin.j.transpose() - w).cwiseAbs().maxCoeff(), 1e-7);
}

TEST(Lift, RefusesWhatDoesNotFit) {
  const Matrix w = Matrix::Identity(6, 6);
  const BlockMatrix blocks = blocks_of(w, contact_starts(2));
  EXPECT_THROW(lift(blocks, Vector::Zero(5), std::vector<ConstraintSpec>(2)), InvalidInput);
  EXPECT_THROW(lift(blocks, Vector::Zero(6), std::vector<ConstraintSpec>(3)), InvalidInput);
  std::vector<ConstraintSpec> wrong(2);
  wrong[1].kind = ConstraintKind::bilateral;
  EXPECT_THROW(lift(blocks, Vector::Zero(6), wrong), InvalidInput);
  Matrix bad = w;
  bad(3, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(refusal(bad).find("not finite"), std::string::npos);
}

}  // namespace
}  // namespace tribo
