// Forces on bodies that come neither from joints nor from contacts: gravity compensation and the drag of a medium.
//
// Gravity compensation: -c m g at the centre of mass, with c = Model::gravity_compensation and gravity g. It is a passive
// force, or that of the joint's actuators (JointDescription::actuator_compensation): then it is clamped together with
// what they do. A model without any actuator has none of that, as in MuJoCo.
//
// Drag of a medium of density rho [kg/m^3] and viscosity eta [Pa s] that moves with the wind [m/s]. The body is taken as
// the box of uniform density with the same mass m and principal moments I, edges b_x^2 = 6 (I_y + I_z - I_x) / m, ..., and
// with v, w the velocities of its centre relative to the medium, along the principal axes, d = (b_x + b_y + b_z) / 3,
//   force_i  = -3 pi eta d v_i - rho / 2 b_j b_k |v_i| v_i
//   torque_i = -pi eta d^3 w_i - rho / 64 b_i (b_j^4 + b_k^4) |w_i| w_i
// (MuJoCo, documentation, "Inertia model"). A body with FluidEllipsoids takes the sum over these instead, see
// sim/forces/fluid_ellipsoid.h. Both are explicit: a light body in a dense medium needs a time step that resolves its slowing down.
#pragma once

#include <functional>
#include <vector>

#include "tribo/multibody/kinematics.h"
#include "tribo/sim/forces/fluid_ellipsoid.h"

namespace tribo {

class BodyForces {
 public:
  explicit BodyForces(const World& world);

  bool any() const { return !compensated_.empty() || !dragged_.empty(); }
  // force += all of them at the positions and velocities of `kinematics`, the part of actuators clamped. [dofs]
  void add(const Kinematics& kinematics, Vector& force) const;
  // The two parts, without any limits.
  void add_compensation(const Kinematics& kinematics, Vector& force) const;
  void add_drag(const Kinematics& kinematics, Vector& force) const;
  // Drag body by body, world axes, N and N m.
  using Visit = std::function<void(Index body, const Vec3& point, const Vec3& force, const Vec3& torque)>;
  void visit_drag(const Kinematics& kinematics, const Visit& visit) const;
  // Of one dof, N or N m.
  double compensation_of(const Kinematics& kinematics, Index dof) const;
  // What compensation holds of the potential of the weights, J, relative to the world's origin.
  double compensation_energy(const Kinematics& kinematics) const;

 private:
  struct Drag {
    Index body;
    Mat3 axes;     // of the inertia, in the body frame
    Vec3 linear;   // rho / 2 b_j b_k
    Vec3 angular;  // rho / 64 b_i (b_j^4 + b_k^4)
    double viscous_linear, viscous_angular;
    std::vector<Index> ellipsoids;  // none: the box
  };

  void add_body(Index body);

  const World* world_;
  std::vector<Index> compensated_;  // bodies
  std::vector<Index> clamped_;  // joints to be compensated by actuators within limits that have no actuator
  std::vector<Drag> dragged_;
  std::vector<VirtualMass> added_;  // [fluid ellipsoids]
};

}  // namespace tribo
