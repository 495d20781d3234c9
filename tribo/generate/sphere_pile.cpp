#include "tribo/generate/sphere_pile.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <tuple>
#include <utility>

#include "tribo/generate/rigid_scene.h"

namespace tribo::detail {

namespace {

constexpr Index kAttempts = 10;
constexpr Index kFalls = 8;
constexpr double kOverlap = 1e-12;  // m: overlap that rounding may cause

const std::array<Vec3, 5>& inward_normals() {
  static const std::array<Vec3, 5> normals{Vec3::UnitZ(), -Vec3::UnitX(), Vec3::UnitX(), -Vec3::UnitY(),
                                           Vec3::UnitY()};
  return normals;
}

// Distance of the point from side s of the container.
double distance_to_side(const Vec3& point, Index side, double half_width) {
  return inward_normals()[side].dot(point) + (side == 0 ? 0.0 : half_width);
}

// The spheres dropped so far, findable by place: square vertical columns, each sorted by height. They hold
// copies of the spheres: chasing indices into the pile would cost a cache miss for each.
class Columns {
 public:
  struct Entry {
    Sphere sphere;
    Index index;
  };

  explicit Columns(double half_width)
      : half_width_(half_width),
        side_(std::max(1, static_cast<Index>(2.0 * half_width / (2.0 * kLargestRadius + kPileMargin)))),
        width_(2.0 * half_width / side_),
        columns_(static_cast<std::size_t>(side_) * side_) {}

  void insert(const Sphere& sphere, Index index) {
    Column& column = columns_[cell(sphere.centre.x()) * side_ + cell(sphere.centre.y())];
    column.insert(first_above(column, sphere.centre.z()), {sphere, index});
  }

  // Visits the spheres of all columns within `reach` columns of the point, each column from the height `top`
  // down to `bottom()`, which may rise on the way: the columns nearest to the point come first.
  template <typename Visit, typename Bottom>
  void visit(const Vec3& point, Index reach, double top, Bottom bottom, Visit visit) const {
    const Index x = cell(point.x()), y = cell(point.y());
    for (Index p = 0; p <= 2 * reach; ++p) {
      const Index cx = x + outwards(p);
      if (cx < 0 || cx >= side_) continue;
      for (Index q = 0; q <= 2 * reach; ++q) {
        const Index cy = y + outwards(q);
        if (cy < 0 || cy >= side_) continue;
        const Column& column = columns_[cx * side_ + cy];
        for (auto k = first_above(column, top); k != column.begin();) {
          --k;
          if (k->sphere.centre.z() < bottom()) break;
          visit(*k);
        }
      }
    }
  }

 private:
  using Column = std::vector<Entry>;

  // 0, -1, 1, -2, 2, ...
  static Index outwards(Index i) { return i % 2 == 0 ? i / 2 : -(i + 1) / 2; }

  Index cell(double x) const {
    return std::clamp(static_cast<Index>((x + half_width_) / width_), 0, side_ - 1);
  }

  static Column::const_iterator first_above(const Column& column, double z) {
    // Nearly always the top; the binary search would miss the cache.
    if (column.empty() || column.back().sphere.centre.z() <= z) return column.end();
    return std::upper_bound(column.begin(), column.end(), z, [](double height, const Entry& entry) {
      return height < entry.sphere.centre.z();
    });
  }

  double half_width_;
  Index side_;
  double width_;
  std::vector<Column> columns_;
};

// A surface that the centre of the new sphere may not cross, seen from the centre of sphere j: the points x
// on both the sphere of radius R_j about the origin and this surface satisfy plane . x = distance.
struct Surface {
  Vec3 plane;
  double distance;
  Vec3 centre;    // of a sphere
  double radius;  // of a sphere, enlarged; 0 for a side of the container

  Vec3 normal_at(const Vec3& x) const { return radius > 0.0 ? Vec3((x - centre) / radius) : plane; }
  bool overlaps(const Vec3& x) const {
    const double limit = radius - kOverlap;
    return radius > 0.0 ? (x - centre).squaredNorm() < limit * limit : plane.dot(x) < distance - kOverlap;
  }
};

// Whether the vertical is a non-negative combination of the three normals (Cramer's rule).
bool supports(const Vec3& n1, const Vec3& n2, const Vec3& n3) {
  const Vec3 n23 = n2.cross(n3);
  const double determinant = n1.dot(n23);
  if (std::abs(determinant) < 1e-6) return false;
  const double sign = determinant > 0.0 ? 1.0 : -1.0;
  const auto positive = [sign](double numerator) { return sign * numerator >= -1e-12; };
  return positive(n23.z()) && positive(n3.cross(n1).z()) && positive(n1.cross(n2).z());
}

class Dropper {
 public:
  Dropper(SpherePile& pile, Random& random) : pile_(pile), random_(random), columns_(pile.half_width) {}

  void drop(double radius) {
    Vec3 centre;
    for (Index attempt = 0; attempt < kAttempts; ++attempt) {
      Index hit;
      std::tie(centre, hit) = lowest_fall(radius);
      if (hit == kGround) break;
      gather_surfaces(hit, radius);
      if (const std::optional<Vec3> place = settle(hit, centre, radius)) {
        centre = *place;
        break;
      }
    }
    columns_.insert({centre, radius}, static_cast<Index>(pile_.spheres.size()));
    pile_.spheres.push_back({centre, radius});
  }

 private:
  // Of a few falls at random places the one that ends lowest: where it ends and on what.
  std::pair<Vec3, Index> lowest_fall(double radius) {
    const double reach = pile_.half_width - radius;
    std::pair<Vec3, Index> lowest;
    for (Index i = 0; i < kFalls; ++i) {
      Vec3 centre;
      centre.x() = random_.uniform(-reach, reach);
      centre.y() = random_.uniform(-reach, reach);
      const Index hit = fall(centre, radius);
      if (i == 0 || centre.z() < lowest.first.z()) lowest = {centre, hit};
    }
    return lowest;
  }

  // Sets centre.z to where a sphere that falls at (centre.x, centre.y) first touches; returns what it
  // touches.
  Index fall(Vec3& centre, double radius) const {
    Index hit = kGround;
    centre.z() = radius;
    columns_.visit(
        centre, 1, std::numeric_limits<double>::infinity(), [&] { return centre.z() - 2.0 * kLargestRadius; },
        [&](const Columns::Entry& entry) {
          const Sphere& other = entry.sphere;
          const double reach = other.radius + radius;
          const double rise = reach * reach - (centre - other.centre).head<2>().squaredNorm();
          if (rise <= 0.0) return;
          const double z = other.centre.z() + std::sqrt(rise);
          if (z > centre.z()) {
            centre.z() = z;
            hit = entry.index;
          }
        });
    return hit;
  }

  // All that a sphere touching j can touch or overlap.
  void gather_surfaces(Index j, double radius) {
    const Vec3& origin = pile_.spheres[j].centre;
    const double own = pile_.spheres[j].radius + radius;
    surfaces_.clear();
    for (Index side = 0; side < 5; ++side) {
      const double distance = radius - distance_to_side(origin, side, pile_.half_width);
      if (std::abs(distance) < own)
        surfaces_.push_back({inward_normals()[side], distance, Vec3::Zero(), 0.0});
    }
    const double bottom = origin.z() - 4.0 * kLargestRadius;
    columns_.visit(
        origin, 2, origin.z() + 4.0 * kLargestRadius, [bottom] { return bottom; },
        [&](const Columns::Entry& entry) {
          const Vec3 offset = entry.sphere.centre - origin;
          const double enlarged = entry.sphere.radius + radius;
          const double squared = offset.squaredNorm();
          if (entry.index == j || squared >= (own + enlarged) * (own + enlarged)) return;
          const double length = std::sqrt(squared);
          const double distance = 0.5 * (own * own + squared - enlarged * enlarged) / length;
          if (std::abs(distance) < own) surfaces_.push_back({offset / length, distance, offset, enlarged});
        });
  }

  bool is_free(const Vec3& x) const {
    return std::none_of(surfaces_.begin(), surfaces_.end(), [&](const Surface& s) { return s.overlaps(x); });
  }

  // The lowest stable place on sphere j, if any. `start` is where the sphere fell.
  std::optional<Vec3> settle(Index j, const Vec3& start, double radius) const {
    const Vec3& origin = pile_.spheres[j].centre;
    const double own = pile_.spheres[j].radius + radius;
    double lowest = std::numeric_limits<double>::infinity();
    Vec3 best;
    const auto offer = [&](const Vec3& x) {
      if (x.z() < lowest && is_free(x)) {
        lowest = x.z();
        best = x;
      }
    };
    // Straight down the side of j to the floor.
    const double drop = radius - origin.z();
    const Vec2 away = (start - origin).head<2>();
    if (std::abs(drop) < own && away.norm() > 1e-9) {
      Vec3 x;
      x << away.normalized() * std::sqrt(own * own - drop * drop), drop;
      offer(x);
    }
    for (std::size_t p = 0; p < surfaces_.size(); ++p) {
      for (std::size_t q = p + 1; q < surfaces_.size(); ++q)
        offer_vertices(surfaces_[p], surfaces_[q], own, lowest, offer);
    }
    if (lowest == std::numeric_limits<double>::infinity()) return std::nullopt;
    return origin + best;
  }

  // Offers the stable ones of the two points at the distance `own` from the origin that lie on both planes.
  template <typename Offer>
  static void offer_vertices(const Surface& p, const Surface& q, double own, const double& lowest,
                             Offer offer) {
    const double cosine = p.plane.dot(q.plane);
    const double sine_squared = 1.0 - cosine * cosine;
    if (sine_squared < 1e-6) return;
    const double a = (p.distance - cosine * q.distance) / sine_squared;
    const double b = (q.distance - cosine * p.distance) / sine_squared;
    const double along = own * own - (a * p.distance + b * q.distance);
    if (along < 0.0) return;
    const Vec3 middle = a * p.plane + b * q.plane;
    const Vec3 step = p.plane.cross(q.plane) * std::sqrt(along / sine_squared);
    for (const double sign : {-1.0, 1.0}) {
      const Vec3 x = middle + sign * step;
      if (x.z() < lowest && supports(x / own, p.normal_at(x), q.normal_at(x))) offer(x);
    }
  }

  SpherePile& pile_;
  Random& random_;
  Columns columns_;
  std::vector<Surface> surfaces_;
};

}  // namespace

SpherePile drop_spheres(Index count, Random& random) {
  // Such a pile fills a little more than half of its volume: a box about as wide as the pile is high.
  const double volume = count * (4.0 / 3.0) * std::numbers::pi * std::pow(kLargestRadius, 3) / 0.6;
  SpherePile pile{.half_width = std::max(2.0 * kLargestRadius, 0.5 * std::cbrt(volume)), .spheres = {}};
  pile.spheres.reserve(count);
  Dropper dropper(pile, random);
  for (Index i = 0; i < count; ++i) dropper.drop(random.uniform(kSmallestRadius, kLargestRadius));
  return pile;
}

std::vector<SphereContact> find_contacts(const SpherePile& pile) {
  std::vector<SphereContact> contacts;
  contacts.reserve(4 * pile.spheres.size());
  Columns columns(pile.half_width);
  for (Index i = 0; i < static_cast<Index>(pile.spheres.size()); ++i) {
    const Vec3& centre = pile.spheres[i].centre;
    const double radius = pile.spheres[i].radius;
    for (Index side = 0; side < 5; ++side) {
      const Vec3& normal = inward_normals()[side];
      const double gap = distance_to_side(centre, side, pile.half_width) - radius;
      if (gap < kPileMargin)
        contacts.push_back({i, kGround, side, normal, centre - (radius + 0.5 * gap) * normal, gap});
    }
    const double reach = radius + kLargestRadius + kPileMargin;
    columns.visit(
        centre, 1, centre.z() + reach, [bottom = centre.z() - reach] { return bottom; },
        [&](const Columns::Entry& entry) {
          const Sphere& other = entry.sphere;
          const Vec3 offset = centre - other.centre;
          const double distance = offset.norm();
          const double gap = distance - radius - other.radius;
          if (gap >= kPileMargin) return;
          const Vec3 normal = offset / distance;
          contacts.push_back(
              {i, entry.index, 0, normal, other.centre + (other.radius + 0.5 * gap) * normal, gap});
        });
    columns.insert({centre, radius}, i);
  }
  return contacts;
}

ContactProblem make_pile(const GeneratorSettings& settings) {
  Random random(settings.seed);
  const SpherePile pile = drop_spheres(settings.bodies, random);
  const std::vector<SphereContact> contacts = find_contacts(pile);
  RigidScene scene(settings);
  scene.reserve(settings.bodies, static_cast<Index>(contacts.size()));
  for (Index i = 0; i < settings.bodies; ++i) {
    const Sphere& sphere = pile.spheres[i];
    const double mass = geometric_mass(i, settings.bodies, settings.mass_ratio);
    RigidBody body{.mass = mass, .inertia = sphere_inertia(mass, sphere.radius), .position = sphere.centre};
    if (settings.slide) {
      const Vec3 direction = random.unit_vector();
      body.velocity << kSlideSpeed * direction.head<2>(), 0.0;
      body.spin.z() = kSlideSpeed / sphere.radius * direction.z();
    }
    scene.add_body(body);
  }
  for (const SphereContact& c : contacts) scene.add_contact(c.a, c.b, c.point, c.normal, c.gap, c.side);
  return scene.build();
}

}  // namespace tribo::detail
