// A problem with sparse trees is the problem with the same trees dense.
#include "tribo/problem/sparse_trees.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <functional>
#include <limits>
#include <string>

#include "tests/support/allocation_counter.h"
#include "tests/support/small_problems.h"
#include "tests/support/sparse_samples.h"
#include "tribo/base/errors.h"
#include "tribo/problem/certificate.h"
#include "tribo/problem/islands.h"
#include "tribo/problem/problem_filler.h"
#include "tribo/problem/sparse_mass.h"

namespace tribo {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

double largest_difference(const Vector& a, const Vector& b) { return (a - b).lpNorm<Eigen::Infinity>(); }

TEST(SparseTrees, DeriveWhatTheDenseTwinDerives) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    const auto [sparse, dense] = test::soft_block(seed);
    ASSERT_TRUE(sparse.has_sparse_trees());
    EXPECT_LT(sparse.dof_count(), dense.dof_count());
    EXPECT_EQ(sparse.full_dof_count(), dense.dof_count());
    EXPECT_EQ(sparse.row_count(), dense.row_count());
    EXPECT_LT(largest_difference(sparse.free_velocity(), dense.free_velocity()), 1e-12);
    EXPECT_NEAR(sparse.free_speed(), dense.free_speed(), 1e-12);
    EXPECT_NEAR(sparse.root_energy(), dense.root_energy(), 1e-12 * dense.root_energy());
    for (Index t = 0; t < dense.tree_count(); ++t)
      EXPECT_NEAR(sparse.tree_root_energy(t), dense.tree_root_energy(t), 1e-12 * dense.root_energy());
    for (Index i = 0; i < dense.constraint_count(); ++i) {
      EXPECT_NEAR(sparse.scale(i), dense.scale(i), 1e-12 * dense.scale(i));
      EXPECT_NEAR(sparse.demand(i), dense.demand(i), 1e-11 * dense.largest_demand());
      EXPECT_LT((sparse.delassus_block(i) - dense.delassus_block(i)).norm(), 1e-12 * dense.scale(i));
    }
    EXPECT_LT((test::dense_delassus(sparse) - test::dense_delassus(dense)).norm(),
              1e-12 * test::dense_delassus(dense).norm());
  }
}

TEST(SparseTrees, MoveAsTheDenseTwin) {
  test::Random random(9);
  const auto [sparse, dense] = test::soft_block(4);
  SparseScratch scratch;
  Vector full, v, coordinates;
  const Vector impulse = random.vector(dense.row_count());
  sparse.full_velocity_of(impulse, full, scratch);
  dense.full_velocity_of(impulse, v, scratch);
  EXPECT_LT(largest_difference(full, v), 1e-12 * v.lpNorm<Eigen::Infinity>());
  // The rest follows from the coordinates alone: nothing but the touched part was pushed.
  sparse.generalized_velocity_of(impulse, coordinates);
  sparse.extend_velocity(coordinates, full, scratch);
  EXPECT_LT(largest_difference(full, v), 1e-11 * v.lpNorm<Eigen::Infinity>());
  Vector resting, rest;
  sparse.generalized_velocity_of(Vector::Zero(dense.row_count()), resting);
  sparse.extend_displacement(coordinates - resting, full, scratch);
  dense.full_velocity_of(Vector::Zero(dense.row_count()), rest, scratch);
  EXPECT_LT(largest_difference(full, v - rest), 1e-11 * v.lpNorm<Eigen::Infinity>());
}

TEST(SparseTrees, CertificateIsThatOfTheDenseTwin) {
  test::Random random(10);
  const auto [sparse, dense] = test::soft_block(5, 0.01);
  for (const Law law : {Law::exact, Law::convex}) {
    Solution solution{
        .impulse = random.vector(dense.row_count()), .velocity = {}, .generalized_velocity = {}};
    const Certificate a = certify(sparse, solution, law), b = certify(dense, solution, law);
    EXPECT_NEAR(a.error.value, b.error.value, 1e-12 * b.error.value);
    EXPECT_EQ(a.error.constraint, b.error.constraint);
    EXPECT_NEAR(a.fclib_error, b.fclib_error, 1e-12 * b.fclib_error);
    EXPECT_NEAR(a.siconos_error, b.siconos_error, 1e-12 * b.siconos_error);
    EXPECT_NEAR(a.lee_residual, b.lee_residual, 1e-12 * b.lee_residual);
    EXPECT_NEAR(a.complementarity.value, b.complementarity.value, 1e-11 * b.complementarity.value);
    EXPECT_LT(a.momentum, 1e-13);
    // A wrong generalised velocity is found out, in the same measure.
    solution.generalized_velocity = random.vector(dense.dof_count());
    EXPECT_NEAR(certify(sparse, solution, law).momentum, certify(dense, solution, law).momentum, 1e-10);
    solution.generalized_velocity.conservativeResize(3);
    EXPECT_THROW(certify(sparse, solution, law), InvalidInput);
  }
}

// The certificate looks at A as it was given: what the factor gets wrong by rounding is refined away.
TEST(SparseTrees, CertificateOfAStiffTree) {
  test::Random random(11);
  test::TwinBuilder builder;
  const Sparse mass = test::lattice_mass(random, 4, 3, 3, 1e8);
  const Index tree = builder.add_sparse_tree(mass, random.vector(mass.rows()));
  for (Index node = 0; node < 6; ++node)
    builder.add_contact(0.5, {{tree, random.matrix(3, 3), {}, 9 * node}}, random.vec3());
  const auto [sparse, dense] = builder.build();
  const Solution solution{.impulse = random.vector(18), .velocity = {}, .generalized_velocity = {}};
  const Certificate a = certify(sparse, solution), b = certify(dense, solution);
  // q itself, to which the errors are relative, is known to eps times the condition of A.
  EXPECT_NEAR(a.error.value, b.error.value, 1e-6 * b.error.value);
  EXPECT_LT(a.momentum, 1e-7);
}

TEST(SparseTrees, PiecesMayOverlapAndComeInAnyOrder) {
  test::Random random(12);
  const Sparse mass = test::lattice_mass(random, 3, 2, 2, 3.0);
  const Vector momentum = random.vector(36);
  const Matrix a = random.matrix(3, 4), b = random.matrix(3, 3);
  ContactProblemBuilder one, two;
  one.add_sparse_tree(mass, momentum);
  one.add_contact(0.5, {{0, b, {}, 11}, {0, a, {}, 9}});
  two.add_sparse_tree(mass.triangularView<Eigen::Lower>(), momentum);
  Matrix sum = Matrix::Zero(3, 7);  // columns 8 ... 14, the first and the last of them zero
  sum.middleCols(1, 4) += a;
  sum.middleCols(3, 3) += b;
  two.add_contact(0.5, {{0, sum, {}, 8}});
  const ContactProblem first = one.build(), second = two.build();
  EXPECT_TRUE(first == second);
  EXPECT_EQ(first.sparse_trees().trees()[0].touched, (std::vector<Index>{0, 9, 10, 11, 12, 13}));
  ContactProblemBuilder three;
  three.add_sparse_tree(mass.triangularView<Eigen::Upper>(), 2.0 * momentum);
  three.add_contact(0.5, {{0, sum, {}, 8}});
  EXPECT_FALSE(three.build() == second);
}

TEST(SparseTrees, IslandsAreDenseProblems) {
  const auto [sparse, dense] = test::soft_block(6);
  Islands islands;
  islands.find(sparse);
  ASSERT_EQ(islands.count(), 2);
  ContactProblem part, twin;
  Islands dense_islands;
  dense_islands.find(dense);
  for (Index k = 0; k < 2; ++k) {
    islands.extract(sparse, k, part);
    dense_islands.extract(dense, k, twin);
    EXPECT_FALSE(part.has_sparse_trees());
    EXPECT_LT((test::dense_delassus(part) - test::dense_delassus(twin)).norm(), 1e-11);
    EXPECT_LT(largest_difference(part.free_velocity(), twin.free_velocity()), 1e-11);
  }
}

void fill(ProblemFiller& filler, ContactProblem& problem, const std::shared_ptr<const SparseFactor>& mass,
          test::Random& random, ContactProblemBuilder* builder) {
  const Vector momentum = random.vector(mass->size()), other = random.vector(6);
  const Matrix block = test::random_spd(random, 6);
  filler.begin(problem, 4);
  filler.add_tree(6, block.data(), other.data());
  const Index tree = filler.add_sparse_tree(mass, momentum.data());
  if (builder) {
    builder->add_tree(block, other);
    builder->add_sparse_tree(mass, momentum);
  }
  for (Index i = 0; i < 4; ++i) {
    ProblemFiller::Constraint constraint;
    constraint.friction = 0.1 * i;
    constraint.key = 5 + i;
    filler.add_constraint(constraint);
    const Matrix left = random.matrix(3, 3), right = random.matrix(3, 3), body = random.matrix(3, 6);
    filler.add_sparse_piece(tree, 6 * i, 3, left.data());
    filler.add_piece(0, body.data());
    filler.add_sparse_piece(tree, 6 * i + 3, 3, right.data());
    if (builder) {
      builder->add_contact(0.1 * i, {{tree, left, {}, 6 * i}, {0, body}, {tree, right, {}, 6 * i + 3}},
                           Vec3::Zero(), Vec3::Zero(), 5 + i);
    }
  }
  ASSERT_TRUE(filler.finish());
}

std::shared_ptr<SparseFactor> factor_of(const Sparse& mass) {
  ContactProblemBuilder builder;
  builder.add_sparse_tree(mass, Vector::Zero(mass.rows()));
  return std::make_shared<SparseFactor>(*builder.build().sparse_trees().trees()[0].mass);
}

TEST(SparseTrees, FillerMakesWhatTheBuilderMakes) {
  test::Random random(13);
  const Sparse matrix = test::lattice_mass(random, 3, 3, 2, 4.0);
  std::shared_ptr<const SparseFactor> mass;
  ProblemFiller filler;
  ContactProblem problem;
  for (const unsigned seed : {1u, 2u, 3u, 4u}) {  // new factors, some of them where old ones were
    problem = ContactProblem();
    mass.reset();
    mass = factor_of(static_cast<double>(seed) * matrix);
    test::Random numbers(seed);
    ContactProblemBuilder builder;
    fill(filler, problem, mass, numbers, &builder);
    EXPECT_TRUE(problem == builder.build());
  }
  // A copy keeps what the filler goes on with.
  const ContactProblem copy = problem;
  const Vector q = copy.free_velocity();
  test::Random numbers(3);
  fill(filler, problem, mass, numbers, nullptr);
  EXPECT_FALSE(copy == problem);
  EXPECT_EQ(copy.free_velocity(), q);
  EXPECT_EQ(copy.sparse_trees().trees()[0].mass, mass);
  // Without sparse trees again.
  const double one = 1.0;
  filler.begin(problem, 0);
  filler.add_unit_tree(1, &one);
  ASSERT_TRUE(filler.finish());
  EXPECT_FALSE(problem.has_sparse_trees());
}

// begin() cannot empty what a copy of the problem still has; add_sparse_tree() finds it with its old trees.
TEST(SparseTrees, FillerForgetsTreesThatACopyHeldWhenItBegan) {
  test::Random random(17);
  const auto mass = factor_of(test::lattice_mass(random, 3, 3, 2, 4.0));
  const Vector momentum = random.vector(mass->size());
  ProblemFiller filler;
  ContactProblem problem;
  fill(filler, problem, mass, random, nullptr);
  ContactProblem copy = problem;
  filler.begin(problem, 0);
  copy = ContactProblem();
  filler.add_sparse_tree(mass, momentum.data());
  ASSERT_TRUE(filler.finish());
  ContactProblemBuilder builder;
  builder.add_sparse_tree(mass, momentum);
  EXPECT_TRUE(problem == builder.build());
}

// The factor of an indefinite matrix has numbers that look like one.
TEST(SparseTrees, RefusesAFactorThatFailed) {
  Sparse indefinite(3, 3);
  for (Index k = 0; k < 3; ++k) indefinite.insert(k, k) = k < 2 ? 1.0 : -1.0;
  const auto factor = std::make_shared<SparseFactor>();
  ASSERT_FALSE(factorize_sparse(indefinite, 0, *factor));
  const Vec3 momentum(0.0, 0.0, -1.0);
  ContactProblemBuilder builder;
  builder.add_sparse_tree(factor, momentum);
  builder.add_contact(0.5, {{0, Mat3::Identity()}});
  EXPECT_THROW(builder.build(), InvalidInput);
  ProblemFiller filler;
  ContactProblem problem;
  const Mat3 block = Mat3::Identity();
  filler.begin(problem, 1);
  const Index tree = filler.add_sparse_tree(factor, momentum.data());
  filler.add_constraint({.kind = ConstraintKind::contact, .friction = 0.5});
  filler.add_sparse_piece(tree, 0, 3, block.data());
  EXPECT_FALSE(filler.finish());
}

TEST(SparseTrees, FillingAgainAllocatesNothing) {
  if (!test::counts_allocations()) GTEST_SKIP() << "allocations cannot be counted in this build";
  test::Random random(14);
  const Sparse mass = test::lattice_mass(random, 3, 3, 2, 4.0);
  const std::shared_ptr<const SparseFactor> masses[] = {factor_of(mass), factor_of(2.0 * mass)};
  const Matrix block = test::random_spd(random, 6), left = random.matrix(3, 3), body = random.matrix(3, 6);
  const Vector momentum = random.vector(mass.rows()), other = random.vector(6);
  ProblemFiller filler;
  ContactProblem problem;
  const auto run = [&](int k) {
    filler.begin(problem, 2);
    filler.add_tree(6, block.data(), other.data());
    const Index tree = filler.add_sparse_tree(masses[k], momentum.data());
    for (Index i = 0; i < 2; ++i) {
      filler.add_constraint({.kind = ConstraintKind::contact, .friction = 0.5});
      filler.add_sparse_piece(tree, 9 + 6 * i, 3, left.data());
      filler.add_piece(0, body.data());
    }
    return filler.finish();
  };
  for (const int k : {0, 1}) ASSERT_TRUE(run(k));
  const std::size_t before = test::allocation_count();
  ASSERT_TRUE(run(0));
  EXPECT_EQ(test::allocation_count() - before, 0u);
}

TEST(SparseTrees, BadInputNamesTheTree) {
  test::Random random(15);
  const Sparse good = test::lattice_mass(random, 3, 2, 2, 4.0);
  const Vector momentum = random.vector(36);
  const auto expect = [&](const std::string& message,
                          const std::function<void(ContactProblemBuilder&)>& act) {
    ContactProblemBuilder builder;
    builder.add_tree(Mat3::Identity(), Vec3::Zero());
    try {
      act(builder);
      builder.build();
      ADD_FAILURE() << "accepted: " << message;
    } catch (const InvalidInput& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  };
  Sparse indefinite = good, nan = good, skew = good, hollow = good;
  indefinite.coeffRef(4, 4) = -1.0;
  nan.coeffRef(3, 3) = std::numeric_limits<double>::quiet_NaN();
  skew.coeffRef(1, 0) += 0.5;
  hollow.prune([](Index r, Index c, double) { return r != 5 || c != 5; });
  expect("mass of tree 1 is not positive definite",
         [&](auto& b) { b.add_sparse_tree(indefinite, momentum); });
  expect("mass of tree 1 is not positive definite", [&](auto& b) { b.add_sparse_tree(hollow, momentum); });
  expect("mass of tree 1 is not finite", [&](auto& b) { b.add_sparse_tree(nan, momentum); });
  expect("mass of tree 1 is not symmetric", [&](auto& b) { b.add_sparse_tree(skew, momentum); });
  expect("mass of tree 1 is 35 x 36",
         [&](auto& b) { b.add_sparse_tree(Sparse(good.topRows(35)), momentum); });
  expect("momentum of tree 1 has 3 entries", [&](auto& b) { b.add_sparse_tree(good, Vec3::Zero()); });
  const auto with_piece = [&](const Matrix& block, Index first_dof) {
    return [&good, &momentum, block, first_dof](ContactProblemBuilder& b) {
      b.add_sparse_tree(good, momentum);
      b.add_contact(0.5, {{1, block, {}, first_dof}});
    };
  };
  expect("sparse tree 1 is 2 x 3", with_piece(Matrix::Zero(2, 3), 0));
  expect("sparse tree 1 is 3 x 0", with_piece(Matrix::Zero(3, 0), 0));
  expect("has the columns 34 to 36: the tree has 36", with_piece(Matrix::Zero(3, 3), 34));
  expect("has the columns -1 to 1", with_piece(Matrix::Zero(3, 3), -1));
  expect("sparse tree 1 is not finite", with_piece(Matrix::Constant(3, 3, NAN), 0));
  expect("articulation names tree 1, which is sparse", [&](auto& b) {
    b.add_sparse_tree(good, momentum);
    b.set_articulation(1, {});
  });
}

TEST(SparseTrees, UntouchedTreesTakeNoPart) {
  test::Random random(16);
  ContactProblemBuilder builder;
  const Sparse mass = test::lattice_mass(random, 2, 2, 2, 4.0);
  const Vector momentum = random.vector(24);
  builder.add_sparse_tree(mass, momentum);
  builder.add_tree(Mat3::Identity(), Vec3(0.0, 0.0, -1.0));
  builder.add_contact(0.5, {{1, Mat3::Identity()}});
  const ContactProblem problem = builder.build();
  SparseScratch scratch;
  Vector full;
  problem.full_velocity_of(Vec3(0.0, 0.0, 1.0), full, scratch);
  EXPECT_LT(largest_difference(full.head(24), Matrix(mass).llt().solve(momentum)), 1e-13);
  EXPECT_LT(full.tail<3>().norm(), 1e-15);
  ContactProblemBuilder lonely;
  lonely.add_sparse_tree(mass, momentum);
  EXPECT_EQ(lonely.build().full_dof_count(), 24);
}

}  // namespace
}  // namespace tribo
