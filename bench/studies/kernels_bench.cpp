// tribo_bench_kernels: the inner loops one by one (Google Benchmark). Projections and the one-contact solver
// run over a fixed set of random inputs, so that branches are as unpredictable as in a solve; items are
// single calls.
#include <benchmark/benchmark.h>

#include <array>
#include <random>
#include <vector>

#include "tribo/generate/generators.h"
#include "tribo/linalg/delassus.h"
#include "tribo/linalg/kernels/dual_kernel.h"
#include "tribo/linalg/kernels/primal_kernel.h"
#include "tribo/math/cone.h"
#include "tribo/problem/certificate.h"
#include "tribo/solve/law/one_contact.h"

namespace {

using namespace tribo;

constexpr double kFriction = 0.4;
constexpr std::size_t kSamples = 1024;

std::vector<Vec3> random_points() {
  std::mt19937_64 engine(1);
  std::normal_distribution<double> normal;
  std::vector<Vec3> points(kSamples);
  for (Vec3& p : points) p = Vec3(normal(engine), normal(engine), normal(engine));
  return points;
}

template <class Function>
void over_points(benchmark::State& state, Function function) {
  const std::vector<Vec3> points = random_points();
  for (auto _ : state) {
    for (const Vec3& p : points) benchmark::DoNotOptimize(function(p));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kSamples));
}

void project_cone_1024(benchmark::State& state) {
  over_points(state, [](const Vec3& p) { return project_cone(p, kFriction); });
}
BENCHMARK(project_cone_1024);

void project_strict_1024(benchmark::State& state) {
  over_points(state, [](const Vec3& p) { return project_strict(p, kFriction); });
}
BENCHMARK(project_strict_1024);

void project_cone_jacobian_1024(benchmark::State& state) {
  over_points(state, [](const Vec3& p) { return project_cone_jacobian(p, kFriction); });
}
BENCHMARK(project_cone_jacobian_1024);

void one_contact_exact_1024(benchmark::State& state) {
  Mat3 w;
  w << 2.0, 0.3, -0.4, 0.3, 1.5, 0.2, -0.4, 0.2, 1.0;
  ExactContact contact(w, kFriction);
  over_points(state, [&](const Vec3& p) { return contact.solve(p, Vec3::Zero()); });
}
BENCHMARK(one_contact_exact_1024);

ContactProblem scene(const char* kind, benchmark::State& state) {
  GeneratorSettings settings;
  settings.bodies = static_cast<Index>(state.range(0));
  ContactProblem problem = generate(kind, settings);
  state.counters["contacts"] = problem.contact_count();
  return problem;
}

void primal_factorize(benchmark::State& state, const char* kind) {
  const ContactProblem problem = scene(kind, state);
  PrimalKernel kernel;
  kernel.analyze(problem.mass(), problem.jacobian());
  const Vector weights = Vector::Ones(problem.row_count());
  for (auto _ : state)
    benchmark::DoNotOptimize(kernel.factorize(problem.mass(), problem.jacobian(), weights));
  state.counters["Gflop/s"] = benchmark::Counter(1e-9 * kernel.cholesky().factor_flops(),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_CAPTURE(primal_factorize, tower, "tower")->Arg(10)->Arg(20)->Arg(40)->Arg(80)->Arg(160)->Arg(320);
BENCHMARK_CAPTURE(primal_factorize, pile, "pile")->Arg(100)->Arg(1000);

void primal_analyze(benchmark::State& state, const char* kind) {
  const ContactProblem problem = scene(kind, state);
  for (auto _ : state) {
    PrimalKernel kernel;
    benchmark::DoNotOptimize(kernel.analyze(problem.mass(), problem.jacobian()));
  }
}
BENCHMARK_CAPTURE(primal_analyze, tower, "tower")->Arg(10)->Arg(40)->Arg(320);
BENCHMARK_CAPTURE(primal_analyze, pile, "pile")->Arg(100)->Arg(1000);

void primal_solve(benchmark::State& state, const char* kind) {
  const ContactProblem problem = scene(kind, state);
  PrimalKernel kernel;
  kernel.analyze(problem.mass(), problem.jacobian());
  kernel.factorize(problem.mass(), problem.jacobian(), Vector::Ones(problem.row_count()));
  Vector x = Vector::Ones(problem.dof_count());
  for (auto _ : state) {
    x.setOnes();
    kernel.solve_in_place(x);
    benchmark::DoNotOptimize(x.data());
  }
}
BENCHMARK_CAPTURE(primal_solve, tower, "tower")->Arg(10)->Arg(20)->Arg(40)->Arg(80)->Arg(160)->Arg(320);
BENCHMARK_CAPTURE(primal_solve, pile, "pile")->Arg(100)->Arg(1000);

// One ADMM iteration's linear algebra, by the chosen route.
void dual_solve(benchmark::State& state, DualKernel::Route route) {
  const ContactProblem problem = scene("tower", state);
  const DualKernel::Operator op{problem.mass(), problem.mass_factor(), problem.jacobian(), nullptr};
  DualKernel kernel;
  kernel.prepare(op, route);
  kernel.factorize(op, Vector::Ones(problem.row_count()));
  const Vector r = Vector::Ones(problem.row_count());
  Vector x(problem.row_count());
  for (auto _ : state) {
    kernel.solve(op, r, x);
    benchmark::DoNotOptimize(x.data());
  }
}
BENCHMARK_CAPTURE(dual_solve, through_dofs, DualKernel::Route::through_dofs)->Arg(10)->Arg(40)->Arg(320);
BENCHMARK_CAPTURE(dual_solve, through_rows, DualKernel::Route::through_rows)->Arg(10)->Arg(40)->Arg(320);

void delassus_build(benchmark::State& state) {
  const ContactProblem problem = scene("tower", state);
  for (auto _ : state) benchmark::DoNotOptimize(build_delassus(problem.mass_factor(), problem.jacobian()));
}
BENCHMARK(delassus_build)->Arg(10)->Arg(40)->Arg(320);

void problem_build(benchmark::State& state, const char* kind) {
  scene(kind, state);
  GeneratorSettings settings;
  settings.bodies = static_cast<Index>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(generate(kind, settings));
}
BENCHMARK_CAPTURE(problem_build, tower, "tower")->Arg(10)->Arg(40)->Arg(320);

void certificate(benchmark::State& state) {
  const ContactProblem problem = scene("tower", state);
  Solution solution;
  solution.impulse = Vector::Ones(problem.row_count());
  for (auto _ : state) benchmark::DoNotOptimize(certify(problem, solution));
}
BENCHMARK(certificate)->Arg(10)->Arg(40)->Arg(320);

}  // namespace

BENCHMARK_MAIN();
