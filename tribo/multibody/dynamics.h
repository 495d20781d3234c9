// Mass matrix and bias forces of the trees: M(q) vdot + bias(q, v) = forces.
//
// M by the composite rigid body algorithm, one block per tree; the bias (Coriolis, centrifugal, gyroscopic and
// weight) by recursive Newton-Euler with zero acceleration. A free rigid body takes a closed form.
//
// Example
//   Dynamics dynamics(model);
//   dynamics.set_positions(kinematics);                     // composite inertias and mass blocks
//   dynamics.bias(kinematics, gravity, bias);               // needs the velocities of `kinematics`
//   dynamics.mass(tree)                                     // dense block, n_t x n_t
#pragma once

#include <vector>

#include "tribo/linalg/tree_matrix.h"
#include "tribo/multibody/kinematics.h"

namespace tribo {

class Dynamics {
 public:
  explicit Dynamics(const Model& model);

  // Mass blocks at the positions of `kinematics`, armature included. Allocation-free.
  void set_positions(const Kinematics& kinematics);
  // Dense and symmetric, column-major, n_t x n_t.
  Eigen::Map<const Matrix> mass(Index tree) const;
  // y = M v, all dofs.
  void multiply_mass(const Vector& v, Vector& y) const;

  // bias(q, v) = C(q, v) v - weight, [dofs]; `kinematics` must have its velocities set.
  void bias(const Kinematics& kinematics, const Vec3& gravity, Vector& bias);

  // vdot = M^-1 (forces - bias) with the branch-induced sparse factor, all trees; factorises M.
  // False when a tree's M is not positive definite.
  bool factorize();
  void solve_in_place(Vector& x) const;  // after factorize()

  // J: kinetic 1/2 v M v; potential - sum m g . c plus springs is the caller's matter.
  double kinetic_energy(const Vector& v) const;
  // Potential energy of the weight relative to the world origin, J.
  static double weight_energy(const Kinematics& kinematics, const Vec3& gravity);

 private:
  const Model* model_;
  std::vector<std::size_t> start_;  // [trees + 1] first entry of each block
  std::vector<double> blocks_;
  std::vector<Mat6> composite_;     // [bodies]
  std::vector<Vec6> acceleration_, force_;
  std::vector<TreeMatrix> factor_;  // of trees that are not free bodies
  std::vector<double> free_factor_; // 36 per free body
};

}  // namespace tribo
