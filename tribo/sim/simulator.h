// Steps a World through time: state -> kinematics -> contacts -> problem -> islands -> solve -> certificate -> next
// state. Every step keeps its certificate; a step that misses the tolerance is counted and reported, never hidden.
//
// Example
//   Simulator simulator(world);
//   simulator.on_missed = [](const StepReport& r) { fmt::print("step {}: error {:.1e}\n", r.step, r.error); };
//   while (simulator.state().time < 10.0) simulator.step();
//
// The same world, settings and controls give the same bits, on any number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tribo/problem/natural_map.h"
#include "tribo/sim/contact/contact_finder.h"
#include "tribo/sim/contact/contact_law.h"
#include "tribo/sim/flex/flexible_contact.h"
#include "tribo/sim/forces/free_motion.h"
#include "tribo/sim/world.h"
#include "tribo/solve/solver.h"

namespace tribo {

struct SimulatorSettings {
  double time_step = 0.0;  // s; 0: the world's own
  Scheme scheme = Scheme::symplectic_euler;
  Law law = Law::exact;
  std::string solver = "auto";  // see solve/catalogue.h; options as in "nsgs:omega=1.2"
  double tolerance = 1e-6;      // of the scaled certificate, every step
  Index max_iterations = 20000;
  double time_limit = std::numeric_limits<double>::infinity();  // s of wall clock per step's solve
  Index threads = 1;
  bool warm_start = true;
  ContactLawSettings contact = {};
  bool sleeping = false;         // islands at rest are left out until something touches them
  double sleep_velocity = 1e-3;  // m/s, rad/s
  double sleep_time = 0.5;       // s below it
};

// Seconds of wall clock.
struct StepTimes {
  double kinematics = 0.0, collision = 0.0, assembly = 0.0, solve = 0.0, integrate = 0.0;
  double total() const { return kinematics + collision + assembly + solve + integrate; }
};

struct StepReport {
  std::int64_t step = 0;  // 1 after the first
  double time = 0.0;      // s, at the end of the step
  Index contacts = 0;     // within reach, most of them open or pressed; those of flexible bodies, too
  Index constraints = 0;
  Index islands = 0;
  Index missed_islands = 0;  // certificate above the tolerance
  Index iterations = 0, factorizations = 0;
  Index impact_rounds = 0;            // of restitution
  double error = 0.0;                 // worst certificate of the step's islands, 0 without constraints
  Status status = Status::converged;  // of the island with the worst certificate
  double penetration = 0.0;           // deepest contact at its beginning, m; faces of pressure fields aside
  Index corrected_islands = 0;        // whose position errors were led back
  double correction_work = 0.0;       // energy of weight and joint springs that this cost, J; < 0: gained
  StepTimes times;

  bool missed() const { return missed_islands > 0; }
};

// J; weight relative to the world's origin, less what is compensated; elastic: of flexible bodies.
struct Energy {
  double kinetic = 0.0, weight = 0.0, springs = 0.0, elastic = 0.0;
  double total() const { return kinetic + weight + springs + elastic; }
};

// What a contact of the last step did.
struct ContactDetail {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  // Of the second body against the first at the contact, at the end of the step; world axes, m/s.
  Vec3 velocity = Vec3::Constant(kUnknown);
  double friction = kUnknown;               // mu along the first tangent
  double error = kUnknown;                  // scaled certificate error of this contact alone
  Index island = -1;                        // -1: none; no degree of freedom moves it
  ContactState state = ContactState::open;  // open, sticks or slides
};

class Simulator {
 public:
  // Validates the world and the settings (InvalidInput).
  explicit Simulator(World world, SimulatorSettings settings = {});
  ~Simulator();
  Simulator(Simulator&&) noexcept;
  Simulator& operator=(Simulator&&) noexcept;

  const World& world() const;
  const Model& model() const { return world().model; }
  const SimulatorSettings& settings() const;
  double time_step() const;

  // Its numbers stay at the same place in memory as long as the simulator lives; so do those of control() and force().
  const State& state() const;
  // Checks sizes and numbers, normalises quaternions, forgets warm starts. Activations that are empty are 0, mocap bodies
  // and nodes without numbers stand as described.
  void set_state(const State& state);
  // A mocap body (BodyDescription::mocap) reaches this pose at the end of the next step and moves there at a constant
  // velocity, which contacts, connects and welds see. set_state() places them at once, without any velocity.
  void move_mocap(Index body, const Pose& pose);
  // As set_state; controls and applied forces are zero again and steps are counted from zero, as of a new simulator. What was
  // allocated stays, so that the next run of many (learning, measuring) begins at full speed; its bits are the same.
  void restart(const State& state);
  Vector& control();  // [actuators], as in ActuatorDescription
  Vector& force();    // [dofs] applied generalised forces, N and N m; kept until changed
  // Gravity from the next step on, m/s^2; forgets warm starts and wakes sleepers. InvalidInput unless it is finite.
  void set_gravity(const Vec3& gravity);

  // One time step. Throws nothing on hard problems; a state that is no longer finite ends in InvalidInput with the
  // step that caused it.
  StepReport step();

  std::function<void(const StepReport&)> on_missed;  // after a step whose certificate missed the tolerance
  std::int64_t step_count() const;
  std::int64_t missed_steps() const;

  // Of the last step: contacts at its beginning and the impulses on their second bodies, world axes, N s.
  const std::vector<Contact>& contacts() const;
  const std::vector<Vec3>& contact_impulses() const;
  // ... and their torques, N m s, of contacts with torsional or rolling friction; zero of others.
  const std::vector<Vec3>& contact_torques() const;
  // The same of flexible bodies: contacts of their surfaces, and the impulses on side b, world axes, N s.
  const std::vector<FlexibleContact>& flexible_contacts() const;
  const std::vector<Vec3>& flexible_contact_impulses() const;
  // ... and what else is known of contacts(), in the same order. Computed when asked for, at the cost of a fifth of a step or less:
  // the problems of the islands are posed again. A step that nobody asks about costs nothing, and asking changes no bits.
  const std::vector<ContactDetail>& contact_details() const;
  // The problem of the last step as a whole, for files and for other solvers. Empty before the first.
  ContactProblem problem() const;
  // The impulses its solve began with, from the step before: [rows] of problem(), N s.
  Vector problem_guess() const;
  // The problem the next step will solve, over all trees (dofs as in the model); for inverse dynamics. Contacts and
  // impulses of the last step are forgotten. Valid until the next call.
  const ContactProblem& next_problem();

  // Kinematics, energy, momentum at the current state.
  const Kinematics& kinematics() const;
  Energy energy() const;
  // Of actuators and applied forces in the last step, J (sim/forces/drive_work.h).
  double drive_work() const;
  // Linear [N s] and angular about the world's origin [N m s] momentum of all trees and flexible bodies.
  Vec6 momentum() const;
  // Of q, v, time, activations, mocap poses and nodes, bit for bit.
  std::uint64_t state_hash() const;

  // Readings of World::sensors, one after the other (sim/sensors/sensor.h). Computed when asked for, once per step; a step
  // that nobody asks about costs nothing. Of one sensor by name; InvalidInput if there is none.
  const Vector& sensor_data() const;
  std::span<const double> sensor(std::string_view name) const;

  // Everything the next steps depend on, as bytes: state, controls, forces, gravity, counters, warm starts, settling, sleep.
  // After load_state() in a simulator of the same world and settings the next steps have the same bits as those that followed
  // save_state(). Contacts with their impulses and sensor readings are those of the saved step; its problem and contact
  // details are forgotten. InvalidInput, and nothing changes, where the bytes are damaged, truncated or of another world.
  std::vector<std::uint8_t> save_state() const;
  void load_state(std::span<const std::uint8_t> bytes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tribo
