// A mesh of linear tetrahedra with an elastic law and a mass: energy, nodal forces, stiffness, momentum. Positions x and
// velocities v are vectors [3 x nodes], m and m/s; at the nodes of the mesh the body is at rest.
//
//   F = sum_a x_a g_a^T,   E = sum_e V_e Psi(F_e),   f_a = -sum_e V_e P_e g_a,   K = -df/dx   (flex/elasticity.h)
//   M: consistent or lumped,   damping force -(alpha M + beta K) v
//
// Cost: some 0.5 us per element for forces, 1 us for the stiffness.
//
// Example: how far a bar that is held at one end sags.
//   TetMesh mesh = box_mesh(Vec3(1.0, 0.1, 0.1), {40, 4, 4});
//   ElasticBody bar(mesh, {.young = 1e7, .poisson = 0.3, .density = 1000.0});
//   Vector weight = bar.weight(Vec3(0, 0, -9.81));
//   Equilibrium rest = equilibrium(bar, nodes_on_plane(mesh, Vec3(-0.5, 0, 0), Vec3::UnitX(), 1e-9), weight);
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tribo/flex/elasticity.h"
#include "tribo/flex/node_matrix.h"
#include "tribo/flex/tet_mesh.h"

namespace tribo {

class ElasticBody {
 public:
  // Completes the mesh (tet_mesh.h). InvalidInput, beginning with `name`, where mesh or elasticity cannot be used.
  ElasticBody(TetMesh mesh, const Elasticity& elasticity, const std::string& name = "the elastic body");

  const TetMesh& mesh() const { return mesh_; }
  const Elasticity& elasticity() const { return elasticity_; }
  const std::shared_ptr<const NodePattern>& pattern() const { return pattern_; }
  Index node_count() const { return mesh_.node_count(); }
  Index dof_count() const { return 3 * mesh_.node_count(); }
  Vector rest_positions() const;
  double volume() const;                                          // m^3
  double mass() const { return elasticity_.density * volume(); }  // kg

  // How element e is deformed.
  Mat3 deformation(Index e, const Vector& x) const;
  double energy(const Vector& x) const;                   // J, elastic
  void add_forces(const Vector& x, Vector& force) const;  // N
  // K, N/m.
  void stiffness(const Vector& x, Tangent tangent, NodeMatrix& result) const;
  const NodeMatrix& mass_matrix() const { return mass_matrix_; }  // kg
  // Of a uniform acceleration [m/s^2], N; the consistent and the lumped one are the same.
  Vector weight(const Vec3& gravity) const;

  double kinetic_energy(const Vector& v) const;  // J
  // Linear [N s] and angular about the origin [N m s].
  Vec6 momentum(const Vector& x, const Vector& v) const;

 private:
  void make_elements();
  void make_mass();

  TetMesh mesh_;
  Elasticity elasticity_;
  std::shared_ptr<const NodePattern> pattern_;
  std::vector<double> volume_;                 // [tets] m^3
  std::vector<std::array<Vec3, 4>> gradient_;  // [tets] of the shape functions, 1/m
  NodeMatrix mass_matrix_;
};

struct Equilibrium {
  Vector positions;  // [3 x nodes]
  bool converged =
      false;  // the residual is below the tolerance, or below what rounding of the positions makes of it
  double residual = 0.0;  // largest nodal force left, relative to the largest load or nodal elastic force
  Index iterations = 0;
};

// Where elastic forces balance the load [3 x nodes], N, with the fixed nodes where they are in `start` (empty: the rest
// positions): Newton's method with halved steps, the exact tangent where it is positive definite. Linear bodies take one step.
// Without fixed nodes the body is free and there is none.
Equilibrium equilibrium(const ElasticBody& body, const std::vector<Index>& fixed, const Vector& load,
                        const Vector& start = {}, double tolerance = 1e-10, Index max_iterations = 100);

}  // namespace tribo
