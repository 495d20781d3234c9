// What the filler makes is what the checking builder makes.
#include "tribo/problem/problem_filler.h"

#include <gtest/gtest.h>

#include "tests/support/allocation_counter.h"
#include "tests/support/random.h"
#include "tribo/base/errors.h"
#include "tribo/problem/contact_problem_builder.h"

namespace tribo {
namespace {

// Trees of several sizes, all kinds of constraints, rigid and compliant.
void fill(unsigned seed, Index constraints, bool unit_masses, ProblemFiller& filler, ContactProblem& filled,
          ContactProblemBuilder& builder) {
  test::Random random(seed);
  constexpr Index sizes[] = {6, 3, 6, 9, 1};
  filler.begin(filled, constraints);
  for (const Index n : sizes) {
    const Matrix mass = unit_masses ? Matrix(Matrix::Identity(n, n)) : test::random_spd(random, n);
    const Vector momentum = random.vector(n);
    builder.add_tree(mass, momentum);
    if (unit_masses) {
      filler.add_unit_tree(n, momentum.data());
    } else {
      filler.add_tree(n, mass.data(), momentum.data());
    }
  }
  for (Index i = 0; i < constraints; ++i) {
    ProblemFiller::Constraint c;
    c.kind = static_cast<ConstraintKind>(i % 4);
    const Index rows = rows_of(c.kind);
    if (c.kind == ConstraintKind::contact) c.friction = random.uniform(0.0, 1.0);
    if (c.kind == ConstraintKind::box) c.lower = -1.0, c.upper = std::numeric_limits<double>::infinity();
    c.bias.head(rows) = random.vector(rows);
    if (i % 3 == 0) c.compliance.head(rows) = random.vector(rows).cwiseAbs();
    c.key = 1000 + 7 * static_cast<std::uint64_t>(i);
    std::vector<JacobianPiece> pieces;
    filler.add_constraint(c);
    for (Index p = 0; p < 1 + i % 2; ++p) {
      const Index tree = (i + 2 * p) % 5;
      pieces.push_back({tree, random.matrix(rows, sizes[tree])});
      filler.add_piece(tree, pieces.back().block.data());
    }
    switch (c.kind) {
      case ConstraintKind::contact:
        builder.add_contact(c.friction, pieces, c.bias.head<3>(), c.compliance.head<3>(), c.key);
        break;
      case ConstraintKind::unilateral:
        builder.add_unilateral(pieces, c.bias[0], c.compliance[0], c.key);
        break;
      case ConstraintKind::bilateral:
        builder.add_bilateral(pieces, c.bias[0], c.compliance[0], c.key);
        break;
      case ConstraintKind::box:
        builder.add_box(c.lower, c.upper, pieces, c.bias[0], c.compliance[0], c.key);
        break;
    }
  }
}

void expect_same(const ContactProblem& filled, const ContactProblem& built) {
  EXPECT_TRUE(filled == built);
  ASSERT_EQ(filled.constraint_count(), built.constraint_count());
  EXPECT_EQ(filled.contact_count(), built.contact_count());
  EXPECT_EQ(filled.is_rigid(), built.is_rigid());
  EXPECT_EQ(filled.has_friction(), built.has_friction());
  EXPECT_LT((filled.free_velocity() - built.free_velocity()).norm(), 1e-12);
  EXPECT_NEAR(filled.free_energy(), built.free_energy(), 1e-12 * built.free_energy());
  for (Index i = 0; i < built.constraint_count(); ++i) {
    EXPECT_EQ(filled.key(i), built.key(i));
    EXPECT_NEAR(filled.scale(i), built.scale(i), 1e-12 * built.scale(i)) << i;
    EXPECT_LT((filled.delassus_diagonal(i) - built.delassus_diagonal(i)).norm(), 1e-11) << i;
  }
  test::Random random(9);
  const Vector impulse = random.vector(built.row_count());
  Vector scratch, u, v;
  built.velocity_of(impulse, scratch, v);
  filled.velocity_of(impulse, scratch, u);
  EXPECT_LT((u - v).norm(), 1e-11);
}

TEST(ProblemFiller, MakesWhatTheBuilderMakes) {
  for (const bool unit_masses : {false, true}) {
    ProblemFiller filler;
    ContactProblem filled;
    unsigned seed = 1;
    for (const Index constraints : {11, 4, 23, 0, 8}) {  // one filler and problem, larger and smaller
      ContactProblemBuilder builder;
      fill(++seed, constraints, unit_masses, filler, filled, builder);
      ASSERT_TRUE(filler.finish());
      expect_same(filled, builder.build());
      EXPECT_EQ(filled.mass().is_identity(), unit_masses);
    }
  }
}

TEST(ProblemFiller, PiecesMayBeChangedUntilTheNextCall) {
  ProblemFiller filler;
  ContactProblem problem;
  const Vec3 momentum(1.0, 2.0, 3.0);
  const Eigen::RowVector3d row(1.0, 1.0, 1.0);
  filler.begin(problem, 1);
  filler.add_unit_tree(3, momentum.data());
  filler.add_constraint({.kind = ConstraintKind::unilateral});
  filler.add_piece(0, row.data())[2] = 10.0;
  ASSERT_TRUE(filler.finish());
  EXPECT_DOUBLE_EQ(problem.free_velocity()[0], 1.0 + 2.0 + 30.0);
  EXPECT_DOUBLE_EQ(problem.scale(0), 102.0);
}

TEST(ProblemFiller, AMassThatIsNotPositiveDefiniteIsNoticed) {
  ProblemFiller filler;
  ContactProblem problem;
  const Mat3 mass = Vec3(1.0, -1.0, 1.0).asDiagonal();
  const Vec3 momentum = Vec3::Zero();
  filler.begin(problem, 0);
  filler.add_tree(3, mass.data(), momentum.data());
  EXPECT_FALSE(filler.finish());
}

TEST(ProblemFiller, CountsTheConstraints) {
  ProblemFiller filler;
  ContactProblem problem;
  const Vec3 momentum = Vec3::Ones();
  filler.begin(problem, 2);
  filler.add_unit_tree(3, momentum.data());
  filler.add_constraint({.kind = ConstraintKind::unilateral});
  filler.add_piece(0, momentum.data());
  EXPECT_FALSE(filler.finish()) << "one is missing";
  filler.add_constraint({.kind = ConstraintKind::unilateral});
  EXPECT_THROW(filler.add_constraint({.kind = ConstraintKind::unilateral}), InvalidInput);
}

TEST(ProblemFiller, FillingTheSameStructureAgainAllocatesNothing) {
  ProblemFiller filler;
  ContactProblem problem;
  const Mat3 mass = 2.0 * Mat3::Identity();
  const Vec3 momentum = Vec3::Ones();
  const auto once = [&] {
    filler.begin(problem, 5);
    filler.add_tree(3, mass.data(), momentum.data());
    filler.add_unit_tree(3, momentum.data());
    for (Index i = 0; i < 5; ++i) {
      filler.add_constraint({.kind = ConstraintKind::contact, .friction = 0.5});
      filler.add_piece(0, mass.data());
      filler.add_piece(1, mass.data());
    }
    return filler.finish();
  };
  ASSERT_TRUE(once());
  ASSERT_TRUE(once());
  const std::size_t before = test::allocation_count();
  EXPECT_TRUE(once());
  EXPECT_EQ(test::allocation_count(), before);
}

// A trunk with two legs of two hinges each on 6 dofs, a free body; contacts, some of them with bodies.
void fill_bodies(unsigned seed, ProblemFiller& filler, ContactProblem& filled,
                 ContactProblemBuilder& builder) {
  test::Random random(seed);
  Articulation robot;
  robot.parent = {-1, 0, 1, 2, 3, 4, 5, 6, 5, 8};
  robot.motion = random.matrix(6, robot.size());
  Matrix mass = test::random_spd(random, robot.size());
  mass.block(6, 8, 2, 2).setZero();
  mass.block(8, 6, 2, 2).setZero();
  mass.diagonal().array() += 10.0;
  const Matrix free = test::random_spd(random, 6);
  const Vector momentum = random.vector(robot.size());
  filler.begin(filled, 6);
  filler.add_tree(6, free.data(), momentum.data());
  builder.add_tree(free, momentum.head(6));
  for (Index k = 0; k < 2; ++k) {
    filler.add_tree(robot.size(), mass.data(), momentum.data());
    filler.set_articulation(robot.parent, robot.motion.data());
    builder.set_articulation(builder.add_tree(mass, momentum), robot);
  }
  for (Index i = 0; i < 6; ++i) {
    const Index tree = 1 + i % 2;
    JacobianPiece piece{tree, Matrix::Zero(3, robot.size()), {}};
    const std::vector<Index> dofs = i < 3 ? std::vector<Index>{7} : std::vector<Index>{9, 6};
    for (const Index dof : dofs) {
      piece.bodies.push_back({dof, random.matrix(3, 6)});
      for (Index d = dof; d >= 0; d = robot.parent[d])
        piece.block.col(d) += piece.bodies.back().block * robot.motion.col(d);
    }
    const JacobianPiece other{0, random.matrix(3, 6), {}};
    filler.add_constraint({.friction = 0.5});
    filler.add_piece(0, other.block.data());
    filler.add_piece(tree, piece.block.data());
    for (const BodyTerm& body : piece.bodies) filler.add_body(body.dof, body.block.data());
    builder.add_contact(0.5, {other, piece});
  }
  ASSERT_TRUE(filler.finish());
}

TEST(ProblemFiller, BodiesAreThoseOfTheBuilder) {
  ProblemFiller filler;
  ContactProblem filled;
  for (const unsigned seed : {1, 2}) {
    ContactProblemBuilder builder;
    fill_bodies(seed, filler, filled, builder);
    const ContactProblem built = builder.build();
    const TreeStructure &a = filled.structure(), &b = built.structure();
    EXPECT_EQ(a.articulation(0), nullptr);
    for (const Index tree : {1, 2}) {
      ASSERT_NE(a.articulation(tree), nullptr);
      EXPECT_EQ(a.articulation(tree)->parent, b.articulation(tree)->parent);
      EXPECT_EQ(a.articulation(tree)->motion, b.articulation(tree)->motion);
    }
    for (Index p = 0; p < 12; ++p) {
      ASSERT_EQ(a.term_end(p) - a.term_begin(p), b.term_end(p) - b.term_begin(p)) << p;
      ASSERT_EQ(a.term_begin(p) < a.term_end(p), p % 2 == 1) << p;
      for (Index t = a.term_begin(p), s = b.term_begin(p); t < a.term_end(p); ++t, ++s) {
        EXPECT_EQ(a.term_dof(t), b.term_dof(s));
        EXPECT_EQ(a.term(t, 3), b.term(s, 3));
      }
    }
  }
  ContactProblemBuilder plain;
  fill(3, 8, false, filler, filled, plain);
  ASSERT_TRUE(filler.finish());
  EXPECT_TRUE(filled.structure().empty());
  EXPECT_EQ(filled.structure().articulation(1), nullptr);
  EXPECT_EQ(filled.structure().term_begin(1), filled.structure().term_end(1));
}

}  // namespace
}  // namespace tribo
