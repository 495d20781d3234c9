#include "tribo/collide/field/pressure_field.h"

#include <fmt/format.h>

#include <cmath>

#include "tribo/base/errors.h"
#include "tribo/collide/field/inner_depth.h"
#include "tribo/collide/field/pressure_faces.h"

namespace tribo {

void check_pressure_field(std::string_view owner, const Shape& shape, const PressureField& field) {
  const auto refuse = [&](std::string_view name, double value, std::string_view rule) {
    throw InvalidInput(fmt::format("pressure {} of {} is {}: it must be {}", name, owner, value, rule));
  };
  if (!detail::has_depth(shape.kind())) {
    throw InvalidInput(
        fmt::format("{} is a {}, which cannot carry a pressure field: planes, spheres, capsules, boxes, "
                    "cylinders, ellipsoids, hulls and distance fields can",
                    owner, to_string(shape.kind())));
  }
  if (!(field.modulus > 0.0)) refuse("modulus", field.modulus, "> 0 Pa (infinite: rigid)");
  if (!(std::isfinite(field.depth) && field.depth >= 0.0)) refuse("depth", field.depth, "finite and >= 0 m");
  if (shape.kind() == ShapeKind::plane && std::isfinite(field.modulus) && field.depth == 0.0) {
    refuse("depth", field.depth, "> 0 m: a plane has no deepest point");
  }
  if (!(std::isfinite(field.resolution) && field.resolution >= 0.0)) {
    refuse("resolution", field.resolution, "finite and >= 0 m");
  }
  if (field.max_faces < 0) refuse("max_faces", static_cast<double>(field.max_faces), ">= 0");
  if (field.resolution == 0.0 || shape.kind() == ShapeKind::plane) return;
  const Aabb box = shape.bounds(Pose{});
  const double cells = (box.upper - box.lower).maxCoeff() / field.resolution;
  if (cells > kMostPressureCells) {
    refuse("resolution", field.resolution,
           fmt::format("coarser: {:.0f} cells along the shape are more than {}", cells, kMostPressureCells));
  }
}

}  // namespace tribo
