// The parts of a step in the order in which they run. Simulator::step(), problem() and next_problem() all run these:
//
//   prepare   begin         velocities of mocap bodies, contacts at q0
//             bounce        impacts: v0 jumps (step only)
//             pose          inputs and forces, free motion v*, constraints with their warm starts
//   finish    solve         islands: v, impulses, displacement d
//             remember      impulses by key, for the next step
//             advance       q = q0 (+) (h v_theta + d), v, activations, mocap poses, time
//             place         kinematics and masses at the new state
//
// prepare() works on a copy of the state, from which finish() goes on: begun(), the state the step began with after its
// impacts. What a step was posed with stays until the next prepare().
#pragma once

#include "tribo/sim/assembly/impulse_memory.h"
#include "tribo/sim/assembly/step_solver.h"
#include "tribo/sim/contact/contact_constraints.h"
#include "tribo/sim/flex/flexible_step.h"
#include "tribo/sim/impacts.h"
#include "tribo/sim/sensors/sensor_suite.h"
#include "tribo/sim/simulator.h"
#include "tribo/sim/sleeping.h"
#include "tribo/sim/snapshot.h"

namespace tribo {

// What the user of a simulator gives to a step.
struct StepInput {
  Vector control;     // [actuators]
  Vector force;       // [dofs], N and N m
  Vector mocap_goal;  // as State::mocap, at the end of the step
};

// Poses, masses and the motion without constraints at one state.
struct MovingBodies {
  MovingBodies(const World& world, const JointConstraints& joints)
      : kinematics(world.model), dynamics(world.model), motion(world, joints) {}

  void place(const State& state);

  Kinematics kinematics;
  Dynamics dynamics;
  FreeMotion motion;
};

class StepPipeline {
 public:
  // Keeps references to both.
  StepPipeline(const World& world, const SimulatorSettings& settings);

  // Bodies at the state; at the beginning and after a state was set.
  void place(const State& state);
  // Warm starts, settling and sleep of the steps before.
  void forget();
  void clear_contacts();

  // One step from `state`, which it changes. `step`: its number, for messages and the report.
  StepReport step(const StepInput& input, std::int64_t step, State& state);
  // The problem that a step from `state` would solve, without impacts, over all trees.
  const ContactProblem& next_problem(const StepInput& input, const State& state);
  // The problem that was posed last, and the impulses its solve began with.
  ContactProblem posed_problem();
  Vector posed_guess() const;
  // Of actuators and applied forces in the step that ended at velocity v, J.
  double drive_work(const Vector& v) const;

  const Kinematics& kinematics() const { return bodies_.kinematics; }
  const Dynamics& dynamics() const { return bodies_.dynamics; }
  const FreeMotion& motion() const { return bodies_.motion; }
  const JointConstraints& joints() const { return joints_; }
  const std::vector<Contact>& contacts() const { return contacts_; }
  const FlexibleStep& flexible() const { return flexible_; }
  const std::vector<Vec3>& contact_impulses() const { return contact_impulses_; }  // N s, world axes
  const std::vector<Vec3>& contact_torques() const { return contact_torques_; }    // N m s, world axes
  // Of the last step, made at the first call after it.
  const std::vector<ContactDetail>& contact_details();
  // Whether there is a last step whose problem and work can be asked for.
  bool was_posed() const { return posed_; }
  // Readings of the sensors at `state`, which is where the last step ended; made at the first call after it.
  const Vector& sensor_data(const State& state);
  const SensorSuite& sensors() const { return sensors_; }
  // What was said and done so far is no longer what led to the state.
  void state_was_set();

  StepMemory memory(const State& state);
  // `state`: the one of the memory.
  void set_memory(StepMemory memory, const State& state);

 private:
  enum class WithImpacts { no, yes };

  Settings solver_settings() const;
  bool sleeps() const;
  // prepare
  Impacts::Outcome prepare(const StepInput& input, const State& state, WithImpacts impacts, StepTimes& times);
  void begin(const StepInput& input, const State& state);
  void move_mocap(const Vector& goal);
  Impacts::Outcome bounce();
  void apply_forces(const StepInput& input);
  void build_constraints();
  void carry_positions();
  void set_starts();
  // finish
  void remember();
  double correction_work(const Vector& end);
  void move_contacts();
  void judge_contacts();
  void advance(const StepInput& input, std::int64_t step, bool corrected, State& state);

  const World* world_;
  const SimulatorSettings* settings_;
  Workers workers_;
  JointConstraints joints_;
  MovingBodies bodies_;
  ContactFinder finder_;
  ContactConstraints contact_constraints_;
  FlexibleStep flexible_;
  InverseMass inverse_mass_;
  Impacts impacts_;
  StepSolver solver_;
  Sleeping sleeping_;
  ImpulseMemory memory_;

  State begun_;
  Vector input_, applied_;  // of the actuators; forces with adhesion
  std::vector<Vec6> mocap_velocity_;
  std::vector<Contact> contacts_;
  std::vector<Vec3> contact_impulses_, contact_torques_;
  SensorSuite sensors_;
  Vector sensor_data_;
  bool sensed_ = false;               // the readings are those of the state
  bool moved_ = false;                // the state is the end of the last step
  Vec3 step_gravity_ = Vec3::Zero();  // of the last step
  bool posed_ = false;                // a step was made since the beginning
  bool solved_ = false;               // the contacts are those of a step
  bool detailed_ = false;             // the details are those of the contacts
  std::vector<ContactDetail> details_;
  std::unique_ptr<Kinematics> end_;  // where the step began, with the velocities of its end
  ConstraintSet set_;
  std::vector<RowValues> start_, impulse_;
  Vector next_v_, moving_v_, displacement_, middle_;
  ContactProblem next_;
};

}  // namespace tribo
