#include "tests/support/sample_problems.h"

#include <limits>
#include <utility>

#include "tests/support/random.h"
#include "tribo/problem/contact_problem_builder.h"

namespace tribo::test {

ContactProblem mixed_problem(unsigned seed) {
  Random random(seed);
  ContactProblemBuilder builder;
  for (const Index size : {6, 1, 3, 6}) builder.add_tree(random_spd(random, size), random.vector(size));
  const auto piece = [&](Index tree, Index rows, Index dofs) {
    return JacobianPiece{tree, random.matrix(rows, dofs)};
  };
  const double infinity = std::numeric_limits<double>::infinity();

  builder.add_bilateral(std::vector{piece(0, 1, 6)}, 0.25, 0.0, 77);
  builder.add_contact(0.5, {piece(2, 3, 3), piece(0, 3, 6)}, random.vec3(), Vec3(1e-3, 2e-3, 3e-3),
                      1ull << 63);
  builder.add_box(-infinity, 2.5, std::vector{piece(1, 1, 1)}, 0.1, 1e-4);
  builder.add_contact(0.0, {piece(0, 3, 6), piece(1, 3, 1), piece(2, 3, 3)}, random.vec3());
  builder.add_unilateral(std::vector{piece(2, 1, 3), piece(1, 1, 1)}, -0.3, 0.0, 5);
  builder.add_bilateral(std::vector{piece(0, 1, 6), piece(2, 1, 3)}, 0.0, 1e-2);
  builder.add_contact(0.7, {{0, Matrix::Zero(3, 6)}, piece(2, 3, 3)});
  builder.add_box(-1.0, 1.0, std::vector{piece(0, 1, 6)});
  return builder.build();
}

DelassusSample mixed_delassus(unsigned seed, double skew) {
  Random random(seed);
  DelassusSample sample;
  const std::vector kinds{ConstraintKind::bilateral, ConstraintKind::contact,    ConstraintKind::contact,
                          ConstraintKind::box,       ConstraintKind::unilateral, ConstraintKind::contact};
  std::vector<Index> starts{0};
  for (const ConstraintKind kind : kinds) {
    ConstraintSpec spec;
    spec.kind = kind;
    spec.friction = kind == ConstraintKind::contact ? random.uniform(0.1, 1.0) : 0.0;
    if (kind == ConstraintKind::box) {
      spec.lower = -2.0;
      spec.upper = std::numeric_limits<double>::infinity();
    }
    spec.compliance.head(rows_of(kind)).setConstant(1e-3 * random.uniform(0.0, 1.0));
    spec.key = 1000 + sample.constraints.size();
    sample.constraints.push_back(spec);
    starts.push_back(starts.back() + rows_of(kind));
  }
  const Index rows = starts.back();
  Matrix w = random_spd(random, rows);
  const Matrix noise = random.matrix(rows, rows);
  w += skew * (noise - noise.transpose());
  std::vector<ScalarTriplet> triplets;
  const auto is_alone = [&](Index r) { return r >= starts[2] && r < starts[3]; };
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < rows; ++c) {
      if (is_alone(r) == is_alone(c)) triplets.push_back({r, c, w(r, c)});
    }
  }
  sample.delassus = BlockMatrix::from_triplets(starts, triplets);
  sample.q = random.vector(rows);
  return sample;
}

ContactProblem lifted_problem(unsigned seed, double skew) {
  DelassusSample sample = mixed_delassus(seed, skew);
  return lift(std::move(sample.delassus), sample.q, sample.constraints);
}

std::vector<DatSample> dat_samples() {
  // W = [10 1 2; 3 20 4; 5 6 30] in the order (n, t1, t2), by columns in dense and block storage.
  const std::string tail = "\n-1.0 2.0 3.0\n0.25\n1\n";
  const std::string banner = "CXSparse Version 4.0.4, some date.  Copyright (c) someone, 2006-2016\n";
  return {
      {"local_dense", "3\n1\n0\n3\n3\n3\t3\n10 3 5\n1 20 6\n2 4 30" + tail},
      {"local_block",
       "3\n1\n1\n3\n3\n1\n1\n1\n3\t\n3\t\n2\n1\n0\t1\t\n0\t\n0\n10\n3\n5\n1\n20\n6\n2\n4\n30" + tail},
      {"local_triplet", "3\n1\n2\n3\n3\n1\n" + banner +
                            "triplet: 3-by-3, nzmax: 10 nnz: 10\n"
                            "    0 0 : 4\n    0 0 : 6\n    0 1 : 1\n    0 2 : 2\n    1 0 : 3\n    1 1 : 20\n"
                            "    1 2 : 4\n    2 0 : 5\n    2 1 : 6\n    2 2 : 30" +
                            tail},
      {"local_csc", "3\n1\n2\n3\n3\n2\n" + banner +
                        "3-by-3, nzmax: 9 nnz: 9, 1-norm: 36\n"
                        "    col 0 : locations 0 to 2\n      0 : 10\n      1 : 3\n      2 : 5\n"
                        "    col 1 : locations 3 to 5\n      0 : 1\n      1 : 20\n      2 : 6\n"
                        "    col 2 : locations 6 to 8\n      0 : 2\n      1 : 4\n      2 : 30" +
                        tail},
      {"local_csr", "3\n1\n2\n3\n3\n3\n" + banner +
                        "3-by-3, nzmax: 9 nnz: 9, 1-norm: 36\n"
                        "    col 0 : locations 0 to 2\n      0 : 10\n      1 : 1\n      2 : 2\n"
                        "    col 1 : locations 3 to 5\n      0 : 3\n      1 : 20\n      2 : 4\n"
                        "    col 2 : locations 6 to 8\n      0 : 5\n      1 : 6\n      2 : 30" +
                        tail},
      // M = diag(1, 2, 4, 8), H 4 x 3, q, b, mu.
      {"global_dense",
       "3 1\n0 4 4\n4 4\n1 0 0 0\n0 2 0 0\n0 0 4 0\n0 0 0 8\n0 4 3\n4 3\n0 0 1 0\n1 0 0 0\n0 1 0 2\n"
       "1 2 3 4\n-0.5 0.25 0.125\n0.5\n"},
      {"global_mixed", "3 1\n1 4 4\n2 2 2\n2 4\n2 4\n3 2\n0 1 2\n0 1\n0\n1 0 0 2\n1\n4 0 0 8\n2 4 3\n0\n" +
                           banner +
                           "triplet: 4-by-3, nzmax: 4 nnz: 4\n2 0 : 1\n0 1 : 1\n1 2 : 1\n3 2 : 2\n"
                           "1 2 3 4\n-0.5 0.25 0.125\n0.5\n0\n"},
      // In the plane: W = [2 1; 1 3], order (n, t), one block.
      {"local_plane", "2\n1\n1\n2\n2\n1\n1\n1\n2\n2\n2\n1\n0 1\n0\n0\n2\n1\n1\n3\n-1 0.5\n0.9\n1\n"},
  };
}

}  // namespace tribo::test
