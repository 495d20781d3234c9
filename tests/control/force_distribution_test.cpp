#include "tribo/control/force_distribution.h"

#include <gtest/gtest.h>

#include "tests/support/random.h"
#include "tribo/base/errors.h"
#include "tribo/math/cone.h"

namespace tribo {
namespace {

Vec6 wrench_of(const std::vector<Vec3>& forces, const std::vector<SupportPoint>& points, const Vec3& center) {
  Vec6 sum = Vec6::Zero();
  for (std::size_t k = 0; k < points.size(); ++k) {
    sum.head<3>() += forces[k];
    sum.tail<3>() += (points[k].position - center).cross(forces[k]);
  }
  return sum;
}

double cost(const WrenchRequest& request, const std::vector<Vec3>& forces,
            const std::vector<SupportPoint>& points) {
  const Vec6 off = request.weights.cwiseProduct(wrench_of(forces, points, request.center) - request.wrench);
  double sum = 0.5 * off.squaredNorm();
  for (std::size_t k = 0; k < points.size(); ++k) sum += 0.5 * points[k].reluctance * forces[k].squaredNorm();
  return sum;
}

std::vector<SupportPoint> table_feet(double reluctance) {
  std::vector<SupportPoint> feet;
  for (const double x : {0.2, -0.2}) {
    for (const double y : {0.15, -0.15}) feet.push_back({Vec3(x, y, 0.0), Vec3::UnitZ(), 0.6, reluctance});
  }
  return feet;
}

// A weight in the middle of a table: a quarter on each foot. Off the middle: by the law of the lever.
TEST(ForceDistribution, TableCarriesByTheLever) {
  const auto feet = table_feet(1e-6);
  WrenchRequest request{.center = Vec3(0.0, 0.0, 0.3), .wrench = {}, .weights = Vec6::Ones()};
  request.wrench << 0.0, 0.0, 100.0, 0.0, 0.0, 0.0;
  for (const Vec3& f : distribute_force(request, feet)) EXPECT_LE((f - Vec3(0.0, 0.0, 25.0)).norm(), 1e-3);
  request.center.x() = 0.1;
  const auto forces = distribute_force(request, feet);
  EXPECT_NEAR(forces[0].z(), 37.5, 1e-3);
  EXPECT_NEAR(forces[2].z(), 12.5, 1e-3);
}

// Every force is in its cone, and no small change within the cones is better: the definition of the minimum.
TEST(ForceDistribution, IsTheMinimumInTheCones) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    test::Random random(static_cast<unsigned>(seed));
    WrenchRequest request{.center = Vec3(0.02, -0.03, 0.3), .wrench = {}, .weights = {}};
    request.weights << 1.0, 1.0, 1.0, 5.0, 5.0, 5.0;
    auto feet = table_feet(1e-2);
    if (seed % 2 == 0) feet.resize(2);
    request.wrench << 40.0 * random.uniform(), 40.0 * random.uniform(), 100.0, 5.0 * random.vec3();
    for (SupportPoint& foot : feet) foot.normal = (Vec3::UnitZ() + 0.2 * random.vec3()).normalized();
    const auto forces = distribute_force(request, feet);
    const double least = cost(request, forces, feet);
    for (std::size_t k = 0; k < feet.size(); ++k) {
      const double normal = forces[k].dot(feet[k].normal);
      EXPECT_LE((forces[k] - normal * feet[k].normal).norm(), feet[k].friction * normal + 1e-9);
      for (int trial = 0; trial < 20; ++trial) {
        auto other = forces;
        other[k] += 0.1 * random.vec3();
        const double pressed = other[k].dot(feet[k].normal);
        if ((other[k] - pressed * feet[k].normal).norm() > feet[k].friction * pressed) continue;
        EXPECT_GE(cost(request, other, feet), least - 1e-4 * least) << seed;
      }
    }
  }
}

TEST(ForceDistribution, BadInputIsRefused) {
  WrenchRequest request;
  EXPECT_TRUE(distribute_force(request, {}).empty());
  EXPECT_THROW(distribute_force(request, {{.normal = Vec3(0.0, 0.0, 2.0)}}), InvalidInput);
  EXPECT_THROW(distribute_force(request, {{.friction = -1.0}}), InvalidInput);
  EXPECT_THROW(distribute_force(request, {{.reluctance = 0.0}}), InvalidInput);
}

}  // namespace
}  // namespace tribo
