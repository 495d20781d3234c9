#include "tribo/formats/siconos_dat.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/sample_problems.h"
#include "tests/support/temporary_folder.h"
#include "tribo/base/errors.h"
#include "tribo/formats/problem_file.h"

namespace tribo {
namespace {

class SiconosDat : public testing::Test {
 protected:
  LoadedProblem read(const std::string& text) { return read_problem(folder_.write("p.dat", text)); }

  std::string error_of(const std::string& text) {
    try {
      read(text);
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "";
  }

  static std::string sample(const std::string& name) {
    for (const test::DatSample& sample : test::dat_samples()) {
      if (sample.name == name) return sample.text;
    }
    return "";
  }

  test::TemporaryFolder folder_;
};

TEST_F(SiconosDat, EveryStorageOfALocalProblem) {
  // W = [10 1 2; 3 20 4; 5 6 30] on (n, t1, t2) becomes this on (t1, t2, n).
  Matrix expected(3, 3);
  expected << 20, 4, 3, 6, 30, 5, 1, 2, 10;
  for (const auto& [name, format] :
       {std::pair("local_dense", "dense"), std::pair("local_block", "sparse block"),
        std::pair("local_triplet", "triplet"), std::pair("local_csc", "CSC"),
        std::pair("local_csr", "CSR")}) {
    const LoadedProblem loaded = read(sample(name));
    EXPECT_EQ(loaded.format, std::string("Siconos local, ") + format);
    ASSERT_EQ(loaded.problem.contact_count(), 1);
    EXPECT_EQ(loaded.problem.delassus().to_dense(), expected) << name;
    EXPECT_EQ(loaded.problem.free_velocity(), Vec3(2, 3, -1));
    EXPECT_EQ(loaded.problem.friction(0), 0.25);
  }
}

// The number that names the kind of a sparse matrix has changed between versions of Siconos.
TEST_F(SiconosDat, BothNumberingsOfSparseMatrices) {
  const std::string head = "3\n1\n2\n3\n3\n";
  const auto with_kind = [&](const char* name, const char* kind) {
    return head + kind + sample(name).substr(head.size() + 1);
  };
  for (const auto& [name, kind] : {std::pair("local_triplet", "0"), std::pair("local_csc", "1")}) {
    EXPECT_EQ(read(with_kind(name, kind)).problem.delassus().to_dense(),
              read(sample(name)).problem.delassus().to_dense());
  }
  EXPECT_NE(error_of(with_kind("local_triplet", "2")).find("another form"), std::string::npos);
  EXPECT_NE(error_of(with_kind("local_csc", "0")).find("another form"), std::string::npos);
  EXPECT_NE(error_of(with_kind("local_triplet", "4")).find("half of a symmetric one"), std::string::npos);
}

TEST_F(SiconosDat, GlobalProblems) {
  for (const char* name : {"global_dense", "global_mixed"}) {
    const LoadedProblem loaded = read(sample(name));
    const ContactProblem& problem = loaded.problem;
    EXPECT_FALSE(problem.has_delassus());
    EXPECT_EQ(problem.dof_count(), 4);
    EXPECT_EQ(problem.momentum(), Vector(Eigen::Vector4d(1, 2, 3, 4)));
    EXPECT_EQ(problem.bias(), Vec3(0.25, 0.125, -0.5));
    // u = H^T v + b at r = 0, v = M^-1 q = (1, 1, 3/4, 1/2): normal v2, tangents v0 and v1 + 2 v3.
    EXPECT_EQ(problem.free_velocity(), Vec3(1.25, 2.125, 0.25)) << name;
  }
  EXPECT_EQ(read(sample("global_mixed")).format, "Siconos global, sparse block");
}

// M of a global problem may have as many rows as the contacts: the second matrix decides.
TEST_F(SiconosDat, SquareGlobalProblemIsNotTakenForALocalOne) {
  const std::string m = "3 1 0 3 3 3 3 4 0 0 0 4 0 0 0 4\n";
  const std::string h = "0 3 3 3 3 1 0 0 0 1 0 0 0 1\n";
  const LoadedProblem global = read(m + h + "1 2 3\n0 0 0\n0.5\n1");
  EXPECT_EQ(global.format, "Siconos global, dense");
  EXPECT_EQ(global.problem.free_velocity(), Vec3(0.5, 0.75, 0.25));
  const LoadedProblem local = read(m + "0 3 3\n0.5\n1");  // q looks like the header of a matrix
  EXPECT_EQ(local.format, "Siconos local, dense");
  EXPECT_EQ(local.problem.free_velocity(), Vec3(3, 3, 0));
}

TEST_F(SiconosDat, PlanarContactsGetAnIdleSecondTangent) {
  const LoadedProblem loaded = read(sample("local_plane"));
  EXPECT_EQ(loaded.space_dimension, 2);
  Matrix expected(3, 3);
  expected << 3, 0, 1, 0, 0, 0, 1, 0, 2;
  EXPECT_EQ(loaded.problem.delassus().to_dense(), expected);
  EXPECT_EQ(loaded.problem.free_velocity(), Vec3(0.5, 0, -1));
  EXPECT_EQ(loaded.problem.friction(0), 0.9);
}

TEST_F(SiconosDat, NoContacts) {
  const LoadedProblem loaded = read("3 0 0 0 0 0 0");
  EXPECT_EQ(loaded.problem.constraint_count(), 0);
  EXPECT_EQ(read("3 0 0 1 1 1 1 5.0 0 1 0 1 0 2.0").problem.dof_count(), 1);
}

TEST_F(SiconosDat, EveryTruncationIsRefused) {
  for (const test::DatSample& sample : test::dat_samples()) {
    // Everything up to the last digit of mu is needed; cutting digits of numbers only changes them.
    std::size_t needed = sample.text.find_last_not_of(" \n01");
    needed = sample.text.find_last_of(" \n", needed);
    for (std::size_t size = 0; size <= needed; size += 5) {
      const std::string message = error_of(sample.text.substr(0, size));
      EXPECT_NE(message, "") << sample.name << " cut to " << size << " bytes";
      EXPECT_NE(message.find("p.dat: line "), std::string::npos) << message;
    }
  }
}

TEST_F(SiconosDat, MessagesSayWhereAndWhat) {
  const auto expect = [&](const std::string& text, const std::string& part) {
    EXPECT_NE(error_of(text).find(part), std::string::npos)
        << "got: " << error_of(text) << "\nwant: " << part;
  };
  expect("5\n1\n", "line 1: the dimension of space (2 or 3; 5, rolling, is not supported) is 5");
  expect("3\n-1\n", "line 2: the number of contacts is -1");
  expect("3\n2000000000\n", "line 2: the number of contacts is 2000000000");
  expect("3\n1\n7\n", "line 3: the storage of a matrix is 7");
  expect("3\n1\n0\n3\n3\n3 3\n10 3 5\n1 nan 6\n2 4 30\n-1 2 3\n0.5",
         "line 8: an entry of the dense matrix is nan");
  expect("3\n1\n0\n3\n3\n3 3\n10 3 5\n1 x 6\n2 4 30\n-1 2 3\n0.5",
         "line 8: 'x' where an entry of the dense matrix");
  expect("3\n1\n0\n3\n3\n3 3\n10 3 5\n1 20 6\n2 4 30\n-1 2 1e999\n0.5", "line 10: '1e999'");
  expect("3\n1\n0\n3\n3\n3 3\n10 3 5\n1 20 6\n2 4 30\n-1 2 3\n0.5\n0.7", "line 12: '0.7' after the friction");
  expect("3\n1\n0\n3\n3\n3 3\n10 3 5\n1 20 6\n2 4 30\n-1 2 3\n-0.5", "friction of contact 0");
  expect("3\n1\n0\n3\n4\n3 4\n1 0 0 0 1 0 0 0 1 0 0 0", "it must be square");
}

}  // namespace
}  // namespace tribo
