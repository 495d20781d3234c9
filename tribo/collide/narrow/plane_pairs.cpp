// A half space against everything: the points of the other shape that are lowest along the plane's normal, each
// with its own height. The plane is shape a, so the normals are the plane's.
#include "tribo/collide/narrow/plane_pairs.h"

#include <cmath>
#include <limits>

#include "tribo/collide/narrow/manifold_reduction.h"
#include "tribo/collide/narrow/pair_scratch.h"
#include "tribo/collide/shapes/convex_hull.h"
#include "tribo/collide/shapes/distance_field.h"
#include "tribo/collide/shapes/triangle_mesh.h"

namespace tribo::detail {

namespace {

void add_point(const PairQuery& query, const Vec3& normal, const Vec3& p, std::uint32_t feature) {
  const double gap = normal.dot(p - query.pose_a.position);
  if (gap <= query.margin) query.points.push_back({p - 0.5 * gap * normal, normal, gap, feature});
}

// All vertices within the margin, then the reduction.
void add_vertices(const PairQuery& query, const std::vector<Vec3>& vertices, Index limit) {
  const std::size_t begin = query.points.size();
  const Vec3 normal = query.pose_a.rotation.col(2);
  const Vec3 direction = query.pose_b.rotation.transpose() * normal;
  const double height = normal.dot(query.pose_b.position - query.pose_a.position);
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    const double gap = height + direction.dot(vertices[v]);
    if (gap > query.margin) continue;
    const Vec3 p = query.pose_b * vertices[v];
    query.points.push_back({p - 0.5 * gap * normal, normal, gap, static_cast<std::uint32_t>(v)});
  }
  reduce_manifold(query.points, begin, limit, query.scratch.distances);
}

}  // namespace

void collide_plane_sphere(const PairQuery& query) {
  const Vec3 normal = query.pose_a.rotation.col(2);
  const double radius = query.b.radius();
  const double gap = normal.dot(query.pose_b.position - query.pose_a.position) - radius;
  if (gap <= query.margin)
    query.points.push_back({query.pose_b.position - (radius + 0.5 * gap) * normal, normal, gap, 0});
}

void collide_plane_capsule(const PairQuery& query) {
  const Vec3 normal = query.pose_a.rotation.col(2);
  const Vec3 half = query.b.half_length() * query.pose_b.rotation.col(2);
  const Vec3 bottom = query.pose_b.position - query.b.radius() * normal;
  add_point(query, normal, bottom - half, 0);
  add_point(query, normal, bottom + half, 1);
}

void collide_plane_box(const PairQuery& query) {
  const Vec3 normal = query.pose_a.rotation.col(2);
  const Vec3 half = query.b.size();
  const Mat3& rotation = query.pose_b.rotation;
  const Vec3 down = rotation.transpose() * normal;  // along each box axis
  const double height = normal.dot(query.pose_b.position - query.pose_a.position);
  const Vec3 reach = down.cwiseProduct(half);
  if (height - reach.cwiseAbs().sum() > query.margin) return;
  // The face that looks down most; its corners contain the lowest ones.
  int axis = 0;
  for (int k = 1; k < 3; ++k)
    if (std::abs(down[k]) > std::abs(down[axis])) axis = k;
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  const double side = down[axis] > 0.0 ? -1.0 : 1.0;
  const Vec3 middle = query.pose_b.position + side * half[axis] * rotation.col(axis);
  const double middle_height = height + side * reach[axis];
  for (int corner = 0; corner < 4; ++corner) {
    const double su = corner & 1 ? 1.0 : -1.0, sv = corner & 2 ? 1.0 : -1.0;
    const double gap = middle_height + su * reach[u] + sv * reach[v];
    if (gap > query.margin) continue;
    const Vec3 p = middle + su * half[u] * rotation.col(u) + sv * half[v] * rotation.col(v);
    const std::uint32_t feature =
        (su > 0.0 ? 1u << u : 0u) | (sv > 0.0 ? 1u << v : 0u) | (side > 0.0 ? 1u << axis : 0u);
    query.points.push_back({p - 0.5 * gap * normal, normal, gap, feature});
  }
}

// A cylinder that stands touches with the rim of its lower cap, a polygon of fixed phase, and the lowest point of that
// rim; one that leans or lies, with the line of its mantle that looks down, whose ends are the lowest points of the two
// rims. A polygon would not roll.
void collide_plane_cylinder(const PairQuery& query) {
  constexpr double kStanding =
      0.9;  // cosine of the tilt; the polygon's other corners are far above the plane there
  const Vec3 normal = query.pose_a.rotation.col(2);
  const Mat3& rotation = query.pose_b.rotation;
  const double radius = query.b.radius(), half = query.b.half_length();
  const Vec3 up = rotation.transpose() * normal;
  const double sine = std::hypot(up.x(), up.y());
  const double height = normal.dot(query.pose_b.position - query.pose_a.position);
  const double lowest = height - radius * sine - half * std::abs(up.z());
  if (lowest > query.margin) return;

  const bool standing = std::abs(up.z()) > kStanding;
  const double cap = up.z() > 0.0 ? -1.0 : 1.0;
  double rim_lowest = std::numeric_limits<double>::infinity();
  if (standing) {
    const std::vector<Vec2>& rim = query.scratch.rim;
    const std::uint32_t cap_bit = cap > 0.0 ? 1u << 16 : 0u;
    const Vec3 center = query.pose_b.position + cap * half * rotation.col(2);
    const double center_height = height + cap * half * up.z();
    for (std::size_t k = 0; k < rim.size(); ++k) {
      const double gap = center_height + radius * (rim[k].x() * up.x() + rim[k].y() * up.y());
      rim_lowest = std::min(rim_lowest, gap);
      if (gap > query.margin) continue;
      const Vec3 p = center + radius * (rim[k].x() * rotation.col(0) + rim[k].y() * rotation.col(1));
      query.points.push_back({p - 0.5 * gap * normal, normal, gap, cap_bit | static_cast<std::uint32_t>(k)});
    }
  }
  // On a level rim the lowest point is undetermined and adds nothing.
  if (sine < 1e-9) return;
  const Vec3 outward = -(up.x() * rotation.col(0) + up.y() * rotation.col(1)) * (radius / sine);
  for (const double end : {1.0, -1.0}) {
    if (standing && (end != cap || rim_lowest - lowest <= 1e-6 * radius)) continue;
    add_point(query, normal, query.pose_b.position + outward + end * half * rotation.col(2),
              end > 0.0 ? 1u << 17 : 1u << 18);
  }
}

void collide_plane_ellipsoid(const PairQuery& query) {
  const Vec3 normal = query.pose_a.rotation.col(2);
  const Vec3 scaled = query.b.size().cwiseProduct(query.pose_b.rotation.transpose() * normal);
  const Vec3 lowest = -query.b.size().cwiseProduct(scaled) / scaled.norm();
  add_point(query, normal, query.pose_b * lowest, 0);
}

void collide_plane_hull(const PairQuery& query) {
  add_vertices(query, query.b.hull().vertices(), query.settings.max_points);
}

void collide_plane_surface(const PairQuery& query) {
  const TriangleMesh& surface =
      query.b.kind() == ShapeKind::mesh ? query.b.mesh() : query.b.distance_field().surface();
  add_vertices(query, surface.vertices(), query.settings.max_field_points);
}

}  // namespace tribo::detail
