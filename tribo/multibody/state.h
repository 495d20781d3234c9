// Coordinates and velocities of a model, and the Lie group they live on.
#pragma once

#include "tribo/multibody/model.h"

namespace tribo {

struct State {
  Vector q;                // [coordinates], see multibody/model.h
  Vector v;                // [dofs]
  double time = 0.0;       // s
  Vector activation = {};  // [activations] of actuators that have one, see ActivationKind
  Vector mocap = {};       // [7 x mocap bodies] position in the world [m], unit quaternion wxyz
  // Of the flexible bodies of a world (sim/world.h), one after the other, world axes.
  Vector node_position = {};  // [3 x nodes] m
  Vector node_velocity = {};  // [3 x nodes] m/s
};

// At the reference coordinates, at rest, activations 0, mocap bodies as described.
State initial_state(const Model& model);

// Where the springs of all joints are at rest.
Vector spring_coordinates(const Model& model);

// q <- q (+) h v: positions move by h v, quaternions by exp(h omega) on the right. Keeps them normalised.
void integrate(const Model& model, const Vector& v, double h, Vector& q);

// The v with integrate(model, v, 1, from) = to (angles at most pi).
void difference(const Model& model, const Vector& from, const Vector& to, Vector& v);

// Scales every quaternion of q to unit length; InvalidInput where one is zero or q has the wrong size.
void normalize(const Model& model, Vector& q);

}  // namespace tribo
