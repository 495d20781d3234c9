// The unsymmetric kernels against dense twins.
#include "tribo/linalg/kernels/newton_kernel.h"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include "tests/support/dense_twin.h"
#include "tests/support/sample_problems.h"
#include "tests/support/small_problems.h"
#include "tribo/generate/generators.h"
#include "tribo/linalg/delassus.h"
#include "tribo/problem/contact_problem_builder.h"

namespace tribo {
namespace {

GroupBlocks random_blocks(test::Random& random, Index count, double size, double diagonal) {
  GroupBlocks blocks(count);
  for (Index g = 0; g < count; ++g) {
    blocks[g] = size * random.matrix(3, 3);
    blocks[g] += diagonal * Mat3::Identity();
  }
  return blocks;
}

Matrix block_diagonal(const ContactProblem& problem, const GroupBlocks& blocks) {
  Matrix dense = Matrix::Zero(problem.row_count(), problem.row_count());
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Index n = problem.rows(i);
    dense.block(problem.row(i), problem.row(i), n, n) = blocks[i].topLeftCorner(n, n);
  }
  return dense;
}

Matrix dense_jacobian(const ContactProblem& problem) {
  Matrix dense = Matrix::Zero(problem.row_count(), problem.dof_count());
  const BlockJacobian& j = problem.jacobian();
  for (Index g = 0; g < j.group_count(); ++g) {
    for (Index p = j.piece_begin(g); p < j.piece_end(g); ++p) {
      dense.block(j.row_start(g), j.piece_dof(p), j.rows(g), j.piece_cols(p)) = j.piece(g, p);
    }
  }
  return dense;
}

Matrix dense_mass(const ContactProblem& problem) {
  Matrix dense = Matrix::Zero(problem.dof_count(), problem.dof_count());
  for (Index t = 0; t < problem.tree_count(); ++t) {
    const Index at = problem.mass().block_start(t), n = problem.mass().block_size(t);
    dense.block(at, at, n, n) = problem.mass().block(t);
  }
  return dense;
}

ContactProblem made(const char* kind, Index bodies) {
  GeneratorSettings settings;
  settings.bodies = bodies;
  settings.slide = true;
  return generate(kind, settings);
}

// Free bodies (6x6, with a dense tail for the wall and pile), a dense tree with scalar rows, all kinds.
std::vector<ContactProblem> samples() {
  std::vector<ContactProblem> problems;
  problems.push_back(made("tower", 8));
  problems.push_back(made("wall", 30));
  problems.push_back(made("pile", 60));
  problems.push_back(made("arm", 12));
  problems.push_back(test::mixed_problem(3));
  return problems;
}

TEST(PrimalLu, SolvesLikeTheDenseMatrix) {
  test::Random random(5);
  for (const ContactProblem& problem : samples()) {
    PrimalLu kernel;
    EXPECT_TRUE(kernel.analyze(problem.mass(), problem.jacobian()));
    EXPECT_FALSE(kernel.analyze(problem.mass(), problem.jacobian()));
    for (const double size : {0.3, 30.0}) {
      GroupBlocks d = random_blocks(random, problem.constraint_count(), 0.3 * size, size);
      d[0].setZero();  // an open contact
      ASSERT_TRUE(kernel.factorize(problem.mass(), problem.jacobian(), d));
      const Matrix j = dense_jacobian(problem);
      const Matrix h = dense_mass(problem) + j.transpose() * block_diagonal(problem, d) * j;
      const Vector rhs = random.vector(problem.dof_count());
      Vector x;
      kernel.solve(rhs, x, 2);
      EXPECT_LE((h * x - rhs).norm(), 1e-10 * rhs.norm());
      EXPECT_LE(kernel.backward_error(), 1e-10);
      EXPECT_LT(kernel.lu().growth(), 1e3);
    }
  }
}

// A Newton method changes a few blocks at a time; factors of the matrix before serve the next one.
TEST(PrimalLu, SolvesWithTheFactorsOfAnotherMatrix) {
  test::Random random(7);
  const ContactProblem problem = made("pile", 300);  // large enough for factors to be worth keeping
  PrimalLu kernel;
  kernel.analyze(problem.mass(), problem.jacobian());
  GroupBlocks d = random_blocks(random, problem.constraint_count(), 3.0, 10.0);
  const Vector rhs = random.vector(problem.dof_count());
  Vector x;
  const auto solves = [&](double tolerance) {
    return kernel.solve_with_last_factors(problem.mass(), problem.jacobian(), d, rhs, tolerance, x);
  };
  EXPECT_FALSE(solves(0.1));  // there are none yet
  ASSERT_TRUE(kernel.factorize(problem.mass(), problem.jacobian(), d));
  d[3].setZero();
  d[7] *= 2.0;
  for (const double tolerance : {0.1, 0.01}) {
    ASSERT_TRUE(solves(tolerance));
    Vector u(problem.row_count()), product(problem.dof_count());
    problem.jacobian().multiply(x, u);
    for (Index i = 0; i < problem.constraint_count(); ++i) {
      const Index row = problem.row(i), rows = problem.rows(i);
      u.segment(row, rows) = (d[i].topLeftCorner(rows, rows) * u.segment(row, rows)).eval();
    }
    problem.mass().multiply(x, product);
    problem.jacobian().add_transpose_product(u, product);
    EXPECT_LE((product - rhs).norm(), (1.0 + 1e-9) * tolerance * rhs.norm());
  }
  for (Index g = 0; g < d.size(); ++g) d[g] *= random.uniform(0.0, 1e4);
  EXPECT_FALSE(solves(1e-10));  // all of them others: a factorisation costs less
  kernel.forget_factors();
  EXPECT_FALSE(solves(0.1));
}

TEST(RowLu, SolvesLikeTheDenseMatrix) {
  test::Random random(6);
  std::vector<ContactProblem> problems = samples();
  problems.push_back(test::lifted_problem(1, 0.1));
  for (const ContactProblem& problem : problems) {
    DelassusAssembler assembler;
    const BlockMatrix& w = problem.has_delassus()
                               ? problem.delassus()
                               : assembler.assemble(problem.mass_factor(), problem.jacobian());
    double largest = 0.0;
    for (Index i = 0; i < problem.constraint_count(); ++i) largest = std::max(largest, problem.scale(i));
    RowLu kernel;
    kernel.analyze(w);
    GroupBlocks p = random_blocks(random, problem.constraint_count(), 0.2, 1.0);
    p[0].setZero();
    const GroupBlocks q = random_blocks(random, problem.constraint_count(), 0.2 * largest, largest);
    ASSERT_TRUE(kernel.factorize(w, p, q));
    const Matrix m = block_diagonal(problem, p) * w.to_dense() + block_diagonal(problem, q);
    const Vector rhs = random.vector(problem.row_count());
    Vector x;
    kernel.solve(rhs, x, 2);
    EXPECT_LE((m * x - rhs).norm(), 1e-9 * rhs.norm());
  }
}

TEST(PrimalLu, SaysWhenSingular) {
  ContactProblemBuilder builder;
  const Index body = builder.add_tree(Mat3::Identity(), Vec3::Zero());
  builder.add_contact(0.5, {{body, Mat3::Identity()}});
  const ContactProblem problem = builder.build();
  PrimalLu kernel;
  kernel.analyze(problem.mass(), problem.jacobian());
  const GroupBlocks d{-Mat3::Identity()};
  EXPECT_FALSE(kernel.factorize(problem.mass(), problem.jacobian(), d));
}

// The diagonal entry is zero although the block is regular: only an exchange of rows can help.
TEST(PrimalLu, ExchangesRowsInsideBlocks) {
  ContactProblemBuilder builder;
  const Index body = builder.add_tree(Mat3::Identity(), Vec3::Zero());
  builder.add_contact(0.5, {{body, Mat3::Identity()}});
  const ContactProblem problem = builder.build();
  PrimalLu kernel;
  kernel.analyze(problem.mass(), problem.jacobian());
  Mat3 d;
  d << -1, 2, 0, 2, -1, 0, 0, 0, 0;
  const GroupBlocks blocks{d};
  ASSERT_TRUE(kernel.factorize(problem.mass(), problem.jacobian(), blocks));
  Vector x;
  kernel.solve(Vec3(2.0, 4.0, 3.0), x);
  EXPECT_NEAR(x[0], 2.0, 1e-14);
  EXPECT_NEAR(x[1], 1.0, 1e-14);
  EXPECT_NEAR(x[2], 3.0, 1e-14);
}

}  // namespace
}  // namespace tribo
