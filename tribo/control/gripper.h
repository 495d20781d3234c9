// A parallel gripper: two opposite slides that press with a given force and close at the same pace.
//
//   tau_1 = -F + K (q_2 - q_1) / 2 - D v_1,     tau_2 = -F + K (q_1 - q_2) / 2 - D v_2
//
// Both coordinates grow as the gripper opens. The pair of K forces cancels for what is held: it is pressed with F from both
// sides, wherever it is, and a free object is brought to the middle. F < 0 opens.
#pragma once

#include "tribo/multibody/state.h"

namespace tribo {

struct GripperSettings {
  Index first = 0, second = 0;  // slides
  double centering = 0.0;       // K, N/m
  double damping = 0.0;         // D, N s/m
};

// sum += tau, [dofs]; `grip`: F, N. InvalidInput when the joints are not two slides.
void add_grip(const Model& model, const GripperSettings& settings, const State& state, double grip,
              Vector& sum);

}  // namespace tribo
