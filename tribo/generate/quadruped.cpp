#include "tribo/generate/quadruped.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "tribo/generate/rigid_scene.h"
#include "tribo/linalg/tree_matrix.h"
#include "tribo/math/contact_frame.h"
#include "tribo/math/pose.h"
#include "tribo/problem/contact_problem_builder.h"

namespace tribo::detail {

namespace {

using Mat6 = TreeMatrix::Mat6;

enum Feature : Index { ground_contact = 0x0000, joint_limit = 0x4000 };

constexpr double kThigh = 0.25, kShank = 0.25;                        // m
constexpr double kHipMass = 1.1, kThighMass = 1.5, kShankMass = 0.3;  // kg
constexpr double kTrunkMass = 5.0;
const Vec3 kTrunkHalf(0.25, 0.08, 0.05);
constexpr double kHipOffset = 0.08;  // abduction axis to pitch axis
constexpr double kSpacing = 0.45;    // between the trunks
constexpr double kArmature = 0.01;   // kg m^2, of the motors of the hinges

// Spatial inertia at the reference point, Lee et al. (2024), appendix A; c the centre of mass seen from it.
Mat6 spatial_inertia(double mass, const Mat3& inertia, const Vec3& c) {
  const Mat3 cross = cross_matrix(c);
  Mat6 m;
  m.topLeftCorner<3, 3>() = mass * Mat3::Identity();
  m.topRightCorner<3, 3>() = -mass * cross;
  m.bottomLeftCorner<3, 3>() = mass * cross;
  m.bottomRightCorner<3, 3>() = inertia - mass * cross * cross;
  return m;
}

// Collects links while the kinematics is walked from the trunk outwards.
struct Assembly {
  Quadruped& robot;
  std::array<Mat6, Quadruped::kDofs> inertia;
  double scale;

  void add_hinge(Index dof, Index parent, const Vec3& place, const Vec3& axis) {
    robot.articulation.parent[dof] = parent;
    robot.articulation.motion.col(dof) << (place - robot.centre).cross(axis), axis;
  }

  void add_link(Index dof, double mass, const Vec3& centre, const Mat3& rotation, const Vec3& half) {
    const Mat3 local = rotation * box_inertia(scale * mass, half) * rotation.transpose();
    inertia[dof] += spatial_inertia(scale * mass, local, centre - robot.centre);
    Eigen::Matrix<double, 6, 1> force;
    const Vec3 pull(0.0, 0.0, -kGravity * scale * mass);
    force << pull, (centre - robot.centre).cross(pull);
    for (Index d = dof; d >= 0; d = robot.articulation.parent[d])
      robot.weight[d] += robot.articulation.motion.col(d).dot(force);
  }

  void add_point(Index index, Index dof, const Vec3& place) {
    robot.point[index] = place;
    robot.body[index] = dof;
  }
};

Mat3 turn(double angle, const Vec3& axis) { return Eigen::AngleAxisd(angle, axis).toRotationMatrix(); }

// Leg k: front or rear (x), left or right (y).
void add_leg(Assembly& assembly, Index leg, const Mat3& trunk, Random& random) {
  const double x = leg < 2 ? 1.0 : -1.0, y = alternating_sign(leg);
  const Index first = 6 + 3 * leg;
  const Vec3 hip = assembly.robot.centre + trunk * Vec3(x * 0.2, y * kTrunkHalf.y(), 0.0);
  assembly.add_hinge(first, Quadruped::kTrunk, hip, trunk.col(0));
  const Mat3 abducted = trunk * turn(y * random.uniform(-0.2, 0.5), Vec3::UnitX());
  assembly.add_link(first, kHipMass, hip + abducted * Vec3(0.0, 0.5 * y * kHipOffset, 0.0), abducted,
                    Vec3(0.04, 0.04, 0.04));

  const Vec3 pitch = hip + abducted * Vec3(0.0, y * kHipOffset, 0.0);
  assembly.add_hinge(first + 1, first, pitch, abducted.col(1));
  const Mat3 thigh = abducted * turn(random.uniform(0.5, 1.3), Vec3::UnitY());
  assembly.add_link(first + 1, kThighMass, pitch - 0.5 * kThigh * thigh.col(2), thigh,
                    Vec3(0.02, 0.02, 0.5 * kThigh));

  const Vec3 knee = pitch - kThigh * thigh.col(2);
  assembly.add_hinge(first + 2, first + 1, knee, thigh.col(1));
  const Mat3 shank = thigh * turn(random.uniform(-2.4, -1.4), Vec3::UnitY());
  assembly.add_link(first + 2, kShankMass, knee - 0.5 * kShank * shank.col(2), shank,
                    Vec3(0.015, 0.015, 0.5 * kShank));
  assembly.add_point(leg, first + 2, knee - kShank * shank.col(2));
  assembly.add_point(4 + leg, first + 1, knee);
}

struct PointPair {
  Index first, second;
};

// The closest pair of points for which `allowed` holds.
template <class Allowed>
PointPair closest_pair(const Quadruped& a, const Quadruped& b, const Allowed& allowed) {
  PointPair best{-1, -1};
  double least = std::numeric_limits<double>::infinity();
  for (Index p = 0; p < Quadruped::kPoints; ++p) {
    for (Index q = 0; q < Quadruped::kPoints; ++q) {
      const double squared = (a.point[p] - b.point[q]).squaredNorm();
      if (!allowed(p, q) || squared >= least) continue;
      least = squared;
      best = {p, q};
    }
  }
  return best;
}

class TreesScene {
 public:
  explicit TreesScene(const GeneratorSettings& settings)
      : settings_(settings),
        random_(settings.seed),
        side_(static_cast<Index>(std::ceil(std::sqrt(settings.bodies)))) {}

  ContactProblem make() {
    for (Index i = 0; i < settings_.bodies; ++i) add_robot(i);
    for (Index i = 0; i < settings_.bodies; ++i) {
      touch_ground(i);
      touch_itself(i);
      if (i % side_ + 1 < side_ && i + 1 < settings_.bodies) touch_neighbour(i, i + 1);
      if (i + side_ < settings_.bodies) touch_neighbour(i, i + side_);
      add_limits(i);
    }
    return builder_.build();
  }

 private:
  void add_robot(Index i) {
    const Vec3 place(kSpacing * (i % side_), kSpacing * (i / side_), 0.2);
    robots_.push_back(
        random_quadruped(random_, place, geometric_mass(i, settings_.bodies, settings_.mass_ratio)));
    const Quadruped& robot = robots_.back();
    Vector force = robot.weight;
    Vector speed = Vector::Zero(Quadruped::kDofs);
    const double torque = 0.1 * robot.weight.cwiseAbs().maxCoeff();
    for (Index d = 0; d < Quadruped::kDofs; ++d) {
      if (d > Quadruped::kTrunk) force[d] += torque * random_.normal();
      if (settings_.slide) speed[d] = kSlideSpeed * random_.normal();
    }
    if (settings_.slide) speed[2] = -std::abs(speed[2]);  // they fall
    builder_.add_tree(robot.mass, robot.mass * speed + settings_.time_step * force);
    builder_.set_articulation(i, robot.articulation);
  }

  JacobianPiece piece(Index tree, Index point, const Vec3& place, const Mat3& frame) const {
    const Quadruped& robot = robots_[tree];
    const Matrix rows = robot.body_rows(frame, place);
    return {tree, robot.path_rows(rows, robot.body[point]), {{robot.body[point], rows}}};
  }

  void add_contact(std::span<const JacobianPiece> pieces, double gap, std::uint64_t key) {
    builder_.add_contact(settings_.friction, pieces, Vec3(0.0, 0.0, gap_bias(gap, settings_.time_step)),
                         Vec3::Constant(settings_.compliance), key);
  }

  // Open by up to 0.1 mm half of the time.
  double random_gap() { return 1e-4 * std::max(0.0, random_.uniform(-1.0, 1.0)); }

  void touch_ground(Index i) {
    const bool lies = random_.uniform() < 0.5;
    for (Index p = 0; p < Quadruped::kPoints; ++p) {
      const bool touches = p < 4 || (p < 8 ? random_.uniform() < 0.5 : lies);
      if (!touches) continue;
      const Vec3 normal = Vec3(random_.uniform(-0.2, 0.2), random_.uniform(-0.2, 0.2), 1.0).normalized();
      const JacobianPiece one[] = {piece(i, p, robots_[i].point[p], contact_frame(normal))};
      add_contact(one, random_gap(), feature_key(i, kGround, ground_contact + p));
    }
  }

  void touch_itself(Index i) {
    const Quadruped& robot = robots_[i];
    const auto other_leg = [](Index p, Index q) { return p < q && q < 8 && p % 4 != q % 4; };
    const PointPair pair = closest_pair(robot, robot, other_leg);
    const Vec3 place = 0.5 * (robot.point[pair.first] + robot.point[pair.second]);
    const Mat3 frame = contact_frame((robot.point[pair.first] - robot.point[pair.second]).normalized());
    JacobianPiece one = piece(i, pair.first, place, frame);
    const JacobianPiece other = piece(i, pair.second, place, frame);
    one.block -= other.block;
    one.bodies.push_back({other.bodies[0].dof, -other.bodies[0].block});
    add_contact({&one, 1}, random_gap(), feature_key(i, i, 0));
  }

  void touch_neighbour(Index i, Index j) {
    PointPair taken{-1, -1};
    for (Index n = 0; n < 2; ++n) {
      const auto free = [&](Index p, Index q) { return p != taken.first && q != taken.second; };
      taken = closest_pair(robots_[i], robots_[j], free);
      const Vec3& a = robots_[i].point[taken.first];
      const Vec3& b = robots_[j].point[taken.second];
      const Mat3 frame = contact_frame((a - b).normalized());
      JacobianPiece both[] = {piece(i, taken.first, 0.5 * (a + b), frame),
                              piece(j, taken.second, 0.5 * (a + b), frame)};
      both[1].block = -both[1].block;
      both[1].bodies[0].block = -both[1].bodies[0].block;
      add_contact(both, random_gap(), feature_key(i, j, n));
    }
  }

  void add_limits(Index i) {
    for (Index d = Quadruped::kTrunk + 1; d < Quadruped::kDofs; ++d) {
      const double chance = random_.uniform(), sign = random_.uniform() < 0.5 ? -1.0 : 1.0;
      const double margin = 1e-3 * std::max(0.0, random_.uniform(-1.0, 1.0));
      if (chance >= 0.3) continue;
      Matrix row = Matrix::Zero(1, Quadruped::kDofs);
      row(0, d) = sign;
      const JacobianPiece one[] = {{i, row}};
      builder_.add_unilateral(one, gap_bias(margin, settings_.time_step), 0.0,
                              feature_key(i, kGround, joint_limit + d));
    }
  }

  const GeneratorSettings& settings_;
  Random random_;
  Index side_;
  std::vector<Quadruped> robots_;
  ContactProblemBuilder builder_;
};

}  // namespace

Eigen::Matrix<double, 3, 6> Quadruped::body_rows(const Mat3& frame, const Vec3& p) const {
  Eigen::Matrix<double, 3, 6> rows;
  rows.leftCols<3>() = frame;
  rows.rightCols<3>() = -frame * cross_matrix(p - centre);
  return rows;
}

Matrix Quadruped::path_rows(const Eigen::Ref<const Matrix>& rows, Index dof) const {
  Matrix block = Matrix::Zero(rows.rows(), kDofs);
  for (; dof >= 0; dof = articulation.parent[dof]) block.col(dof) = rows * articulation.motion.col(dof);
  return block;
}

Quadruped random_quadruped(Random& random, const Vec3& centre, double scale) {
  Quadruped robot;
  robot.centre = centre;
  robot.weight = Vector::Zero(Quadruped::kDofs);
  robot.articulation.parent.resize(Quadruped::kDofs);
  robot.articulation.motion = TreeMatrix::Motion::Zero(6, Quadruped::kDofs);
  Assembly assembly{robot, {}, scale};
  for (Mat6& inertia : assembly.inertia) inertia.setZero();
  for (Index d = 0; d < 6; ++d) {
    robot.articulation.parent[d] = d - 1;
    robot.articulation.motion(d, d) = 1.0;
  }
  const Mat3 trunk = turn(random.uniform(-3.1, 3.1), Vec3::UnitZ()) *
                     turn(random.uniform(-0.3, 0.3), Vec3::UnitY()) *
                     turn(random.uniform(-0.3, 0.3), Vec3::UnitX());
  assembly.add_link(Quadruped::kTrunk, kTrunkMass, centre, trunk, kTrunkHalf);
  for (Index corner = 0; corner < 4; ++corner) {
    const Vec3 local(alternating_sign(corner) * kTrunkHalf.x(), alternating_sign(corner / 2) * kTrunkHalf.y(),
                     -kTrunkHalf.z());
    assembly.add_point(8 + corner, Quadruped::kTrunk, centre + trunk * local);
  }
  for (Index leg = 0; leg < 4; ++leg) add_leg(assembly, leg, trunk, random);

  TreeMatrix mass(robot.articulation.parent);
  mass.add_body_inertias(robot.articulation.motion, assembly.inertia);
  robot.mass = mass.to_dense();
  robot.mass.diagonal().tail(Quadruped::kDofs - 6).array() += scale * kArmature;
  return robot;
}

ContactProblem make_trees(const GeneratorSettings& settings) { return TreesScene(settings).make(); }

}  // namespace tribo::detail
