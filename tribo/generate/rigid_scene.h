// Free rigid bodies and their contacts, turned into a ContactProblem one time step h long.
//
// Each body is one tree of six degrees of freedom v = (velocity of the centre of mass, angular velocity),
// both in the world frame, with A = diag(m 1, I). Its free momentum holds the external wrench, gravity and
// the gyroscopic torque:
//
//   b = (m v + h (m g + f),  I w + h (tau - w x I w))
//
// A contact of bodies a and b at the point p, with frame F, rows t1, t2, n (math/contact_frame.h), and n pointing from b (or the ground)
// to a, has
//
//   u = F (v_a(p) - v_b(p)) + e,   v_a(p) = v_a + w_a x (p - x_a),   e = (0, 0, gap / h) or 0 when touching
//
// so that u_n > 0 separates, and an open contact only acts if it would close within the step.
#pragma once

#include <cstdint>
#include <vector>

#include "tribo/generate/generators.h"
#include "tribo/problem/contact_problem_builder.h"

namespace tribo::detail {

inline constexpr double kGravity = 9.81;       // m/s^2, along -z
inline constexpr double kTouchingGap = 1e-10;  // m: gaps up to this one (and overlaps) count as touching
inline constexpr double kSlideSpeed = 0.5;     // m/s, of scenes that slide
inline constexpr Index kGround = -1;           // the body that does not move

// Bias of the normal row: gap / h for an open contact, 0 for a touching one.
inline double gap_bias(double gap, double time_step) { return gap > kTouchingGap ? gap / time_step : 0.0; }

// Identity of feature `feature` between two bodies: the same in every step and different from all others.
constexpr std::uint64_t feature_key(Index a, Index b, Index feature) {
  return (static_cast<std::uint64_t>(a) << 40) | (static_cast<std::uint64_t>(b + 1) << 16) |
         static_cast<std::uint64_t>(feature);
}

// Mass of item i of n: 1 kg for the first, `ratio` kg for the last, geometric between.
double geometric_mass(Index i, Index n, double ratio);

// +1 for even i, -1 for odd i.
constexpr double alternating_sign(Index i) { return i % 2 == 0 ? 1.0 : -1.0; }

struct RigidBody {
  double mass = 1.0;                // kg
  Mat3 inertia = Mat3::Identity();  // kg m^2, about the centre of mass, world axes
  Vec3 position = Vec3::Zero();     // m, centre of mass
  Vec3 velocity = Vec3::Zero();     // m/s
  Vec3 spin = Vec3::Zero();         // rad/s
  Vec3 force = Vec3::Zero();        // N, at the centre of mass; gravity is added
  Vec3 torque = Vec3::Zero();       // N m
};

Mat3 box_inertia(double mass, const Vec3& half_extents);
Mat3 sphere_inertia(double mass, double radius);
// A tube about z: solid cylinder for inner = 0.
Mat3 tube_inertia(double mass, double inner, double outer, double height);

class RigidScene {
 public:
  // Friction, compliance and time step come from settings whose defaults are filled in.
  explicit RigidScene(const GeneratorSettings& settings);

  void reserve(Index bodies, Index constraints);
  Index add_body(const RigidBody& body);

  // `normal` is a unit vector from b (a body or kGround) to a; `gap` in m.
  void add_contact(Index a, Index b, const Vec3& point, const Vec3& normal, double gap, Index feature);

  // Three bilateral rows (x, y, z) that keep the two bodies together at `point`; their keys are three
  // features.
  void add_ball_joint(Index a, Index b, const Vec3& point, Index feature);

  ContactProblem build() { return builder_.build(); }

 private:
  GeneratorSettings settings_;
  std::vector<Vec3> position_;
  ContactProblemBuilder builder_;
};

}  // namespace tribo::detail
