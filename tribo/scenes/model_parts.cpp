#include "tribo/scenes/model_parts.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/base/errors.h"
#include "tribo/multibody/kinematics.h"
#include "tribo/sim/attach.h"

namespace tribo::detail {

namespace {

std::vector<Index> hinges_above(const Model& model, Index body) {
  std::vector<Index> joints;
  for (; body > 0; body = model.body_parent(body)) {
    for (Index j = model.joint_end(body); j-- > model.joint_begin(body);) {
      if (model.joint(j).kind == JointKind::hinge) joints.push_back(j);
    }
  }
  std::ranges::reverse(joints);
  return joints;
}

std::vector<Index> range(Index first, Index count) {
  std::vector<Index> numbers;
  for (Index k = 0; k < count; ++k) numbers.push_back(first + k);
  return numbers;
}

// ----- gripper ----------------------------------------------------------------------------------------------------------

struct Pads {
  std::vector<const Geom*> geoms = {};
  double turn = 0.0;  // rad about z, of the direction in which they open
  Index body = 0;     // of one on its positive side
};

struct Opening {
  double half, height;  // m: from the middle to the pads; of their middle above the model's origin
};

Vec3 middle_of(const Kinematics& kinematics, const Geom& geom) {
  return kinematics.pose(geom.body) * geom.pose.position;
}

Pads find_pads(const World& model, std::string_view role) {
  Pads pads;
  for (const Geom& geom : model.geoms) {
    if (geom.name.find("pad") != std::string::npos && geom.contact_type != 0) pads.geoms.push_back(&geom);
  }
  Kinematics kinematics(model.model);
  kinematics.set_positions(model.model.reference_coordinates());
  for (const Geom* geom : pads.geoms) {
    const Vec3 apart = middle_of(kinematics, *geom) - middle_of(kinematics, *pads.geoms.front());
    if (geom->body == pads.geoms.front()->body || apart.head<2>().norm() == 0.0) continue;
    pads.turn = std::atan2(apart.y(), apart.x());
    pads.body = geom->body;
  }
  if (pads.body == 0) {
    throw InvalidInput(fmt::format(
        "the model of the {} has no two pads: geoms on two bodies with \"pad\" in their names", role));
  }
  return pads;
}

Opening opening_of(const World& model, const Pads& pads, const Vector& q) {
  Kinematics kinematics(model.model);
  kinematics.set_positions(q);
  const Pose along{Vec3::Zero(), Eigen::AngleAxisd(pads.turn, Vec3::UnitZ()).toRotationMatrix()};
  double right = std::numeric_limits<double>::infinity(), left = -right, low = right, high = -right;
  for (const Geom* geom : pads.geoms) {
    const Aabb box = geom->shape.bounds(along.inverse() * (kinematics.pose(geom->body) * geom->pose));
    if (geom->body == pads.body) right = std::min(right, box.lower.x());
    if (geom->body != pads.body) left = std::max(left, box.upper.x());
    low = std::min(low, box.lower.z()), high = std::max(high, box.upper.z());
  }
  return {0.5 * (right - left), 0.5 * (low + high)};
}

std::vector<Index> find_drives(const World& model, std::string_view role) {
  if (model.joint_couplings.size() == 1 && model.joint_couplings[0].second >= 0)
    return {model.joint_couplings[0].first, model.joint_couplings[0].second};
  std::vector<Index> slides;
  for (Index j = 0; j < model.model.joint_count(); ++j) {
    if (model.model.joint(j).kind == JointKind::slide) slides.push_back(j);
  }
  if (slides.size() != 2) {
    throw InvalidInput(fmt::format(
        "the model of the {} needs two drives with an equality of joints between them, or two slides", role));
  }
  return slides;
}

// What a spring presses against its stop at the reference stays there: links of fingers that adapt to what they hold.
Vector driven_to(const World& model, const std::vector<Index>& drives, Vector q, double value) {
  const Vector rest = model.model.reference_coordinates();
  std::vector<Index> held = drives;
  for (Index j = 0; j < model.model.joint_count(); ++j) {
    const JointDescription& joint = model.model.joint(j);
    const double at = rest[model.model.joint_coordinate(j)];
    if (joint.limited && (at <= joint.lower || at >= joint.upper)) held.push_back(j);
  }
  constexpr double kStride = 0.05;  // rad or m: far less than links turn between one way to close and another
  const double from = q[model.model.joint_coordinate(drives[0])];
  const int strides = std::max(1, static_cast<int>(std::ceil(std::abs(value - from) / kStride)));
  for (int k = 1; k <= strides; ++k) {
    for (const Index j : drives) q[model.model.joint_coordinate(j)] = from + (value - from) * k / strides;
    q = with_connects_closed(model, std::move(q), held);
  }
  return q;
}

}  // namespace

Vector with_connects_closed(const World& world, Vector q, const std::vector<Index>& held) {
  constexpr double kEnough = 1e-9, kStep = 1e-7;  // m; of differences, rad or m
  constexpr double kDamping = 1e-12;              // m^2, beside squares of levers of some centimetres
  constexpr int kSteps = 50;
  Kinematics kinematics(world.model);
  const auto gaps = [&](const Vector& at) {
    kinematics.set_positions(at);
    Vector apart(3 * static_cast<Eigen::Index>(world.connects.size()));
    Eigen::Index row = 0;
    for (const Connect& c : world.connects) {
      apart.segment<3>(row) =
          kinematics.pose(c.first) * c.first_anchor - kinematics.pose(c.second) * c.second_anchor;
      row += 3;
    }
    return apart;
  };
  std::vector<Index> free;
  for (Index j = 0; j < world.model.joint_count(); ++j) {
    if (std::ranges::find(held, j) == held.end()) free.push_back(world.model.joint_coordinate(j));
  }
  for (int step = 0; step < kSteps; ++step) {
    const Vector apart = gaps(q);
    if (apart.size() == 0 || apart.cwiseAbs().maxCoeff() < kEnough) return q;
    Matrix j(apart.size(), static_cast<Eigen::Index>(free.size()));
    for (std::size_t k = 0; k < free.size(); ++k) {
      Vector moved = q;
      moved[free[k]] += kStep;
      j.col(static_cast<Eigen::Index>(k)) = (gaps(moved) - apart) / kStep;
    }
    const Matrix normal = j.transpose() * j + kDamping * Matrix::Identity(j.cols(), j.cols());
    const Vector move = normal.ldlt().solve(-(j.transpose() * apart));
    for (std::size_t k = 0; k < free.size(); ++k) q[free[k]] += move[static_cast<Eigen::Index>(k)];
  }
  throw InvalidInput("the connects of the gripper's model do not close between its drives' limits");
}

Vector model_efforts(const Model& model, const std::vector<Index>& joints) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  Vector efforts = Vector::Constant(static_cast<Eigen::Index>(joints.size()), kNone);
  for (const ActuatorDescription& a : model.actuators()) {
    const double force = std::max(std::abs(a.force_lower), std::abs(a.force_upper)) * std::abs(a.gear[0]);
    for (std::size_t k = 0; k < joints.size(); ++k) {
      double& effort = efforts[static_cast<Eigen::Index>(k)];
      if (a.joint == joints[k]) effort = std::min(effort, force);
      if (a.tendon < 0) continue;
      for (const TendonDescription::Term& term : model.tendons()[static_cast<std::size_t>(a.tendon)].terms) {
        if (term.joint == joints[k]) effort = std::min(effort, std::abs(term.coefficient) * force);
      }
    }
  }
  return efforts;
}

Manipulator add_arm_model(ModelBuilder& builder, World& world, const World& model, std::string_view role,
                          const Mount& mount, const Vector& efforts) {
  std::vector<Index> hinges;
  Index last = 0;
  for (Index b = 1; b < model.model.body_count(); ++b) {
    std::vector<Index> above = hinges_above(model.model, b);
    if (above.size() >= hinges.size()) hinges = std::move(above), last = b;
  }
  if (static_cast<Eigen::Index>(hinges.size()) != efforts.size() ||
      model.model.joint_count() != efforts.size()) {
    throw InvalidInput(
        fmt::format("the model of the {} has {} joints, of which {} in a chain of hinges; the "
                    "scene needs one of {} and nothing else",
                    role, model.model.joint_count(), hinges.size(), efforts.size()));
  }
  const Attached added =
      attach(builder, world, model,
             {.body = mount.parent, .pose = mount.pose, .actuators = false, .prefix = mount.prefix});
  Manipulator arm{.body = added.body + last - 1,
                  .efforts = model_efforts(model.model, hinges).cwiseMin(efforts),
                  .bodies = range(added.body, added.body_count)};
  for (const Index j : hinges) arm.joints.push_back(mount.prefix + model.model.joint(j).name);
  for (const SiteDescription& site : model.model.sites()) {
    if (site.body == last) arm.end = site.pose;
  }
  return arm;
}

ModelGripper add_gripper_model(ModelBuilder& builder, World& world, const World& model, std::string_view role,
                               const Mount& mount, double half) {
  const std::vector<Index> drives = find_drives(model, role);
  const Pads pads = find_pads(model, role);
  const Vector rest = model.model.reference_coordinates();
  const JointDescription& drive = model.model.joint(drives[0]);
  const Vector lower = driven_to(model, drives, rest, drive.lower),
               upper = driven_to(model, drives, rest, drive.upper);
  ModelGripper gripper;
  gripper.closing = opening_of(model, pads, lower).half > opening_of(model, pads, upper).half ? 1.0 : -1.0;
  gripper.open = gripper.closing > 0.0 ? lower : upper;
  const double widest = opening_of(model, pads, gripper.open).half;
  if (!(widest > half)) {
    throw InvalidInput(fmt::format("the model of the {} opens to {:.3g} m and is to hold {:.3g} m", role,
                                   2.0 * widest, 2.0 * half));
  }
  double open = gripper.closing > 0.0 ? drive.lower : drive.upper,
         closed = gripper.closing > 0.0 ? drive.upper : drive.lower;
  gripper.around = gripper.open;
  while (std::abs(closed - open) > 1e-9) {
    const double between = 0.5 * (open + closed);
    gripper.around = driven_to(model, drives, gripper.around, between);
    (opening_of(model, pads, gripper.around).half > half ? open : closed) = between;
  }
  const Pose turned = mount.pose * Pose{Vec3::Zero(), Eigen::AngleAxisd(-pads.turn, Vec3::UnitZ()).matrix()};
  const Attached added =
      attach(builder, world, model,
             {.body = mount.parent, .pose = turned, .actuators = false, .prefix = mount.prefix});
  gripper.part.body = mount.parent;
  gripper.part.end =
      mount.pose * Pose{Vec3(0.0, 0.0, opening_of(model, pads, gripper.around).height), Mat3::Identity()};
  gripper.part.bodies = range(added.body, added.body_count);
  gripper.part.efforts = model_efforts(model.model, drives);
  gripper.pad = added.body + pads.body - 1;
  for (Index j = 0; j < model.model.joint_count(); ++j) {
    gripper.joints.push_back(mount.prefix + model.model.joint(j).name);
    const bool drives_it = std::ranges::find(drives, j) != drives.end();
    (drives_it ? gripper.part : gripper.passive).joints.push_back(gripper.joints.back());
  }
  gripper.passive.efforts = Vector::Zero(static_cast<Eigen::Index>(gripper.passive.joints.size()));
  return gripper;
}

}  // namespace tribo::detail
