#include "tests/support/small_problems.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/random.h"
#include "tribo/math/cone.h"
#include "tribo/problem/contact_problem_builder.h"

namespace tribo::test {

ContactProblem point_on_slope(double angle, double mu, double weight_impulse, double mass) {
  ContactProblemBuilder builder;
  const Vec3 momentum = weight_impulse * Vec3(std::sin(angle), 0.0, -std::cos(angle));
  const Index body = builder.add_tree(mass * Mat3::Identity(), momentum);
  builder.add_contact(mu, {{body, Mat3::Identity()}});
  return builder.build();
}

Matrix point_jacobian(const Vec3& at) {
  Matrix j = Matrix::Zero(3, 6);
  j.leftCols<3>().setIdentity();
  j.rightCols<3>() << 0, at[2], -at[1], -at[2], 0, at[0], at[1], -at[0], 0;
  return j;
}

ContactProblem cube_on_slope(double angle, double mu, double mass) {
  ContactProblemBuilder builder;
  Matrix inertia = Matrix::Identity(6, 6) * mass;
  inertia.bottomRightCorner<3, 3>() *= 1.0 / 6.0;
  Vector momentum = Vector::Zero(6);
  momentum.head<3>() = mass * Vec3(std::sin(angle), 0.0, -std::cos(angle));
  const Index body = builder.add_tree(inertia, momentum);
  for (const double x : {-0.5, 0.5}) {
    for (const double y : {-0.5, 0.5}) builder.add_contact(mu, {{body, point_jacobian(Vec3(x, y, -0.5))}});
  }
  return builder.build();
}

void expect_slope_impulses(const Vector& impulse, double angle, double mu, double mass) {
  Vec3 sum = Vec3::Zero();
  for (Index i = 0; i < 4; ++i) sum += impulse.segment<3>(3 * i);
  const double normal = mass * std::cos(angle);
  EXPECT_NEAR(sum[2], normal, 1e-8);
  EXPECT_NEAR(sum[0], -std::min(mu * normal, mass * std::sin(angle)), 1e-8);
  EXPECT_NEAR(sum[1], 0.0, 1e-8);
}

ContactProblem all_kinds(unsigned seed, double compliance, Index contacts, double mu) {
  Random random(seed);
  ContactProblemBuilder builder;
  const std::vector<Index> sizes = {3, 6, 6, 9};
  for (const Index size : sizes) builder.add_tree(random_spd(random, size), random.vector(size));
  const auto pieces = [&](Index rows, Index k) {
    std::vector<JacobianPiece> out;
    const Index first = k % 4, second = (k + 1 + k / 4 % 3) % 4;
    out.push_back({first, random.matrix(rows, sizes[first])});
    if (k % 3 != 0 && second != first) out.push_back({second, random.matrix(rows, sizes[second])});
    return out;
  };
  for (Index k = 0; k < contacts; ++k) {
    const Vec3 r = compliance * Vec3(0.2, 0.2, 0.3);
    builder.add_contact(mu + 0.02 * static_cast<double>(k), pieces(3, k), random.vec3(), r);
    if (k % 3 == 0) builder.add_unilateral(pieces(1, k + 1), random.uniform(), 0.2 * compliance);
    if (k % 4 == 1) builder.add_bilateral(pieces(1, k + 2), random.uniform(), 0.2 * compliance);
    if (k % 4 == 2) builder.add_box(-0.05, 0.1, pieces(1, k + 3), random.uniform(), 0.2 * compliance);
  }
  return builder.build();
}

ContactProblem robots_in_a_row(const std::vector<Index>& sizes, unsigned seed, int own, Index untouched) {
  Random random(seed);
  ContactProblemBuilder builder;
  for (const Index size : sizes) builder.add_tree(random_spd(random, size), random.vector(size));
  const auto piece = [&](Index t) {
    Matrix block = random.matrix(3, sizes[t]);
    block.leftCols(untouched).setZero();
    return JacobianPiece{t, block};
  };
  const auto trees = static_cast<Index>(sizes.size());
  for (Index t = 0; t < trees; ++t) {
    for (int k = 0; k < own; ++k) builder.add_contact(0.5, {piece(t)}, random.vec3());
    if (t + 1 < trees) builder.add_contact(0.5, {piece(t), piece(t + 1)}, random.vec3());
  }
  return builder.build();
}

Matrix dense_delassus(const ContactProblem& problem) {
  const Index rows = problem.row_count();
  Matrix w(rows, rows);
  Vector v, u, q;
  problem.velocity_of(Vector::Zero(rows), v, q);
  for (Index j = 0; j < rows; ++j) {
    problem.velocity_of(Vector::Unit(rows, j), v, u);
    w.col(j) = u - q;
  }
  return w;
}

void project(const ContactProblem& problem, Vector& x) {
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Index row = problem.row(i);
    switch (problem.kind(i)) {
      case ConstraintKind::contact:
        x.segment<3>(row) = project_cone(Vec3(x.segment<3>(row)), problem.friction(i));
        break;
      case ConstraintKind::unilateral:
        x[row] = project_orthant(x[row]);
        break;
      case ConstraintKind::bilateral:
        break;
      case ConstraintKind::box:
        x[row] = project_box(x[row], problem.lower(i), problem.upper(i));
        break;
    }
  }
}

Vector dense_reference(const ContactProblem& problem, Law law, int iterations) {
  Matrix w = dense_delassus(problem);
  w.diagonal() += problem.compliance();
  const double rho = 1.0 / w.rowwise().lpNorm<1>().maxCoeff();
  Vector x = Vector::Zero(problem.row_count());
  for (int k = 0; k < iterations; ++k) {
    Vector u = w * x + problem.free_velocity();
    for (Index i = 0; law == Law::exact && i < problem.constraint_count(); ++i) {
      if (problem.kind(i) != ConstraintKind::contact) continue;
      u.segment<3>(problem.row(i)) += de_saxce(Vec3(u.segment<3>(problem.row(i))), problem.friction(i));
    }
    x -= rho * u;
    project(problem, x);
  }
  return x;
}

}  // namespace tribo::test
