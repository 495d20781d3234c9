// tribo.Shape and tribo.WorldBuilder.
#include "world_builder.h"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <optional>

#include "arrays.h"
#include "module.h"
#include "tribo/base/errors.h"
#include "tribo/collide/shapes/convex_hull.h"
#include "tribo/collide/shapes/triangle_mesh.h"
#include "tribo/sim/world.h"

namespace tribo::python {
namespace {

using namespace nb::literals;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Shape mesh_shape(nb::handle vertices, nb::handle triangles) {
  const std::vector<Vec3> points = points_of(vertices, "vertices");
  const Matrix corners = to_matrix(triangles, "triangles");
  if (corners.cols() != 3) throw InvalidInput("triangles: expected an array of shape (m, 3)");
  std::vector<TriangleMesh::Triangle> list;
  for (Index k = 0; k < corners.rows(); ++k) {
    TriangleMesh::Triangle triangle{};
    for (int c = 0; c < 3; ++c) {
      const double corner = corners(k, c);
      if (!(corner >= 0.0 && corner < static_cast<double>(points.size())) || corner != std::floor(corner))
        throw InvalidInput(fmt::format("triangles: entry ({}, {}) is {}, there are {} vertices", k, c, corner,
                                       points.size()));
      triangle[static_cast<std::size_t>(c)] = static_cast<Index>(corner);
    }
    list.push_back(triangle);
  }
  return Shape::mesh(TriangleMesh::make(points, list));
}

using Box = WorldBuilderBox;

RigidInertia inertia_of(const Shape* shape, std::optional<double> mass, std::optional<double> density,
                        nb::handle inertia, nb::handle center) {
  if (density) {
    if (shape == nullptr) throw InvalidInput("density: it needs a shape");
    return inertia_of_density(*shape, *density);
  }
  if (!mass) return {};
  if (inertia.is_none()) {
    if (shape != nullptr) return uniform_inertia(*shape, *mass);
    RigidInertia point = RigidInertia::point(*mass, Vec3::Zero());
    if (!center.is_none()) point.center = to_vec3(center, "center");
    return point;
  }
  RigidInertia result{.mass = *mass, .center = Vec3::Zero(), .rotational = Mat3::Zero()};
  if (!center.is_none()) result.center = to_vec3(center, "center");
  if (nb::cast<int>(nb::module_::import_("numpy").attr("ndim")(inertia)) == 1) {
    result.rotational = to_vec3(inertia, "inertia").asDiagonal();
  } else {
    const Matrix m = to_matrix(inertia, "inertia");
    if (m.rows() != 3 || m.cols() != 3)
      throw InvalidInput("inertia: expected 3 moments or a 3 x 3 matrix, kg m^2");
    result.rotational = m;
  }
  return result;
}

Index add_body(Box& box, std::string name, nb::handle parent, nb::handle position, nb::handle rotation,
               std::optional<double> mass, nb::handle inertia, nb::handle center, std::optional<Shape> shape,
               std::optional<double> density, bool free, bool mocap) {
  box.require_open();
  BodyDescription body{
      .name = name, .parent = box.body("parent", parent), .rotation = to_quat(rotation), .mocap = mocap};
  if (!position.is_none()) body.position = to_vec3(position, "position");
  body.inertia = inertia_of(shape ? &*shape : nullptr, mass, density, inertia, center);
  const Index number = box.model.add_body(std::move(body));
  box.bodies.push_back(name);
  if (free) {
    box.model.add_joint({.name = name, .body = number, .kind = JointKind::free});
    box.joints.push_back(name);
  }
  return number;
}

JointKind joint_kind(std::string_view word) {
  for (const JointKind kind : {JointKind::free, JointKind::ball, JointKind::hinge, JointKind::slide}) {
    if (to_string(kind) == word) return kind;
  }
  throw InvalidInput(
      fmt::format("kind: there is no joint \"{}\", only \"free\", \"ball\", \"hinge\", \"slide\"", word));
}

Index add_joint(Box& box, nb::handle body, std::string_view kind, std::string name, nb::handle axis,
                nb::handle anchor, std::optional<std::pair<double, double>> limits, double damping,
                double stiffness, double spring_reference, double armature, double dry_friction,
                double reference) {
  box.require_open();
  JointDescription joint{.name = name,
                         .body = box.body("body", body),
                         .kind = joint_kind(kind),
                         .reference = reference,
                         .armature = armature,
                         .damping = damping,
                         .stiffness = stiffness,
                         .spring_reference = spring_reference,
                         .dry_friction = dry_friction};
  if (!axis.is_none()) joint.axis = to_vec3(axis, "axis");
  if (!anchor.is_none()) joint.anchor = to_vec3(anchor, "anchor");
  if (limits) {
    joint.limited = true;
    joint.lower = limits->first;
    joint.upper = limits->second;
  }
  const Index number = box.model.add_joint(std::move(joint));
  box.joints.push_back(std::move(name));
  return number;
}

Index add_geom(Box& box, const Shape& shape, nb::handle body, nb::handle position, nb::handle rotation,
               std::string name, double friction, double torsional, double rolling, double stiffness,
               double dissipation_time, double restitution, Index friction_rows, std::uint32_t contact_type,
               std::uint32_t contact_affinity, double pressure_modulus, double pressure_depth,
               double pressure_resolution) {
  box.require_open();
  std::optional<PressureField> pressure;
  if (pressure_modulus != kInfinity || pressure_resolution != 0.0) {
    pressure = {.modulus = pressure_modulus, .depth = pressure_depth, .resolution = pressure_resolution};
  }
  return box.world.add_geom({.name = std::move(name),
                             .shape = shape,
                             .body = box.body("body", body),
                             .pose = to_pose(position, rotation),
                             .material = {.friction = friction,
                                          .torsional = torsional,
                                          .rolling = rolling,
                                          .stiffness = stiffness,
                                          .dissipation_time = dissipation_time,
                                          .restitution = restitution},
                             .contact_type = contact_type,
                             .contact_affinity = contact_affinity,
                             .friction_rows = friction_rows,
                             .pressure = pressure});
}

Index add_actuator(Box& box, nb::handle joint, std::string name, std::string_view kind, double gear,
                   double kp, double kv, std::optional<std::pair<double, double>> control_range,
                   std::optional<std::pair<double, double>> force_range) {
  box.require_open();
  ActuatorDescription actuator{.name = std::move(name), .joint = box.number("joint", joint, box.joints)};
  actuator.gear[0] = gear;
  if (kind == "position") {
    actuator.gain = kp;
    actuator.bias = Vec3(0.0, -kp, -kv);
  } else if (kind == "velocity") {
    actuator.gain = kv;
    actuator.bias = Vec3(0.0, 0.0, -kv);
  } else if (kind != "motor") {
    throw InvalidInput(
        fmt::format("kind: there is no \"{}\", only \"motor\", \"position\", \"velocity\"", kind));
  }
  if (control_range) std::tie(actuator.control_lower, actuator.control_upper) = *control_range;
  if (force_range) std::tie(actuator.force_lower, actuator.force_upper) = *force_range;
  return box.model.add_actuator(std::move(actuator));
}

WorldBox build(Box& box) {
  box.require_open();
  box.world.model = box.model.build();
  validate(box.world);
  box.built = true;
  return WorldBox::of(std::move(box.world));
}

void bind_shape(nb::module_& m) {
  nb::class_<Shape>(m, "Shape", "A collision shape in its own frame; sizes in m.")
      .def_static("plane", &Shape::plane, "The half space z <= 0.")
      .def_static("sphere", &Shape::sphere, "radius"_a, "Around the origin.")
      .def_static("capsule", &Shape::capsule, "radius"_a, "half_length"_a,
                  "Around the z axis; half length of the segment.")
      .def_static(
          "box", [](nb::handle half) { return Shape::box(to_vec3(half, "half")); }, "half"_a,
          nb::sig("def box(half: numpy.typing.ArrayLike) -> Shape"), "Half extents (3,).")
      .def_static("cylinder", &Shape::cylinder, "radius"_a, "half_height"_a, "Around the z axis.")
      .def_static(
          "ellipsoid", [](nb::handle half) { return Shape::ellipsoid(to_vec3(half, "half_axes")); },
          "half_axes"_a, nb::sig("def ellipsoid(half_axes: numpy.typing.ArrayLike) -> Shape"),
          "Half axes (3,).")
      .def_static(
          "hull",
          [](nb::handle points) { return Shape::hull(ConvexHull::around(points_of(points, "points"))); },
          "points"_a, nb::sig("def hull(points: numpy.typing.ArrayLike) -> Shape"),
          "Convex hull of points (n, 3).")
      .def_static(
          "mesh", &mesh_shape, "vertices"_a, "triangles"_a,
          nb::sig("def mesh(vertices: numpy.typing.ArrayLike, triangles: numpy.typing.ArrayLike) -> Shape"),
          "A surface of triangles (m, 3), counter-clockwise seen from outside, over vertices (n, 3).")
      .def_prop_ro(
          "kind", [](const Shape& s) { return to_string(s.kind()); }, "\"plane\", \"sphere\", \"box\", ...")
      .def_prop_ro(
          "volume", [](const Shape& s) { return s.moments().volume; }, "m³; 0: has none.")
      .def("__repr__", [](const Shape& s) { return fmt::format("tribo.Shape.{}", to_string(s.kind())); });
}

void bind_couplings(nb::class_<Box>& c) {
  c.def(
       "add_connect",
       [](Box& box, nb::handle first, nb::handle second, nb::handle first_anchor, nb::handle second_anchor,
          std::string name) {
         box.require_open();
         box.world.connects.push_back({std::move(name), box.body("first", first), box.body("second", second),
                                       to_vec3(first_anchor, "first_anchor"),
                                       to_vec3(second_anchor, "second_anchor")});
       },
       "first"_a, "second"_a, "first_anchor"_a, "second_anchor"_a, "name"_a = "",
       nb::sig("def add_connect(self, first: int | str, second: int | str, first_anchor: "
               "numpy.typing.ArrayLike, second_anchor: "
               "numpy.typing.ArrayLike, name: str = '') -> None"),
       "A point of one body stays on a point of another; anchors in the bodies' frames, m.")
      .def(
          "add_weld",
          [](Box& box, nb::handle first, nb::handle second, nb::handle position, nb::handle rotation,
             std::string name) {
            box.require_open();
            box.world.welds.push_back({std::move(name), box.body("first", first), box.body("second", second),
                                       to_pose(position, rotation), Pose()});
          },
          "first"_a, "second"_a, "position"_a = nb::none(), "rotation"_a = nb::none(), "name"_a = "",
          nb::sig("def add_weld(self, first: int | str, second: int | str, position: numpy.typing.ArrayLike "
                  "| None = None, "
                  "rotation: numpy.typing.ArrayLike | None = None, name: str = '') -> None"),
          "The frame of the second body stays at this pose in the frame of the first.")
      .def(
          "exclude",
          [](Box& box, nb::handle first, nb::handle second) {
            box.require_open();
            box.world.excluded_bodies.emplace_back(box.body("first", first), box.body("second", second));
          },
          "first"_a, "second"_a, nb::sig("def exclude(self, first: int | str, second: int | str) -> None"),
          "No contacts between these two bodies.")
      .def(
          "add_site",
          [](Box& box, nb::handle body, nb::handle position, nb::handle rotation, std::string name) {
            box.require_open();
            return box.model.add_site({std::move(name), box.body("body", body), to_pose(position, rotation)});
          },
          "body"_a, "position"_a = nb::none(), "rotation"_a = nb::none(), "name"_a = "",
          nb::sig(
              "def add_site(self, body: int | str, position: numpy.typing.ArrayLike | None = None, rotation: "
              "numpy.typing.ArrayLike | None = None, name: str = '') -> int"),
          "A named frame on a body.")
      .def("build", &build, "Checks everything and returns the World.");
}

}  // namespace

std::vector<Vec3> points_of(nb::handle points, const char* argument) {
  const Matrix m = to_matrix(points, argument);
  if (m.cols() != 3) throw InvalidInput(fmt::format("{}: expected an array of shape (n, 3)", argument));
  std::vector<Vec3> list;
  for (Index k = 0; k < m.rows(); ++k) list.push_back(m.row(k).transpose());
  return list;
}

Index WorldBuilderBox::number(const char* what, nb::handle wanted,
                              const std::vector<std::string>& names) const {
  Index number = -1;
  if (nb::try_cast<Index>(wanted, number) && number >= 0 && number < static_cast<Index>(names.size()))
    return number;
  std::string name;
  if (nb::try_cast<std::string>(wanted, name)) {
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (names[k] == name) return static_cast<Index>(k);
    }
  }
  throw InvalidInput(
      fmt::format("{}: there is no {} yet", what, nb::cast<std::string>(wanted.attr("__repr__")())));
}

void bind_world_builder(nb::module_& m) {
  bind_shape(m);
  nb::class_<Box> c(m, "WorldBuilder",
                    R"(Makes a world: bodies parent first, joints of the body added last, shapes, materials.

Example: a crate on the floor::

    builder = tribo.WorldBuilder()
    crate = tribo.Shape.box([0.2, 0.2, 0.1])
    body = builder.add_body("crate", position=[0, 0, 0.1], shape=crate, mass=10.0, free=True)
    builder.add_geom(tribo.Shape.plane())
    builder.add_geom(crate, body, friction=0.5)
    sim = tribo.Simulator(builder.build()))");
  c.def(
       "__init__",
       [](Box* self, std::string name, nb::handle gravity, double time_step) {
         new (self) Box();
         self->world.name = std::move(name);
         if (!gravity.is_none()) self->world.gravity = to_vec3(gravity, "gravity");
         self->world.time_step = time_step;
       },
       "name"_a = "", "gravity"_a = nb::none(), "time_step"_a = 0.002,
       nb::sig("def __init__(self, name: str = '', gravity: numpy.typing.ArrayLike | None = None, time_step: "
               "float = 0.002) -> None"),
       "gravity: m/s², (0, 0, -9.81) if None; time_step: s.")
      .def("add_body", &add_body, "name"_a = "", "parent"_a = 0, "position"_a = nb::none(),
           "rotation"_a = nb::none(), "mass"_a = nb::none(), "inertia"_a = nb::none(),
           "center"_a = nb::none(), "shape"_a = nb::none(), "density"_a = nb::none(), "free"_a = false,
           "mocap"_a = false,
           nb::sig("def add_body(self, name: str = '', parent: int | str = 0, position: "
                   "numpy.typing.ArrayLike | None = None, rotation: "
                   "numpy.typing.ArrayLike | None = None, mass: float | None = None, inertia: "
                   "numpy.typing.ArrayLike | None = None, "
                   "center: numpy.typing.ArrayLike | None = None, shape: Shape | None = None, density: float "
                   "| None = None, free: "
                   "bool = False, mocap: bool = False) -> int"),
           "Adds a body and returns its number. Its frame sits at position [m], rotation (quaternion w, x, "
           "y, z or matrix) in its "
           "parent's. Inertia: mass [kg] with moments about the center (3,) or (3, 3) [kg m²], or with a "
           "shape filled uniformly, "
           "or a density [kg/m³] of the shape. free: it moves freely in the world. mocap: moved by the user "
           "alone. The shape is "
           "for the inertia; what touches is added by add_geom().")
      .def("add_joint", &add_joint, "body"_a, "kind"_a = "hinge", "name"_a = "", "axis"_a = nb::none(),
           "anchor"_a = nb::none(), "limits"_a = nb::none(), "damping"_a = 0.0, "stiffness"_a = 0.0,
           "spring_reference"_a = 0.0, "armature"_a = 0.0, "dry_friction"_a = 0.0, "reference"_a = 0.0,
           nb::sig("def add_joint(self, body: int | str, kind: str = 'hinge', name: str = '', axis: "
                   "numpy.typing.ArrayLike | None = "
                   "None, anchor: numpy.typing.ArrayLike | None = None, limits: tuple[float, float] | None = "
                   "None, damping: float = "
                   "0.0, stiffness: float = 0.0, spring_reference: float = 0.0, armature: float = 0.0, "
                   "dry_friction: float = 0.0, "
                   "reference: float = 0.0) -> int"),
           "Adds a joint to the body added last and returns its number: \"hinge\" (about the axis through "
           "the anchor), \"slide\" "
           "(along the axis), \"ball\", \"free\". axis (z if None) and anchor [m] in the body's frame; "
           "limits of q [rad, m]; damping "
           "[N m s/rad, N s/m]; stiffness [N m/rad, N/m]; armature [kg m², kg]; dry_friction [N m, N].")
      .def("add_geom", &add_geom, "shape"_a, "body"_a = 0, "position"_a = nb::none(),
           "rotation"_a = nb::none(), "name"_a = "", "friction"_a = 0.5, "torsional"_a = 0.0,
           "rolling"_a = 0.0, "stiffness"_a = kInfinity, "dissipation_time"_a = 0.0, "restitution"_a = 0.0,
           "friction_rows"_a = 3, "contact_type"_a = 1, "contact_affinity"_a = 1,
           "pressure_modulus"_a = kInfinity, "pressure_depth"_a = 0.0, "pressure_resolution"_a = 0.0,
           nb::sig("def add_geom(self, shape: Shape, body: int | str = 0, position: numpy.typing.ArrayLike | "
                   "None = None, rotation: "
                   "numpy.typing.ArrayLike | None = None, name: str = '', friction: float = 0.5, torsional: "
                   "float = 0.0, rolling: float "
                   "= 0.0, stiffness: float = float('inf'), dissipation_time: float = 0.0, restitution: "
                   "float = 0.0, friction_rows: int "
                   "= 3, contact_type: int = 1, contact_affinity: int = 1, pressure_modulus: float = "
                   "float('inf'), "
                   "pressure_depth: float = 0.0, pressure_resolution: float = 0.0) -> int"),
           "Adds a shape that touches, on a body (0: fixed in the world), and returns its number. friction: "
           "Coulomb's coefficient; "
           "torsional, rolling [m] act with friction_rows 4, 6; stiffness [N/m], inf: rigid; "
           "dissipation_time [s]; two geoms may "
           "touch if (type_a & affinity_b) or (type_b & affinity_a). pressure_modulus [Pa], inf: none, with "
           "pressure_depth and pressure_resolution [m]: a soft shape, docs/pressure-fields.md.")
      .def("add_actuator", &add_actuator, "joint"_a, "name"_a = "", "kind"_a = "motor", "gear"_a = 1.0,
           "kp"_a = 0.0, "kv"_a = 0.0, "control_range"_a = nb::none(), "force_range"_a = nb::none(),
           nb::sig("def add_actuator(self, joint: int | str, name: str = '', kind: str = 'motor', gear: "
                   "float = 1.0, kp: float = 0.0, kv: "
                   "float = 0.0, control_range: tuple[float, float] | None = None, force_range: tuple[float, "
                   "float] | None = None) -> int"),
           "Adds a drive on a joint and returns its number: \"motor\" (control is the force, N or N m), "
           "\"position\" servo (kp, kv), "
           "\"velocity\" servo (kv). gear: force and length of the drive per those of the joint.");
  bind_couplings(c);
  bind_flexible_builder(c);
}

}  // namespace tribo::python
