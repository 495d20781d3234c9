// A small random generator of our own: xoshiro256** (Blackman and Vigna, 2021) seeded through splitmix64.
//
// The distributions of the standard library differ from one library to the next; these use only integer
// operations, sums, products and square roots, so that a seed means the same problem everywhere.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "tribo/base/types.h"

namespace tribo::detail {

class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      seed += 0x9E3779B97F4A7C15u;
      std::uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
      z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
      word = z ^ (z >> 31);
    }
  }

  std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // In [0, 1): a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  // Mean 0, variance 1: the sum of twelve uniforms (Irwin-Hall), which needs no logarithm; within [-6, 6].
  double normal() {
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

  Vec3 normal_vector() {
    Vec3 x;
    for (double& entry : x) entry = normal();
    return x;
  }

  // Uniform on the sphere, by rejection from the cube.
  Vec3 unit_vector() {
    while (true) {
      Vec3 x;
      for (double& entry : x) entry = uniform(-1.0, 1.0);
      const double squared = x.squaredNorm();
      if (squared <= 1.0 && squared > 1e-4) return x / std::sqrt(squared);
    }
  }

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace tribo::detail
