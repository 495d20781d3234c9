// What a program would see that does not get Eigen's alignment from the target (cmake/TriboEigenAlignment.cmake) and is
// compiled for other vector instructions than the library: the same struct with another size. Sizes only; nothing that is
// laid out differently is ever made here.
#undef EIGEN_MAX_ALIGN_BYTES
#undef EIGEN_MAX_STATIC_ALIGN_BYTES
#undef EIGEN_MALLOC_ALREADY_ALIGNED

#include <cstddef>
#include <cstdio>

#include "tribo/multibody/model_builder.h"

std::size_t pinned_body_bytes();
std::size_t pinned_quaternion_alignment();

// Fails where both agree: then the definitions do nothing, and the tests beside this one would pass without them.
int main() {
  const std::size_t bytes = sizeof(tribo::BodyDescription), alignment = alignof(tribo::Quat);
  std::printf("a body: %zu bytes, %zu without the definitions; a quaternion aligned to %zu, %zu without\n",
              pinned_body_bytes(), bytes, pinned_quaternion_alignment(), alignment);
  return alignment != pinned_quaternion_alignment() && bytes != pinned_body_bytes() ? 0 : 1;
}
