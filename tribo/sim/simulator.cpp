#include "tribo/sim/simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

#include "tribo/math/errors.h"
#include "tribo/sim/impacts.h"
#include "tribo/sim/impulse_memory.h"
#include "tribo/sim/sleeping.h"
#include "tribo/sim/step_solver.h"

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
  if (!(s.contact.drift >= 0.0)) refuse("drift", s.contact.drift, ">= 0 m");
  if (!(s.contact.max_stabilization_velocity >= 0.0)) {
    refuse("max_stabilization_velocity", s.contact.max_stabilization_velocity, ">= 0 m/s");
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
  std::int64_t steps = 0, missed = 0;

  Workers workers;
  Kinematics kinematics;
  Dynamics dynamics;
  JointConstraints joints;
  FreeMotion motion;
  ContactFinder finder;
  ContactConstraints contact_constraints;
  Impacts impacts;
  StepSolver solver;
  Sleeping sleeping;
  ImpulseMemory memory;

  std::vector<Contact> contacts;
  std::vector<Vec3> contact_impulses;
  ConstraintSet set;
  std::vector<Vec3> start, impulse;
  Vector next_v, moving_v;
  State begun;  // the state the last step began with, after impacts
  Vector begun_control, begun_force;
  ContactProblem next;

  Impl(World w, SimulatorSettings s)
      : world(validated(std::move(w))),
        settings(completed(std::move(s), world)),
        state(initial_state(world.model)),
        control(Vector::Zero(static_cast<Index>(world.model.actuators().size()))),
        force(Vector::Zero(world.model.dof_count())),
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
    kinematics.set_positions(state.q);
    kinematics.set_velocities(state.v);
    dynamics.set_positions(kinematics);
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

  // Needs the contacts at the state and v* of the step.
  void build_constraints() {
    const double h = settings.time_step;
    set.clear();
    contact_constraints.clear();
    joints.add(kinematics, state, motion.motion().velocity, control, h, settings.contact, set);
    contact_constraints.add(contacts, kinematics, motion, h, settings.law, settings.contact, set);
    start.assign(set.size(), Vec3::Zero());
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
    memory.reset(set.size());
    for (Index i = 0; i < set.size(); ++i) {
      if (set.entry(i).source == ConstraintSource::contact || impulse[i].isZero(0.0)) continue;
      memory.store(set.entry(i).data.key, impulse[i]);
    }
    for (const ContactConstraint& c : contact_constraints.list()) {
      const Vec3 pushed = c.to_world(impulse[c.constraint]);
      contact_impulses[c.contact] = pushed;
      if (!pushed.isZero(0.0)) memory.store(contacts[c.contact].key, pushed);
    }
  }

  void advance() {
    const double h = settings.time_step, weight = theta_vq(settings.scheme);
    if (settings.sleeping) {
      sleeping.update(solver, h, settings.sleep_velocity, settings.sleep_time, next_v);
    }
    moving_v = weight * next_v + (1.0 - weight) * state.v;
    integrate(world.model, moving_v, h, state.q);
    state.v = next_v;
    ++steps;
    state.time += h;
    if (!state.q.allFinite() || !state.v.allFinite()) {
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
  joints.set_positions(kinematics);
  find_contacts();
  watch.lap(report.times.collision);
  const Impacts::Outcome bounce = impacts.apply(contacts, h, settings.contact, joints, solve_settings,
                                                workers, state, kinematics, dynamics, state.v);
  watch.lap(report.times.solve);
  begun = state;
  begun_control = control;
  begun_force = force;
  motion.compute(state, kinematics, dynamics, control, force, settings.scheme, h);
  if (solver.splits_by_bodies()) motion.write_matrices();
  watch.lap(report.times.kinematics);
  build_constraints();
  watch.lap(report.times.assembly);
  const SolveSummary solved =
      solver.solve(set, motion.motion(), solve_settings, workers, start, next_v, impulse);
  watch.lap(report.times.solve);
  remember();
  advance();
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
  impl_->state = state;
  normalize(model, impl_->state.q);
  impl_->memory.reset(0);
  impl_->solver.forget();
  impl_->impacts.forget();
  impl_->sleeping.wake_all();
  impl_->update_kinematics();
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
  kinematics.set_positions(impl_->begun.q);
  kinematics.set_velocities(impl_->begun.v);
  dynamics.set_positions(kinematics);
  motion.compute(impl_->begun, kinematics, dynamics, impl_->begun_control, impl_->begun_force,
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
    guess.insert(guess.end(), first, first + rows_of(entry.data.kind));
  }
  return Eigen::Map<const Vector>(guess.data(), static_cast<Index>(guess.size()));
}

const ContactProblem& Simulator::next_problem() {
  Impl& s = *impl_;
  s.joints.set_positions(s.kinematics);
  s.find_contacts();
  s.motion.compute(s.state, s.kinematics, s.dynamics, s.control, s.force, s.settings.scheme,
                   s.settings.time_step);
  s.motion.write_matrices();
  s.build_constraints();
  s.contact_impulses.assign(s.contacts.size(), Vec3::Zero());
  s.solver.whole_problem(s.set, s.motion.motion(), s.next, true, true);
  return s.next;
}

Energy Simulator::energy() const {
  return {impl_->dynamics.kinetic_energy(impl_->state.v),
          Dynamics::weight_energy(impl_->kinematics, impl_->world.gravity),
          impl_->motion.spring_energy(impl_->state.q)};
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
  return hash;
}

}  // namespace tribo
