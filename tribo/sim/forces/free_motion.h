// Stage one of a step: the motion without constraints, A (v - v*) = J^T lambda linearised about it.
//
// theta-method of Castro et al. (2022) sec. II-C, D with k = k1 + k2, k1 springs, dampers and drives, k2 the rest:
//   M(q_th) (v - v0) = h k(q_th, v_th),  q_th = q0 + theta h v_tvq,  v_th = theta v + (1 - theta) v0      (7)
//   A = M + theta theta_vq h^2 K + theta h D                                                             (15)
//   q = q0 + h v_tvq,  v_tvq = theta_vq v + (1 - theta_vq) v0                                            (12)
//
// | scheme           | theta | theta_vq | order |                                                         |
// | symplectic Euler | 0     | 1        | 1     | k1 except soft springs as with theta = 1                 |
// | implicit Euler   | 1     | 1        | 1     |                                                         |
// | midpoint         | 1/2   | 1/2      | 2     |                                                         |
//
// In the symplectic scheme damping and drives are implicit, and springs are where the step does not resolve
// their period (h^2 k > inertia / 4): then they would be unstable. The gyroscopic torque of a free body is taken
// at the middle of the step, which keeps its energy and the length of its angular momentum.
#pragma once

#include <array>

#include "tribo/multibody/dynamics.h"
#include "tribo/sim/assembly/joint_constraints.h"
#include "tribo/sim/assembly/tree_roots.h"

namespace tribo {

enum class Scheme : std::uint8_t { symplectic_euler, implicit_euler, midpoint };
std::string_view to_string(Scheme scheme);
Scheme scheme_from_name(std::string_view name);  // InvalidInput lists the names
double theta_of(Scheme scheme);                  // where in the step the forces are taken, 0 .. 1
double theta_vq(Scheme scheme);                  // weight of the new velocity in the motion of the step

class FlexibleMotion;  // sim/flex/flexible_motion.h

// A v = b + J^T lambda of a step: what the problems are made of.
struct TreeMotion {
  std::vector<const double*> matrix;  // [trees] A_t, dense, column-major; FreeMotion: see write_matrices
  Vector momentum;                    // b = A v*
  Vector velocity;                    // v*
  const TreeRoots* roots = nullptr;   // of the matrices, where they are known, ...
  Vector unit_momentum;               // ... and the momentum in their coordinates, L^-T b
  const FlexibleMotion* flexible =
      nullptr;  // of the flexible bodies, trees behind those of the model; null: none
};

class FreeMotion {
 public:
  FreeMotion(const World& world, const JointConstraints& joints);

  // `kinematics` and `dynamics` hold positions, velocities and mass at the state; `input`: of the actuators
  // (sim/forces/activation.h); `applied`: forces [dofs].
  void compute(const State& state, const Kinematics& kinematics, Dynamics& dynamics, const Vector& input,
               const Vector& applied, Scheme scheme, double h);

  const TreeMotion& motion() const { return motion_; }
  // From now on the motion has flexible bodies, too, computed by their owner.
  void set_flexible(const FlexibleMotion* flexible) { motion_.flexible = flexible; }
  // The matrices of the last compute(), for who wants them and not their roots; its `dynamics` must still be the same.
  void write_matrices();

  Index dof_count(Index tree) const { return world_->model.tree_dof_count(tree); }
  // x <- A_t^-1 x for the dofs of one tree.
  void solve_tree(Index tree, double* x) const { roots_.solve(tree, x); }
  // Energy in the springs of joints and tendons, J.
  double spring_energy(const Vector& q) const;
  // What a displacement [dofs] adds to it, J: first order in it, exact for linear springs where q is its middle.
  double spring_work(const Vector& q, const Vector& displacement);

 private:
  void implicit_terms(const Dynamics& dynamics, const Vector& input, double h, Scheme scheme);
  void set_matrix(const Dynamics& dynamics);
  void set_unit_momentum();
  void smooth_forces(const Kinematics& kinematics, const Vector& q, const Vector& v, const Vector& linear_v,
                     const Vector& input, const Vector& applied);
  using Stretch = std::array<double, 6>;  // by dof of a joint, others 0; m or rad
  Stretch stretch(Index joint, const Vector& q) const;
  void add_springs(const Vector& q);
  void explicit_step(const State& state, const Kinematics& kinematics, Dynamics& dynamics,
                     const Vector& input, const Vector& applied, double h);
  void correct_gyroscopic(const State& state, Index tree, double h);
  void implicit_step(const State& state, const Vector& input, const Vector& applied, Scheme scheme, double h);

  const World* world_;
  const JointConstraints* joints_;
  std::vector<Index> spring_joints_, free_spinning_;  // trees that need the gyroscopic correction
  Vector diagonal_;                                   // implicit part of A [dofs]
  std::vector<bool> plain_;                           // [trees] nothing implicit: A = M
  TreeMotion motion_;
  const Dynamics* dynamics_ = nullptr;  // of the last compute()
  Numbers own_;                         // storage of matrices, but those of free bodies with A = M
  std::vector<std::size_t> own_start_;  // [trees]
  std::size_t own_size_ = 0;
  TreeRoots roots_;
  Vector force_, bias_;
  std::vector<JointConstraints::Term> room_;
  std::vector<bool> spring_implicit_;  // [spring joints]
  Vector spring_rest_;                 // [coordinates] where springs are at rest
  // At the middle state, for the implicit schemes.
  Kinematics mid_kinematics_;
  Dynamics mid_dynamics_;
  Vector mid_q_, mid_v_, residual_;
};

}  // namespace tribo
