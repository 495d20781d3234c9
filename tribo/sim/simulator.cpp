#include "tribo/sim/simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "tribo/base/errors.h"
#include "tribo/sim/step_pipeline.h"
#include "tribo/sim/world_hash.h"

namespace tribo {

namespace {

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

// The user may have given them another size.
void check(const StepInput& input, const Model& model) {
  if (input.control.size() != static_cast<Index>(model.actuators().size())) {
    throw InvalidInput(fmt::format("control has {} entries: the model has {} actuators", input.control.size(),
                                   model.actuators().size()));
  }
  if (input.force.size() != model.dof_count()) {
    throw InvalidInput(
        fmt::format("force has {} entries: the model has {} dofs", input.force.size(), model.dof_count()));
  }
}

// Of mechanisms at the start; free bodies were checked with the model. Joints that together turn or move what has no inertia
// against it make the mass matrix singular although each alone moves something.
void check_masses(const Model& model, const Dynamics& dynamics) {
  constexpr double kNothing =
      64.0 * std::numeric_limits<double>::epsilon();  // of M_kk: rounding of the pivot
  for (Index t = 0; t < model.tree_count(); ++t) {
    if (model.tree_body_end(t) - model.tree_body(t) < 2) continue;
    Matrix rest = dynamics.mass(t);  // Schur complement of the rows before k
    const Vector diagonal = rest.diagonal();
    for (Index k = 0; k < rest.rows(); ++k) {
      if (!(rest(k, k) > kNothing * diagonal[k])) {
        const JointDescription& joint = model.joint(model.dof_joint(model.tree_dof(t) + k));
        throw InvalidInput(fmt::format(
            "the mass matrix is singular: a joint of body \"{}\" moves nothing that has inertia and that no "
            "other joint moves in the same way; give each moving body an inertia, or the joint an armature",
            model.body_name(joint.body)));
      }
      const Index n = rest.rows() - k - 1;
      rest.bottomRightCorner(n, n) -= rest.col(k).tail(n) * (rest.col(k).tail(n) / rest(k, k)).transpose();
    }
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
  World world;
  const SimulatorSettings settings;
  State state;
  StepInput input;
  std::int64_t steps = 0, missed = 0;
  StepPipeline pipeline;
  std::optional<std::uint64_t> world_number;

  std::uint64_t hash() {
    if (!world_number) world_number = world_hash(world);
    return *world_number;
  }

  Impl(World w, SimulatorSettings s)
      : world(validated(std::move(w))),
        settings(completed(std::move(s), world)),
        state(initial_state(world)),
        input{.control = Vector::Zero(static_cast<Index>(world.model.actuators().size())),
              .force = Vector::Zero(world.model.dof_count()),
              .mocap_goal = state.mocap},
        pipeline(world, settings) {
    pipeline.place(state);
    check_masses(world.model, pipeline.dynamics());
  }
};

Simulator::Simulator(World world, SimulatorSettings settings)
    : impl_(std::make_unique<Impl>(std::move(world), std::move(settings))) {}
Simulator::~Simulator() = default;
Simulator::Simulator(Simulator&&) noexcept = default;
Simulator& Simulator::operator=(Simulator&&) noexcept = default;

const World& Simulator::world() const { return impl_->world; }
const SimulatorSettings& Simulator::settings() const { return impl_->settings; }
double Simulator::time_step() const { return impl_->settings.time_step; }
const State& Simulator::state() const { return impl_->state; }
Vector& Simulator::control() { return impl_->input.control; }
Vector& Simulator::force() { return impl_->input.force; }
std::int64_t Simulator::step_count() const { return impl_->steps; }
std::int64_t Simulator::missed_steps() const { return impl_->missed; }
const std::vector<Contact>& Simulator::contacts() const { return impl_->pipeline.contacts(); }
const std::vector<Vec3>& Simulator::contact_impulses() const { return impl_->pipeline.contact_impulses(); }
const std::vector<Vec3>& Simulator::contact_torques() const { return impl_->pipeline.contact_torques(); }
const std::vector<ContactDetail>& Simulator::contact_details() const {
  return impl_->pipeline.contact_details();
}
const std::vector<FlexibleContact>& Simulator::flexible_contacts() const {
  return impl_->pipeline.flexible().contacts();
}
const std::vector<Vec3>& Simulator::flexible_contact_impulses() const {
  return impl_->pipeline.flexible().impulses();
}
const Kinematics& Simulator::kinematics() const { return impl_->pipeline.kinematics(); }

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
  State complete = initial_state(impl_->world);
  if (state.node_position.size() > 0) complete.node_position = state.node_position;
  if (state.node_velocity.size() > 0) complete.node_velocity = state.node_velocity;
  const Index nodes = impl_->state.node_position.size();
  if (complete.node_position.size() != nodes || complete.node_velocity.size() != nodes) {
    throw InvalidInput(fmt::format("state has {} coordinates and {} velocities of nodes: the world has {}",
                                   complete.node_position.size(), complete.node_velocity.size(), nodes));
  }
  for (std::size_t f = 0; f < impl_->world.flexible_bodies.size(); ++f) {
    const Index first = first_node(impl_->world, static_cast<Index>(f));
    for (const Index node : impl_->world.flexible_bodies[f].fixed_nodes) {
      complete.node_velocity.segment<3>(3 * (first + node)).setZero();
    }
  }
  if (!complete.node_position.allFinite() || !complete.node_velocity.allFinite()) {
    throw InvalidInput("nodes of the state are not finite");
  }
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
  normalize(model, complete.q);
  // Number by number: state() stays where it lies in memory.
  impl_->state.q = complete.q;
  impl_->state.v = state.v;
  impl_->state.time = state.time;
  impl_->state.activation = complete.activation;
  impl_->state.mocap = complete.mocap;
  impl_->state.node_position = complete.node_position;
  impl_->state.node_velocity = complete.node_velocity;
  impl_->input.mocap_goal = complete.mocap;
  impl_->pipeline.forget();
  impl_->pipeline.state_was_set();
  impl_->pipeline.place(impl_->state);
}

void Simulator::set_gravity(const Vec3& gravity) {
  if (!gravity.allFinite()) throw InvalidInput("gravity is not finite");
  impl_->world.gravity = gravity;
  impl_->pipeline.forget();
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
  impl_->input.mocap_goal.segment<3>(first) = pose.position;
  impl_->input.mocap_goal.segment<4>(first + 3) << turn.w(), turn.vec();
}

void Simulator::restart(const State& state) {
  set_state(state);
  impl_->input.control.setZero(static_cast<Index>(model().actuators().size()));
  impl_->input.force.setZero(model().dof_count());
  impl_->pipeline.clear_contacts();
  impl_->steps = impl_->missed = 0;
}

StepReport Simulator::step() {
  check(impl_->input, model());
  ++impl_->steps;
  const StepReport report = impl_->pipeline.step(impl_->input, impl_->steps, impl_->state);
  if (report.missed()) ++impl_->missed;
  if (report.missed() && on_missed) on_missed(report);
  return report;
}

ContactProblem Simulator::problem() const {
  return impl_->pipeline.was_posed() ? impl_->pipeline.posed_problem() : ContactProblem();
}

Vector Simulator::problem_guess() const {
  return impl_->pipeline.was_posed() ? impl_->pipeline.posed_guess() : Vector();
}

const ContactProblem& Simulator::next_problem() {
  check(impl_->input, model());
  return impl_->pipeline.next_problem(impl_->input, impl_->state);
}

Energy Simulator::energy() const {
  const StepPipeline& p = impl_->pipeline;
  const FlexibleMotion& flexible = p.flexible().motion();
  return {p.dynamics().kinetic_energy(impl_->state.v) + flexible.kinetic_energy(impl_->state),
          Dynamics::weight_energy(p.kinematics(), impl_->world.gravity) -
              p.joints().body_forces().compensation_energy(p.kinematics()) +
              flexible.weight_energy(impl_->state),
          p.motion().spring_energy(impl_->state.q), flexible.elastic_energy(impl_->state)};
}

double Simulator::drive_work() const {
  return !impl_->pipeline.was_posed() ? 0.0 : impl_->pipeline.drive_work(impl_->state.v);
}

Vec6 Simulator::momentum() const {
  const Kinematics& k = kinematics();
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
  const FlexibleStep& flexible = impl_->pipeline.flexible();
  if (flexible.any()) sum += flexible.motion().momentum(impl_->state);
  return sum;
}

const Vector& Simulator::sensor_data() const { return impl_->pipeline.sensor_data(impl_->state); }

std::span<const double> Simulator::sensor(std::string_view name) const {
  const Index number = world().find_sensor(name);
  if (number < 0) throw InvalidInput(fmt::format("there is no sensor '{}'", name));
  const SensorSuite& sensors = impl_->pipeline.sensors();
  return {sensor_data().data() + sensors.start(number), static_cast<std::size_t>(sensors.size(number))};
}

std::vector<std::uint8_t> Simulator::save_state() const {
  const Snapshot snapshot{.state = impl_->state,
                          .control = impl_->input.control,
                          .force = impl_->input.force,
                          .mocap_goal = impl_->input.mocap_goal,
                          .gravity = impl_->world.gravity,
                          .steps = impl_->steps,
                          .missed = impl_->missed,
                          .memory = impl_->pipeline.memory(impl_->state)};
  return encode(snapshot, impl_->hash());
}

void Simulator::load_state(std::span<const std::uint8_t> bytes) {
  Snapshot snapshot = decode(bytes, impl_->world, impl_->hash());
  // Number by number: state(), control() and force() stay where they lie in memory.
  impl_->state.q = snapshot.state.q;
  impl_->state.v = snapshot.state.v;
  impl_->state.time = snapshot.state.time;
  impl_->state.activation = snapshot.state.activation;
  impl_->state.mocap = snapshot.state.mocap;
  impl_->state.node_position = snapshot.state.node_position;
  impl_->state.node_velocity = snapshot.state.node_velocity;
  impl_->input.control = snapshot.control;
  impl_->input.force = snapshot.force;
  impl_->input.mocap_goal = snapshot.mocap_goal;
  impl_->world.gravity = snapshot.gravity;
  impl_->steps = snapshot.steps;
  impl_->missed = snapshot.missed;
  impl_->pipeline.set_memory(std::move(snapshot.memory), impl_->state);
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
  for (const double x : impl_->state.node_position) add(x);
  for (const double x : impl_->state.node_velocity) add(x);
  return hash;
}

}  // namespace tribo
