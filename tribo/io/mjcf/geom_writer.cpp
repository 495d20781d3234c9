#include "tribo/io/mjcf/geom_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string_view>

#include "tribo/base/errors.h"

namespace tribo::detail {
namespace {

// What MJCF calls a shape: a mesh there is its convex hull. Empty: it has no such shape.
std::string_view type_name(ShapeKind kind) {
  if (kind == ShapeKind::hull) return "mesh";
  const bool other =
      kind == ShapeKind::mesh || kind == ShapeKind::height_field || kind == ShapeKind::distance_field;
  return other ? std::string_view() : to_string(kind);
}

void write_bits(Element& element, const char* name, std::uint32_t bits) {
  if (bits != 1) element.text(name, std::to_string(static_cast<std::int32_t>(bits)));
}

}  // namespace

void check_material(const std::string& owner, const Material& material) {
  const char* what = !std::isinf(material.stiffness) ? "a finite stiffness"
                     : material.restitution != 0.0   ? "restitution"
                                                     : nullptr;
  if (what != nullptr) throw InvalidInput(fmt::format("{} has {}: MJCF has no such number", owner, what));
}

void write_geom(Element& element, const Geom& geom, const std::string& name, const std::string& owner) {
  const ShapeKind kind = geom.shape.kind();
  const std::string_view type = type_name(kind);
  if (type.empty()) {
    throw InvalidInput(fmt::format("{} is a {}: only primitives, planes and hulls can be written as MJCF",
                                   owner, to_string(kind)));
  }
  check_material(owner, geom.material);
  element.text("name", name).text("type", std::string(type));
  if (kind == ShapeKind::hull) {
    element.text("mesh", name);
  } else if (kind == ShapeKind::plane) {
    element.text("size", "0 0 1");  // endless; the third number is for drawing
  } else if (kind == ShapeKind::sphere) {
    element.numbers("size", {geom.shape.radius()});
  } else if (kind == ShapeKind::capsule || kind == ShapeKind::cylinder) {
    element.numbers("size", {geom.shape.radius(), geom.shape.half_length()});
  } else {
    element.numbers("size", geom.shape.size());
  }
  element.pose(geom.pose).numbers("friction",
                                  {geom.material.friction, geom.material.torsional, geom.material.rolling});
  if (geom.frictionless || geom.friction_rows != 3) {
    element.text("condim", geom.frictionless ? "1" : std::to_string(geom.friction_rows));
  }
  write_bits(element, "contype", geom.contact_type);
  write_bits(element, "conaffinity", geom.contact_affinity);
  if (geom.material.priority != 0) element.text("priority", std::to_string(geom.material.priority));
}

}  // namespace tribo::detail
