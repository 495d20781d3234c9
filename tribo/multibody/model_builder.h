// From descriptions of bodies, joints, tendons, actuators and sites to a Model.
#pragma once

#include <string>
#include <vector>

#include "tribo/multibody/model.h"

namespace tribo {

// Collects a model piece by piece, then validates it as a whole: InvalidInput naming the body or joint when a
// number is not finite, a mass is negative, a moving body has no inertia, an axis is zero, limits are crossed.
// Bodies must be added parent first and depth first (all descendants of a body before its next sibling).
class ModelBuilder {
 public:
  Index add_body(BodyDescription body);     // >= 1
  Index add_joint(JointDescription joint);  // of the body added last
  Index add_free_body(std::string name, const Pose& pose, const RigidInertia& inertia);  // body + free joint
  Index add_tendon(TendonDescription tendon);
  Index add_actuator(ActuatorDescription actuator);
  Index add_site(SiteDescription site);
  Model build();

 private:
  void validate() const;
  void place_body(Index body, Model& model) const;
  void place_joints(Index body, Model& model) const;

  std::vector<BodyDescription> bodies_;
  std::vector<JointDescription> joints_;
  std::vector<TendonDescription> tendons_;
  std::vector<ActuatorDescription> actuators_;
  std::vector<SiteDescription> sites_;
};

}  // namespace tribo
