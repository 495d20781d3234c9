// Round trips, and what happens when reading or writing cannot work.
#include "tribo/formats/problem_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "tests/support/hdf5_maker.h"
#include "tests/support/random.h"
#include "tests/support/sample_problems.h"
#include "tests/support/temporary_folder.h"
#include "tribo/base/errors.h"
#include "tribo/formats/hdf5_reader.h"
#include "tribo/generate/generators.h"
#include "tribo/problem/certificate.h"
#include "tribo/problem/contact_problem_builder.h"

namespace tribo {
namespace {

namespace fs = std::filesystem;

std::string load(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::string error_of(const fs::path& path) {
  try {
    read_problem(path);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "";
}

class ProblemFile : public testing::Test {
 protected:
  LoadedProblem round_trip(const ContactProblem& problem, const WriteOptions& options = {}) {
    write_problem(folder_ / "p.hdf5", problem, options);
    return read_problem(folder_ / "p.hdf5");
  }

  test::TemporaryFolder folder_;
};

TEST_F(ProblemFile, MixedConstraintsOnSeveralTreesComeBackEqual) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    const ContactProblem problem = test::mixed_problem(seed);
    const LoadedProblem loaded = round_trip(problem);
    EXPECT_TRUE(loaded.problem == problem);
    EXPECT_EQ(loaded.format, "FCLIB global, triplet");
    EXPECT_EQ(loaded.problem.free_velocity(), problem.free_velocity());
    EXPECT_FALSE(loaded.guess.has_value());
    EXPECT_FALSE(loaded.solution.has_value());
  }
  EXPECT_FALSE(test::mixed_problem(0) == test::mixed_problem(1));  // the comparison can fail
}

TEST_F(ProblemFile, DelassusFormsComeBackEqual) {
  for (const double skew : {0.0, 0.2}) {
    const ContactProblem problem = test::lifted_problem(3, skew);
    EXPECT_EQ(problem.is_symmetric(), skew == 0.0);
    const LoadedProblem loaded = round_trip(problem);
    EXPECT_TRUE(loaded.problem == problem) << "skew " << skew;
    EXPECT_EQ(loaded.format, "FCLIB local, triplet");
    EXPECT_EQ(loaded.problem.delassus().to_dense(), problem.delassus().to_dense());
  }
}

// An A and J that lift() would not find: they are stored.
TEST_F(ProblemFile, DelassusFormWithItsOwnFactorComesBackEqual) {
  test::Random random(5);
  const Matrix jacobian = random.matrix(4, 6);
  ContactProblemBuilder builder;
  builder.add_tree(Matrix::Identity(6, 6), Vector::Zero(6));
  builder.add_contact(0.3, {{0, jacobian.topRows(3)}}, Vec3(1, 2, 3));
  builder.add_unilateral(std::vector<JacobianPiece>{{0, jacobian.bottomRows(1)}}, 0.5);
  const Matrix w = jacobian * jacobian.transpose();
  std::vector<ScalarTriplet> triplets;
  for (Index r = 0; r < 4; ++r) {
    for (Index c = 0; c < 4; ++c) triplets.push_back({r, c, w(r, c)});
  }
  builder.set_delassus(BlockMatrix::from_triplets({0, 3, 4}, triplets));
  const ContactProblem problem = builder.build();
  EXPECT_TRUE(round_trip(problem).problem == problem);
}

// Contacts in scaled rows stand among the extra rows of the group /tribo.
TEST_F(ProblemFile, EllipticFrictionComesBackEqual) {
  for (const bool local : {false, true}) {
    ContactProblemBuilder builder;
    builder.add_tree(local ? Matrix(Matrix::Identity(6, 6)) : Matrix(2.0 * Matrix::Identity(6, 6)),
                     Vector(local ? Vector::Zero(6) : Vector::Ones(6)));
    const Matrix jacobian = Matrix::Random(14, 6);
    const double three[] = {0.3, 0.5}, four[] = {0.3, 0.3, 0.01}, six[] = {0.2, 0.4, 0.01, 0.002, 0.003};
    Index row = 0;
    const auto piece = [&](Index rows) {
      const JacobianPiece made{0, jacobian.middleRows(row, rows)};
      row += rows;
      return made;
    };
    const JacobianPiece a = piece(3), b = piece(4), c = piece(6), d = piece(1);
    builder.add_elliptic_contact(three, {&a, 1}, std::vector<double>{1, 2, 3});
    builder.add_unilateral({&d, 1}, 0.25);
    builder.add_elliptic_contact(four, {&b, 1}, {}, std::vector<double>{0.1, 0.2, 0.3, 0.4}, 77);
    builder.add_contact(0.4, {a});
    builder.add_elliptic_contact(six, {&c, 1});
    ContactProblem problem = builder.build();
    if (local) {
      std::vector<ConstraintSpec> specs(1);
      specs[0].unit = {0.3, 0.2, 0.05, 1.0};
      Matrix half = Matrix::Random(4, 4);
      const Matrix w = half * half.transpose() + Matrix::Identity(4, 4);
      std::vector<ScalarTriplet> triplets;
      for (Index r = 0; r < 4; ++r) {
        for (Index k = 0; k < 4; ++k) triplets.push_back({r, k, w(r, k)});
      }
      problem = lift(BlockMatrix::from_triplets({0, 4}, triplets), Vector::LinSpaced(4, -1.0, 1.0), specs);
      EXPECT_EQ(problem.friction(0), 1.0);
    }
    const LoadedProblem loaded = round_trip(problem);
    EXPECT_TRUE(loaded.problem == problem) << local;
    EXPECT_TRUE(loaded.problem.has_row_units());
  }
}

TEST_F(ProblemFile, GeneratedProblemsComeBackEqual) {
  for (const GeneratorInfo& kind : generator_catalogue()) {
    const ContactProblem problem = generate(kind.name, {.bodies = 4, .compliance = 1e-5, .seed = 2});
    EXPECT_TRUE(round_trip(problem).problem == problem) << kind.name;
  }
}

TEST_F(ProblemFile, EmptyProblemsComeBackEqual) {
  ContactProblemBuilder builder;
  const ContactProblem nothing = builder.build();
  EXPECT_TRUE(round_trip(nothing).problem == nothing);

  builder.add_tree(2.0 * Matrix::Identity(3, 3), Vector::Ones(3));
  const ContactProblem free_body = builder.build();
  EXPECT_TRUE(round_trip(free_body).problem == free_body);

  const ContactProblem empty_local = lift(BlockMatrix::from_triplets({0}, {}), Vector(0), {});
  EXPECT_TRUE(round_trip(empty_local).problem == empty_local);
}

TEST_F(ProblemFile, TheSameProblemGivesTheSameBytes) {
  const ContactProblem problem = test::mixed_problem(1);
  write_problem(folder_ / "a.hdf5", problem);
  write_problem(folder_ / "b.hdf5", problem);
  EXPECT_EQ(load(folder_ / "a.hdf5"), load(folder_ / "b.hdf5"));
}

TEST_F(ProblemFile, CompressedFilesComeBackEqualAndAreSmaller) {
  const ContactProblem tower = generate("tower", {.bodies = 200});
  for (const ContactProblem& problem : {tower, test::mixed_problem(3), test::lifted_problem(2, 0.1)}) {
    Solution solution;
    solution.impulse = Vector::LinSpaced(problem.row_count(), 0.0, 1.0);
    const LoadedProblem loaded = round_trip(problem, {.solution = &solution, .compress = true});
    EXPECT_TRUE(loaded.problem == problem);
    EXPECT_EQ(loaded.solution.value(), solution.impulse);
  }
  round_trip(tower);
  const auto plain = fs::file_size(folder_ / "p.hdf5");
  round_trip(tower, {.compress = true});
  EXPECT_LT(fs::file_size(folder_ / "p.hdf5"), plain / 2);
}

TEST_F(ProblemFile, GuessAndTextsComeBack) {
  for (const ContactProblem& problem : {test::mixed_problem(1), test::lifted_problem(1, 0.1)}) {
    const Vector guess = test::Random(9).vector(problem.row_count());
    const LoadedProblem loaded =
        round_trip(problem, {.title = "A title", .description = "Größe 3 µm", .guess = &guess});
    ASSERT_TRUE(loaded.guess.has_value());
    EXPECT_EQ(*loaded.guess, guess);
    EXPECT_FALSE(loaded.solution.has_value());
    EXPECT_EQ(loaded.title, "A title");
    EXPECT_EQ(loaded.description, "Größe 3 µm");
  }
}

TEST_F(ProblemFile, GuessAndSolutionComeBackSideBySide) {
  for (const ContactProblem& problem : {test::mixed_problem(1), test::lifted_problem(1, 0.1)}) {
    test::Random random(4);
    const Vector guess = random.vector(problem.row_count());
    Solution solution;
    solution.impulse = random.vector(problem.row_count());
    const LoadedProblem loaded = round_trip(problem, {.solution = &solution, .guess = &guess});
    EXPECT_EQ(loaded.guess.value(), guess);
    EXPECT_EQ(loaded.solution.value(), solution.impulse);
  }
}

// Where every contact separates no impulse is the solution, not a missing one.
TEST_F(ProblemFile, ZeroSolutionsWithACertificateComeBack) {
  const ContactProblem problem = test::mixed_problem(2);
  Solution solution;
  solution.impulse = Vector::Zero(problem.row_count());
  EXPECT_EQ(round_trip(problem, {.solution = &solution}).solution.value(), solution.impulse);
}

TEST_F(ProblemFile, SolutionIsStoredWithItsRecomputedCertificate) {
  const ContactProblem problem = test::mixed_problem(2);
  Solution solution;
  solution.impulse = test::Random(1).vector(problem.row_count());
  solution.velocity = Vector::Constant(problem.row_count(), 1e9);  // not to be believed
  const LoadedProblem loaded = round_trip(problem, {.solution = &solution});
  ASSERT_TRUE(loaded.solution.has_value());
  EXPECT_EQ(*loaded.solution, solution.impulse);
  EXPECT_FALSE(loaded.guess.has_value());

  const detail::Hdf5Reader file(folder_ / "p.hdf5");
  Vector v;
  Vector u;
  problem.velocity_of(solution.impulse, v, u);
  const Vector stored_u = file.reals("/solution/u");
  const Index contact = 1;  // the first one; the file has the normal first
  EXPECT_EQ(stored_u.head(3),
            Vec3(u[problem.row(contact) + 2], u[problem.row(contact)], u[problem.row(contact) + 1]));
  EXPECT_EQ(file.reals("/solution/v"), v);
  EXPECT_EQ(file.reals("/solution/l").size(), 2);
  Solution again{solution.impulse, u, v};
  EXPECT_EQ(file.reals("/tribo/solution_certificate/error")[0], certify(problem, again).error.value);
}

TEST_F(ProblemFile, UselessSolutionsAreRefusedAndNothingIsLeft) {
  const ContactProblem problem = test::mixed_problem(2);
  Solution solution;
  solution.impulse = Vector::Zero(3);
  EXPECT_THROW(write_problem(folder_ / "p.hdf5", problem, {.solution = &solution}), InvalidInput);
  solution.impulse = Vector::Constant(problem.row_count(), std::numeric_limits<double>::quiet_NaN());
  EXPECT_THROW(write_problem(folder_ / "p.hdf5", problem, {.solution = &solution}), InvalidInput);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(ProblemFile, WritingNeedsAFolder) {
  const ContactProblem problem = test::mixed_problem(2);
  EXPECT_THROW(write_problem(folder_ / "missing/p.hdf5", problem), InvalidInput);
  EXPECT_THROW(write_problem(folder_.path(), problem), InvalidInput);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  folder_.write("p.hdf5", "something old");
  write_problem(folder_ / "p.hdf5", problem);
  EXPECT_TRUE(read_problem(folder_ / "p.hdf5").problem == problem);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 1);
}

TEST_F(ProblemFile, WhatIsNoProblemFileIsRefused) {
  EXPECT_NE(error_of(folder_ / "missing.hdf5").find("no such file"), std::string::npos);
  EXPECT_NE(error_of(folder_.path()).find("is a folder"), std::string::npos);
  EXPECT_NE(error_of("/dev/null").find("not a regular file"), std::string::npos);
  EXPECT_NE(error_of(folder_.write("a.hdf5", "3 1 0")).find("not an HDF5 file"), std::string::npos);
  EXPECT_NE(error_of(folder_.write("a.txt", "3 1 0")).find("neither"), std::string::npos);
  EXPECT_NE(error_of(folder_.write("empty.dat", "")).find("line 1"), std::string::npos);
  EXPECT_NE(error_of(folder_.write("empty.hdf5", "")), "");
}

TEST_F(ProblemFile, EveryTruncationOfAFileIsRefused) {
  for (const ContactProblem& problem : {test::mixed_problem(1), test::lifted_problem(1, 0.1)}) {
    write_problem(folder_ / "whole.hdf5", problem);
    const std::string bytes = load(folder_ / "whole.hdf5");
    const std::size_t step = 1 + bytes.size() / 100;
    for (std::size_t missing = 1; missing <= bytes.size(); missing += step) {
      const std::size_t size = bytes.size() - missing;
      const fs::path path = folder_.write("cut.hdf5", bytes.substr(0, size));
      const std::string message = error_of(path);
      EXPECT_EQ(message.find(path.string()), 0u) << size << ": " << message;
      // As soon as the superblock is there, which knows the length of the whole.
      if (size > 100) {
        EXPECT_NE(message.find("the file is cut short"), std::string::npos) << message;
      }
    }
  }
}

TEST_F(ProblemFile, ChangesInTheExtraGroupAreNoticed) {
  const ContactProblem problem = test::mixed_problem(1);
  const auto damaged = [&](const std::string& dataset, const std::vector<int>& values) {
    write_problem(folder_ / "p.hdf5", problem);
    const hid_t file = H5Fopen((folder_ / "p.hdf5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t open = H5Dopen2(file, dataset.c_str(), H5P_DEFAULT);
    H5Dwrite(open, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(open);
    H5Fclose(file);
    return error_of(folder_ / "p.hdf5");
  };
  EXPECT_EQ(damaged("/tribo/tree_sizes", {6, 1, 3, 6}), "");
  EXPECT_NE(damaged("/tribo/tree_sizes", {6, 1, 3, 5}), "");
  EXPECT_NE(damaged("/tribo/tree_sizes", {5, 2, 3, 6}), "");  // M couples dofs 4 and 5
  EXPECT_NE(damaged("/tribo/tree_sizes", {6, 1, 3, -6}), "");
  EXPECT_NE(damaged("/tribo/kind", {0, 0, 3, 0, 1, 2, 0, 3}), "");
  EXPECT_NE(damaged("/tribo/kind", {2, 0, 3, 0, 1, 2, 0, 9}).find("/tribo/kind"), std::string::npos);
  EXPECT_NE(damaged("/tribo/piece_tree", {0, 2, 9, 1, 0, 1, 2, 2, 1, 0, 2, 0, 2, 0}), "");
  EXPECT_NE(damaged("/tribo/format_version", {2}).find("/tribo/format_version"), std::string::npos);
}

}  // namespace
}  // namespace tribo
