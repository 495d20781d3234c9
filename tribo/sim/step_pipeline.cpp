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
      impacts_(world, finder_, settings.solver),
      solver_(world.model, settings.solver),
      sleeping_(world.model),
      input_(Vector::Zero(static_cast<Index>(world.model.actuators().size()))),
      mocap_velocity_(world.model.mocap_bodies().size(), Vec6::Zero()) {
  if (solver_.splits_by_bodies()) set_.keep_bodies(bodies_.kinematics);
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
}

void StepPipeline::clear_contacts() {
  contacts_.clear();
  contact_impulses_.clear();
  contact_torques_.clear();
}

Settings StepPipeline::solver_settings() const {
  Settings s;
  s.tolerance = settings_->tolerance;
  s.law = settings_->law;
  s.max_iterations = settings_->max_iterations;
  s.time_limit = settings_->time_limit;
  return s;
}

// Velocities of the mocap bodies on the way to their goals.
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
  if (settings_->sleeping && goal != begun_.mocap) sleeping_.wake_all();
}

void StepPipeline::begin(const StepInput& input, const State& state) {
  begun_ = state;
  move_mocap(input.mocap_goal);
  joints_.set_positions(bodies_.kinematics);
  finder_.find(bodies_.kinematics, settings_->time_step, workers_, contacts_);
  if (settings_->sleeping) sleeping_.filter(input.force, contacts_);
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
    if (set_.entry(i).source == ConstraintSource::contact || impulse_[i].isZero(0.0)) continue;
    memory_.store(set_.entry(i).data.key, impulse_[i]);
  }
  for (const ContactConstraint& c : contact_constraints_.list()) {
    const RowValues pushed = c.to_world(impulse_[c.constraint]);
    contact_impulses_[c.contact] = pushed.head<3>();
    contact_torques_[c.contact] = pushed.tail<3>();
    if (!pushed.isZero(0.0)) memory_.store(contacts_[c.contact].key, pushed);
  }
}

// Energy of the weight and of the joint springs that the displacement of a step takes, to first order, J.
double StepPipeline::correction_work() {
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
  return work + bodies_.motion.spring_work(begun_.q, displacement_);
}

void StepPipeline::advance(const StepInput& input, std::int64_t step, bool corrected, State& state) {
  const double h = settings_->time_step, weight = theta_vq(settings_->scheme);
  if (settings_->sleeping) {
    sleeping_.update(solver_, h, settings_->sleep_velocity, settings_->sleep_time, next_v_);
  }
  moving_v_ = weight * next_v_ + (1.0 - weight) * begun_.v;
  if (corrected) moving_v_ += displacement_ / h;
  integrate(world_->model, moving_v_, h, state.q);
  state.v = next_v_;
  advance_activations(world_->model, input.control, h, state.activation);
  state.mocap = input.mocap_goal;
  state.time += h;
  if (!state.q.allFinite() || !state.v.allFinite() || !state.activation.allFinite()) {
    throw InvalidInput(
        fmt::format("the state is no longer finite after step {}: forces, controls or stiffnesses are too "
                    "large for the time step",
                    step));
  }
}

StepReport StepPipeline::step(const StepInput& input, std::int64_t step, State& state) {
  StepReport report;
  const Impacts::Outcome bounced = prepare(input, state, WithImpacts::yes, report.times);
  Stopwatch watch;
  if (solver_.splits_by_bodies()) bodies_.motion.write_matrices();
  watch.lap(report.times.kinematics);
  const StepSolver::Correction correction{settings_->time_step, settings_->contact, displacement_};
  const SolveSummary solved = solver_.solve(set_, bodies_.motion.motion(), solver_settings(), workers_,
                                            start_, next_v_, impulse_, &correction);
  watch.lap(report.times.solve);
  remember();
  report.corrected_islands = solved.corrected_islands;
  if (solved.corrected_islands > 0) report.correction_work = correction_work();
  advance(input, step, solved.corrected_islands > 0, state);
  watch.lap(report.times.integrate);
  place(state);
  watch.lap(report.times.kinematics);

  report.step = step;
  report.time = state.time;
  report.contacts = static_cast<Index>(contacts_.size());
  report.constraints = set_.size();
  report.islands = solved.islands;
  report.missed_islands = solved.missed_islands + bounced.worst.missed_islands;
  report.iterations = solved.iterations + bounced.worst.iterations;
  report.factorizations = solved.factorizations;
  report.impact_rounds = bounced.rounds;
  report.error = std::max(solved.error, bounced.worst.error);
  report.status = solved.worst_status;
  for (const Contact& contact : contacts_) report.penetration = std::max(report.penetration, -contact.gap);
  return report;
}

const ContactProblem& StepPipeline::next_problem(const StepInput& input, const State& state) {
  StepTimes unused;
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
