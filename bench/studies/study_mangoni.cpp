// The studies of Mangoni's thesis, chapter 5, with ipm on frictionless problems (the polish off: path following
// alone). Further options of the solver may be given: system=dofs.
//
//   balls   spheres in a box, 64 ... 1190 of them (384 ... 7140 degrees of freedom): iterations per size
//   warm    the same box over a sequence of time steps with fixed contacts: iterations with no, partial and
//           full warm start
//   stack   spheres on top of each other, guided by bilateral rows: equal masses of 1e2, 1e6, 1e12 kg, and
//           sphere k of 10^k kg, each ten times heavier than the one below it
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "measure.h"
#include "studies/studies.h"
#include "tribo/generate/generators.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/solve/catalogue.h"

namespace tribo::bench {
namespace {

constexpr double kGravity = 9.81;    // m/s^2
constexpr double kBoxStep = 0.02;    // s, balls in the box
constexpr double kStackStep = 0.05;  // s
constexpr double kTolerance = 1e-8;
constexpr const char* kPathOnly = "ipm:polish=off,proximal_rounds=0";
constexpr int kSeeds = 5;
constexpr int kSteps = 50;

// The normal rows of a problem's contacts as unilateral constraints; momentum and biases may be replaced.
ContactProblem without_friction(const ContactProblem& scene, const Vector& momentum, const Vector& bias) {
  ContactProblemBuilder builder;
  const BlockJacobian& jacobian = scene.jacobian();
  builder.reserve(scene.tree_count(), scene.constraint_count());
  for (Index t = 0; t < scene.tree_count(); ++t) {
    const BlockDiagonal& mass = scene.mass();
    builder.add_tree(mass.block(t), momentum.segment(mass.block_start(t), mass.block_size(t)));
  }
  std::vector<JacobianPiece> pieces;
  for (Index i = 0; i < scene.constraint_count(); ++i) {
    pieces.clear();
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      pieces.push_back({jacobian.piece_tree(p), jacobian.piece(i, p).row(2)});
    }
    builder.add_unilateral(pieces, bias[i]);
  }
  return builder.build();
}

Vector normal_bias(const ContactProblem& scene) {
  Vector bias(scene.constraint_count());
  for (Index i = 0; i < scene.constraint_count(); ++i) bias[i] = scene.bias()[scene.row(i) + 2];
  return bias;
}

ContactProblem pile(Index spheres, std::uint64_t seed) {
  GeneratorSettings settings;
  settings.bodies = spheres;
  settings.time_step = kBoxStep;
  settings.seed = seed;
  return generate("pile", settings);
}

// Vertical stack; `mass[k]` of sphere k counted from the ground.
ContactProblem stack(const std::vector<double>& mass) {
  ContactProblemBuilder builder;
  const Index count = static_cast<Index>(mass.size());
  const auto row = [](double x, double y, double z) { return Matrix(Vec3(x, y, z).transpose()); };
  for (const double m : mass) {
    builder.add_tree(m * Mat3::Identity(), Vec3(0.0, 0.0, -kStackStep * kGravity * m));
  }
  for (Index k = 0; k < count; ++k) {
    builder.add_bilateral(std::vector<JacobianPiece>{{k, row(1, 0, 0)}});
    builder.add_bilateral(std::vector<JacobianPiece>{{k, row(0, 1, 0)}});
    std::vector<JacobianPiece> pieces{{k, row(0, 0, 1)}};
    if (k > 0) pieces.push_back({k - 1, row(0, 0, -1)});
    builder.add_unilateral(pieces);
  }
  return builder.build();
}

Settings settings() {
  Settings settings;
  settings.tolerance = kTolerance;
  settings.islands = false;
  settings.max_iterations = 200;
  return settings;
}

void balls(const std::string& solver) {
  for (const Index spheres : {64, 280, 595, 1190}) {
    Index iterations = 0, rows = 0, unsolved = 0;
    double milliseconds = 0.0, worst = 0.0;
    for (int seed = 1; seed <= kSeeds; ++seed) {
      const ContactProblem scene = pile(spheres, seed);
      const ContactProblem problem = without_friction(scene, scene.momentum(), normal_bias(scene));
      Solution solution;
      const Report report = make_solver(solver)->solve(problem, settings(), solution);
      iterations += report.iterations;
      rows += problem.row_count();
      unsolved += report.status == Status::converged ? 0 : 1;
      milliseconds += 1e3 * report.seconds;
      worst = std::max(worst, report.certificate.error.value);
    }
    std::printf("balls,%d spheres,%d,%d,%d,%d,%.2f,%.3g,%.3g\n", spheres, 6 * spheres, rows / kSeeds, kSeeds,
                unsolved, static_cast<double>(iterations) / kSeeds, milliseconds / kSeeds, worst);
    std::fflush(stdout);
  }
}

// A time step moves the gaps by h u, so the next bias gap / h is u itself; the momentum is that of the new
// velocities plus one more weight.
void warm(const std::string& spec, const char* kind, Index spheres) {
  const ContactProblem scene = pile(spheres, 1);
  const auto solver = make_solver(spec + ",warm=" + kind);
  Vector momentum = scene.momentum(), bias = normal_bias(scene), inertia(scene.dof_count());
  Solution solution;
  Index iterations = 0, unsolved = 0;
  double milliseconds = 0.0, worst = 0.0;
  for (int step = 0; step < kSteps; ++step) {
    const ContactProblem problem = without_friction(scene, momentum, bias);
    const Vector last = solution.impulse;
    const Report report = solver->solve(problem, settings(), solution, step > 0 ? &last : nullptr);
    iterations += report.iterations;
    unsolved += report.status == Status::converged ? 0 : 1;
    milliseconds += 1e3 * report.seconds;
    worst = std::max(worst, report.certificate.error.value);
    scene.mass().multiply(solution.generalized_velocity, inertia);
    momentum = inertia + scene.momentum();
    bias = solution.velocity.cwiseMax(0.0);
  }
  std::printf("warm,%s,%d,%d,%d,%d,%.2f,%.3g,%.3g\n", kind, scene.dof_count(), scene.constraint_count(),
              kSteps, unsolved, static_cast<double>(iterations) / kSteps, milliseconds / kSteps, worst);
  std::fflush(stdout);
}

void stack_row(const std::string& solver, const std::string& name, const std::vector<double>& mass) {
  const ContactProblem problem = stack(mass);
  Solution solution;
  const Report report = make_solver(solver)->solve(problem, settings(), solution);
  std::printf("stack,%s,%d,%d,1,%d,%d,%.3g,%.3g\n", name.c_str(), problem.dof_count(), problem.row_count(),
              report.status == Status::converged ? 0 : 1, report.iterations, 1e3 * report.seconds,
              report.certificate.error.value);
}

void stacks(const std::string& solver) {
  for (const int exponent : {2, 6, 12}) {
    for (const Index count : {1, 5, 10, 24, 100}) {
      stack_row(solver, "1e" + std::to_string(exponent) + " kg x " + std::to_string(count),
                std::vector<double>(count, std::pow(10.0, exponent)));
    }
  }
  for (Index count = 1; count <= 18; ++count) {
    std::vector<double> mass;
    for (Index k = 1; k <= count; ++k) mass.push_back(std::pow(10.0, k));
    stack_row(solver, "10^n kg to 1e" + std::to_string(count), mass);
  }
}

}  // namespace

int study_mangoni(Arguments arguments) {
  std::string solver = kPathOnly;
  for (const std::string& option : arguments) solver += "," + option;
  std::puts("study,case,dofs,rows,solves,unsolved,iterations,ms,worst_error");
  balls(solver);
  for (const char* kind : {"none", "partial", "full"}) warm(solver, kind, 64);
  stacks(solver);
  return 0;
}

}  // namespace tribo::bench
