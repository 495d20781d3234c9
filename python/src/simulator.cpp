// tribo.Simulator: stepping, state, settings.
#include "simulator.h"

#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <map>

#include "arrays.h"
#include "module.h"
#include "settings.h"
#include "tribo/base/errors.h"

namespace tribo::python {
namespace {

using namespace nb::literals;
using Box = SimulatorBox;
constexpr const char* kWhat = "simulator";

struct Reading : InUse {
  explicit Reading(Box& box) : InUse(box.owner, For::reading, kWhat) {}
};
struct Changing : InUse {
  explicit Changing(Box& box) : InUse(box.owner, For::changing, kWhat) { box.require_own_process(); }
};

void construct(Box* self, nb::object world, std::optional<double> dt, std::optional<std::string> law,
               std::optional<std::string> solver, std::optional<double> tolerance, Index threads,
               std::optional<std::string> scheme, std::optional<Index> max_iterations,
               std::optional<double> time_limit, std::optional<bool> warm_start, std::optional<bool> sleeping,
               const std::map<std::string, double>& contact) {
  SimulatorSettings settings = simulator_settings(world, dt, law, solver, tolerance, threads, scheme,
                                                  max_iterations, time_limit, warm_start, sleeping, contact);
  new (self) Box(std::move(world), std::move(settings));
}

StepReport step(Box& box, std::int64_t n) {
  if (n < 1) throw InvalidInput(fmt::format("n: expected a number of steps >= 1, not {}", n));
  const Changing guard(box);
  Interruption interruption;
  box.interruption = &interruption;
  StepReport report;
  std::exception_ptr failure;
  {
    const nb::gil_scoped_release release;
    try {
      const std::function<StepReport()> advance = [&box] { return box.simulator->step(); };
      for (std::int64_t k = 0; k < n && !interruption.failed(); ++k) {
        if (n > 1 && interruption.requested()) break;
        report = box.step(advance);
      }
    } catch (...) {
      failure = std::current_exception();
    }
  }
  box.interruption = nullptr;
  interruption.rethrow();
  if (failure) std::rethrow_exception(failure);
  return report;
}

State state_of(const Box& box, nb::handle q, nb::handle v, std::optional<double> time, nb::handle activation,
               nb::handle mocap, nb::handle node_positions, nb::handle node_velocities) {
  const Model& model = box.simulator->model();
  State state = box.simulator->state();
  if (!q.is_none()) state.q = to_vector(q, "q", model.coordinate_count());
  if (!v.is_none()) state.v = to_vector(v, "v", model.dof_count());
  if (time) state.time = *time;
  if (!activation.is_none()) state.activation = to_vector(activation, "activation", model.activation_count());
  if (!mocap.is_none())
    state.mocap = to_vector(mocap, "mocap", 7 * static_cast<Index>(model.mocap_bodies().size()));
  const Index nodes = static_cast<Index>(state.node_position.size()) / 3;
  if (!node_positions.is_none()) state.node_position = to_rows3(node_positions, "node_positions", nodes);
  if (!node_velocities.is_none()) state.node_velocity = to_rows3(node_velocities, "node_velocities", nodes);
  return state;
}

void reset(Box& box, nb::handle keyframe) {
  const Changing guard(box);
  if (keyframe.is_none()) {
    box.restart(box.box().start);
    return;
  }
  const Keyframe& key = find_keyframe(box.simulator->world(), keyframe);
  box.restart(key.state);
  if (key.control.size() == box.simulator->control().size()) box.simulator->control() = key.control;
}

nb::dict observables(Box& box) {
  const Reading guard(box);
  nb::dict values;
  if (!box.scene) return values;
  for (const Observable& o : box.scene->observables(*box.simulator))
    values[nb::str(o.name.c_str())] = nb::make_tuple(o.value, o.unit);
  return values;
}

// on_missed may refer back to the simulator.
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const Box* box = nb::inst_ptr<Box>(self);
  Py_VISIT(box->on_missed.ptr());
  Py_VISIT(box->world.ptr());
  return 0;
}
int clear(PyObject* self) {
  Box* box = nb::inst_ptr<Box>(self);
  box->on_missed = nb::none();
  return 0;
}
PyType_Slot kSlots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                        {Py_tp_clear, reinterpret_cast<void*>(clear)},
                        {0, nullptr}};

void bind_state(nb::class_<Box>& c) {
  using Self = nb::pointer_and_handle<Box>;
  // The owner of a view is not the Python object: nothing may tie the two together.
  c.def_prop_ro(
       "q", [](Self s) { return view_of(s.p->simulator->state().q, s.p->memory); },
       "Coordinates (coordinates,), a live view: m, rad, unit quaternions (w, x, y, z). Change it by "
       "set_state().",
       nb::rv_policy::automatic)
      .def_prop_ro(
          "v", [](Self s) { return view_of(s.p->simulator->state().v, s.p->memory); },
          "Velocities (dofs,), a live view: m/s, rad/s. Change it by set_state().", nb::rv_policy::automatic)
      .def_prop_ro(
          "activation", [](Self s) { return view_of(s.p->simulator->state().activation, s.p->memory); },
          "Activations of actuators that have one, a live view.", nb::rv_policy::automatic)
      .def_prop_ro(
          "mocap", [](Self s) { return view_of(s.p->simulator->state().mocap, s.p->memory); },
          "Positions [m] and unit quaternions of mocap bodies (7 per body), a live view. Change it by "
          "move_mocap().",
          nb::rv_policy::automatic)
      .def_prop_rw(
          "control", [](Self s) { return writable_view_of(s.p->simulator->control(), s.p->memory); },
          [](Box& b, nb::handle value) {
            const Changing guard(b);
            // Copied, not moved: views of it stay valid.
            const Vector given =
                to_vector(value, "control", static_cast<Index>(b.simulator->control().size()));
            b.simulator->control() = given;
          },
          nb::for_setter(nb::sig("def control(self, value: numpy.typing.ArrayLike, /) -> None")),
          "Controls (actuators,), a live view to write to: sim.control[:] = ...", nb::rv_policy::automatic)
      .def_prop_rw(
          "force", [](Self s) { return writable_view_of(s.p->simulator->force(), s.p->memory); },
          [](Box& b, nb::handle value) {
            const Changing guard(b);
            const Vector given = to_vector(value, "force", static_cast<Index>(b.simulator->force().size()));
            b.simulator->force() = given;
          },
          nb::for_setter(nb::sig("def force(self, value: numpy.typing.ArrayLike, /) -> None")),
          "Applied generalised forces (dofs,), N and N m, a live view to write to; kept until changed.",
          nb::rv_policy::automatic)
      .def_prop_ro(
          "time", [](const Box& b) { return b.simulator->state().time; }, "s.")
      .def(
          "set_state",
          [](Box& b, nb::handle q, nb::handle v, std::optional<double> time, nb::handle activation,
             nb::handle mocap, nb::handle node_positions, nb::handle node_velocities) {
            const Changing guard(b);
            b.simulator->set_state(
                state_of(b, q, v, time, activation, mocap, node_positions, node_velocities));
          },
          "q"_a = nb::none(), "v"_a = nb::none(), "time"_a = nb::none(), "activation"_a = nb::none(),
          "mocap"_a = nb::none(), "node_positions"_a = nb::none(), "node_velocities"_a = nb::none(),
          nb::sig(
              "def set_state(self, q: numpy.typing.ArrayLike | None = None, v: numpy.typing.ArrayLike | "
              "None = None, time: float "
              "| None = None, activation: numpy.typing.ArrayLike | None = None, mocap: "
              "numpy.typing.ArrayLike | None = None, node_positions: numpy.typing.ArrayLike | None = None, "
              "node_velocities: numpy.typing.ArrayLike | None = None) -> None"),
          "Sets the state; what is None stays. Quaternions are normalised, warm starts forgotten. "
          "node_positions [m], node_velocities [m/s]: of all flexible bodies (nodes, 3), as in "
          "Simulator.node_positions(); fixed nodes do not move.")
      .def("reset", &reset, "keyframe"_a = nb::none(),
           nb::sig("def reset(self, keyframe: int | str | None = None) -> None"),
           "Back to the start of the world, or to a keyframe with its controls; steps are counted from zero, "
           "forces are zero.")
      .def(
          "move_mocap",
          [](Box& b, nb::handle body, nb::handle position, nb::handle rotation) {
            const Changing guard(b);
            b.simulator->move_mocap(body_number(b.simulator->world(), body), to_pose(position, rotation));
          },
          "body"_a, "position"_a, "rotation"_a = nb::none(),
          nb::sig("def move_mocap(self, body: int | str, position: numpy.typing.ArrayLike, rotation: "
                  "numpy.typing.ArrayLike | None = "
                  "None) -> None"),
          "A mocap body reaches this pose at the end of the next step: position [m], rotation (quaternion w, "
          "x, y, z or matrix).")
      .def_prop_rw(
          "gravity", [](const Box& b) { return new_vector(b.simulator->world().gravity); },
          [](Box& b, nb::handle g) {
            const Changing guard(b);
            b.simulator->set_gravity(to_vec3(g, "gravity"));
          },
          nb::for_setter(nb::sig("def gravity(self, value: numpy.typing.ArrayLike, /) -> None")),
          "m/s²; setting it forgets warm starts.", nb::rv_policy::automatic);
}

void bind_settings(nb::class_<Box>& c) {
  c.def_ro("world", &Box::world, nb::sig("def world(self) -> World"), "The World it was made from.")
      .def_prop_ro(
          "dt", [](const Box& b) { return b.simulator->time_step(); }, "Time step, s.")
      .def_prop_ro(
          "law", [](const Box& b) { return to_string(b.simulator->settings().law); },
          "\"exact\" (Coulomb) or \"convex\" (its relaxation).")
      .def_prop_ro(
          "solver", [](const Box& b) { return b.simulator->settings().solver; }, "Name, with its options.")
      .def_prop_ro(
          "scheme", [](const Box& b) { return tribo::to_string(b.simulator->settings().scheme); },
          "\"symplectic-euler\", \"implicit-euler\" or \"midpoint\".")
      .def_prop_ro(
          "tolerance", [](const Box& b) { return b.simulator->settings().tolerance; },
          "On the scaled certificate of every step.")
      .def_prop_ro(
          "threads", [](const Box& b) { return b.simulator->settings().threads; },
          "For islands; the bits are the same for any number.")
      .def_prop_ro(
          "step_count", [](const Box& b) { return b.simulator->step_count(); },
          "Since the beginning or the last reset.")
      .def_prop_ro(
          "missed_steps", [](const Box& b) { return b.simulator->missed_steps(); },
          "Steps whose certificate missed the tolerance.")
      .def_prop_ro(
          "state_hash", [](const Box& b) { return b.simulator->state_hash(); },
          "Of q, v, time, activations, mocap poses and nodes, bit for bit.")
      .def_prop_rw(
          "on_missed", [](const Box& b) { return b.on_missed; },
          [](Box& b, nb::object callable) {
            if (!callable.is_none() && !nb::callable::check_(callable)) {
              throw nb::type_error("on_missed: expected a callable that takes a StepReport, or None");
            }
            b.on_missed = std::move(callable);
          },
          nb::for_setter(nb::arg("callable").none()),
          nb::for_getter(nb::sig("def on_missed(self) -> typing.Any")),
          nb::for_setter(nb::sig("def on_missed(self, callable: typing.Any, /) -> None")),
          "Called with the StepReport of a step that missed the tolerance; None: nobody.")
      .def("observables", &observables, nb::sig("def observables(self) -> dict[str, tuple[float, str]]"),
           "What one would measure on a built-in scene: {name: (value, unit)}, exact values beside where "
           "mechanics gives one.");
}

}  // namespace

SimulatorBox::SimulatorBox(nb::object world_object, SimulatorSettings settings)
    : world(std::move(world_object)) {
  const WorldBox& given = box();
  // Threads of another process cannot be joined: in a child they are left alone.
  const bool threaded = settings.threads > 1;
  simulator = std::shared_ptr<Simulator>(new Simulator(given.world, std::move(settings)),
                                         [threaded, process = process](Simulator* s) {
                                           if (!threaded || process == getpid()) delete s;
                                         });
  memory = nb::capsule(new std::shared_ptr<Simulator>(simulator),
                       [](void* p) noexcept { delete static_cast<std::shared_ptr<Simulator>*>(p); });
  simulator->set_state(given.start);
  begin_scene();
  simulator->on_missed = [this](const StepReport& report) {
    if (interruption == nullptr || on_missed.is_none()) return;
    interruption->ask([&] {
      const nb::object callable = on_missed;  // it may replace itself
      callable(report);
      return true;
    });
  };
}

SimulatorBox::~SimulatorBox() { simulator->on_missed = nullptr; }

StepReport SimulatorBox::step(const std::function<StepReport()>& advance) {
  if (scene) scene->control(*simulator);
  const StepReport report = advance();
  if (scene) scene->observe(*simulator, report);
  for (const auto& [number, watcher] : watchers_) watcher(*simulator, report);
  return report;
}

void SimulatorBox::require_own_process() const {
  if (process == getpid() || simulator->settings().threads == 1) return;
  throw std::runtime_error(
      "this simulator was made before fork() and its threads stayed in the parent: make a new one in the "
      "child, or use "
      "threads=1");
}

void SimulatorBox::restart(const State& state) {
  simulator->restart(state);
  begin_scene();
}

void SimulatorBox::begin_scene() {
  const WorldBox& given = box();
  if (given.scene.empty()) return;
  scene = make_scene(given.scene, given.scene_values, given.scene_step);
  scene->world = World();
}

std::uint64_t SimulatorBox::watch(Watcher watcher) {
  watchers_.emplace_back(next_watcher_, std::move(watcher));
  return next_watcher_++;
}

void SimulatorBox::unwatch(std::uint64_t number) {
  std::erase_if(watchers_, [number](const auto& entry) { return entry.first == number; });
}

void bind_simulator(nb::module_& m) {
  bind_step_reports(m);
  bind_inverse_result(m);
  nb::class_<Box> c(
      m, "Simulator", nb::type_slots(kSlots), nb::is_weak_referenceable(),
      R"(Steps a World through time. Every step has its certificate; a step that misses the tolerance is counted, never hidden.

The same world, settings and controls give the same bits, on any number of threads. One thread of Python uses a simulator
at a time; step() lets the others run.

dt: time step, s, the world's own if None. law: "exact" or "convex". solver: as in tribo.solve(). tolerance: of the scaled
certificate of every step. scheme: "symplectic-euler", "implicit-euler" or "midpoint". time_limit: wall clock per step, s.
sleeping: islands at rest are left out until something touches them. contact: settings of contacts by name, {"position_slop":
1e-8, ...}. What is None is as the scene wants it, or the library's default.

Example::

    sim = tribo.Simulator(tribo.load("humanoid.xml"), threads=2)
    while sim.time < 1.0:
        sim.control[:] = controller(sim.q, sim.v)
        sim.step())");
  c.def("__init__", &construct, "world"_a, "dt"_a = nb::none(), "law"_a = nb::none(), "solver"_a = nb::none(),
        "tolerance"_a = nb::none(), "threads"_a = 1, nb::kw_only(), "scheme"_a = nb::none(),
        "max_iterations"_a = nb::none(), "time_limit"_a = nb::none(), "warm_start"_a = nb::none(),
        "sleeping"_a = nb::none(), "contact"_a = nb::dict(),
        nb::sig("def __init__(self, world: World, dt: float | None = None, law: str | None = None, solver: "
                "str | None = None, tolerance: "
                "float | None = None, threads: int = 1, *, scheme: str | None = None, max_iterations: int | "
                "None = None, time_limit: float "
                "| None = None, warm_start: bool | None = None, sleeping: bool | None = None, contact: "
                "dict[str, float] = {}) -> None"))
      .def("step", &step, "n"_a = 1,
           "Makes n time steps and returns the report of the last one. Ctrl-C ends it between two steps.")
      .def(
          "record",
          [](nb::handle self, double fps, nb::handle file, const std::string& name) {
            return nb::module_::import_("tribo._simulation").attr("Recording")(self, fps, file, name);
          },
          "fps"_a = 60.0, "file"_a = nb::none(), "name"_a = "",
          nb::sig("def record(self, fps: float = 60.0, file: str | os.PathLike | None = None, name: str = "
                  "'') -> tribo.Recording"),
          "Records the steps from now on: tribo.record().")
      .def("__repr__",
           [](const Box& b) {
             return fmt::format("tribo.Simulator(\"{}\", time {:.6g} s, {} steps of {:.6g} s, {} missed)",
                                b.simulator->world().name, b.simulator->state().time,
                                b.simulator->step_count(), b.simulator->time_step(),
                                b.simulator->missed_steps());
           })
      .def(
          "__reduce__",
          [](nb::handle) -> nb::object {
            throw nb::type_error(
                "a Simulator cannot be pickled: make one in each process and pass its state (q, v, time)");
          },
          nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
  bind_state(c);
  bind_settings(c);
  bind_contacts(c);
  bind_flexible(c);
  bind_sensors(c);
  bind_simulator_parts(c, m);
}

}  // namespace tribo::python
