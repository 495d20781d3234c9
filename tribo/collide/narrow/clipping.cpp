// Sutherland-Hodgman clipping of the projections, with the origin of every corner kept: a corner of the result is
// a vertex of a, a vertex of b (where two clipping edges meet) or the crossing of two edges. Cost: the product of
// the vertex counts.
#include "tribo/collide/narrow/clipping.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace tribo::detail {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// A face that looks sideways has no height over the tangent plane.
constexpr double least_cosine = 0.05;
constexpr double snap_fraction = 1e-3;

// Which edge of which facet; edges of b are numbered from Facet::capacity on.
struct Corner {
  Vec2 at;
  int edge;    // the edge that starts here
  int vertex;  // >= 0: vertex of a (below capacity) or of b; -1: a crossing of edges `edge` and `other`
  int other;
};

struct Outline {
  int count = 0;
  std::array<Vec2, Facet::capacity> points;
  std::array<int, Facet::capacity> source;  // index in the facet

  double smallest_edge2() const {
    double smallest = infinity;
    for (int k = 0; k < count; ++k)
      smallest = std::min(smallest, (points[(k + 1) % count] - points[k]).squaredNorm());
    return smallest;
  }
};

// The frame of the projection: origin + x t1 + y t2 + z normal.
struct Projection {
  Vec3 origin, normal, t1, t2;

  // `reverse`: the face looks against the normal, so that its vertices turn the other way round.
  void outline(const Facet& facet, bool reverse, Outline& result) const {
    result.count = facet.count;
    for (int k = 0; k < facet.count; ++k) {
      const int source = reverse ? facet.count - 1 - k : k;
      const Vec3 d = facet.vertices[source] - origin;
      result.points[k] = Vec2(t1.dot(d), t2.dot(d));
      result.source[k] = source;
    }
  }
};

// Height z of a facet over the tangent plane as c + g . (x, y).
struct HeightMap {
  double constant;
  Vec2 slope;
  double at(const Vec2& p) const { return constant + slope.dot(p); }
};

HeightMap height_of_face(const Facet& facet, const Projection& frame) {
  const double cosine = facet.normal.dot(frame.normal);
  const double constant = facet.normal.dot(facet.vertices[0] - frame.origin) / cosine;
  return {constant, -Vec2(facet.normal.dot(frame.t1), facet.normal.dot(frame.t2)) / cosine};
}

HeightMap height_of_edge(const Facet& facet, const Projection& frame) {
  const Vec3 d = facet.vertices[1] - facet.vertices[0], start = facet.vertices[0] - frame.origin;
  const Vec2 run(frame.t1.dot(d), frame.t2.dot(d));
  const double length2 = run.squaredNorm(), rise = frame.normal.dot(d);
  const Vec2 slope = length2 > 0.0 ? Vec2(run * (rise / length2)) : Vec2(Vec2::Zero());
  const Vec2 base(frame.t1.dot(start), frame.t2.dot(start));
  return {frame.normal.dot(start) - slope.dot(base), slope};
}

double cross(const Vec2& x, const Vec2& y) { return x.x() * y.y() - x.y() * y.x(); }

using Polygon = std::array<Corner, 2 * Facet::capacity + 4>;

// Cuts the polygon by the line through edge j of b (inside: left of it). Returns the new count.
int cut(const Polygon& in, int count, const Outline& b, int j, Polygon& out) {
  const Vec2 start = b.points[j], direction = b.points[(j + 1) % b.count] - start;
  const int line = Facet::capacity + j;
  int result = 0;
  const auto side = [&](const Corner& c) { return cross(direction, c.at - start); };
  double d0 = side(in[0]);
  for (int k = 0; k < count; ++k) {
    const Corner &from = in[k], &to = in[k + 1 < count ? k + 1 : 0];
    const double d1 = side(to);
    if (d0 >= 0.0) out[result++] = from;
    if ((d0 >= 0.0) != (d1 >= 0.0)) {
      const Vec2 at = from.at + (d0 / (d0 - d1)) * (to.at - from.at);
      // Leaving: the new edge runs along the line of b; entering: the old edge goes on.
      const bool leaving = d0 >= 0.0;
      const int new_edge = leaving ? line : from.edge;
      int vertex = -1;
      if (from.edge >= Facet::capacity) {
        const int i = from.edge - Facet::capacity;
        vertex = Facet::capacity + (i == (j + 1) % b.count ? i : j);
      }
      out[result++] = {at, new_edge, vertex, leaving ? from.edge : line};
    }
    d0 = d1;
  }
  return result;
}

std::uint32_t edge_label(std::uint32_t i, std::uint32_t j) {
  return (std::min(i, j) * 193u + std::max(i, j)) & 0x7fffu;
}

// Turns corners into contact points.
struct Emitter {
  const Facet &a, &b;
  const Outline &outline_a, &outline_b;
  const Projection& frame;
  HeightMap height_a, height_b;
  double snap2, margin;
  std::vector<ContactPoint>& points;
  std::size_t begin;
  double lowest = infinity;

  std::uint32_t id_a(int k) const { return a.ids[outline_a.source[k]]; }
  std::uint32_t id_b(int k) const { return b.ids[outline_b.source[k]]; }

  std::uint32_t crossing(int edge, int other) const {
    int i = std::min(edge, other), j = std::max(edge, other) - Facet::capacity;
    if (i >= Facet::capacity) i -= Facet::capacity;  // two edges of b that are not neighbours
    j = std::max(j, 0);
    const std::uint32_t on_a = edge_label(id_a(i % a.count), id_a((i + 1) % a.count));
    const std::uint32_t on_b = edge_label(id_b(j % b.count), id_b((j + 1) % b.count));
    return 3u << 30 | on_a << 15 | on_b;
  }

  // Also how far off the corner that the number stands for the point lies, squared.
  std::uint32_t feature(const Corner& corner, double& off2) const {
    int nearest = -1;
    double best = snap2;
    off2 = 0.0;
    for (int k = 0; k < outline_a.count; ++k) {
      const double d = (outline_a.points[k] - corner.at).squaredNorm();
      if (d <= best) best = d, nearest = k;
    }
    if (nearest >= 0) return off2 = best, feature_of_corner_a(id_a(nearest));
    for (int k = 0; k < outline_b.count; ++k) {
      const double d = (outline_b.points[k] - corner.at).squaredNorm();
      if (d <= best) best = d, nearest = k;
    }
    if (nearest >= 0) return off2 = best, feature_of_corner_b(id_b(nearest));
    if (corner.vertex >= Facet::capacity) {
      const int k = corner.vertex - Facet::capacity;
      off2 = (outline_b.points[k] - corner.at).squaredNorm();
      return feature_of_corner_b(id_b(k));
    }
    if (corner.vertex >= 0) return feature_of_corner_a(id_a(corner.vertex));
    return crossing(corner.edge, corner.other);
  }

  double gap(const Corner& corner) const { return height_b.at(corner.at) - height_a.at(corner.at); }

  void emit(const Corner& corner) {
    double off2;
    emit(corner, feature(corner, off2));
  }

  void emit(const Corner& corner, std::uint32_t label) {
    const double za = height_a.at(corner.at), zb = height_b.at(corner.at), gap_here = zb - za;
    lowest = std::min(lowest, gap_here);
    if (gap_here > margin) return;
    const Vec3 position =
        frame.origin + corner.at.x() * frame.t1 + corner.at.y() * frame.t2 + (0.5 * (za + zb)) * frame.normal;
    for (std::size_t k = begin; k < points.size(); ++k) {
      if (points[k].feature != label) continue;
      if (gap_here < points[k].gap) points[k] = {position, frame.normal, gap_here, label};
      return;
    }
    points.push_back({position, frame.normal, gap_here, label});
  }
};

// Edges that nearly coincide cross somewhere between their ends; such crossings lie on the line between their
// neighbours, support nothing and would come and go: they are left out. Of neighbours that come to lie at a corner the
// corner itself stays, not the deepest: which one that is may change with every step of bodies at rest, and their impulses with
// it.
void emit_ring(Emitter& emitter, const Polygon& polygon, int count) {
  constexpr auto capacity = std::tuple_size_v<Polygon>;
  std::array<std::uint32_t, capacity> labels;
  std::array<double, capacity> off2;
  std::array<int, capacity> kept;
  int ring = 0;
  const auto better = [&](int k, int than) {
    if (off2[k] != off2[than]) return off2[k] < off2[than];
    return emitter.gap(polygon[k]) < emitter.gap(polygon[than]);
  };
  for (int k = 0; k < count; ++k) {
    emitter.lowest = std::min(emitter.lowest, emitter.gap(polygon[k]));
    // Corners beyond the margin only shape the ring; they need no lasting number.
    const bool wanted = emitter.gap(polygon[k]) <= emitter.margin;
    off2[k] = 0.0;
    labels[k] = wanted ? emitter.feature(polygon[k], off2[k]) : static_cast<std::uint32_t>(k);
    if (ring > 0 && labels[kept[ring - 1]] == labels[k]) {
      if (better(k, kept[ring - 1])) kept[ring - 1] = k;
    } else {
      kept[ring++] = k;
    }
  }
  if (ring > 1 && labels[kept[ring - 1]] == labels[kept[0]]) {
    --ring;
    if (better(kept[ring], kept[0])) kept[0] = kept[ring];
  }
  for (int r = 0; r < ring; ++r) {
    const Corner& corner = polygon[kept[r]];
    if (labels[kept[r]] >> 30 == 3u && ring > 2) {
      const Vec2 before = polygon[kept[(r + ring - 1) % ring]].at, after = polygon[kept[(r + 1) % ring]].at;
      const Vec2 chord = after - before;
      const double area = cross(chord, corner.at - before);
      if (area * area <= emitter.snap2 * chord.squaredNorm()) continue;
    }
    emitter.emit(corner, labels[kept[r]]);
  }
}

void clip_faces(Emitter& emitter) {
  const Outline &a = emitter.outline_a, &b = emitter.outline_b;
  Polygon first, second;
  int count = a.count;
  for (int k = 0; k < count; ++k) first[k] = {a.points[k], k, k, -1};
  Polygon *in = &first, *out = &second;
  for (int j = 0; j < b.count && count > 0; ++j) {
    count = cut(*in, count, b, j, *out);
    std::swap(in, out);
  }
  emit_ring(emitter, *in, count);
}

// An edge against a face: the part of the edge over the face. `of_a`: the edge belongs to a.
void clip_edge(Emitter& emitter, bool of_a) {
  const Outline& edge = of_a ? emitter.outline_a : emitter.outline_b;
  const Outline& face = of_a ? emitter.outline_b : emitter.outline_a;
  const Vec2 start = edge.points[0], run = edge.points[1] - start;
  double from = 0.0, to = 1.0;
  int from_edge = -1, to_edge = -1;
  for (int j = 0; j < face.count; ++j) {
    const Vec2 direction = face.points[(j + 1) % face.count] - face.points[j];
    const double d0 = cross(direction, start - face.points[j]), d1 = d0 + cross(direction, run);
    if (d0 < 0.0 && d1 < 0.0) return;
    if (d0 >= 0.0 && d1 >= 0.0) continue;
    const double t = d0 / (d0 - d1);
    if (d0 < 0.0 && t > from) from = t, from_edge = j;
    if (d1 < 0.0 && t < to) to = t, to_edge = j;
  }
  if (from > to) return;
  const int edge_base = of_a ? 0 : Facet::capacity, face_base = Facet::capacity - edge_base;
  const auto corner = [&](double t, int cut_by, int end) {
    return Corner{start + t * run, edge_base, cut_by < 0 ? edge_base + end : -1,
                  face_base + std::max(cut_by, 0)};
  };
  emitter.emit(corner(from, from_edge, 0));
  if ((to - from) * (to - from) * run.squaredNorm() > emitter.snap2) emitter.emit(corner(to, to_edge, 1));
}

// Two nearly parallel edges: the ends of the common part.
void clip_edges(Emitter& emitter) {
  const Outline &a = emitter.outline_a, &b = emitter.outline_b;
  const Vec2 run = a.points[1] - a.points[0], other = b.points[1] - b.points[0];
  const double length2 = run.squaredNorm();
  if (length2 == 0.0 || std::abs(cross(run, other)) > 0.05 * std::sqrt(length2 * other.squaredNorm())) return;
  double t0 = run.dot(b.points[0] - a.points[0]) / length2, t1 = run.dot(b.points[1] - a.points[0]) / length2;
  int v0 = Facet::capacity, v1 = Facet::capacity + 1;
  if (t0 > t1) std::swap(t0, t1), std::swap(v0, v1);
  if (t0 < 0.0) t0 = 0.0, v0 = 0;
  if (t1 > 1.0) t1 = 1.0, v1 = 1;
  if ((t1 - t0) * (t1 - t0) * length2 <= emitter.snap2 || t1 < t0) return;
  emitter.emit({a.points[0] + t0 * run, 0, v0, Facet::capacity});
  emitter.emit({a.points[0] + t1 * run, 0, v1, Facet::capacity});
}

}  // namespace

double clip_facets(const Facet& a, const Facet& b, const Vec3& normal, double margin,
                   std::vector<ContactPoint>& points) {
  if (a.count < 2 || b.count < 2) return infinity;
  if (a.count > 2 && a.normal.dot(normal) < least_cosine) return infinity;
  if (b.count > 2 && -b.normal.dot(normal) < least_cosine) return infinity;
  Projection frame{a.vertices[0], normal, {}, {}};
  tangents(normal, frame.t1, frame.t2);
  Outline outline_a, outline_b;
  frame.outline(a, false, outline_a);
  frame.outline(b, b.count > 2, outline_b);
  const double edge2 = std::min(outline_a.smallest_edge2(), outline_b.smallest_edge2());
  Emitter emitter{a,
                  b,
                  outline_a,
                  outline_b,
                  frame,
                  a.count > 2 ? height_of_face(a, frame) : height_of_edge(a, frame),
                  b.count > 2 ? height_of_face(b, frame) : height_of_edge(b, frame),
                  snap_fraction * snap_fraction * edge2,
                  margin,
                  points,
                  points.size()};
  if (a.count > 2 && b.count > 2)
    clip_faces(emitter);
  else if (a.count == 2 && b.count == 2)
    clip_edges(emitter);
  else
    clip_edge(emitter, a.count == 2);
  return emitter.lowest;
}

}  // namespace tribo::detail
