#include "tribo/problem/tree_structure.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/support/allocation_counter.h"
#include "tests/support/random.h"
#include "tribo/base/errors.h"
#include "tribo/problem/contact_problem_builder.h"

namespace tribo {
namespace {

// A root of two degrees of freedom with branches {2, 3} and {4}.
Articulation forked(test::Random& random) { return {{-1, 0, 1, 2, 1}, random.matrix(6, 5)}; }

Matrix forked_mass(test::Random& random) {
  Matrix mass = test::random_spd(random, 5);
  for (const Index d : {2, 3}) mass(d, 4) = mass(4, d) = 0.0;
  mass.diagonal().array() += 10.0;
  return mass;
}

// J_b of the body behind `dof`, column by column up the path.
Matrix body_jacobian(const Articulation& a, Index dof) {
  Matrix j = Matrix::Zero(6, a.size());
  for (; dof >= 0; dof = a.parent[dof]) j.col(dof) = a.motion.col(dof);
  return j;
}

std::string refusal(const std::function<void(ContactProblemBuilder&)>& act) {
  ContactProblemBuilder builder;
  try {
    act(builder);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "accepted";
}

TEST(TreeStructure, KeepsArticulationAndBodies) {
  test::Random random(1);
  const Articulation a = forked(random);
  const Matrix mass = forked_mass(random);
  const Matrix first = random.matrix(3, 6), second = random.matrix(3, 6), row = random.matrix(1, 6);
  ContactProblemBuilder builder;
  builder.add_tree(test::random_spd(random, 6), random.vector(6));
  const Index tree = builder.add_tree(mass, random.vector(5));
  builder.set_articulation(tree, a);
  const Matrix jacobian = first * body_jacobian(a, 3) + second * body_jacobian(a, 4);
  builder.add_contact(0.5, {{0, random.matrix(3, 6)}, {tree, jacobian, {{3, first}, {4, second}}}});
  builder.add_unilateral(std::vector<JacobianPiece>{{tree, random.matrix(1, 5)}});
  builder.add_unilateral(std::vector<JacobianPiece>{{tree, row * body_jacobian(a, 1), {{1, row}}}});
  const ContactProblem problem = builder.build();

  const TreeStructure& structure = problem.structure();
  EXPECT_EQ(structure.articulation(0), nullptr);
  ASSERT_NE(structure.articulation(tree), nullptr);
  EXPECT_EQ(structure.articulation(tree)->parent, a.parent);
  ASSERT_EQ(problem.jacobian().piece_count(), 4);
  EXPECT_EQ(structure.term_begin(0), structure.term_end(0));
  ASSERT_EQ(structure.term_end(1) - structure.term_begin(1), 2);
  EXPECT_EQ(structure.term_dof(structure.term_begin(1) + 1), 4);
  EXPECT_EQ(Matrix(structure.term(structure.term_begin(1) + 1, 3)), second);
  EXPECT_EQ(structure.term_begin(2), structure.term_end(2));
  ASSERT_EQ(structure.term_end(3) - structure.term_begin(3), 1);
  EXPECT_EQ(Matrix(structure.term(structure.term_begin(3), 1)), row);
}

TEST(TreeStructure, IsEmptyWhereNothingIsSaid) {
  ContactProblemBuilder builder;
  const Index ball = builder.add_tree(Mat3::Identity(), Vec3::Zero());
  builder.add_contact(0.5, {{ball, Mat3::Identity()}});
  const ContactProblem problem = builder.build();
  EXPECT_TRUE(problem.structure().empty());
  EXPECT_EQ(problem.structure().term_begin(0), problem.structure().term_end(0));
}

TEST(TreeStructure, RefusesWhatDoesNotFit) {
  test::Random random(2);
  const Articulation good = forked(random);
  const Matrix mass = forked_mass(random);
  const Matrix block = random.matrix(3, 6);
  const Matrix jacobian = block * body_jacobian(good, 3);
  const auto with = [&](const Articulation& a, const Matrix& m) {
    return refusal([&](ContactProblemBuilder& builder) {
      builder.set_articulation(builder.add_tree(m, Vector::Zero(5)), a);
    });
  };
  const auto contact = [&](std::vector<BodyTerm> bodies, bool articulated = true) {
    return refusal([&](ContactProblemBuilder& builder) {
      const Index tree = builder.add_tree(mass, Vector::Zero(5));
      if (articulated) builder.set_articulation(tree, good);
      builder.add_contact(0.5, {{tree, jacobian, bodies}});
    });
  };
  EXPECT_EQ(with(good, mass), "accepted");
  EXPECT_EQ(contact({{3, block}}), "accepted");
  Articulation bad = good;
  bad.parent[2] = 2;
  EXPECT_NE(with(bad, mass).find("parent of dof 2"), std::string::npos);
  bad = good;
  bad.parent.pop_back();
  EXPECT_NE(with(bad, mass).find("4 parents"), std::string::npos);
  bad = good;
  bad.motion(0, 0) = std::nan("");
  EXPECT_NE(with(bad, mass).find("not finite"), std::string::npos);
  Matrix coupled = mass;
  coupled(4, 3) = coupled(3, 4) = 0.1;
  EXPECT_NE(with(good, coupled).find("couples dofs 3 and 4"), std::string::npos);
  EXPECT_NE(contact({{4, block}}).find("not the Jacobian"), std::string::npos);
  EXPECT_NE(contact({{3, 0.5 * block}, {3, 0.5 * block}}).find("twice"), std::string::npos);
  EXPECT_NE(contact({{5, block}}).find("no dof 5"), std::string::npos);
  EXPECT_NE(contact({{3, random.matrix(3, 5)}}).find("3 x 5"), std::string::npos);
  EXPECT_NE(contact({{3, block}}, false).find("no articulation"), std::string::npos);
  EXPECT_NE(refusal([&](ContactProblemBuilder& b) { b.set_articulation(0, good); }).find("there are 0"),
            std::string::npos);
}

TEST(TreeStructure, IsFilledAgainWithoutAllocating) {
  if (!test::counts_allocations()) GTEST_SKIP() << "allocations cannot be counted in this build";
  test::Random random(5);
  const Articulation tree = forked(random);
  const Matrix block = random.matrix(3, 6);
  TreeStructure structure;
  const auto fill = [&](const Matrix& motion) {
    structure.clear();
    for (const Index t : {1, 4}) structure.add_articulation(t, tree.parent, motion.data());
    for (const Index piece : {2, 3}) structure.add_term(piece, 3, 3, block.data());
  };
  fill(tree.motion);
  const Matrix twice = 2.0 * tree.motion;
  const std::size_t before = test::allocation_count();
  fill(twice);
  EXPECT_EQ(test::allocation_count(), before);
  for (const Index t : {0, 2, 3, 5}) EXPECT_EQ(structure.articulation(t), nullptr);
  for (const Index t : {1, 4}) EXPECT_EQ(structure.articulation(t)->motion, twice);
  EXPECT_EQ(structure.term_end(1), structure.term_begin(1));
  EXPECT_EQ(structure.term_end(3) - structure.term_begin(3), 1);
  EXPECT_EQ(structure.term(structure.term_begin(3), 3), block);
  structure.clear();
  EXPECT_TRUE(structure.empty());
}

}  // namespace
}  // namespace tribo
