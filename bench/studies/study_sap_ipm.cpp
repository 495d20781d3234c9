// The convex law has one minimiser: sap and the convex ipm, which share no step, must find the same one on
// every generator, sticking and sliding, both to a scaled error of 5e-12.
//
// Per row, over the seeds: the largest difference of the minimising velocities in the energy norm, relative to
// the free motion (relative to a minimiser at rest it would be a quotient of zeros), and of the impulses
// relative to the largest; mean iterations of both solvers, and of sap started from its impulses of a step that
// was 5 % shorter. Every contact has the compliance R; other rows are rigid, reached by sap's proximal loop.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "measure.h"
#include "studies/studies.h"
#include "tribo/generate/generators.h"
#include "tribo/solve/catalogue.h"

namespace tribo::bench {
namespace {

constexpr double kTolerance = 5e-12;  // about the least that both reach everywhere
constexpr double kStep = 1e-3;        // s
constexpr double kShorter = 0.95;     // of the step before, for the warm start

double energy_norm(const ContactProblem& problem, const Vector& v) {
  Vector momentum(v.size());
  problem.mass().multiply(v, momentum);
  return std::sqrt(v.dot(momentum));
}

double velocity_difference(const ContactProblem& problem, const Vector& a, const Vector& b) {
  Vector free(problem.dof_count()), u(problem.row_count());
  problem.velocity_of(Vector::Zero(problem.row_count()), free, u);
  const double size = std::max(energy_norm(problem, free), energy_norm(problem, a));
  return size > 0.0 ? energy_norm(problem, a - b) / size : 0.0;
}

double impulse_difference(const Vector& a, const Vector& b) {
  const double size = a.lpNorm<Eigen::Infinity>();
  return size > 0.0 ? (a - b).lpNorm<Eigen::Infinity>() / size : 0.0;
}

struct Sums {
  double velocity = 0.0, impulse = 0.0;           // worst relative differences
  double cold = 0.0, warm = 0.0, interior = 0.0;  // iterations
  double sap_error = 0.0, ipm_error = 0.0;        // worst scaled errors
  int unsolved = 0;
};

void add_case(const char* kind, GeneratorSettings scene, Solver& sap, Solver& ipm, Sums& sums) {
  Settings settings;
  settings.law = Law::convex;
  settings.tolerance = kTolerance;
  Solution before, warm, cold, interior;
  scene.time_step = kShorter * kStep;
  sap.solve(generate(kind, scene), settings, before);
  scene.time_step = kStep;
  const ContactProblem problem = generate(kind, scene);
  sums.warm += sap.solve(problem, settings, warm, &before.impulse).iterations;
  const Report first = sap.solve(problem, settings, cold);
  const Report second = ipm.solve(problem, settings, interior);
  sums.cold += first.iterations;
  sums.interior += second.iterations;
  sums.velocity = std::max(
      sums.velocity, velocity_difference(problem, cold.generalized_velocity, interior.generalized_velocity));
  sums.impulse = std::max(sums.impulse, impulse_difference(cold.impulse, interior.impulse));
  sums.sap_error = std::max(sums.sap_error, first.certificate.error.value);
  sums.ipm_error = std::max(sums.ipm_error, second.certificate.error.value);
  if (first.status != Status::converged || second.status != Status::converged) ++sums.unsolved;
}

}  // namespace

int study_sap_ipm(Arguments arguments) {
  const int seeds = arguments.empty() ? 10 : std::stoi(arguments[0]);
  const auto sap = make_solver("sap:near_rigid=off"), ipm = make_solver("ipm");
  std::puts(
      "generator,compliance,slide,cases,unsolved,velocity_difference,impulse_difference,sap_iterations,"
      "sap_warm_iterations,ipm_iterations,sap_error,ipm_error");
  for (const GeneratorInfo& info : generator_catalogue()) {
    const std::string kind(info.name);
    for (const double compliance : {1e-2, 1e-3, 1e-4}) {
      for (const bool slide : {false, true}) {
        Sums sums;
        for (int seed = 0; seed < seeds; ++seed) {
          GeneratorSettings scene;
          scene.compliance = compliance;
          scene.slide = slide;
          scene.seed = static_cast<std::uint64_t>(seed);
          add_case(kind.c_str(), scene, *sap, *ipm, sums);
        }
        std::printf("%s,%g,%d,%d,%d,%.3g,%.3g,%.4g,%.4g,%.4g,%.3g,%.3g\n", kind.c_str(), compliance,
                    slide ? 1 : 0, seeds, sums.unsolved, sums.velocity, sums.impulse, sums.cold / seeds,
                    sums.warm / seeds, sums.interior / seeds, sums.sap_error, sums.ipm_error);
        std::fflush(stdout);
      }
    }
  }
  return 0;
}

}  // namespace tribo::bench
