// Files of problems with sparse trees.
#include "tribo/formats/full_form.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/dense_twin.h"
#include "tests/support/small_problems.h"
#include "tests/support/sparse_samples.h"
#include "tribo/base/errors.h"
#include "tribo/formats/problem_file.h"
#include "tribo/problem/certificate.h"
#include "tribo/problem/sparse_trees.h"
#include "tribo/solve/catalogue.h"

namespace tribo {
namespace {

Matrix dense(const detail::SparseMatrix& matrix) {
  Matrix out = Matrix::Zero(matrix.rows, matrix.cols);
  for (const ScalarTriplet& entry : matrix.entries) out(entry.row, entry.col) += entry.value;
  return out;
}

TEST(FullForm, IsTheDenseTwin) {
  const auto [sparse, twin] = test::soft_block(31);
  EXPECT_EQ(dense(detail::full_mass(sparse)), test::dense(twin.mass()));
  EXPECT_EQ(dense(detail::full_jacobian(sparse)).transpose(), test::dense(twin.jacobian(), twin.dof_count()));
  EXPECT_EQ(detail::full_momentum(sparse), twin.momentum());
  EXPECT_EQ(dense(detail::full_mass(twin)), test::dense(twin.mass()));
}

TEST(FullForm, FilesReturnTheSameProblem) {
  const std::string path = testing::TempDir() + "sparse_trees.hdf5";
  for (const double compliance : {0.0, 0.1}) {
    const ContactProblem problem = test::soft_block(32, compliance).sparse;
    Solution solution;
    make_solver("auto")->solve(problem, {}, solution);
    write_problem(path, problem, {.solution = &solution});
    const LoadedProblem loaded = read_problem(path);
    EXPECT_TRUE(loaded.problem == problem);
    EXPECT_EQ(loaded.problem.dof_count(), problem.dof_count());
    ASSERT_TRUE(loaded.solution);
    EXPECT_EQ(*loaded.solution, solution.impulse);
    EXPECT_EQ(loaded.problem.free_velocity(), problem.free_velocity());
  }
}

// M and H of a file that says nothing of trees.
TEST(FullForm, LargeSparsePartsOfOtherFilesAreSparseTrees) {
  for (const Index side : {4, 6}) {  // 192 and 648 degrees of freedom
    const ContactProblem problem = test::soft_block(33, 0.0, side).dense;
    detail::PrimalParts parts;
    parts.mass = detail::full_mass(problem);
    parts.momentum = problem.momentum();
    parts.jacobian = detail::full_jacobian(problem);
    parts.bias = problem.bias();
    for (Index i = 0; i < problem.constraint_count(); ++i) {
      ConstraintSpec spec;
      spec.kind = problem.kind(i);
      spec.friction = problem.friction(i);
      spec.lower = problem.lower(i);
      spec.upper = problem.upper(i);
      parts.constraints.push_back(spec);
    }
    const ContactProblem read = detail::assemble(parts);
    EXPECT_EQ(read.has_sparse_trees(), side == 6);
    EXPECT_EQ(read.full_dof_count(), problem.dof_count());
    EXPECT_LT((read.free_velocity() - problem.free_velocity()).lpNorm<Eigen::Infinity>(), 1e-11);
    EXPECT_LT((test::dense_delassus(read) - test::dense_delassus(problem)).norm(), 1e-11);
    if (side != 6) continue;
    parts.mass.entries[1].value *= 1.5;  // no longer symmetric: continues as W, by dense blocks
    EXPECT_TRUE(detail::assemble(parts).has_delassus());
    parts.mass.entries[0].value = -1.0;
    parts.mass.entries[1].value /= 1.5;
    EXPECT_THROW(detail::assemble(parts), InvalidInput);
  }
}

}  // namespace
}  // namespace tribo
