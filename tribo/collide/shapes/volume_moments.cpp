// For a tetrahedron with one corner in the origin and the others a, b, c (V = det[a b c] / 6):
//   int x dV     = V/4 (a + b + c)
//   int x x' dV  = V/20 (a a' + b b' + c c' + s s'),  s = a + b + c
// Cost: one pass over the triangles.
#include "tribo/collide/shapes/volume_moments.h"

namespace tribo::detail {

void SurfaceIntegral::add(const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 p = a - reference_, q = b - reference_, r = c - reference_, s = p + q + r;
  const double volume = p.dot(q.cross(r)) / 6.0;
  volume_ += volume;
  first_ += (volume / 4.0) * s;
  second_ +=
      (volume / 20.0) * (p * p.transpose() + q * q.transpose() + r * r.transpose() + s * s.transpose());
}

VolumeMoments SurfaceIntegral::moments() const {
  VolumeMoments result;
  if (volume_ == 0.0) return result;
  const Vec3 shift = first_ / volume_;
  const double sign = volume_ < 0.0 ? -1.0 : 1.0;
  const Mat3 covariance = sign * (second_ - volume_ * shift * shift.transpose());
  result.volume = sign * volume_;
  result.center = reference_ + shift;
  result.inertia = covariance.trace() * Mat3::Identity() - covariance;
  return result;
}

VolumeMoments surface_moments(std::span<const Vec3> vertices,
                              std::span<const std::array<Index, 3>> triangles) {
  if (vertices.empty()) return {};
  Vec3 mean = Vec3::Zero();
  for (const Vec3& vertex : vertices) mean += vertex;
  SurfaceIntegral integral(mean / static_cast<double>(vertices.size()));
  for (const auto& t : triangles) integral.add(vertices[t[0]], vertices[t[1]], vertices[t[2]]);
  return integral.moments();
}

}  // namespace tribo::detail
