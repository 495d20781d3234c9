#include "tribo/sim/step_pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "tribo/base/errors.h"
#include "tribo/multibody/rotation.h"
#include "tribo/sim/forces/activation.h"
#include "tribo/sim/forces/adhesion.h"
#include "tribo/sim/forces/drive_work.h"

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

}  // namespace

void MovingBodies::place(const State& state) {
  if (state.mocap.size() > 0) kinematics.set_mocap(state.mocap);
  kinematics.set_positions(state.q);
  kinematics.set_velocities(state.v);
  dynamics.set_positions(kinematics);
}

StepPipeline::StepPipeline(const World& world, const SimulatorSettings& settings)
    : world_(&world),
      settings_(&settings),
      workers_(settings.threads),
      joints_(world),
      bodies_(world, joints_),
      finder_(world),
      contact_constraints_(finder_),
      flexible_(world),
      impacts_(world, finder_, settings.solver),
      solver_(world.model, settings.solver, flexible_.motion().count()),
      sleeping_(world.model),
      input_(Vector::Zero(static_cast<Index>(world.model.actuators().size()))),
      mocap_velocity_(world.model.mocap_bodies().size(), Vec6::Zero()),
      sensors_(world),
      sensor_data_(Vector::Zero(sensors_.size())) {
  if (solver_.splits_by_bodies()) set_.keep_bodies(bodies_.kinematics);
  if (flexible_.any()) bodies_.motion.set_flexible(&flexible_.motion());
}

void StepPipeline::place(const State& state) {
  bodies_.place(state);
  joints_.set_positions(bodies_.kinematics);
}

void StepPipeline::forget() {
  memory_.reset(0);
  solver_.forget();
  impacts_.forget();
  sleeping_.wake_all();
  sensed_ = false;
}

void StepPipeline::state_was_set() {
  moved_ = sensed_ = false;
  sensor_data_.setZero();
}

const Vector& StepPipeline::sensor_data(const State& state) {
  if (sensed_ || sensor_data_.size() == 0) return sensor_data_;
  const LastStep last{.begun = begun_,
                      .velocity = next_v_,
                      .input = input_,
                      .set = set_,
                      .impulse = impulse_,
                      .contacts = contacts_,
                      .contact_impulses = contact_impulses_,
                      .contact_torques = contact_torques_,
                      .flexible_contacts = flexible_.contacts(),
                      .flexible_impulses = flexible_.impulses(),
                      .mocap_velocity = mocap_velocity_,
                      .gravity = step_gravity_,
                      .scheme = settings_->scheme,
                      .h = settings_->time_step};
  sensors_.read({.state = state,
                 .kinematics = bodies_.kinematics,
                 .dynamics = bodies_.dynamics,
                 .motion = bodies_.motion,
                 .joints = joints_,
                 .actuator_input = input_,
                 .last = moved_ ? &last : nullptr,
                 .contact_slop = settings_->contact.position_slop},
                sensor_data_);
  sensed_ = true;
  return sensor_data_;
}

StepMemory StepPipeline::memory(const State& state) {
  StepMemory memory;
  memory_.for_each([&](std::uint64_t key, const RowValues& impulse) {
    memory.impulses.push_back({key, impulse});
  });
  // The same bytes whatever the memory looked like before.
  std::sort(memory.impulses.begin(), memory.impulses.end(),
            [](const StepMemory::Impulse& a, const StepMemory::Impulse& b) { return a.key < b.key; });
  memory.settling = solver_.memory();
  memory.impact_settling = impacts_.memory();
  memory.sleeping = sleeping_.memory();
  memory.contacts = contacts_;
  memory.contact_impulses = contact_impulses_;
  memory.contact_torques = contact_torques_;
  memory.sensor_data = sensor_data(state);
  return memory;
}

void StepPipeline::set_memory(StepMemory memory, const State& state) {
  place(state);
  memory_.reset(static_cast<Index>(memory.impulses.size()));
  for (const StepMemory::Impulse& entry : memory.impulses) memory_.store(entry.key, entry.impulse);
  solver_.set_memory(std::move(memory.settling));
  impacts_.set_memory(std::move(memory.impact_settling));
  sleeping_.set_memory(memory.sleeping);
  clear_contacts();
  contacts_ = std::move(memory.contacts);
  contact_impulses_ = std::move(memory.contact_impulses);
  contact_torques_ = std::move(memory.contact_torques);
  sensor_data_ = memory.sensor_data;  // stays where it lies
  sensed_ = true;
  moved_ = false;
}

void StepPipeline::clear_contacts() {
  posed_ = solved_ = detailed_ = false;
  contacts_.clear();
  contact_impulses_.clear();
  contact_torques_.clear();
  flexible_.clear();
}

Settings StepPipeline::solver_settings() const {
  Settings s;
  s.tolerance = settings_->tolerance;
  s.law = settings_->law;
  s.max_iterations = settings_->max_iterations;
  s.time_limit = settings_->time_limit;
  return s;
}

// Velocities with which the mocap bodies reach their goals.
void StepPipeline::move_mocap(const Vector& goal) {
  if (mocap_velocity_.empty()) return;
  const double h = settings_->time_step;
  for (std::size_t k = 0; k < mocap_velocity_.size(); ++k) {
    const double *from = begun_.mocap.data() + 7 * k, *to = goal.data() + 7 * k;
    const Quat turn = Quat(to[3], to[4], to[5], to[6]) * Quat(from[3], from[4], from[5], from[6]).conjugate();
    const Vec3 place(from[0], from[1], from[2]), angular = rotation_log(turn) / h;
    const Vec3 linear = (Vec3(to[0], to[1], to[2]) - place) / h;
    mocap_velocity_[k] << linear - angular.cross(place), angular;  // of what is at the world's origin
  }
  bodies_.kinematics.set_mocap_velocities(mocap_velocity_);
  if (sleeps() && goal != begun_.mocap) sleeping_.wake_all();
}

void StepPipeline::begin(const StepInput& input, const State& state) {
  begun_ = state;
  move_mocap(input.mocap_goal);
  joints_.set_positions(bodies_.kinematics);
  finder_.find(bodies_.kinematics, settings_->time_step, workers_, contacts_);
  flexible_.find(begun_, bodies_.kinematics, settings_->time_step);
  if (sleeps()) sleeping_.filter(input.force, contacts_);
}

Impacts::Outcome StepPipeline::bounce() {
  const Settings settings = solver_settings();
  return impacts_.apply({.contacts = contacts_,
                         .h = settings_->time_step,
                         .threshold = settings_->contact.restitution_threshold,
                         .joints = joints_,
                         .settings = settings,
                         .workers = workers_,
                         .dynamics = bodies_.dynamics,
                         .kinematics = bodies_.kinematics,
                         .state = begun_});
}

// Inputs of the actuators and forces on the dofs; needs the contacts.
void StepPipeline::apply_forces(const StepInput& input) {
  actuator_inputs(world_->model, input.control, begun_.activation, settings_->time_step, input_);
  applied_ = input.force;
  add_adhesion(*world_, contacts_, bodies_.kinematics, input_, applied_);
}

// Positions that are corrected are those of the end of the step, where mocap bodies have arrived.
void StepPipeline::carry_positions() {
  for (Index i = 0; i < set_.size() && !mocap_velocity_.empty(); ++i) {
    ConstraintSet::Entry& entry = set_.entry(i);
    entry.position +=
        settings_->time_step * entry.carried[entry.data.kind == ConstraintKind::contact ? 2 : 0];
  }
}

// Needs the contacts at the state and v* of the step.
void StepPipeline::build_constraints() {
  const double h = settings_->time_step;
  set_.clear();
  contact_constraints_.clear();
  joints_.add(bodies_.kinematics, begun_, bodies_.motion, input_, h, settings_->contact, inverse_mass_, set_);
  contact_constraints_.add(contacts_, bodies_.kinematics, bodies_.motion, h, settings_->law,
                           settings_->contact, set_);
  flexible_.add(begun_, bodies_.kinematics, h, settings_->law, settings_->contact, set_);
  carry_positions();
  set_starts();
}

void StepPipeline::set_starts() {
  start_.assign(set_.size(), RowValues::Zero());
  if (!settings_->warm_start) return;
  for (Index i = 0; i < set_.size(); ++i) {
    if (set_.entry(i).source != ConstraintSource::contact) start_[i] = memory_.find(set_.entry(i).data.key);
  }
  for (const ContactConstraint& c : contact_constraints_.list()) {
    start_[c.constraint] = c.to_local(memory_.find(contacts_[c.contact].key));
  }
  flexible_.set_starts(memory_, start_);
}

Impacts::Outcome StepPipeline::prepare(const StepInput& input, const State& state, WithImpacts impacts,
                                       StepTimes& times) {
  Stopwatch watch;
  Impacts::Outcome outcome;
  begin(input, state);
  watch.lap(times.collision);
  if (impacts == WithImpacts::yes) outcome = bounce();
  watch.lap(times.solve);
  apply_forces(input);
  bodies_.motion.compute(begun_, bodies_.kinematics, bodies_.dynamics, input_, applied_, settings_->scheme,
                         settings_->time_step);
  flexible_.move(begun_, settings_->scheme, settings_->time_step);
  watch.lap(times.kinematics);
  build_constraints();
  watch.lap(times.assembly);
  return outcome;
}

void StepPipeline::remember() {
  contact_impulses_.assign(contacts_.size(), Vec3::Zero());
  contact_torques_.assign(contacts_.size(), Vec3::Zero());
  memory_.reset(set_.size());
  for (Index i = 0; i < set_.size(); ++i) {
    const ConstraintSource source = set_.entry(i).source;
    if (source == ConstraintSource::contact || source == ConstraintSource::flexible_contact) continue;
    if (impulse_[i].isZero(0.0)) continue;
    memory_.store(set_.entry(i).data.key, impulse_[i]);
  }
  for (const ContactConstraint& c : contact_constraints_.list()) {
    const RowValues pushed = c.to_world(impulse_[c.constraint]);
    contact_impulses_[c.contact] = pushed.head<3>();
    contact_torques_[c.contact] = pushed.tail<3>();
    if (!pushed.isZero(0.0)) memory_.store(contacts_[c.contact].key, pushed);
  }
  flexible_.remember(impulse_, memory_);
}

// Flexible bodies never sleep, nor does what touches them: a world that has some stays awake.
bool StepPipeline::sleeps() const { return settings_->sleeping && !flexible_.any(); }

// Energy of the weight and of the joint springs that the displacement of a step takes, J: of the weight to first order, of
// linear springs exactly, with their forces in the middle of the displacement that led to `end`.
double StepPipeline::correction_work(const Vector& end) {
  const Model& model = world_->model;
  Kinematics& kinematics = bodies_.kinematics;
  kinematics.set_velocities(displacement_);
  double work = 0.0;
  for (Index t = 0; t < model.tree_count(); ++t) {
    for (Index b = model.tree_body(t); b < model.tree_body_end(t); ++b) {
      const double carried = model.inertia(b).mass * (1.0 - model.gravity_compensation(b));
      work -= carried * world_->gravity.dot(kinematics.point_velocity(b, kinematics.center(b)));
    }
  }
  middle_ = end;
  integrate(model, displacement_, -0.5, middle_);
  return work + bodies_.motion.spring_work(middle_, displacement_);
}

void StepPipeline::advance(const StepInput& input, std::int64_t step, bool corrected, State& state) {
  const double h = settings_->time_step, weight = theta_vq(settings_->scheme);
  if (sleeps()) {
    sleeping_.update(solver_, h, settings_->sleep_velocity, settings_->sleep_time, next_v_);
  }
  moving_v_ = weight * next_v_ + (1.0 - weight) * begun_.v;
  if (corrected) moving_v_ += displacement_ / h;
  integrate(world_->model, moving_v_, h, state.q);
  state.v = next_v_;
  flexible_.advance(begun_, h, weight, corrected, state);
  advance_activations(world_->model, input.control, h, state.activation);
  state.mocap = input.mocap_goal;
  state.time += h;
  if (!state.q.allFinite() || !state.v.allFinite() || !state.activation.allFinite() ||
      !state.node_position.allFinite() || !state.node_velocity.allFinite()) {
    throw InvalidInput(
        fmt::format("the state is no longer finite after step {}: forces, controls or stiffnesses are too "
                    "large for the time step",
                    step));
  }
}

// Velocities of the contacts and what their surfaces say.
void StepPipeline::move_contacts() {
  if (!end_) end_ = std::make_unique<Kinematics>(world_->model);
  if (begun_.mocap.size() > 0) end_->set_mocap(begun_.mocap);
  end_->set_positions(begun_.q);
  end_->set_velocities(next_v_);
  if (!mocap_velocity_.empty()) end_->set_mocap_velocities(mocap_velocity_);
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const Contact& contact = contacts_[c];
    details_[c].velocity = end_->point_velocity(contact.body_b, contact.position) -
                           end_->point_velocity(contact.body_a, contact.position);
    details_[c].friction =
        contact.surface.is_frictionless() ? 0.0 : finder_.surface(contact.surface).friction;
  }
}

void StepPipeline::judge_contacts() {
  Vector scratch, velocity;
  const auto judge = [&](const ContactProblem& problem, std::span<const Index> constraints,
                         const Vector& impulse) {
    problem.velocity_of(impulse, scratch, velocity);
    const double common = common_reference(problem, impulse);
    for (std::size_t k = 0; k < constraints.size(); ++k) {
      const ConstraintSet::Entry& entry = set_.entry(constraints[k]);
      if (entry.source != ConstraintSource::contact) continue;
      const auto i = static_cast<Index>(k);
      const std::size_t c = static_cast<std::size_t>(entry.origin);
      ContactDetail& detail = details_[c];
      detail.island = solver_.island(constraints[k]);
      const double map = natural_map(problem, i, impulse, velocity, settings_->law);
      const double reference = reference_of(problem, i, common);
      detail.error = problem.is_idle(i) ? idle_error(problem, i, settings_->law)
                     : map == 0.0       ? 0.0
                     : reference > 0.0  ? map / reference
                                        : 1.0;
      const Vec3& normal = contacts_[c].normal;
      const double slip = (detail.velocity - normal.dot(detail.velocity) * normal).norm();
      detail.state = contact_state(problem, i, impulse, slip, common);
    }
  };
  solver_.revisit(set_, bodies_.motion.motion(), impulse_, judge);
}

const std::vector<ContactDetail>& StepPipeline::contact_details() {
  if (detailed_) return details_;
  details_.assign(contacts_.size(), ContactDetail());
  detailed_ = true;
  if (!solved_ || contacts_.empty()) return details_;
  move_contacts();
  judge_contacts();
  return details_;
}

StepReport StepPipeline::step(const StepInput& input, std::int64_t step, State& state) {
  StepReport report;
  solved_ = detailed_ = moved_ = false;
  const Impacts::Outcome bounced = prepare(input, state, WithImpacts::yes, report.times);
  Stopwatch watch;
  if (solver_.splits_by_bodies()) bodies_.motion.write_matrices();
  watch.lap(report.times.kinematics);
  const bool nodes = flexible_.any();
  const StepSolver::Correction correction{settings_->time_step, settings_->contact,
                                          nodes ? flexible_.displacement() : displacement_};
  const SolveSummary solved =
      solver_.solve(set_, bodies_.motion.motion(), solver_settings(), workers_, start_,
                    nodes ? flexible_.velocity() : next_v_, impulse_, &correction);
  if (nodes) flexible_.take_apart(next_v_, displacement_);
  watch.lap(report.times.solve);
  remember();
  posed_ = solved_ = moved_ = true;
  sensed_ = false;
  step_gravity_ = world_->gravity;
  report.corrected_islands = solved.corrected_islands;
  advance(input, step, solved.corrected_islands > 0, state);
  if (solved.corrected_islands > 0) report.correction_work = correction_work(state.q);
  watch.lap(report.times.integrate);
  place(state);
  watch.lap(report.times.kinematics);

  report.step = step;
  report.time = state.time;
  report.contacts = static_cast<Index>(contacts_.size() + flexible_.contacts().size());
  report.constraints = set_.size();
  report.islands = solved.islands;
  report.missed_islands = solved.missed_islands + bounced.worst.missed_islands;
  report.iterations = solved.iterations + bounced.worst.iterations;
  report.factorizations = solved.factorizations;
  report.impact_rounds = bounced.rounds;
  report.error = std::max(solved.error, bounced.worst.error);
  report.status = solved.worst_status;
  for (const Contact& contact : contacts_) {
    if (!contact.is_face()) report.penetration = std::max(report.penetration, -contact.gap);
  }
  report.penetration = std::max(report.penetration, flexible_.deepest());
  return report;
}

const ContactProblem& StepPipeline::next_problem(const StepInput& input, const State& state) {
  StepTimes unused;
  solved_ = detailed_ = false;
  if (moved_) state_was_set();
  prepare(input, state, WithImpacts::no, unused);
  bodies_.motion.write_matrices();
  contact_impulses_.assign(contacts_.size(), Vec3::Zero());
  contact_torques_.assign(contacts_.size(), Vec3::Zero());
  impulse_.assign(set_.size(), RowValues::Zero());
  solver_.whole_problem(set_, bodies_.motion.motion(), next_, true, true);
  return next_;
}

// The bodies have moved on since; they are put back where the step began.
ContactProblem StepPipeline::posed_problem() {
  ContactProblem problem;
  JointConstraints joints(*world_);
  MovingBodies then(*world_, joints);
  then.place(begun_);
  joints.set_positions(then.kinematics);
  then.motion.compute(begun_, then.kinematics, then.dynamics, input_, applied_, settings_->scheme,
                      settings_->time_step);
  then.motion.write_matrices();
  if (flexible_.any()) then.motion.set_flexible(&flexible_.motion());
  solver_.whole_problem(set_, then.motion.motion(), problem);
  return problem;
}

Vector StepPipeline::posed_guess() const {
  std::vector<double> guess;
  for (Index i = 0; i < set_.size(); ++i) {
    const ConstraintSet::Entry& entry = set_.entry(i);
    if (entry.piece_begin == entry.piece_end) continue;  // not part of posed_problem()
    const double* first = start_[i].data();
    guess.insert(guess.end(), first, first + entry.data.rows());
  }
  return Eigen::Map<const Vector>(guess.data(), static_cast<Index>(guess.size()));
}

double StepPipeline::drive_work(const Vector& v) const {
  return tribo::drive_work(*world_, joints_, set_, impulse_, begun_, v, input_, applied_, settings_->scheme,
                           settings_->time_step);
}

}  // namespace tribo
