#include "calls.h"

#include <fmt/format.h>

#include <stdexcept>

namespace tribo::python {

bool Interruption::requested() {
  if (error_) return true;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return false;
  next_ = now + kInterval;
  return !ask([] {
    // Handlers of signals run in the main thread; in others this does nothing.
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    return true;
  });
}

InUse::InUse(Owner& owner, For purpose, const char* what) : owner_(owner) {
  const auto self = static_cast<std::uintptr_t>(PyThread_get_thread_ident());
  std::uintptr_t holder = 0;
  entered_ = owner_.thread.compare_exchange_strong(holder, self);
  if (entered_ || (holder == self && purpose == For::reading)) return;
  throw std::runtime_error(
      holder == self ? fmt::format("this {} is at work: its own callback cannot change it", what)
                     : fmt::format("this {} is in use by another thread: give each thread its own", what));
}

}  // namespace tribo::python
