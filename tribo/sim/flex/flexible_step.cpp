#include "tribo/sim/flex/flexible_step.h"

#include <algorithm>

namespace tribo {

double FlexibleStep::deepest() const {
  double deepest = 0.0;
  for (const FlexibleContact& contact : contacts_) deepest = std::max(deepest, -contact.gap);
  return deepest;
}

void FlexibleStep::clear() {
  contacts_.clear();
  impulses_.clear();
}

void FlexibleStep::add(const State& state, const Kinematics& kinematics, double h, Law law,
                       const ContactLawSettings& settings, ConstraintSet& set) {
  if (!any()) return;
  constraints_.add_attachments(state, kinematics, set);
  constraints_.add_contacts(contacts_, kinematics, motion_, h, law, settings, set);
}

void FlexibleStep::set_starts(const ImpulseMemory& memory, std::vector<RowValues>& start) const {
  for (const FlexibleConstraints::Placed& c : constraints_.list()) {
    start[c.constraint] = c.to_local(memory.find(contacts_[c.contact].key));
  }
}

void FlexibleStep::take_apart(Vector& velocity, Vector& displacement) const {
  velocity = velocity_.head(model_dofs_);
  displacement = displacement_.head(model_dofs_);
}

void FlexibleStep::remember(const std::vector<RowValues>& impulse, ImpulseMemory& memory) {
  impulses_.assign(contacts_.size(), Vec3::Zero());
  for (const FlexibleConstraints::Placed& c : constraints_.list()) {
    const RowValues pushed = c.to_world(impulse[c.constraint]);
    impulses_[c.contact] = pushed.head<3>();
    if (!pushed.isZero(0.0)) memory.store(contacts_[c.contact].key, pushed);
  }
}

void FlexibleStep::advance(const State& begun, double h, double weight, bool corrected, State& state) const {
  if (!any()) return;
  const Index nodes = motion_.dof_count();
  state.node_velocity = velocity_.tail(nodes);
  state.node_position += h * (weight * state.node_velocity + (1.0 - weight) * begun.node_velocity);
  if (corrected) state.node_position += displacement_.tail(nodes);
}

}  // namespace tribo
