// What the choices of subadmm are worth: how many scenes of a mixed set are solved to a scaled error of 1e-6
// within a fixed number of iterations, and the iterations and CPU time this takes (an unsolved scene counts
// with all its iterations), for several settings of subadmm and its ablations.
#include <cstdio>
#include <string>
#include <vector>

#include "measure.h"
#include "studies/studies.h"
#include "tribo/generate/generators.h"
#include "tribo/solve/catalogue.h"

namespace tribo::bench {
namespace {

struct Scene {
  const char* kind;
  Index bodies;
  double mass_ratio;
  bool slide;
};

constexpr Scene kScenes[] = {
    {"tower", 5, 1, false},   {"tower", 10, 1, false},   {"tower", 20, 1, false},   {"tower", 40, 1, false},
    {"tower", 10, 1, true},   {"tower", 20, 1, true},    {"tower", 10, 1e4, false}, {"tower", 10, 1e4, true},
    {"wall", 50, 1, false},   {"pyramid", 20, 1, false}, {"chain", 20, 1, false},   {"pile", 200, 1, false},
    {"pile", 1000, 1, false}, {"pile", 1000, 1, true},   {"pile", 300, 1e4, false}, {"bolt", 1, 1, false},
    {"dishes", 4, 1, false},  {"dishes", 4, 1, true},    {"arm", 6, 1, false},      {"arm", 20, 1, true},
    {"trees", 1, 1, false},   {"trees", 8, 1, false},    {"trees", 8, 1, true},     {"trees", 27, 1, true}};

constexpr const char* kSolvers[] = {"subadmm",
                                    "subadmm:anderson=0",
                                    "subadmm:anderson=10",
                                    "subadmm:anderson=20",
                                    "subadmm:scaling=uniform",
                                    "subadmm:scaling=uniform,anderson=0",
                                    "subadmm:scaling=uniform,anderson=0,interval=0",
                                    "subadmm:interval=0",
                                    "subadmm:beta=0.1",
                                    "subadmm:beta=10",
                                    "subadmm-nobody",
                                    "admm-full",
                                    "admm-full:anderson=0",
                                    "admm"};

}  // namespace

int study_splitting(Arguments arguments) {
  const Index limit = arguments.empty() ? 3000 : std::stoi(arguments[0]);
  std::vector<ContactProblem> problems;
  for (const Scene& scene : kScenes) {
    problems.push_back(
        generate(scene.kind,
                 {.bodies = scene.bodies, .mass_ratio = scene.mass_ratio, .slide = scene.slide, .seed = 1}));
  }
  Settings settings;
  settings.max_iterations = limit;
  settings.islands = false;
  std::puts("solver,scenes,solved,iterations,cpu_ms");
  for (const char* spec : kSolvers) {
    const auto solver = make_solver(spec);
    Index solved = 0, iterations = 0;
    const double begin = cpu_ms();
    for (const ContactProblem& problem : problems) {
      Solution solution;
      const Report report = solver->solve(problem, settings, solution);
      solved += report.status == Status::converged ? 1 : 0;
      iterations += report.status == Status::converged ? report.iterations : limit;
    }
    std::printf("\"%s\",%zu,%d,%d,%.0f\n", spec, problems.size(), solved, iterations, cpu_ms() - begin);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace tribo::bench
