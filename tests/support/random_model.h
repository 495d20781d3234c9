// Random mechanisms: trees of bodies with all kinds of joints, several per body, welded bodies, free bodies,
// bodies fixed in the world.
#pragma once

#include "tests/support/random.h"
#include "tribo/multibody/kinematics.h"
#include "tribo/multibody/state.h"

namespace tribo::test {

Index random_index(Random& random, Index count);

Quat random_rotation(Random& random);

// Of a few random points of mass: possible for a rigid body, of full rank.
RigidInertia random_inertia(Random& random);

// `first` of its body: the ones after it may move the body in the same way and need an armature.
JointDescription random_joint(Random& random, Index body, JointKind kind, bool first = true);

struct RandomModel {
  Index bodies = 10;
  double free_share = 0.4;    // of the bodies on the world
  bool ball_anywhere = true;  // false: nothing rotates after a ball joint, as MuJoCo wants it
};

Model random_model(Random& random, const RandomModel& options = {});

// Away from the reference, with velocities.
State random_state(Random& random, const Model& model);

// A random model in a random state.
struct RandomMechanism {
  explicit RandomMechanism(Random& random, const RandomModel& options = {});
  RandomMechanism(const RandomMechanism&) = delete;
  RandomMechanism& operator=(const RandomMechanism&) = delete;

  Model model;
  State state;
  Kinematics kinematics;
};

}  // namespace tribo::test
