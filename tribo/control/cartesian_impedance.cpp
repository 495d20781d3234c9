#include "tribo/control/cartesian_impedance.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>

#include "tribo/base/errors.h"
#include "tribo/control/joint_impedance.h"
#include "tribo/multibody/rotation.h"

namespace tribo {

namespace {

// Share of the largest eigenvalue of the mobility below which no direction counts as softer: a hundred times the rounding of
// an arm stretched out to 1e-4 rad, and far below what arms have elsewhere (1e-3).
constexpr double kSingular = 1e-6;

void require(bool fine, const char* message) {
  if (!fine) throw InvalidInput(fmt::format("cartesian impedance: {}", message));
}

}  // namespace

CartesianImpedance::CartesianImpedance(const World& world, CartesianImpedanceSettings settings)
    : world_(&world), settings_(std::move(settings)), dynamics_(world.model) {
  const Model& model = world.model;
  require(settings_.body > 0 && settings_.body < model.body_count() && model.body_dof(settings_.body) >= 0,
          "the body must be one that moves");
  require((settings_.stiffness.array() >= 0.0).all(), "stiffness must be >= 0");
  require(settings_.damping_ratio >= 0.0, "damping_ratio must be >= 0");
  require(settings_.posture_stiffness >= 0.0 && settings_.posture_damping >= 0.0,
          "posture gains must be >= 0");
  if (settings_.posture.size() == 0) settings_.posture = initial_state(model).q;
  require(settings_.posture.size() == model.coordinate_count(), "posture needs a value per coordinate");
  require(settings_.efforts.size() == 0 || settings_.efforts.size() == model.dof_count(),
          "efforts needs a value per dof");
  for (Index k = 0; k < 6; ++k) {
    if (settings_.controlled[static_cast<std::size_t>(k)]) rows_.push_back(k);
  }
  require(!rows_.empty(), "no direction is controlled");
  keeps_posture_.assign(static_cast<std::size_t>(model.joint_count()), settings_.posture_joints.empty());
  for (const Index joint : settings_.posture_joints) {
    require(joint >= 0 && joint < model.joint_count(), "posture_joints must be joints of the model");
    keeps_posture_[static_cast<std::size_t>(joint)] = true;
  }
}

Pose CartesianImpedance::pose(const Kinematics& kinematics) const {
  const Pose& body = kinematics.pose(settings_.body);
  return {body * settings_.point, body.rotation};
}

// Lambda, and D with the damping ratio in every mode of (Lambda, K).
void CartesianImpedance::set_inertia(const Matrix& mobility) {
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(mobility);
  const double floor = kSingular * eigen.eigenvalues().tail<1>()[0];
  const Vector held = eigen.eigenvalues().cwiseMax(floor);
  const Matrix& turn = eigen.eigenvectors();
  inertia_ = turn * held.cwiseInverse().asDiagonal() * turn.transpose();
  const Matrix root = turn * held.cwiseSqrt().cwiseInverse().asDiagonal() * turn.transpose();
  const Matrix inverse_root = turn * held.cwiseSqrt().asDiagonal() * turn.transpose();
  Matrix scaled(rows_.size(), rows_.size());
  for (std::size_t a = 0; a < rows_.size(); ++a) {
    for (std::size_t b = 0; b < rows_.size(); ++b) {
      double sum = 0.0;
      for (std::size_t k = 0; k < rows_.size(); ++k) {
        sum += inverse_root(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(k)) *
               settings_.stiffness[rows_[k]] *
               inverse_root(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(b));
      }
      scaled(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) = sum;
    }
  }
  const Eigen::SelfAdjointEigenSolver<Matrix> modes(scaled);
  const Vector rates = modes.eigenvalues().cwiseMax(0.0).cwiseSqrt();
  const Matrix to_modes = root * modes.eigenvectors();
  damping_ = 2.0 * settings_.damping_ratio * to_modes * rates.asDiagonal() * to_modes.transpose();
}

void CartesianImpedance::add_force(const Kinematics& kinematics, const State& state,
                                   const PoseReference& target, Vector& sum, const Vec6& force) {
  const Model& model = world_->model;
  require(sum.size() == model.dof_count(), "the forces need a value per dof");
  const Index tree = model.body_tree(settings_.body);
  const Index dof = model.tree_dof(tree), count = model.tree_dof_count(tree);
  const Pose here = pose(kinematics);
  Eigen::Matrix<double, 3, Eigen::Dynamic> half(3, count);
  Matrix all(6, count);
  kinematics.point_jacobian(settings_.body, here.position, half);
  all.topRows<3>() = half;
  kinematics.angular_jacobian(settings_.body, half);
  all.bottomRows<3>() = half;
  const Vector v = state.v.segment(dof, count);
  const Vec6 moves = all * v;
  const Vec3 turns = moves.tail<3>(), arm = here.position - kinematics.origin(tree);
  const Vec6& drift = kinematics.drift(settings_.body);
  Vec6 error, drifts;
  error << target.pose.position - here.position,
      rotation_log(Quat(Mat3(target.pose.rotation * here.rotation.transpose())));
  drifts << drift.head<3>() + drift.tail<3>().cross(arm) + turns.cross(moves.head<3>()), drift.tail<3>();
  const auto rows = static_cast<Eigen::Index>(rows_.size());
  Matrix j(rows, count);
  Vector wanted(rows), slip(rows), pull(rows);
  for (Eigen::Index k = 0; k < rows; ++k) {
    const Index row = rows_[static_cast<std::size_t>(k)];
    j.row(k) = all.row(row);
    wanted[k] = target.acceleration[row] - drifts[row];
    slip[k] = target.velocity[row] - moves[row];
    pull[k] = settings_.stiffness[row] * error[row] + force[row];
  }
  dynamics_.set_positions(kinematics);
  const Eigen::LLT<Matrix> mass(dynamics_.mass(tree));
  const Matrix answer = mass.solve(j.transpose());  // M^-1 J^T
  set_inertia(j * answer);
  Vector posture = Vector::Zero(count), carried = Vector::Zero(model.dof_count()), bias;
  for (Index d = 0; d < count; ++d) {
    const Index joint = model.dof_joint(dof + d);
    if (!traits_of(model.joint(joint).kind).is_scalar() || !keeps_posture_[static_cast<std::size_t>(joint)])
      continue;
    const Index q = model.joint_coordinate(joint);
    posture[d] =
        settings_.posture_stiffness * (settings_.posture[q] - state.q[q]) - settings_.posture_damping * v[d];
  }
  add_weight_compensation(*world_, kinematics, carried);
  dynamics_.bias(kinematics, Vec3::Zero(), bias);
  const Vector frame_force = inertia_ * wanted + damping_ * slip + pull;
  const Vector tau = j.transpose() * (frame_force - inertia_ * (answer.transpose() * posture)) + posture +
                     carried.segment(dof, count) + bias.segment(dof, count);
  for (Index d = 0; d < count; ++d) {
    const double most = settings_.efforts.size() > 0 ? settings_.efforts[dof + d] : 0.0;
    sum[dof + d] += settings_.efforts.size() > 0 ? std::clamp(tau[d], -most, most) : tau[d];
  }
}

}  // namespace tribo
