// The pieces of SubADMM against dense algebra: slacks, virtual inertias, the velocity step.
#include "tribo/solve/splitting/split_dynamics.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "tests/support/dense_twin.h"
#include "tests/support/random.h"
#include "tests/support/small_problems.h"
#include "tribo/generate/generators.h"
#include "tribo/problem/contact_problem_builder.h"

namespace tribo {
namespace {

// J of one term on all dofs of the problem.
Matrix term_jacobian(const ContactProblem& problem, const SplitTerms& terms, const SplitDynamics& dynamics,
                     const SplitTerms::Term& term) {
  Matrix j(problem.rows(term.constraint), problem.dof_count());
  Vector extended(terms.extended_size());
  for (Index d = 0; d < problem.dof_count(); ++d) {
    const Vector v = Vector::Unit(problem.dof_count(), d);
    for (Index tree = 0; tree < problem.tree_count(); ++tree) {
      dynamics.extend(problem, terms, tree, v.data() + problem.mass().block_start(tree),
                      extended.data() + terms.extended_start(tree));
    }
    j.col(d) =
        Eigen::Map<const Matrix>(term.block, j.rows(), term.cols) * extended.segment(term.start, term.cols);
  }
  return j;
}

ContactProblem trees(Index count) { return generate("trees", {.bodies = count, .slide = true, .seed = 3}); }

// A tree of known joints, and a row that touches two of its branches without naming bodies.
ContactProblem tree_with_a_tendon() {
  test::Random random(4);
  const Articulation a{{-1, 0, 0}, random.matrix(6, 3)};
  Matrix mass = Matrix::Identity(3, 3);
  mass(0, 1) = mass(1, 0) = mass(0, 2) = mass(2, 0) = 0.2;
  ContactProblemBuilder builder;
  const Index tree = builder.add_tree(mass, random.vector(3));
  builder.set_articulation(tree, a);
  builder.add_unilateral(std::vector<JacobianPiece>{{tree, random.matrix(1, 3)}});
  return builder.build();
}

TEST(SplitTerms, AddUpToTheJacobian) {
  for (const Splitting splitting : {Splitting::body, Splitting::tree, Splitting::none}) {
    for (const ContactProblem& problem : {trees(2), test::all_kinds(3, 0.0), tree_with_a_tendon()}) {
      SplitTerms terms;
      SplitDynamics dynamics;
      Workers workers(1);
      terms.prepare(problem, splitting);
      dynamics.prepare(problem, terms, workers);
      const Matrix whole = test::dense(problem.jacobian(), problem.dof_count());
      for (Index i = 0; i < problem.constraint_count(); ++i) {
        Matrix sum = Matrix::Zero(problem.rows(i), problem.dof_count());
        for (const SplitTerms::Term& term : terms.terms(i))
          sum += term_jacobian(problem, terms, dynamics, term);
        EXPECT_LT((sum - whole.middleRows(problem.row(i), problem.rows(i))).norm(), 1e-12 * whole.norm());
      }
    }
  }
}

// |Z_i| counts bodies, not trees: a contact between two legs of one robot has two slacks.
TEST(SplitTerms, CountSlacksPerBody) {
  const ContactProblem problem = trees(2);
  SplitTerms by_body, by_tree, whole;
  by_body.prepare(problem, Splitting::body);
  by_tree.prepare(problem, Splitting::tree);
  whole.prepare(problem, Splitting::none);
  const BlockJacobian& jacobian = problem.jacobian();
  Index inside = 0, between = 0, limits = 0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Index first = jacobian.piece_begin(i), pieces = jacobian.piece_end(i) - first;
    const Index bodies = problem.structure().term_end(first) - problem.structure().term_begin(first);
    EXPECT_EQ(whole.slack_count(i), 1);
    EXPECT_EQ(by_tree.slack_count(i), pieces);
    EXPECT_EQ(by_body.slack_count(i), pieces == 1 ? std::max<Index>(1, bodies) : 2);
    inside += bodies == 2 ? 1 : 0;
    between += pieces == 2 ? 1 : 0;
    limits += bodies == 0 ? 1 : 0;
  }
  EXPECT_EQ(inside, 2);
  EXPECT_EQ(between, 2);
  EXPECT_GT(limits, 0);
  EXPECT_TRUE(by_body.by_bodies(0));
  EXPECT_FALSE(by_tree.by_bodies(0));
}

TEST(SplitTerms, RowsAcrossBranchesMakeTheTreeDense) {
  const ContactProblem problem = tree_with_a_tendon();
  SplitTerms terms;
  terms.prepare(problem, Splitting::body);
  EXPECT_FALSE(terms.by_bodies(0));
}

TEST(SplitDynamics, StepAgreesWithDense) {
  test::Random random(5);
  for (const Splitting splitting : {Splitting::body, Splitting::tree, Splitting::none}) {
    for (const ContactProblem& problem : {trees(3), test::all_kinds(3, 0.0), tree_with_a_tendon()}) {
      for (const Index threads : {1, 3}) {
        SplitTerms terms;
        SplitDynamics dynamics;
        Workers workers(threads);
        terms.prepare(problem, splitting);
        dynamics.prepare(problem, terms, workers);
        const Vector penalty = random.vector(problem.row_count()).cwiseAbs().array() + 0.1;
        const test::DenseTwin twin(problem);
        Matrix h = twin.a;
        for (Index i = 0; i < problem.constraint_count(); ++i) {
          const Vector b = penalty.segment(problem.row(i), problem.rows(i));
          Matrix together = Matrix::Zero(problem.rows(i), problem.dof_count());
          for (const SplitTerms::Term& term : terms.terms(i)) {
            const Matrix j = term_jacobian(problem, terms, dynamics, term);
            together += j;
            if (splitting != Splitting::none) h += j.transpose() * b.asDiagonal() * j;
          }
          if (splitting == Splitting::none) h += together.transpose() * b.asDiagonal() * together;
        }
        ASSERT_TRUE(dynamics.factorize(problem, terms, penalty, workers));
        const Vector v = random.vector(problem.dof_count()), s = random.vector(problem.row_count());
        Vector change(problem.dof_count());
        for (Index i = 0; i < problem.constraint_count(); ++i) dynamics.push(problem, terms, i, s);
        dynamics.step(problem, terms, v, change, workers);
        const Vector residual = twin.b - twin.a * v + twin.j.transpose() * s;
        EXPECT_LT((change - h.llt().solve(residual)).norm(), 1e-10 * change.norm());
        EXPECT_NEAR(dynamics.momentum_residual(problem, terms, v, s, workers),
                    std::sqrt(residual.dot(twin.a.llt().solve(residual))), 1e-10 * residual.norm());
      }
    }
  }
}

}  // namespace
}  // namespace tribo
