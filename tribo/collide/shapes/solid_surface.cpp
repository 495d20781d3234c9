#include "tribo/collide/shapes/solid_surface.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include "tribo/collide/shapes/profile_outline.h"

namespace tribo::detail {

namespace {

constexpr double kTurn = 2.0 * std::numbers::pi;
constexpr int kFewestSides = 24, kMostSides = 720;  // of what is round

int sides_around(double radius, double spacing) {
  return std::clamp(static_cast<int>(std::ceil(kTurn * radius / spacing)), kFewestSides, kMostSides);
}

// Two triangles of a b c d, along the shorter diagonal.
void add_quad(Triangles& t, Index a, Index b, Index c, Index d) {
  const double ac = (t.vertices[a] - t.vertices[c]).squaredNorm();
  const double bd = (t.vertices[b] - t.vertices[d]).squaredNorm();
  const auto add = [&](Index i, Index j, Index k) {
    if (i != j && j != k && k != i) t.faces.push_back({i, j, k});
  };
  if (ac <= bd) {
    add(a, b, c), add(a, c, d);
  } else {
    add(a, b, d), add(b, c, d);
  }
}

// A face of the figure at height z: rings of its outline shrunk towards the middle. `up`: which way it looks.
bool add_end_face(Triangles& t, const std::vector<Vec2>& outline, double z, bool up, double spacing) {
  Vec2 middle = Vec2::Zero();
  const std::size_t count = outline.size() - 1;
  for (std::size_t k = 0; k < count; ++k) middle += outline[k] / static_cast<double>(count);
  double farthest = 0.0;
  for (std::size_t k = 0; k < count; ++k) {
    const Vec2 a = outline[k] - middle, b = outline[k + 1] - middle;
    if (a.x() * b.y() - a.y() * b.x() <= 0.0) return false;
    farthest = std::max(farthest, a.norm());
  }
  const int rings = std::max(1, static_cast<int>(std::ceil(farthest / spacing)));
  const auto first = static_cast<Index>(t.vertices.size());
  t.vertices.emplace_back(middle.x(), middle.y(), z);
  for (int r = 1; r <= rings; ++r)
    for (std::size_t k = 0; k < count; ++k) {
      const Vec2 p = middle + (static_cast<double>(r) / rings) * (outline[k] - middle);
      t.vertices.emplace_back(p.x(), p.y(), z);
    }
  const auto at = [&](int r, std::size_t k) {
    return r == 0 ? first : first + 1 + static_cast<Index>((r - 1) * count + k % count);
  };
  for (int r = 0; r < rings; ++r)
    for (std::size_t k = 0; k < count; ++k) {
      const Index a = at(r, k), b = at(r + 1, k), c = at(r + 1, k + 1), d = at(r, k + 1);
      up ? add_quad(t, a, b, c, d) : add_quad(t, d, c, b, a);
    }
  return true;
}

// From one surface to the other and back, which ends where they meet unless they are nearly parallel.
Vec3 onto_both(const Vec3& begin, const Solid::Node& a, const Solid::Node& b) {
  const double allowed = 2.0 * (std::abs(a.sample(begin).distance) + std::abs(b.sample(begin).distance));
  Vec3 p = begin;
  for (int k = 0; k < 100; ++k) {
    const Solid::Sample from_a = a.sample(p);
    p -= from_a.distance * from_a.gradient;
    const Solid::Sample from_b = b.sample(p);
    p -= from_b.distance * from_b.gradient;
    if (std::abs(from_a.distance) + std::abs(from_b.distance) < 1e-15) break;
  }
  return (p - begin).norm() <= 4.0 * allowed ? p : begin;
}

}  // namespace

Triangles revolved_surface(const Profile& figure, double spacing) {
  const double room = 0.5 * spacing;
  const Profile::Bounds& box = figure.bounds();
  const Profile::Bounds region{{0.0, box.lower.y() - room}, {box.upper.x() + room, box.upper.y() + room}};
  const int sides = sides_around(box.upper.x(), spacing);
  std::vector<Vec2> circle;
  for (int k = 0; k < sides; ++k)
    circle.emplace_back(std::cos(kTurn * k / sides), std::sin(kTurn * k / sides));
  Triangles t;
  for (const std::vector<Vec2>& chain : outline(figure, region, spacing)) {
    const bool closed = chain.front() == chain.back();
    std::vector<Index> first;  // of the ring of every point of the chain
    for (std::size_t p = 0; p + (closed ? 1 : 0) < chain.size(); ++p) {
      first.push_back(static_cast<Index>(t.vertices.size()));
      if (chain[p].x() <= 0.0) {
        t.vertices.emplace_back(0.0, 0.0, chain[p].y());
        continue;
      }
      for (const Vec2& c : circle)
        t.vertices.emplace_back(chain[p].x() * c.x(), chain[p].x() * c.y(), chain[p].y());
    }
    if (closed) first.push_back(first.front());
    for (std::size_t p = 0; p + 1 < chain.size(); ++p)
      for (int k = 0; k < sides; ++k) {
        const auto corner = [&](std::size_t q, int side) {
          return first[q] + (chain[q].x() <= 0.0 ? 0 : side % sides);
        };
        // The solid is on the left of the chain in the plane (rho, z): outside is on the right.
        add_quad(t, corner(p, k), corner(p, k + 1), corner(p + 1, k + 1), corner(p + 1, k));
      }
  }
  return t;
}

Triangles prism_surface(const Profile& figure, double half_height, double spacing) {
  const Vec2 room = Vec2::Constant(0.5 * spacing);
  const Profile::Bounds& box = figure.bounds();
  Triangles t;
  const int layers = std::max(1, static_cast<int>(std::ceil(2.0 * half_height / spacing)));
  const auto chains = outline(figure, {box.lower - room, box.upper + room}, spacing);
  if (chains.size() != 1) return {};
  for (const std::vector<Vec2>& chain : chains) {
    if (!add_end_face(t, chain, -half_height, false, spacing)) return {};
    add_end_face(t, chain, half_height, true, spacing);
    const auto count = static_cast<Index>(chain.size()) - 1;
    const auto first = static_cast<Index>(t.vertices.size());
    for (int layer = 0; layer <= layers; ++layer)
      for (Index k = 0; k < count; ++k)
        t.vertices.emplace_back(chain[k].x(), chain[k].y(), half_height * (2.0 * layer / layers - 1.0));
    for (int layer = 0; layer < layers; ++layer)
      for (Index k = 0; k < count; ++k) {
        const Index low = first + layer * count, next = (k + 1) % count;
        add_quad(t, low + k, low + next, low + count + next, low + count + k);
      }
  }
  return t;
}

Triangles helix_surface(const Profile& figure, double lead, double inner, double reach, double spacing) {
  const Profile::Bounds& box = figure.bounds();
  const Profile::Bounds region{{inner, -0.5 * lead}, {box.upper.x() + 0.5 * spacing, 0.5 * lead}};
  const int sides = sides_around(box.upper.x(), spacing);
  const int turns = static_cast<int>(std::ceil(reach / lead)) + 1;
  const int steps = 2 * turns * sides;
  Triangles t;
  for (const std::vector<Vec2>& chain : outline(figure, region, spacing)) {
    const bool closed = chain.front() == chain.back();
    // An open chain runs from one end of the lead to the other and goes on in the next turn.
    const auto count = static_cast<Index>(chain.size()) - 1;
    const bool rises = chain.back().y() > chain.front().y();
    const auto first = static_cast<Index>(t.vertices.size());
    const int extra = closed ? 0 : sides;
    for (int s = 0; s <= steps + extra; ++s) {
      const double angle = kTurn * s / sides, lift = lead * (static_cast<double>(s) / sides - turns);
      for (Index k = 0; k < count; ++k)
        t.vertices.emplace_back(chain[k].x() * std::cos(angle), chain[k].x() * std::sin(angle),
                                chain[k].y() + lift);
    }
    // Point `count` of an open chain is point 0 of the next turn, or of the one before.
    const auto at = [&](int s, Index k) {
      if (k < count) return first + s * count + k;
      return first + (closed ? s : rises ? s + sides : s - sides) * count;
    };
    for (int s = closed || rises ? 0 : sides; s < steps; ++s)
      for (Index k = 0; k < count; ++k) add_quad(t, at(s, k), at(s + 1, k), at(s + 1, k + 1), at(s, k + 1));
  }
  return t;
}

void add_part(const Triangles& surface, const Solid::Node& own, const Solid::Node& other, double side,
              bool inside_out, Triangles& into) {
  const auto value = [&](const Vec3& p) { return side * other.sample(p).distance; };
  std::vector<double> values;
  values.reserve(surface.vertices.size());
  for (const Vec3& v : surface.vertices) values.push_back(value(v));
  std::vector<Index> number(surface.vertices.size(), -1);
  std::map<std::pair<Index, Index>, Index> cuts;
  const auto kept = [&](Index v) {
    if (number[v] < 0) {
      number[v] = static_cast<Index>(into.vertices.size());
      into.vertices.push_back(surface.vertices[v]);
    }
    return number[v];
  };
  const auto cut = [&](Index in, Index out) {
    const auto [at, fresh] = cuts.try_emplace(std::minmax(in, out), static_cast<Index>(into.vertices.size()));
    if (fresh) {
      Vec3 a = surface.vertices[in], b = surface.vertices[out];
      for (int k = 0; k < 50; ++k) {
        const Vec3 middle = 0.5 * (a + b);
        (value(middle) > 0.0 ? a : b) = middle;
      }
      into.vertices.push_back(onto_both(0.5 * (a + b), own, other));
    }
    return at->second;
  };
  for (const auto& face : surface.faces) {
    Index corners[4];
    int count = 0;
    for (int k = 0; k < 3; ++k) {
      const Index v = face[k], next = face[(k + 1) % 3];
      const bool in = values[v] > 0.0, next_in = values[next] > 0.0;
      if (in) corners[count++] = kept(v);
      if (in != next_in) corners[count++] = in ? cut(v, next) : cut(next, v);
    }
    for (int k = 2; k < count; ++k) {
      Index b = corners[k - 1], c = corners[k];
      if (inside_out) std::swap(b, c);
      into.faces.push_back({corners[0], b, c});
    }
  }
}

}  // namespace tribo::detail
