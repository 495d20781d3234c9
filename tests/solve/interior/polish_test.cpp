// The polishes alone, driven by a solver that does nothing else.
#include "tribo/solve/interior/polish.h"

#include <gtest/gtest.h>

#include "tests/support/sample_problems.h"
#include "tests/support/small_problems.h"
#include "tribo/generate/generators.h"
#include "tribo/solve/catalogue.h"
#include "tribo/solve/interior/convex_polish.h"

namespace tribo {
namespace {

class PolishOnly final : public Solver {
 public:
  explicit PolishOnly(bool convex_newton = false) : convex_newton_(convex_newton) {}
  std::string_view name() const override { return "polish"; }
  std::unique_ptr<Solver> clone() const override { return std::make_unique<PolishOnly>(convex_newton_); }
  Status iterate(const ContactProblem& problem, Monitor& monitor) override {
    Index iteration = 0;
    if (convex_newton_) {
      convex_.prepare(problem);
      convex_.run(problem, monitor, monitor.start(), 1e3, 60, iteration);
      return Status::stalled;
    }
    system_.prepare(problem, RowSystem::Route::automatic);
    blocks_.resize(problem);
    polish_.prepare(problem, monitor.settings().law);
    polish_.run(problem, monitor, system_, blocks_, monitor.start(), 1e-3, 60, false, iteration);
    return Status::stalled;
  }

 private:
  bool convex_newton_;
  RowSystem system_;
  RowBlocks blocks_;
  Polish polish_;
  ConvexPolish convex_;
};

Settings to(double tolerance, Law law) {
  Settings settings;
  settings.tolerance = tolerance;
  settings.law = law;
  settings.max_iterations = 20000;
  settings.islands = false;
  return settings;
}

ContactProblem tower(double mass_ratio) {
  GeneratorSettings settings;
  settings.bodies = 5;
  settings.mass_ratio = mass_ratio;
  settings.slide = true;
  return generate("tower", settings);
}

// From a rough solution to eleven digits in a few steps.
TEST(Polish, AddsDigits) {
  int scene = 0;
  for (const ContactProblem& problem :
       {test::all_kinds(41, 0.3), test::mixed_problem(42), test::cube_on_slope(0.7, 0.5), tower(10.0)}) {
    for (const Law law : {Law::exact, Law::convex}) {
      // A stack that lifts off while sliding: the norm of the map has local minima, hence ConvexPolish.
      if (scene == 3 && law == Law::convex) continue;
      Solution rough, fine;
      ASSERT_EQ(make_solver("admm")->solve(problem, to(1e-6, law), rough).status, Status::converged);
      PolishOnly polish;
      const Report report = polish.solve(problem, to(1e-11, law), fine, &rough.impulse);
      EXPECT_EQ(report.status, Status::converged)
          << "scene " << scene << (law == Law::exact ? " exact" : " convex");
      EXPECT_LE(report.iterations, 30);
    }
    ++scene;
  }
}

TEST(Polish, UnsymmetricMatrix) {
  const ContactProblem problem = test::lifted_problem(43, 0.2);
  for (const Law law : {Law::exact, Law::convex}) {
    Solution solution;
    PolishOnly polish;
    EXPECT_EQ(polish.solve(problem, to(1e-10, law), solution).status, Status::converged);
  }
}

// Every step goes downhill, so zero is as good a start as any.
TEST(ConvexPolish, ReachesTheMinimumFromZero) {
  for (const ContactProblem& problem :
       {test::all_kinds(44, 0.3), test::mixed_problem(45), test::cube_on_slope(0.7, 0.5), tower(100.0)}) {
    Solution solution, reference;
    PolishOnly polish(true);
    ASSERT_EQ(polish.solve(problem, to(1e-9, Law::convex), solution).status, Status::converged);
    ASSERT_EQ(make_solver("admm")->solve(problem, to(1e-10, Law::convex), reference).status,
              Status::converged);
    EXPECT_LT((solution.velocity - reference.velocity).lpNorm<Eigen::Infinity>(), 1e-6);
  }
}

}  // namespace
}  // namespace tribo
