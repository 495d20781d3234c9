// Volume, centre and inertia at density 1 of solids given by a closed surface of triangles.
#pragma once

#include <array>
#include <span>

#include "tribo/collide/shape.h"

namespace tribo::detail {

// Sums the integrals of the tetrahedra (reference point, triangle), signed by orientation, so that the sum is
// the integral over the solid for any closed surface whose triangles turn counter-clockwise seen from outside.
class SurfaceIntegral {
 public:
  // The reference point only has to be near the solid, to keep rounding errors small.
  explicit SurfaceIntegral(const Vec3& reference) : reference_(reference) {}
  void add(const Vec3& a, const Vec3& b, const Vec3& c);
  // An inside-out surface counts as its solid; one without volume gives zero moments.
  VolumeMoments moments() const;

 private:
  Vec3 reference_;
  double volume_ = 0.0;
  Vec3 first_ = Vec3::Zero();
  Mat3 second_ = Mat3::Zero();
};

VolumeMoments surface_moments(std::span<const Vec3> vertices,
                              std::span<const std::array<Index, 3>> triangles);

}  // namespace tribo::detail
