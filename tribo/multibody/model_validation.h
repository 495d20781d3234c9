// Checks of the pieces of a model, one description at a time. InvalidInput names the piece and says what would be
// right. Used by ModelBuilder::build().
#pragma once

#include <span>

#include "tribo/multibody/model.h"

namespace tribo::detail {

// `body` >= 1; `before`: the bodies with smaller indices, without the world.
void validate_body(Index body, const BodyDescription& description, std::span<const BodyDescription> before);
void validate_joint(Index joint, const JointDescription& description);
void validate_tendon(Index tendon, const TendonDescription& description,
                     std::span<const JointDescription> joints, Index body_count);
struct ModelSizes {
  Index bodies, joints, tendons, sites;
};
void validate_actuator(Index actuator, const ActuatorDescription& description, const ModelSizes& sizes);
void validate_site(Index site, const SiteDescription& description, Index body_count);

// Joints of one body: a free joint is alone, and on a body of the world.
void validate_joints_of(const BodyDescription& body, std::span<const JointDescription> joints);

// Every joint must move some inertia: what hangs on it, held rigid at the reference, or its armature.
void validate_inertias(const Model& model);

}  // namespace tribo::detail
