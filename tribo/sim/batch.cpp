#include "tribo/sim/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <optional>

#include "tribo/base/errors.h"
#include "tribo/base/workers.h"
#include "tribo/sim/batch_parameters.h"

namespace tribo {

namespace {

SimulatorSettings of_one_world(SimulatorSettings settings) {
  settings.threads = 1;
  return settings;
}

// Batch::keep_going, asked by worker 0, which is the thread of the caller.
class Watch {
 public:
  explicit Watch(const std::function<bool()>& ask) : ask_(ask) {}
  bool goes_on(Index worker) {
    if (worker == 0 && ask_ && !ask_()) stopped_ = true;
    return !stopped_;
  }

 private:
  const std::function<bool()>& ask_;
  std::atomic<bool> stopped_{false};
};

constexpr std::array<std::string_view, 4> kParameterNames{"mass", "friction", "gain", "gravity"};

}  // namespace

struct Batch::Impl {
  World world;
  SimulatorSettings settings;
  Workers workers;
  std::vector<Simulator> simulators;
  Rows q, v, activation, sensor_data, control, force;
  Vector time, error;
  std::vector<std::int64_t> missed;
  std::vector<WorldStatus> status;
  std::vector<std::string> message;
  std::array<Rows, 4> parameters;

  Impl(const World& w, Index count, const SimulatorSettings& s)
      : world(w), settings(of_one_world(s)), workers(std::max<Index>(1, s.threads)) {
    if (count < 1) throw InvalidInput(fmt::format("a batch has {} worlds: there must be 1 or more", count));
    if (s.threads < 1) throw InvalidInput(fmt::format("threads is {}: it must be >= 1", s.threads));
    simulators.reserve(static_cast<std::size_t>(count));
    for (Index k = 0; k < count; ++k) simulators.emplace_back(world, settings);
    allocate(count);
    for (Index k = 0; k < count; ++k) take_state(k);
  }

  void allocate(Index n) {
    const Model& model = world.model;
    const auto actuators = static_cast<Index>(model.actuators().size());
    q.resize(n, model.coordinate_count());
    v.resize(n, model.dof_count());
    activation.resize(n, model.activation_count());
    sensor_data.setZero(n, simulators.front().sensor_data().size());
    control.setZero(n, actuators);
    force.setZero(n, model.dof_count());
    time.setZero(n);
    error.setZero(n);
    missed.assign(static_cast<std::size_t>(n), 0);
    status.assign(static_cast<std::size_t>(n), WorldStatus::running);
    message.resize(static_cast<std::size_t>(n));
    Vector mass(model.body_count()), friction(static_cast<Index>(world.geoms.size()));
    for (Index b = 0; b < model.body_count(); ++b) mass[b] = model.inertia(b).mass;
    for (Index g = 0; g < friction.size(); ++g) {
      friction[g] = world.geoms[static_cast<std::size_t>(g)].material.friction;
    }
    place(BatchParameter::mass) = mass.transpose().replicate(n, 1);
    place(BatchParameter::friction) = friction.transpose().replicate(n, 1);
    place(BatchParameter::gain) = Rows::Ones(n, actuators);
    place(BatchParameter::gravity) = world.gravity.transpose().replicate(n, 1);
  }

  Rows& place(BatchParameter parameter) { return parameters[static_cast<std::size_t>(parameter)]; }
  Index count() const { return static_cast<Index>(simulators.size()); }
  bool failed(Index k) const { return status[static_cast<std::size_t>(k)] == WorldStatus::failed; }
  Simulator& simulator(Index k) { return simulators[static_cast<std::size_t>(k)]; }

  void check_mask(Mask mask) const {
    if (mask.empty() || mask.size() == simulators.size()) return;
    throw InvalidInput(
        fmt::format("mask has {} entries: there are {} worlds", mask.size(), simulators.size()));
  }
  static bool takes_part(Mask mask, Index k) {
    return mask.empty() || mask[static_cast<std::size_t>(k)] != 0;
  }

  void take_state(Index k) {
    const State& state = simulator(k).state();
    q.row(k) = state.q.transpose();
    v.row(k) = state.v.transpose();
    if (state.activation.size() > 0) activation.row(k) = state.activation.transpose();
    time[k] = state.time;
  }

  void take_sensors(Index k) {
    if (sensor_data.cols() > 0) sensor_data.row(k) = simulator(k).sensor_data().transpose();
  }

  // One step with the given control; false: the world has failed. Its row of error: the worst since it was set to zero.
  bool advance(Index k, const Eigen::Ref<const Eigen::RowVectorXd>& input, double& step_error) {
    const auto place = static_cast<std::size_t>(k);
    Simulator& one = simulator(k);
    one.control() = input.transpose();
    one.force() = force.row(k).transpose();
    try {
      const StepReport report = one.step();
      step_error = report.error;
      error[k] = std::max(error[k], report.error);
      if (report.missed()) ++missed[place];
      take_state(k);
      return true;
    } catch (const InvalidInput& problem) {
      status[place] = WorldStatus::failed;
      message[place] = problem.what();
      return false;
    }
  }

  // Simulator k over another world, in the state it has.
  Simulator rebuilt(Index k, World changed) {
    const Simulator& old = simulator(k);
    Simulator fresh(std::move(changed), settings);
    fresh.set_gravity(old.world().gravity);
    if (!failed(k)) fresh.set_state(old.state());
    return fresh;
  }
};

Batch::Batch(const World& world, Index count, const SimulatorSettings& settings)
    : impl_(std::make_unique<Impl>(world, count, settings)) {}
Batch::~Batch() = default;
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;

Index Batch::size() const { return impl_->count(); }
const World& Batch::world() const { return impl_->world; }
double Batch::time_step() const { return impl_->simulators.front().time_step(); }
const Batch::Rows& Batch::q() const { return impl_->q; }
const Batch::Rows& Batch::v() const { return impl_->v; }
const Batch::Rows& Batch::activation() const { return impl_->activation; }
const Batch::Rows& Batch::sensor_data() const { return impl_->sensor_data; }
Batch::Rows& Batch::control() { return impl_->control; }
Batch::Rows& Batch::force() { return impl_->force; }
const Vector& Batch::time() const { return impl_->time; }
const Vector& Batch::error() const { return impl_->error; }
const std::vector<std::int64_t>& Batch::missed() const { return impl_->missed; }
const std::vector<WorldStatus>& Batch::status() const { return impl_->status; }
const std::string& Batch::message(Index world) const {
  return impl_->message.at(static_cast<std::size_t>(world));
}
const Batch::Rows& Batch::parameter(BatchParameter parameter) const { return impl_->place(parameter); }
const Simulator& Batch::simulator(Index world) const {
  return impl_->simulators.at(static_cast<std::size_t>(world));
}

void Batch::step(Index steps, Mask mask) {
  Impl& all = *impl_;
  all.check_mask(mask);
  if (steps < 0) throw InvalidInput(fmt::format("steps is {}: it must be >= 0", steps));
  Watch watch(keep_going);
  all.workers.run(all.count(), [&](Index k, Index worker) {
    if (!Impl::takes_part(mask, k) || all.failed(k)) return;
    all.error[k] = 0.0;
    double step_error = 0.0;
    for (Index s = 0; s < steps && watch.goes_on(worker); ++s) {
      if (!all.advance(k, all.control.row(k), step_error)) return;
    }
    if (steps > 0) all.take_sensors(k);
  });
}

void Batch::rollout(Index steps, const double* controls, const RolloutBuffers& out) {
  Impl& all = *impl_;
  if (steps < 0) throw InvalidInput(fmt::format("steps is {}: it must be >= 0", steps));
  const auto put = [](double* base, std::size_t entry, const auto& row) {
    if (base != nullptr)
      std::copy_n(row.data(), row.size(), base + entry * static_cast<std::size_t>(row.size()));
  };
  Watch watch(keep_going);
  all.workers.run(all.count(), [&](Index k, Index worker) {
    all.error[k] = 0.0;
    for (Index s = 0; s < steps && watch.goes_on(worker); ++s) {
      const std::size_t entry =
          static_cast<std::size_t>(k) * static_cast<std::size_t>(steps) + static_cast<std::size_t>(s);
      double step_error = std::numeric_limits<double>::infinity();
      if (!all.failed(k)) {
        if (controls != nullptr) {
          const Index width = static_cast<Index>(all.control.cols());
          all.control.row(k) =
              Eigen::Map<const Eigen::RowVectorXd>(controls + entry * static_cast<std::size_t>(width), width);
        }
        if (all.advance(k, all.control.row(k), step_error)) {
          if (out.sensor_data != nullptr || s + 1 == steps) all.take_sensors(k);
        }
      }
      put(out.q, entry, all.q.row(k));
      put(out.v, entry, all.v.row(k));
      put(out.sensor_data, entry, all.sensor_data.row(k));
      if (out.error != nullptr) out.error[entry] = step_error;
    }
  });
}

void Batch::reset(Mask mask, const Rows* q, const Rows* v) {
  Impl& all = *impl_;
  all.check_mask(mask);
  const auto check = [&](const Rows* rows, std::string_view name, Index width) {
    if (rows == nullptr) return;
    if (rows->rows() != all.count() || rows->cols() != width) {
      throw InvalidInput(fmt::format("{} is {} x {}: it must be {} x {}", name, rows->rows(), rows->cols(),
                                     all.count(), width));
    }
    for (Index k = 0; k < all.count(); ++k) {
      if (Impl::takes_part(mask, k) && !rows->row(k).allFinite()) {
        throw InvalidInput(fmt::format("{} of world {} is not finite", name, k));
      }
    }
  };
  check(q, "q", all.world.model.coordinate_count());
  check(v, "v", all.world.model.dof_count());
  std::vector<State> states(static_cast<std::size_t>(all.count()), initial_state(all.world.model));
  for (Index k = 0; k < all.count(); ++k) {
    State& state = states[static_cast<std::size_t>(k)];
    if (q != nullptr && Impl::takes_part(mask, k)) state.q = q->row(k).transpose();
    if (v != nullptr && Impl::takes_part(mask, k)) state.v = v->row(k).transpose();
    normalize(all.world.model, state.q);
  }
  all.workers.run(all.count(), [&](Index k, Index) {
    if (!Impl::takes_part(mask, k)) return;
    const auto place = static_cast<std::size_t>(k);
    all.simulator(k).restart(states[place]);
    all.control.row(k).setZero();
    all.force.row(k).setZero();
    all.error[k] = 0.0;
    all.missed[place] = 0;
    all.status[place] = WorldStatus::running;
    all.message[place].clear();
    all.take_state(k);
    all.take_sensors(k);
  });
}

void Batch::set_parameter(BatchParameter parameter, const Rows& values, Mask mask) {
  Impl& all = *impl_;
  all.check_mask(mask);
  const std::string_view name = kParameterNames[static_cast<std::size_t>(parameter)];
  Rows& kept = all.place(parameter);
  if (values.rows() != kept.rows() || values.cols() != kept.cols()) {
    throw InvalidInput(fmt::format("{} is {} x {}: it must be {} x {}", name, values.rows(), values.cols(),
                                   kept.rows(), kept.cols()));
  }
  Rows wanted = kept;
  for (Index k = 0; k < all.count(); ++k) {
    if (!Impl::takes_part(mask, k)) continue;
    if (!values.row(k).allFinite()) throw InvalidInput(fmt::format("{} of world {} is not finite", name, k));
    wanted.row(k) = values.row(k);
  }
  const auto rows = [&](BatchParameter p, Index k) {
    return Vector((p == parameter ? wanted : all.place(p)).row(k).transpose());
  };
  std::vector<std::optional<World>> worlds(static_cast<std::size_t>(all.count()));
  for (Index k = 0; k < all.count() && parameter != BatchParameter::gravity; ++k) {
    if (!Impl::takes_part(mask, k) || wanted.row(k) == kept.row(k)) continue;
    World changed = with_parameters(all.world, rows(BatchParameter::mass, k),
                                    rows(BatchParameter::friction, k), rows(BatchParameter::gain, k));
    worlds[static_cast<std::size_t>(k)] = std::move(changed);
  }
  // What a simulator refuses shows before any of them is replaced.
  std::vector<std::optional<Simulator>> fresh(worlds.size());
  all.workers.run(all.count(), [&](Index k, Index) {
    const auto place = static_cast<std::size_t>(k);
    if (worlds[place]) fresh[place] = all.rebuilt(k, std::move(*worlds[place]));
  });
  for (Index k = 0; k < all.count(); ++k) {
    if (!Impl::takes_part(mask, k) || wanted.row(k) == kept.row(k)) continue;
    if (parameter == BatchParameter::gravity) {
      all.simulator(k).set_gravity(wanted.row(k).transpose());
    } else {
      all.simulator(k) = std::move(*fresh[static_cast<std::size_t>(k)]);
    }
  }
  kept = wanted;  // stays where it lies
}

}  // namespace tribo
