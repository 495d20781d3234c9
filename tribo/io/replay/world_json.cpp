#include "tribo/io/replay/world_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "tribo/collide/shapes/convex_hull.h"
#include "tribo/collide/shapes/distance_field.h"
#include "tribo/collide/shapes/height_field.h"
#include "tribo/collide/shapes/triangle_mesh.h"
#include "tribo/io/replay/chunk.h"
#include "tribo/io/replay/page.h"
#include "tribo/version.h"

namespace tribo::detail {
namespace {

using nlohmann::ordered_json;

struct Triangles {
  std::vector<float> positions;
  std::vector<std::uint32_t> corners;

  void add(const Vec3& x) {
    for (int k = 0; k < 3; ++k) positions.push_back(static_cast<float>(x[k]));
  }
};

Triangles triangles_of(const ConvexHull& hull) {
  Triangles out;
  for (const Vec3& x : hull.vertices()) out.add(x);
  for (Index f = 0; f < hull.face_count(); ++f) {
    const auto face = hull.face(f);
    for (std::size_t k = 2; k < face.size(); ++k) {
      for (const Index corner : {face[0], face[k - 1], face[k]}) {
        out.corners.push_back(static_cast<std::uint32_t>(corner));
      }
    }
  }
  return out;
}

Triangles triangles_of(const TriangleMesh& mesh) {
  Triangles out;
  for (const Vec3& x : mesh.vertices()) out.add(x);
  for (const auto& triangle : mesh.triangles()) {
    for (const Index corner : triangle) out.corners.push_back(static_cast<std::uint32_t>(corner));
  }
  return out;
}

// Large fields are shown with every second, third, ... line.
Triangles triangles_of(const HeightField& field) {
  constexpr Index kMostLines = 400;
  const auto lines = [](Index count) {
    const Index stride = (count + kMostLines - 2) / (kMostLines - 1);
    std::vector<Index> chosen;
    for (Index k = 0; k < count; k += stride) chosen.push_back(k);
    if (chosen.back() != count - 1) chosen.push_back(count - 1);
    return chosen;
  };
  const std::vector<Index> rows = lines(field.rows()), columns = lines(field.columns());
  Triangles out;
  for (const Index r : rows) {
    for (const Index c : columns) out.add(field.vertex(r, c));
  }
  const auto width = static_cast<std::uint32_t>(columns.size());
  for (std::uint32_t r = 0; r + 1 < rows.size(); ++r) {
    for (std::uint32_t c = 0; c + 1 < width; ++c) {
      const std::uint32_t a = r * width + c, b = a + 1, d = a + width, e = d + 1;
      out.corners.insert(out.corners.end(), {a, b, e, a, e, d});
    }
  }
  return out;
}

template <class T>
std::string base64_of(const std::vector<T>& values) {
  return base64({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

// Every mesh once, however many geoms have it.
class MeshList {
 public:
  int number(const Shape& shape) {
    switch (shape.kind()) {
      case ShapeKind::hull:
        return add(&shape.hull(), [&] { return triangles_of(shape.hull()); });
      case ShapeKind::mesh:
        return add(&shape.mesh(), [&] { return triangles_of(shape.mesh()); });
      case ShapeKind::height_field:
        return add(&shape.height_field(), [&] { return triangles_of(shape.height_field()); });
      case ShapeKind::distance_field:
        return add(&shape.distance_field(), [&] { return triangles_of(shape.distance_field().surface()); });
      default:
        return -1;
    }
  }
  int add_triangle(const std::array<Vec3, 3>& corners) {
    Triangles t;
    for (const Vec3& x : corners) t.add(x);
    t.corners = {0, 1, 2};
    meshes_.push_back({{"positions", base64_of(t.positions)}, {"triangles", base64_of(t.corners)}});
    return static_cast<int>(meshes_.size()) - 1;
  }
  const ordered_json& json() const { return meshes_; }

 private:
  template <class Make>
  int add(const void* key, Make make) {
    const auto [at, fresh] = numbers_.try_emplace(key, static_cast<int>(meshes_.size()));
    if (fresh) {
      const Triangles t = make();
      meshes_.push_back({{"positions", base64_of(t.positions)}, {"triangles", base64_of(t.corners)}});
    }
    return at->second;
  }

  std::map<const void*, int> numbers_;
  ordered_json meshes_ = ordered_json::array();
};

// For what has no colour of its own: bodies differ, also to colour-blind eyes.
Color color_of(const std::optional<Color>& given, Index body) {
  constexpr std::array<Color, 6> kPalette{{{0.62f, 0.70f, 0.80f, 1.0f},
                                           {0.85f, 0.72f, 0.48f, 1.0f},
                                           {0.55f, 0.75f, 0.70f, 1.0f},
                                           {0.80f, 0.62f, 0.55f, 1.0f},
                                           {0.72f, 0.66f, 0.82f, 1.0f},
                                           {0.74f, 0.76f, 0.56f, 1.0f}}};
  if (given) return *given;
  if (body == 0) return {0.78f, 0.78f, 0.76f, 1.0f};
  return kPalette[static_cast<std::size_t>(body - 1) % kPalette.size()];
}

ordered_json numbers(const Vec3& x) { return {x[0], x[1], x[2]}; }

ordered_json shape_json(const std::string& name, const Shape& shape, Index body, const Pose& pose,
                        const std::optional<Color>& color, MeshList& meshes) {
  const Quat turn = Quat(pose.rotation).normalized();
  const Vec3& x = pose.position;
  const Color c = color_of(color, body);
  ordered_json shown = ordered_json::array();
  for (const float part : c) shown.push_back(std::round(1e4 * static_cast<double>(part)) / 1e4);
  return {{"name", name},
          {"body", body},
          {"kind", to_string(shape.kind())},
          {"size", numbers(shape.size())},
          {"pose", {x[0], x[1], x[2], turn.w(), turn.x(), turn.y(), turn.z()}},
          {"color", shown},
          {"mesh", meshes.number(shape)}};
}

// Where there is nothing else, body or geom are called by their number.
std::string named(const std::string& name, const char* what, std::size_t number) {
  return name.empty() ? what + std::to_string(number) : name;
}

void add_pieces(const World& world, const FlexibleLook& look, MeshList& meshes, ordered_json& bodies,
                ordered_json& geoms) {
  for (const FlexibleLook::Piece& piece : look.pieces()) {
    const FlexibleBody& whole = world.flexible_bodies[piece.body];
    const std::string name = named(whole.name, "flexible body ", static_cast<std::size_t>(piece.body));
    const auto body = static_cast<Index>(bodies.size());
    bodies.push_back({{"name", name}});
    const std::optional<Color> color = color_of(whole.color, world.model.body_count() + piece.body);
    geoms.push_back(shape_json(name, Shape::sphere(1.0), body, {}, color, meshes));
    geoms.back()["kind"] = to_string(ShapeKind::mesh);
    geoms.back()["mesh"] = meshes.add_triangle(piece.shape);
    geoms.back()["collides"] = true;
    geoms.back()["visual"] = true;
  }
}

}  // namespace

RunFacts facts_of(const Simulator& simulator, const std::string& name, double frames_per_second) {
  const SimulatorSettings& s = simulator.settings();
  return {.name = !name.empty() ? name : simulator.world().name,
          .solver = s.solver,
          .law = s.law == Law::exact ? "exact" : "convex",
          .scheme = std::string(to_string(s.scheme)),
          .tolerance = s.tolerance,
          .time_step = simulator.time_step(),
          .frame_time = frames_per_second > 0.0 ? 1.0 / frames_per_second : simulator.time_step()};
}

std::string world_json(const World& world, const RunFacts& facts, const FlexibleLook* look) {
  ordered_json out = {{"format", "tribo-replay"},
                      {"version", 1},
                      {"name", facts.name},
                      {"tribo", version()},
                      {"solver", facts.solver},
                      {"law", facts.law},
                      {"scheme", facts.scheme},
                      {"tolerance", facts.tolerance},
                      {"time_step", facts.time_step},
                      {"frame_time", facts.frame_time},
                      {"gravity", numbers(world.gravity)},
                      {"dofs", world.model.dof_count()}};
  ordered_json bodies = ordered_json::array(), geoms = ordered_json::array();
  for (Index b = 0; b < world.model.body_count(); ++b) {
    bodies.push_back({{"name", named(world.model.body_name(b), "body ", static_cast<std::size_t>(b))}});
  }
  MeshList meshes;
  for (std::size_t g = 0; g < world.geoms.size(); ++g) {
    const Geom& geom = world.geoms[g];
    geoms.push_back(
        shape_json(named(geom.name, "geom ", g), geom.shape, geom.body, geom.pose, geom.color, meshes));
    geoms.back()["collides"] = true;
    geoms.back()["visual"] = geom.visual;
  }
  for (std::size_t k = 0; k < world.visuals.size(); ++k) {
    const Visual& visual = world.visuals[k];
    geoms.push_back(shape_json(named(visual.name, "visual ", k), visual.shape, visual.body, visual.pose,
                               visual.color, meshes));
    geoms.back()["collides"] = false;
    geoms.back()["visual"] = true;
  }
  if (look != nullptr) add_pieces(world, *look, meshes, bodies, geoms);
  out["bodies"] = std::move(bodies);
  out["geoms"] = std::move(geoms);
  out["meshes"] = meshes.json();
  return script_safe(out.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

double position_quantum(const World& world) {
  double extent = 0.25;  // m
  for (const Geom& geom : world.geoms) {
    if (geom.body == 0 || geom.shape.kind() == ShapeKind::plane) continue;
    const Aabb box = geom.shape.bounds({});
    const double least = 0.5 * (box.upper - box.lower).minCoeff();
    if (least > 0.0) extent = std::min(extent, least);
  }
  for (const FlexibleBody& body : world.flexible_bodies) {
    for (const SurfaceTriangle& t : boundary(body.mesh)) {
      extent = std::min(extent, (body.mesh.nodes[t[0]] - body.mesh.nodes[t[1]]).norm());
    }
  }
  return std::ldexp(1.0, std::clamp(std::ilogb(extent / 2000.0), -20, -13));
}

}  // namespace tribo::detail
