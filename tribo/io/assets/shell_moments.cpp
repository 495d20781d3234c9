#include "tribo/io/assets/shell_moments.h"

#include <numbers>

namespace tribo::detail {
namespace {

constexpr double kPi = std::numbers::pi;

VolumeMoments of(double area, const Vec3& inertia) { return {area, Vec3::Zero(), inertia.asDiagonal()}; }

VolumeMoments sphere_shell(double r) {
  const double area = 4.0 * kPi * r * r;
  return of(area, Vec3::Constant(2.0 / 3.0 * area * r * r));
}

// An open tube of height 2 h.
VolumeMoments tube(double r, double h) {
  const double area = 4.0 * kPi * r * h;
  const double across = area * (0.5 * r * r + h * h / 3.0);
  return of(area, {across, across, area * r * r});
}

VolumeMoments capsule_shell(double r, double h) {
  VolumeMoments result = tube(r, h);
  const VolumeMoments caps = sphere_shell(r);
  // Half a spherical shell has its centre at r / 2 and moves by h along the axis.
  const double shift = caps.volume * (h * h + h * r);
  result.volume += caps.volume;
  result.inertia += caps.inertia + Vec3(shift, shift, 0.0).asDiagonal().toDenseMatrix();
  return result;
}

VolumeMoments cylinder_shell(double r, double h) {
  VolumeMoments result = tube(r, h);
  const double area = 2.0 * kPi * r * r;
  result.volume += area;
  const double across = area * (0.25 * r * r + h * h);
  result.inertia += Vec3(across, across, 0.5 * area * r * r).asDiagonal().toDenseMatrix();
  return result;
}

VolumeMoments ellipsoid_shell(const Vec3& s) {
  // d/de of volume and inertia with half axes s + e: V = 4/3 pi a b c, I_x = V (b^2 + c^2) / 5.
  const double volume = 4.0 / 3.0 * kPi * s.prod();
  const double area = volume * s.cwiseInverse().sum();
  const auto moment = [&](double b, double c) {
    return (area * (b * b + c * c) + volume * 2.0 * (b + c)) / 5.0;
  };
  return of(area, {moment(s.y(), s.z()), moment(s.x(), s.z()), moment(s.x(), s.y())});
}

VolumeMoments box_shell(const Vec3& s) {
  Vec3 second = Vec3::Zero();  // integrals of x^2, y^2, z^2
  double area = 0.0;
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const double pair = 8.0 * s[i] * s[j];  // the two faces across axis k
    area += pair;
    second[k] += pair * s[k] * s[k];
    second[i] += pair * s[i] * s[i] / 3.0;
    second[j] += pair * s[j] * s[j] / 3.0;
  }
  return of(area, Vec3::Constant(second.sum()) - second);
}

}  // namespace

VolumeMoments shell_moments(const Shape& shape) {
  switch (shape.kind()) {
    case ShapeKind::sphere:
      return sphere_shell(shape.radius());
    case ShapeKind::capsule:
      return capsule_shell(shape.radius(), shape.half_length());
    case ShapeKind::cylinder:
      return cylinder_shell(shape.radius(), shape.half_length());
    case ShapeKind::ellipsoid:
      return ellipsoid_shell(shape.size());
    case ShapeKind::box:
      return box_shell(shape.size());
    default:
      return {};
  }
}

}  // namespace tribo::detail
