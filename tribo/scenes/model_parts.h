// Arms and grippers of the user's models in the place of those of primitives (scenes/robots.h, manipulators.h).
//
// An arm is the chain of hinges that leads to the body farthest from the base; it ends at the site of that body, or at its
// frame. A gripper has two drives, joined by one equality of joints (<equality><joint>), or two slides; its pads are the geoms
// with "pad" in their names, and what moves besides follows by its connects (<equality><connect>).
#pragma once

#include <string_view>

#include "tribo/scenes/manipulators.h"

namespace tribo::detail {

// Largest |force| of the drives on each of these joints, N m or N; infinite where the model has no drive or no limit.
Vector model_efforts(const Model& model, const std::vector<Index>& joints);

// As add_arm7. InvalidInput when the model has another number of hinges than seven; `role` is for messages. Efforts: those of
// the model, at most `efforts`.
Manipulator add_arm_model(ModelBuilder& builder, World& world, const World& model, std::string_view role,
                          const Mount& mount, const Vector& efforts);

struct ModelGripper {
  Manipulator
      part;  // `joints`: the drives; `body`: the arm's, `end`: between the pads, in its frame, both opening along x
  Manipulator passive;              // the other joints, without effort
  std::vector<std::string> joints;  // all of them, as the model numbers them
  Vector open, around;              // of `joints`: wide open; the pads `half` from the middle
  double closing = 1.0;             // +1 where the drives' coordinates grow while it closes, else -1
  Index pad = 0;                    // body of one pad
};

// Hangs on the mount, z ahead; opens along the mount's x. `half`: m, half of what it is to hold; InvalidInput when it does not
// open so far.
ModelGripper add_gripper_model(ModelBuilder& builder, World& world, const World& model, std::string_view role,
                               const Mount& mount, double half);

// Coordinates from q on at which all connects of the world hold to 1e-9 m while the joints `held` stay. InvalidInput when
// there are none near.
Vector with_connects_closed(const World& world, Vector q, const std::vector<Index>& held);

}  // namespace tribo::detail
