#include "tribo/multibody/tendon_wrap.h"

#include <cmath>

namespace tribo::detail {
namespace {

using Vec2 = Eigen::Vector2d;

constexpr double kSmall = 1e-15;  // m, m^2: what counts as nothing, as in MuJoCo

double cross(const Vec2& a, const Vec2& b) { return a.x() * b.y() - a.y() * b.x(); }
Vec2 turned_left(const Vec2& a) { return {-a.y(), a.x()}; }

struct PlaneWrap {
  Vec2 first, second;
  double length = 0.0;
};

// The point of the segment nearest to the origin, as its share of the path.
double nearest_share(const Vec2& a, const Vec2& path) { return -a.dot(path) / path.squaredNorm(); }

// Angle from one direction to another, in [-pi, pi], counter-clockwise.
double angle_to(const Vec2& from, const Vec2& to) { return std::atan2(cross(from, to), from.dot(to)); }

// The shortest path outside the circle that turns about its centre by the angle w that the path a - side - b turns by, or
// the straight line without a side point. Two tangents cover acos(r / |a|) + acos(r / |b|) of |w|, the arc the rest.
std::optional<PlaneWrap> wrap_outside(const Vec2& a, const Vec2& b, double radius, const Vec2* side) {
  const double la = a.norm(), lb = b.norm();
  if (la < radius || lb < radius || radius < kSmall) return std::nullopt;
  if ((b - a).squaredNorm() < kSmall) return std::nullopt;
  const double turn = side == nullptr ? angle_to(a, b) : angle_to(a, *side) + angle_to(*side, b);
  const double arc = std::abs(turn) - std::acos(radius / la) - std::acos(radius / lb);
  if (!(arc > 0.0)) return std::nullopt;
  const double sense = turn > 0.0 ? 1.0 : -1.0;
  const auto touch = [radius](const Vec2& p, double length, double direction) -> Vec2 {
    const double root = std::sqrt((length - radius) * (length + radius));
    return radius / (length * length) * (radius * p + direction * root * turned_left(p));
  };
  return PlaneWrap{touch(a, la, sense), touch(b, lb, -sense), radius * arc};
}

// Where the string touches the circle from inside.
std::optional<PlaneWrap> wrap_inside(const Vec2& a, const Vec2& b, double radius) {
  const double la = a.norm(), lb = b.norm();
  const Vec2 path = b - a;
  if (la <= radius || lb <= radius || radius < kSmall) return std::nullopt;
  if (path.squaredNorm() > kSmall) {
    const double share = nearest_share(a, path);
    if (share > 0.0 && share < 1.0 && (a + share * path).norm() <= radius) return std::nullopt;
  }
  const double cosine = a.dot(b) / (la * lb);
  if (cosine < -1.0 + kSmall) return std::nullopt;
  // Where the equation has no root: the point in the middle.
  const Vec2 middle = radius * (a + b).normalized();
  const PlaneWrap fallback{middle, middle, 0.0};
  if (cosine > 1.0 - kSmall) return fallback;
  const double ra = radius / la, rb = radius / lb, angle = std::acos(cosine);
  const auto f = [&](double z) { return std::asin(ra * z) + std::asin(rb * z) - 2.0 * std::asin(z) + angle; };
  // f falls from angle > 0 at z = 0. Its slope is without bound at 1, so Newton's method starts beside it and moves
  // left, monotonically: f is concave.
  double z = 1.0 - 1e-7, value = f(z);
  if (value > 0.0) return fallback;
  for (int iteration = 0; iteration < 60 && value < 0.0; ++iteration) {
    const double slope = ra / std::sqrt(1.0 - ra * ra * z * z) + rb / std::sqrt(1.0 - rb * rb * z * z) -
                         2.0 / std::sqrt(1.0 - z * z);
    const double next = z - value / slope;
    if (!(slope < 0.0) || !(next < z) || !(next > 0.0)) break;
    z = next;
    value = f(z);
  }
  const bool from_a = cross(a, b) > 0.0;
  const double turn = std::asin(z) - std::asin((from_a ? ra : rb) * z);
  const Vec2 start = (from_a ? a : b).normalized();
  const Vec2 point = radius * (std::cos(turn) * start + std::sin(turn) * turned_left(start));
  return PlaneWrap{point, point, 0.0};
}

// Two axes of the plane through the origin and both points; any such plane where they are on one line.
Eigen::Matrix<double, 3, 2> plane_of(const Vec3& a, const Vec3& b) {
  const Vec3 x = a.normalized();
  Vec3 normal = a.cross(b);
  if (normal.norm() < kSmall) {
    Eigen::Index largest = 0;
    x.cwiseAbs().maxCoeff(&largest);
    Vec3 other = Vec3::Ones();
    other[largest] = 0.0;
    normal = x.cross(other);
  }
  Eigen::Matrix<double, 3, 2> axes;
  axes << x, normal.normalized().cross(x).normalized();
  return axes;
}

}  // namespace

std::optional<Wrap> wrap_around(const Vec3& a, const Vec3& b, const Pose& shape, double radius, bool cylinder,
                                const Vec3* side) {
  const Vec3 p = shape.to_local(a), q = shape.to_local(b);
  if (p.norm() < kSmall || q.norm() < kSmall) return std::nullopt;
  Eigen::Matrix<double, 3, 2> axes = Eigen::Matrix<double, 3, 2>::Identity();
  if (!cylinder) axes = plane_of(p, q);
  const Vec2 p2 = axes.transpose() * p, q2 = axes.transpose() * q;
  std::optional<PlaneWrap> flat;
  if (side == nullptr) {
    flat = wrap_outside(p2, q2, radius, nullptr);
  } else {
    const Vec3 s = shape.to_local(*side);
    Vec2 s2 = axes.transpose() * s;
    s2 = s2.norm() < kSmall ? Vec2(radius, 0.0) : Vec2(radius * s2.normalized());
    flat = s.norm() < radius ? wrap_inside(p2, q2, radius) : wrap_outside(p2, q2, radius, &s2);
  }
  if (!flat) return std::nullopt;
  Wrap wrap{axes * flat->first, axes * flat->second, flat->length};
  if (cylinder) {
    const double before = (p2 - flat->first).norm(), after = (q2 - flat->second).norm();
    const double whole = before + flat->length + after, rise = q.z() - p.z();
    wrap.first.z() = whole > 0.0 ? p.z() + rise * before / whole : p.z();
    wrap.second.z() = whole > 0.0 ? p.z() + rise * (before + flat->length) / whole : p.z();
    wrap.length = std::hypot(flat->length, wrap.second.z() - wrap.first.z());
  }
  wrap.first = shape * wrap.first;
  wrap.second = shape * wrap.second;
  return wrap;
}

}  // namespace tribo::detail
