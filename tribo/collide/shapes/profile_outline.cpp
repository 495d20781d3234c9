// Marching squares on a grid eight times as fine as the spacing, every crossing of a grid line found by bisection; then
// points that the chain does not need go (Douglas and Peucker), and long pieces are divided.
#include "tribo/collide/shapes/profile_outline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "tribo/base/errors.h"

namespace tribo::detail {

namespace {

using Chain = std::vector<Vec2>;

constexpr double kRefinement = 8.0;    // grid cells per spacing
constexpr double kFlatness = 0.01;     // largest sagitta of a piece, over the spacing
constexpr double kOnBoundary = 1e-12;  // m: a corner of a polygon this near is on the boundary
constexpr double kMostCells = 4e7;

class MarchingSquares {
 public:
  MarchingSquares(const Profile& profile, const Profile::Bounds& region, double step)
      : profile_(profile), origin_(region.lower) {
    const Vec2 width = region.upper - region.lower;
    const Vec2 cells(std::max(1.0, std::ceil(width.x() / step)), std::max(1.0, std::ceil(width.y() / step)));
    if (!(cells.prod() <= kMostCells))
      throw InvalidInput(
          fmt::format("the surface of a solid needs {:.2g} cells: choose a larger spacing", cells.prod()));
    columns_ = static_cast<Index>(cells.x()) + 1;
    rows_ = static_cast<Index>(cells.y()) + 1;
    step_ = width.cwiseQuotient(cells);
    last_ = region.upper;
    inside_.resize(static_cast<std::size_t>(columns_) * rows_);
    for (Index j = 0; j < rows_; ++j)
      for (Index i = 0; i < columns_; ++i) inside_[number(i, j)] = profile.sample(point(i, j)).distance < 0.0;
  }

  std::vector<Chain> run() {
    for (Index j = 0; j + 1 < rows_; ++j)
      for (Index i = 0; i + 1 < columns_; ++i) cross_cell(i, j);
    return link();
  }

 private:
  std::size_t number(Index i, Index j) const { return static_cast<std::size_t>(j) * columns_ + i; }
  // The last lines lie on the edge of the region, bit for bit.
  Vec2 point(Index i, Index j) const {
    return {i + 1 == columns_ ? last_.x() : origin_.x() + i * step_.x(),
            j + 1 == rows_ ? last_.y() : origin_.y() + j * step_.y()};
  }

  // Crossing of the grid line from corner a to corner b, one inside, one outside.
  Index crossing(std::size_t a, std::size_t b) {
    const auto key = std::minmax(a, b);
    const auto [at, fresh] = known_.try_emplace({key.first, key.second}, static_cast<Index>(points_.size()));
    if (!fresh) return at->second;
    const auto place = [&](std::size_t n) {
      return point(static_cast<Index>(n % columns_), static_cast<Index>(n / columns_));
    };
    Vec2 in = place(inside_[a] ? a : b), out = place(inside_[a] ? b : a);
    for (int k = 0; k < 60; ++k) {
      const Vec2 middle = 0.5 * (in + out);
      (profile_.sample(middle).distance < 0.0 ? in : out) = middle;
    }
    points_.push_back(0.5 * (in + out));
    return at->second;
  }

  void cross_cell(Index i, Index j) {
    const std::size_t corner[4] = {number(i, j), number(i + 1, j), number(i + 1, j + 1), number(i, j + 1)};
    bool in[4];
    int count = 0;
    for (int k = 0; k < 4; ++k) count += in[k] = inside_[corner[k]];
    if (count == 0 || count == 4) return;
    // Going round counter-clockwise the chain enters where the outside begins and leaves where it ends: so the solid is
    // on its left.
    Index begins[2], ends[2];
    int found_begins = 0, found_ends = 0, first_begin = 0, first_end = 0;
    for (int k = 0; k < 4; ++k) {
      const int next = (k + 1) % 4;
      if (in[k] == in[next]) continue;
      const Index vertex = crossing(corner[k], corner[next]);
      if (in[k]) {
        if (found_begins == 0) first_begin = k;
        begins[found_begins++] = vertex;
      } else {
        if (found_ends == 0) first_end = k;
        ends[found_ends++] = vertex;
      }
    }
    if (found_begins == 1) {
      pieces_[begins[0]] = ends[0];
      return;
    }
    // Two opposite corners are inside: joined or apart, as the middle says.
    const bool joined = profile_.sample(0.5 * (point(i, j) + point(i + 1, j + 1))).distance < 0.0;
    const bool straight = joined == (first_begin < first_end);
    pieces_[begins[0]] = ends[straight ? 0 : 1];
    pieces_[begins[1]] = ends[straight ? 1 : 0];
  }

  std::vector<Chain> link() {
    std::vector<bool> has_before(points_.size(), false);
    for (const auto& [from, to] : pieces_) has_before[static_cast<std::size_t>(to)] = true;
    std::vector<Chain> chains;
    const auto follow = [&](Index start) {
      Chain chain{points_[static_cast<std::size_t>(start)]};
      for (auto at = pieces_.find(start); at != pieces_.end();) {
        const Index to = at->second;
        pieces_.erase(at);
        const Vec2& p = points_[static_cast<std::size_t>(to)];
        if (p != chain.back()) chain.push_back(p);
        at = pieces_.find(to);
      }
      if (chain.size() > 2) chains.push_back(std::move(chain));
    };
    std::vector<Index> open;
    for (const auto& [from, to] : pieces_)
      if (!has_before[static_cast<std::size_t>(from)]) open.push_back(from);
    for (const Index start : open) follow(start);
    while (!pieces_.empty()) follow(pieces_.begin()->first);
    return chains;
  }

  const Profile& profile_;
  Vec2 origin_, step_ = Vec2::Zero(), last_ = Vec2::Zero();
  Index columns_ = 0, rows_ = 0;
  std::vector<char> inside_;
  std::vector<Vec2> points_;
  std::map<std::pair<std::size_t, std::size_t>, Index> known_;
  std::map<Index, Index> pieces_;  // from point to point
};

double distance_to_segment(const Vec2& p, const Vec2& a, const Vec2& b) {
  const Vec2 edge = b - a, d = p - a;
  const double square = edge.squaredNorm();
  const double t = square > 0.0 ? std::clamp(d.dot(edge) / square, 0.0, 1.0) : 0.0;
  return (d - t * edge).norm();
}

// Moves the points next to corners of the boundary there; `fixed` says which ones must stay.
void take_corners(const Profile& profile, double step, Chain& chain, std::vector<bool>& fixed) {
  fixed.assign(chain.size(), false);
  const bool closed = chain.front() == chain.back();
  if (!closed) fixed.front() = fixed.back() = true;
  for (const Vec2& corner : profile.corners()) {
    if (std::abs(profile.sample(corner).distance) > kOnBoundary) continue;
    std::size_t best = 0;
    double nearest = 2.0 * step;
    for (std::size_t k = closed ? 0 : 1; k + 1 < chain.size(); ++k) {
      const double apart = (chain[k] - corner).norm();
      if (fixed[k] || apart >= nearest) continue;
      nearest = apart;
      best = k + 1;
    }
    if (best == 0) continue;
    chain[best - 1] = corner;
    fixed[best - 1] = true;
  }
  if (closed) {
    chain.back() = chain.front();
    fixed.back() = fixed.front();
  }
}

void mark_needed(const Chain& chain, std::size_t first, std::size_t last, double flatness,
                 std::vector<bool>& needed) {
  std::vector<std::pair<std::size_t, std::size_t>> ranges{{first, last}};
  while (!ranges.empty()) {
    const auto [a, b] = ranges.back();
    ranges.pop_back();
    std::size_t farthest = a;
    double most = flatness;
    for (std::size_t k = a + 1; k < b; ++k) {
      const double apart = distance_to_segment(chain[k], chain[a], chain[b]);
      if (apart > most) most = apart, farthest = k;
    }
    if (farthest == a) continue;
    needed[farthest] = true;
    ranges.push_back({a, farthest});
    ranges.push_back({farthest, b});
  }
}

Vec2 onto_boundary(const Profile& profile, Vec2 p) {
  for (int k = 0; k < 4; ++k) {
    const Profile::Sample s = profile.sample(p);
    p -= s.distance * s.gradient;
  }
  return p;
}

Chain simplified(const Profile& profile, Chain chain, double spacing) {
  std::vector<bool> needed;
  take_corners(profile, spacing / kRefinement, chain, needed);
  needed.front() = needed.back() = true;
  if (chain.front() == chain.back()) needed[chain.size() / 2] = true;
  std::size_t before = 0;
  const std::vector<bool> fixed = needed;
  for (std::size_t k = 1; k < chain.size(); ++k) {
    if (!fixed[k]) continue;
    mark_needed(chain, before, k, kFlatness * spacing, needed);
    before = k;
  }
  Chain result{chain.front()};
  for (std::size_t k = 1; k < chain.size(); ++k) {
    if (!needed[k]) continue;
    const Vec2 from = result.back();
    const double length = (chain[k] - from).norm();
    if (length < 1e-9 * spacing) continue;
    const int pieces = std::max(1, static_cast<int>(std::ceil(length / spacing - 1e-9)));
    for (int piece = 1; piece < pieces; ++piece) {
      const Vec2 between = from + (static_cast<double>(piece) / pieces) * (chain[k] - from);
      const Vec2 moved = onto_boundary(profile, between);
      result.push_back((moved - between).norm() < 0.1 * length ? moved : between);
    }
    result.push_back(chain[k]);
  }
  return result;
}

}  // namespace

std::vector<std::vector<Vec2>> outline(const Profile& profile, const Profile::Bounds& region,
                                       double spacing) {
  std::vector<Chain> chains = MarchingSquares(profile, region, spacing / kRefinement).run();
  for (Chain& chain : chains) chain = simplified(profile, std::move(chain), spacing);
  return chains;
}

}  // namespace tribo::detail
