#include "tribo/sim/forces/adhesion.h"

namespace tribo {

void add_adhesion(const World& world, const std::vector<Contact>& contacts, const Kinematics& kinematics,
                  const Vector& input, Vector& force) {
  visit_adhesion(world, contacts, input, [&](const Contact& c, const Vec3& push) {
    kinematics.add_force(c.body_b, c.position, push, Vec3::Zero(), force);
    kinematics.add_force(c.body_a, c.position, -push, Vec3::Zero(), force);
  });
}

}  // namespace tribo
