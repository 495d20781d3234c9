#include "tribo/io/mjcf/flexcomp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tribo/base/errors.h"
#include "tribo/io/mjcf/flex_settings.h"
#include "tribo/io/mjcf/flexcomp_mesh.h"
#include "tribo/io/tet_mesh_file.h"

namespace tribo::detail {

namespace {

constexpr double kMostPoints = 1e6;

enum Type : std::uint8_t { grid, box, cylinder, ellipsoid, mesh, gmsh, direct, square, disc, circle };

class FlexcompReader {
 public:
  FlexcompReader(const FlexcompRequest& request, LoadLog& log)
      : request_(request), element_(request.element), attributes_(request.element), log_(log) {}

  std::optional<FlexSpec> read() {
    check_attributes();
    if (std::string obstacle = find_obstacle(); !obstacle.empty()) {
      log_.leave_out(element_, obstacle);
      return std::nullopt;
    }
    FlexSpec spec;
    spec.element = &element_;
    spec.body.name = request_.name;
    spec.body.pose = request_.frame * read_pose(attributes_, request_.file.compiler());
    read_mesh(spec.body.mesh);
    point_count_ = spec.body.mesh.nodes.size();
    read_pins();
    remove_loose(spec.body.mesh);
    spec.pins = pins_;
    try {
      complete(spec.body.mesh, "its mesh");
    } catch (const InvalidInput& error) {
      fail(element_, error.what());
    }
    const double mass = attributes_.number("mass", 1.0);
    if (!(mass > 0.0)) fail(element_, "attribute 'mass' must be positive");
    read_flex_settings(attributes_, mass, request_.file.assets(), log_, spec.body);
    return spec;
  }

 private:
  void check_attributes() {
    if (request_.name.empty()) fail(element_, "attribute 'name' is missing");
    attributes_.check(log_,
                      {"name", "type", "dim", "dof", "count", "spacing", "mass", "point", "element", "file",
                       "origin", "scale", "rigid", "pos", "quat", "axisangle", "xyaxes", "zaxis", "euler"},
                      {"inertiabox", "group", "flatskin", "material", "rgba", "texcoord"});
    check_flex_children(element_, {"elasticity", "contact", "pin"}, log_);
  }

  // Why it cannot be made; empty: it can.
  std::string find_obstacle() {
    type_ = static_cast<Type>(attributes_.word(
        "type",
        {"grid", "box", "cylinder", "ellipsoid", "mesh", "gmsh", "direct", "square", "disc", "circle"},
        grid));
    if (type_ >= square) return "shells and cables are not supported, only solids (dim=\"3\")";
    if (attributes_.flag("rigid", false)) return "rigid=\"true\" is not supported: make it a mesh geom";
    return flex_obstacle(attributes_, type_ == gmsh ? 3 : 2);
  }

  void read_mesh(TetMesh& to) {
    if (type_ <= ellipsoid) {
      to = flexcomp_mesh(static_cast<FlexcompType>(type_), read_count(), read_spacing());
      return;
    }
    if (type_ == direct) {
      read_points(to);
    } else if (type_ == mesh) {
      if (!attributes_.has("origin"))
        fail(element_, "attribute 'origin' is missing: a point inside the mesh");
      to = mesh_around(attributes_.vector3("origin", Vec3::Zero()), read_mesh_file(find_file()));
    } else {
      to = read_tet_mesh(find_file());
    }
    const Vec3 scale = attributes_.vector3("scale", Vec3::Ones());
    if (!(scale.minCoeff() > 0.0)) fail(element_, "attribute 'scale' must be positive");
    for (Vec3& x : to.nodes) x = x.cwiseProduct(scale);
  }

  std::array<Index, 3> read_count() {
    std::array<double, 3> numbers{10.0, 10.0, 10.0};
    attributes_.fill("count", numbers, 3);
    double points = 1.0;
    for (std::size_t k = 0; k < 3; ++k) {
      if (!(numbers[k] >= 2.0 && numbers[k] <= kMostPoints && numbers[k] == std::floor(numbers[k])))
        fail(element_, "attribute 'count' must be three whole numbers, at least 2 each for dim=\"3\"");
      count_[k] = static_cast<Index>(numbers[k]);
      points *= numbers[k];
    }
    if (points > kMostPoints) fail(element_, "attribute 'count' asks for more than a million points");
    return count_;
  }

  Vec3 read_spacing() {
    const Vec3 spacing = attributes_.vector3("spacing", Vec3::Constant(0.02));
    if (!(spacing.minCoeff() > 0.0)) fail(element_, "attribute 'spacing' must be positive");
    return spacing;
  }

  void read_points(TetMesh& to) {
    const std::vector<double> points = parse_numbers(element_, "point", attributes_.text("point"));
    if (points.empty() || points.size() % 3 != 0)
      fail(element_, "attribute 'point' must have three numbers per point");
    for (std::size_t k = 0; k < points.size(); k += 3) {
      to.nodes.emplace_back(points[k], points[k + 1], points[k + 2]);
    }
    to.tets = read_flex_elements(element_, to.nodes.size());
  }

  std::filesystem::path find_file() const {
    const std::string file = attributes_.text("file");
    if (file.empty()) fail(element_, "attribute 'file' is missing");
    const std::filesystem::path path =
        find_asset(element_, request_.file.compiler().mesh_path(file), request_.file.path().parent_path());
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error))
      fail(element_, fmt::format("there is no file {}", path.string()));
    return path;
  }

  std::vector<double> numbers(const SourceElement& pin, std::string_view attribute,
                              std::size_t multiple) const {
    const std::vector<double> list = parse_numbers(pin, attribute, pin.text(attribute));
    if (list.size() % multiple != 0)
      fail(pin, fmt::format("attribute '{}' must have {} numbers per entry", attribute, multiple));
    return list;
  }

  // Points by their numbers before those that no element needs are taken out.
  void read_pins() {
    for (const SourceElement& pin : element_.children) {
      if (pin.name == "pin") read_pin(pin);
    }
  }

  void read_pin(const SourceElement& pin) {
    const std::size_t points = point_count_;
    for (const double id : numbers(pin, "id", 1)) pins_.push_back(flex_number(pin, "id", id, points));
    const std::vector<double> range = numbers(pin, "range", 2);
    for (std::size_t k = 0; k < range.size(); k += 2) {
      const Index last = flex_number(pin, "range", range[k + 1], points);
      for (Index n = flex_number(pin, "range", range[k], points); n <= last; ++n) pins_.push_back(n);
    }
    if (type_ != grid && (pin.find("grid") != nullptr || pin.find("gridrange") != nullptr))
      fail(pin, "attributes 'grid' and 'gridrange' are for type=\"grid\"");
    for (const char* attribute : {"grid", "gridrange"}) {
      const std::size_t size = attribute == std::string_view("grid") ? 3 : 6;
      const std::vector<double> list = numbers(pin, attribute, size);
      for (std::size_t k = 0; k < list.size(); k += size)
        add_grid(pin, attribute, &list[k], &list[k + size - 3]);
    }
  }

  void add_grid(const SourceElement& pin, std::string_view attribute, const double* from, const double* to) {
    std::array<Index, 3> low{}, high{};
    for (std::size_t k = 0; k < 3; ++k) {
      low[k] = flex_number(pin, attribute, from[k], static_cast<std::size_t>(count_[k]));
      high[k] = flex_number(pin, attribute, to[k], static_cast<std::size_t>(count_[k]));
    }
    for (Index i = low[0]; i <= high[0]; ++i) {
      for (Index j = low[1]; j <= high[1]; ++j) {
        for (Index k = low[2]; k <= high[2]; ++k) pins_.push_back((i * count_[1] + j) * count_[2] + k);
      }
    }
  }

  // Points of no element, and what pins call the others afterwards.
  void remove_loose(TetMesh& solid) {
    std::vector<Index> place(solid.nodes.size(), -1);
    for (const TetMesh::Tet& tet : solid.tets) {
      for (const Index n : tet) place[n] = 0;
    }
    Index kept = 0;
    for (Index& number : place) {
      if (number == 0) number = kept++;
    }
    remove_loose_nodes(solid);
    for (Index& pin : pins_) pin = place[pin];
    std::sort(pins_.begin(), pins_.end());
    pins_.erase(std::unique(pins_.begin(), pins_.end()), pins_.end());
    std::erase(pins_, -1);
  }

  const FlexcompRequest& request_;
  const SourceElement& element_;
  Attributes attributes_;
  LoadLog& log_;
  Type type_ = grid;
  std::array<Index, 3> count_{};
  std::size_t point_count_ = 0;
  std::vector<Index> pins_;
};

}  // namespace

std::optional<FlexSpec> read_flexcomp(const FlexcompRequest& request, LoadLog& log) {
  return FlexcompReader(request, log).read();
}

}  // namespace tribo::detail
