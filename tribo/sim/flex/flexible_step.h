// What a step of the pipeline (sim/step_pipeline.h) does for flexible bodies, in the order in which it happens: contacts, free
// motion, constraints with their warm starts, and, after the solve, impulses and the next state.
#pragma once

#include <vector>

#include "tribo/sim/assembly/impulse_memory.h"
#include "tribo/sim/flex/flexible_constraints.h"

namespace tribo {

class FlexibleStep {
 public:
  // Keeps a reference to the world.
  explicit FlexibleStep(const World& world)
      : motion_(world), finder_(world), constraints_(world, finder_), model_dofs_(world.model.dof_count()) {}

  bool any() const { return motion_.count() > 0; }
  const FlexibleMotion& motion() const { return motion_; }
  const std::vector<FlexibleContact>& contacts() const { return contacts_; }
  const std::vector<Vec3>& impulses() const { return impulses_; }  // on side b, world axes, N s
  double deepest() const;                                          // m, penetration of the contacts

  void clear();
  void find(const State& state, const Kinematics& kinematics, double h) {
    finder_.find(state, kinematics, h, contacts_);
  }
  void move(const State& state, Scheme scheme, double h) { motion_.compute(state, scheme, h); }
  void add(const State& state, const Kinematics& kinematics, double h, Law law,
           const ContactLawSettings& settings, ConstraintSet& set);
  void set_starts(const ImpulseMemory& memory, std::vector<RowValues>& start) const;

  // Where a solve of all degrees of freedom leaves its results, those of the model first.
  Vector& velocity() { return velocity_; }
  Vector& displacement() { return displacement_; }
  // Of the model.
  void take_apart(Vector& velocity, Vector& displacement) const;
  void remember(const std::vector<RowValues>& impulse, ImpulseMemory& memory);
  // `weight`: of the new velocity in the motion of the step; `corrected`: with the displacement.
  void advance(const State& begun, double h, double weight, bool corrected, State& state) const;

 private:
  FlexibleMotion motion_;
  FlexibleContacts finder_;
  FlexibleConstraints constraints_;
  Index model_dofs_;
  std::vector<FlexibleContact> contacts_;
  std::vector<Vec3> impulses_;
  Vector velocity_, displacement_;
};

}  // namespace tribo
