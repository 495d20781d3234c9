#include "tribo/generate/sphere_pile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tribo/base/random.h"
#include "tribo/generate/generators.h"
#include "tribo/generate/rigid_scene.h"

namespace tribo {
namespace {

TEST(Pile, LargePileIsPackedWithoutOverlaps) {
  const Index n = 30000;
  detail::Random random(2);
  const detail::SpherePile pile = detail::drop_spheres(n, random);
  const std::vector<detail::SphereContact> contacts = detail::find_contacts(pile);
  EXPECT_GT(contacts.size(), 2.9 * n);
  EXPECT_LT(contacts.size(), 4.0 * n);
  std::vector<Index> touching(n, 0);
  for (const detail::SphereContact& c : contacts) {
    EXPECT_GT(c.gap, -1e-10);
    EXPECT_LT(c.gap, detail::kPileMargin);
    EXPECT_NEAR(c.normal.norm(), 1.0, 1e-12);
    const Vec3& centre = pile.spheres[c.a].centre;
    EXPECT_NEAR((centre - c.point).dot(c.normal), pile.spheres[c.a].radius + 0.5 * c.gap, 1e-12);
    if (c.gap > detail::kTouchingGap) continue;
    ++touching[c.a];
    if (c.b != detail::kGround) ++touching[c.b];
  }
  EXPECT_GE(*std::min_element(touching.begin(), touching.end()), 1);
  EXPECT_LT(std::count_if(touching.begin(), touching.end(), [](Index t) { return t < 3; }), n / 100);
}

TEST(Pile, FindsTheSameContactsAsTheQuadraticSearch) {
  const Index n = 400;
  detail::Random random(5);
  const detail::SpherePile pile = detail::drop_spheres(n, random);
  Index expected = 0;
  for (Index i = 0; i < n; ++i) {
    const auto& [centre, radius] = pile.spheres[i];
    if (centre.z() < radius + detail::kPileMargin) ++expected;
    for (int axis = 0; axis < 2; ++axis) {
      if (pile.half_width - std::abs(centre[axis]) < radius + detail::kPileMargin) ++expected;
    }
    for (Index k = 0; k < i; ++k) {
      const double gap = (centre - pile.spheres[k].centre).norm() - radius - pile.spheres[k].radius;
      EXPECT_GT(gap, -1e-10);
      if (gap < detail::kPileMargin) ++expected;
    }
  }
  EXPECT_EQ(static_cast<Index>(detail::find_contacts(pile).size()), expected);
}

TEST(Pile, MassesAreGeometricInTheOrderOfTheFall) {
  const ContactProblem problem = generate("pile", {.bodies = 100, .mass_ratio = 50.0});
  EXPECT_EQ(problem.mass().block(0)(0, 0), 1.0);
  EXPECT_NEAR(problem.mass().block(99)(0, 0), 50.0, 1e-12);
}

}  // namespace
}  // namespace tribo
