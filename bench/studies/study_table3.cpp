// Table III of Lee et al. (2024): a fixed number of iterations of SubADMM, «No Sub» (admm-full) and «No Body»
// (subadmm-nobody) on 8 and on 27 trees of 18 degrees of freedom that fall onto uneven ground.
//
// Per row: the median over the seeds of the best of a few warmed-up solves, set-up, factorisations and
// certificate included, and the mean of -log10 of Lee's residual. `printed` is the paper's iteration (one
// penalty for all, no acceleration), `default` is tribo's.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

#include "measure.h"
#include "studies/studies.h"
#include "tribo/generate/generators.h"
#include "tribo/solve/catalogue.h"

namespace tribo::bench {
namespace {

constexpr Index kIterations = 100;
constexpr int kRepeats = 7;

struct Entry {
  const char* label;
  const char* solver;
};

constexpr Entry kSolvers[] = {{"SubADMM", "subadmm"}, {"No Sub", "admm-full"}, {"No Body", "subadmm-nobody"}};
constexpr Entry kVariants[] = {{"printed", ":scaling=uniform,anderson=0"}, {"default", ""}};

struct Measured {
  double cpu = 0.0, wall = 0.0, residual = 0.0;  // ms, ms, -log10
  Index factorizations = 0;
};

Measured measure(Solver& solver, const ContactProblem& problem, Index threads) {
  Settings settings;
  settings.tolerance = 1e-300;  // all iterations
  settings.max_iterations = kIterations;
  settings.islands = false;
  settings.threads = threads;
  Solution solution;
  Measured best;
  for (int k = 0; k <= kRepeats; ++k) {
    const double cpu = cpu_ms();
    const auto begin = std::chrono::steady_clock::now();
    const Report report = solver.solve(problem, settings, solution);
    const double wall = 1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double used = cpu_ms() - cpu;
    if (k == 0) continue;  // warms up
    if (k == 1 || wall < best.wall) best.wall = wall;
    if (k == 1 || used < best.cpu) best.cpu = used;
    best.residual = -std::log10(report.certificate.lee_residual);
    best.factorizations = report.factorizations;
  }
  return best;
}

double median(std::vector<double> values) { return spread_of(std::move(values)).median; }

void print_case(Index trees, int seeds, const Entry& variant, const Entry& entry, Index threads) {
  const auto solver = make_solver(std::string(entry.solver) + variant.solver);
  std::vector<double> cpu, wall, contacts, factorizations;
  double residual = 0.0;
  for (int seed = 0; seed < seeds; ++seed) {
    const ContactProblem problem =
        generate("trees", {.bodies = trees, .slide = true, .seed = static_cast<std::uint64_t>(seed)});
    const Measured m = measure(*solver, problem, threads);
    cpu.push_back(m.cpu);
    wall.push_back(m.wall);
    contacts.push_back(problem.contact_count());
    factorizations.push_back(m.factorizations);
    residual += m.residual / seeds;
  }
  std::printf("%d,%g,%s,%s,%d,%.4f,%.4f,%g,%.4f\n", trees, median(contacts), variant.label, entry.label,
              threads, median(cpu), median(wall), median(factorizations), residual);
  std::fflush(stdout);
}

}  // namespace

int study_table3(Arguments arguments) {
  const int seeds = arguments.empty() ? 20 : std::stoi(arguments[0]);
  std::puts("trees,contacts,variant,method,threads,cpu_ms,wall_ms,factorizations,residual_minus_log10");
  for (const Index trees : {8, 27}) {
    for (const Entry& variant : kVariants) {
      for (const Entry& entry : kSolvers) {
        for (const Index threads : {1, 2}) print_case(trees, seeds, variant, entry, threads);
      }
    }
  }
  return 0;
}

}  // namespace tribo::bench
