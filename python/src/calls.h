// What every call that may take long does: the GIL is released, Ctrl-C is noticed, a callback written in Python may stop it.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <utility>

namespace tribo::python {

// Whether Python wants the call to end (Ctrl-C), asked at most every `kInterval`; with the GIL released. The exception is
// kept and thrown again by rethrow(), with the GIL held.
class Interruption {
 public:
  static constexpr std::chrono::milliseconds kInterval{20};

  bool requested();
  // Calls Python with the GIL; false if that threw (the exception is kept) or `call` returned false.
  template <class Call>
  bool ask(const Call& call) {
    const nanobind::gil_scoped_acquire gil;
    try {
      return call();
    } catch (nanobind::python_error&) {
      error_ = std::current_exception();
    } catch (const nanobind::builtin_exception&) {
      error_ = std::current_exception();
    }
    return false;
  }
  bool failed() const { return error_ != nullptr; }
  void rethrow() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + kInterval;
  std::exception_ptr error_;
};

// An object of C++ is used by one thread at a time. A second thread is told so (RuntimeError) instead of waiting: it may hold
// what the first one waits for. So is a callback that wants to change what is just at work; it may read.
class Owner {
 public:
  std::atomic<std::uintptr_t> thread{0};
};

class InUse {
 public:
  enum class For { reading, changing };
  InUse(Owner& owner, For purpose, const char* what);
  ~InUse() {
    if (entered_) owner_.thread = 0;
  }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;

 private:
  Owner& owner_;
  bool entered_ = false;
};

}  // namespace tribo::python
