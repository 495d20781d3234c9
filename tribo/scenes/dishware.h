// The dishes of Lee et al. 2024, sec. VII-B: bowl, bowl, plate (0.1 kg each) and a pot of 5 kg, which stand in one another.
#pragma once

#include <array>

#include "tribo/scenes/scene.h"

namespace tribo::detail {

inline constexpr std::size_t kDishCount = 4;

struct Dish {
  const char* name;
  const char* kind;  // of ready_solid()
  double mass;       // kg
  Color color;
};
// From the lowest up.
const std::array<Dish, kDishCount>& dishes();

// m: longest edge of the surfaces' triangles, and least distance of contacts of one pair. The sagitta of both surfaces is taken
// out of the gap; contacts grow with the inverse, 120 a pair at most.
inline constexpr double kDishSpacing = 0.006;

// A free body; returns its number.
Index add_dish(ModelBuilder& builder, World& world, std::size_t dish, const Pose& pose,
               const Material& material, double spacing = kDishSpacing);

// Height of a dish's frame where it stands alone on the floor z = 0, and where all stand in one another, coaxial, m.
double standing_height(std::size_t dish);
const std::array<double, kDishCount>& stacked_heights();

}  // namespace tribo::detail
