// Quickhull: every triangle keeps the points that lie outside of it; the farthest one replaces all triangles it
// sees by a fan over their outer edge, and the fan takes over their points. A point whose outer edge is no simple
// loop (rounding) is left out. Cost: about n log n.
#include "tribo/collide/shapes/quickhull.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "tribo/base/errors.h"

namespace tribo::detail {

namespace {

struct Face {
  HullTriangle triangle;
  double offset;
  Index first_outside = -1;  // list through next_
  bool alive = true, seen = false;
};

class Quickhull {
 public:
  Quickhull(std::span<const Vec3> points, double tolerance)
      : points_(points), tolerance_(tolerance), next_(points.size(), -1), fan_(points.size(), -1) {}

  std::vector<HullTriangle> run() {
    start();
    while (!open_.empty()) {
      const Index face = open_.back();
      if (!faces_[face].alive || faces_[face].first_outside < 0)
        open_.pop_back();
      else
        insert(face);
    }
    return collect();
  }

 private:
  struct HorizonEdge {
    Index from, to, behind;
  };

  double height(const Face& face, Index p) const {
    return face.triangle.normal.dot(points_[p]) - face.offset;
  }

  Index add_face(Index i, Index j, Index k) {
    Face face;
    face.triangle.vertices = {i, j, k};
    face.triangle.neighbours = {-1, -1, -1};
    const Vec3 cross = (points_[j] - points_[i]).cross(points_[k] - points_[i]);
    const double length = cross.norm();
    face.triangle.normal = length > 0.0 ? Vec3(cross / length) : Vec3(Vec3::Zero());
    face.offset = face.triangle.normal.dot(points_[i]);
    faces_.push_back(face);
    return static_cast<Index>(faces_.size()) - 1;
  }

  void start();
  void insert(Index face);
  bool find_horizon(Index face, Index apex);
  void distribute(std::span<const Index> orphans, Index first_new);
  std::vector<HullTriangle> collect() const;

  std::span<const Vec3> points_;
  double tolerance_;
  std::vector<Face> faces_;
  std::vector<Index> next_, fan_, open_, seen_, orphans_;
  std::vector<HorizonEdge> horizon_;
};

// Four points that span the largest volume found along the way.
void Quickhull::start() {
  const auto count = static_cast<Index>(points_.size());
  const auto farthest = [&](auto&& measure) {
    Index best = 0;
    double value = -1.0;
    for (Index p = 0; p < count; ++p) {
      const double m = measure(points_[p]);
      if (m > value) value = m, best = p;
    }
    return best;
  };
  const Index a = farthest([&](const Vec3& p) { return (p - points_[0]).squaredNorm(); });
  const Index b = farthest([&](const Vec3& p) { return (p - points_[a]).squaredNorm(); });
  const Vec3 axis = (points_[b] - points_[a]).normalized();
  const Index c = farthest([&](const Vec3& p) { return (p - points_[a]).cross(axis).squaredNorm(); });
  const Vec3 normal = axis.cross(points_[c] - points_[a]).normalized();
  const Index d = farthest([&](const Vec3& p) { return std::abs(normal.dot(p - points_[a])); });
  const double volume = normal.dot(points_[d] - points_[a]);
  if (!(std::abs(volume) > 10.0 * tolerance_) || !normal.allFinite())
    throw InvalidInput(
        "the points of a convex hull lie in one plane: a hull needs points that span a volume");
  const Index i = a, j = volume > 0.0 ? c : b, k = volume > 0.0 ? b : c;
  add_face(i, j, k);
  add_face(i, d, j);
  add_face(j, d, k);
  add_face(k, d, i);
  faces_[0].triangle.neighbours = {1, 2, 3};
  faces_[1].triangle.neighbours = {3, 2, 0};
  faces_[2].triangle.neighbours = {1, 3, 0};
  faces_[3].triangle.neighbours = {2, 1, 0};
  for (Index p = 0; p < count; ++p)
    if (p != i && p != j && p != k && p != d) orphans_.push_back(p);
  distribute(orphans_, 0);
}

// Each point goes to the new face it is farthest outside of.
void Quickhull::distribute(std::span<const Index> orphans, Index first_new) {
  for (const Index p : orphans) {
    Index best = -1;
    double most = tolerance_;
    for (Index f = first_new; f < static_cast<Index>(faces_.size()); ++f) {
      const double h = height(faces_[f], p);
      if (h > most) most = h, best = f;
    }
    if (best < 0) continue;
    next_[p] = faces_[best].first_outside;
    faces_[best].first_outside = p;
  }
  for (Index f = static_cast<Index>(faces_.size()) - 1; f >= first_new; --f)
    if (faces_[f].first_outside >= 0) open_.push_back(f);
}

// The faces the apex sees, connected to `face`, and the edges around them; false if these are no simple loop.
bool Quickhull::find_horizon(Index face, Index apex) {
  seen_.assign(1, face);
  horizon_.clear();
  faces_[face].seen = true;
  for (std::size_t s = 0; s < seen_.size(); ++s) {
    const HullTriangle triangle = faces_[seen_[s]].triangle;
    for (int e = 0; e < 3; ++e) {
      const Index other = triangle.neighbours[e];
      if (faces_[other].seen) continue;
      if (height(faces_[other], apex) > tolerance_ * 0.1) {
        faces_[other].seen = true;
        seen_.push_back(other);
      }
    }
  }
  for (const Index s : seen_)
    for (int e = 0; e < 3; ++e) {
      const HullTriangle& triangle = faces_[s].triangle;
      if (!faces_[triangle.neighbours[e]].seen)
        horizon_.push_back({triangle.vertices[e], triangle.vertices[(e + 1) % 3], triangle.neighbours[e]});
    }
  bool simple = horizon_.size() >= 3;
  for (const HorizonEdge& edge : horizon_) {
    simple = simple && fan_[edge.from] < 0;
    fan_[edge.from] = edge.to;
  }
  std::size_t length = 0;
  if (simple) {
    const Index begin = horizon_[0].from;
    for (Index v = begin; length <= horizon_.size();) {
      v = fan_[v];
      ++length;
      if (v < 0 || v == begin) break;
    }
  }
  for (const HorizonEdge& edge : horizon_) fan_[edge.from] = -1;
  return simple && length == horizon_.size();
}

void Quickhull::insert(Index face) {
  Index apex = -1, before_apex = -1;
  double most = -1.0;
  for (Index p = faces_[face].first_outside, before = -1; p >= 0; before = p, p = next_[p]) {
    const double h = height(faces_[face], p);
    if (h > most) most = h, apex = p, before_apex = before;
  }
  (before_apex < 0 ? faces_[face].first_outside : next_[before_apex]) = next_[apex];
  const bool simple = find_horizon(face, apex);
  for (const Index s : seen_) faces_[s].seen = false;
  if (!simple) return;

  orphans_.clear();
  for (const Index s : seen_) {
    faces_[s].alive = false;
    for (Index p = faces_[s].first_outside; p >= 0; p = next_[p]) orphans_.push_back(p);
    faces_[s].first_outside = -1;
  }
  const auto first_new = static_cast<Index>(faces_.size());
  for (const HorizonEdge& edge : horizon_) {
    const Index f = add_face(edge.from, edge.to, apex);
    faces_[f].triangle.neighbours[0] = edge.behind;
    for (int e = 0; e < 3; ++e) {
      HullTriangle& behind = faces_[edge.behind].triangle;
      if (behind.vertices[e] == edge.to && behind.vertices[(e + 1) % 3] == edge.from)
        behind.neighbours[e] = f;
    }
    fan_[edge.from] = f;
  }
  for (auto f = first_new; f < static_cast<Index>(faces_.size()); ++f) {
    const Index next = fan_[faces_[f].triangle.vertices[1]];
    faces_[f].triangle.neighbours[1] = next;
    faces_[next].triangle.neighbours[2] = f;
  }
  for (const HorizonEdge& edge : horizon_) fan_[edge.from] = -1;
  distribute(orphans_, first_new);
}

std::vector<HullTriangle> Quickhull::collect() const {
  std::vector<Index> number(faces_.size(), -1);
  std::vector<HullTriangle> result;
  for (std::size_t f = 0; f < faces_.size(); ++f) {
    if (!faces_[f].alive) continue;
    number[f] = static_cast<Index>(result.size());
    result.push_back(faces_[f].triangle);
  }
  for (HullTriangle& triangle : result)
    for (Index& neighbour : triangle.neighbours) neighbour = number[neighbour];
  return result;
}

}  // namespace

std::vector<HullTriangle> quickhull(std::span<const Vec3> points, double tolerance) {
  return Quickhull(points, tolerance).run();
}

}  // namespace tribo::detail
