#include "tribo/generate/serial_arm.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "tribo/base/random.h"
#include "tribo/generate/rigid_scene.h"
#include "tribo/math/contact_frame.h"
#include "tribo/problem/contact_problem_builder.h"

namespace tribo::detail {

namespace {

// Features of the arm, for the keys of its constraints.
enum Feature : Index {
  link_contact = 0x0000,
  joint_limit = 0x4000,
  joint_friction = 0x8000,
  tip_contact = 0xC000
};

// Inertia of a point mass m at r.
Mat3 point_inertia(double m, const Vec3& r) {
  return m * (r.squaredNorm() * Mat3::Identity() - r * r.transpose());
}

// A unit vector that does not point down: obstacles carry the arm.
Vec3 upward(Random& random) {
  Vec3 n = random.unit_vector();
  n.z() = std::abs(n.z());
  return n;
}

class ArmScene {
 public:
  ArmScene(const GeneratorSettings& settings, const ArmPose& pose) : settings_(settings), pose_(pose) {}

  void add_tree(const Matrix& mass, const Vector& momentum) { builder_.add_tree(mass, momentum); }

  void add_contact(Index link, const Vec3& point, const Vec3& normal, double gap, Index feature) {
    const std::array<JacobianPiece, 1> piece{
        {{0, contact_frame(normal) * point_jacobian(pose_, link, point)}}};
    builder_.add_contact(settings_.friction, std::span<const JacobianPiece>(piece),
                         Vec3(0.0, 0.0, gap_bias(gap, settings_.time_step)),
                         Vec3::Constant(settings_.compliance), feature_key(0, kGround, feature));
  }

  // The joint may still turn by `margin` (rad) in the direction -sign.
  void add_limit(Index joint, double sign, double margin) {
    builder_.add_unilateral(joint_row(joint, sign), gap_bias(margin, settings_.time_step), 0.0,
                            feature_key(0, kGround, joint_limit + joint));
  }

  void add_friction(Index joint, double torque) {
    const double impulse = settings_.time_step * torque;
    builder_.add_box(-impulse, impulse, joint_row(joint, 1.0), 0.0, 0.0,
                     feature_key(0, kGround, joint_friction + joint));
  }

  ContactProblem build() { return builder_.build(); }

 private:
  std::array<JacobianPiece, 1> joint_row(Index joint, double value) const {
    Matrix row = Matrix::Zero(1, static_cast<Index>(pose_.axis.size()));
    row(0, joint) = value;
    return {{{0, row}}};
  }

  const GeneratorSettings& settings_;
  const ArmPose& pose_;
  ContactProblemBuilder builder_;
};

}  // namespace

ArmPose pose_of(const SerialArm& arm) {
  ArmPose pose;
  Mat3 rotation = Mat3::Identity();
  Vec3 place = Vec3::Zero();
  for (Index i = 0; i < arm.size(); ++i) {
    const Vec3 local_axis = i % 2 == 0 ? Vec3::UnitY() : Vec3::UnitZ();
    pose.joint.push_back(place);
    pose.axis.push_back(rotation * local_axis);
    rotation = rotation * Eigen::AngleAxisd(arm.angle[i], local_axis).toRotationMatrix();
    const Vec3 along = SerialArm::kLength * rotation.col(0);
    pose.rotation.push_back(rotation);
    pose.centre.push_back(place + 0.5 * along);
    place += along;
  }
  pose.joint.push_back(place);
  return pose;
}

Mat3 link_inertia(const SerialArm& arm, const ArmPose& pose, Index link) {
  constexpr double r = SerialArm::kRadius, l = SerialArm::kLength;
  const double axial = 0.5 * arm.mass[link] * r * r;
  const double across = 0.5 * axial + arm.mass[link] * l * l / 12.0;
  const Mat3& rotation = pose.rotation[link];
  return rotation * Vec3(axial, across, across).asDiagonal() * rotation.transpose();
}

Matrix point_jacobian(const ArmPose& pose, Index link, const Vec3& point) {
  Matrix jacobian = Matrix::Zero(3, static_cast<Index>(pose.axis.size()));
  for (Index k = 0; k <= link; ++k) jacobian.col(k) = pose.axis[k].cross(point - pose.joint[k]);
  return jacobian;
}

Matrix mass_matrix(const SerialArm& arm, const ArmPose& pose) {
  const Index n = arm.size();
  Matrix matrix(n, n);
  double m = 0.0;  // the composite body: links j to the end
  Vec3 c = Vec3::Zero();
  Mat3 inertia = Mat3::Zero();
  for (Index j = n - 1; j >= 0; --j) {
    const double total = m + arm.mass[j];
    inertia += link_inertia(arm, pose, j) + point_inertia(m * arm.mass[j] / total, pose.centre[j] - c);
    c += (arm.mass[j] / total) * (pose.centre[j] - c);
    m = total;
    const Vec3 momentum = m * pose.axis[j].cross(c - pose.joint[j]);
    const Vec3 spin_momentum = inertia * pose.axis[j];
    for (Index k = 0; k <= j; ++k) {
      matrix(k, j) = pose.axis[k].dot(spin_momentum + (c - pose.joint[k]).cross(momentum));
      matrix(j, k) = matrix(k, j);
    }
    matrix(j, j) += SerialArm::kArmature;
  }
  return matrix;
}

Vector bias_torque(const SerialArm& arm, const ArmPose& pose) {
  const Index n = arm.size();
  std::vector<Vec3> force(n), torque(n);  // rates of momentum of each link, weight opposed
  Vec3 spin = Vec3::Zero(), spin_rate = Vec3::Zero();
  Vec3 acceleration(0.0, 0.0, kGravity);  // of the joint; the base accelerates upwards instead of weight
  for (Index i = 0; i < n; ++i) {
    const Vec3 joint_spin = pose.axis[i] * arm.speed[i];
    spin_rate += spin.cross(joint_spin);
    spin += joint_spin;
    const auto at = [&](const Vec3& r) -> Vec3 {
      return acceleration + spin_rate.cross(r) + spin.cross(spin.cross(r));
    };
    const Mat3 inertia = link_inertia(arm, pose, i);
    force[i] = arm.mass[i] * at(pose.centre[i] - pose.joint[i]);
    torque[i] = inertia * spin_rate + spin.cross(inertia * spin);
    acceleration = at(pose.joint[i + 1] - pose.joint[i]);
  }
  Vector bias(n);
  Vec3 total_force = Vec3::Zero(), total_torque = Vec3::Zero();  // about the origin
  for (Index k = n - 1; k >= 0; --k) {
    total_force += force[k];
    total_torque += torque[k] + pose.centre[k].cross(force[k]);
    bias[k] = pose.axis[k].dot(total_torque - pose.joint[k].cross(total_force));
  }
  return bias;
}

SerialArm random_arm(const GeneratorSettings& settings) {
  const Index n = settings.bodies;
  Random random(settings.seed);
  SerialArm arm{.mass = {}, .angle = Vector(n), .speed = Vector::Zero(n)};
  for (Index i = 0; i < n; ++i) {
    arm.mass.push_back(geometric_mass(i, n, settings.mass_ratio));
    arm.angle[i] = random.uniform(-0.8, 0.8);
    if (settings.slide) arm.speed[i] = kSlideSpeed * random.normal();
  }
  return arm;
}

ContactProblem make_arm(const GeneratorSettings& settings) {
  const SerialArm arm = random_arm(settings);
  const ArmPose pose = pose_of(arm);
  const Matrix mass = mass_matrix(arm, pose);
  const Vector bias = bias_torque(arm, pose);
  const Index n = arm.size();
  Random random(~settings.seed);  // not the numbers of random_arm
  Vector drive(n);
  for (double& torque : drive) torque = 0.2 * bias.cwiseAbs().maxCoeff() * random.normal();

  ArmScene scene(settings, pose);
  scene.add_tree(mass, mass * arm.speed + settings.time_step * (drive - bias));
  for (Index i = 1; i < n; i += 2) {
    const Vec3 normal = upward(random);
    const double gap = 1e-4 * std::max(0.0, random.uniform(-1.0, 1.0));
    scene.add_contact(i, pose.centre[i] - SerialArm::kRadius * normal, normal, gap, link_contact + i);
  }
  const Vec3 normal = upward(random);
  const Mat3 plate = contact_frame(normal);
  for (Index corner = 0; corner < 4; ++corner) {
    const double s = corner % 2 == 0 ? -0.04 : 0.04, t = corner / 2 == 0 ? -0.04 : 0.04;
    const Vec3 point = pose.joint[n] + s * plate.row(0).transpose() + t * plate.row(1).transpose() -
                       SerialArm::kRadius * normal;
    scene.add_contact(n - 1, point, normal, 0.0, tip_contact + corner);
  }
  for (Index i = 0; i < n; i += 3) {
    const double sign = random.uniform() < 0.5 ? -1.0 : 1.0;
    scene.add_limit(i, sign, 1e-3 * std::max(0.0, random.uniform(-1.0, 1.0)));
  }
  for (Index i = 0; i < n; ++i) scene.add_friction(i, 0.5);
  return scene.build();
}

}  // namespace tribo::detail
