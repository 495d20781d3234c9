// Sensors and saved states of tribo.Simulator.
#include <fmt/format.h>

#include <span>

#include "arrays.h"
#include "simulator.h"

namespace tribo::python {
namespace {

using namespace nb::literals;
using Box = SimulatorBox;
using Self = nb::pointer_and_handle<Box>;
constexpr const char* kWhat = "simulator";

// Views of the readings, which lie in the simulator; without a name: by number.
nb::dict sensors(Self s) {
  const InUse guard(s.p->owner, InUse::For::reading, kWhat);
  const std::vector<SensorDescription>& list = s.p->simulator->world().sensors;
  const double* at = s.p->simulator->sensor_data().data();
  nb::dict result;
  for (std::size_t k = 0; k < list.size(); ++k) {
    const auto size = static_cast<std::size_t>(list[k].size());
    const std::string name = list[k].name.empty() ? fmt::format("sensor{}", k) : list[k].name;
    result[nb::str(name.c_str())] = NumbersView(at, {size}, s.p->memory);
    at += size;
  }
  return result;
}

nb::bytes save_state(Box& box) {
  const InUse guard(box.owner, InUse::For::reading, kWhat);
  const std::vector<std::uint8_t> bytes = box.simulator->save_state();
  return nb::bytes(bytes.data(), bytes.size());
}

void load_state(Box& box, const nb::bytes& bytes) {
  const InUse guard(box.owner, InUse::For::changing, kWhat);
  box.require_own_process();
  box.simulator->load_state({static_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

}  // namespace

void bind_sensors(nb::class_<SimulatorBox>& c) {
  c.def_prop_ro(
       "sensor_data",
       [](Self s) {
         const InUse guard(s.p->owner, InUse::For::reading, kWhat);
         return view_of(s.p->simulator->sensor_data(), s.p->memory);
       },
       "Readings of all sensors, one after the other, a view: computed when this is asked for, and refreshed "
       "in place when it is "
       "asked for again. Accelerations and forces are those of the last step, 0 before the first.",
       nb::rv_policy::automatic)
      .def_prop_ro("sensors", &sensors,
                   nb::sig("def sensors(self) -> dict[str, numpy.typing.NDArray[numpy.float64]]"),
                   "Views of sensor_data by name: sim.sensors[\"imu\"]. Units as in MJCF: m, rad, s, N.")
      .def("save_state", &save_state,
           "Everything the next steps depend on, as bytes: after load_state() the steps have the same bits "
           "as without a break.")
      .def("load_state", &load_state, "state"_a,
           "Goes on from what save_state() of a simulator of the same world and settings gave. ValueError, "
           "and nothing changes, "
           "where the bytes are damaged, truncated or of another world.");
}

}  // namespace tribo::python
