// Grows a polytope inside a - b around the origin: the support point beyond its nearest face is added until there
// is none farther out than the face. Faces and vertices live in fixed arrays; a full one ends the search with the
// best face so far. Cost: faces x steps; 5 to 10 steps for polytopes, up to the limit for smooth shapes.
#include "tribo/collide/narrow/epa.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tribo::detail {

namespace {

constexpr int max_vertices = 68, max_faces = 2 * max_vertices, max_horizon = max_faces;
// Of the scale. Where both surfaces are smooth Newton's method finishes the work.
constexpr double round_tolerance = 1e-3, smooth_tolerance = 1e-6, flat_tolerance = 1e-12;

struct EpaFace {
  std::array<int, 3> v;
  Vec3 normal;
  double distance;
};

class Polytope {
 public:
  explicit Polytope(const CorePair& pair) : pair_(pair) {}

  // Fills up to a tetrahedron with volume; false: a - b is flat, `flat_normal` tells where.
  bool begin(const Simplex& simplex, Vec3& flat_normal);
  // One step; false: finished.
  bool expand(double tolerance);
  const EpaFace& nearest() const { return faces_[nearest_]; }
  const SupportPoint& vertex(int k) const { return vertices_[k]; }

 private:
  bool add_beyond(const Vec3& direction);
  bool add_face(int i, int j, int k);
  void find_nearest();
  int cut_horizon(const Vec3& w, std::array<std::array<int, 2>, max_horizon>& horizon);

  const CorePair& pair_;
  std::array<SupportPoint, max_vertices> vertices_;
  std::array<EpaFace, max_faces> faces_;
  int vertex_count_ = 0, face_count_ = 0, nearest_ = 0;
};

double extent(const CorePair& pair) { return pair.a.scale + pair.b.scale; }

// Adds a support point along +-direction that leaves the span of the present ones.
bool Polytope::add_beyond(const Vec3& direction) {
  for (const double side : {1.0, -1.0}) {
    const SupportPoint point = pair_.support(side * direction);
    const Vec3 d = point.w - vertices_[0].w;
    double away = 0.0;
    if (vertex_count_ == 1) {
      away = d.norm();
    } else if (vertex_count_ == 2) {
      const Vec3 axis = (vertices_[1].w - vertices_[0].w).normalized();
      away = (d - axis.dot(d) * axis).norm();
    } else {
      const Vec3 u = vertices_[1].w - vertices_[0].w, v = vertices_[2].w - vertices_[0].w;
      away = std::abs(u.cross(v).normalized().dot(d));
    }
    if (away <= 1e-9 * extent(pair_)) continue;
    vertices_[vertex_count_++] = point;
    return true;
  }
  return false;
}

bool Polytope::begin(const Simplex& simplex, Vec3& flat_normal) {
  vertex_count_ = 0;
  for (int k = 0; k < simplex.count; ++k) vertices_[vertex_count_++] = simplex.points[k];
  if (vertex_count_ == 4) {
    const Vec3& p = vertices_[0].w;
    const Vec3 normal = (vertices_[1].w - p).cross(vertices_[2].w - p);
    const double height = std::abs(normal.dot(vertices_[3].w - p));
    if (height <= 1e-12 * extent(pair_) * normal.norm()) vertex_count_ = 3;
  }
  if (vertex_count_ == 3) {
    const Vec3 u = vertices_[1].w - vertices_[0].w, v = vertices_[2].w - vertices_[0].w;
    if (u.cross(v).norm() <= 1e-9 * u.norm() * v.norm()) vertex_count_ = 2;
  }
  if (vertex_count_ == 2 && (vertices_[1].w - vertices_[0].w).norm() <= 1e-9 * extent(pair_))
    vertex_count_ = 1;
  flat_normal = Vec3::UnitZ();
  if (vertex_count_ == 1)
    for (int k = 0; k < 3 && vertex_count_ == 1; ++k) add_beyond(Vec3::Unit(k));
  if (vertex_count_ == 1) return false;
  if (vertex_count_ == 2) {
    Vec3 t1, t2;
    tangents((vertices_[1].w - vertices_[0].w).normalized(), t1, t2);
    flat_normal = t1;
    if (!add_beyond(t1) && !add_beyond(t2)) return false;
  }
  if (vertex_count_ == 3) {
    const Vec3 u = vertices_[1].w - vertices_[0].w, v = vertices_[2].w - vertices_[0].w;
    flat_normal = u.cross(v).normalized();
    if (!add_beyond(flat_normal)) return false;
  }
  const Vec3& p = vertices_[0].w;
  if ((vertices_[1].w - p).cross(vertices_[2].w - p).dot(vertices_[3].w - p) > 0.0)
    std::swap(vertices_[1], vertices_[2]);
  face_count_ = 0;
  const bool solid = add_face(0, 1, 2) && add_face(0, 3, 1) && add_face(0, 2, 3) && add_face(1, 3, 2);
  if (solid) find_nearest();
  return solid;
}

bool Polytope::add_face(int i, int j, int k) {
  const Vec3 &p = vertices_[i].w, &q = vertices_[j].w, &r = vertices_[k].w;
  const Vec3 normal = (q - p).cross(r - p);
  const double length = normal.norm();
  if (!(length > 0.0)) return false;
  EpaFace& face = faces_[face_count_++];
  face.v = {i, j, k};
  face.normal = normal / length;
  face.distance = face.normal.dot(p);
  return true;
}

void Polytope::find_nearest() {
  nearest_ = 0;
  for (int f = 1; f < face_count_; ++f)
    if (faces_[f].distance < faces_[nearest_].distance) nearest_ = f;
}

// Removes the faces seen from w; their outer edges, in order of the faces, remain.
int Polytope::cut_horizon(const Vec3& w, std::array<std::array<int, 2>, max_horizon>& horizon) {
  int edges = 0, kept = 0;
  const double tiny = 1e-14 * extent(pair_);
  for (int f = 0; f < face_count_; ++f) {
    const EpaFace& face = faces_[f];
    if (f != nearest_ && face.normal.dot(w) - face.distance <= tiny) {
      if (kept != f) faces_[kept] = face;
      ++kept;
      continue;
    }
    const std::array<int, 3> v = face.v;
    for (int e = 0; e < 3; ++e) {
      const int from = v[e], to = v[(e + 1) % 3];
      int twin = 0;
      while (twin < edges && (horizon[twin][0] != to || horizon[twin][1] != from)) ++twin;
      if (twin < edges)
        horizon[twin] = horizon[--edges];
      else if (edges < max_horizon)
        horizon[edges++] = {from, to};
    }
  }
  face_count_ = kept;
  return edges;
}

bool Polytope::expand(double tolerance) {
  const EpaFace nearest = faces_[nearest_];
  if (vertex_count_ == max_vertices) return false;
  const SupportPoint next = pair_.support(nearest.normal);
  if (next.w.dot(nearest.normal) - nearest.distance <= tolerance) return false;
  for (const int k : nearest.v)
    if (vertices_[k].w == next.w) return false;
  std::array<std::array<int, 2>, max_horizon> horizon;
  const int edges = cut_horizon(next.w, horizon);
  const int vertex = vertex_count_;
  vertices_[vertex_count_++] = next;
  bool sound = edges >= 3 && face_count_ + edges <= max_faces;
  for (int e = 0; e < edges && sound; ++e) sound = add_face(horizon[e][0], horizon[e][1], vertex);
  if (!sound || face_count_ == 0) {  // rounding spoilt the polytope: the last face is the best answer
    faces_[0] = nearest;
    face_count_ = 1;
    nearest_ = 0;
    return false;
  }
  find_nearest();
  return true;
}

}  // namespace

Penetration penetration(const CorePair& pair, const Simplex& simplex) {
  Penetration result;
  Polytope polytope(pair);
  Vec3 flat_normal;
  if (!polytope.begin(simplex, flat_normal)) {
    if (flat_normal.dot(pair.offset) < 0.0) flat_normal = -flat_normal;
    result.normal = flat_normal;
    result.depth = -pair.separation(flat_normal);
    result.witness = simplex;
    result.witness.count = 1;
    result.witness.weights[0] = 1.0;
    return result;
  }
  const bool smooth = pair.a.smooth() || pair.b.smooth(), round = pair.a.round() && pair.b.round();
  const double tolerance = (round    ? round_tolerance
                            : smooth ? smooth_tolerance
                                     : flat_tolerance) *
                           extent(pair);
  while (polytope.expand(tolerance)) {
  }
  const EpaFace& face = polytope.nearest();
  result.normal = face.normal;
  result.depth = face.distance;
  result.witness.count = 3;
  for (int k = 0; k < 3; ++k) result.witness.points[k] = polytope.vertex(face.v[k]);
  // Barycentric coordinates of the origin's projection, kept in the triangle.
  const Vec3 foot = face.distance * face.normal;
  const Vec3 &p = result.witness.points[0].w, &q = result.witness.points[1].w,
             &r = result.witness.points[2].w;
  const Vec3 area = (q - p).cross(r - p);
  double wq = std::max(0.0, (foot - p).cross(r - p).dot(area)),
         wr = std::max(0.0, (q - p).cross(foot - p).dot(area));
  double wp = std::max(0.0, area.squaredNorm() - wq - wr);
  const double sum = wp + wq + wr;
  result.witness.weights = {wp / sum, wq / sum, wr / sum, 0.0};
  return result;
}

}  // namespace tribo::detail
