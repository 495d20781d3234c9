// Mass matrix and bias forces of the trees: M(q) vdot + bias(q, v) = forces.
//
// M by the composite rigid body algorithm, packed along the branches; the bias (Coriolis, centrifugal, gyroscopic and
// weight) by recursive Newton-Euler with zero acceleration. Bodies welded together count as one. A free rigid body
// takes a closed form in which only one 3 x 3 block turns with the body, or nothing when its frame sits at the
// centre of mass.
//
// Example
//   Dynamics dynamics(model);
//   dynamics.set_positions(kinematics);                     // composite inertias and mass blocks
//   dynamics.bias(kinematics, gravity, bias);               // needs the velocities of `kinematics`
//   dynamics.mass(tree)                                     // dense, n_t x n_t; packed: tree_mass, body_mass
#pragma once

#include <vector>

#include "tribo/linalg/tree_matrix.h"
#include "tribo/multibody/kinematics.h"
#include "tribo/multibody/spatial.h"

namespace tribo {

class Dynamics {
 public:
  explicit Dynamics(const Model& model);

  // Mass blocks at the positions of `kinematics`, armature included. Allocation-free.
  void set_positions(const Kinematics& kinematics);
  // M of one tree, n_t x n_t, as it is kept: of a free body (Model::is_free_body) column-major, of others packed.
  const double* body_mass(Index tree) const { return bodies_.data() + 36 * tree_item_[tree]; }
  const TreeMatrix& tree_mass(Index tree) const { return chains_[tree_item_[tree]].mass; }
  // Dense; where it lies already, or else written to `storage` [n_t^2], column-major.
  const double* dense_mass(Index tree, double* storage) const;
  Matrix mass(Index tree) const;
  double mass_diagonal(Index tree, Index dof) const;  // dof: within the tree
  // y = M v, all dofs.
  void multiply_mass(const Vector& v, Vector& y) const;

  // bias(q, v) = C(q, v) v - weight, [dofs]; `kinematics` must have its velocities set.
  void bias(const Kinematics& kinematics, const Vec3& gravity, Vector& bias);

  // vdot = M^-1 (forces - bias) with the branch-induced sparse factor, all trees; factorises M.
  // False when a tree's M is not positive definite.
  bool factorize();
  void solve_in_place(Vector& x) const;  // after factorize()
  // The dofs of one tree alone, [n_t]. Free bodies need no factorize().
  void solve_tree_in_place(Index tree, double* x) const;

  // J: kinetic 1/2 v M v; potential - sum m g . c plus springs is the caller's matter.
  double kinetic_energy(const Vector& v) const;
  // Potential energy of the weight relative to the world origin, J.
  static double weight_energy(const Kinematics& kinematics, const Vec3& gravity);

 private:
  // A body with joints and everything welded to it.
  struct Link {
    Index body, parent;  // parent: a link, -1 at the root
    Index dof, dof_end;
    RigidInertia inertia;  // in the frame of the body
  };
  // A tree that is not a free body.
  struct Chain {
    Index link_begin = 0, link_end = 0;
    bool floating = false;  // hangs on a free joint
    TreeMatrix mass, factor;
  };
  struct FreeBody {
    double mass = 0.0, inverse_mass = 0.0;   // the inverse with the armature
    Vec3 moment = Vec3::Zero();              // mass times centre, body axes
    Mat3 rotational = Mat3::Zero();          // about the frame's origin, body axes
    Mat3 inverse_rotational = Mat3::Zero();  // of the Schur complement
    bool centered = true, definite = false;
  };

  void add_links(Index tree);
  void prepare_free(Index tree);
  void set_tree_mass(const Kinematics& kinematics, Index tree);
  void free_bias(const Kinematics& kinematics, const Vec3& gravity, Index tree, Vector& bias) const;
  void tree_bias(const Kinematics& kinematics, const Vec3& gravity, Index tree, Vector& bias);

  const Model* model_;
  Numbers bodies_;                // [free bodies x 36] their M
  std::vector<Index> tree_item_;  // [trees] into free_ or chains_
  std::vector<FreeBody> free_;
  std::vector<Chain> chains_;
  std::vector<Link> links_;
  std::vector<SpatialInertia> inertia_, composite_;  // [links] at the tree's origin
  std::vector<Vec6> force_;                          // [links]
};

}  // namespace tribo
