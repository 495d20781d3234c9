#include "tribo/scenes/guided_arm.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>

#include "tribo/base/errors.h"
#include "tribo/multibody/rotation.h"

namespace tribo::detail {

namespace {

// eps, m^2 and rad^2, beside entries of J J^T of some tenths: bounds steps near a stretched arm and changes others by some 1e-5.
constexpr double kDamping = 1e-6;
constexpr double kPostureGain = 0.02;  // share of the way to the posture in one Gauss-Newton step
constexpr int kFollowSteps = 3;        // per time step: what is left of 1e-3 m is below 1e-9 m
constexpr int kPlaceSteps = 500;
constexpr double kPlaceError = 1e-5;  // m, rad: the posture's pull keeps a start from being exact to rounding
constexpr double kLongest = 0.2;      // rad, of a joint in one step: keeps the search on its branch

Mat6 damped_square(const Eigen::Matrix<double, 6, Eigen::Dynamic>& j) {
  return j * j.transpose() + kDamping * Mat6::Identity();
}

}  // namespace

GuidedArm::GuidedArm(std::shared_ptr<const World> world, const Manipulator& arm, const Manipulator& hand,
                     GuidedArmSettings settings)
    : world_(std::move(world)),
      settings_(std::move(settings)),
      palm_(hand.body),
      joints_(joint_numbers(world_->model, arm.joints)),
      fingers_(joint_numbers(world_->model, hand.joints)),
      kinematics_(world_->model),
      arm_control_(*world_, {.joints = joints_,
                             .stiffnesses = settings_.stiffness,
                             .dampings = settings_.damping,
                             .efforts = arm.efforts}),
      finger_control_(*world_, {.joints = fingers_,
                                .damping = settings_.finger_damping,
                                .stiffnesses = settings_.finger_stiffness,
                                .efforts = hand.efforts}),
      all_(initial_state(world_->model).q),
      q_(settings_.posture),
      v_(Vector::Zero(q_.size())),
      losses_(q_.size()),
      jacobian_(6, q_.size()) {
  for (std::size_t c = 0; c < joints_.size(); ++c)
    losses_[static_cast<Eigen::Index>(c)] = world_->model.joint(joints_[c]).damping;
}

Pose GuidedArm::pose(const Kinematics& kinematics) const {
  const Pose& palm = kinematics.pose(palm_);
  return {palm * settings_.point, palm.rotation * settings_.axes};
}

void GuidedArm::solve(const Pose& target, int iterations) {
  const Model& model = world_->model;
  const Index tree = model.body_tree(palm_), dof = model.tree_dof(tree);
  Jacobian all(6, model.tree_dof_count(tree));
  for (int k = 0; k < iterations; ++k) {
    for (std::size_t c = 0; c < joints_.size(); ++c)
      all_[model.joint_coordinate(joints_[c])] = q_[static_cast<Eigen::Index>(c)];
    kinematics_.set_positions(all_);
    const Pose now = pose(kinematics_);
    Vec6 e;
    e << target.position - now.position, rotation_log(Quat(Mat3(target.rotation * now.rotation.transpose())));
    error_ = e.cwiseAbs().maxCoeff();
    kinematics_.point_jacobian(palm_, now.position, all.topRows<3>());
    kinematics_.angular_jacobian(palm_, all.bottomRows<3>());
    for (std::size_t c = 0; c < joints_.size(); ++c)
      jacobian_.col(static_cast<Eigen::Index>(c)) = all.col(model.joint_dof(joints_[c]) - dof);
    const Vector pull = kPostureGain * (settings_.posture - q_);
    Vector step = jacobian_.transpose() * damped_square(jacobian_).ldlt().solve(e - jacobian_ * pull) + pull;
    step *= std::min(1.0, kLongest / std::max(step.cwiseAbs().maxCoeff(), 1e-300));
    for (std::size_t c = 0; c < joints_.size(); ++c) {
      const JointDescription& joint = model.joint(joints_[c]);
      double& q = q_[static_cast<Eigen::Index>(c)];
      q = std::clamp(q + step[static_cast<Eigen::Index>(c)], joint.lower, joint.upper);
    }
  }
  reference_ = target;
}

void GuidedArm::place(State& state, const Pose& target) {
  const Model& model = world_->model;
  q_ = settings_.posture;
  solve(target, kPlaceSteps);
  if (!(error_ < kPlaceError)) {
    throw InvalidInput(
        fmt::format("the arm of joint '{}' does not reach its first pose: {:.2g} m or rad are left",
                    model.joint(joints_.front()).name, error_));
  }
  home_q_ = q_, home_ = target;
  restart();
  for (std::size_t c = 0; c < joints_.size(); ++c)
    state.q[model.joint_coordinate(joints_[c])] = q_[static_cast<Eigen::Index>(c)];
  for (std::size_t c = 0; c < fingers_.size(); ++c)
    state.q[model.joint_coordinate(fingers_[c])] = settings_.open[static_cast<Eigen::Index>(c)];
}

void GuidedArm::restart() {
  q_ = home_q_, reference_ = home_;
  v_.setZero();
  closed_ = 0.0, closing_ = false;
  path_ = PoseTrajectory({{0.0, home_}});
}

void GuidedArm::follow(const PoseReference& target) {
  solve(target.pose, kFollowSteps);
  v_ = jacobian_.transpose() * damped_square(jacobian_).ldlt().solve(target.velocity);
}

void GuidedArm::go(double now, std::vector<PoseTrajectory::Keyframe> poses) {
  for (PoseTrajectory::Keyframe& key : poses) key.time += now;
  poses.insert(poses.begin(), {now, reference_});
  path_ = PoseTrajectory(std::move(poses));
}

void GuidedArm::add_force(Simulator& s) {
  const double rate = s.time_step() / settings_.closing_time;
  closed_ = std::clamp(closed_ + (closing_ ? rate : -rate), 0.0, 1.0);
  const Vector fingers = settings_.open + closed_ * (settings_.closed - settings_.open);
  arm_control_.add_force(s.kinematics(), s.state(),
                         {.value = q_, .velocity = v_, .force = losses_.cwiseProduct(v_)}, s.force());
  finger_control_.add_force(s.kinematics(), s.state(), {.value = fingers}, s.force());
}

}  // namespace tribo::detail
