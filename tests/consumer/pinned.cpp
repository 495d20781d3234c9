// Sizes as the library sees them: with the definitions of its target and no flags of its own.
#include <cstddef>

#include "tribo/multibody/model_builder.h"

std::size_t pinned_body_bytes() { return sizeof(tribo::BodyDescription); }
std::size_t pinned_quaternion_alignment() { return alignof(tribo::Quat); }
