#include "tribo/problem/contact_problem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "tests/support/dense_twin.h"
#include "tests/support/sample_problems.h"
#include "tests/support/small_problems.h"
#include "tribo/base/errors.h"
#include "tribo/problem/contact_problem_builder.h"

namespace tribo {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A builder with trees 0 (6 dofs) and 1 (3 dofs) and constraint 0, a good contact.
ContactProblemBuilder begun() {
  ContactProblemBuilder builder;
  builder.add_tree(Matrix::Identity(6, 6), Vector::Zero(6));
  builder.add_tree(Matrix::Identity(3, 3), Vector::Zero(3));
  builder.add_contact(0.5, {{0, Matrix::Ones(3, 6)}});
  return builder;
}

struct Refusal {
  const char* name;
  std::function<void(ContactProblemBuilder&)> act;  // then build()
  std::vector<std::string> words;                   // all must be in the message
};

BlockMatrix identity_blocks(std::vector<Index> starts) {
  std::vector<ScalarTriplet> triplets;
  for (Index r = 0; r < starts.back(); ++r) triplets.push_back({r, r, 1.0});
  return BlockMatrix::from_triplets(std::move(starts), triplets);
}

std::vector<Refusal> refusals() {
  using B = ContactProblemBuilder;
  const Mat3 eye = Mat3::Identity();
  const Vec3 zero = Vec3::Zero();
  const auto tree = [](Matrix mass, Vector momentum) { return [=](B& b) { b.add_tree(mass, momentum); }; };
  const auto contact = [](double mu, Matrix block, Vec3 bias = Vec3::Zero(), Vec3 compliance = Vec3::Zero()) {
    return [=](B& b) { b.add_contact(mu, {{1, block}}, bias, compliance); };
  };
  const auto box = [](double lower, double upper) {
    return [=](B& b) { b.add_box(lower, upper, std::vector<JacobianPiece>{{1, Matrix::Ones(1, 3)}}); };
  };
  const auto with = [](Matrix m, Index r, Index c, double value) {
    m(r, c) = value;
    return m;
  };
  return {
      {"MassNan", tree(with(eye, 1, 1, kNan), zero), {"mass", "tree 2", "finite"}},
      {"MassInfinite", tree(with(eye, 1, 1, kInfinity), zero), {"mass", "tree 2", "finite"}},
      {"MassNotSquare", tree(Matrix::Ones(3, 2), zero), {"mass", "tree 2", "3 x 2"}},
      {"MassEmpty", tree(Matrix(0, 0), Vector(0)), {"mass", "tree 2", "empty"}},
      {"MassAsymmetric", tree(with(eye, 0, 1, 0.1), zero), {"mass", "tree 2", "symmetric"}},
      {"MassIndefinite", tree(with(eye, 2, 2, -1.0), zero), {"mass", "tree 2", "positive definite"}},
      {"MassSingular", tree(with(eye, 2, 2, 0.0), zero), {"mass", "tree 2", "positive definite"}},
      {"MomentumSize", tree(eye, Vector::Zero(2)), {"momentum", "tree 2", "2 entries"}},
      {"MomentumNan", tree(eye, Vec3(0, kNan, 0)), {"momentum", "tree 2", "finite"}},
      {"FrictionNegative", contact(-0.3, eye), {"friction", "contact 1", "-0.3"}},
      {"FrictionNan", contact(kNan, eye), {"friction", "contact 1"}},
      {"FrictionInfinite", contact(kInfinity, eye), {"friction", "contact 1"}},
      {"JacobianRows", contact(0.3, Matrix::Ones(1, 3)), {"jacobian", "constraint 1", "1 x 3", "3 x 3"}},
      {"JacobianColumns", contact(0.3, Matrix::Ones(3, 6)), {"jacobian", "constraint 1", "3 x 6"}},
      {"JacobianNan", contact(0.3, with(eye, 2, 2, kNan)), {"jacobian", "constraint 1", "finite"}},
      {"BiasNan", contact(0.3, eye, Vec3(0, 0, kNan)), {"bias", "constraint 1", "finite"}},
      {"ComplianceNegative", contact(0.3, eye, zero, Vec3(0, -1, 0)), {"compliance", "constraint 1", "-1"}},
      {"ComplianceNan", contact(0.3, eye, zero, Vec3(0, 0, kNan)), {"compliance", "constraint 1"}},
      {"UnknownTree",
       [=](B& b) {
         b.add_contact(0.3, {{7, eye}});
       },
       {"jacobian", "constraint 1", "tree 7", "2 trees"}},
      {"NegativeTree",
       [=](B& b) {
         b.add_contact(0.3, {{-1, eye}});
       },
       {"jacobian", "tree -1"}},
      {"TreeTwice",
       [=](B& b) {
         b.add_contact(0.3, {{1, eye}, {1, eye}});
       },
       {"jacobian", "tree 1 twice"}},
      {"UnilateralRows",
       [=](B& b) {
         b.add_unilateral(std::vector<JacobianPiece>{{1, eye}});
       },
       {"jacobian", "unilateral", "1 x 3"}},
      {"BilateralBias",
       [=](B& b) {
         b.add_bilateral(std::vector<JacobianPiece>{{1, Matrix::Ones(1, 3)}}, kInfinity);
       },
       {"bias", "constraint 1"}},
      {"BoxReversed", box(1.0, -1.0), {"bounds", "box 1", "[1, -1]"}},
      {"BoxNan", box(kNan, 1.0), {"bounds", "box 1"}},
      {"BoxBeyondInfinity", box(kInfinity, kInfinity), {"bounds", "box 1"}},
      {"DelassusSize",
       [](B& b) {
         b.set_delassus(identity_blocks({0, 1}));
       },
       {"delassus", "1 rows"}},
      {"DelassusBlocks",
       [](B& b) {
         b.set_delassus(identity_blocks({0, 1, 3}));
       },
       {"delassus", "2 blocks"}},
      {"DelassusOrder",
       [](B& b) {
         b.add_unilateral(std::vector<JacobianPiece>{{1, Matrix::Ones(1, 3)}});
         b.set_delassus(identity_blocks({0, 1, 4}));
       },
       {"delassus", "constraint 0"}},
      {"DelassusNan",
       [](B& b) {
         const std::vector<ScalarTriplet> triplets{{0, 0, kNan}};
         b.set_delassus(BlockMatrix::from_triplets({0, 3}, triplets));
       },
       {"delassus", "finite"}},
  };
}

class ContactProblemRefuses : public testing::TestWithParam<Refusal> {};

TEST_P(ContactProblemRefuses, AndNamesTheField) {
  ContactProblemBuilder builder = begun();
  try {
    GetParam().act(builder);
    builder.build();
    FAIL() << "accepted";
  } catch (const InvalidInput& error) {
    for (const std::string& word : GetParam().words) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what() << " | " << word;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Field, ContactProblemRefuses, testing::ValuesIn(refusals()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(ContactProblem, DerivedQuantitiesAgreeWithDenseOnes) {
  for (const ContactProblem& problem : {test::mixed_problem(1), test::all_kinds(2, 0.5),
                                        test::cube_on_slope(0.3, 0.5), test::lifted_problem(3, 0.1)}) {
    const test::DenseTwin twin(problem);
    EXPECT_LT((problem.free_velocity() - twin.q).norm(), 1e-12 * (1.0 + twin.q.norm()));
    for (Index i = 0; i < problem.constraint_count(); ++i) {
      const Index row = problem.row(i), rows = problem.rows(i);
      const Matrix block = twin.w.block(row, row, rows, rows);
      EXPECT_LT((problem.delassus_diagonal(i).topLeftCorner(rows, rows) - block).norm(), 1e-12);
      EXPECT_NEAR(problem.scale(i), (block.trace() + twin.r.segment(row, rows).sum()) / rows, 1e-13);
      EXPECT_GT(problem.scale(i), 0.0);
    }
    test::Random random(4);
    const Vector lambda = random.vector(problem.row_count());
    Vector u, v;
    problem.velocity_of(lambda, v, u);
    EXPECT_LT((u - twin.w * lambda - twin.q).norm(), 1e-11);
    problem.generalized_velocity_of(lambda, v);
    EXPECT_LT((twin.a * v - twin.b - twin.j.transpose() * lambda).norm(), 1e-11);
  }
}

TEST(ContactProblem, CountsAndFlags) {
  const ContactProblem problem = test::mixed_problem(5);
  EXPECT_EQ(problem.constraint_count(), 8);
  EXPECT_EQ(problem.contact_count(), 3);
  EXPECT_EQ(problem.row_count(), 14);
  EXPECT_EQ(problem.dof_count(), 16);
  EXPECT_EQ(problem.tree_count(), 4);
  EXPECT_FALSE(problem.is_rigid());
  EXPECT_TRUE(problem.has_friction());
  EXPECT_EQ(problem.key(0), 77u);
  EXPECT_EQ(problem.key(3), 3u);  // its own index where none was given
  EXPECT_EQ(problem.lower(2), -kInfinity);
  EXPECT_EQ(problem.upper(2), 2.5);
  const ContactProblem smooth = test::point_on_slope(0.1, 0.0);
  EXPECT_TRUE(smooth.is_rigid());
  EXPECT_FALSE(smooth.has_friction());
  EXPECT_TRUE(test::lifted_problem(1, 0.0).is_symmetric());
  EXPECT_FALSE(test::lifted_problem(1, 0.1).is_symmetric());
}

TEST(ContactProblem, ConstraintThatMovesNothingHasAScale) {
  ContactProblemBuilder builder;
  builder.add_tree(Mat3::Identity(), Vec3::Zero());
  builder.add_contact(0.5, std::span<const JacobianPiece>(), Vec3(0, 0, 1));
  builder.add_contact(0.5, {{0, Matrix::Zero(3, 3)}});
  const ContactProblem problem = builder.build();
  EXPECT_EQ(problem.scale(0), 1.0);
  EXPECT_EQ(problem.scale(1), 1.0);
  EXPECT_EQ(problem.free_velocity()[2], 1.0);
}

TEST(ContactProblem, BodyContactIsTheSameAsItsPieces) {
  test::Random random(6);
  const ContactProblemBuilder::BodyJacobian a = random.matrix(3, 6), b = random.matrix(3, 6);
  const auto make = [&](bool short_form) {
    ContactProblemBuilder builder;
    builder.reserve(2, 2);
    for (int t = 0; t < 2; ++t) builder.add_tree(Matrix::Identity(6, 6), Vector::Ones(6));
    const Vec3 bias(1, 2, 3), compliance(0.1, 0.2, 0.3);
    if (short_form) {
      EXPECT_EQ(builder.add_body_contact(0.4, 0, a, 1, b, bias, compliance, 9), 0);
      EXPECT_EQ(builder.add_body_contact(0.4, 1, a, -1, b), 1);
    } else {
      builder.add_contact(0.4, {{0, a}, {1, b}}, bias, compliance, 9);
      builder.add_contact(0.4, {{1, a}});
    }
    return builder.build();
  };
  EXPECT_TRUE(make(true) == make(false));
}

TEST(ContactProblem, BuilderIsEmptyAfterwards) {
  ContactProblemBuilder builder = begun();
  const ContactProblem first = builder.build();
  const ContactProblem nothing = builder.build();
  EXPECT_EQ(first.constraint_count(), 1);
  EXPECT_EQ(nothing.constraint_count(), 0);
  EXPECT_EQ(nothing.dof_count(), 0);
  EXPECT_TRUE(nothing.is_rigid());
}

TEST(ContactProblem, EqualityLooksAtEverything) {
  struct Change {
    double mass = 1, momentum = 1, jacobian = 1, bias = 1, compliance = 1, friction = 0.5, lower = -1,
           upper = 1;
    std::uint64_t key = 1;
    bool box = true;
  };
  const auto make = [](const Change& c) {
    ContactProblemBuilder builder;
    builder.add_tree(c.mass * Mat3::Identity(), Vec3(c.momentum, 0, 0));
    builder.add_contact(c.friction, {{0, c.jacobian * Mat3::Identity()}}, Vec3(0, c.bias, 0),
                        Vec3(0, 0, c.compliance), c.key);
    const std::vector<JacobianPiece> piece{{0, Matrix::Ones(1, 3)}};
    if (c.box) {
      builder.add_box(c.lower, c.upper, piece);
    } else {
      builder.add_bilateral(piece);
    }
    return builder.build();
  };
  const ContactProblem base = make({});
  EXPECT_TRUE(base == make({}));
  std::vector<Change> changes(10);
  changes[0].mass = changes[1].momentum = changes[2].jacobian = changes[3].bias = changes[4].compliance = 2;
  changes[5].friction = 0.6;
  changes[6].lower = -2;
  changes[7].upper = 2;
  changes[8].key = 2;
  changes[9].box = false;
  for (std::size_t k = 0; k < changes.size(); ++k) EXPECT_FALSE(base == make(changes[k])) << k;
  EXPECT_TRUE(test::lifted_problem(1, 0.1) == test::lifted_problem(1, 0.1));
  EXPECT_FALSE(test::lifted_problem(1, 0.1) == test::lifted_problem(1, 0.2));
}

TEST(ContactProblem, BuilderDoesNotGoOnAfterARefusal) {
  ContactProblemBuilder builder;
  const Index body = builder.add_tree(Mat3::Identity(), Vec3::Zero());
  EXPECT_THROW(builder.add_contact(-1.0, {{body, Mat3::Identity()}}), InvalidInput);
  builder.add_contact(0.5, {{body, Mat3::Identity()}});
  EXPECT_THROW(builder.build(), InvalidInput);
}

// A box whose bounds are refused must not stay behind without them: that is a rigid joint.
TEST(ContactProblem, RefusedBoxLeavesNothingBehind) {
  ContactProblemBuilder builder;
  builder.add_tree(Mat3::Identity(), Vec3::Zero());
  const JacobianPiece piece{0, Matrix::Ones(1, 3)};
  EXPECT_THROW(builder.add_box(1.0, -1.0, {&piece, 1}), InvalidInput);
  builder.add_unilateral({&piece, 1});
  const ContactProblem problem = builder.build();
  EXPECT_EQ(problem.constraint_count(), 1);
  EXPECT_EQ(problem.kind(0), ConstraintKind::unilateral);
}

}  // namespace
}  // namespace tribo
