// Revolved: f(x, y, z) = g(rho, z) with rho = sqrt(x^2 + y^2). Extruded: with d = g(x, y) and e = |z| - h,
// f = max(d, e) if one of them is negative and sqrt(d^2 + e^2) beyond an edge.
//
// Helix: f = c g(rho, s), s = z - lead phi / 2 pi brought to [-lead/2, lead/2]. Its slope is at most
// sqrt(1 + (lead / 2 pi rho)^2), which c takes back; the zero stays. Nearer to the axis than the inner radius r, where the
// slope would grow without bound, f = c (rho / r g(r, s) + sign(g) (r - rho)): continuous, and of the sign that the axis has.
#include "tribo/collide/shapes/solid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "tribo/base/errors.h"
#include "tribo/collide/shapes/revolved_moments.h"
#include "tribo/collide/shapes/solid_surface.h"

namespace tribo {

namespace {

using Sample = Solid::Sample;
using Node = Solid::Node;
using NodePointer = std::shared_ptr<const Node>;

constexpr double kTurn = 2.0 * std::numbers::pi;

void require(bool good, const std::string& message) {
  if (!good) throw InvalidInput(message);
}

void require_size(const char* what, double value) {
  require(std::isfinite(value) && value > 0.0,
          fmt::format("{} is {}: it must be finite and > 0", what, value));
}

// Direction from the axis; on the axis any is as good.
Vec2 radial(const Vec3& p, double rho) { return rho > 0.0 ? Vec2(p.head<2>() / rho) : Vec2::UnitX(); }

struct RevolveNode : Node {
  Profile figure;
  explicit RevolveNode(const Profile& f) : figure(f) { check_axis(); }

  // An edge along the axis would be a surface inside the body.
  void check_axis() const {
    constexpr int points = 64;
    const Profile::Bounds& box = figure.bounds();
    int zeros = 0;
    for (int k = 0; k < points; ++k) {
      const double y = box.lower.y() + (box.upper.y() - box.lower.y()) * (k + 0.5) / points;
      zeros = std::abs(figure.sample({0.0, y}).distance) < 1e-12 ? zeros + 1 : 0;
      require(zeros < 2, "a revolved figure has an edge on the axis: draw it across, x < 0 is not looked at");
    }
  }
  Sample sample(const Vec3& p) const override {
    const double rho = p.head<2>().norm();
    const Profile::Sample s = figure.sample({rho, p.z()});
    const Vec2 away = radial(p, rho);
    return {s.distance, {s.gradient.x() * away.x(), s.gradient.x() * away.y(), s.gradient.y()}};
  }
  std::optional<VolumeMoments> moments() const override { return detail::revolved_moments(figure); }
  Triangles surface(double spacing) const override { return detail::revolved_surface(figure, spacing); }
};

struct PrismNode : Node {
  Profile figure;
  double half_height;
  std::optional<VolumeMoments> exact;
  PrismNode(const Profile& f, double half, std::optional<VolumeMoments> known)
      : figure(f), half_height(half), exact(std::move(known)) {}
  Sample sample(const Vec3& p) const override {
    const Profile::Sample s = figure.sample(p.head<2>());
    const double end = std::abs(p.z()) - half_height;
    const Vec3 side(s.gradient.x(), s.gradient.y(), 0.0), cap(0.0, 0.0, p.z() < 0.0 ? -1.0 : 1.0);
    if (s.distance > 0.0 && end > 0.0) {
      const double distance = std::hypot(s.distance, end);
      return {distance, (s.distance * side + end * cap) / distance};
    }
    return s.distance >= end ? Sample{s.distance, side} : Sample{end, cap};
  }
  std::optional<VolumeMoments> moments() const override { return exact; }
  Triangles surface(double spacing) const override {
    return detail::prism_surface(figure, half_height, spacing);
  }
};

struct HelixNode : Node {
  Profile figure;
  double lead, inner, reach;
  double scale = 1.0;  // c
  double sign = 1.0;   // of g at the inner radius

  HelixNode(const Profile& f, double rise, double r, double z) : figure(f), lead(rise), inner(r), reach(z) {
    check_match();
    find_scale();
  }

  // The two ends of the lead have to show the same figure.
  void check_match() const {
    constexpr int points = 64;
    const double outer = figure.bounds().upper.x();
    for (int k = 0; k <= points; ++k) {
      const double rho = inner + (outer - inner) * k / points;
      const double low = figure.sample({rho, -0.5 * lead}).distance;
      const double high = figure.sample({rho, 0.5 * lead}).distance;
      require(std::abs(low - high) < 1e-9 * lead,
              fmt::format("the figure of a helix differs at its ends y = -+lead/2 by {:.3g} m at {:g} m "
                          "from the axis: draw what comes before and after, too",
                          std::abs(low - high), rho));
    }
  }

  void find_scale() {
    constexpr int points = 512;
    sign = figure.sample({inner, 0.0}).distance < 0.0 ? -1.0 : 1.0;
    const double turn2 = std::pow(lead / (kTurn * inner), 2);
    double most2 = 1.0 + turn2;
    for (int k = 0; k < points; ++k) {
      const Profile::Sample s = figure.sample({inner, lead * ((k + 0.5) / points - 0.5)});
      require(sign * s.distance > 0.0,
              fmt::format("the figure of a helix has a boundary at its inner radius {:g} m", inner));
      const double along = std::max(std::abs(s.gradient.x()), std::abs(1.0 - std::abs(s.distance) / inner));
      most2 = std::max(most2, along * along + s.gradient.y() * s.gradient.y() * (1.0 + turn2));
    }
    // Between the points that were looked at the slope differs a little.
    scale = 1.0 / std::sqrt(most2 > 1.0 + turn2 ? 1.02 * most2 : most2);
  }

  Sample sample(const Vec3& p) const override {
    const double rho = p.head<2>().norm(), angle = rho > 0.0 ? std::atan2(p.y(), p.x()) : 0.0;
    double s = p.z() - lead * angle / kTurn;
    s -= lead * std::round(s / lead);
    const Vec2 away = radial(p, rho);
    const Profile::Sample g = figure.sample({std::max(rho, inner), s});
    double distance = g.distance, outward = g.gradient.x(), rise = g.gradient.y();
    double around = -rise * lead / (kTurn * std::max(rho, inner));
    if (rho < inner) {
      distance = rho / inner * g.distance + sign * (inner - rho);
      outward = g.distance / inner - sign;
      rise *= rho / inner;
    }
    return {scale * distance, scale * Vec3(outward * away.x() - around * away.y(),
                                           outward * away.y() + around * away.x(), rise)};
  }
  Triangles surface(double spacing) const override {
    return detail::helix_surface(figure, lead, inner, reach, spacing);
  }
};

struct MovedNode : Node {
  NodePointer of;
  Pose pose;
  MovedNode(NodePointer node, const Pose& p) : of(std::move(node)), pose(p) {}
  Sample sample(const Vec3& p) const override {
    const Sample s = of->sample(pose.to_local(p));
    return {s.distance, pose.rotation * s.gradient};
  }
  std::optional<VolumeMoments> moments() const override {
    std::optional<VolumeMoments> m = of->moments();
    if (m) *m = {m->volume, pose * m->center, pose.rotation * m->inertia * pose.rotation.transpose()};
    return m;
  }
  Triangles surface(double spacing) const override {
    Triangles t = of->surface(spacing);
    for (Vec3& v : t.vertices) v = pose * v;
    return t;
  }
};

// distance - by, or |distance| - by.
struct OffsetNode : Node {
  NodePointer of;
  double by;
  bool both_sides;
  OffsetNode(NodePointer node, double offset, bool both)
      : of(std::move(node)), by(offset), both_sides(both) {}
  Sample sample(const Vec3& p) const override {
    Sample s = of->sample(p);
    if (both_sides && s.distance < 0.0) s = {-s.distance, -s.gradient};
    s.distance -= by;
    return s;
  }
};

enum class Join { united, intersected, subtracted };

struct PairNode : Node {
  NodePointer a, b;
  Join join;
  PairNode(NodePointer first, NodePointer second, Join how)
      : a(std::move(first)), b(std::move(second)), join(how) {}
  Sample sample(const Vec3& p) const override {
    const Sample first = a->sample(p);
    Sample second = b->sample(p);
    if (join == Join::subtracted) second = {-second.distance, -second.gradient};
    const bool take_first =
        join == Join::united ? first.distance <= second.distance : first.distance >= second.distance;
    return take_first ? first : second;
  }
  Triangles surface(double spacing) const override {
    const Triangles first = a->surface(spacing), second = b->surface(spacing);
    if (first.faces.empty() || second.faces.empty()) return {};
    Triangles t;
    detail::add_part(first, *a, *b, join == Join::intersected ? -1.0 : 1.0, false, t);
    detail::add_part(second, *b, *a, join == Join::united ? 1.0 : -1.0, join == Join::subtracted, t);
    return t;
  }
};

Aabb grown(const Aabb& box, double by) { return {box.lower.array() - by, box.upper.array() + by}; }

}  // namespace

Solid::Solid(std::shared_ptr<const Node> node, const Aabb& bounds) : node_(std::move(node)), bounds_(bounds) {
  require((bounds_.upper.array() > bounds_.lower.array()).all(), "a solid is empty: nothing is left of it");
}

Solid Solid::ball(double radius) {
  require_size("radius of a ball", radius);
  return revolve(Profile::circle(Vec2::Zero(), radius));
}

Solid Solid::box(const Vec3& half) {
  for (int k = 0; k < 3; ++k) require_size("half extent of a box", half[k]);
  const double x = half.x(), y = half.y();
  return {std::make_shared<PrismNode>(Profile::polygon({{-x, -y}, {x, -y}, {x, y}, {-x, y}}), half.z(),
                                      Shape::box(half).moments()),
          {-half, half}};
}

Solid Solid::cylinder(double radius, double half_height) {
  require_size("radius of a cylinder", radius);
  require_size("half height of a cylinder", half_height);
  const double r = radius, h = half_height;
  return revolve(Profile::polygon({{-r, -h}, {r, -h}, {r, h}, {-r, h}}));
}

Solid Solid::prism(const Profile& figure, double half_height) {
  require_size("half height of a prism", half_height);
  const Profile::Bounds& box = figure.bounds();
  return {std::make_shared<PrismNode>(figure, half_height, std::nullopt),
          {{box.lower.x(), box.lower.y(), -half_height}, {box.upper.x(), box.upper.y(), half_height}}};
}

Solid Solid::revolve(const Profile& figure) {
  const Profile::Bounds& box = figure.bounds();
  const double r = box.upper.x();
  require(r > 0.0, "a revolved figure has no part beyond the axis, x > 0");
  return {std::make_shared<RevolveNode>(figure), {{-r, -r, box.lower.y()}, {r, r, box.upper.y()}}};
}

Solid Solid::helix(const Profile& figure, double lead, double inner, double reach) {
  require_size("lead of a helix", lead);
  require_size("inner radius of a helix", inner);
  require_size("reach of a helix", reach);
  const double r = figure.bounds().upper.x();
  require(r > inner, "the figure of a helix is not beyond its inner radius");
  return {std::make_shared<HelixNode>(figure, lead, inner, reach), {{-r, -r, -reach}, {r, r, reach}}};
}

Solid Solid::rounded(double radius) const {
  require(std::isfinite(radius), fmt::format("rounding of a solid is {}: it must be finite", radius));
  return {std::make_shared<OffsetNode>(node_, radius, false), grown(bounds_, radius)};
}

Solid Solid::shell(double thickness) const {
  require_size("thickness of a shell", thickness);
  return {std::make_shared<OffsetNode>(node_, 0.5 * thickness, true), grown(bounds_, 0.5 * thickness)};
}

Solid Solid::moved(const Pose& pose) const {
  require(pose.position.allFinite() && pose.rotation.allFinite(), "a solid is moved by what is not finite");
  const Vec3 half = 0.5 * (bounds_.upper - bounds_.lower),
             middle = pose * (0.5 * (bounds_.upper + bounds_.lower));
  const Vec3 reach = pose.rotation.cwiseAbs() * half;
  return {std::make_shared<MovedNode>(node_, pose), {middle - reach, middle + reach}};
}

Solid unite(const Solid& a, const Solid& b) {
  return {std::make_shared<PairNode>(a.node_, b.node_, Join::united),
          {a.bounds_.lower.cwiseMin(b.bounds_.lower), a.bounds_.upper.cwiseMax(b.bounds_.upper)}};
}

Solid intersect(const Solid& a, const Solid& b) {
  return {std::make_shared<PairNode>(a.node_, b.node_, Join::intersected),
          {a.bounds_.lower.cwiseMax(b.bounds_.lower), a.bounds_.upper.cwiseMin(b.bounds_.upper)}};
}

Solid subtract(const Solid& a, const Solid& b) {
  return {std::make_shared<PairNode>(a.node_, b.node_, Join::subtracted), a.bounds_};
}

}  // namespace tribo
