// Time of the narrow phase per pair of kinds and of the broad phase per box, beside Bullet's double-precision
// collision library where it is installed. CPU time, one thread: best of several rounds per
// pair, mean over the steps of a motion per box.
//
//   tribo_bench_collide
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "measure.h"
#include "studies/collide_scenes.h"

namespace {

using namespace tribo;
using namespace tribo::bench;

double seconds() { return 1e-3 * cpu_ms(); }

void narrow_phase() {
  fmt::print("{:22} {:>8} {:>10} {:>10} {:>8}\n", "pair", "points", "tribo ns", "bullet ns", "ratio");
  NarrowPhase narrow;
  std::vector<ContactPoint> points;
  for (const PairScene& scene : pair_scenes()) {
    double best = std::numeric_limits<double>::infinity();
    std::size_t found = 0;
    for (int round = 0; round < 15; ++round) {
      const double start = seconds();
      found = 0;
      for (int repeat = 0; repeat < 20; ++repeat)
        for (const auto& [a, b] : scene.poses) {
          points.clear();
          narrow.collide(scene.a, a, scene.b, b, 1e-3, points);
          found += points.size();
        }
      best = std::min(best, seconds() - start);
    }
    const double calls = 20.0 * static_cast<double>(scene.poses.size());
    const double own = 1e9 * best / calls, other = bullet_pair_time(scene);
    fmt::print("{:22} {:8.2f} {:10.0f} {:>10} {:>8}\n", scene.name, static_cast<double>(found) / calls, own,
               other < 0.0 ? "-" : fmt::format("{:.0f}", other),
               other < 0.0 ? "-" : fmt::format("{:.2f}", other / own));
  }
}

void broad_phase() {
  fmt::print("\n{:28} {:>8} {:>10} {:>10} {:>8}\n", "broad phase", "pairs", "tribo ns", "bullet ns", "ratio");
  for (const double by : {0.001, 0.03})
    for (const bool mixed : {false, true})
      for (const Index bodies : {30, 200, 1000, 20000, 100000}) {
        std::vector<Aabb> bounds = pile_bounds(bodies, mixed);
        const std::vector<Index> group(bounds.size(), -1);
        BroadPhase broad;
        std::vector<std::pair<Index, Index>> pairs;
        broad.find(bounds, group, pairs);
        const int steps = std::clamp(2000000 / bodies, 20, 200);
        double total = 0.0;
        for (int step = 0; step < steps; ++step) {
          move(bounds, by);
          const double start = seconds();
          broad.find(bounds, group, pairs);
          total += seconds() - start;
        }
        const double own = 1e9 * total / (static_cast<double>(bodies) * steps);
        const double other = bullet_broad_time(bodies, mixed, by, steps);
        fmt::print(
            "{:28} {:8.2f} {:10.0f} {:>10} {:>8}\n",
            fmt::format("{} {}, {}", bodies, mixed ? "mixed" : "equal", by < 0.01 ? "settling" : "flying"),
            static_cast<double>(pairs.size()) / bodies, own, other < 0.0 ? "-" : fmt::format("{:.0f}", other),
            other < 0.0 ? "-" : fmt::format("{:.2f}", other / own));
      }
}

}  // namespace

int main() {
  narrow_phase();
  broad_phase();
}
