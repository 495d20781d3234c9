// A persistent pool of threads for data-parallel loops.
//
// run(items, body) calls body(item, worker) once for every item in [0, items); the calling thread takes part
// as worker 0. Items are handed out in chunks by an atomic counter, so which worker meets which item varies
// from run to run: a body that writes only to its item's own place gives the same bits with any number of
// threads, and `worker` serves to choose scratch memory. A run allocates nothing. Workers spin briefly for
// the next run before they sleep; a run does not wait for workers that come too late to help.
//
// Only one thread at a time may call run(). A run() of any pool from inside a body executes its items inline,
// unless that body's own run was not worth sharing out (one thread, one chunk). An exception of a body is
// thrown again by run(), after all workers have left; items not yet begun are skipped.
//
// Example:
//   Workers workers(4);
//   workers.run(tree_count, [&](Index tree, Index worker) { factorize(tree, scratch[worker]); });
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "tribo/base/types.h"

namespace tribo {

class Workers {
 public:
  // `threads` >= 1 counts the caller; with 1 no thread is started.
  explicit Workers(Index threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Bodies see worker < count().
  Index count() const { return static_cast<Index>(threads_.size()) + 1; }

  // A chunk for items of a microsecond or less: enough chunks for balance, not so many that handing them out
  // costs more than the work.
  Index share(Index items) const { return std::clamp(items / (4 * count()), Index{1}, Index{512}); }

  // `chunk`: consecutive items handed out at once.
  template <class F>
  void run(Index items, F&& body, Index chunk = 1) {
    using Body = std::remove_reference_t<F>;
    run_job({[](void* b, Index first, Index last, Index worker) {
               for (Index item = first; item < last; ++item) (*static_cast<Body*>(b))(item, worker);
             },
             const_cast<void*>(static_cast<const void*>(std::addressof(body))), items, chunk});
  }

 private:
  struct Job {
    void (*call)(void* body, Index first, Index last, Index worker) = nullptr;
    void* body = nullptr;
    Index items = 0;
    Index chunk = 1;
  };

  void run_job(const Job& job);
  void take_part(Index worker);
  void live(Index worker);
  bool join(std::uint64_t& seen);

  // One word says it all: number of the run, whether it is open to workers, how many are inside.
  static constexpr std::uint64_t kOpen = std::uint64_t{1} << 31;
  static constexpr std::uint64_t kInside = kOpen - 1;
  static constexpr std::uint64_t kRun = std::uint64_t{1} << 32;

  std::vector<std::thread> threads_;
  Job job_;
  std::atomic<std::int64_t> next_{0};  // wider than Index: late workers still add to it
  std::atomic<std::uint64_t> state_{0};
  std::atomic<Index> sleepers_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;  // guards sleeping and error_
  std::condition_variable wake_;
  std::exception_ptr error_;
  Index spins_ = 0;
};

}  // namespace tribo
