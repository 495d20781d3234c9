// A simulator as Python holds it.
#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calls.h"
#include "tribo/multibody/dynamics.h"
#include "tribo/scenes/scene.h"
#include "tribo/sim/simulator.h"
#include "world.h"

namespace tribo::python {

namespace nb = nanobind;

struct SimulatorBox {
  using Watcher = std::function<void(const Simulator&, const StepReport&)>;

  SimulatorBox(nb::object world_object, SimulatorSettings settings);
  ~SimulatorBox();
  SimulatorBox(const SimulatorBox&) = delete;
  SimulatorBox& operator=(const SimulatorBox&) = delete;

  // One step with what a scene does before and after it, and the recordings. `advance` steps the simulator; the GIL is not
  // held. The exception of a callback waits in `interruption`.
  StepReport step(const std::function<StepReport()>& advance);
  // RuntimeError in a child process, where the threads of a simulator made before fork() do not exist.
  void require_own_process() const;
  void restart(const State& state);
  // What a scene keeps between its steps is as at the beginning.
  void begin_scene();
  std::uint64_t watch(Watcher watcher);
  void unwatch(std::uint64_t number);

  WorldBox& box() const { return nb::cast<WorldBox&>(world); }

  nb::object world;  // the WorldBox
  std::shared_ptr<Simulator> simulator;
  // Keeps the numbers of the simulator alive, not this object: an array that is a view of them, which Python's garbage
  // collector cannot look through, is part of no cycle.
  nb::object memory;
  std::optional<Scene> scene;  // its hooks alone
  nb::object on_missed = nb::none();
  Interruption* interruption = nullptr;  // of the call at work
  Owner owner;
  pid_t process = getpid();

 private:
  std::uint64_t next_watcher_ = 1;
  std::vector<std::pair<std::uint64_t, Watcher>> watchers_;
};

// The garbage collector of Python sees that a T refers to T::simulator.
template <class T>
int traverse_simulator(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<T>(self)->simulator.ptr());
  return 0;
}
template <class T>
int clear_nothing(PyObject*) {
  return 0;  // cycles are broken at Simulator.on_missed
}
template <class T>
inline PyType_Slot part_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_simulator<T>)},
                                   {Py_tp_clear, reinterpret_cast<void*>(clear_nothing<T>)},
                                   {0, nullptr}};

void bind_sensors(nb::class_<SimulatorBox>& c);
void bind_simulator_parts(nb::class_<SimulatorBox>& c, nb::module_& m);
void bind_contacts(nb::class_<SimulatorBox>& c);
void bind_flexible(nb::class_<SimulatorBox>& c);
void bind_inverse_result(nb::module_& m);
void bind_step_reports(nb::module_& m);

}  // namespace tribo::python
