#include "tribo/sim/simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

#include "tribo/base/errors.h"
#include "tribo/multibody/rotation.h"
#include "tribo/sim/assembly/impulse_memory.h"
#include "tribo/sim/assembly/step_solver.h"
#include "tribo/sim/forces/activation.h"
#include "tribo/sim/forces/adhesion.h"
#include "tribo/sim/forces/drive_work.h"
#include "tribo/sim/impacts.h"
#include "tribo/sim/sleeping.h"

namespace tribo {

namespace {

// Splits the time of a step into its parts.
class Stopwatch {
 public:
  void lap(double& sum) {
    const auto now = std::chrono::steady_clock::now();
    sum += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

void check(const SimulatorSettings& s) {
  const auto refuse = [](std::string_view field, double value, std::string_view rule) {
    throw InvalidInput(fmt::format("{} is {}: it must be {}", field, value, rule));
  };
  if (!(std::isfinite(s.time_step) && s.time_step >= 0.0)) {
    refuse("time_step", s.time_step, "finite and > 0 s (0: the world's own)");
  }
  if (!(s.tolerance > 0.0)) refuse("tolerance", s.tolerance, "> 0");
  if (s.threads < 1) refuse("threads", s.threads, ">= 1");
  if (s.max_iterations < 0) refuse("max_iterations", s.max_iterations, ">= 0");
  if (!(s.contact.stabilization >= 0.0 && s.contact.stabilization <= 1.0)) {
    refuse("stabilization", s.contact.stabilization, "in [0, 1]");
  }
  if (!(s.contact.position_slop >= 0.0)) refuse("position_slop", s.contact.position_slop, ">= 0 m");
  if (!(s.contact.max_correction_speed >= 0.0)) {
    refuse("max_correction_speed", s.contact.max_correction_speed, ">= 0 m/s");
  }
  if (!(s.contact.coupling_compliance >= 0.0 && s.contact.coupling_compliance <= 1.0)) {
    refuse("coupling_compliance", s.contact.coupling_compliance, "in [0, 1]");
  }
  if (!(s.contact.restitution_threshold >= 0.0)) {
    refuse("restitution_threshold", s.contact.restitution_threshold, ">= 0 m/s");
  }
  if (!(s.contact.near_rigid >= 0.0 && s.contact.near_rigid <= 1.0)) {
    refuse("near_rigid", s.contact.near_rigid, "in [0, 1]");
  }
  if (!(s.contact.slip_regularization >= 0.0 && std::isfinite(s.contact.slip_regularization))) {
    refuse("slip_regularization", s.contact.slip_regularization, "finite and >= 0");
  }
}

World validated(World world) {
  validate(world);
  return world;
}

SimulatorSettings completed(SimulatorSettings settings, const World& world) {
  check(settings);
  if (settings.time_step == 0.0) settings.time_step = world.time_step;
  return settings;
}

}  // namespace

struct Simulator::Impl {
  const World world;
  const SimulatorSettings settings;
  State state;
  Vector control, force;
  Vector input, applied;  // of the actuators; force with adhesion
  Vector mocap_goal;      // as State::mocap, at the end of the next step
  std::vector<Vec6> mocap_velocity;
  std::int64_t steps = 0, missed = 0;

  Workers workers;
  Kinematics kinematics;
  Dynamics dynamics;
  JointConstraints joints;
  FreeMotion motion;
  ContactFinder finder;
  ContactConstraints contact_constraints;
  InverseMass inverse_mass;
  Impacts impacts;
  StepSolver solver;
  Sleeping sleeping;
  ImpulseMemory memory;

  std::vector<Contact> contacts;
  std::vector<Vec3> contact_impulses, contact_torques;
  ConstraintSet set;
  std::vector<RowValues> start, impulse;
  Vector next_v, moving_v, displacement;
  State begun;  // the state the last step began with, after impacts
  Vector begun_input, begun_force;
  ContactProblem next;

  Impl(World w, SimulatorSettings s)
      : world(validated(std::move(w))),
        settings(completed(std::move(s), world)),
        state(initial_state(world.model)),
        control(Vector::Zero(static_cast<Index>(world.model.actuators().size()))),
        force(Vector::Zero(world.model.dof_count())),
        input(control),
        mocap_goal(state.mocap),
        mocap_velocity(world.model.mocap_bodies().size(), Vec6::Zero()),
        workers(settings.threads),
        kinematics(world.model),
        dynamics(world.model),
        joints(world),
        motion(world, joints),
        finder(world),
        contact_constraints(finder),
        impacts(world, finder, settings.solver),
        solver(world.model, settings.solver),
        sleeping(world.model) {
    if (solver.splits_by_bodies()) set.keep_bodies(kinematics);
    update_kinematics();
  }

  void update_kinematics() {
    if (state.mocap.size() > 0) kinematics.set_mocap(state.mocap);
    kinematics.set_positions(state.q);
    kinematics.set_velocities(state.v);
    dynamics.set_positions(kinematics);
    joints.set_positions(kinematics);
  }

  // Velocities of the mocap bodies on the way to their goals.
  void move_mocap() {
    if (mocap_velocity.empty()) return;
    const double h = settings.time_step;
    for (std::size_t k = 0; k < mocap_velocity.size(); ++k) {
      const double *from = state.mocap.data() + 7 * k, *to = mocap_goal.data() + 7 * k;
      const Quat turn =
          Quat(to[3], to[4], to[5], to[6]) * Quat(from[3], from[4], from[5], from[6]).conjugate();
      const Vec3 place(from[0], from[1], from[2]), angular = rotation_log(turn) / h;
      const Vec3 linear = (Vec3(to[0], to[1], to[2]) - place) / h;
      mocap_velocity[k] << linear - angular.cross(place), angular;  // of what is at the world's origin
    }
    kinematics.set_mocap_velocities(mocap_velocity);
    if (settings.sleeping && mocap_goal != state.mocap) sleeping.wake_all();
  }

  Settings solver_settings() const {
    Settings s;
    s.tolerance = settings.tolerance;
    s.law = settings.law;
    s.max_iterations = settings.max_iterations;
    s.time_limit = settings.time_limit;
    return s;
  }

  void find_contacts() {
    finder.find(kinematics, settings.time_step, workers, contacts);
    if (settings.sleeping) sleeping.filter(force, contacts);
  }

  // Inputs of the actuators and forces on the dofs; needs the contacts.
  void apply_forces() {
    actuator_inputs(world.model, control, state.activation, settings.time_step, input);
    applied = force;
    add_adhesion(world, contacts, kinematics, input, applied);
  }

  // Positions that are corrected are those of the end of the step, where mocap bodies have arrived.
  void carry_positions() {
    for (Index i = 0; i < set.size() && !mocap_velocity.empty(); ++i) {
      ConstraintSet::Entry& entry = set.entry(i);
      entry.position +=
          settings.time_step * entry.carried[entry.data.kind == ConstraintKind::contact ? 2 : 0];
    }
  }

  // Needs the contacts at the state and v* of the step.
  void build_constraints() {
    const double h = settings.time_step;
    set.clear();
    contact_constraints.clear();
    joints.add(kinematics, state, motion, input, h, settings.contact, inverse_mass, set);
    contact_constraints.add(contacts, kinematics, motion, h, settings.law, settings.contact, set);
    carry_positions();
    start.assign(set.size(), RowValues::Zero());
    if (!settings.warm_start) return;
    for (Index i = 0; i < set.size(); ++i) {
      if (set.entry(i).source != ConstraintSource::contact) start[i] = memory.find(set.entry(i).data.key);
    }
    for (const ContactConstraint& c : contact_constraints.list()) {
      start[c.constraint] = c.to_local(memory.find(contacts[c.contact].key));
    }
  }

  void remember() {
    contact_impulses.assign(contacts.size(), Vec3::Zero());
    contact_torques.assign(contacts.size(), Vec3::Zero());
    memory.reset(set.size());
    for (Index i = 0; i < set.size(); ++i) {
      if (set.entry(i).source == ConstraintSource::contact || impulse[i].isZero(0.0)) continue;
      memory.store(set.entry(i).data.key, impulse[i]);
    }
    for (const ContactConstraint& c : contact_constraints.list()) {
      const RowValues pushed = c.to_world(impulse[c.constraint]);
      contact_impulses[c.contact] = pushed.head<3>();
      contact_torques[c.contact] = pushed.tail<3>();
      if (!pushed.isZero(0.0)) memory.store(contacts[c.contact].key, pushed);
    }
  }

  // Energy of the weight and of the joint springs that the displacement of a step takes, to first order, J.
  double correction_work() {
    kinematics.set_velocities(displacement);
    double work = 0.0;
    for (Index t = 0; t < world.model.tree_count(); ++t) {
      for (Index b = world.model.tree_body(t); b < world.model.tree_body_end(t); ++b) {
        const double carried = world.model.inertia(b).mass * (1.0 - world.model.gravity_compensation(b));
        work -= carried * world.gravity.dot(kinematics.point_velocity(b, kinematics.center(b)));
      }
    }
    return work + motion.spring_work(state.q, displacement);
  }

  void advance(bool corrected) {
    const double h = settings.time_step, weight = theta_vq(settings.scheme);
    if (settings.sleeping) {
      sleeping.update(solver, h, settings.sleep_velocity, settings.sleep_time, next_v);
    }
    moving_v = weight * next_v + (1.0 - weight) * state.v;
    if (corrected) moving_v += displacement / h;
    integrate(world.model, moving_v, h, state.q);
    state.v = next_v;
    advance_activations(world.model, control, h, state.activation);
    state.mocap = mocap_goal;
    ++steps;
    state.time += h;
    if (!state.q.allFinite() || !state.v.allFinite() || !state.activation.allFinite()) {
      throw InvalidInput(
          fmt::format("the state is no longer finite after step {}: forces, controls or stiffnesses are too "
                      "large for the time step",
                      steps));
    }
  }

  StepReport step();
};

StepReport Simulator::Impl::step() {
  StepReport report;
  Stopwatch watch;
  const double h = settings.time_step;
  const Settings solve_settings = solver_settings();
  move_mocap();
  joints.set_positions(kinematics);
  find_contacts();
  watch.lap(report.times.collision);
  const Impacts::Outcome bounce = impacts.apply(contacts, h, settings.contact, joints, solve_settings,
                                                workers, state, kinematics, dynamics, state.v);
  watch.lap(report.times.solve);
  apply_forces();
  begun = state;
  begun_input = input;
  begun_force = applied;
  motion.compute(state, kinematics, dynamics, input, applied, settings.scheme, h);
  if (solver.splits_by_bodies()) motion.write_matrices();
  watch.lap(report.times.kinematics);
  build_constraints();
  watch.lap(report.times.assembly);
  const StepSolver::Correction correction{h, settings.contact, displacement};
  const SolveSummary solved =
      solver.solve(set, motion.motion(), solve_settings, workers, start, next_v, impulse, &correction);
  watch.lap(report.times.solve);
  remember();
  report.corrected_islands = solved.corrected_islands;
  if (solved.corrected_islands > 0) report.correction_work = correction_work();
  advance(solved.corrected_islands > 0);
  watch.lap(report.times.integrate);
  update_kinematics();
  watch.lap(report.times.kinematics);

  report.step = steps;
  report.time = state.time;
  report.contacts = static_cast<Index>(contacts.size());
  report.constraints = set.size();
  report.islands = solved.islands;
  report.missed_islands = solved.missed_islands + bounce.worst.missed_islands;
  report.iterations = solved.iterations + bounce.worst.iterations;
  report.factorizations = solved.factorizations;
  report.impact_rounds = bounce.rounds;
  report.error = std::max(solved.error, bounce.worst.error);
  report.status = solved.worst_status;
  for (const Contact& contact : contacts) report.penetration = std::max(report.penetration, -contact.gap);
  if (report.missed()) ++missed;
  return report;
}

Simulator::Simulator(World world, SimulatorSettings settings)
    : impl_(std::make_unique<Impl>(std::move(world), std::move(settings))) {}
Simulator::~Simulator() = default;
Simulator::Simulator(Simulator&&) noexcept = default;
Simulator& Simulator::operator=(Simulator&&) noexcept = default;

const World& Simulator::world() const { return impl_->world; }
const SimulatorSettings& Simulator::settings() const { return impl_->settings; }
double Simulator::time_step() const { return impl_->settings.time_step; }
const State& Simulator::state() const { return impl_->state; }
Vector& Simulator::control() { return impl_->control; }
Vector& Simulator::force() { return impl_->force; }
std::int64_t Simulator::step_count() const { return impl_->steps; }
std::int64_t Simulator::missed_steps() const { return impl_->missed; }
const std::vector<Contact>& Simulator::contacts() const { return impl_->contacts; }
const std::vector<Vec3>& Simulator::contact_impulses() const { return impl_->contact_impulses; }
const std::vector<Vec3>& Simulator::contact_torques() const { return impl_->contact_torques; }
const Kinematics& Simulator::kinematics() const { return impl_->kinematics; }

void Simulator::set_state(const State& state) {
  const Model& model = impl_->world.model;
  if (state.q.size() != model.coordinate_count() || state.v.size() != model.dof_count()) {
    throw InvalidInput(fmt::format("state has {} coordinates and {} velocities: the model has {} and {}",
                                   state.q.size(), state.v.size(), model.coordinate_count(),
                                   model.dof_count()));
  }
  if (!state.q.allFinite() || !state.v.allFinite() || !std::isfinite(state.time)) {
    throw InvalidInput("state is not finite");
  }
  State complete = initial_state(model);
  if (state.activation.size() > 0) complete.activation = state.activation;
  if (state.mocap.size() > 0) complete.mocap = state.mocap;
  const Index mocap = 7 * static_cast<Index>(model.mocap_bodies().size());
  if (complete.activation.size() != model.activation_count() || complete.mocap.size() != mocap) {
    throw InvalidInput(
        fmt::format("state has {} activations and {} numbers of mocap bodies: the model has {} and {}",
                    complete.activation.size(), complete.mocap.size(), model.activation_count(), mocap));
  }
  if (!complete.activation.allFinite() || !complete.mocap.allFinite()) {
    throw InvalidInput("activations or mocap bodies of the state are not finite");
  }
  for (Index k = 3; k < mocap; k += 7) complete.mocap.segment<4>(k).normalize();
  complete.q = state.q;
  complete.v = state.v;
  complete.time = state.time;
  impl_->state = std::move(complete);
  impl_->mocap_goal = impl_->state.mocap;
  normalize(model, impl_->state.q);
  impl_->memory.reset(0);
  impl_->solver.forget();
  impl_->impacts.forget();
  impl_->sleeping.wake_all();
  impl_->update_kinematics();
}

void Simulator::move_mocap(Index body, const Pose& pose) {
  const std::vector<Index>& list = model().mocap_bodies();
  const auto found = std::find(list.begin(), list.end(), body);
  if (found == list.end()) throw InvalidInput(fmt::format("body {} is not a mocap body", body));
  if (!pose.position.allFinite() || !pose.rotation.allFinite()) {
    throw InvalidInput(fmt::format("the pose for mocap body {} is not finite", body));
  }
  const Index first = 7 * static_cast<Index>(found - list.begin());
  const Quat turn = Quat(pose.rotation).normalized();
  impl_->mocap_goal.segment<3>(first) = pose.position;
  impl_->mocap_goal.segment<4>(first + 3) << turn.w(), turn.vec();
}

void Simulator::restart(const State& state) {
  set_state(state);
  impl_->control.setZero(static_cast<Index>(model().actuators().size()));
  impl_->force.setZero(model().dof_count());
  impl_->contacts.clear();
  impl_->contact_impulses.clear();
  impl_->steps = impl_->missed = 0;
}

StepReport Simulator::step() {
  if (impl_->control.size() != static_cast<Index>(model().actuators().size())) {
    throw InvalidInput(fmt::format("control has {} entries: the model has {} actuators",
                                   impl_->control.size(), model().actuators().size()));
  }
  if (impl_->force.size() != model().dof_count()) {
    throw InvalidInput(
        fmt::format("force has {} entries: the model has {} dofs", impl_->force.size(), model().dof_count()));
  }
  const StepReport report = impl_->step();
  if (report.missed() && on_missed) on_missed(report);
  return report;
}

ContactProblem Simulator::problem() const {
  // The masses have moved on since; they are computed again where the step began.
  ContactProblem problem;
  if (impl_->steps == 0) return problem;
  Kinematics kinematics(model());
  Dynamics dynamics(model());
  FreeMotion motion(impl_->world, impl_->joints);
  if (impl_->begun.mocap.size() > 0) kinematics.set_mocap(impl_->begun.mocap);
  kinematics.set_positions(impl_->begun.q);
  kinematics.set_velocities(impl_->begun.v);
  dynamics.set_positions(kinematics);
  motion.compute(impl_->begun, kinematics, dynamics, impl_->begun_input, impl_->begun_force,
                 impl_->settings.scheme, impl_->settings.time_step);
  motion.write_matrices();
  impl_->solver.whole_problem(impl_->set, motion.motion(), problem);
  return problem;
}

Vector Simulator::problem_guess() const {
  std::vector<double> guess;
  for (Index i = 0; i < impl_->set.size() && impl_->steps > 0; ++i) {
    const ConstraintSet::Entry& entry = impl_->set.entry(i);
    if (entry.piece_begin == entry.piece_end) continue;  // not part of problem()
    const double* first = impl_->start[i].data();
    guess.insert(guess.end(), first, first + entry.data.rows());
  }
  return Eigen::Map<const Vector>(guess.data(), static_cast<Index>(guess.size()));
}

const ContactProblem& Simulator::next_problem() {
  Impl& s = *impl_;
  s.move_mocap();
  s.joints.set_positions(s.kinematics);
  s.find_contacts();
  s.apply_forces();
  s.motion.compute(s.state, s.kinematics, s.dynamics, s.input, s.applied, s.settings.scheme,
                   s.settings.time_step);
  s.motion.write_matrices();
  s.build_constraints();
  s.contact_impulses.assign(s.contacts.size(), Vec3::Zero());
  s.contact_torques.assign(s.contacts.size(), Vec3::Zero());
  s.solver.whole_problem(s.set, s.motion.motion(), s.next, true, true);
  return s.next;
}

Energy Simulator::energy() const {
  return {impl_->dynamics.kinetic_energy(impl_->state.v),
          Dynamics::weight_energy(impl_->kinematics, impl_->world.gravity) -
              impl_->joints.body_forces().compensation_energy(impl_->kinematics),
          impl_->motion.spring_energy(impl_->state.q)};
}

double Simulator::drive_work() const {
  const Impl& s = *impl_;
  if (s.steps == 0) return 0.0;
  return tribo::drive_work(s.world, s.joints, s.set, s.impulse, s.begun, s.state.v, s.begun_input,
                           s.begun_force, s.settings.scheme, s.settings.time_step);
}

Vec6 Simulator::momentum() const {
  const Kinematics& k = impl_->kinematics;
  Vec6 sum = Vec6::Zero();
  for (Index t = 0; t < model().tree_count(); ++t) {
    for (Index b = model().tree_body(t); b < model().tree_body_end(t); ++b) {
      const RigidInertia& inertia = model().inertia(b);
      const Vec3 linear = inertia.mass * k.point_velocity(b, k.center(b));
      const Mat3& r = k.pose(b).rotation;
      sum.head<3>() += linear;
      sum.tail<3>() +=
          k.center(b).cross(linear) + r * (inertia.rotational * (r.transpose() * k.velocity(b).tail<3>()));
    }
  }
  return sum;
}

std::uint64_t Simulator::state_hash() const {
  // FNV-1a over the bits.
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto add = [&](double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int byte = 0; byte < 8; ++byte) hash = (hash ^ (bits >> (8 * byte) & 0xff)) * 0x100000001b3ULL;
  };
  for (const double x : impl_->state.q) add(x);
  for (const double x : impl_->state.v) add(x);
  add(impl_->state.time);
  for (const double x : impl_->state.activation) add(x);
  for (const double x : impl_->state.mocap) add(x);
  return hash;
}

}  // namespace tribo
