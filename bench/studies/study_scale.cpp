// Growing sphere piles: time per iteration, memory per contact and the error after a fixed number of
// iterations, of subadmm (with and without acceleration, 1 and 2 threads) and nsgs. Flat columns mean linear
// cost.
//
// The time of an iteration is the difference of two solves of different length, so that set-up and
// certificate drop out; memory is what the solver object holds after its first solve.
#include <malloc.h>

#include <chrono>
#include <cstdio>
#include <vector>

#include "measure.h"
#include "studies/studies.h"
#include "tribo/generate/generators.h"
#include "tribo/solve/catalogue.h"

namespace tribo::bench {
namespace {

constexpr Index kShort = 10, kLong = 50;
constexpr int kRepeats = 3;

double heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

struct Run {
  double wall = 0.0, cpu = 0.0;  // ms, best of the repeats
  double error = 0.0;
};

Run run(Solver& solver, const ContactProblem& problem, Index iterations, Index threads) {
  Settings settings;
  settings.tolerance = 1e-300;
  settings.max_iterations = iterations;
  settings.islands = false;
  settings.threads = threads;
  Solution solution;
  Run best;
  for (int k = 0; k < kRepeats; ++k) {
    const double cpu_begin = cpu_ms();
    const auto begin = std::chrono::steady_clock::now();
    const Report report = solver.solve(problem, settings, solution);
    const double wall = 1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double cpu = cpu_ms() - cpu_begin;
    if (k == 0 || wall < best.wall) best.wall = wall;
    if (k == 0 || cpu < best.cpu) best.cpu = cpu;
    best.error = report.certificate.error.value;
  }
  return best;
}

void print_row(const ContactProblem& problem, const char* spec, Index threads) {
  const double before = heap_bytes();
  const auto solver = make_solver(spec);
  const Run brief = run(*solver, problem, kShort, threads);
  const double bytes = heap_bytes() - before;
  const Run extended = run(*solver, problem, kLong, threads);
  const double wall = 1e3 * (extended.wall - brief.wall) / (kLong - kShort);
  const double cpu = 1e3 * (extended.cpu - brief.cpu) / (kLong - kShort);
  std::printf("%d,%d,%s,%d,%.1f,%.1f,%.1f,%.1f,%.0f,%.3g\n", problem.tree_count(), problem.contact_count(),
              spec, threads, brief.cpu - 1e-3 * kShort * cpu, wall, cpu, 1e3 * cpu / problem.contact_count(),
              bytes / problem.contact_count(), extended.error);
  std::fflush(stdout);
}

}  // namespace

int study_scale(Arguments arguments) {
  std::vector<Index> sizes;
  for (const std::string& word : arguments) sizes.push_back(std::stoi(word));
  if (sizes.empty()) sizes = {1000, 3000, 10000, 30000, 100000};
  std::puts(
      "bodies,contacts,solver,threads,setup_cpu_ms,iteration_wall_us,iteration_cpu_us,"
      "iteration_cpu_ns_per_contact,bytes_per_contact,error");
  for (const Index bodies : sizes) {
    const ContactProblem problem = generate("pile", {.bodies = bodies, .seed = 1});
    for (const char* spec : {"subadmm", "subadmm:anderson=0"}) {
      for (const Index threads : {1, 2}) print_row(problem, spec, threads);
    }
    print_row(problem, "nsgs", 1);
  }
  return 0;
}

}  // namespace tribo::bench
