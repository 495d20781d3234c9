// Drag, lift and added mass of an ellipsoid in a medium, the model of MuJoCo for geoms with fluidshape="ellipsoid"
// (documentation, "Ellipsoid model"). With semi-axes a, the velocities v, w of its centre relative to the medium along its
// axes, density rho and viscosity eta, D = 2 (a_0 + a_1 + a_2) / 3, volume V = 4 pi / 3 a_0 a_1 a_2, virtual mass m and
// virtual inertia J per unit of density:
//   added mass  force (rho m v) x w, torque (rho m v) x v + (rho J w) x w; terms in the acceleration are left out
//   Magnus      force C_M rho V w x v
//   Kutta       force C_K rho A cos(alpha) ((n x v) x v), n the normal of the surface where it meets the flow,
//               A the area projected along v, alpha the angle between n and v
//   drag        force -(3 pi eta D + rho |v| (C_b A + C_s (A_max - A))) v
//   resistance  torque -(pi eta D^3 + rho |(C_a I + C_s (I_max - I)) w|) w, I_i = 8 pi / 15 a_i max(a_j, a_k)^4
// m_i = V kappa_i / (2 - kappa_i), kappa_i = a_0 a_1 a_2 int_0^inf dt / ((a_i^2 + t) sqrt(prod_k (a_k^2 + t)))
// (Lamb, Hydrodynamics, sec. 114), by Carlson's integral R_D.
#pragma once

#include "tribo/multibody/spatial.h"
#include "tribo/sim/world.h"

namespace tribo {

struct VirtualMass {
  Vec3 mass;     // m^3, times the density kg
  Vec3 inertia;  // m^5, times the density kg m^2
};
VirtualMass virtual_mass(const Vec3& semi_axes);

// (force, torque at its centre) along its axes; `velocity`: (linear of its centre, angular) relative to the medium.
Vec6 fluid_force(const FluidEllipsoid& ellipsoid, const VirtualMass& added, const Medium& medium,
                 const Vec6& velocity);

}  // namespace tribo
