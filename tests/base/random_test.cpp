#include "tribo/base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace tribo {
namespace {

TEST(Random, UniformAndNormalHaveTheirMoments) {
  detail::Random random(0);
  const int n = 100000;
  double mean = 0.0, square = 0.0, normal_mean = 0.0, normal_square = 0.0;
  Vec3 direction = Vec3::Zero();
  for (int i = 0; i < n; ++i) {
    const double u = random.uniform();
    ASSERT_TRUE(u >= 0.0 && u < 1.0);
    const double x = random.normal();
    mean += u / n;
    square += u * u / n;
    normal_mean += x / n;
    normal_square += x * x / n;
    direction += random.unit_vector() / n;
  }
  EXPECT_NEAR(mean, 0.5, 0.005);
  EXPECT_NEAR(square, 1.0 / 3.0, 0.005);
  EXPECT_NEAR(normal_mean, 0.0, 0.02);
  EXPECT_NEAR(normal_square, 1.0, 0.03);
  EXPECT_LT(direction.norm(), 0.02);
}

// The stream is part of the meaning of a seed: it must never change.
TEST(Random, StreamIsFixed) {
  detail::Random random(0);
  EXPECT_EQ(random.next(), 0x99EC5F36CB75F2B4u);
  EXPECT_EQ(random.next(), 0xBF6E1F784956452Au);
}

}  // namespace
}  // namespace tribo
