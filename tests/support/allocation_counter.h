// Counts the heap allocations of this process by standing in for malloc and its relatives (operator new and
// Eigen end there too).
#pragma once

#include <cstddef>

namespace tribo::test {

// False under a sanitizer, which stands in for malloc itself, and with other C libraries than glibc: the
// count then stays zero.
bool counts_allocations();

// Allocations of the calling thread so far.
std::size_t allocation_count();

}  // namespace tribo::test
