#include "tribo/scenes/dishware.h"

#include <algorithm>
#include <string_view>

#include "tribo/collide/shapes/distance_field.h"
#include "tribo/collide/shapes/ready_solids.h"

namespace tribo::detail {

namespace {

constexpr double kSpacing =
    0.006;  // m, of the surfaces' triangles; the sagitta of both is taken out of the gap

// Those of the usual spacing are made once per process.
const Shape& dish_shape(std::size_t dish) {
  static const Shape bowl = ready_solid("bowl").shape(kDishSpacing),
                     plate = ready_solid("plate").shape(kDishSpacing),
                     pot = ready_solid("pot").shape(kDishSpacing);
  const std::string_view kind = dishes()[dish].kind;
  return kind == "bowl" ? bowl : kind == "plate" ? plate : pot;
}

// Smallest distance of the surface's corners, lifted by `lift`, from the other body.
double nearest(const DistanceField& surface, const DistanceField& other, double lift) {
  double least = 1e9;
  for (const Vec3& v : surface.surface().vertices())
    least = std::min(least, other.sample(v + Vec3(0.0, 0.0, lift)).distance);
  return least;
}

// How high above another coaxial dish this one rests: it comes down by the gap, which never is too far, until there is
// none.
double resting_lift(const Shape& lower, const Shape& upper) {
  const DistanceField &below = lower.distance_field(), &above = upper.distance_field();
  double lift = below.bounds().upper.z() - above.bounds().lower.z();
  for (int k = 0; k < 2000; ++k) {
    const double gap = std::min(nearest(above, below, lift), nearest(below, above, -lift));
    if (gap < 1e-9) break;
    lift -= gap;
  }
  return lift;
}

}  // namespace

const std::array<Dish, kDishCount>& dishes() {
  static const std::array<Dish, kDishCount> all{{{"bowl0", "bowl", 0.1, {0.30f, 0.45f, 0.62f, 1.0f}},
                                                 {"bowl1", "bowl", 0.1, {0.90f, 0.88f, 0.82f, 1.0f}},
                                                 {"plate", "plate", 0.1, {0.78f, 0.40f, 0.32f, 1.0f}},
                                                 {"pot", "pot", 5.0, {0.35f, 0.36f, 0.38f, 1.0f}}}};
  return all;
}

Index add_dish(ModelBuilder& builder, World& world, std::size_t dish, const Pose& pose,
               const Material& material, double spacing) {
  const Dish& kind = dishes()[dish];
  const Shape shape = spacing == kDishSpacing ? dish_shape(dish) : ready_solid(kind.kind).shape(spacing);
  const Index body = add_solid(builder, world, kind.name, shape, kind.mass, pose, material);
  world.geoms.back().color = kind.color;
  return body;
}

double standing_height(std::size_t dish) { return -dish_shape(dish).distance_field().bounds().lower.z(); }

const std::array<double, kDishCount>& stacked_heights() {
  static const std::array<double, kDishCount> all = [] {
    std::array<double, kDishCount> heights{};
    heights[0] = standing_height(0);
    for (std::size_t k = 1; k < kDishCount; ++k)
      heights[k] = heights[k - 1] + resting_lift(dish_shape(k - 1), dish_shape(k));
    return heights;
  }();
  return all;
}

}  // namespace tribo::detail
