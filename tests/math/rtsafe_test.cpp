#include "tribo/math/rtsafe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace tribo {
namespace {

struct Case {
  std::string name;
  std::function<double(double)> value;
  std::function<double(double)> derivative;
  double lo, hi, root;
};

std::vector<Case> hard_functions() {
  return {
      {"simple", [](double x) { return x * x - 2; }, [](double x) { return 2 * x; }, 0, 2, std::sqrt(2.0)},
      {"decreasing", [](double x) { return 1 / x - 3; }, [](double x) { return -1 / (x * x); }, 1e-3, 1e3,
       1.0 / 3},
      {"flat triple root", [](double x) { return std::pow(x - 0.3, 3); },
       [](double x) { return 3 * std::pow(x - 0.3, 2); }, -1, 2, 0.3},
      {"ninth power", [](double x) { return std::pow(x - 0.3, 9); },
       [](double x) { return 9 * std::pow(x - 0.3, 8); }, -1, 2, 0.3},
      {"cube root, Newton diverges", [](double x) { return std::cbrt(x - 0.7); },
       [](double x) { return 1 / (3 * std::pow(std::cbrt(x - 0.7), 2)); }, -5, 3, 0.7},
      {"arctan, Newton diverges", [](double x) { return std::atan(1e3 * (x - 0.9)); },
       [](double x) { return 1e3 / (1 + 1e6 * (x - 0.9) * (x - 0.9)); }, -10, 40, 0.9},
      {"steep exponential", [](double x) { return std::exp(50 * x) - 1e10; },
       [](double x) { return 50 * std::exp(50 * x); }, -3, 3, std::log(1e10) / 50},
      {"kink", [](double x) { return x < 0.25 ? 1e-6 * (x - 0.25) : 1e6 * (x - 0.25); },
       [](double x) { return x < 0.25 ? 1e-6 : 1e6; }, -1, 1, 0.25},
      {"jump", [](double x) { return x < 0.6 ? -1.0 : 1.0; }, [](double) { return 0.0; }, 0, 1, 0.6},
      {"wrong derivative", [](double x) { return x - 0.4; }, [](double) { return 1e12; }, 0, 1, 0.4},
      {"derivative NaN", [](double x) { return x - 0.4; }, [](double) { return std::nan(""); }, 0, 1, 0.4},
      {"root next to an end", [](double x) { return x - 1e-12; }, [](double) { return 1.0; }, 0, 1, 1e-12},
      {"friction-like, pole at the end", [](double x) { return 4 / (x * x) - 1; },
       [](double x) { return -8 / (x * x * x); }, 1e-8, 1e8, 2},
  };
}

TEST(Rtsafe, HardFunctions) {
  for (const Case& c : hard_functions()) {
    const auto f = [&](double x) { return ValueAndDerivative{c.value(x), c.derivative(x)}; };
    for (const double tolerance : {1e-6, 1e-12}) {
      for (const bool reversed : {false, true}) {
        const RootResult r = reversed ? rtsafe(f, c.hi, c.lo, tolerance) : rtsafe(f, c.lo, c.hi, tolerance);
        EXPECT_TRUE(r.converged) << c.name;
        EXPECT_NEAR(r.root, c.root, 2 * tolerance + 1e-15) << c.name;
        EXPECT_LE(r.iterations, 110) << c.name;
      }
    }
  }
}

TEST(FindRootBracketed, HardFunctions) {
  for (const Case& c : hard_functions()) {
    for (const double tolerance : {1e-6, 1e-12}) {
      for (const bool reversed : {false, true}) {
        const RootResult r = reversed ? find_root_bracketed(c.value, c.hi, c.lo, tolerance)
                                      : find_root_bracketed(c.value, c.lo, c.hi, tolerance);
        EXPECT_TRUE(r.converged) << c.name;
        EXPECT_NEAR(r.root, c.root, 2 * tolerance + 1e-15) << c.name;
        EXPECT_LE(r.iterations, 4 * std::log2((c.hi - c.lo) / tolerance) + 8) << c.name;
      }
    }
  }
}

TEST(Rtsafe, FastOnSmoothFunctions) {
  const auto f = [](double x) { return ValueAndDerivative{std::exp(x) - 3, std::exp(x)}; };
  const RootResult newton = rtsafe(f, 0, 3);
  EXPECT_TRUE(newton.converged);
  EXPECT_NEAR(newton.root, std::log(3.0), 1e-15);
  EXPECT_LE(newton.iterations, 10);
  const RootResult secant = find_root_bracketed([](double x) { return std::exp(x) - 3; }, 0, 3);
  EXPECT_TRUE(secant.converged);
  EXPECT_NEAR(secant.root, std::log(3.0), 1e-15);
  EXPECT_LE(secant.iterations, 20);
}

TEST(Rtsafe, RootsAtTheEndsAreExact) {
  const auto f = [](double x) { return ValueAndDerivative{x * (x - 1), 2 * x - 1}; };
  const auto g = [&](double x) { return f(x).value; };
  EXPECT_EQ(rtsafe(f, 0, 0.5).root, 0.0);
  EXPECT_EQ(rtsafe(f, 0.5, 1).root, 1.0);
  EXPECT_TRUE(rtsafe(f, 0.5, 1).converged);
  EXPECT_EQ(find_root_bracketed(g, 0, 0.5).root, 0.0);
  EXPECT_EQ(find_root_bracketed(g, 0.5, 1).root, 1.0);
  EXPECT_TRUE(find_root_bracketed(g, 0.5, 1).converged);
}

TEST(Rtsafe, RefusesABracketWithoutSignChange) {
  const auto f = [](double x) { return ValueAndDerivative{x * x + 1, 2 * x}; };
  const RootResult r = rtsafe(f, -1, 2);
  EXPECT_FALSE(r.converged);
  EXPECT_EQ(r.root, -1.0);
  EXPECT_FALSE(find_root_bracketed([&](double x) { return f(x).value; }, -1, 2).converged);
}

TEST(Rtsafe, ReportsNaNAndIterationLimit) {
  const auto broken = [](double x) { return ValueAndDerivative{x == 0 ? -1 : x == 1 ? 1 : std::nan(""), 1}; };
  EXPECT_FALSE(rtsafe(broken, 0, 1).converged);
  EXPECT_FALSE(find_root_bracketed([&](double x) { return broken(x).value; }, 0, 1).converged);
  const auto cubic = [](double x) { return ValueAndDerivative{x * x * x - 0.1, 3 * x * x}; };
  const RootResult limited = rtsafe(cubic, -5, 7, 0.0, 3);
  EXPECT_FALSE(limited.converged);
  EXPECT_EQ(limited.iterations, 3);
  EXPECT_EQ(find_root_bracketed([&](double x) { return cubic(x).value; }, -5, 7, 0.0, 3).iterations, 3);
}

TEST(Rtsafe, ExtremeScales) {
  for (const double scale : {1e-300, 1e-150, 1e150, 1e300}) {
    const auto in_x = [scale](double x) { return ValueAndDerivative{x / scale - 0.3, 1 / scale}; };
    EXPECT_NEAR(rtsafe(in_x, 0, scale).root / scale, 0.3, 1e-14);
    const auto in_f = [scale](double x) { return ValueAndDerivative{scale * (x - 0.3), scale}; };
    EXPECT_NEAR(rtsafe(in_f, 0, 1).root, 0.3, 1e-14);
    EXPECT_NEAR(find_root_bracketed([&](double x) { return in_x(x).value; }, 0, scale).root / scale, 0.3,
                1e-14);
    EXPECT_NEAR(find_root_bracketed([&](double x) { return in_f(x).value; }, 0, 1).root, 0.3, 1e-14);
  }
}

}  // namespace
}  // namespace tribo
