// A pressure field in a shape: the softness of what is pressed, spread over the surface in which two bodies touch
// (Elandt et al. 2019; in discrete form Masterjohn et al. 2021, Castro et al. 2022 sec. VI-D).
//
//   p(x) = E d(x) / H      E  modulus, Pa
//                          d  depth of x below the surface of the shape, m (collide/field/inner_depth.h)
//                          H  depth at which the pressure would be E, m
//
// Example: a layer of foam, 5 cm thick, on the floor; a soft ball.
//   world.add_geom({.shape = Shape::plane(), .pressure = PressureField{.modulus = 2e4, .depth = 0.05}});
//   world.add_geom({.shape = Shape::sphere(0.1), .body = ball, .pressure = PressureField{.modulus = 1e5}});
#pragma once

#include <limits>
#include <string_view>

#include "tribo/collide/shape.h"

namespace tribo {

struct PressureField {
  // E, Pa, > 0. Infinite: the shape is rigid; its other numbers still count where it meets a shape with a finite one.
  double modulus = std::numeric_limits<double>::infinity();
  double depth = 0.0;  // H, m; 0: the largest depth of the shape. A plane has none and must be given one
  // Longest edge of the cells that cut the contact surface into faces, m; 0: a tenth of the longest side of the shape's box.
  // Of two shapes the finer cells are taken; those of a plane are never.
  double resolution = 0.0;
  // Most faces of the contact surface with one other shape; neighbours are merged until there are as few. 0: no limit.
  Index max_faces = 0;
  bool operator==(const PressureField&) const = default;
};

// InvalidInput naming the owner where a number is wrong or the shape is one that cannot carry a field (mesh, height field).
void check_pressure_field(std::string_view owner, const Shape& shape, const PressureField& field);

}  // namespace tribo
