#include "tribo/base/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/allocation_counter.h"

namespace tribo {
namespace {

TEST(Workers, EveryItemOnceForAnyNumberOfThreadsAndChunks) {
  for (const Index threads : {1, 2, 3, 8}) {
    Workers workers(threads);
    EXPECT_EQ(workers.count(), threads);
    for (const Index items : {0, 1, 2, 7, 1000}) {
      for (const Index chunk : {1, 3, 64}) {
        std::vector<int> met(items, 0);
        std::atomic<bool> worker_in_range = true;
        workers.run(
            items,
            [&](Index item, Index worker) {
              ++met[item];
              if (worker < 0 || worker >= threads) worker_in_range = false;
            },
            chunk);
        EXPECT_EQ(met, std::vector<int>(items, 1)) << threads << " threads, chunk " << chunk;
        EXPECT_TRUE(worker_in_range);
      }
    }
  }
}

TEST(Workers, WhatOneRunWroteTheNextRunReads) {
  Workers workers(4);
  constexpr Index n = 200;
  std::vector<Index> a(n, 0), b(n, 0);
  for (Index round = 0; round < 500; ++round) {
    workers.run(n, [&](Index i, Index) { b[i] = a[(i + 1) % n] + 1; });
    workers.run(n, [&](Index i, Index) { a[i] = b[(i + n - 1) % n]; });
  }
  EXPECT_EQ(a, std::vector<Index>(n, 500));
}

// Each worker must be alone in its scratch memory.
TEST(Workers, WorkersDoNotShareAnIndex) {
  Workers workers(4);
  std::vector<Index> busy(workers.count(), 0);
  std::atomic<Index> collisions = 0;
  for (Index round = 0; round < 100; ++round) {
    workers.run(100, [&](Index, Index worker) {
      if (++busy[worker] != 1) ++collisions;
      --busy[worker];
    });
  }
  EXPECT_EQ(collisions, 0);
}

TEST(Workers, AThreadOfThePoolReallyTakesPart) {
  Workers workers(2);
  std::atomic<Index> arrived = 0;
  // Both items wait for each other, so one thread alone could not finish.
  workers.run(2, [&](Index, Index) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST(Workers, ExceptionsReachTheCallerAndThePoolLivesOn) {
  for (const Index threads : {1, 3}) {
    Workers workers(threads);
    std::atomic<Index> begun = 0;
    const auto body = [&](Index item, Index) {
      ++begun;
      if (item == 5) throw std::runtime_error("item 5");
    };
    EXPECT_THROW(workers.run(100000, body), std::runtime_error);
    EXPECT_LT(begun, 100000) << "the rest is skipped";
    std::atomic<Index> sum = 0;
    workers.run(10, [&](Index item, Index) { sum += item; });
    EXPECT_EQ(sum, 45);
  }
}

TEST(Workers, NestedRunsExecuteInlineAsTheSameWorker) {
  Workers workers(3);
  Workers other(2);
  std::atomic<Index> count = 0, foreign = 0;
  workers.run(10, [&](Index, Index outer) {
    workers.run(10, [&](Index, Index inner) {
      ++count;
      if (inner != outer) ++foreign;
    });
  });
  EXPECT_EQ(count, 100);
  EXPECT_EQ(foreign, 0);
  workers.run(4, [&](Index, Index outer) {
    if (outer != 0) return;  // one at a time may use the other pool
    const auto caller = std::this_thread::get_id();
    other.run(10, [&](Index, Index worker) {
      if (worker != 0 || std::this_thread::get_id() != caller) ++foreign;
    });
  });
  EXPECT_EQ(foreign, 0) << "another pool, too, is used inline from inside a body";
}

TEST(Workers, RunsDoNotAllocate) {
  Workers workers(3);
  std::vector<double> x(1000, 1.0);
  const auto twice = [&](Index i, Index) { x[i] *= 2.0; };
  workers.run(1000, twice, 10);
  const std::size_t before = test::allocation_count();
  for (Index round = 0; round < 10; ++round) workers.run(1000, twice, 10);
  EXPECT_EQ(test::allocation_count(), before);
  EXPECT_EQ(x[999], 2048.0);
}

}  // namespace
}  // namespace tribo
