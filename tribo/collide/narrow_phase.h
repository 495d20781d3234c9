// Contact points between two placed shapes, each with its own depth and a feature number that stays the same
// while the same corners, edges and faces touch.
//
// Example
//   NarrowPhase narrow;                                        // owns its scratch; one per thread
//   std::vector<ContactPoint> points;
//   narrow.collide(box, box_pose, floor, floor_pose, 0.001, points);   // appends
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tribo/collide/shape.h"

namespace tribo {

struct ContactPoint {
  Vec3 position;          // in the world, halfway between the two surfaces, m
  Vec3 normal;            // unit, from the first shape to the second: impulses push the second along it
  double gap;             // signed distance of the surfaces along the normal, m; < 0: penetration
  std::uint32_t feature;  // unique among the points of one pair; persistent from step to step
};

struct NarrowPhaseSettings {
  Index max_points = 8;          // per pair of convex pieces; the reduction keeps the support polygon
  Index rim_points = 8;          // points that stand for a circular rim (cylinder on a plane)
  Index max_field_points = 120;  // per pair with a distance field, after clustering
};

class NarrowPhase {
 public:
  explicit NarrowPhase(const NarrowPhaseSettings& settings = {});
  ~NarrowPhase();
  NarrowPhase(NarrowPhase&&) noexcept;
  NarrowPhase& operator=(NarrowPhase&&) noexcept;

  // Appends the points with gap <= margin. Deterministic; symmetric in (a, b) up to the sign of the normal.
  // Allocation-free once warmed up.
  void collide(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b, double margin,
               std::vector<ContactPoint>& points);

 private:
  struct Scratch;
  NarrowPhaseSettings settings_;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace tribo
