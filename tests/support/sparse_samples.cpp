#include "tests/support/sparse_samples.h"

#include <algorithm>

#include "tests/support/small_problems.h"

namespace tribo::test {
namespace {

using Triplets = std::vector<Eigen::Triplet<double>>;

Eigen::SparseMatrix<double> from_triplets(Index size, const Triplets& triplets) {
  Eigen::SparseMatrix<double> matrix(size, size);
  matrix.setFromTriplets(triplets.begin(), triplets.end());
  return matrix;
}

}  // namespace

Eigen::SparseMatrix<double> lattice_mass(Random& random, Index a, Index b, Index c, double stiffness) {
  Triplets triplets;
  const auto node = [&](Index x, Index y, Index z) { return (x * b + y) * c + z; };
  const auto couple = [&](Index p, Index q) {
    const Vec3 direction = random.vec3();
    const Mat3 spring = stiffness * (0.3 * Mat3::Identity() + direction * direction.transpose());
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 3; ++j) {
        triplets.emplace_back(3 * p + i, 3 * p + j, spring(i, j));
        triplets.emplace_back(3 * q + i, 3 * q + j, spring(i, j));
        triplets.emplace_back(3 * p + i, 3 * q + j, -spring(i, j));
        triplets.emplace_back(3 * q + i, 3 * p + j, -spring(i, j));
      }
    }
  };
  for (Index x = 0; x < a; ++x) {
    for (Index y = 0; y < b; ++y) {
      for (Index z = 0; z < c; ++z) {
        for (Index i = 0; i < 3; ++i)
          triplets.emplace_back(3 * node(x, y, z) + i, 3 * node(x, y, z) + i, 1.0);
        if (x + 1 < a) couple(node(x, y, z), node(x + 1, y, z));
        if (y + 1 < b) couple(node(x, y, z), node(x, y + 1, z));
        if (z + 1 < c) couple(node(x, y, z), node(x, y, z + 1));
        if (x + 1 < a && y + 1 < b) couple(node(x, y, z), node(x + 1, y + 1, z));
        if (y + 1 < b && z + 1 < c) couple(node(x, y, z), node(x, y + 1, z + 1));
      }
    }
  }
  return from_triplets(3 * a * b * c, triplets);
}

Eigen::SparseMatrix<double> random_sparse_spd(Random& random, Index size, double per_column) {
  Triplets triplets;
  for (Index k = 0; k < size; ++k) triplets.emplace_back(k, k, random.uniform(0.1, 1.0));
  const auto couplings = static_cast<Index>(0.5 * per_column * size);
  for (Index n = 0; n < couplings; ++n) {
    const auto i = static_cast<Index>(random.uniform(0.0, size - 1e-9));
    const auto j = static_cast<Index>(random.uniform(0.0, size - 1e-9));
    const double w = random.uniform(), v = random.uniform();
    if (i == j) continue;
    triplets.emplace_back(i, i, w * w);
    triplets.emplace_back(j, j, v * v);
    triplets.emplace_back(i, j, w * v);
    triplets.emplace_back(j, i, w * v);
  }
  return from_triplets(size, triplets);
}

Index TwinBuilder::add_sparse_tree(const Eigen::SparseMatrix<double>& mass, const Vector& momentum) {
  sizes_.push_back(static_cast<Index>(mass.rows()));
  dense_.add_tree(Matrix(mass), momentum);
  return sparse_.add_sparse_tree(mass, momentum);
}

Index TwinBuilder::add_tree(const Matrix& mass, const Vector& momentum) {
  sizes_.push_back(0);
  dense_.add_tree(mass, momentum);
  return sparse_.add_tree(mass, momentum);
}

std::vector<JacobianPiece> TwinBuilder::dense_pieces(const std::vector<JacobianPiece>& pieces) const {
  std::vector<JacobianPiece> out;
  for (const JacobianPiece& piece : pieces) {
    const Index size = sizes_[piece.tree];
    if (size == 0) {
      out.push_back(piece);
      continue;
    }
    const auto same = [&](const JacobianPiece& p) { return p.tree == piece.tree; };
    auto found = std::find_if(out.begin(), out.end(), same);
    if (found == out.end()) {
      out.push_back({piece.tree, Matrix::Zero(piece.block.rows(), size)});
      found = out.end() - 1;
    }
    found->block.middleCols(piece.first_dof, piece.block.cols()) += piece.block;
  }
  return out;
}

void TwinBuilder::add_contact(double friction, const std::vector<JacobianPiece>& pieces, const Vec3& bias,
                              const Vec3& compliance) {
  sparse_.add_contact(friction, pieces, bias, compliance);
  dense_.add_contact(friction, dense_pieces(pieces), bias, compliance);
}

void TwinBuilder::add_unilateral(const std::vector<JacobianPiece>& pieces, double bias, double compliance) {
  sparse_.add_unilateral(pieces, bias, compliance);
  dense_.add_unilateral(dense_pieces(pieces), bias, compliance);
}

void TwinBuilder::add_bilateral(const std::vector<JacobianPiece>& pieces, double bias, double compliance) {
  sparse_.add_bilateral(pieces, bias, compliance);
  dense_.add_bilateral(dense_pieces(pieces), bias, compliance);
}

void TwinBuilder::add_box(double lower, double upper, const std::vector<JacobianPiece>& pieces) {
  sparse_.add_box(lower, upper, pieces);
  dense_.add_box(lower, upper, dense_pieces(pieces));
}

TwinProblems TwinBuilder::build() { return {sparse_.build(), dense_.build()}; }

TwinProblems soft_block(unsigned seed, double compliance, Index side) {
  Random random(seed);
  TwinBuilder builder;
  const auto mass = lattice_mass(random, side, side, side, 30.0);
  Vector velocity(mass.rows());
  for (Index k = 0; k < mass.rows() / 3; ++k) velocity.segment<3>(3 * k) = Vec3(0.6, 0.1, -1.0);
  const Index block = builder.add_sparse_tree(mass, mass * velocity + 0.3 * random.vector(velocity.size()));
  const Index body = builder.add_tree(random_spd(random, 6), random.vector(6) - Vector::Unit(6, 2) * 3.0);
  const Index alone = builder.add_tree(random_spd(random, 6), random.vector(6) - Vector::Unit(6, 2) * 2.0);
  const auto first_dof = [side](Index x, Index y, Index z) { return 3 * ((x * side + y) * side + z); };
  const Vec3 soft = Vec3::Constant(compliance);
  for (Index x = 0; x < side; ++x) {
    for (Index y = 0; y < side; ++y) {
      builder.add_contact(0.4, {{block, Mat3::Identity(), {}, first_dof(x, y, 0)}}, Vec3::Zero(), soft);
    }
  }
  for (int k = 0; k < 3; ++k) {  // on the middle of a face: four nodes share the contact
    const Vec3 at(0.3 * (k - 1), 0.2 * k, -0.5);
    std::vector<JacobianPiece> pieces{{body, point_jacobian(at)}};
    for (const Index node : {first_dof(0, 0, side - 1), first_dof(1, 0, side - 1), first_dof(0, 1, side - 1),
                             first_dof(1, 1, side - 1)}) {
      pieces.push_back({block, -random.uniform(0.1, 0.4) * Mat3::Identity(), {}, node});
    }
    builder.add_contact(0.7, pieces, Vec3::Zero(), soft);
  }
  const Index tied = first_dof(1, 1, side - 1);
  for (Index r = 0; r < 2; ++r) {
    const Matrix row = point_jacobian(Vec3(0.1, 0.1, -0.4)).row(r);
    builder.add_bilateral({{body, row}, {block, -Vec3::Unit(r).transpose(), {}, tied}}, 0.0, compliance);
  }
  builder.add_unilateral({{block, Vec3(1.0, 0.0, 0.2).transpose(), {}, first_dof(side - 1, 0, 1)}}, -0.1,
                         compliance);
  builder.add_box(-0.2, 0.3, {{block, Vec3(0.0, 1.0, 0.0).transpose(), {}, first_dof(side - 1, 1, 1)}});
  builder.add_contact(0.3, {{alone, point_jacobian(Vec3(0.2, 0.1, -0.5))}}, Vec3::Zero(), soft);
  return builder.build();
}

}  // namespace tribo::test
