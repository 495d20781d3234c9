// tribo.StepReport and tribo.Energy.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "simulator.h"

namespace tribo::python {

void bind_step_reports(nb::module_& m) {
  using R = StepReport;
  nb::class_<R>(m, "StepReport", "What came of a time step.")
      .def_ro("step", &R::step, "1 after the first.")
      .def_ro("time", &R::time, "s, at the end of the step.")
      .def_ro("contacts", &R::contacts, "Within reach.")
      .def_ro("constraints", &R::constraints,
              "Contacts, limits, couplings and dry friction in the problems of the step.")
      .def_ro("islands", &R::islands, "Problems that share no moving body.")
      .def_ro("missed_islands", &R::missed_islands, "Whose certificate is above the tolerance.")
      .def_prop_ro("missed", &R::missed, "Whether an island missed the tolerance.")
      .def_ro("iterations", &R::iterations, "Of all islands together, as their solvers count them.")
      .def_ro("factorizations", &R::factorizations, "Of all islands together.")
      .def_ro("impact_rounds", &R::impact_rounds, "Of restitution.")
      .def_ro("error", &R::error, "Worst certificate of the islands, scaled; 0 without constraints.")
      .def_prop_ro(
          "status", [](const R& r) { return to_string(r.status); },
          "Of the island with the worst certificate.")
      .def_ro("penetration", &R::penetration, "Deepest contact at the beginning of the step, m.")
      .def_ro("corrected_islands", &R::corrected_islands,
              "Whose position errors were removed by a displacement of their own.")
      .def_ro("correction_work", &R::correction_work, "Energy that position corrections cost, J.")
      .def_prop_ro(
          "seconds", [](const R& r) { return r.times.total(); }, "Wall clock of the step.")
      .def_prop_ro(
          "times",
          [](const R& r) {
            nb::dict times;
            times["kinematics"] = r.times.kinematics;
            times["collision"] = r.times.collision;
            times["assembly"] = r.times.assembly;
            times["solve"] = r.times.solve;
            times["integrate"] = r.times.integrate;
            return times;
          },
          nb::sig("def times(self) -> dict[str, float]"), "Seconds of the parts of the step.")
      .def("__repr__", [](const R& r) {
        return fmt::format("tribo.StepReport(step {}, time {:.6g} s, {} contacts, {}, error {:.1e})", r.step,
                           r.time, r.contacts, to_string(r.status), r.error);
      });
  nb::class_<Energy>(m, "Energy", "J; weight relative to the world's origin.")
      .def_ro("kinetic", &Energy::kinetic, "J.")
      .def_ro("weight", &Energy::weight, "Of the masses in gravity, J.")
      .def_ro("springs", &Energy::springs, "Of springs of joints and tendons, J.")
      .def_ro("elastic", &Energy::elastic, "Of flexible bodies, J.")
      .def_prop_ro("total", &Energy::total, "The sum of all, J.")
      .def("__repr__", [](const Energy& e) {
        return fmt::format(
            "tribo.Energy(total {:.6g} J: kinetic {:.6g}, weight {:.6g}, springs {:.6g}, elastic {:.6g})",
            e.total(), e.kinetic, e.weight, e.springs, e.elastic);
      });
}

}  // namespace tribo::python
