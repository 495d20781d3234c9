// Lends the monitor's time limit to linear systems whose factorisations take long, for as long as it lives.
#pragma once

#include <tuple>

#include "tribo/solve/driver/monitor.h"

namespace tribo {

template <class... Systems>
class ScopedInterrupt {
 public:
  ScopedInterrupt(const Monitor& monitor, Systems&... systems) : systems_(systems...) {
    set(monitor.interrupt());
  }
  ~ScopedInterrupt() { set(nullptr); }
  ScopedInterrupt(const ScopedInterrupt&) = delete;
  ScopedInterrupt& operator=(const ScopedInterrupt&) = delete;

 private:
  void set(const std::function<bool()>* interrupt) {
    std::apply([&](Systems&... system) { (system.set_interrupt(interrupt), ...); }, systems_);
  }

  std::tuple<Systems&...> systems_;
};

}  // namespace tribo
