// What the collision tests share: random poses, one call of the narrow phase, and properties every manifold has.
#pragma once

#include <memory>
#include <random>
#include <set>
#include <vector>

#include "tribo/collide/narrow_phase.h"
#include "tribo/collide/shapes/triangle_mesh.h"

namespace tribo::test {

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  double in(double lower, double upper) {
    return std::uniform_real_distribution<double>(lower, upper)(engine_);
  }
  Vec3 vector(double reach) { return {in(-reach, reach), in(-reach, reach), in(-reach, reach)}; }
  Vec3 direction();
  Mat3 rotation();
  Pose pose(double reach) { return {vector(reach), rotation()}; }

 private:
  std::mt19937 engine_;
};

Mat3 turn(double angle, const Vec3& axis);

std::vector<Vec3> box_corners(const Vec3& half, const Vec3& center = Vec3::Zero());

std::shared_ptr<const TriangleMesh> box_mesh(const Vec3& half, const Vec3& center = Vec3::Zero());

std::vector<ContactPoint> contacts(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b,
                                   double margin, const NarrowPhaseSettings& settings = {});

double deepest(const std::vector<ContactPoint>& points);

const ContactPoint& deepest_point(const std::vector<ContactPoint>& points);

std::set<std::uint32_t> features(const std::vector<ContactPoint>& points);

// Finite, unit normals, within the margin, unique features.
void expect_valid(const std::vector<ContactPoint>& points, double margin);

}  // namespace tribo::test
