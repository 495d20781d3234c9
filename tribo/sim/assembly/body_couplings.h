// Connects and welds: bilateral rows, three or six, between frames of two bodies.
#pragma once

#include "tribo/multibody/kinematics.h"
#include "tribo/sim/assembly/constraint_set.h"
#include "tribo/sim/assembly/inverse_mass.h"
#include "tribo/sim/world.h"

namespace tribo {

// What a row of ConstraintSource::coupling is, by its key. Axis: 0 .. 2 along, 3 .. 5 about the axes of the world.
struct CouplingRow {
  enum class Kind : std::uint8_t { connect, weld, other };
  Kind kind;
  Index axis;
};
CouplingRow coupling_row(std::uint64_t key);

// A bilateral row without pieces yet; `error`: m or rad.
void add_coupling_row(double error, Index origin, Index row, ConstraintSet& set);

// All connects and welds of the world; their rows come in groups of three.
void add_body_couplings(const World& world, const Kinematics& kinematics, ConstraintSet& set);

// Rows of connects and welds from `first` to the end: each gets the compliance c w, w the mean inverse mass of its group
// of three. A planar loop closed by a connect has a row that no joint moves but for the rounding of the model's numbers,
// w_i / w = 1e-32 .. 1e-10. As a rigid row it would lock the loop with impulses without bound; with c above that it does
// nothing. Rows that act let pass a share c of the velocity they stop.
void soften_body_couplings(Index first, double c, const FreeMotion& motion, InverseMass& inverse_mass,
                           ConstraintSet& set);

}  // namespace tribo
