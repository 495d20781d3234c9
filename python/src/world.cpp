// tribo.World, tribo.load, tribo.scene, tribo.scenes.
#include "world.h"

#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "module.h"
#include "tribo/base/errors.h"
#include "tribo/io/load.h"
#include "tribo/io/mjcf/writer.h"
#include "tribo/sim/contact/initial_overlaps.h"

namespace tribo::python {
namespace {

using namespace nb::literals;

std::string quoted_list(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 30;
  std::string text;
  for (std::size_t k = 0; k < names.size() && k < kShown; ++k)
    text += fmt::format("{}\"{}\"", k > 0 ? ", " : "", names[k]);
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  return text.empty() ? "none" : text;
}

// An integer is a number, a string a name.
Index number_of(const char* what, nb::handle wanted, const std::vector<std::string>& names) {
  Index number = -1;
  if (nb::try_cast<Index>(wanted, number)) {
    if (number >= 0 && number < static_cast<Index>(names.size())) return number;
    throw InvalidInput(fmt::format("{}: there is no number {}, only 0 to {}", what, number,
                                   static_cast<Index>(names.size()) - 1));
  }
  std::string name;
  if (!nb::try_cast<std::string>(wanted, name)) {
    throw nb::type_error(fmt::format("{}: expected a name or a number, not {}", what,
                                     nb::cast<std::string>(wanted.type().attr("__name__")))
                             .c_str());
  }
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (names[k] == name) return static_cast<Index>(k);
  }
  throw InvalidInput(fmt::format("{}: there is no \"{}\" (there are: {})", what, name, quoted_list(names)));
}

std::vector<std::string> body_names(const World& w) {
  std::vector<std::string> names;
  for (Index b = 0; b < w.model.body_count(); ++b) names.push_back(w.model.body_name(b));
  return names;
}
std::vector<std::string> joint_names(const World& w) {
  std::vector<std::string> names;
  for (Index j = 0; j < w.model.joint_count(); ++j) names.push_back(w.model.joint(j).name);
  return names;
}
template <class List>
std::vector<std::string> names_of(const List& list) {
  std::vector<std::string> names;
  for (const auto& item : list) names.push_back(item.name);
  return names;
}

WorldBox load(const std::filesystem::path& path, bool strict, bool allow_missing,
              std::vector<std::pair<std::string, std::filesystem::path>> packages, bool fixed_base,
              bool visuals, bool visual_geometry, const std::string& name) {
  const LoadOptions options{.strict = strict,
                            .allow_missing = allow_missing,
                            .packages = std::move(packages),
                            .fixed_base = fixed_base,
                            .visuals = visuals,
                            .visual_geometry = visual_geometry};
  LoadReport report;
  WorldBox box = WorldBox::of(load_world(path, options, report));
  box.warnings = std::move(report.warnings);
  if (!name.empty() && box.world.name == path.stem().string()) box.world.name = name;
  return box;
}

WorldBox scene(std::string_view name, const std::map<std::string, double>& values, double time_step) {
  const SceneValues given(values.begin(), values.end());
  Scene made = make_scene(name, given, time_step);
  return {.world = std::move(made.world),
          .start = std::move(made.start),
          .settings = std::move(made.settings),
          .duration = made.duration,
          .scene = std::string(name),
          .scene_values = given,
          .scene_step = time_step};
}

nb::list scenes() {
  nb::list all;
  for (const SceneInfo& info : scene_catalogue()) {
    nb::dict parameters;
    for (const SceneParameter& p : info.parameters) {
      parameters[nb::str(std::string(p.name).c_str())] =
          nb::make_tuple(p.value, p.lower, p.upper, std::string(p.help));
    }
    all.append(nb::make_tuple(std::string(info.name), std::string(info.summary), parameters));
  }
  return all;
}

std::string describe(const WorldBox& b) {
  const World& w = b.world;
  return fmt::format("tribo.World(\"{}\": {} bodies, {} geoms, {} coordinates, {} dofs, {} actuators)",
                     w.name, w.model.body_count() - 1, w.geoms.size(), w.model.coordinate_count(),
                     w.model.dof_count(), w.model.actuators().size());
}

void bind_names(nb::class_<WorldBox>& c) {
  c.def_prop_ro(
       "body_names", [](const WorldBox& b) { return body_names(b.world); }, "Bodies; number 0 is the world.")
      .def_prop_ro(
          "joint_names", [](const WorldBox& b) { return joint_names(b.world); },
          "Joints in the order of their numbers.")
      .def_prop_ro(
          "geom_names", [](const WorldBox& b) { return names_of(b.world.geoms); },
          "Shapes that touch, in the order of their numbers.")
      .def_prop_ro(
          "site_names", [](const WorldBox& b) { return names_of(b.world.model.sites()); },
          "Sites in the order of their numbers.")
      .def_prop_ro(
          "tendon_names", [](const WorldBox& b) { return names_of(b.world.model.tendons()); },
          "Tendons in the order of their numbers.")
      .def_prop_ro(
          "actuator_names", [](const WorldBox& b) { return names_of(b.world.model.actuators()); },
          "Actuators in the order of Simulator.control.")
      .def_prop_ro(
          "keyframe_names", [](const WorldBox& b) { return names_of(b.world.keyframes); },
          "For Simulator.reset().")
      .def_prop_ro(
          "coordinates", [](const WorldBox& b) { return b.world.model.coordinate_count(); }, "Entries of q.")
      .def_prop_ro(
          "dofs", [](const WorldBox& b) { return b.world.model.dof_count(); }, "Entries of v.")
      .def_prop_ro(
          "actuators", [](const WorldBox& b) { return b.world.model.actuators().size(); },
          "Entries of control.")
      .def_prop_ro(
          "bodies", [](const WorldBox& b) { return b.world.model.body_count(); },
          "Number of bodies, the world included.")
      .def_prop_ro(
          "flexible_body_names", [](const WorldBox& b) { return names_of(b.world.flexible_bodies); },
          "Flexible bodies in the order of their numbers, which are apart from those of rigid bodies.")
      .def_prop_ro(
          "nodes",
          [](const WorldBox& b) {
            return first_node(b.world, static_cast<Index>(b.world.flexible_bodies.size()));
          },
          "Of all flexible bodies.")
      .def(
          "flexible_mesh",
          [](const WorldBox& b, nb::handle body) {
            return b.world.flexible_bodies[static_cast<std::size_t>(flexible_number(b.world, body))].mesh;
          },
          "body"_a, nb::sig("def flexible_mesh(self, body: int | str) -> TetMesh"),
          "The TetMesh of a flexible body at rest, in the body's own frame.");
}

}  // namespace

WorldBox WorldBox::of(World world) {
  WorldBox box;
  box.start = initial_state(world);
  box.world = std::move(world);
  return box;
}

Index body_number(const World& w, nb::handle body) { return number_of("body", body, body_names(w)); }
Index joint_number(const World& w, nb::handle joint) { return number_of("joint", joint, joint_names(w)); }
Index geom_number(const World& w, nb::handle geom) { return number_of("geom", geom, names_of(w.geoms)); }
Index site_number(const World& w, nb::handle site) {
  return number_of("site", site, names_of(w.model.sites()));
}
Index flexible_number(const World& w, nb::handle body) {
  return number_of("body", body, names_of(w.flexible_bodies));
}
Index actuator_number(const World& w, nb::handle actuator) {
  return number_of("actuator", actuator, names_of(w.model.actuators()));
}
const Keyframe& find_keyframe(const World& w, nb::handle keyframe) {
  return w.keyframes[static_cast<std::size_t>(number_of("keyframe", keyframe, names_of(w.keyframes)))];
}

Quat to_quat(nb::handle rotation) {
  if (rotation.is_none()) return Quat::Identity();
  if (nb::cast<int>(nb::module_::import_("numpy").attr("ndim")(rotation)) == 2) {
    const Matrix m = to_matrix(rotation, "rotation");
    if (m.rows() != 3 || m.cols() != 3 || (m * m.transpose() - Mat3::Identity()).norm() > 1e-6 ||
        m.determinant() < 0)
      throw InvalidInput("rotation: expected a unit quaternion (w, x, y, z) or a 3 x 3 rotation matrix");
    return Quat(Mat3(m));
  }
  const Vector q = to_vector(rotation, "rotation", 4);
  if (!(q.norm() > 0.0)) throw InvalidInput("rotation: the quaternion is zero");
  return Quat(q[0], q[1], q[2], q[3]).normalized();
}

Pose to_pose(nb::handle position, nb::handle rotation) {
  Pose pose;
  if (!position.is_none()) pose.position = to_vec3(position, "position");
  pose.rotation = to_quat(rotation).toRotationMatrix();
  return pose;
}

void bind_world(nb::module_& m) {
  nb::class_<LoadWarning>(m, "LoadWarning", "What a file asks for and tribo does not do.")
      .def_ro("file", &LoadWarning::file, "Where it stands.")
      .def_ro("line", &LoadWarning::line, "From 1; 0: of the file as a whole.")
      .def_ro("message", &LoadWarning::message, "What is asked for and not done, and what is done instead.")
      .def("__repr__",
           [](const LoadWarning& w) { return fmt::format("{}:{}: {}", w.file, w.line, w.message); });

  nb::class_<WorldBox> world(
      m, "World",
      R"(What is simulated: model, shapes, materials, couplings, gravity. Constant during a simulation.

Made by tribo.load(), tribo.scene() or tribo.WorldBuilder.)");
  bind_names(world);
  world
      .def_prop_ro(
          "name", [](const WorldBox& b) { return b.world.name; },
          "Of the model in the file, or of the scene.")
      .def_prop_ro(
          "gravity", [](const WorldBox& b) { return new_vector(b.world.gravity); }, "m/s².",
          nb::rv_policy::automatic)
      .def_prop_ro(
          "time_step",
          [](const WorldBox& b) {
            return b.settings.time_step > 0 ? b.settings.time_step : b.world.time_step;
          },
          "s, what a simulator takes that is not told otherwise.")
      .def_prop_ro(
          "total_mass", [](const WorldBox& b) { return b.world.model.total_mass(); }, "kg.")
      .def_prop_ro(
          "duration", [](const WorldBox& b) { return b.duration; }, "What a scene wants, s; 0: says nothing.")
      .def_ro("warnings", &WorldBox::warnings, "What the file asks for and tribo does not do.")
      .def(
          "initial_overlaps",
          [](const WorldBox& b) {
            std::vector<std::string> lines;
            for (const InitialOverlap& o : initial_overlaps(b.world, b.start))
              lines.push_back(describe(b.world, o));
            return lines;
          },
          "Bodies that overlap at the start, one line each, the deepest first.")
      .def(
          "write_mjcf",
          [](const WorldBox& b, const std::filesystem::path& file) { write_mjcf(b.world, file); }, "path"_a,
          nb::sig("def write_mjcf(self, path: str | os.PathLike) -> None"), "Writes the world as MJCF.")
      .def("__repr__", [](const WorldBox& b) { return describe(b); })
      .def(
          "__reduce__",
          [](nb::handle) -> nb::object {
            throw nb::type_error(
                "a World cannot be pickled: load it again in each process (tribo.load, tribo.scene)");
          },
          nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
  m.def("load", &load, "path"_a, "strict"_a, "allow_missing"_a, "packages"_a, "fixed_base"_a, "visuals"_a,
        "visual_geometry"_a, "name"_a = "", nb::call_guard<nb::gil_scoped_release>(), "See tribo.load.");
  m.def("scene", &scene, "name"_a, "values"_a, "time_step"_a, nb::call_guard<nb::gil_scoped_release>(),
        "See tribo.scene.");
  m.def("scenes", &scenes,
        nb::sig("def scenes() -> list[tuple[str, str, dict[str, tuple[float, float, float, str]]]]"),
        "The built-in scenes: (name, summary, {parameter: (default, lower, upper, help)}).");
}

}  // namespace tribo::python
