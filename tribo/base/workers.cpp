#include "tribo/base/workers.h"

#include <algorithm>
#include <cassert>

namespace tribo {
namespace {

// Some 20-80 microseconds of polling: as long as waking a sleeper would take.
constexpr Index kSpins = 1000;

// Polls without giving up the core: on a busy machine it would come back much later.
void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// The innermost body this thread is in: whose pool, as which worker.
struct Inside {
  const void* pool = nullptr;
  Index worker = 0;
};
thread_local Inside inside;

// Leaves `inside` as it was, whatever the body does.
class Scope {
 public:
  Scope(const void* pool, Index worker) : before_(inside) { inside = {pool, worker}; }
  ~Scope() { inside = before_; }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Inside before_;
};

}  // namespace

Workers::Workers(Index threads) {
  assert(threads >= 1);
  const auto cores = static_cast<Index>(std::thread::hardware_concurrency());
  // Without a core for everyone, polling takes the time of those who work.
  spins_ = threads <= std::max(cores, 1) ? kSpins : 0;
  threads_.reserve(std::max(threads - 1, 0));
  for (Index worker = 1; worker < threads; ++worker) {
    threads_.emplace_back([this, worker] { live(worker); });
  }
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::take_part(Index worker) {
  const Scope scope(this, worker);
  try {
    while (true) {
      const std::int64_t first = next_.fetch_add(job_.chunk, std::memory_order_relaxed);
      if (first >= job_.items) return;
      const std::int64_t last = std::min<std::int64_t>(first + job_.chunk, job_.items);
      job_.call(job_.body, static_cast<Index>(first), static_cast<Index>(last), worker);
    }
  } catch (...) {
    next_.store(job_.items, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
  }
}

void Workers::run_job(const Job& job) {
  assert(job.chunk >= 1);
  if (threads_.empty() || job.items <= job.chunk || inside.pool != nullptr) {
    // Not marked as inside: a body that is alone may well use threads of another pool.
    if (job.items > 0) job.call(job.body, 0, job.items, inside.pool == this ? inside.worker : 0);
    return;
  }
  job_ = job;
  next_.store(0, std::memory_order_relaxed);
  // Nobody is inside and the state is closed, so nobody else writes it now. Sequential consistency: either
  // the sleeper sees the open run or we see the sleeper.
  state_.store((state_.load(std::memory_order_relaxed) & ~(kRun - 1)) + kRun + kOpen);
  if (sleepers_.load() > 0) {
    { const std::lock_guard lock(mutex_); }
    wake_.notify_all();
  }
  take_part(0);
  state_.fetch_and(~kOpen);
  for (Index polls = 0; (state_.load(std::memory_order_acquire) & kInside) != 0; ++polls) {
    if (polls < spins_) {
      relax();
    } else {
      std::this_thread::yield();  // its core may be needed to finish
    }
  }
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

// Enters the present run unless it is closed or was joined before.
bool Workers::join(std::uint64_t& seen) {
  std::uint64_t state = state_.load();
  while ((state & kOpen) != 0 && state / kRun != seen) {
    if (state_.compare_exchange_weak(state, state + 1)) {
      seen = state / kRun;
      return true;
    }
  }
  return false;
}

void Workers::live(Index worker) {
  std::uint64_t seen = 0;
  Index idle = 0;
  while (!stop_.load(std::memory_order_relaxed)) {
    if (join(seen)) {
      take_part(worker);
      state_.fetch_sub(1, std::memory_order_release);
      idle = 0;
    } else if (idle < spins_) {
      ++idle;
      relax();
    } else {
      std::unique_lock lock(mutex_);
      sleepers_.fetch_add(1);
      wake_.wait(lock, [&] {
        const std::uint64_t state = state_.load();
        return stop_.load() || ((state & kOpen) != 0 && state / kRun != seen);
      });
      sleepers_.fetch_sub(1);
      idle = 0;
    }
  }
}

}  // namespace tribo
