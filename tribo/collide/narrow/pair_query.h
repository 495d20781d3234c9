// What the functions for pairs of kinds share: the two placed shapes, the margin, where the points go, and
// the memory they may reuse. Shape a is the one whose kind comes first in ShapeKind.
#pragma once

#include <cstdint>
#include <vector>

#include "tribo/collide/narrow_phase.h"

namespace tribo::detail {

struct PairScratch;  // collide/narrow/pair_scratch.h

struct PairQuery {
  const Shape& a;
  const Pose& pose_a;
  const Shape& b;
  const Pose& pose_b;
  double margin;
  const NarrowPhaseSettings& settings;
  PairScratch& scratch;
  std::vector<ContactPoint>& points;

  // Keeps the point if it is within the margin.
  void add(const Vec3& position, const Vec3& normal, double gap, std::uint32_t feature) const {
    if (gap <= margin) points.push_back({position, normal, gap, feature});
  }
  // Contact of two balls with centres p (of shape a) and q.
  void add_balls(const Vec3& p, double radius_p, const Vec3& q, double radius_q,
                 std::uint32_t feature) const {
    const Vec3 d = q - p;
    const double reach = radius_p + radius_q + margin, square = d.squaredNorm();
    if (square > reach * reach) return;
    const double distance = std::sqrt(square);
    // Concentric balls: any direction is as good; up is the one that gravity undoes least.
    const Vec3 normal = distance > 1e-12 * reach ? Vec3(d / distance) : Vec3::UnitZ();
    const double gap = distance - radius_p - radius_q;
    points.push_back({p + (radius_p + 0.5 * gap) * normal, normal, gap, feature});
  }
};

// Families of pairs; the order of the kinds is that of ShapeKind.
void collide_nothing(const PairQuery& query);
void collide_plane_sphere(const PairQuery& query);
void collide_plane_capsule(const PairQuery& query);
void collide_plane_box(const PairQuery& query);
void collide_plane_cylinder(const PairQuery& query);
void collide_plane_ellipsoid(const PairQuery& query);
void collide_plane_hull(const PairQuery& query);
void collide_plane_surface(const PairQuery& query);  // mesh, distance field: the vertices
void collide_sphere_sphere(const PairQuery& query);
void collide_sphere_capsule(const PairQuery& query);
void collide_sphere_box(const PairQuery& query);
void collide_sphere_cylinder(const PairQuery& query);
void collide_capsule_capsule(const PairQuery& query);
void collide_capsule_box(const PairQuery& query);
void collide_box_box(const PairQuery& query);
void collide_convex(const PairQuery& query);  // any two convex shapes
void collide_convex_mesh(const PairQuery& query);
void collide_convex_height_field(const PairQuery& query);
void collide_mesh_mesh(const PairQuery& query);
void collide_mesh_height_field(const PairQuery& query);
void collide_convex_field(const PairQuery& query);
void collide_surface_field(const PairQuery& query);  // mesh or distance field against a distance field
void collide_height_field_field(const PairQuery& query);

// Point of a box (half extents `half`, own frame) nearest to p, and the distance of p from the surface along
// the unit outward normal: negative inside, where the nearest face counts.
struct BoxSurfacePoint {
  Vec3 normal;
  double distance;
};
BoxSurfacePoint nearest_on_box(const Vec3& half, const Vec3& p);

}  // namespace tribo::detail
