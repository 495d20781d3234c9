#include "tribo/multibody/muscle.h"

#include <algorithm>

namespace tribo {

namespace {

constexpr double kSmallest =
    1e-15;  // keeps quotients finite; MuJoCo's number, so that degenerate muscles agree

double ratio(double a, double b) { return a / std::max(kSmallest, b); }

double scaled_length(const Muscle& m, double length, double& resting) {
  resting = ratio(m.length_upper - m.length_lower, m.range_upper - m.range_lower);
  return m.range_lower + ratio(length - m.length_lower, resting);
}

// Four parabolas: up from zero, over the top at 1, down to zero.
double force_length(const Muscle& m, double length) {
  if (length < m.shortest || length > m.longest) return 0.0;
  const double a = 0.5 * (m.shortest + 1.0), b = 0.5 * (1.0 + m.longest);
  const double x = length <= a   ? ratio(length - m.shortest, a - m.shortest)
                   : length <= 1 ? ratio(1.0 - length, 1.0 - a)
                   : length <= b ? ratio(length - 1.0, b - 1.0)
                                 : ratio(m.longest - length, m.longest - b);
  const bool outer = length <= a || length > b;
  return outer ? 0.5 * x * x : 1.0 - 0.5 * x * x;
}

double force_velocity(const Muscle& m, double velocity) {
  const double y = m.stretch_force - 1.0;
  if (velocity <= -1.0) return 0.0;
  if (velocity <= 0.0) return (velocity + 1.0) * (velocity + 1.0);
  return velocity <= y ? m.stretch_force - ratio((y - velocity) * (y - velocity), y) : m.stretch_force;
}

// Quintic with zero slope and curvature at 0 and 1.
double smooth_step(double x) {
  if (x <= 0.0) return 0.0;
  return x >= 1.0 ? 1.0 : x * x * x * (10.0 + x * (6.0 * x - 15.0));
}

}  // namespace

double Muscle::active_force(double length, double velocity) const {
  double resting;
  const double l = scaled_length(*this, length, resting);
  return -force * force_length(*this, l) * force_velocity(*this, ratio(velocity, resting * fastest));
}

double Muscle::passive(double length) const {
  double resting;
  const double l = scaled_length(*this, length, resting), b = 0.5 * (1.0 + longest);
  if (l <= 1.0) return 0.0;
  if (l <= b) {
    const double x = ratio(l - 1.0, b - 1.0);
    return -force * passive_force * 0.5 * x * x;
  }
  return -force * passive_force * (0.5 + ratio(l - b, b - 1.0));
}

double muscle_activation_rate(double control, double activation, const Vec3& times) {
  const double wanted = std::clamp(control, 0.0, 1.0), present = std::clamp(activation, 0.0, 1.0);
  const double rise = times[0] * (0.5 + 1.5 * present), fall = times[1] / (0.5 + 1.5 * present);
  const double change = wanted - activation, width = times[2];
  const double time = width < kSmallest ? (change > 0.0 ? rise : fall)
                                        : fall + (rise - fall) * smooth_step(change / width + 0.5);
  return ratio(change, time);
}

}  // namespace tribo
