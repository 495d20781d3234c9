// Convex shapes against surfaces made of triangles (meshes, height fields), triangle by triangle. A direction of
// least distance or depth that leans over an edge counts only if it lies between the normals of the two triangles
// that meet there; otherwise the neighbour is nearer, and a shape sliding over the seam of two triangles would be
// caught by a normal that the surface does not have. In its place the triangle's own normal is tried, unless it
// would have to push much farther.
#include "tribo/collide/narrow/mesh_pairs.h"

#include <cmath>

#include "tribo/collide/narrow/convex_pairs.h"
#include "tribo/collide/narrow/pair_scratch.h"
#include "tribo/collide/narrow/surface_clusters.h"
#include "tribo/collide/shapes/distance_field.h"
#include "tribo/collide/shapes/height_field.h"
#include "tribo/collide/shapes/triangle_mesh.h"

namespace tribo::detail {

namespace {

struct MeshSurface {
  const TriangleMesh& mesh;
  static constexpr bool solid_below = false;

  std::array<Vec3, 3> corners(Index t) const {
    const auto& v = mesh.triangles()[t];
    return {mesh.vertices()[v[0]], mesh.vertices()[v[1]], mesh.vertices()[v[2]]};
  }
  Vec3 normal_across(Index t, int k) const {
    const Index other = mesh.neighbour(t, k);
    return other < 0 ? Vec3(Vec3::Zero()) : mesh.normal(other);
  }
  void find(const Aabb& region, std::vector<Index>& hits) const { mesh.find(region, hits); }
};

struct HeightFieldSurface {
  const HeightField& field;
  static constexpr bool solid_below = true;

  std::array<Vec3, 3> corners(Index t) const { return field.triangle(t); }
  Vec3 normal_across(Index t, int k) const { return field.normal_across(t, k); }
  void find(const Aabb& region, std::vector<Index>& hits) const { field.find(region, hits); }
};

// Whether the direction from a point of the triangle to the other shape is one the surface has there.
template <class Surface>
bool direction_allowed(const Surface& surface, Index t, const std::array<Vec3, 3>& corners,
                       const Vec3& normal, const Vec3& at, const Vec3& direction) {
  for (int k = 0; k < 3; ++k) {
    const Vec3 edge = (corners[(k + 1) % 3] - corners[k]).normalized();
    const Vec3 outward = edge.cross(normal);
    const double height = -outward.dot(corners[(k + 2) % 3] - corners[k]);
    const double lean = outward.dot(direction);
    if (outward.dot(at - corners[k]) < -1e-6 * height || lean <= 1e-6) continue;
    const Vec3 beyond = surface.normal_across(t, k);
    if (beyond.squaredNorm() == 0.0) continue;
    const double angle = std::atan2(lean, normal.dot(direction));
    if (angle > std::atan2(outward.dot(beyond), normal.dot(beyond)) + 1e-6) return false;
  }
  return true;
}

// Gives the contact the triangle's own normal, along which only what lies over the triangle counts; false: nothing
// does. `into`: the normal towards the triangle in the frame of the core.
bool use_face_normal(const PairQuery& query, const CorePair& pair, const Vec3& into, ConvexContact& contact,
                     bool& nearest) {
  set_normal(pair, into, query.scratch.rim, contact);
  nearest = contact.facet_a.count == 1;
  if (nearest) {
    const std::array<Vec3, 3>& corners = pair.b.corners;
    const Vec3 foot = pair.rotation.transpose() * (contact.on_a - pair.offset);
    const Vec3 outside = -(pair.rotation.transpose() * into);
    for (int k = 0; k < 3; ++k) {
      const Vec3 edge = corners[(k + 1) % 3] - corners[k];
      if (edge.cross(outside).dot(foot - corners[k]) > 1e-9 * edge.norm() * pair.b.scale) return false;
    }
    contact.on_b = contact.on_a + contact.separation * contact.normal;
  }
  return contact.separation <= query.margin + pair.a.radius;
}

// One convex core, placed by `pose`, against one triangle.
template <class Surface>
void collide_triangle(const PairQuery& query, const ConvexCore& core, const Pose& pose,
                      const Surface& surface, Index t, std::uint32_t salt) {
  const std::array<Vec3, 3> corners = surface.corners(t);
  const ConvexCore triangle = core_of(corners);
  const CorePair pair(core, pose, triangle, query.pose_b);
  const Vec3 outside = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalized();
  const Vec3 into = -(pair.rotation * outside);  // in the frame of the core
  const bool behind = into.dot(pair.offset + pair.rotation * corners[0] - core.center()) < 0.0;
  // The middle of the shape behind a mesh's triangle: it is on the other side of the body.
  if (!Surface::solid_below && behind) return;

  ConvexContact contact;
  const std::size_t begin = query.points.size();
  bool nearest = true;
  if (!find_contact(pair, query.margin, query.scratch.rim, contact)) {
    if (!Surface::solid_below || !behind || !use_face_normal(query, pair, into, contact, nearest)) return;
  } else {
    const Vec3 direction = -(pair.rotation.transpose() * contact.normal);  // from the triangle, in its frame
    const Vec3 at = pair.rotation.transpose() * (contact.on_b - pair.offset);
    if (direction.dot(outside) <= 0.0 || !direction_allowed(surface, t, corners, outside, at, direction)) {
      const double before = std::min(contact.separation, 0.0);
      if (!use_face_normal(query, pair, into, contact, nearest)) return;
      if (!Surface::solid_below && contact.separation < 4.0 * before - query.margin) return;
    }
  }
  add_manifold(query, pair, pose, nearest, contact);
  for (std::size_t k = begin; k < query.points.size(); ++k)
    query.points[k].feature = mix(salt + static_cast<std::uint32_t>(t), query.points[k].feature);
}

Aabb grown(const Aabb& box, double by) { return {box.lower.array() - by, box.upper.array() + by}; }

template <class Surface>
void collide_convex_surface(const PairQuery& query, const Surface& surface) {
  const ConvexCore core = core_of(query.a);
  const std::size_t begin = query.points.size();
  std::vector<Index>& hits = query.scratch.triangles;
  hits.clear();
  surface.find(grown(query.a.bounds(query.pose_b.inverse() * query.pose_a), query.margin), hits);
  for (const Index t : hits) collide_triangle(query, core, query.pose_a, surface, t, 0);
  cluster_points(query, begin, 1e-3 * core.scale, query.settings.max_points);
}

// Triangles of one surface as convex pieces against those of the other.
template <class Surface>
void collide_mesh_surface(const PairQuery& query, const Surface& surface) {
  const TriangleMesh& mesh = query.a.mesh();
  const std::size_t begin = query.points.size();
  const Pose a_in_b = query.pose_b.inverse() * query.pose_a;
  const Aabb other = query.b.bounds(query.pose_a.inverse() * query.pose_b);
  std::vector<Index>& pieces = query.scratch.other_triangles;
  pieces.clear();
  mesh.find(grown(other, query.margin), pieces);
  double scale = 0.0;
  for (const Index piece : pieces) {
    const auto corners = MeshSurface{mesh}.corners(piece);
    Aabb region{a_in_b * corners[0], a_in_b * corners[0]};
    for (const Vec3& corner : {corners[1], corners[2]}) {
      region.lower = region.lower.cwiseMin(a_in_b * corner);
      region.upper = region.upper.cwiseMax(a_in_b * corner);
    }
    std::vector<Index>& hits = query.scratch.triangles;
    hits.clear();
    surface.find(grown(region, query.margin), hits);
    const ConvexCore core = core_of(corners);
    scale = std::max(scale, core.scale);
    for (const Index t : hits)
      collide_triangle(query, core, query.pose_a, surface, t, static_cast<std::uint32_t>(piece) * 0x10001u);
  }
  cluster_points(query, begin, 1e-2 * scale, query.settings.max_points);
}

}  // namespace

void collide_convex_mesh(const PairQuery& query) {
  collide_convex_surface(query, MeshSurface{query.b.mesh()});
}

// The field's own triangles are exact where the convex shape is, so the field is not needed.
void collide_convex_distance_field(const PairQuery& query) {
  const std::size_t begin = query.points.size();
  const DistanceField& field = query.b.distance_field();
  collide_convex_surface(query, MeshSurface{field.surface()});
  thin_out(query, begin, 0.25 * field.spacing(), query.settings.max_field_points);
}

void collide_convex_height_field(const PairQuery& query) {
  collide_convex_surface(query, HeightFieldSurface{query.b.height_field()});
}

void collide_mesh_mesh(const PairQuery& query) { collide_mesh_surface(query, MeshSurface{query.b.mesh()}); }

void collide_mesh_height_field(const PairQuery& query) {
  collide_mesh_surface(query, HeightFieldSurface{query.b.height_field()});
}

}  // namespace tribo::detail
