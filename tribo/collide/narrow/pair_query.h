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

}  // namespace tribo::detail
