// tribo.Batch: many worlds of one kind.
#include "tribo/sim/batch.h"

#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "arrays.h"
#include "calls.h"
#include "module.h"
#include "settings.h"
#include "simulator.h"
#include "tribo/base/errors.h"

namespace tribo::python {
namespace {

using namespace nb::literals;
constexpr const char* kWhat = "batch";

using RowsView = nb::ndarray<nb::numpy, const double, nb::ndim<2>, nb::c_contig>;
using WritableRows = nb::ndarray<nb::numpy, double, nb::ndim<2>, nb::c_contig>;
using CountsView = nb::ndarray<nb::numpy, const std::int64_t, nb::ndim<1>, nb::c_contig>;
using FlagsView = nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>, nb::c_contig>;

struct BatchBox {
  nb::object world;  // the WorldBox
  std::unique_ptr<Batch> batch;
  Owner owner;
  pid_t process = getpid();

  ~BatchBox() {
    if (process != getpid()) (void)batch.release();  // its threads stayed in the parent
  }
  std::size_t count() const { return static_cast<std::size_t>(batch->size()); }
  void require_own_process() const {
    if (process == getpid()) return;
    throw std::runtime_error(
        "this batch was made before fork(), and its threads do not exist here: make a new one");
  }
};
using Self = nb::pointer_and_handle<BatchBox>;

struct Changing : InUse {
  explicit Changing(BatchBox& box) : InUse(box.owner, For::changing, kWhat) { box.require_own_process(); }
};

RowsView view(const Batch::Rows& rows, nb::handle owner) {
  return RowsView(rows.data(), {static_cast<std::size_t>(rows.rows()), static_cast<std::size_t>(rows.cols())},
                  owner);
}
WritableRows writable(Batch::Rows& rows, nb::handle owner) {
  return WritableRows(rows.data(),
                      {static_cast<std::size_t>(rows.rows()), static_cast<std::size_t>(rows.cols())}, owner);
}

// One row for all worlds, or a row per world.
Batch::Rows rows_of(nb::handle value, const char* argument, Index rows, Index cols,
                    Finite finite = Finite::yes) {
  const nb::object array = nb::module_::import_("numpy").attr("asarray")(value);
  if (nb::cast<int>(array.attr("ndim")) == 1) {
    return to_vector(array, argument, cols, finite).transpose().replicate(rows, 1);
  }
  Batch::Rows result = to_matrix(array, argument);
  if (result.rows() != rows || result.cols() != cols) {
    throw InvalidInput(fmt::format("{}: expected an array of shape ({}, {}), not {}", argument, rows, cols,
                                   shape_of(value)));
  }
  return result;
}

// In place: there are views of it.
void set_rows(nb::handle value, const char* argument, Batch::Rows& rows) {
  const Batch::Rows wanted =
      rows_of(value, argument, static_cast<Index>(rows.rows()), static_cast<Index>(rows.cols()));
  rows = wanted;
}

// Booleans, or zeros and ones; or None.
std::vector<std::uint8_t> mask_of(nb::handle value, const BatchBox& box) {
  if (value.is_none()) return {};
  const nb::object numpy = nb::module_::import_("numpy");
  const nb::object given = numpy.attr("asarray")(value), numbers = nb::make_tuple(0, 1);
  const auto kind = nb::cast<std::string>(given.attr("dtype").attr("kind"));
  const bool whole = kind == "i" || kind == "u";
  if (kind != "b" &&
      !(whole && nb::cast<bool>(numpy.attr("isin")(given, numbers).attr("all")().attr("item")()))) {
    throw nb::type_error(
        fmt::format("mask: expected {} booleans, one per world; numbers of worlds are no mask", box.count())
            .c_str());
  }
  const nb::object array = numpy.attr("ascontiguousarray")(given, "dtype"_a = numpy.attr("bool_"));
  if (nb::cast<int>(array.attr("ndim")) != 1 || nb::cast<std::size_t>(array.attr("size")) != box.count()) {
    throw InvalidInput(
        fmt::format("mask: expected {} booleans, one per world, not {}", box.count(), shape_of(value)));
  }
  const auto bytes = nb::cast<nb::bytes>(array.attr("tobytes")());
  const auto* first = static_cast<const std::uint8_t*>(bytes.data());
  return {first, first + bytes.size()};
}

BatchParameter parameter_of(const std::string& name) {
  if (name == "mass") return BatchParameter::mass;
  if (name == "friction") return BatchParameter::friction;
  if (name == "gain") return BatchParameter::gain;
  if (name == "gravity") return BatchParameter::gravity;
  throw InvalidInput(
      fmt::format("name: there is no parameter \"{}\" (there are: mass, friction, gain, gravity)", name));
}

// Runs `work` without the GIL; Ctrl-C ends it.
template <class Work>
void at_work(BatchBox& box, const Work& work) {
  Interruption interruption;
  box.batch->keep_going = [&interruption] { return !interruption.requested(); };
  std::exception_ptr failure;
  {
    const nb::gil_scoped_release release;
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
  }
  box.batch->keep_going = nullptr;
  interruption.rethrow();
  if (failure) std::rethrow_exception(failure);
}

void reset(BatchBox& box, nb::handle mask, nb::handle q, nb::handle v) {
  const Changing guard(box);
  Batch& batch = *box.batch;
  const State& start = nb::cast<WorldBox&>(box.world).start;
  const Model& model = batch.world().model;
  const Batch::Rows to_q = q.is_none() ? Batch::Rows(start.q.transpose().replicate(batch.size(), 1))
                                       : rows_of(q, "q", batch.size(), model.coordinate_count());
  const Batch::Rows to_v = v.is_none() ? Batch::Rows(start.v.transpose().replicate(batch.size(), 1))
                                       : rows_of(v, "v", batch.size(), model.dof_count());
  const std::vector<std::uint8_t> chosen = mask_of(mask, box);
  const nb::gil_scoped_release release;
  batch.reset(chosen, &to_q, &to_v);
}

void construct(BatchBox* self, nb::object world, Index n, std::optional<double> dt,
               std::optional<std::string> law, std::optional<std::string> solver,
               std::optional<double> tolerance, Index threads, std::optional<std::string> scheme,
               std::optional<Index> max_iterations, std::optional<double> time_limit,
               std::optional<bool> warm_start, std::optional<bool> sleeping,
               const std::map<std::string, double>& contact) {
  const SimulatorSettings settings =
      simulator_settings(world, dt, law, solver, tolerance, threads, scheme, max_iterations, time_limit,
                         warm_start, sleeping, contact);
  if (n < 1) throw InvalidInput(fmt::format("n: expected a number of worlds >= 1, not {}", n));
  const World& described = nb::cast<WorldBox&>(world).world;
  std::unique_ptr<Batch> batch;
  {
    const nb::gil_scoped_release release;
    batch = std::make_unique<Batch>(described, n, settings);
  }
  new (self) BatchBox{std::move(world), std::move(batch), {}};
  reset(*self, nb::none(), nb::none(), nb::none());
}

void step(BatchBox& box, Index k, nb::handle mask) {
  if (k < 1) throw InvalidInput(fmt::format("k: expected a number of steps >= 1, not {}", k));
  const Changing guard(box);
  const std::vector<std::uint8_t> chosen = mask_of(mask, box);
  at_work(box, [&] { box.batch->step(k, chosen); });
}

nb::dict rollout(BatchBox& box, Index steps, nb::handle controls, nb::handle states) {
  if (steps < 1) throw InvalidInput(fmt::format("steps: expected a number >= 1, not {}", steps));
  Batch& batch = *box.batch;
  const std::size_t n = box.count(), length = static_cast<std::size_t>(steps);
  const auto width = static_cast<std::size_t>(batch.control().cols());
  Batch::Rows flat;
  if (!controls.is_none()) {
    const nb::object numpy = nb::module_::import_("numpy");
    const nb::object array = numpy.attr("asarray")(controls);
    if (nb::cast<int>(array.attr("ndim")) != 3) {
      throw InvalidInput(fmt::format("controls: expected an array of shape ({}, {}, {}), not {}", n, steps,
                                     width, shape_of(array)));
    }
    const auto shape = nb::cast<nb::tuple>(array.attr("shape"));
    if (nb::cast<std::size_t>(shape[0]) != n || nb::cast<std::size_t>(shape[1]) != length ||
        nb::cast<std::size_t>(shape[2]) != width) {
      throw InvalidInput(fmt::format("controls: expected an array of shape ({}, {}, {}), not {}", n, steps,
                                     width, shape_of(array)));
    }
    if (width > 0) flat = to_matrix(array.attr("reshape")(n, length * width), "controls");
  }
  if (!states.is_none()) {
    if (!nb::isinstance<nb::tuple>(states) || nb::len(states) != 2)
      throw nb::type_error("states: expected (q, v) or None");
    const auto pair = nb::borrow<nb::tuple>(states);
    reset(box, nb::none(), pair[0], pair[1]);
  }
  const Changing guard(box);
  const auto make = [&](std::size_t columns) {
    return std::make_unique<double[]>(std::max<std::size_t>(1, n * length * columns));
  };
  const auto nq = static_cast<std::size_t>(batch.q().cols()), nv = static_cast<std::size_t>(batch.v().cols()),
             ns = static_cast<std::size_t>(batch.sensor_data().cols());
  auto q = make(nq), v = make(nv), sensors = make(ns), error = make(1);
  at_work(box, [&] {
    batch.rollout(steps, flat.size() > 0 ? flat.data() : nullptr,
                  {q.get(), v.get(), sensors.get(), error.get()});
  });
  nb::dict result;
  const auto give = [&](const char* name, std::unique_ptr<double[]>& memory,
                        std::initializer_list<std::size_t> shape) {
    double* raw = memory.release();
    const nb::capsule owner(raw, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    result[name] = NewTensor(raw, shape, owner);
  };
  give("q", q, {n, length, nq});
  give("v", v, {n, length, nv});
  give("sensor_data", sensors, {n, length, ns});
  give("error", error, {n, length});
  return result;
}

void set_parameter(BatchBox& box, const std::string& name, nb::handle values, nb::handle mask) {
  const Changing guard(box);
  const BatchParameter parameter = parameter_of(name);
  const auto cols = static_cast<Index>(box.batch->parameter(parameter).cols());
  const Batch::Rows rows = rows_of(values, "values", box.batch->size(), cols);
  const std::vector<std::uint8_t> chosen = mask_of(mask, box);
  const nb::gil_scoped_release release;
  box.batch->set_parameter(parameter, rows, chosen);
}

nb::dict messages(BatchBox& box) {
  const InUse guard(box.owner, InUse::For::reading, kWhat);
  nb::dict result;
  for (Index k = 0; k < box.batch->size(); ++k) {
    const std::string& message = box.batch->message(k);
    if (!message.empty()) result[nb::int_(k)] = message;
  }
  return result;
}

void bind_arrays(nb::class_<BatchBox>& c) {
  c.def_prop_ro(
       "q", [](Self s) { return view(s.p->batch->q(), s.h); },
       "Coordinates (n, coordinates), a live view. Change them by reset().")
      .def_prop_ro(
          "v", [](Self s) { return view(s.p->batch->v(), s.h); }, "Velocities (n, dofs), a live view.")
      .def_prop_ro(
          "activation", [](Self s) { return view(s.p->batch->activation(), s.h); },
          "Activations of actuators that have one, a live view.")
      .def_prop_ro(
          "sensor_data", [](Self s) { return view(s.p->batch->sensor_data(), s.h); },
          "Readings of the sensors (n, readings) after the last step, a live view.")
      .def_prop_rw(
          "control", [](Self s) { return writable(s.p->batch->control(), s.h); },
          [](BatchBox& b, nb::handle value) {
            const Changing guard(b);
            set_rows(value, "control", b.batch->control());
          },
          nb::for_setter(nb::sig("def control(self, value: numpy.typing.ArrayLike, /) -> None")),
          "Controls (n, actuators), a live view to write to: batch.control[:] = ...")
      .def_prop_rw(
          "force", [](Self s) { return writable(s.p->batch->force(), s.h); },
          [](BatchBox& b, nb::handle value) {
            const Changing guard(b);
            set_rows(value, "force", b.batch->force());
          },
          nb::for_setter(nb::sig("def force(self, value: numpy.typing.ArrayLike, /) -> None")),
          "Applied generalised forces (n, dofs), N and N m, a live view to write to.")
      .def_prop_ro(
          "time", [](Self s) { return view_of(s.p->batch->time(), s.h); }, "s (n,), a live view.")
      .def_prop_ro(
          "error", [](Self s) { return view_of(s.p->batch->error(), s.h); },
          "Worst certificate of the last call's steps (n,), scaled, a live view.")
      .def_prop_ro(
          "missed", [](Self s) { return CountsView(s.p->batch->missed().data(), {s.p->count()}, s.h); },
          "Steps since the last reset whose certificate missed the tolerance (n,), a live view.")
      .def_prop_ro(
          "status",
          [](Self s) {
            return FlagsView(reinterpret_cast<const std::uint8_t*>(s.p->batch->status().data()),
                             {s.p->count()}, s.h);
          },
          "0: running, 1: failed (n,), a live view. A world that failed keeps its last finite state until "
          "reset().");
}

}  // namespace

void bind_batch(nb::module_& m) {
  nb::class_<BatchBox> c(m, "Batch",
                         "Many worlds of one kind, stepped together on any number of threads, with the bits "
                         "of single simulators.\n\n"
                         "Example::\n\n    batch = tribo.Batch(world, 256, threads=2)\n    batch.control[:] "
                         "= 0.1\n    batch.step(5)\n"
                         "    batch.q[:, 2], batch.error.max()");
  c.def("__init__", &construct, "world"_a, "n"_a, "dt"_a = nb::none(), "law"_a = nb::none(),
        "solver"_a = nb::none(), "tolerance"_a = nb::none(), "threads"_a = 1, "scheme"_a = nb::none(),
        "max_iterations"_a = nb::none(), "time_limit"_a = nb::none(), "warm_start"_a = nb::none(),
        "sleeping"_a = nb::none(), "contact"_a = std::map<std::string, double>{},
        nb::sig("def __init__(self, world: World, n: int, dt: float | None = None, law: str | None = None, "
                "solver: str | None = None, "
                "tolerance: float | None = None, threads: int = 1, scheme: str | None = None, "
                "max_iterations: int | None = None, "
                "time_limit: float | None = None, warm_start: bool | None = None, sleeping: bool | None = "
                "None, contact: dict[str, "
                "float] = {}) -> None"),
        "n worlds; settings as of Simulator, threads share the worlds out.");
  bind_arrays(c);
  c.def_prop_ro(
       "n", [](const BatchBox& b) { return b.batch->size(); }, "Number of worlds.")
      .def("__len__", [](const BatchBox& b) { return b.batch->size(); })
      .def_ro("world", &BatchBox::world, nb::sig("def world(self) -> World"))
      .def_prop_ro(
          "dt", [](const BatchBox& b) { return b.batch->time_step(); }, "Time step, s.")
      .def_prop_ro("messages", &messages, nb::sig("def messages(self) -> dict[int, str]"),
                   "Why worlds have failed, by number.")
      .def("step", &step, "k"_a = 1, "mask"_a = nb::none(),
           nb::sig("def step(self, k: int = 1, mask: numpy.typing.ArrayLike | None = None) -> None"),
           "k time steps of the worlds in the mask (n,); None: all.")
      .def("rollout", &rollout, "steps"_a, "controls"_a = nb::none(), "states"_a = nb::none(),
           nb::sig("def rollout(self, steps: int, controls: numpy.typing.ArrayLike | None = None, states: "
                   "tuple[typing.Any, typing.Any] "
                   "| None = None) -> dict[str, numpy.typing.NDArray[numpy.float64]]"),
           "Steps with controls (n, steps, actuators) and returns {\"q\": (n, steps, coordinates), \"v\", "
           "\"sensor_data\", \"error\": (n, "
           "steps)}. states: (q, v) to begin with, as reset(); None: from where the worlds are.")
      .def("reset", &reset, "mask"_a = nb::none(), "q"_a = nb::none(), "v"_a = nb::none(),
           nb::sig("def reset(self, mask: numpy.typing.ArrayLike | None = None, q: numpy.typing.ArrayLike | "
                   "None = None, v: "
                   "numpy.typing.ArrayLike | None = None) -> None"),
           "A new beginning of the worlds in the mask, at the start of the world or at q, v (a row for all, "
           "or one per world); "
           "controls, forces and counters are zero.")
      .def("set_parameter", &set_parameter, "name"_a, "values"_a, "mask"_a = nb::none(),
           nb::sig("def set_parameter(self, name: str, values: numpy.typing.ArrayLike, mask: "
                   "numpy.typing.ArrayLike | None = None) -> None"),
           "World by world: \"mass\" (n, bodies) kg, \"friction\" (n, geoms), \"gain\" (n, actuators) factor "
           "of each actuator's force law, "
           "\"gravity\" (n, 3) m/s². States stay.")
      .def(
          "parameter",
          [](Self s, const std::string& name) {
            return view(s.p->batch->parameter(parameter_of(name)), s.h);
          },
          "name"_a, "The present values of a parameter, a view; see set_parameter().")
      .def("__repr__",
           [](const BatchBox& b) {
             return fmt::format("tribo.Batch({} worlds, dt {} s)", b.batch->size(), b.batch->time_step());
           })
      .def(
          "__reduce__",
          [](nb::handle) -> nb::object {
            throw nb::type_error(
                "a Batch cannot be pickled: make one in each process and pass its states (q, v)");
          },
          nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
}

}  // namespace tribo::python
