// From the controls to the inputs of the actuators, and the activations of the next step (ActivationKind).
// One explicit step per time step; filters that are exact and muscles as in multibody/muscle.h.
#pragma once

#include "tribo/multibody/model.h"

namespace tribo {

// input [actuators]: the control within its limits, or the activation, or the next one where it acts early.
void actuator_inputs(const Model& model, const Vector& control, const Vector& activation, double h,
                     Vector& input);

// activation <- activation at the end of the step of length h.
void advance_activations(const Model& model, const Vector& control, double h, Vector& activation);

}  // namespace tribo
