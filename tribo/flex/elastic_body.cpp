#include "tribo/flex/elastic_body.h"

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <limits>
#include <utility>

#include "tribo/base/errors.h"

namespace tribo {

namespace {

TetMesh completed(TetMesh mesh, const std::string& name) {
  complete(mesh, name);
  return mesh;
}

}  // namespace

ElasticBody::ElasticBody(TetMesh mesh, const Elasticity& elasticity, const std::string& name)
    : mesh_(completed(std::move(mesh), name)),
      elasticity_(elasticity),
      pattern_(std::make_shared<const NodePattern>(mesh_)),
      mass_matrix_(pattern_) {
  validate(elasticity, name);
  make_elements();
  make_mass();
}

void ElasticBody::make_elements() {
  volume_.reserve(mesh_.tets.size());
  gradient_.reserve(mesh_.tets.size());
  for (const TetMesh::Tet& tet : mesh_.tets) {
    Mat3 edges;  // columns
    for (int a = 1; a < 4; ++a) edges.col(a - 1) = mesh_.nodes[tet[a]] - mesh_.nodes[tet[0]];
    const Mat3 inverse = edges.inverse();
    std::array<Vec3, 4> g;
    for (int a = 1; a < 4; ++a) g[a] = inverse.row(a - 1).transpose();
    g[0] = -(g[1] + g[2] + g[3]);
    volume_.push_back(edges.determinant() / 6.0);
    gradient_.push_back(g);
  }
}

void ElasticBody::make_mass() {
  for (Index e = 0; e < mesh_.tet_count(); ++e) {
    const double whole = elasticity_.density * volume_[e];
    for (int a = 0; a < 4; ++a) {
      if (elasticity_.mass == MassMatrix::lumped) {
        mass_matrix_.block(pattern_->place(e, a, a)).diagonal().array() += 0.25 * whole;
        continue;
      }
      for (int b = 0; b < 4; ++b) {
        if (mesh_.tets[e][a] > mesh_.tets[e][b]) continue;
        mass_matrix_.block(pattern_->place(e, a, b)).diagonal().array() += whole * (a == b ? 0.1 : 0.05);
      }
    }
  }
}

Vector ElasticBody::rest_positions() const {
  Vector x(dof_count());
  for (Index n = 0; n < node_count(); ++n) x.segment<3>(3 * n) = mesh_.nodes[n];
  return x;
}

double ElasticBody::volume() const {
  double sum = 0.0;
  for (const double v : volume_) sum += v;
  return sum;
}

// From differences of positions: far from the origin nothing is lost.
Mat3 ElasticBody::deformation(Index e, const Vector& x) const {
  const TetMesh::Tet& tet = mesh_.tets[e];
  const Vec3 first = x.segment<3>(3 * tet[0]);
  Mat3 f = Mat3::Zero();
  for (int a = 1; a < 4; ++a) f += (x.segment<3>(3 * tet[a]) - first) * gradient_[e][a].transpose();
  return f;
}

double ElasticBody::energy(const Vector& x) const {
  double sum = 0.0;
  for (Index e = 0; e < mesh_.tet_count(); ++e) {
    sum += volume_[e] * DeformedElement(elasticity_, deformation(e, x)).energy_density();
  }
  return sum;
}

void ElasticBody::add_forces(const Vector& x, Vector& force) const {
  for (Index e = 0; e < mesh_.tet_count(); ++e) {
    const Mat3 stress = volume_[e] * DeformedElement(elasticity_, deformation(e, x)).stress();
    for (int a = 0; a < 4; ++a) force.segment<3>(3 * mesh_.tets[e][a]) -= stress * gradient_[e][a];
  }
}

void ElasticBody::stiffness(const Vector& x, Tangent tangent, NodeMatrix& result) const {
  result.set_zero();
  for (Index e = 0; e < mesh_.tet_count(); ++e) {
    DeformedElement element(elasticity_, deformation(e, x));
    element.prepare(tangent);
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b < 4; ++b) {
        if (mesh_.tets[e][a] > mesh_.tets[e][b]) continue;
        result.block(pattern_->place(e, a, b)) +=
            volume_[e] * element.stiffness(gradient_[e][a], gradient_[e][b]);
      }
    }
  }
}

Vector ElasticBody::weight(const Vec3& gravity) const {
  Vector force = Vector::Zero(dof_count());
  for (Index e = 0; e < mesh_.tet_count(); ++e) {
    for (const Index n : mesh_.tets[e]) {
      force.segment<3>(3 * n) += 0.25 * elasticity_.density * volume_[e] * gravity;
    }
  }
  return force;
}

double ElasticBody::kinetic_energy(const Vector& v) const {
  Vector p = Vector::Zero(dof_count());
  mass_matrix_.add_product(1.0, v, p);
  return 0.5 * v.dot(p);
}

Vec6 ElasticBody::momentum(const Vector& x, const Vector& v) const {
  Vector p = Vector::Zero(dof_count());
  mass_matrix_.add_product(1.0, v, p);
  Vec6 sum = Vec6::Zero();
  for (Index n = 0; n < node_count(); ++n) {
    const Vec3 at = x.segment<3>(3 * n), push = p.segment<3>(3 * n);
    sum.head<3>() += push;
    sum.tail<3>() += at.cross(push);
  }
  return sum;
}

namespace {

// Nodal forces that do not balance, the size they are measured by, and the energy of body and load.
struct Imbalance {
  Vector force;
  double scale = 0.0, energy = 0.0;
  double largest() const { return force.lpNorm<Eigen::Infinity>(); }
};

Imbalance imbalance(const ElasticBody& body, const NodeFactor& factor, const Vector& load, const Vector& x) {
  Imbalance result;
  result.force = Vector::Zero(body.dof_count());
  body.add_forces(x, result.force);
  result.scale = std::max(load.lpNorm<Eigen::Infinity>(), result.force.lpNorm<Eigen::Infinity>());
  result.force += load;
  factor.clear_fixed(result.force);
  result.energy = body.energy(x) - load.dot(x);
  return result;
}

// What rounding of the positions makes of the nodal forces, N.
double rounding(const NodeMatrix& k, const Vector& x) {
  constexpr double kRounding = 8.0 * std::numeric_limits<double>::epsilon();
  double stiffest = 0.0;
  for (Index i = 0; i < k.pattern().node_count(); ++i) {
    stiffest = std::max(stiffest, k.block(k.pattern().row_begin(i)).diagonal().maxCoeff());
  }
  return kRounding * stiffest * x.lpNorm<Eigen::Infinity>();
}

}  // namespace

Equilibrium equilibrium(const ElasticBody& body, const std::vector<Index>& fixed, const Vector& load,
                        const Vector& start, double tolerance, Index max_iterations) {
  constexpr int kHalvings = 20;  // of a step that lowers neither the energy nor the residual
  if (load.size() != body.dof_count()) {
    throw InvalidInput("equilibrium: the load has another size than the body");
  }
  Equilibrium result;
  result.positions = start.size() > 0 ? start : body.rest_positions();
  NodeMatrix k(body.pattern());
  NodeFactor factor(*body.pattern(), fixed);
  Imbalance now = imbalance(body, factor, load, result.positions);
  double allowed = tolerance * now.scale;
  for (; now.largest() > allowed && result.iterations < max_iterations; ++result.iterations) {
    body.stiffness(result.positions, Tangent::exact, k);
    if (!factor.factorize(k)) {
      body.stiffness(result.positions, Tangent::positive, k);
      if (!factor.factorize(k)) break;
    }
    Vector step = now.force;
    factor.solve(step);
    Imbalance next;
    for (int halving = 0; halving <= kHalvings; ++halving, step *= 0.5) {
      next = imbalance(body, factor, load, result.positions + step);
      if (next.energy < now.energy || next.force.norm() < now.force.norm()) break;
    }
    result.positions += step;
    now = next;
    allowed = std::max(tolerance * now.scale, rounding(k, result.positions));
  }
  result.residual = now.scale > 0.0 ? now.largest() / now.scale : 0.0;
  result.converged = now.largest() <= allowed;
  return result;
}

}  // namespace tribo
