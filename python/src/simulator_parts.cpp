// Bodies, joints, geoms, sites and actuators of a simulator by name; energy, mass matrix, Jacobians.
#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "arrays.h"
#include "simulator.h"
#include "tribo/base/errors.h"

namespace tribo::python {
namespace {

using namespace nb::literals;
using Box = SimulatorBox;

struct Reading : InUse {
  explicit Reading(Box& box) : InUse(box.owner, For::reading, "simulator") {}
};

// A part of the model seen through a simulator, which it keeps alive.
template <int Kind>
struct Part {
  nb::object simulator;
  Index number;

  Box& box() const { return nb::cast<Box&>(simulator); }
  const Simulator& sim() const { return *box().simulator; }
  const Model& model() const { return sim().model(); }
};
using Body = Part<0>;
using Joint = Part<1>;
using GeomPart = Part<2>;
using Site = Part<3>;
using Actuator = Part<4>;

NewVector quaternion(const Mat3& rotation) {
  const Quat q(rotation);
  return new_vector(Eigen::Vector4d(q.w(), q.x(), q.y(), q.z()));
}

Pose pose_of(const Body& b) { return b.sim().kinematics().pose(b.number); }
Pose pose_of(const GeomPart& g) {
  const Geom& geom = g.sim().world().geoms[static_cast<std::size_t>(g.number)];
  return g.sim().kinematics().pose(geom.body) * geom.pose;
}
Pose pose_of(const Site& s) {
  const SiteDescription& site = s.model().sites()[static_cast<std::size_t>(s.number)];
  return s.sim().kinematics().pose(site.body) * site.pose;
}
Index body_of(const Body& b) { return b.number; }
Index body_of(const GeomPart& g) { return g.sim().world().geoms[static_cast<std::size_t>(g.number)].body; }
Index body_of(const Site& s) { return s.model().sites()[static_cast<std::size_t>(s.number)].body; }
std::string name_of(const Body& b) { return b.model().body_name(b.number); }
std::string name_of(const Joint& j) { return j.model().joint(j.number).name; }
std::string name_of(const GeomPart& g) {
  return g.sim().world().geoms[static_cast<std::size_t>(g.number)].name;
}
std::string name_of(const Site& s) { return s.model().sites()[static_cast<std::size_t>(s.number)].name; }
std::string name_of(const Actuator& a) {
  return a.model().actuators()[static_cast<std::size_t>(a.number)].name;
}

template <class P>
nb::class_<P> bind_part(nb::module_& m, const char* name, const char* doc) {
  nb::class_<P> c(m, name, nb::type_slots(part_slots<P>), doc);
  c.def_ro("number", &P::number, "In the model, from 0.")
      .def_prop_ro(
          "name", [](const P& p) { return name_of(p); }, "As in the file; \"\" without one.")
      .def("__repr__",
           [name = std::string(name)](const P& p) {
             return fmt::format("tribo.{}(\"{}\", number {})", name, name_of(p), p.number);
           })
      .def(
          "__reduce__",
          [name = std::string(name)](nb::handle) -> nb::object {
            throw nb::type_error(
                fmt::format("a {} cannot be pickled: it is a part of a simulator", name).c_str());
          },
          nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
  return c;
}

template <class P>
nb::class_<P> bind_placed(nb::module_& m, const char* name, const char* doc) {
  nb::class_<P> c = bind_part<P>(m, name, doc);
  c.def_prop_ro(
       "position",
       [](const P& p) {
         Reading guard(p.box());
         return new_vector(pose_of(p).position);
       },
       "Of the frame in the world (3,), m.", nb::rv_policy::automatic)
      .def_prop_ro(
          "rotation",
          [](const P& p) {
            Reading guard(p.box());
            return quaternion(pose_of(p).rotation);
          },
          "Unit quaternion (w, x, y, z) of the frame in the world.", nb::rv_policy::automatic)
      .def_prop_ro(
          "matrix",
          [](const P& p) {
            Reading guard(p.box());
            return new_matrix(pose_of(p).rotation);
          },
          "Rotation (3, 3) of the frame in the world.", nb::rv_policy::automatic)
      .def_prop_ro(
          "velocity",
          [](const P& p) {
            Reading guard(p.box());
            return new_vector(p.sim().kinematics().point_velocity(body_of(p), pose_of(p).position));
          },
          "Of the frame's origin, world axes (3,), m/s.", nb::rv_policy::automatic)
      .def_prop_ro(
          "angular_velocity",
          [](const P& p) {
            Reading guard(p.box());
            return new_vector(p.sim().kinematics().velocity(body_of(p)).template tail<3>());
          },
          "World axes (3,), rad/s.", nb::rv_policy::automatic);
  return c;
}

NumbersView slice(const Vector& x, Index begin, Index count, nb::handle owner) {
  return NumbersView(x.data() + begin, {static_cast<std::size_t>(count)}, owner);
}

void bind_kinds(nb::module_& m) {
  bind_placed<Body>(m, "Body", "A body of a simulator.")
      .def_prop_ro(
          "center",
          [](const Body& b) {
            Reading guard(b.box());
            return new_vector(b.sim().kinematics().center(b.number));
          },
          "Centre of mass in the world (3,), m.", nb::rv_policy::automatic)
      .def_prop_ro(
          "mass", [](const Body& b) { return b.model().inertia(b.number).mass; }, "kg.")
      .def_prop_ro(
          "parent", [](const Body& b) { return b.model().body_parent(b.number); },
          "Number of the body it hangs on.");
  bind_placed<GeomPart>(m, "Geom", "A shape of a simulator that touches.")
      .def_prop_ro(
          "body", [](const GeomPart& g) { return body_of(g); }, "Number of its body.");
  bind_placed<Site>(m, "Site", "A named frame on a body of a simulator.")
      .def_prop_ro(
          "body", [](const Site& s) { return body_of(s); }, "Number of its body.");
  bind_part<Joint>(m, "Joint", "A joint of a simulator.")
      .def_prop_ro(
          "kind", [](const Joint& j) { return to_string(j.model().joint(j.number).kind); },
          "\"free\", \"ball\", \"hinge\" or \"slide\".")
      .def_prop_ro(
          "q",
          [](const Joint& j) {
            return slice(j.sim().state().q, j.model().joint_coordinate(j.number),
                         coordinates_of(j.model().joint(j.number).kind), j.box().memory);
          },
          "Its coordinates, a live view: rad, m, quaternions.", nb::rv_policy::automatic)
      .def_prop_ro(
          "v",
          [](const Joint& j) {
            return slice(j.sim().state().v, j.model().joint_dof(j.number),
                         dofs_of(j.model().joint(j.number).kind), j.box().memory);
          },
          "Its velocities, a live view: rad/s, m/s.", nb::rv_policy::automatic)
      .def_prop_ro(
          "coordinate", [](const Joint& j) { return j.model().joint_coordinate(j.number); },
          "Its first entry in q.")
      .def_prop_ro(
          "dof", [](const Joint& j) { return j.model().joint_dof(j.number); }, "Its first entry in v.")
      .def_prop_ro(
          "body", [](const Joint& j) { return j.model().joint(j.number).body; },
          "Number of the body it moves.")
      .def_prop_ro(
          "limits",
          [](const Joint& j) -> nb::object {
            const JointDescription& d = j.model().joint(j.number);
            return d.limited ? nb::object(nb::make_tuple(d.lower, d.upper)) : nb::none();
          },
          nb::sig("def limits(self) -> tuple[float, float] | None"), "Of q, rad or m; None: none.");
  bind_part<Actuator>(m, "Actuator", "An actuator of a simulator.")
      .def_prop_rw(
          "control", [](const Actuator& a) { return a.box().simulator->control()[a.number]; },
          [](const Actuator& a, double value) { a.box().simulator->control()[a.number] = value; },
          "Its entry of Simulator.control.")
      .def_prop_ro(
          "control_range",
          [](const Actuator& a) {
            const ActuatorDescription& d = a.model().actuators()[static_cast<std::size_t>(a.number)];
            return nb::make_tuple(d.control_lower, d.control_upper);
          },
          nb::sig("def control_range(self) -> tuple[float, float]"),
          "Controls are clamped to it; infinite: not.");
}

template <class P, Index (*Find)(const World&, nb::handle)>
P find(nb::handle self, nb::handle wanted) {
  return P{nb::borrow(self), Find(nb::cast<Box&>(self).simulator->world(), wanted)};
}

Matrix mass_matrix(Box& box) {
  Reading guard(box);
  const Model& model = box.simulator->model();
  Dynamics dynamics(model);
  dynamics.set_positions(box.simulator->kinematics());
  Matrix mass = Matrix::Zero(model.dof_count(), model.dof_count());
  for (Index t = 0; t < model.tree_count(); ++t) {
    const Index dof = model.tree_dof(t), count = model.tree_dof_count(t);
    mass.block(dof, dof, count, count) = dynamics.mass(t);
  }
  return mass;
}

Vector bias_force(Box& box) {
  Reading guard(box);
  Dynamics dynamics(box.simulator->model());
  dynamics.set_positions(box.simulator->kinematics());
  Vector bias(box.simulator->model().dof_count());
  dynamics.bias(box.simulator->kinematics(), box.simulator->world().gravity, bias);
  return bias;
}

using Rows3 = Eigen::Matrix<double, 3, Eigen::Dynamic>;

template <class Fill>
Matrix body_jacobian(Box& box, Index body, const Fill& fill) {
  const Model& model = box.simulator->model();
  Matrix jacobian = Matrix::Zero(3, model.dof_count());
  const Index tree = model.body_tree(body);
  if (tree < 0) return jacobian;
  Rows3 part = Rows3::Zero(3, model.tree_dof_count(tree));
  fill(part);
  jacobian.middleCols(model.tree_dof(tree), part.cols()) = part;
  return jacobian;
}

NewMatrix jacobian(Box& box, nb::handle body, nb::handle point) {
  Reading guard(box);
  const Index number = body_number(box.simulator->world(), body);
  const Kinematics& k = box.simulator->kinematics();
  const Vec3 at = point.is_none() ? k.pose(number).position : to_vec3(point, "point");
  return new_matrix(body_jacobian(box, number, [&](Rows3& part) { k.point_jacobian(number, at, part); }));
}

NewMatrix angular_jacobian(Box& box, nb::handle body) {
  Reading guard(box);
  const Index number = body_number(box.simulator->world(), body);
  return new_matrix(body_jacobian(
      box, number, [&](Rows3& part) { box.simulator->kinematics().angular_jacobian(number, part); }));
}

}  // namespace

void bind_simulator_parts(nb::class_<Box>& c, nb::module_& m) {
  bind_kinds(m);
  const char* doc = "By name or number.";
  c.def("body", &find<Body, body_number>, "body"_a, nb::sig("def body(self, body: int | str) -> Body"), doc)
      .def("joint", &find<Joint, joint_number>, "joint"_a,
           nb::sig("def joint(self, joint: int | str) -> Joint"), doc)
      .def("geom", &find<GeomPart, geom_number>, "geom"_a, nb::sig("def geom(self, geom: int | str) -> Geom"),
           doc)
      .def("site", &find<Site, site_number>, "site"_a, nb::sig("def site(self, site: int | str) -> Site"),
           doc)
      .def("actuator", &find<Actuator, actuator_number>, "actuator"_a,
           nb::sig("def actuator(self, actuator: int | str) -> Actuator"), doc)
      .def_prop_ro(
          "energy",
          [](Box& b) {
            Reading guard(b);
            return b.simulator->energy();
          },
          "Kinetic, of the weight, of springs, elastic; J.")
      .def_prop_ro(
          "momentum",
          [](Box& b) {
            Reading guard(b);
            return new_vector(b.simulator->momentum());
          },
          "Linear [N s] and angular about the world's origin [N m s] of all trees and flexible bodies (6,).",
          nb::rv_policy::automatic)
      .def_prop_ro(
          "drive_work",
          [](Box& b) {
            Reading guard(b);
            return b.simulator->drive_work();
          },
          "Of actuators and applied forces in the last step, J.")
      .def(
          "mass_matrix", [](Box& b) { return new_matrix(mass_matrix(b)); },
          "M (dofs, dofs) at the present state, armature included; kg, kg m².")
      .def(
          "bias_force", [](Box& b) { return new_vector(bias_force(b)); },
          "(dofs,): Coriolis, centrifugal and gyroscopic forces less the weight, M dv/dt + bias = forces; N, "
          "N m.")
      .def("jacobian", &jacobian, "body"_a, "point"_a = nb::none(),
           nb::sig("def jacobian(self, body: int | str, point: numpy.typing.ArrayLike | None = None) -> "
                   "numpy.ndarray"),
           "(3, dofs): velocity in the world of the body's point that is at `point` [m, world] now; None: of "
           "its frame's origin.")
      .def("angular_jacobian", &angular_jacobian, "body"_a,
           nb::sig("def angular_jacobian(self, body: int | str) -> numpy.ndarray"),
           "(3, dofs): angular velocity of the body in the world.");
}

}  // namespace tribo::python
