// Geoms of MJCF: shape, place, material, mass.
#include "tribo/io/mjcf/geoms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tribo/base/errors.h"
#include "tribo/io/assets/principal_axes.h"
#include "tribo/io/assets/shell_moments.h"
#include "tribo/io/mjcf/formula_geoms.h"
#include "tribo/io/mjcf/pressure_geoms.h"

namespace tribo::detail {
namespace {

enum GeomType { plane, hfield, sphere, capsule, ellipsoid, cylinder, box, mesh, sdf };

// How many sizes a type has, with and without `fromto`.
std::size_t size_count(int type, bool segment) {
  switch (type) {
    case sphere:
      return 1;
    case capsule:
    case cylinder:
      return segment ? 1 : 2;
    default:
      return segment ? 1 : 3;
  }
}

Shape make_shape(int type, const Vec3& size) {
  switch (type) {
    case sphere:
      return Shape::sphere(size.x());
    case capsule:
      return Shape::capsule(size.x(), size.y());
    case ellipsoid:
      return Shape::ellipsoid(size);
    case cylinder:
      return Shape::cylinder(size.x(), size.y());
    default:
      return Shape::box(size);
  }
}

// The primitive that stands for a mesh: of the size of the box with the same inertia, or of the bounding box, in
// the mesh's principal frame.
Vec3 fitted_size(MeshAsset& asset, const Pose& principal, int type, bool bounds, Vec3& center) {
  Vec3 half;
  center.setZero();
  if (bounds) {
    Eigen::AlignedBox3d extent;
    for (const Vec3& v : asset.data().vertices) extent.extend(principal.to_local(v));
    half = 0.5 * extent.sizes();
    center = extent.center();
  } else {
    const Mat3 turned = principal.rotation.transpose() * asset.moments().inertia * principal.rotation;
    const Vec3 d = turned.diagonal() / asset.moments().volume;
    half = 0.5 * (6.0 * (Vec3::Constant(d.sum()) - 2.0 * d)).cwiseMax(0.0).cwiseSqrt();
  }
  switch (type) {
    case sphere:
      return {bounds ? half.maxCoeff() : half.mean(), 0.0, 0.0};
    case capsule: {
      const double radius = bounds ? std::max(half.x(), half.y()) : 0.5 * (half.x() + half.y());
      return {radius, std::max(0.0, half.z() - (bounds ? radius : 0.5 * radius)), 0.0};
    }
    case cylinder:
      return {bounds ? std::max(half.x(), half.y()) : 0.5 * (half.x() + half.y()), half.z(), 0.0};
    default:
      return half;
  }
}

struct Placed {
  std::optional<Shape> shape;
  Pose pose;              // of the shape, in the frame of the body
  VolumeMoments moments;  // in the shape's frame
};

Vec3 read_size(const Attributes& attributes, int type, const std::optional<Segment>& segment) {
  Vec3 size = Vec3::Zero();
  attributes.fill("size", std::span<double>(size.data(), 3), 1);
  if (segment) {
    if (type == capsule || type == cylinder) {
      size.y() = segment->half_length;
    } else {
      size.z() = segment->half_length;
      size.y() = size.x();
    }
  }
  const auto count = static_cast<Eigen::Index>(size_count(type, segment.has_value()));
  for (Eigen::Index k = 0; k < count; ++k) {
    if (!(size[k] > 0.0)) {
      fail(attributes.element(), fmt::format("size {} of this geom must be positive", k + 1));
    }
  }
  return size;
}

Placed place_primitive(const Attributes& attributes, int type, const GeomRequest& request) {
  const std::optional<Segment> segment = read_segment(attributes);
  if (segment && (type == sphere || type == plane)) {
    fail(attributes.element(), "attribute 'fromto' needs a capsule, cylinder, ellipsoid or box");
  }
  const Pose pose = segment ? segment->pose : read_pose(attributes, request.file.compiler());
  const Vec3 size = read_size(attributes, type, segment);
  Shape shape = make_shape(type, size);
  const VolumeMoments moments =
      attributes.flag("shellinertia", false) ? shell_moments(shape) : shape.moments();
  return {std::move(shape), request.frame * pose, moments};
}

Placed place_mesh(const Attributes& attributes, int type, const GeomRequest& request, bool with_shape,
                  bool with_mass) {
  const std::string name = attributes.text("mesh");
  if (name.empty()) fail(attributes.element(), "a geom of type mesh needs the attribute 'mesh'");
  MeshAsset& asset = request.file.assets().mesh(name, attributes.element());
  const Pose declared = request.frame * read_pose(attributes, request.file.compiler());
  Placed result;
  if (!with_shape && !with_mass) return result;
  if (type == mesh) {
    result.pose = declared * Pose{asset.center(), Mat3::Identity()};
    if (with_shape) result.shape = Shape::hull(asset.hull());
    result.moments =
        attributes.flag("shellinertia", false) ? asset.moments(MeshInertia::shell) : asset.moments();
    result.moments.center -= asset.center();
    return result;
  }
  const Pose principal = principal_frame(asset.moments().center, asset.moments().inertia);
  Vec3 center;
  const double scale = attributes.number("fitscale", 1.0);
  const Vec3 size = scale * fitted_size(asset, principal, type, request.file.compiler().fit_bounds, center);
  if (!(size.head(static_cast<Eigen::Index>(size_count(type, false))).minCoeff() > 0.0)) {
    fail(attributes.element(), "the shape fitted to the mesh has no extent");
  }
  result.shape = make_shape(type, size);
  result.pose = declared * principal * Pose{center, Mat3::Identity()};
  result.moments =
      attributes.flag("shellinertia", false) ? shell_moments(*result.shape) : result.shape->moments();
  return result;
}

// Why the mesh of a geom cannot be had; empty: it can. A file that is there and damaged is an error where it is read.
std::string mesh_obstacle(const Attributes& attributes, const GeomRequest& request) {
  const std::string name = attributes.text("mesh");
  if (name.empty()) return {};
  const MeshAsset& asset = request.file.assets().mesh(name, attributes.element());
  if (!asset.is_missing()) return {};
  return fmt::format("the file of mesh '{}' is missing ({})", name, asset.file().string());
}

Placed place_height_field(const Attributes& attributes, const GeomRequest& request, bool touches,
                          LoadLog& log) {
  Placed placed;
  placed.pose = request.frame * read_pose(attributes, request.file.compiler());
  const HeightFieldAsset& asset =
      request.file.assets().height_field(attributes.text("hfield"), request.element);
  if (asset.field != nullptr) {
    placed.shape = Shape::height_field(asset.field);
  } else if (touches) {
    log.leave_out(request.element, asset.obstacle);
  } else {
    log.warn(request.element, asset.obstacle + "; nothing but its look is lost");
  }
  return placed;
}

RigidInertia inertia_of(const Attributes& attributes, const Placed& placed) {
  const VolumeMoments& m = placed.moments;
  if (!(m.volume > 0.0)) return {};
  double density = attributes.number("density", 1000.0);
  if (attributes.has("mass")) density = attributes.number("mass", 0.0) / m.volume;
  if (!(density >= 0.0)) fail(attributes.element(), "mass and density of a geom must not be negative");
  const RigidInertia own{density * m.volume, m.center, density * m.inertia};
  return own.placed(placed.pose);
}

void read_material(const Attributes& attributes, Geom& geom) {
  std::array<double, 3> friction{1.0, 0.005, 0.0001};
  attributes.fill("friction", friction, 1);
  for (const double mu : friction) {
    if (!(mu >= 0.0)) fail(attributes.element(), "friction must not be negative");
  }
  geom.material.friction = friction[0];
  geom.material.torsional = friction[1];
  geom.material.rolling = friction[2];
  geom.material.priority = attributes.integer("priority", 0);
  const int condim = attributes.integer("condim", 3);
  if (condim != 1 && condim != 3 && condim != 4 && condim != 6) {
    fail(attributes.element(), "attribute 'condim' must be 1, 3, 4 or 6");
  }
  geom.frictionless = condim == 1;
  geom.friction_rows = std::max(condim, 3);
  // MuJoCo's margin moves the surface; its gap only makes contacts known earlier.
  geom.thickness = std::max(0.0, attributes.number("margin", 0.0));
  geom.margin = std::max(0.0, attributes.number("gap", 0.0));
  geom.contact_type = static_cast<std::uint32_t>(attributes.integer("contype", 1));
  geom.contact_affinity = static_cast<std::uint32_t>(attributes.integer("conaffinity", 1));
}

// `rgba`, or the colour of the material; none where the file names neither.
std::optional<Color> read_color(const Attributes& attributes, const AssetTable& assets, LoadLog& log) {
  if (!attributes.has("rgba")) return assets.color(attributes.text("material"));
  std::array<double, 4> rgba{0.5, 0.5, 0.5, 1.0};
  try {
    attributes.fill("rgba", rgba, 1);
  } catch (const InvalidInput& error) {
    log.warn(attributes.element(), fmt::format("its colour is ignored: {}", error.what()));
    return std::nullopt;
  }
  Color color;
  for (std::size_t k = 0; k < 4; ++k) color[k] = static_cast<float>(std::clamp(rgba[k], 0.0, 1.0));
  return color;
}

// MuJoCo's viewer shows the groups 0, 1 and 2 unless it is told otherwise.
constexpr int kLastShownGroup = 2;

// The mesh itself where its hull touches, and geoms that touch nothing.
void add_visual(const Attributes& attributes, int type, const GeomRequest& request, GeomSpec& spec,
                LoadLog& log) {
  Visual visual{.color = spec.geom.color};
  if (type == mesh) {
    MeshAsset& asset = request.file.assets().mesh(attributes.text("mesh"), attributes.element());
    if (asset.is_missing()) return;
    try {
      visual.shape = Shape::mesh(asset.surface());
    } catch (const InvalidInput& error) {
      log.warn(attributes.element(), fmt::format("it is not drawn: {}", error.what()));
      return;
    }
    visual.pose = request.frame * read_pose(attributes, request.file.compiler());
  } else {
    if (spec.in_world || !spec.has_shape) return;
    visual.shape = spec.geom.shape;
    visual.pose = spec.geom.pose;
  }
  spec.geom.visual = false;
  spec.visual = std::move(visual);
}

// What stands inside a geom and is none of tribo's plugins is not passed over silently.
void check_plugins(const SourceElement& geom, int type, LoadLog& log) {
  for (const SourceElement& child : geom.children) {
    const std::string name = child.text("plugin");
    if (child.name != "plugin") {
      log.warn(child, "this element is not supported and is ignored");
    } else if (name.starts_with("tribo.sdf.")) {
      if (type != sdf) fail(child, "a plugin tribo.sdf.* belongs to a geom of type sdf");
    } else if (name.starts_with("tribo.") && name != "tribo.pressure") {
      fail(child, fmt::format("there is no plugin '{}': tribo.pressure, tribo.sdf.*", name));
    } else if (!name.starts_with("tribo.") && type != sdf) {
      log.warn(child, "this plugin is not supported and is ignored");
    }
  }
}

}  // namespace

std::optional<Segment> read_segment(const Attributes& attributes) {
  std::array<double, 6> ends{};
  if (attributes.fill("fromto", ends, 6) == 0) return std::nullopt;
  const Vec3 from(ends[0], ends[1], ends[2]), to(ends[3], ends[4], ends[5]);
  const Vec3 axis = from - to;
  if (!(axis.norm() > 1e-10)) fail(attributes.element(), "the points of attribute 'fromto' are the same");
  return Segment{{0.5 * (from + to), rotation_to(axis).toRotationMatrix()}, 0.5 * axis.norm()};
}

// fluidshape="ellipsoid": semi-axes as wide as the shape.
std::optional<FluidEllipsoid> read_fluid(const Attributes& attributes, const std::optional<Shape>& shape,
                                         const Pose& pose, LoadLog& log) {
  if (attributes.word("fluidshape", {"none", "ellipsoid"}, 0) == 0) return std::nullopt;
  std::array<double, 5> c{0.5, 0.25, 1.5, 1.0, 1.0};
  attributes.fill("fluidcoef", c, 1);
  FluidEllipsoid fluid{.pose = pose,
                       .blunt_drag = c[0],
                       .slender_drag = c[1],
                       .angular_drag = c[2],
                       .kutta_lift = c[3],
                       .magnus_lift = c[4]};
  const ShapeKind kind = shape ? shape->kind() : ShapeKind::hull;
  if (kind == ShapeKind::sphere) {
    fluid.semi_axes.setConstant(shape->radius());
  } else if (kind == ShapeKind::capsule || kind == ShapeKind::cylinder) {
    const double end = kind == ShapeKind::capsule ? shape->radius() : 0.0;
    fluid.semi_axes = Vec3(shape->radius(), shape->radius(), shape->half_length() + end);
  } else if (kind == ShapeKind::box || kind == ShapeKind::ellipsoid) {
    fluid.semi_axes = shape->size();
  } else {
    log.warn(attributes.element(),
             "fluidshape is supported on spheres, capsules, cylinders, ellipsoids and boxes");
    return std::nullopt;
  }
  return fluid;
}

GeomSpec read_geom(const GeomRequest& request, LoadLog& log) {
  const Attributes attributes = request.file.attributes(request.element, "geom", request.childclass);
  attributes.check(log,
                   {"name",      "class",       "type",    "size",         "fromto",     "mesh",     "hfield",
                    "contype",   "conaffinity", "condim",  "group",        "priority",   "friction", "margin",
                    "gap",       "mass",        "density", "shellinertia", "fitscale",   "pos",      "quat",
                    "axisangle", "xyaxes",      "zaxis",   "euler",        "fluidshape", "fluidcoef"},
                   {"solmix", "solref", "solimp", "rgba", "material", "user"});
  const int type = attributes.word(
      "type", {"plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf"},
      sphere);
  check_plugins(request.element, type, log);
  GeomSpec spec;
  spec.element = &request.element;
  read_material(attributes, spec.geom);
  const CompilerSettings& compiler = request.file.compiler();
  const int group = attributes.integer("group", 0);
  const bool weighed =
      group >= compiler.inertia_group_lower && group <= compiler.inertia_group_upper && request.with_inertia;
  const bool touches = request.paired || spec.geom.contact_type != 0 || spec.geom.contact_affinity != 0;
  Placed placed;
  if (type == plane) {
    placed.shape = Shape::plane();
    placed.pose = request.frame * read_pose(attributes, compiler);
  } else if (type == hfield) {
    placed = place_height_field(attributes, request, touches, log);
  } else if (type == sdf) {
    const char* message = "geoms of type sdf are not supported, but those of plugins tribo.sdf.*";
    placed.pose = request.frame * read_pose(attributes, compiler);
    placed.shape = read_formula_shape(request.element);
    if (placed.shape) {
      placed.moments = placed.shape->moments();
    } else if (touches) {
      log.leave_out(request.element, message);
    } else {
      log.warn(request.element, message);
    }
  } else if (type == mesh || attributes.has("mesh")) {
    const bool massive = weighed && attributes.number("mass", 1.0) != 0.0 &&
                         (attributes.has("mass") || attributes.number("density", 1000.0) != 0.0);
    const std::string obstacle = mesh_obstacle(attributes, request);
    if (obstacle.empty()) {
      try {
        placed = place_mesh(attributes, type, request, touches, massive);
      } catch (const InvalidInput& error) {
        if (!log.allows_missing()) throw;
        log.leave_out(request.element, error.what());
      }
    } else if (touches || massive) {
      log.leave_out(request.element, obstacle + (massive ? "; the mass of its body comes from it" : ""));
    } else {
      log.warn(request.element, obstacle + "; nothing but its look is lost");
    }
  } else {
    placed = place_primitive(attributes, type, request);
    spec.is_primitive = true;
  }
  spec.fluid = read_fluid(attributes, placed.shape, placed.pose, log);
  if (placed.shape) {
    spec.geom.shape = *placed.shape;
    spec.in_world = touches;
    spec.has_shape = true;
    read_pressure(request.element, spec.geom);
  }
  spec.geom.pose = placed.pose;
  spec.geom.color = read_color(attributes, request.file.assets(), log);
  spec.geom.visual = group <= kLastShownGroup && (!spec.geom.color || (*spec.geom.color)[3] > 0.0f);
  if (spec.geom.visual && log.wants_visuals()) add_visual(attributes, type, request, spec, log);
  if (weighed) spec.inertia = inertia_of(attributes, placed);
  return spec;
}

}  // namespace tribo::detail
