// tribo.TetMesh, and flexible bodies in tribo.WorldBuilder.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cmath>

#include "arrays.h"
#include "module.h"
#include "tribo/base/errors.h"
#include "tribo/flex/ready_meshes.h"
#include "tribo/io/tet_mesh_file.h"
#include "world_builder.h"

namespace tribo::python {
namespace {

using namespace nb::literals;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
using IndexTable = nb::ndarray<nb::numpy, const Index, nb::ndim<2>, nb::c_contig>;
using PointTable = nb::ndarray<nb::numpy, const double, nb::ndim<2>, nb::c_contig>;

Index whole(double value, const char* argument, std::string_view what, double count) {
  if (value >= 0.0 && value < count && value == std::floor(value)) return static_cast<Index>(value);
  throw InvalidInput(fmt::format("{}: there is no {} {}, only 0 to {}", argument, what, value, count - 1.0));
}

TetMesh make_mesh(nb::handle nodes, nb::handle tets) {
  TetMesh mesh{.nodes = points_of(nodes, "nodes"), .tets = {}};
  const Matrix corners = to_matrix(tets, "tets");
  if (corners.cols() != 4) throw InvalidInput("tets: expected an array of shape (m, 4)");
  for (Index e = 0; e < corners.rows(); ++e) {
    TetMesh::Tet tet{};
    for (int k = 0; k < 4; ++k) {
      tet[static_cast<std::size_t>(k)] =
          whole(corners(e, k), "tets", "node", static_cast<double>(mesh.nodes.size()));
    }
    mesh.tets.push_back(tet);
  }
  complete(mesh, "tets");
  return mesh;
}

std::array<Index, 3> cells_of(nb::handle cells) {
  const Vector given = to_vector(cells, "cells", 3);
  std::array<Index, 3> result{};
  for (Index k = 0; k < 3; ++k) {
    if (!(given[k] >= 1.0 && given[k] < 1e6 && given[k] == std::floor(given[k])))
      throw InvalidInput(fmt::format("cells: entry {} is {}, expected a whole number >= 1", k, given[k]));
    result[static_cast<std::size_t>(k)] = static_cast<Index>(given[k]);
  }
  return result;
}

double length_of(double value, const char* argument) {
  if (std::isfinite(value) && value > 0.0) return value;
  throw InvalidInput(fmt::format("{}: expected a length > 0 m, not {}", argument, value));
}

Index count_of(Index value, const char* argument) {
  if (value >= 1) return value;
  throw InvalidInput(fmt::format("{}: expected a number of cells >= 1, not {}", argument, value));
}

// Positions in a table whose rows lie one behind the other.
template <class Rows>
auto* first_of(Rows& rows) {
  return rows.empty() ? nullptr : rows.front().data();
}

void bind_ready_meshes(nb::class_<TetMesh>& c) {
  c.def_static(
       "box",
       [](nb::handle size, nb::handle cells) {
         const Vec3 edges = to_vec3(size, "size");
         for (const double edge : edges) length_of(edge, "size");
         return box_mesh(edges, cells_of(cells));
       },
       "size"_a, "cells"_a,
       nb::sig("def box(size: numpy.typing.ArrayLike, cells: numpy.typing.ArrayLike) -> TetMesh"),
       "Edges (3,) [m] along x, y, z, and so many cells along each; a bar is a long one.")
      .def_static(
          "cylinder",
          [](double radius, double length, Index across, Index along) {
            return cylinder_mesh(length_of(radius, "radius"), length_of(length, "length"),
                                 count_of(across, "across"), count_of(along, "along"));
          },
          "radius"_a, "length"_a, "across"_a, "along"_a,
          "Axis along z; so many cells along the diameter and along the length.")
      .def_static(
          "sphere",
          [](double radius, Index across) {
            return sphere_mesh(length_of(radius, "radius"), count_of(across, "across"));
          },
          "radius"_a, "across"_a, "So many cells along the diameter.")
      .def_static(
          "read",
          [](const std::filesystem::path& path, double scale) {
            return read_tet_mesh(path, length_of(scale, "scale"));
          },
          "path"_a, "scale"_a = 1.0,
          nb::sig("def read(path: str | os.PathLike, scale: float = 1.0) -> TetMesh"),
          "From Gmsh .msh (2.2, 4.1, ASCII), VTK .vtk or .vtu (ASCII, inline base64). Numbers times `scale` "
          "are metres.");
}

Elasticity elasticity_of(std::string_view law, double young, double poisson, double density,
                         double mass_damping, double stiffness_damping, std::string_view mass) {
  Elasticity e{.young = young,
               .poisson = poisson,
               .density = density,
               .mass_damping = mass_damping,
               .stiffness_damping = stiffness_damping};
  try {
    e.law = elastic_law_from_name(law);
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("law: {}", error.what()));
  }
  if (mass != "consistent" && mass != "lumped") {
    throw InvalidInput(fmt::format("mass: there is no \"{}\", only \"consistent\", \"lumped\"", mass));
  }
  e.mass = mass == "lumped" ? MassMatrix::lumped : MassMatrix::consistent;
  validate(e, "the flexible body");
  return e;
}

std::vector<NodeAttachment> attachments_of(WorldBuilderBox& box, nb::handle list, double nodes) {
  std::vector<NodeAttachment> ties;
  if (list.is_none()) return ties;
  for (const nb::handle entry : list) {
    if (!nb::isinstance<nb::sequence>(entry) || nb::len(entry) != 3)
      throw InvalidInput("attachments: expected a list of (node, body, anchor)");
    const double node = to_number(entry[0], "attachments");
    ties.push_back({whole(node, "attachments", "node", nodes), box.body("attachments", entry[1]),
                    to_vec3(entry[2], "attachments")});
  }
  return ties;
}

double not_negative(double value, const char* argument, bool finite) {
  if (value >= 0.0 && (!finite || std::isfinite(value))) return value;
  throw InvalidInput(
      fmt::format("{}: expected a{} number >= 0, not {}", argument, finite ? " finite" : "", value));
}

Index add_flexible_body(WorldBuilderBox& box, TetMesh mesh, std::string name, nb::handle position,
                        nb::handle rotation, double young, double poisson, double density,
                        std::string_view law, double mass_damping, double stiffness_damping,
                        std::string_view mass, double friction, double stiffness, double dissipation_time,
                        nb::handle fixed_nodes, nb::handle attachments, std::uint32_t contact_type,
                        std::uint32_t contact_affinity, double margin) {
  box.require_open();
  const auto nodes = static_cast<double>(mesh.nodes.size());
  FlexibleBody body{
      .name = std::move(name),
      .pose = to_pose(position, rotation),
      .elasticity = elasticity_of(law, young, poisson, density, mass_damping, stiffness_damping, mass),
      .material = {.friction = not_negative(friction, "friction", true),
                   .stiffness = not_negative(stiffness, "stiffness", false),
                   .dissipation_time = not_negative(dissipation_time, "dissipation_time", true)},
      .attachments = attachments_of(box, attachments, nodes),
      .contact_type = contact_type,
      .contact_affinity = contact_affinity,
      .margin = not_negative(margin, "margin", true)};
  if (!fixed_nodes.is_none()) {
    for (const double node : to_vector(fixed_nodes, "fixed_nodes")) {
      body.fixed_nodes.push_back(whole(node, "fixed_nodes", "node", nodes));
    }
  }
  body.mesh = std::move(mesh);
  return box.world.add_flexible_body(std::move(body));
}

}  // namespace

void bind_tet_mesh(nb::module_& m) {
  using Self = nb::pointer_and_handle<TetMesh>;
  nb::class_<TetMesh> c(
      m, "TetMesh",
      R"(A solid cut into tetrahedra: nodes [m] and, for every element, the numbers of its four corners.

What flexible bodies are made of: WorldBuilder.add_flexible_body().)");
  c.def(
       "__init__",
       [](TetMesh* self, nb::handle nodes, nb::handle tets) { new (self) TetMesh(make_mesh(nodes, tets)); },
       "nodes"_a, "tets"_a,
       nb::sig("def __init__(self, nodes: numpy.typing.ArrayLike, tets: numpy.typing.ArrayLike) -> None"),
       "nodes (n, 3) [m], tets (m, 4): numbers of nodes. Elements that are inside out are turned round.")
      .def_prop_ro(
          "nodes",
          [](Self s) {
            return PointTable(first_of(s.p->nodes), {s.p->nodes.size(), std::size_t{3}}, s.h);
          },
          "(n, 3), m; cannot be written to.", nb::rv_policy::automatic)
      .def_prop_ro(
          "tets",
          [](Self s) {
            return IndexTable(first_of(s.p->tets), {s.p->tets.size(), std::size_t{4}}, s.h);
          },
          "(m, 4), numbers of nodes; cannot be written to.", nb::rv_policy::automatic)
      .def_prop_ro(
          "volume", [](const TetMesh& mesh) { return volume(mesh); }, "m³.")
      .def(
          "surface",
          [](const TetMesh& mesh) {
            const std::vector<SurfaceTriangle> all = boundary(mesh);
            return new_array<nb::ndarray<nb::numpy, Index, nb::ndim<2>>>(first_of(all), {all.size(), 3});
          },
          nb::sig("def surface(self) -> numpy.ndarray"),
          "Triangles of the boundary (k, 3), numbers of nodes, counter-clockwise seen from outside.")
      .def(
          "nodes_on_plane",
          [](const TetMesh& mesh, nb::handle point, nb::handle normal, double tolerance) {
            const Vec3 n = to_vec3(normal, "normal");
            if (!(n.norm() > 0.0)) throw InvalidInput("normal: it is zero");
            const std::vector<Index> found = nodes_on_plane(mesh, to_vec3(point, "point"), n.normalized(),
                                                            not_negative(tolerance, "tolerance", true));
            return new_array<NewIndices>(found.data(), {found.size()});
          },
          "point"_a, "normal"_a, "tolerance"_a = 1e-9,
          nb::sig("def nodes_on_plane(self, point: numpy.typing.ArrayLike, normal: numpy.typing.ArrayLike, "
                  "tolerance: float = 1e-09) -> numpy.ndarray"),
          "Numbers of the nodes within `tolerance` [m] of the plane, ascending.")
      .def(
          "write_vtu", [](const TetMesh& mesh, const std::filesystem::path& path) { write_vtu(path, mesh); },
          "path"_a, nb::sig("def write_vtu(self, path: str | os.PathLike) -> None"), "As VTK XML in ASCII.")
      .def("__repr__",
           [](const TetMesh& mesh) {
             return fmt::format("tribo.TetMesh({} nodes, {} elements)", mesh.nodes.size(), mesh.tets.size());
           })
      .def(
          "__reduce__",
          [](nb::handle self) {
            const nb::object nodes = self.attr("nodes").attr("copy")(),
                             tets = self.attr("tets").attr("copy")();
            return nb::make_tuple(nb::type<TetMesh>(), nb::make_tuple(nodes, tets));
          },
          nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
  bind_ready_meshes(c);
}

void bind_flexible_builder(nb::class_<WorldBuilderBox>& c) {
  c.def("add_flexible_body", &add_flexible_body, "mesh"_a, "name"_a = "", "position"_a = nb::none(),
        "rotation"_a = nb::none(), "young"_a = 1e6, "poisson"_a = 0.3, "density"_a = 1000.0,
        "law"_a = "corotational", "mass_damping"_a = 0.0, "stiffness_damping"_a = 0.0,
        "mass"_a = "consistent", "friction"_a = 0.5, "stiffness"_a = kInfinity, "dissipation_time"_a = 0.0,
        "fixed_nodes"_a = nb::none(), "attachments"_a = nb::none(), "contact_type"_a = 1,
        "contact_affinity"_a = 1, "margin"_a = 0.0,
        nb::sig("def add_flexible_body(self, mesh: TetMesh, name: str = '', position: numpy.typing.ArrayLike "
                "| None = None, rotation: numpy.typing.ArrayLike | None = None, young: float = 1000000.0, "
                "poisson: float = 0.3, density: float = 1000.0, law: str = 'corotational', mass_damping: "
                "float = 0.0, stiffness_damping: float = 0.0, mass: str = 'consistent', friction: float = "
                "0.5, stiffness: float = float('inf'), dissipation_time: float = 0.0, fixed_nodes: "
                "numpy.typing.ArrayLike | None = None, attachments: typing.Sequence[tuple[int, int | str, "
                "numpy.typing.ArrayLike]] | None = None, contact_type: int = 1, contact_affinity: int = 1, "
                "margin: float = 0.0) -> int"),
        "Adds a body that bends and returns its number among flexible bodies. The mesh is at rest in its "
        "frame, which is at position [m], rotation (quaternion w, x, y, z or matrix) at the beginning. "
        "young [Pa], poisson, density [kg/m³]; law: \"linear\", \"corotational\", \"stvk\"; Rayleigh "
        "damping mass_damping [1/s], stiffness_damping [s]; mass: \"consistent\" or \"lumped\". friction, "
        "stiffness [N/m], dissipation_time [s], contact_type, contact_affinity, margin [m]: of the surface, "
        "as in add_geom(). fixed_nodes: numbers of nodes that stay where they are. attachments: (node, "
        "body, anchor) ties a node to a point of a rigid body (0: the world), in the body's frame, m.");
}

}  // namespace tribo::python
