// The subproblems of the classical engines against the certificate and against dense formulas.
#include "tribo/solve/classical/subproblem.h"

#include <gtest/gtest.h>

#include "tests/support/random.h"
#include "tests/support/sample_problems.h"
#include "tests/support/small_problems.h"
#include "tribo/solve/classical/line_search.h"

namespace tribo {
namespace {

// Without offset and shift the error is the certificate's.
TEST(Subproblem, ErrorIsTheCertificates) {
  test::Random random(1);
  for (const ContactProblem& problem :
       {test::all_kinds(1, 0.5), test::mixed_problem(2), test::lifted_problem(2, 0.1)}) {
    Subproblem subproblem;
    subproblem.setup(problem, true);
    for (const Law law : {Law::exact, Law::convex}) {
      subproblem.pose(law == Law::exact ? SetKind::coulomb : SetKind::cone);
      for (int sample = 0; sample < 5; ++sample) {
        Vector impulse = random.vector(problem.row_count()), u;
        if (sample > 2) test::project(problem, impulse);
        subproblem.velocity(impulse, u);
        for (const Measure measure : {Measure::scaled, Measure::fclib, Measure::siconos}) {
          const double expected = Certifier::error(problem, impulse, u, law, measure);
          EXPECT_NEAR(subproblem.error(impulse, u, measure), expected, 1e-9 * expected);
        }
      }
    }
  }
}

// Offset, shift and compliance against the dense matrix.
TEST(Subproblem, FieldIsAffineInTheImpulses) {
  test::Random random(2);
  const ContactProblem problem = test::all_kinds(4, 0.7);
  Matrix w = test::dense_delassus(problem);
  Subproblem subproblem;
  subproblem.setup(problem, true);
  subproblem.pose(SetKind::cone);
  subproblem.set_shift(0.3);
  subproblem.offset() = random.vector(problem.row_count());
  Matrix whole = w;
  whole.diagonal() += problem.compliance();
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    whole.diagonal().segment(problem.row(i), problem.rows(i)).array() += 0.3 * problem.scale(i);
  }
  const Vector impulse = random.vector(problem.row_count());
  Vector u, field, product;
  subproblem.velocity(impulse, u);
  subproblem.find_field(impulse, u, field);
  EXPECT_LT((field - whole * impulse - problem.free_velocity() - subproblem.offset()).norm(),
            1e-11 * field.norm());
  subproblem.multiply(impulse, product);
  EXPECT_LT((product - w * impulse).norm(), 1e-11 * product.norm());
  subproblem.matrix();
  subproblem.multiply(impulse, product);
  EXPECT_LT((product - w * impulse).norm(), 1e-11 * product.norm());
}

// x = P(z): (z - x).(y - x) <= 0 for all y in the set; the projections of all sets have that property.
template <int N>
void check_projections() {
  test::Random random(N);
  for (const SetKind set : {SetKind::coulomb, SetKind::cylinder, SetKind::normal, SetKind::tangent}) {
    for (int sample = 0; sample < 200; ++sample) {
      const double mu = random.uniform(0.1, 1.5), radius = random.uniform(0.1, 1.0);
      const VecN<N> z = random.vector(N), x = project_on<N>(set, z, mu, radius);
      EXPECT_LT((project_on<N>(set, x, mu, radius) - x).norm(), 1e-14);
      for (int other = 0; other < 10; ++other) {
        VecN<N> y = project_on<N>(set, VecN<N>(random.vector(N)), mu, radius);
        if (set == SetKind::normal) y.template head<N - 1>() = z.template head<N - 1>();
        if (set == SetKind::tangent) y[N - 1] = z[N - 1];
        EXPECT_LE((z - x).dot(y - x), 1e-12);
      }
    }
  }
}
TEST(Subproblem, ProjectsOnItsSets) {
  check_projections<3>();
  check_projections<4>();
  check_projections<6>();
}

// q(t) = (t - a)^2: slope -2a at zero.
TEST(LineSearch, AcceptsWhatItsConditionsSay) {
  for (const double a : {0.05, 0.3, 1.0, 7.0}) {
    const auto merit = [a](double t) { return (t - a) * (t - a); };
    for (const Search kind : {Search::goldstein_price, Search::armijo}) {
      const SearchOptions options{.kind = kind, .m1 = 0.1, .m2 = 0.9, .trials = 50};
      const double slope = -2.0 * a, t = search_step(options, merit(0.0), slope, merit);
      const double rate = (merit(t) - merit(0.0)) / t;
      EXPECT_LE(rate, options.m1 * slope) << a;
      if (kind == Search::goldstein_price) {
        EXPECT_GE(rate, options.m2 * slope) << a;
      }
    }
  }
  // A function that nothing satisfies: the full step, or the last one tried.
  const auto rising = [](double t) { return 1.0 + t; };
  EXPECT_EQ(search_step({.kind = Search::armijo, .full_on_failure = true}, 1.0, -1.0, rising), 1.0);
  EXPECT_LT(search_step({.kind = Search::armijo}, 1.0, -1.0, rising), 1e-2);
}

}  // namespace
}  // namespace tribo
