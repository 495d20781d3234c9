// Contacts of a simulator as a structured array, its problems, inverse dynamics.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <cstddef>

#include "arrays.h"
#include "settings.h"
#include "simulator.h"
#include "tribo/sim/inverse_dynamics.h"

namespace tribo::python {
namespace {

using namespace nb::literals;
using Box = SimulatorBox;

struct ContactRecord {
  std::int32_t geom_a, geom_b, body_a, body_b;
  double position[3], normal[3], gap, area, pressure, impulse[3], torque[3], velocity[3], friction, error;
  std::int32_t island, state;
  std::uint64_t key;
};

nb::object contact_dtype() {
  using R = ContactRecord;
  return structured_dtype({{"geom_a", "i4", offsetof(R, geom_a)},
                           {"geom_b", "i4", offsetof(R, geom_b)},
                           {"body_a", "i4", offsetof(R, body_a)},
                           {"body_b", "i4", offsetof(R, body_b)},
                           {"position", "3f8", offsetof(R, position)},
                           {"normal", "3f8", offsetof(R, normal)},
                           {"gap", "f8", offsetof(R, gap)},
                           {"area", "f8", offsetof(R, area)},
                           {"pressure", "f8", offsetof(R, pressure)},
                           {"impulse", "3f8", offsetof(R, impulse)},
                           {"torque", "3f8", offsetof(R, torque)},
                           {"velocity", "3f8", offsetof(R, velocity)},
                           {"friction", "f8", offsetof(R, friction)},
                           {"error", "f8", offsetof(R, error)},
                           {"island", "i4", offsetof(R, island)},
                           {"state", "i4", offsetof(R, state)},
                           {"key", "u8", offsetof(R, key)}},
                          sizeof(R));
}

void put(const Vec3& from, double* to) { std::copy(from.data(), from.data() + 3, to); }

ContactRecord record_of(const Contact& contact, const Vec3& impulse, const Vec3& torque,
                        const ContactDetail& detail) {
  ContactRecord r{.geom_a = contact.geom_a,
                  .geom_b = contact.geom_b,
                  .body_a = contact.body_a,
                  .body_b = contact.body_b,
                  .position = {},
                  .normal = {},
                  .gap = contact.gap,
                  .area = contact.area,
                  .pressure = contact.pressure(),
                  .impulse = {},
                  .torque = {},
                  .velocity = {},
                  .friction = detail.friction,
                  .error = detail.error,
                  .island = detail.island,
                  .state = static_cast<std::int32_t>(detail.state),
                  .key = contact.key};
  put(contact.position, r.position);
  put(contact.normal, r.normal);
  put(impulse, r.impulse);
  put(torque, r.torque);
  put(detail.velocity, r.velocity);
  return r;
}

nb::object contacts(Box& box) {
  const InUse guard(box.owner, InUse::For::reading, "simulator");
  const Simulator& s = *box.simulator;
  const std::vector<Contact>& all = s.contacts();
  const std::vector<Vec3>&impulses = s.contact_impulses(), &torques = s.contact_torques();
  const std::vector<ContactDetail>& details = s.contact_details();
  std::vector<ContactRecord> records;
  records.reserve(all.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    records.push_back(record_of(all[k], k < impulses.size() ? impulses[k] : Vec3::Zero(),
                                k < torques.size() ? torques[k] : Vec3::Zero(),
                                k < details.size() ? details[k] : ContactDetail()));
  }
  return structured(records.data(), records.size(), sizeof(ContactRecord),
                    nb::type<Box>().attr("contact_dtype"));
}

struct InverseDynamicsResult {
  InverseDynamics result;
  Vector force;
};

InverseDynamicsResult inverse(Box& box, nb::handle acceleration, std::string_view law, double tolerance,
                              Index max_iterations, nb::handle start) {
  const InUse guard(box.owner, InUse::For::changing, "simulator");
  Simulator& s = *box.simulator;
  const double h = s.time_step();
  const Vector a = to_vector(acceleration, "acceleration", s.model().dof_count());
  const Vector wanted = s.state().v + h * a;
  const ContactProblem& problem = s.next_problem();
  InverseDynamicsSettings settings{
      .law = law_of(law), .tolerance = tolerance, .max_iterations = max_iterations};
  Vector first;
  if (!start.is_none()) {
    first = stored_impulse(problem, to_vector(start, "start", problem.row_count()));
    settings.start = &first;
  }
  InverseDynamicsResult r{inverse_dynamics(problem, wanted, settings), {}};
  r.force = r.result.generalized_impulse / h;
  r.result.impulse = physical_impulse(problem, r.result.impulse);
  return r;
}

}  // namespace

void bind_inverse_result(nb::module_& m) {
  using R = InverseDynamicsResult;
  using Self = nb::pointer_and_handle<R>;
  nb::class_<R>(m, "InverseDynamics", "Forces and impulses that give a system a wanted acceleration.")
      .def_prop_ro(
          "force", [](Self s) { return view_of(s.p->force, s.h); },
          "Generalised forces (dofs,) in addition to those at work, N and N m.")
      .def_prop_ro(
          "impulse", [](Self s) { return view_of(s.p->result.impulse, s.h); },
          "Impulses (rows,) of the next problem, N s.")
      .def_prop_ro(
          "error", [](const R& r) { return r.result.error; }, "Scaled certificate.")
      .def_prop_ro(
          "iterations", [](const R& r) { return r.result.iterations; }, "Of the solve.")
      .def_prop_ro(
          "converged", [](const R& r) { return r.result.converged; },
          "False where no impulse allows the motion, into a wall for example.")
      .def("__repr__", [](const R& r) {
        return fmt::format("tribo.InverseDynamics({}, error {:.1e})",
                           r.result.converged ? "converged" : "not converged", r.result.error);
      });
}

void bind_contacts(nb::class_<Box>& c) {
  c.attr("contact_dtype") = contact_dtype();
  c.def_prop_ro(
       "contacts", &contacts, nb::sig("def contacts(self) -> numpy.ndarray"),
       R"(Contacts of the last step, a structured array of its own: geom_a, geom_b, body_a, body_b (numbers), position [m], normal
(from a to b), gap [m], impulse [N s] and torque [N m s] on the second body, velocity of the second against the first at the
end of the step [m/s], all in world axes; friction, error (scaled, of the contact alone), island (-1: none), state (0 open, 1
sticks, 2 slides), key.)")
      .def(
          "problem",
          [](Box& box) {
            const InUse guard(box.owner, InUse::For::reading, "simulator");
            return box.simulator->problem();
          },
          "The Problem of the last step as a whole, for other solvers and for files; empty before the first.")
      .def(
          "problem_guess",
          [](Box& box) {
            const InUse guard(box.owner, InUse::For::reading, "simulator");
            const Vector guess = box.simulator->problem_guess();
            return new_vector(guess.size() > 0 ? physical_impulse(box.simulator->problem(), guess) : guess);
          },
          "The impulses that the last step's solve began with (rows,), N s.")
      .def(
          "next_problem",
          [](Box& box) {
            const InUse guard(box.owner, InUse::For::changing, "simulator");
            return ContactProblem(box.simulator->next_problem());
          },
          "The Problem that the next step will solve, over all trees. Contacts and impulses of the last step "
          "are forgotten.")
      .def("inverse_dynamics", &inverse, "acceleration"_a, "law"_a = "exact", "tolerance"_a = 1e-9,
           "max_iterations"_a = 1000, "start"_a = nb::none(),
           nb::sig(
               "def inverse_dynamics(self, acceleration: numpy.typing.ArrayLike, law: str = 'exact', "
               "tolerance: float = 1e-09, "
               "max_iterations: int = 1000, start: numpy.typing.ArrayLike | None = None) -> InverseDynamics"),
           "Generalised forces, in addition to control and force, and contact impulses that give the "
           "acceleration (dofs,) "
           "[m/s², rad/s²] over the next step. Contacts and impulses of the last step are forgotten.");
}

}  // namespace tribo::python
