// FCLIB files made by hand with the HDF5 library, with numbers that can be checked on paper.
#include "tribo/formats/fclib_reader.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/dense_twin.h"
#include "tests/support/hdf5_maker.h"
#include "tests/support/random.h"
#include "tests/support/temporary_folder.h"
#include "tribo/base/errors.h"
#include "tribo/formats/hdf5_reader.h"
#include "tribo/formats/problem_file.h"

namespace tribo {
namespace {

using test::Hdf5Maker;
using test::StoredMatrix;

// W = [10 1 2; 3 20 4; 5 6 30] on (n, t1, t2), in the three storages; the triplets have a pair that adds up.
const StoredMatrix kTriplet{3,
                            3,
                            10,
                            {0, 1, 2, 0, 1, 2, 0, 1, 2, 0},  // p: columns
                            {0, 0, 0, 1, 1, 1, 2, 2, 2, 0},  // i: rows
                            {7, 1, 2, 3, 20, 4, 5, 6, 30, 3}};
const StoredMatrix kColumns{
    3, 3, -1, {0, 3, 6, 9}, {0, 1, 2, 0, 1, 2, 0, 1, 2}, {10, 3, 5, 1, 20, 6, 2, 4, 30}};
const StoredMatrix kRows{3, 3, -2, {0, 3, 6, 9}, {0, 1, 2, 0, 1, 2, 0, 1, 2}, {10, 1, 2, 3, 20, 4, 5, 6, 30}};

StoredMatrix triplets(const Matrix& dense) {
  StoredMatrix matrix;
  matrix.rows = static_cast<int>(dense.rows());
  matrix.cols = static_cast<int>(dense.cols());
  for (int c = 0; c < matrix.cols; ++c) {
    for (int r = 0; r < matrix.rows; ++r) {
      if (dense(r, c) == 0.0) continue;
      matrix.p.push_back(c);
      matrix.i.push_back(r);
      matrix.x.push_back(dense(r, c));
    }
  }
  matrix.nz = static_cast<int>(matrix.x.size());
  return matrix;
}

std::vector<double> list(const Vector& vector) { return {vector.data(), vector.data() + vector.size()}; }

class FclibReader : public testing::Test {
 protected:
  using Fill = std::function<void(Hdf5Maker&)>;

  LoadedProblem read(const Fill& fill, bool latest = false) {
    {
      Hdf5Maker maker(folder_ / "p.hdf5", latest);
      fill(maker);
    }
    return read_problem(folder_ / "p.hdf5");
  }

  std::string error_of(const Fill& fill) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    try {
      read(fill);
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "";
  }

  static void local(Hdf5Maker& maker, const StoredMatrix& w = kTriplet) {
    maker.group("/fclib_local").ints("/fclib_local/spacedim", {3}).matrix("/fclib_local/W", w);
    maker.group("/fclib_local/vectors");
    maker.reals("/fclib_local/vectors/q", {-1, 2, 3}).reals("/fclib_local/vectors/mu", {0.25});
  }

  // M = diag(1, 2, 4, 8), H with normal v2, tangents v0 and v1 + 2 v3.
  static void global(Hdf5Maker& maker) {
    const Vector diagonal = Eigen::Vector4d(1, 2, 4, 8);
    Matrix h(4, 3);
    h << 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 2;
    maker.group("/fclib_global").ints("/fclib_global/spacedim", {3});
    maker.matrix("/fclib_global/M", triplets(diagonal.asDiagonal().toDenseMatrix()));
    maker.matrix("/fclib_global/H", triplets(h)).group("/fclib_global/vectors");
    maker.reals("/fclib_global/vectors/f", {1, 2, 3, 4})
        .reals("/fclib_global/vectors/w", {-0.5, 0.25, 0.125});
    maker.reals("/fclib_global/vectors/mu", {0.5});
  }

  test::TemporaryFolder folder_;
};

TEST_F(FclibReader, LocalProblemInEveryStorageAndFormatVersion) {
  Matrix expected(3, 3);  // (t1, t2, n)
  expected << 20, 4, 3, 6, 30, 5, 1, 2, 10;
  for (const auto& [matrix, name] :
       {std::pair(kTriplet, "triplet"), std::pair(kColumns, "CSC"), std::pair(kRows, "CSR")}) {
    for (const bool latest : {false, true}) {
      const LoadedProblem loaded = read([&](Hdf5Maker& maker) { local(maker, matrix); }, latest);
      EXPECT_EQ(loaded.format, std::string("FCLIB local, ") + name);
      EXPECT_EQ(loaded.problem.delassus().to_dense(), expected) << name;
      EXPECT_EQ(loaded.problem.free_velocity(), Vec3(2, 3, -1));
      EXPECT_EQ(loaded.problem.friction(0), 0.25);
      EXPECT_FALSE(loaded.guess.has_value());
    }
  }
}

TEST_F(FclibReader, GlobalProblemWithBilateralRows) {
  const LoadedProblem loaded = read([&](Hdf5Maker& maker) {
    global(maker);
    maker.matrix("/fclib_global/G", triplets(Eigen::Vector4d(0, 0, 3, 1)));
    maker.reals("/fclib_global/vectors/b", {0.75});
    maker.group("/guesses").ints("/guesses/number_of_guesses", {1}).group("/guesses/1");
    maker.reals("/guesses/1/r", {7, 8, 9}).reals("/guesses/1/l", {-4});
  });
  const ContactProblem& problem = loaded.problem;
  EXPECT_EQ(problem.constraint_count(), 2);
  EXPECT_EQ(problem.tree_count(), 4);  // four dofs are no body
  EXPECT_EQ(problem.kind(1), ConstraintKind::bilateral);
  EXPECT_EQ(problem.bias(), Vector(Eigen::Vector4d(0.25, 0.125, -0.5, 0.75)));
  // v = M^-1 f = (1, 1, 3/4, 1/2).
  EXPECT_EQ(problem.free_velocity(), Vector(Eigen::Vector4d(1.25, 2.125, 0.25, 3.5)));
  EXPECT_EQ(loaded.guess.value(), Vector(Eigen::Vector4d(8, 9, 7, -4)));
}

// V^T r + R l + s = 0 and u = W r + V l + q, against the same written out.
TEST_F(FclibReader, LocalProblemWithBilateralRows) {
  test::Random random(3);
  const Matrix root = random.matrix(8, 8);
  const Matrix all = root * root.transpose();  // two contacts, two bilateral rows
  const Vector q = random.vector(8);
  const LoadedProblem loaded = read([&](Hdf5Maker& maker) {
    maker.group("/fclib_local").ints("/fclib_local/spacedim", {3}).group("/fclib_local/vectors");
    maker.matrix("/fclib_local/W", triplets(all.topLeftCorner(6, 6)));
    maker.matrix("/fclib_local/V", triplets(all.topRightCorner(6, 2)));
    maker.matrix("/fclib_local/R", triplets(all.bottomRightCorner(2, 2)));
    maker.reals("/fclib_local/vectors/q", list(q.head(6))).reals("/fclib_local/vectors/s", list(q.tail(2)));
    maker.reals("/fclib_local/vectors/mu", {0.1, 0.2});
  });
  const std::vector<Index> file_row{1, 2, 0, 4, 5, 3, 6, 7};  // of every row in memory
  ASSERT_EQ(loaded.problem.constraint_count(), 4);
  EXPECT_EQ(loaded.problem.kind(3), ConstraintKind::bilateral);
  const Matrix w = loaded.problem.delassus().to_dense();
  for (Index r = 0; r < 8; ++r) {
    EXPECT_EQ(loaded.problem.free_velocity()[r], q[file_row[r]]);
    for (Index c = 0; c < 8; ++c) {
      const bool lower = file_row[r] >= 6 && file_row[c] < 6;  // V^T, not the lower part of `all`
      EXPECT_EQ(w(r, c), lower ? all(file_row[c], file_row[r]) : all(file_row[r], file_row[c]));
    }
  }
}

TEST_F(FclibReader, BodiesOfSixDofsBecomeTrees) {
  const auto trees = [&](const Matrix& mass) {
    const Index n = static_cast<Index>(mass.rows());
    Matrix h = Matrix::Zero(n, 3);
    h.topRows(3).setIdentity();
    h.bottomRows(3).setIdentity();
    const LoadedProblem loaded = read([&](Hdf5Maker& maker) {
      maker.group("/fclib_global").ints("/fclib_global/spacedim", {3}).group("/fclib_global/vectors");
      maker.matrix("/fclib_global/M", triplets(mass)).matrix("/fclib_global/H", triplets(h));
      maker.reals("/fclib_global/vectors/f", list(Vector::LinSpaced(n, 1, 2)));
      maker.reals("/fclib_global/vectors/w", {0, 0, 0}).reals("/fclib_global/vectors/mu", {0.5});
    });
    const Vector v = mass.lu().solve(Vector::LinSpaced(n, 1, 2));
    const Vector u = h.transpose() * v;
    EXPECT_LT((loaded.problem.free_velocity() - Vec3(u[1], u[2], u[0])).norm(), 1e-14);
    return loaded.problem.tree_count();
  };
  Matrix mass = Matrix::Identity(12, 12);
  EXPECT_EQ(trees(mass), 2);
  mass(3, 4) = mass(4, 3) = 0.5;
  EXPECT_EQ(trees(mass), 2);
  mass(1, 11) = mass(11, 1) = 0.5;  // joins the bodies; dofs 1 and 11 are not neighbours
  EXPECT_EQ(trees(mass), 10);
}

TEST_F(FclibReader, UnsymmetricMassMatrixIsCondensed) {
  test::Random random(8);
  Matrix mass = 3.0 * Matrix::Identity(4, 4);
  mass(0, 1) = 1.0;
  mass(1, 0) = -0.5;
  const Matrix h = random.matrix(4, 6);
  const Vector f = random.vector(4);
  const Vector w = random.vector(6);
  const LoadedProblem loaded = read([&](Hdf5Maker& maker) {
    maker.group("/fclib_global").ints("/fclib_global/spacedim", {3}).group("/fclib_global/vectors");
    maker.matrix("/fclib_global/M", triplets(mass)).matrix("/fclib_global/H", triplets(h));
    maker.reals("/fclib_global/vectors/f", list(f)).reals("/fclib_global/vectors/w", list(w));
    maker.reals("/fclib_global/vectors/mu", {0.5, 0.6});
  });
  ASSERT_TRUE(loaded.problem.has_delassus());
  EXPECT_FALSE(loaded.problem.is_symmetric());
  const Matrix dense = h.transpose() * mass.lu().solve(h);
  const Vector q = h.transpose() * mass.lu().solve(f) + w;
  const std::vector<Index> file_row{1, 2, 0, 4, 5, 3};
  const Matrix found = loaded.problem.delassus().to_dense();
  for (Index r = 0; r < 6; ++r) {
    EXPECT_NEAR(loaded.problem.free_velocity()[r], q[file_row[r]], 1e-14);
    for (Index c = 0; c < 6; ++c) EXPECT_NEAR(found(r, c), dense(file_row[r], file_row[c]), 1e-14);
  }
}

TEST_F(FclibReader, PlanarProblems) {
  const LoadedProblem loaded = read([&](Hdf5Maker& maker) {
    maker.group("/fclib_local").ints("/fclib_local/spacedim", {2}).group("/fclib_local/vectors");
    Matrix w(2, 2);
    w << 2, 0.5, 0.5, 3;
    maker.matrix("/fclib_local/W", triplets(w)).reals("/fclib_local/vectors/q", {-1, 4});
    maker.reals("/fclib_local/vectors/mu", {0.9}).group("/guesses").group("/guesses/1");
    maker.reals("/guesses/1/r", {5, 6});
  });
  EXPECT_EQ(loaded.space_dimension, 2);
  Matrix expected(3, 3);
  expected << 3, 0, 0.5, 0, 0, 0, 0.5, 0, 2;
  EXPECT_EQ(loaded.problem.delassus().to_dense(), expected);
  EXPECT_EQ(loaded.problem.free_velocity(), Vec3(4, 0, -1));
  EXPECT_EQ(loaded.guess.value(), Vec3(6, 0, 5));
}

TEST_F(FclibReader, GuessesAndSolutionsAreKeptApartAndUnfilledSolutionsIgnored) {
  const auto with = [&](const std::vector<double>& guess, const std::vector<double>& solution) {
    return read([&](Hdf5Maker& maker) {
      local(maker);
      if (!guess.empty()) maker.group("/guesses").group("/guesses/1").reals("/guesses/1/r", guess);
      if (!solution.empty()) maker.group("/solution").reals("/solution/r", solution);
    });
  };
  const LoadedProblem unfilled = with({}, {0, 0, 0});
  EXPECT_FALSE(unfilled.guess.has_value());
  EXPECT_FALSE(unfilled.solution.has_value());
  const LoadedProblem solved = with({}, {1, 2, 3});
  EXPECT_FALSE(solved.guess.has_value());
  EXPECT_EQ(solved.solution.value(), Vec3(2, 3, 1));
  const LoadedProblem both = with({4, 5, 6}, {1, 2, 3});
  EXPECT_EQ(both.guess.value(), Vec3(5, 6, 4));
  EXPECT_EQ(both.solution.value(), Vec3(2, 3, 1));
}

TEST_F(FclibReader, TextsOfAnyEncoding) {
  const LoadedProblem loaded = read([&](Hdf5Maker& maker) {
    local(maker);
    maker.group("/fclib_local/info").text("/fclib_local/info/title", "\n \xa8Rewritten ");
    maker.text("/fclib_local/info/description",
               "gr\xc3\xb6\xc3\x9f"
               "er");
  });
  EXPECT_EQ(loaded.title, "\xc2\xa8Rewritten");
  EXPECT_EQ(loaded.description, "größer");
}

TEST_F(FclibReader, OtherNumberFormatsAndUnwrittenData) {
  const LoadedProblem loaded = read([&](Hdf5Maker& maker) {
    local(maker);
    maker.remove("/fclib_local/W/i").ints("/fclib_local/W/i", kTriplet.i, H5T_STD_I64BE);
    maker.remove("/fclib_local/W/p").ints("/fclib_local/W/p", kTriplet.p, H5T_STD_U8LE);
    maker.remove("/fclib_local/W/x").reals("/fclib_local/W/x", kTriplet.x, H5T_IEEE_F32BE);
    const hsize_t size = 3;  // as in the published files: a solution that was never written
    const hid_t space = H5Screate_simple(1, &size, nullptr);
    maker.group("/solution");
    H5Dclose(H5Dcreate2(maker.file(), "/solution/r", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT,
                        H5P_DEFAULT));
    H5Sclose(space);
  });
  EXPECT_EQ(loaded.problem.delassus().to_dense()(2, 2), 10);
  EXPECT_EQ(loaded.problem.delassus().to_dense()(0, 2), 3);
  EXPECT_FALSE(loaded.solution.has_value());
}

TEST_F(FclibReader, ErrorsNameTheFileAndTheDataset) {
  const auto expect = [&](const Fill& fill, const std::string& part) {
    const std::string message = error_of(fill);
    EXPECT_EQ(message.find((folder_ / "p.hdf5").string()), 0u) << message;
    EXPECT_NE(message.find(part), std::string::npos) << "got: " << message << "\nwant: " << part;
  };
  const auto changed = [&](const std::string& name, const std::vector<int>& values) {
    return [=](Hdf5Maker& maker) {
      local(maker);
      maker.remove(name).ints(name, values);
    };
  };
  const auto changed_reals = [&](const std::string& name, const std::vector<double>& values) {
    return [=](Hdf5Maker& maker) {
      local(maker);
      maker.remove(name).reals(name, values);
    };
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect([](Hdf5Maker&) {}, "neither fclib_local nor fclib_global");
  expect([](Hdf5Maker& maker) { local(maker), global(maker); }, "both");
  expect([](Hdf5Maker& maker) { maker.group("/fclib_rolling"); }, "rolling friction");
  expect(changed("/fclib_local/spacedim", {5}), "rolling");
  expect(changed("/fclib_local/spacedim", {4}), "/fclib_local/spacedim is 4");
  expect(changed("/fclib_local/spacedim", {3, 3}), "/fclib_local/spacedim has 2 values");
  expect(changed("/fclib_local/W/nz", {-3}), "/fclib_local/W/nz is -3");
  expect(changed("/fclib_local/W/nz", {11}), "/fclib_local/W/nz is 11 where 10 entries");
  expect(changed("/fclib_local/W/m", {2000000000}), "/fclib_local/W/m is 2000000000");
  expect(changed("/fclib_local/W/p", {0, 1, 2, 0, 1, 2, 0, 1, 3, 0}), "/fclib_local/W/p [8] is 3");
  expect(changed("/fclib_local/W/i", {0, 0, 0, 1, 1, 1, 2, 2, -1, 0}), "/fclib_local/W/i [8] is -1");
  expect(changed("/fclib_local/W/i", {0, 0}), "/fclib_local/W/i has 2 values where 10");
  expect(changed("/fclib_local/W/x", {1, 2}), "/fclib_local/W/x must hold real numbers");
  expect(changed_reals("/fclib_local/W/i", {1, 2}), "/fclib_local/W/i must hold integers");
  expect(changed_reals("/fclib_local/vectors/q", {-1, nan, 3}), "/fclib_local/vectors/q [1] is nan");
  expect(changed_reals("/fclib_local/vectors/mu", {0.1, 0.2}), "/fclib_local/vectors/mu has 2 values");
  expect(changed_reals("/fclib_local/vectors/mu", {-0.1}), "friction of contact 0 is -0.1");
  expect([](Hdf5Maker& maker) { local(maker), maker.remove("/fclib_local/vectors/q"); },
         "/fclib_local/vectors/q is missing");
  expect([](Hdf5Maker& maker) { local(maker), maker.remove("/fclib_local/W"); }, "/fclib_local/W is missing");
  expect(
      [](Hdf5Maker& maker) {
        local(maker), maker.remove("/fclib_local/vectors/q").group("/fclib_local/vectors/q");
      },
      "/fclib_local/vectors/q is not a dataset");
  expect(
      [](Hdf5Maker& maker) {
        local(maker);
        maker.remove("/fclib_local/vectors/q").table("/fclib_local/vectors/q", {1, 2, 3}, 1, 3);
      },
      "/fclib_local/vectors/q has rank 2");
  expect(
      [](Hdf5Maker& maker) {
        local(maker, kColumns);
        maker.remove("/fclib_local/W/p").ints("/fclib_local/W/p", {0, 6, 3, 9});
      },
      "/fclib_local/W/p decreases");
  expect(
      [](Hdf5Maker& maker) {
        local(maker);
        maker.matrix("/fclib_local/V", triplets(Matrix::Ones(3, 1))).reals("/fclib_local/vectors/s", {1});
      },
      "/fclib_local/R is missing");
}

// Two contacts on a body of two rotations and three velocities: the first slides (mu_r = 0), the second rolls (mu = 0).
TEST_F(FclibReader, RollingFrictionWhereOneOfTheCoefficientsIsZero) {
  // Columns (n, t1, t2, r1, r2) of both contacts: all different, so that a wrong place shows.
  Matrix h(5, 10);
  for (Index r = 0; r < 5; ++r) {
    for (Index c = 0; c < 10; ++c) h(r, c) = 1.0 + r + 10.0 * c + (r == c % 5 ? 0.5 : 0.0);
  }
  const auto fill = [&](const std::vector<double>& mu, const std::vector<double>& mu_r) {
    return [=, this](Hdf5Maker& maker) {
      maker.group("/fclib_global_rolling").ints("/fclib_global_rolling/spacedim", {5});
      maker.matrix("/fclib_global_rolling/M", triplets(Matrix(Matrix::Identity(5, 5) * 2.0)));
      maker.matrix("/fclib_global_rolling/H", triplets(h)).group("/fclib_global_rolling/vectors");
      maker.reals("/fclib_global_rolling/vectors/f", {1, 2, 3, 4, 5});
      maker.reals("/fclib_global_rolling/vectors/w", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
      maker.reals("/fclib_global_rolling/vectors/mu", mu).reals("/fclib_global_rolling/vectors/mu_r", mu_r);
      maker.group("/guesses").group("/guesses/1");
      maker.reals("/guesses/1/r", {1, 2, 3, 0, 0, 6, 0, 0, 9, 10});
    };
  };
  const LoadedProblem loaded = read(fill({0.3, 0.0}, {0.0, 0.02}));
  EXPECT_EQ(loaded.format, "FCLIB global rolling, triplet");
  const ContactProblem& problem = loaded.problem;
  ASSERT_EQ(problem.contact_count(), 2);
  ASSERT_EQ(problem.row_count(), 6);
  EXPECT_EQ(problem.friction(0), 0.3);
  EXPECT_EQ(problem.friction(1), 0.02);
  const std::vector<Index> columns{1, 2, 0, 8, 9, 5};  // (t1, t2, n) of the first, (r1, r2, n) of the second
  const test::DenseTwin twin(problem);
  for (Index k = 0; k < 6; ++k) {
    EXPECT_EQ(Vector(twin.j.row(k)), Vector(h.col(columns[k]))) << k;
    EXPECT_EQ(problem.bias()[k], 1.0 + columns[k]);
    EXPECT_EQ(loaded.guess.value()[k], 1.0 + columns[k]);
  }
  const std::string refusal = error_of(fill({0.3, 0.5}, {0.0, 0.02}));
  EXPECT_NE(refusal.find("mu_r [1] is 0.02 where the sliding friction is 0.5"), std::string::npos) << refusal;
  EXPECT_NE(error_of(fill({0.3}, {0.0})).find("5 per contact"), std::string::npos);
}

// More of it in hdf5_chunks_test.cpp.
TEST_F(FclibReader, CompressedDataAreRead) {
  const LoadedProblem loaded = read([&](Hdf5Maker& maker) {
    local(maker);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 3;
    H5Pset_chunk(creation, 1, &chunk);
    H5Pset_shuffle(creation);
    H5Pset_deflate(creation, 4);
    maker.remove("/fclib_local/vectors/q")
        .reals("/fclib_local/vectors/q", {1, 2, 3}, H5T_IEEE_F64LE, creation);
    H5Pclose(creation);
  });
  EXPECT_EQ(loaded.problem.free_velocity(), Vec3(2, 3, 1));
}

TEST_F(FclibReader, MassMatrixThatIsTooLargeOrIndefiniteIsRefused) {
  const auto chain = [&](Index dofs, double coupling, double skew = 0.0) {
    return error_of([&](Hdf5Maker& maker) {
      StoredMatrix mass{dofs, dofs, 0, {}, {}, {}};
      for (int d = 0; d < dofs; ++d) {
        const int next = d + 1 < dofs ? d + 1 : d;
        mass.p.insert(mass.p.end(), {d, d, next});
        mass.i.insert(mass.i.end(), {d, next, d});
        mass.x.insert(mass.x.end(), {4.0, d == next ? 0.0 : coupling, d == next ? 0.0 : coupling + skew});
      }
      mass.nz = static_cast<int>(mass.x.size());
      maker.group("/fclib_global").ints("/fclib_global/spacedim", {3}).group("/fclib_global/vectors");
      maker.matrix("/fclib_global/M", mass).matrix("/fclib_global/H", StoredMatrix{dofs, 0, 0, {}, {}, {}});
      maker.reals("/fclib_global/vectors/f", std::vector<double>(dofs, 0.0));
      maker.reals("/fclib_global/vectors/w", {}).reals("/fclib_global/vectors/mu", {});
    });
  };
  EXPECT_EQ(chain(50, 1.0), "");
  EXPECT_NE(chain(50, 9.0).find("not positive definite"), std::string::npos);
  EXPECT_EQ(chain(6000, 1.0), "");  // a sparse tree
  EXPECT_NE(chain(6000, 9.0).find("mass of tree 0 is not positive definite"), std::string::npos);
  EXPECT_NE(chain(6000, 1.0, 0.1).find("couples 6000 degrees of freedom"), std::string::npos);
}

TEST(Hdf5Reader, TextIsMadeUtf8) {
  EXPECT_EQ(detail::to_utf8("  plain\n"), "plain");
  EXPECT_EQ(detail::to_utf8("\xe4"), "ä");
  EXPECT_EQ(detail::to_utf8("\xc3\xa4"), "ä");
  EXPECT_EQ(detail::to_utf8("\xed\xa0\x80"), "\xc3\xad\xc2\xa0\xc2\x80");  // a surrogate is no UTF-8
  EXPECT_EQ(detail::to_utf8(" \t\n"), "");
}

}  // namespace
}  // namespace tribo
