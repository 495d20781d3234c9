#include "tribo/flex/elastic_body.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <Eigen/Geometry>
#include <cmath>
#include <numbers>

#include "tests/support/finite_difference.h"
#include "tests/support/random.h"
#include "tribo/base/errors.h"
#include "tribo/flex/ready_meshes.h"

namespace tribo {
namespace {

constexpr std::array kLaws{ElasticLaw::linear, ElasticLaw::corotational, ElasticLaw::stvk};

Elasticity material(ElasticLaw law, double poisson = 0.3) {
  return {.law = law, .young = 1e6, .poisson = poisson, .density = 900.0};
}

// A box whose inner nodes are moved about.
TetMesh irregular_box(test::Random& random) {
  TetMesh mesh = box_mesh(Vec3(0.4, 0.3, 0.2), {3, 3, 2});
  for (Vec3& node : mesh.nodes) node += 0.01 * random.vec3();
  return mesh;
}

Vector mapped(const TetMesh& mesh, const Mat3& f, const Vec3& shift) {
  Vector x(3 * mesh.node_count());
  for (Index n = 0; n < mesh.node_count(); ++n) x.segment<3>(3 * n) = shift + f * mesh.nodes[n];
  return x;
}

Mat3 some_turn() { return Quat(0.3, 0.5, -0.7, 0.2).normalized().toRotationMatrix(); }

// The patch test: nodes of the boundary follow a linear motion; the inner ones then do, too, and every element has the same
// stress.
TEST(ElasticBody, PatchTest) {
  test::Random random(3);
  const TetMesh mesh = irregular_box(random);
  const std::vector<Index> surface = boundary_nodes(boundary(mesh));
  ASSERT_LT(static_cast<Index>(surface.size()), mesh.node_count());
  const Mat3 f = Mat3::Identity() + 0.05 * random.matrix(3, 3);
  for (const ElasticLaw law : kLaws) {
    const ElasticBody body(mesh, material(law));
    const Vector exact = mapped(mesh, f, Vec3(1, 2, 3));
    Vector start = exact;
    for (Index n = 0; n < mesh.node_count(); ++n) {
      if (!std::binary_search(surface.begin(), surface.end(), n))
        start.segment<3>(3 * n) += 0.01 * random.vec3();
    }
    const Equilibrium rest = equilibrium(body, surface, Vector::Zero(body.dof_count()), start, 1e-12);
    EXPECT_TRUE(rest.converged) << to_string(law);
    EXPECT_LT((rest.positions - exact).lpNorm<Eigen::Infinity>(), 1e-12) << to_string(law);
    const double density = DeformedElement(body.elasticity(), f).energy_density();
    EXPECT_NEAR(body.energy(rest.positions), body.volume() * density, 1e-10 * body.volume() * density);
  }
}

TEST(ElasticBody, RigidMotionsGiveNoForce) {
  test::Random random(4);
  const TetMesh mesh = irregular_box(random);
  const double unit = 1e6 * 0.4 * 0.4;  // E size^2, N
  for (const ElasticLaw law : {ElasticLaw::corotational, ElasticLaw::stvk}) {
    const ElasticBody body(mesh, material(law));
    Vector force = Vector::Zero(body.dof_count());
    const Vector moved = mapped(mesh, some_turn(), Vec3(3, -2, 5));
    body.add_forces(moved, force);
    EXPECT_LT(force.lpNorm<Eigen::Infinity>(), 1e-12 * unit) << to_string(law);
    EXPECT_LT(body.energy(moved), 1e-20 * unit * 0.4);
  }
}

// Forces of any deformation neither push nor turn the body as a whole.
TEST(ElasticBody, ForcesBalanceAndTurnNothing) {
  test::Random random(5);
  const TetMesh mesh = irregular_box(random);
  for (const ElasticLaw law : {ElasticLaw::corotational, ElasticLaw::stvk}) {
    const ElasticBody body(mesh, material(law));
    const Vector x = mapped(mesh, some_turn(), Vec3::Zero()) + 0.02 * random.vector(body.dof_count());
    Vector force = Vector::Zero(body.dof_count());
    body.add_forces(x, force);
    Vec3 push = Vec3::Zero(), turn = Vec3::Zero();
    for (Index n = 0; n < body.node_count(); ++n) {
      push += force.segment<3>(3 * n);
      turn += Vec3(x.segment<3>(3 * n)).cross(Vec3(force.segment<3>(3 * n)));
    }
    const double size = force.lpNorm<1>();
    EXPECT_LT(push.norm(), 1e-13 * size) << to_string(law);
    EXPECT_LT(turn.norm(), 1e-13 * size) << to_string(law);
  }
}

// Forces = - gradient of the energy, exact stiffness = - derivative of the forces, by central differences.
TEST(ElasticBody, DerivativesOfTheEnergy) {
  test::Random random(6);
  const TetMesh mesh = box_mesh(Vec3(0.2, 0.2, 0.2), {1, 1, 1});
  for (const ElasticLaw law : kLaws) {
    const ElasticBody body(mesh, {.law = law, .young = 10.0, .poisson = 0.3, .density = 900.0});
    const Vector x = mapped(mesh, some_turn(), Vec3(1, 0, 0)) + 0.01 * random.vector(body.dof_count());
    const auto energy = [&](const Vector& at) { return Vector(Vector::Constant(1, body.energy(at))); };
    const auto forces = [&](const Vector& at) {
      Vector f = Vector::Zero(body.dof_count());
      body.add_forces(at, f);
      return f;
    };
    test::expect_jacobian(
        energy, [&](const Vector& at) { return Matrix(-forces(at).transpose()); }, x, 1e-9);
    test::expect_jacobian(
        forces,
        [&](const Vector& at) {
          NodeMatrix k(body.pattern());
          body.stiffness(at, Tangent::exact, k);
          return Matrix(-k.to_dense());
        },
        x, 1e-8);
  }
}

TEST(ElasticBody, PositiveStiffnessHasNoNegativeEigenvalueAndIsExactAtRest) {
  test::Random random(7);
  const TetMesh mesh = box_mesh(Vec3(0.2, 0.2, 0.2), {1, 1, 1});
  for (const ElasticLaw law : kLaws) {
    const ElasticBody body(mesh, material(law));
    NodeMatrix k(body.pattern()), exact(body.pattern());
    const Vector turned = mapped(mesh, some_turn(), Vec3::Zero());
    const Vector at_rest = law == ElasticLaw::linear ? body.rest_positions() : turned;
    body.stiffness(at_rest, Tangent::positive, k);
    body.stiffness(at_rest, Tangent::exact, exact);
    const double size = k.to_dense().cwiseAbs().maxCoeff();
    EXPECT_LT((k.to_dense() - exact.to_dense()).cwiseAbs().maxCoeff(), 1e-12 * size);
    double least_exact = 0.0;
    for (int trial = 0; trial < 10; ++trial) {  // squeezed, some inside out
      const Vector x = mapped(mesh, 0.5 * some_turn(), Vec3::Zero()) + 0.1 * random.vector(body.dof_count());
      body.stiffness(x, Tangent::positive, k);
      const Vector values = Eigen::SelfAdjointEigenSolver<Matrix>(k.to_dense()).eigenvalues();
      EXPECT_GT(values[0], -1e-10 * values[values.size() - 1]) << to_string(law);
      body.stiffness(x, Tangent::exact, exact);
      least_exact = std::min(least_exact,
                             Eigen::SelfAdjointEigenSolver<Matrix>(exact.to_dense()).eigenvalues()[0] / size);
    }
    EXPECT_TRUE(law == ElasticLaw::linear || least_exact < -1e-3) << least_exact;
  }
}

TEST(ElasticBody, PolarRotation) {
  test::Random random(8);
  for (int trial = 0; trial < 200; ++trial) {
    const Mat3 f = random.matrix(3, 3);
    const Mat3 r = polar_rotation(f), s = r.transpose() * f;
    EXPECT_NEAR(r.determinant(), 1.0, 1e-13);
    EXPECT_LT((r.transpose() * r - Mat3::Identity()).norm(), 1e-13);
    EXPECT_LT((s - s.transpose()).norm(), 1e-12);
  }
  EXPECT_NEAR(polar_rotation(Mat3::Zero()).determinant(), 1.0, 1e-14);
  EXPECT_EQ(polar_rotation(Mat3::Constant(std::nan(""))), Mat3(Mat3::Identity()));
}

// Mass, momentum and kinetic energy of a turning box against its inertia.
TEST(ElasticBody, MassAndInertiaOfABox) {
  const Vec3 size(0.4, 0.3, 0.2), omega(1, -2, 3), speed(4, 5, 6);
  const TetMesh mesh = box_mesh(size, {4, 3, 2});
  const ElasticBody body(mesh, material(ElasticLaw::corotational));
  const double mass = 900.0 * 0.4 * 0.3 * 0.2;
  EXPECT_NEAR(body.mass(), mass, 1e-12);
  const Vec3 square = size.cwiseProduct(size);
  const Vec3 inertia =
      mass / 12.0 * Vec3(square[1] + square[2], square[0] + square[2], square[0] + square[1]);
  Vector v(body.dof_count());
  for (Index n = 0; n < mesh.node_count(); ++n) v.segment<3>(3 * n) = speed + omega.cross(mesh.nodes[n]);
  EXPECT_NEAR(body.kinetic_energy(v),
              0.5 * mass * speed.squaredNorm() + 0.5 * omega.dot(inertia.cwiseProduct(omega)), 1e-11);
  const Vec6 momentum = body.momentum(body.rest_positions(), v);
  EXPECT_LT((momentum.head<3>() - mass * speed).norm(), 1e-11);
  EXPECT_LT((momentum.tail<3>() - inertia.cwiseProduct(omega)).norm(), 1e-11);
  const Vec3 weight = body.weight(Vec3(0, 0, -9.81)).reshaped(3, mesh.node_count()).rowwise().sum();
  EXPECT_LT((weight - Vec3(0, 0, -9.81 * mass)).norm(), 1e-11);
  Elasticity lumped = material(ElasticLaw::corotational);
  lumped.mass = MassMatrix::lumped;
  const Matrix m = ElasticBody(mesh, lumped).mass_matrix().to_dense();
  EXPECT_NEAR(m.trace(), 3.0 * mass, 1e-11);
  EXPECT_EQ((m - Matrix(m.diagonal().asDiagonal())).norm(), 0.0);
}

// Deflection under loads at the nodes of one column of a bar, whose left end is held where `fixed` says.
double deflection(const TetMesh& mesh, const Elasticity& e, const std::vector<Index>& fixed,
                  const std::vector<Index>& loaded, double force) {
  const ElasticBody body(mesh, e);
  Vector load = Vector::Zero(body.dof_count());
  for (const Index n : loaded) load[3 * n + 2] = -force / static_cast<double>(loaded.size());
  const Equilibrium rest = equilibrium(body, fixed, load);
  EXPECT_TRUE(rest.converged);
  double sum = 0.0;
  for (const Index n : loaded) sum += mesh.nodes[n].z() - rest.positions[3 * n + 2];
  return sum / static_cast<double>(loaded.size());
}

// Linear tetrahedra are too stiff in bending; the error falls with the square of their size. nu = 0, so that the beam is that
// of Timoshenko: F L^3 / (3 E I) + F L / (5/6 G A).
TEST(ElasticBody, CantileverAgainstBeamTheory) {
  const double length = 1.0, edge = 0.2, force = 1.0, young = 1e6;
  const double area = edge * edge, inertia = area * area / 12.0;
  const double theory = force * length * length * length / (3.0 * young * inertia) +
                        force * length / (5.0 / 6.0 * 0.5 * young * area);
  std::vector<double> error;
  for (const Index n : {2, 4, 6}) {
    const TetMesh mesh = box_mesh(Vec3(length, edge, edge), {5 * n, n, n});
    const double found = deflection(mesh, material(ElasticLaw::linear, 0.0),
                                    nodes_on_plane(mesh, Vec3(-0.5, 0, 0), Vec3::UnitX(), 1e-9),
                                    nodes_on_plane(mesh, Vec3(0.5, 0, 0), Vec3::UnitX(), 1e-9), force);
    error.push_back(1.0 - found / theory);
  }
  EXPECT_GT(error[1], 0.0);
  EXPECT_LT(error[2], 0.1);
  const double order = std::log(error[1] / error[2]) / std::log(6.0 / 4.0);
  EXPECT_NEAR(order, 2.0, 0.35) << error[0] << " " << error[1] << " " << error[2];
}

// Half of a beam on two supports that is pressed in the middle, F L^3 / (48 E I) + F L / (4 (5/6) G A): a cantilever of half
// the length under half the load. Corotational, at a deflection so small that it is linear.
TEST(ElasticBody, ThreePointBendingAgainstBeamTheory) {
  const double span = 2.0, edge = 0.2, force = 1.0, young = 1e6;
  const double area = edge * edge, inertia = area * area / 12.0;
  const double theory = force * span * span * span / (48.0 * young * inertia) +
                        force * span / (4.0 * 5.0 / 6.0 * 0.5 * young * area);
  std::vector<double> error;
  for (const Index n : {2, 4}) {
    const TetMesh mesh = box_mesh(Vec3(span, edge, edge), {10 * n, n, n});
    const std::vector<Index> middle = nodes_on_plane(mesh, Vec3::Zero(), Vec3::UnitX(), 1e-9);
    const ElasticBody body(mesh, material(ElasticLaw::corotational, 0.0));
    Vector load = Vector::Zero(body.dof_count());
    std::vector<Index> ends = nodes_on_plane(mesh, Vec3(-1, 0, 0), Vec3::UnitX(), 1e-9);
    const std::vector<Index> right = nodes_on_plane(mesh, Vec3(1, 0, 0), Vec3::UnitX(), 1e-9);
    ends.insert(ends.end(), right.begin(), right.end());
    // Pressed up at the ends, held in the middle.
    for (const Index node : ends) load[3 * node + 2] = 1e-3 * force / static_cast<double>(ends.size());
    const Equilibrium rest = equilibrium(body, middle, load);
    ASSERT_TRUE(rest.converged);
    double found = 0.0;
    for (const Index node : ends) found += rest.positions[3 * node + 2] - mesh.nodes[node].z();
    error.push_back(1.0 - 1e3 * found / static_cast<double>(ends.size()) / theory);
  }
  EXPECT_LT(error[1], 0.2);
  EXPECT_GT(error[0] / error[1], 2.0) << error[0] << " " << error[1];
}

// Lowest eigenvalue of K x = omega^2 M x by inverse iteration, as a frequency.
double first_frequency(const ElasticBody& body, const std::vector<Index>& fixed, const Vector& start) {
  NodeMatrix k(body.pattern());
  body.stiffness(body.rest_positions(), Tangent::exact, k);
  NodeFactor factor(*body.pattern(), fixed);
  EXPECT_TRUE(factor.factorize(k));
  Vector x = start;
  double omega2 = 0.0;
  for (int iteration = 0; iteration < 40; ++iteration) {
    Vector next = Vector::Zero(body.dof_count());
    body.mass_matrix().add_product(1.0, x, next);
    factor.solve(next);
    omega2 = x.dot(next) > 0.0 ? x.norm() / next.norm() : 0.0;
    x = next / next.norm();
  }
  return std::sqrt(omega2) / (2.0 * std::numbers::pi);
}

// Fixed-free bar: along its axis sqrt(E / rho) / (4 L), across 1.8751^2 / (2 pi L^2) sqrt(E I / (rho A)).
TEST(ElasticBody, FirstFrequenciesOfABar) {
  const double length = 1.0, edge = 0.1, wave = std::sqrt(1e6 / 900.0);
  const TetMesh thin = box_mesh(Vec3(length, edge, edge), {20, 1, 1});
  const ElasticBody bar(thin, material(ElasticLaw::corotational, 0.0));
  std::vector<Index> left = nodes_on_plane(thin, Vec3(-0.5, 0, 0), Vec3::UnitX(), 1e-9);
  // Only along x: one node per section would bend; the axial mode is found from its own shape, to which M K^-1 keeps when
  // nu = 0, as long as rounding has not let bending grow.
  Vector axial = Vector::Zero(bar.dof_count());
  for (Index n = 0; n < thin.node_count(); ++n) {
    axial[3 * n] = std::sin(0.5 * std::numbers::pi * (thin.nodes[n].x() + 0.5));
  }
  NodeMatrix k(bar.pattern());
  bar.stiffness(bar.rest_positions(), Tangent::exact, k);
  Vector elastic = Vector::Zero(bar.dof_count()), inertial = elastic;
  k.add_product(1.0, axial, elastic);
  bar.mass_matrix().add_product(1.0, axial, inertial);
  const double found = std::sqrt(axial.dot(elastic) / axial.dot(inertial)) / (2.0 * std::numbers::pi);
  EXPECT_NEAR(found, wave / (4.0 * length), 2e-3 * wave / (4.0 * length));

  const double theory = 1.875104 * 1.875104 / (2.0 * std::numbers::pi) * wave * edge / std::sqrt(12.0);
  std::vector<double> error;
  for (const Index n : {2, 4}) {
    const TetMesh mesh = box_mesh(Vec3(length, edge, edge), {10 * n, n, n});
    const ElasticBody body(mesh, material(ElasticLaw::corotational, 0.0));
    left = nodes_on_plane(mesh, Vec3(-0.5, 0, 0), Vec3::UnitX(), 1e-9);
    Vector start = Vector::Zero(body.dof_count());
    for (Index node = 0; node < mesh.node_count(); ++node) start[3 * node + 2] = mesh.nodes[node].x() + 0.5;
    error.push_back(first_frequency(body, left, start) / theory - 1.0);
  }
  EXPECT_GT(error[0], error[1]);
  EXPECT_LT(error[1], 0.12);
  EXPECT_GT(error[0] / error[1], 2.5) << error[0] << " " << error[1];
}

TEST(ElasticBody, EquilibriaWithLargeTurnsConverge) {
  const TetMesh mesh = box_mesh(Vec3(1.0, 0.1, 0.1), {10, 1, 1});
  const std::vector<Index> held = nodes_on_plane(mesh, Vec3(-0.5, 0, 0), Vec3::UnitX(), 1e-9);
  for (const ElasticLaw law : {ElasticLaw::corotational, ElasticLaw::stvk}) {
    const ElasticBody body(mesh, material(law));
    const Equilibrium rest = equilibrium(body, held, body.weight(Vec3(0, 0, -9.81)));
    EXPECT_TRUE(rest.converged) << rest.residual;
    EXPECT_GT(rest.iterations, 2);
    // Volumes of turned elements stay what they were to a few per cent.
    double least = 1e300;
    for (Index e = 0; e < mesh.tet_count(); ++e) {
      least = std::min(least, body.deformation(e, rest.positions).determinant());
    }
    EXPECT_GT(least, 0.9);
  }
}

TEST(ElasticBody, BadFieldsAreNamed) {
  const TetMesh mesh = box_mesh(Vec3::Ones(), {1, 1, 1});
  const auto message = [&](const Elasticity& e) {
    try {
      ElasticBody body(mesh, e);
    } catch (const InvalidInput& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({}), "");
  EXPECT_NE(message({.young = -1.0}).find("young"), std::string::npos);
  EXPECT_NE(message({.poisson = 0.5}).find("poisson"), std::string::npos);
  EXPECT_NE(message({.density = 0.0}).find("density"), std::string::npos);
  EXPECT_NE(message({.mass_damping = -1.0}).find("mass_damping"), std::string::npos);
  EXPECT_NE(message({.stiffness_damping = std::nan("")}).find("stiffness_damping"), std::string::npos);
  EXPECT_THROW(elastic_law_from_name("rubber"), InvalidInput);
  for (const ElasticLaw law : kLaws) EXPECT_EQ(elastic_law_from_name(to_string(law)), law);
}

}  // namespace
}  // namespace tribo
