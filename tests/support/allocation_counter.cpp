#include "tests/support/allocation_counter.h"

#include <cerrno>
#include <cstdlib>

namespace {
thread_local std::size_t count = 0;
}

namespace tribo::test {
std::size_t allocation_count() { return count; }
}  // namespace tribo::test

// GCC says by macros whether a sanitizer stands in for malloc; with other compilers nothing is counted.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__clang__)

bool tribo::test::counts_allocations() { return true; }

// free() stays glibc's: the memory is.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t items, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  ++count;
  return __libc_malloc(size);
}
void* calloc(std::size_t items, std::size_t size) {
  ++count;
  return __libc_calloc(items, size);
}
void* realloc(void* old, std::size_t size) {
  ++count;
  return __libc_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  ++count;
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++count;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** place, std::size_t alignment, std::size_t size) {
  ++count;
  void* memory = __libc_memalign(alignment, size);
  if (memory == nullptr) return ENOMEM;
  *place = memory;
  return 0;
}
}

#else
bool tribo::test::counts_allocations() { return false; }
#endif
