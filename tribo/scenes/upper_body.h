// Half of an upper body of primitives: an arm of seven joints that hangs from a shoulder and a hand of seven joints, 28 on both
// sides together.
//
// | part      | after                                     | joints                          | efforts                  |
// | add_arm7s | Tiago's arms: masses, lengths, torques    | 7 hinges, axes z y z y z y x    | 43 43 26 26 6.6 6.6 6.6 N m |
// | add_hand7 | fingers of the Allegro hand, two of them  | 2 fingers of 2, a thumb of 3    | 0.7 N m                  |
//
// Frames and use as in manipulators.h: z leads away from the mount, fingers at x > 0 bend towards -x against the thumb.
#pragma once

#include "tribo/scenes/manipulators.h"

namespace tribo::detail {

Manipulator add_arm7s(ModelBuilder& builder, World& world, const Mount& mount);
// `body` is the palm, `end` the middle of its front. `spread`: distance of the fingers from the palm's middle, m. Joints
// finger by finger, the thumb last; its first one tilts it sideways.
Manipulator add_hand7(ModelBuilder& builder, World& world, const Mount& mount, double spread);

}  // namespace tribo::detail
