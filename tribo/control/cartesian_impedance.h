// Cartesian impedance of a frame on a body, by resolved inverse dynamics of the tree it belongs to.
//
// With J the Jacobian of the controlled directions, Lambda = (J M^-1 J^T)^-1 their inertia, e = x_ref - x (rotations: the
// rotation vector in world axes),
//   F   = Lambda (a_ref - Jdot v) + D (v_ref - J v) + K e
//   tau = J^T F + weight + coriolis + (1 - J^T Lambda J M^-1) tau_0,     tau_0 = K_0 (q_0 - q) - D_0 v
// so that Lambda (a - a_ref) + D (J v - v_ref) + K (x - x_ref) = the force from outside: a steady push F displaces by F / K,
// and the posture tau_0 of a redundant arm moves nothing at the frame. D is chosen so that every mode of (Lambda, K) has the
// damping ratio `damping_ratio`: with Lambda = L L^T, D = 2 zeta L (L^-1 K L^-T)^(1/2) L^T.
//
// Near a singular pose J M^-1 J^T is inverted with its smallest eigenvalue held up to `kSingular` of the largest one: forces
// stay bounded, and the frame gives way in the direction in which it cannot move.
#pragma once

#include <array>
#include <vector>

#include "tribo/control/trajectory.h"
#include "tribo/multibody/dynamics.h"
#include "tribo/sim/world.h"

namespace tribo {

struct CartesianImpedanceSettings {
  Index body = 0;
  Vec3 point = Vec3::Zero();                              // of the frame's origin, in the body's frame, m
  Vec6 stiffness = Vec6::Constant(0.0);                   // N/m (x, y, z), N m/rad; world axes, >= 0
  std::array<bool, 6> controlled{1, 1, 1, 1, 1, 1};       // directions; others are left to the posture
  double damping_ratio = 1.0;                             // zeta, >= 0
  double posture_stiffness = 0.0, posture_damping = 0.0;  // K_0, D_0, of hinges and slides
  std::vector<Index> posture_joints = {};                 // the joints they act on; empty: all of the tree
  Vector posture = {};                                    // [coordinates] q_0; empty: the model's reference
  Vector efforts = {};                                    // [dofs] largest |tau|; empty: no limit
};

class CartesianImpedance {
 public:
  // Keeps a reference to the world. InvalidInput when the body is fixed, a size does not fit or a gain is negative.
  CartesianImpedance(const World& world, CartesianImpedanceSettings settings);

  // sum += tau on the dofs of the tree, [dofs]; `force`: from outside what the frame should press with besides, N and N m.
  void add_force(const Kinematics& kinematics, const State& state, const PoseReference& target, Vector& sum,
                 const Vec6& force = Vec6::Zero());
  // Where the frame is.
  Pose pose(const Kinematics& kinematics) const;
  // Rows and columns of the controlled directions, after add_force().
  const Matrix& inertia() const { return inertia_; }
  const Matrix& damping() const { return damping_; }

 private:
  void set_inertia(const Matrix& mobility);

  const World* world_;
  CartesianImpedanceSettings settings_;
  std::vector<Index> rows_;          // controlled directions
  std::vector<bool> keeps_posture_;  // [joints]
  Dynamics dynamics_;
  Matrix inertia_, damping_;
};

}  // namespace tribo
