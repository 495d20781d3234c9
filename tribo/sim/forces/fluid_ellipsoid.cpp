#include "tribo/sim/forces/fluid_ellipsoid.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tribo {

namespace {

constexpr double kSmallest = 1e-15;  // keeps quotients of vanishing velocities finite
constexpr double kPi = std::numbers::pi;

// R_D(x, y, z) by duplication (Carlson 1979), to 1e-15 with the fifth-order tail at 1e-3.
double carlson_rd(double x, double y, double z) {
  double sum = 0.0, factor = 1.0;
  for (int k = 0; k < 60; ++k) {
    const double mean = 0.2 * (x + y + 3.0 * z);
    const double dx = (mean - x) / mean, dy = (mean - y) / mean, dz = (mean - z) / mean;
    if (std::max({std::abs(dx), std::abs(dy), std::abs(dz)}) < 1e-3) {
      const double ea = dx * dy, eb = dz * dz, ec = ea - eb, ed = ea - 6.0 * eb, ef = ed + ec + ec;
      return 3.0 * sum + factor *
                             (1.0 + ed * (-3.0 / 14.0 + 9.0 / 88.0 * ed - 4.5 / 26.0 * dz * ef) +
                              dz * (ef / 6.0 + dz * (-9.0 / 22.0 * ec + 3.0 / 26.0 * dz * ea))) /
                             (mean * std::sqrt(mean));
    }
    const double rx = std::sqrt(x), ry = std::sqrt(y), rz = std::sqrt(z), lambda = rx * (ry + rz) + ry * rz;
    sum += factor / (rz * (z + lambda));
    factor *= 0.25;
    x = 0.25 * (x + lambda), y = 0.25 * (y + lambda), z = 0.25 * (z + lambda);
  }
  return 3.0 * sum;
}

double fourth(double x) { return x * x * x * x; }

}  // namespace

VirtualMass virtual_mass(const Vec3& a) {
  const double product = a.prod(), volume = 4.0 / 3.0 * kPi * product;
  const Vec3 square = a.cwiseAbs2();
  Vec3 kappa;
  for (int i = 0; i < 3; ++i) {
    kappa[i] = product * 2.0 / 3.0 * carlson_rd(square[(i + 1) % 3], square[(i + 2) % 3], square[i]);
  }
  VirtualMass added;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double difference = square[j] - square[k], sum = square[j] + square[k];
    added.mass[i] = volume * kappa[i] / std::max(kSmallest, 2.0 - kappa[i]);
    added.inertia[i] = volume / 5.0 * difference * difference * std::abs(kappa[k] - kappa[j]) /
                       std::max(kSmallest, std::abs(2.0 * difference + sum * (kappa[j] - kappa[k])));
  }
  return added;
}

Vec6 fluid_force(const FluidEllipsoid& ellipsoid, const VirtualMass& added, const Medium& medium,
                 const Vec6& velocity) {
  const Vec3& a = ellipsoid.semi_axes;
  const Vec3 v = velocity.head<3>(), w = velocity.tail<3>();
  const double rho = medium.density, eta = medium.viscosity, speed = v.norm();
  const double volume = 4.0 / 3.0 * kPi * a.prod();
  const double largest = a.maxCoeff(), smallest = a.minCoeff(), middle = a.sum() - largest - smallest;

  const Vec3 momentum = rho * added.mass.cwiseProduct(v), spin = rho * added.inertia.cwiseProduct(w);
  Vec3 force = momentum.cross(w), torque = momentum.cross(v) + spin.cross(w);

  force += ellipsoid.magnus_lift * rho * volume * w.cross(v);

  const Vec3 areas(a[1] * a[2], a[2] * a[0], a[0] * a[1]);
  const Vec3 normal = areas.cwiseAbs2().cwiseProduct(v);
  const double denominator = normal.squaredNorm(), numerator = areas.cwiseProduct(v).squaredNorm();
  const double projected = kPi * std::sqrt(denominator / std::max(kSmallest, numerator));
  const double cosine = numerator / std::max(kSmallest, speed * denominator);
  force += ellipsoid.kutta_lift * rho * cosine * projected * normal.cross(v).cross(v);

  const double area_max = kPi * largest * middle, diameter = 2.0 / 3.0 * a.sum();
  const double blunt = ellipsoid.blunt_drag * projected + ellipsoid.slender_drag * (area_max - projected);
  force -= (3.0 * kPi * eta * diameter + rho * speed * blunt) * v;

  const double moment_max = 8.0 / 15.0 * kPi * middle * fourth(largest);
  Vec3 resisted;
  for (int i = 0; i < 3; ++i) {
    const double moment = 8.0 / 15.0 * kPi * a[i] * fourth(std::max(a[(i + 1) % 3], a[(i + 2) % 3]));
    resisted[i] = (ellipsoid.angular_drag * moment + ellipsoid.slender_drag * (moment_max - moment)) * w[i];
  }
  torque -= (kPi * eta * diameter * diameter * diameter + rho * resisted.norm()) * w;
  Vec6 result;
  result << force, torque;
  return result;
}

}  // namespace tribo
