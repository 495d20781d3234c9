// Reproducible random inputs for tests.
#pragma once

#include <cmath>
#include <random>

#include "tribo/base/types.h"

namespace tribo::test {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}

  double uniform(double lo = -1.0, double hi = 1.0) {
    return lo + (hi - lo) * (static_cast<double>(engine_() >> 11) * 0x1.0p-53);
  }

  // Spread evenly over the decades between lo and hi, both positive.
  double log_uniform(double lo, double hi) { return std::exp(uniform(std::log(lo), std::log(hi))); }

  Vec2 vec2() { return {uniform(), uniform()}; }
  Vec3 vec3() { return {uniform(), uniform(), uniform()}; }

  Vector vector(Index size);
  Matrix matrix(Index rows, Index columns);

 private:
  std::mt19937_64 engine_;
};

// Symmetric positive definite, eigenvalues of at least `size`.
Matrix random_spd(Random& random, Index size);

}  // namespace tribo::test
