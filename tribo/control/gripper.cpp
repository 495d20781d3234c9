#include "tribo/control/gripper.h"

#include "tribo/base/errors.h"

namespace tribo {

void add_grip(const Model& model, const GripperSettings& settings, const State& state, double grip,
              Vector& sum) {
  const auto is_slide = [&](Index joint) {
    return joint >= 0 && joint < model.joint_count() && model.joint(joint).kind == JointKind::slide;
  };
  if (settings.first == settings.second || !is_slide(settings.first) || !is_slide(settings.second))
    throw InvalidInput("gripper: first and second must be two slides of the model");
  if (sum.size() != model.dof_count()) throw InvalidInput("gripper: the forces need a value per dof");
  const double apart =
      state.q[model.joint_coordinate(settings.first)] - state.q[model.joint_coordinate(settings.second)];
  const Index one = model.joint_dof(settings.first), two = model.joint_dof(settings.second);
  sum[one] += -grip - 0.5 * settings.centering * apart - settings.damping * state.v[one];
  sum[two] += -grip + 0.5 * settings.centering * apart - settings.damping * state.v[two];
}

}  // namespace tribo
