// Figures 7 and 9 of Lee et al. (2024): Lee's residual against iterations and CPU time on cases from real geometry
// (bolt-nut, dish-pile: ten configurations with ten wrenches each) and on random cases of rings of contacts in their manner
// (bolt, dishes: every second one sliding). Arguments: number of cases, names of sets (all four without).
//
// The point after k iterations is a solve of its own, from zero, with the limit k: what a user gets who stops
// there, set-up and certificate included, and nothing of the measuring. Time is the least of a few solves with
// a warmed-up object. The same k for every solver, about ten per decade, until a solver stops by itself: at a
// scaled error of 1e-12, or because it says that it can do no more.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <vector>

#include "measure.h"
#include "studies/studies.h"
#include "tribo/generate/generators.h"
#include "tribo/scenes/single_steps.h"
#include "tribo/solve/catalogue.h"

namespace tribo::bench {
namespace {

constexpr Index kLongest = 3000;  // iterations
constexpr double kTolerance = 1e-12;
constexpr int kRepeats = 3;
constexpr double kLongSolve = 20.0;  // ms of CPU time; such solves are not repeated
constexpr const char* kSolvers[] = {"canal", "subadmm", "pgs", "alnewton", "auto"};

std::vector<Index> checkpoints() {
  std::vector<Index> result;
  for (Index k = 1; k <= kLongest; k = std::max(k + 1, static_cast<Index>(std::lround(1.26 * k)))) {
    result.push_back(k);
  }
  return result;
}

ContactProblem make_case(std::string_view scene, int seed) {
  for (const SingleStepInfo& info : single_step_catalogue()) {
    if (info.name == scene) return make_single_step(scene, {.seed = static_cast<std::uint64_t>(seed)});
  }
  GeneratorSettings settings;
  settings.seed = static_cast<std::uint64_t>(seed);
  settings.slide = seed % 2 == 1;
  return generate(scene, settings);
}

void trace(const char* name, const char* scene, int seed, Solver& solver, const ContactProblem& problem) {
  Settings settings;
  settings.tolerance = kTolerance;
  Solution solution;
  for (const Index k : checkpoints()) {
    settings.max_iterations = k;
    Report report;
    double best = 0.0;
    for (int run = 0; run <= kRepeats; ++run) {
      const double begin = cpu_ms();
      report = solver.solve(problem, settings, solution);
      const double used = cpu_ms() - begin;
      if (run > 0) best = run == 1 ? used : std::min(best, used);
      if (used > kLongSolve) {  // neither warm-up nor luck matter
        best = used;
        break;
      }
    }
    std::printf("%s,%s,%d,%d,%.4g,%.3g\n", name, scene, seed, report.iterations, 1e-3 * best,
                report.certificate.lee_residual);
    if (report.status != Status::iteration_limit) break;
  }
}

}  // namespace

int study_rings(Arguments arguments) {
  const int cases = arguments.empty() ? 100 : std::stoi(arguments[0]);
  std::puts("solver,scene,seed,iteration,seconds,residual");
  const Arguments asked = arguments.empty() ? arguments : arguments.subspan(1);
  for (const char* scene : {"bolt-nut", "dish-pile", "bolt", "dishes"}) {
    if (!asked.empty() && std::find(asked.begin(), asked.end(), scene) == asked.end()) continue;
    for (int seed = 0; seed < cases; ++seed) {
      const ContactProblem problem = make_case(scene, seed);
      for (const char* name : kSolvers) trace(name, scene, seed, *make_solver(name), problem);
      std::fflush(stdout);
    }
  }
  return 0;
}

}  // namespace tribo::bench
