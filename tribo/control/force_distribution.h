// Which forces feet should press with, so that together they give a body the wrench it needs.
//
//   min  1/2 |S (sum_k (f_k, (x_k - c) x f_k) - w)|^2 + 1/2 sum_k alpha_k |f_k|^2     f_k in its friction cone
// over the forces f_k [N] of the ground on the points x_k [m]; w: force [N] and torque about c [N m]; S: weights, 1/N and
// 1/(N m); alpha_k > 0 [1/N^2 in the units of S^2]: what a point must not carry (a foot that is about to leave) gets more.
// Strictly convex: one answer, also with two points, whose line no torque can be made about. By projected gradients with
// momentum and restarts (Nesterov); a few microseconds for four points.
#pragma once

#include <vector>

#include "tribo/math/pose.h"

namespace tribo {

struct SupportPoint {
  Vec3 position = Vec3::Zero();  // m, world
  Vec3 normal = Vec3::UnitZ();   // of the ground, unit length
  double friction = 0.5;         // mu >= 0
  double reluctance = 1e-4;      // alpha_k > 0
};

struct WrenchRequest {
  Vec3 center = Vec3::Zero();   // c, m
  Vec6 wrench = Vec6::Zero();   // force, torque about the centre
  Vec6 weights = Vec6::Ones();  // S, >= 0
};

// One force per point, world axes. InvalidInput when a normal is not of unit length, a friction < 0 or a reluctance not > 0.
std::vector<Vec3> distribute_force(const WrenchRequest& request, const std::vector<SupportPoint>& points);

}  // namespace tribo
