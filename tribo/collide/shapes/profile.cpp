// Distance to a segment a b: to a + t (b - a) with t = (p - a) . (b - a) / |b - a|^2 held in [0, 1]. Whether a point is
// inside a polygon is the parity of the edges that a ray along +x crosses. Cost: the few segments that the point's cell of a
// grid cannot rule out; of all beyond the bounds.
#include "tribo/collide/shapes/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "tribo/base/errors.h"

namespace tribo {

namespace {

using Sample = Profile::Sample;
using Node = Profile::Node;
using NodePointer = std::shared_ptr<const Node>;

void require(bool good, const std::string& message) {
  if (!good) throw InvalidInput(message);
}

Vec2 left_of(const Vec2& direction) { return {-direction.y(), direction.x()}; }

struct CircleNode : Node {
  Vec2 center;
  double radius;
  CircleNode(const Vec2& c, double r) : center(c), radius(r) {}
  Sample sample(const Vec2& p) const override {
    const Vec2 d = p - center;
    const double length = d.norm();
    return {length - radius, length > 0.0 ? Vec2(d / length) : Vec2::UnitX()};
  }
};

struct Edge {
  Vec2 from, to, along;
  double over_square;  // 1 / |along|^2
  double lean;         // of x against y; not used of horizontal ones

  Edge(const Vec2& a, const Vec2& b)
      : from(a), to(b), along(b - a), over_square(1.0 / along.squaredNorm()), lean(along.x() / along.y()) {}
  double low() const { return std::min(from.y(), to.y()); }
  double high() const { return std::max(from.y(), to.y()); }
  // From its nearest point to p. Between its ends along the normal to rounding, so that the direction is right however near
  // p is.
  Vec2 apart(const Vec2& p) const {
    const Vec2 d = p - from;
    const double t = d.dot(along) * over_square;
    if (t <= 0.0) return d;
    if (t >= 1.0) return p - to;
    return (d.x() * along.y() - d.y() * along.x()) * over_square * Vec2(along.y(), -along.x());
  }
  // Whether a ray from p along +x meets it: half-open, so that a corner counts once.
  bool crosses(const Vec2& p) const {
    return (from.y() > p.y()) != (to.y() > p.y()) && p.x() - from.x() < (p.y() - from.y()) * lean;
  }
};

// The edges a cell of the figure's bounds has to look at: those that can be nearest to one of its points, and those that a ray
// from one of its points may or may not cross; of the rest the parity is known.
class EdgeGrid {
 public:
  EdgeGrid(const std::vector<Edge>& all, const Profile::Bounds& bounds) : bounds_(bounds) {
    const Vec2 width = bounds.upper - bounds.lower;
    const double cell = std::max(width.x(), width.y()) / kCells;
    for (int k = 0; k < 2; ++k) count_[k] = std::clamp(static_cast<int>(width[k] / cell) + 1, 1, kCells);
    size_ = Vec2(width.x() / count_[0], width.y() / count_[1]).cwiseMax(1e-300);
    for (int y = 0; y < count_[1]; ++y) {
      for (int x = 0; x < count_[0]; ++x) add_cell(all, x, y);
    }
  }
  struct Cell {
    std::uint32_t begin, middle, end;  // nearest: [begin, middle), rays: [middle, end) of `edges`
    bool inside;                       // by the edges that every ray of the cell crosses
  };
  // Null: outside.
  const Cell* find(const Vec2& p) const {
    const Vec2 at = (p - bounds_.lower).cwiseQuotient(size_);
    if (!(at.x() >= 0.0 && at.y() >= 0.0 && at.x() < count_[0] && at.y() < count_[1])) return nullptr;
    return &cells_[static_cast<std::size_t>(static_cast<int>(at.y()) * count_[0] + static_cast<int>(at.x()))];
  }
  std::vector<std::uint32_t> edges;

 private:
  // Along the longer side. A thread's figure of 14 edges has 2 to 4 in a cell then; building takes cells x edges steps.
  static constexpr int kCells = 96;

  void add_cell(const std::vector<Edge>& all, int x, int y) {
    // A little wider than it is, for points that rounding puts into the neighbour.
    const Vec2 room = 1e-6 * size_, low = bounds_.lower + Vec2(x, y).cwiseProduct(size_) - room;
    const Vec2 high = low + size_ + 2.0 * room, middle = 0.5 * (low + high);
    const double radius = 0.5 * (high - low).norm();
    Cell cell{static_cast<std::uint32_t>(edges.size()), 0, 0, false};
    double nearest = std::numeric_limits<double>::infinity();
    for (const Edge& edge : all) nearest = std::min(nearest, edge.apart(middle).norm());
    const double far = (nearest + 2.0 * radius) * (1.0 + 1e-9);
    for (std::uint32_t e = 0; e < all.size(); ++e) {
      if (all[e].apart(middle).norm() <= far) edges.push_back(e);
    }
    cell.middle = static_cast<std::uint32_t>(edges.size());
    for (std::uint32_t e = 0; e < all.size(); ++e) {
      const Edge& edge = all[e];
      const double right = std::max(edge.from.x(), edge.to.x()), left = std::min(edge.from.x(), edge.to.x());
      if (edge.high() < low.y() || edge.low() > high.y() || right < low.x()) continue;
      if (left > high.x() && edge.low() < low.y() && edge.high() > high.y()) {
        cell.inside = !cell.inside;
      } else {
        edges.push_back(e);
      }
    }
    cell.end = static_cast<std::uint32_t>(edges.size());
    cells_.push_back(cell);
  }

  Profile::Bounds bounds_;
  Vec2 size_ = Vec2::Ones();
  int count_[2] = {1, 1};
  std::vector<Cell> cells_;
};

struct ChainNode : Node {
  std::vector<Vec2> points;
  bool closed;
  std::vector<Edge> edges;
  EdgeGrid grid;
  ChainNode(std::vector<Vec2> list, bool is_closed, const Profile::Bounds& bounds)
      : points(std::move(list)), closed(is_closed), edges(edges_of(points, closed)), grid(edges, bounds) {}

  static std::vector<Edge> edges_of(const std::vector<Vec2>& points, bool closed) {
    std::vector<Edge> edges;
    for (std::size_t i = closed ? 0 : 1; i < points.size(); ++i)
      edges.emplace_back(points[i == 0 ? points.size() - 1 : i - 1], points[i]);
    return edges;
  }

  Sample sample(const Vec2& p) const override {
    double nearest2 = std::numeric_limits<double>::infinity();
    Vec2 apart = Vec2::Zero(), along = Vec2::UnitX();
    const auto look = [&](const Edge& edge) {
      const Vec2 from = edge.apart(p);
      const double square = from.squaredNorm();
      if (square >= nearest2) return;
      nearest2 = square;
      apart = from;
      along = edge.along;
    };
    bool inside = false;
    if (const EdgeGrid::Cell* cell = grid.find(p)) {
      for (std::uint32_t k = cell->begin; k < cell->middle; ++k) look(edges[grid.edges[k]]);
      inside = cell->inside;
      for (std::uint32_t k = cell->middle; k < cell->end; ++k) inside ^= edges[grid.edges[k]].crosses(p);
    } else {
      for (const Edge& edge : edges) look(edge);  // beyond the bounds
    }
    const double distance = std::sqrt(nearest2);
    // On the line itself its normal; of a polygon, whose corners turn to the left, the outer one.
    if (distance == 0.0) return {0.0, -left_of(along.normalized())};
    const double sign = closed && inside ? -1.0 : 1.0;
    return {sign * distance, (sign / distance) * apart};
  }
  void add_corners(std::vector<Vec2>& list) const override {
    if (closed) list.insert(list.end(), points.begin(), points.end());
  }
};

// distance - by, or |distance| - by.
struct OffsetNode : Node {
  NodePointer of;
  double by;
  bool both_sides;
  OffsetNode(NodePointer node, double offset, bool both)
      : of(std::move(node)), by(offset), both_sides(both) {}
  Sample sample(const Vec2& p) const override {
    Sample s = of->sample(p);
    if (both_sides && s.distance < 0.0) s = {-s.distance, -s.gradient};
    s.distance -= by;
    return s;
  }
};

struct MovedNode : Node {
  NodePointer of;
  Vec2 by;
  MovedNode(NodePointer node, const Vec2& shift) : of(std::move(node)), by(shift) {}
  Sample sample(const Vec2& p) const override { return of->sample(p - by); }
  void add_corners(std::vector<Vec2>& list) const override {
    const std::size_t begin = list.size();
    of->add_corners(list);
    for (std::size_t k = begin; k < list.size(); ++k) list[k] += by;
  }
};

// max(sign_a a, sign_b b) times `sign`: intersection (1, 1, 1), difference (1, 1, -1), union (-1, -1, -1).
struct PairNode : Node {
  NodePointer a, b;
  double sign, sign_a, sign_b;
  PairNode(NodePointer first, NodePointer second, double s, double sa, double sb)
      : a(std::move(first)), b(std::move(second)), sign(s), sign_a(sa), sign_b(sb) {}
  Sample sample(const Vec2& p) const override {
    const Sample first = a->sample(p), second = b->sample(p);
    const bool take_first = sign_a * first.distance >= sign_b * second.distance;
    const double factor = sign * (take_first ? sign_a : sign_b);
    const Sample& taken = take_first ? first : second;
    return {factor * taken.distance, factor * taken.gradient};
  }
  void add_corners(std::vector<Vec2>& list) const override {
    a->add_corners(list);
    b->add_corners(list);
  }
};

Profile::Bounds grown(const Profile::Bounds& box, double by) {
  return {box.lower.array() - by, box.upper.array() + by};
}

Profile::Bounds around(const std::vector<Vec2>& points) {
  Profile::Bounds box{points.front(), points.front()};
  for (const Vec2& p : points) box = {box.lower.cwiseMin(p), box.upper.cwiseMax(p)};
  return box;
}

void check_points(const char* what, const std::vector<Vec2>& points, std::size_t least, bool closed) {
  require(points.size() >= least,
          fmt::format("a {} needs at least {} points: it has {}", what, least, points.size()));
  for (std::size_t i = 0; i < points.size(); ++i) {
    require(points[i].allFinite(), fmt::format("point {} of a {} is not finite", i, what));
    if (i == 0 && !closed) continue;
    const std::size_t before = i == 0 ? points.size() - 1 : i - 1;
    require(points[i] != points[before],
            fmt::format("points {} and {} of a {} are the same", before, i, what));
  }
}

}  // namespace

Profile::Profile(std::shared_ptr<const Node> node, const Bounds& bounds)
    : node_(std::move(node)), bounds_(bounds) {
  require((bounds_.upper.array() >= bounds_.lower.array()).all() && bounds_.upper != bounds_.lower,
          "a profile is empty: nothing is left of it");
}

Profile Profile::circle(const Vec2& center, double radius) {
  require(center.allFinite(), "centre of a circle is not finite");
  require(std::isfinite(radius) && radius > 0.0,
          fmt::format("radius of a circle is {}: it must be finite and > 0", radius));
  return {std::make_shared<CircleNode>(center, radius), grown({center, center}, radius)};
}

Profile Profile::polyline(std::vector<Vec2> points) {
  check_points("polyline", points, 2, false);
  const Bounds box = around(points);
  return {std::make_shared<ChainNode>(std::move(points), false, box), box};
}

Profile Profile::polygon(std::vector<Vec2> corners) {
  check_points("polygon", corners, 3, true);
  double area = 0.0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Vec2 &a = corners[i], &b = corners[(i + 1) % corners.size()];
    area += 0.5 * (a.x() * b.y() - a.y() * b.x());
  }
  require(area != 0.0, "a polygon has no area");
  if (area < 0.0) corners = {corners.rbegin(), corners.rend()};
  const Bounds box = around(corners);
  return {std::make_shared<ChainNode>(std::move(corners), true, box), box};
}

Profile Profile::rounded(double radius) const {
  require(std::isfinite(radius), fmt::format("rounding of a profile is {}: it must be finite", radius));
  return {std::make_shared<OffsetNode>(node_, radius, false), grown(bounds_, radius)};
}

Profile Profile::shell(double thickness) const {
  require(std::isfinite(thickness) && thickness > 0.0,
          fmt::format("thickness of a shell is {}: it must be finite and > 0", thickness));
  return {std::make_shared<OffsetNode>(node_, 0.5 * thickness, true), grown(bounds_, 0.5 * thickness)};
}

Profile Profile::moved(const Vec2& by) const {
  require(by.allFinite(), "a profile is moved by what is not finite");
  return {std::make_shared<MovedNode>(node_, by), {bounds_.lower + by, bounds_.upper + by}};
}

Profile unite(const Profile& a, const Profile& b) {
  return {std::make_shared<PairNode>(a.node_, b.node_, -1.0, -1.0, -1.0),
          {a.bounds_.lower.cwiseMin(b.bounds_.lower), a.bounds_.upper.cwiseMax(b.bounds_.upper)}};
}

Profile intersect(const Profile& a, const Profile& b) {
  return {std::make_shared<PairNode>(a.node_, b.node_, 1.0, 1.0, 1.0),
          {a.bounds_.lower.cwiseMax(b.bounds_.lower), a.bounds_.upper.cwiseMin(b.bounds_.upper)}};
}

Profile subtract(const Profile& a, const Profile& b) {
  return {std::make_shared<PairNode>(a.node_, b.node_, 1.0, 1.0, -1.0), a.bounds_};
}

std::vector<Vec2> Profile::corners() const {
  std::vector<Vec2> list;
  node_->add_corners(list);
  return list;
}

}  // namespace tribo
