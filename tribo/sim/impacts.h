// Restitution: the jump of the velocities before a step when bodies meet faster than a threshold.
//
// Newton's law v_n+ = -e v_n- at every contact that closes, in rounds: a round takes the contacts that close now
// (and those without restitution that touch), solves M (v+ - v-) = J^T lambda with the bias e v_n-, and the next
// round takes what closes then. So an impact travels through touching bodies one by one: with e = 1 the last ball
// of Newton's cradle swings out, where one simultaneous solve would send them all off together. Every round
// conserves momentum, and with e = 1 and no friction energy.
#pragma once

#include "tribo/multibody/dynamics.h"
#include "tribo/sim/assembly/joint_constraints.h"
#include "tribo/sim/assembly/step_solver.h"
#include "tribo/sim/contact/contact_constraints.h"

namespace tribo {

class Impacts {
 public:
  Impacts(const World& world, const ContactFinder& finder, const std::string& solver);

  struct Outcome {
    Index rounds = 0;
    SolveSummary worst;
  };
  // The step that the impacts begin.
  struct Context {
    const std::vector<Contact>& contacts;
    double h;          // s
    double threshold;  // m/s; slower impacts do not bounce
    const JointConstraints& joints;
    const Settings& settings;
    Workers& workers;
    const Dynamics& dynamics;
    Kinematics& kinematics;  // at the state's positions; its velocities follow state.v
    State& state;            // v changes where something bounces
  };
  Outcome apply(const Context& step);
  // Of the rounds before, for a new beginning.
  void forget() { solver_.forget(); }
  SettlingPolicy::Memory memory() const { return solver_.memory(); }
  void set_memory(SettlingPolicy::Memory memory) { solver_.set_memory(std::move(memory)); }

 private:
  double approach(const Contact& contact, const Kinematics& kinematics) const;
  void set_matrices(const Dynamics& dynamics);
  bool collect(const Context& step);

  const World* world_;
  const ContactFinder* finder_;
  bool any_ = false;  // a surface with restitution
  ContactConstraints constraints_;
  StepSolver solver_;
  ConstraintSet set_;
  TreeMotion motion_;
  Numbers masses_;  // of the trees that are more than a body
  std::vector<Index> closing_, touching_;
  std::vector<RowValues> start_, impulse_;
};

}  // namespace tribo
