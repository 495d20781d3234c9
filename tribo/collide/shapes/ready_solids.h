// Bodies that scenes and files name: dishes, bottles, bolts and nuts. All stand upright along z.
//
// | name   | what it is                                        | frame                  |
// | dish   | Lee et al. 2024, Appendix B: O A B, thickened     | O, middle of the floor |
// | bowl, plate, pot | dishes with their own A and B           | the same               |
// | bottle | a floor, a wall, a shoulder and a neck, open      | the same               |
// | bolt   | metric thread below a hexagonal head              | middle of the thread   |
// | nut    | hexagon with a metric thread and a clearance      | its middle             |
// | torus  | a ring                                            | its middle             |
//
// Example
//   Shape nut = ready_solid("nut", {{"diameter", 0.048}, {"pitch", 0.005}}).shape(0.002);
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "tribo/collide/shapes/solid.h"

namespace tribo {

// min(dist(p, OA), dist(p, AB)) - thickness / 2 revolved, O = (0, 0), A and B = (distance from the axis, height) in m.
struct DishShape {
  Vec2 a{0.035, 0.0}, b{0.07, 0.055};
  double thickness = 0.005;  // m
};
Solid dish(const DishShape& shape);

struct BottleShape {
  double radius = 0.035, height = 0.16;  // m, of the middle of its wall; height to the rim
  double neck_radius = 0.02, neck_height = 0.03;
  double shoulder_height = 0.03;
  double thickness = 0.004;
};
Solid bottle(const BottleShape& shape);

// ISO 68-1: flanks 30 degrees from the radial plane, H = sqrt(3)/2 P, flats of P/8 at the major and P/4 at the minor
// diameter D - 10/8 H. The default is M48 x 5.
struct ThreadShape {
  double diameter = 0.048, pitch = 0.005;  // m; major diameter
  double across_flats = 0.075;             // m, of the hexagon
  double clearance = 1e-4;    // m, normal to the nut's flanks: ISO's medium fit leaves about as much
  double length = 0.08;       // m, of the bolt's thread
  double head_height = 0.03;  // m; 0: a threaded rod
  double nut_height = 0.038;  // m
};
Solid threaded_bolt(const ThreadShape& shape);
Solid threaded_nut(const ThreadShape& shape);

struct ReadySolid {
  std::string_view name;
  std::string_view summary;
  struct Value {
    std::string_view name;
    double value;  // default, m
    std::string_view help;
  };
  std::span<const Value> values;
};
std::span<const ReadySolid> ready_solids();

// InvalidInput for a name or a value that there is not (lists them) and for sizes that make no body.
Solid ready_solid(std::string_view name, const std::map<std::string, double, std::less<>>& values = {});

}  // namespace tribo
