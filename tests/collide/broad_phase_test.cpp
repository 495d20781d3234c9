// Pairs against brute force, their order, groups, planes, and independence from what came before.
#include "tribo/collide/broad_phase.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/allocation_counter.h"
#include "tests/support/collide_checks.h"

namespace tribo::test {
namespace {

using Pairs = std::vector<std::pair<Index, Index>>;

struct Scene {
  std::vector<Aabb> bounds;
  std::vector<Index> group;

  void add(const Vec3& center, const Vec3& half, Index g = -1) {
    bounds.push_back({center - half, center + half});
    group.push_back(g);
  }

  Pairs brute_force() const {
    Pairs pairs;
    for (Index i = 0; i < static_cast<Index>(bounds.size()); ++i)
      for (Index j = i + 1; j < static_cast<Index>(bounds.size()); ++j)
        if (bounds[i].overlaps(bounds[j]) && (group[i] < 0 || group[i] != group[j])) pairs.emplace_back(i, j);
    return pairs;
  }
};

// Sizes spread over `decades`, some boxes in groups, a few far away, a plane among them.
Scene random_scene(Dice& dice, int count, double decades) {
  Scene scene;
  const double reach = 0.5 * std::cbrt(count);
  for (int k = 0; k < count; ++k) {
    const double size = 0.4 * std::pow(10.0, -dice.in(0.0, decades));
    const Vec3 half = size * Vec3(dice.in(0.3, 1.0), dice.in(0.3, 1.0), dice.in(0.3, 1.0));
    const Vec3 center = k % 97 == 3 ? dice.vector(1e5) : dice.vector(reach);
    scene.add(center, half, k % 3 == 0 ? static_cast<Index>(dice.in(0.0, 20.0)) : -1);
  }
  scene.add(Vec3::Zero(), Vec3::Constant(std::numeric_limits<double>::infinity()), 0);
  return scene;
}

TEST(BroadPhase, MatchesBruteForceAndIsSorted) {
  Dice dice(1);
  BroadPhase broad;
  Pairs pairs;
  for (const int count : {0, 1, 2, 10, 100, 255, 256, 257, 1000, 3000})
    for (const double decades : {0.0, 0.3, 2.0, 8.0}) {
      const Scene scene = random_scene(dice, count, decades);
      broad.find(scene.bounds, scene.group, pairs);
      EXPECT_EQ(pairs, scene.brute_force()) << count << " " << decades;
    }
}

TEST(BroadPhase, HistoryDoesNotMatter) {
  Dice dice(2);
  BroadPhase broad;
  Pairs warm, fresh;
  for (const int count : {60, 700}) {
    Scene scene = random_scene(dice, count, 0.5);
    for (int step = 0; step < 20; ++step) {
      for (Aabb& box : scene.bounds) {
        const Vec3 shift = dice.vector(step % 7 == 6 ? 3.0 : 0.05);
        box.lower += shift, box.upper += shift;
      }
      broad.find(scene.bounds, scene.group, warm);
      BroadPhase().find(scene.bounds, scene.group, fresh);
      EXPECT_EQ(warm, fresh);
      EXPECT_EQ(warm, scene.brute_force());
    }
  }
}

// Boxes that fly on and on, and turn back at times: skins reach ahead of them.
TEST(BroadPhase, MotionDoesNotMatter) {
  Dice dice(5);
  for (const int count : {60, 700}) {
    Scene scene = random_scene(dice, count, 0.5);
    std::vector<Vec3> velocity;
    for (std::size_t k = 0; k < scene.bounds.size(); ++k)
      velocity.push_back(dice.vector(k % 5 == 0 ? 0.5 : 0.03));
    BroadPhase broad;
    Pairs pairs;
    for (int step = 0; step < 60; ++step) {
      for (std::size_t k = 0; k < scene.bounds.size(); ++k) {
        if (step % 17 == 16) velocity[k] = -velocity[k];
        scene.bounds[k].lower += velocity[k], scene.bounds[k].upper += velocity[k];
      }
      broad.find(scene.bounds, scene.group, pairs);
      ASSERT_EQ(pairs, scene.brute_force()) << count << " boxes, step " << step;
    }
  }
}

// A box without bounds that gets some, and the other way round.
TEST(BroadPhase, BoundsMayComeAndGo) {
  Dice dice(9);
  Scene scene = random_scene(dice, 300, 0.5);
  const Aabb kept = scene.bounds[7];
  const Aabb everywhere{Vec3::Constant(-std::numeric_limits<double>::infinity()),
                        Vec3::Constant(std::numeric_limits<double>::infinity())};
  BroadPhase broad;
  Pairs pairs;
  for (int step = 0; step < 20; ++step) {
    scene.bounds[7] = step % 4 < 2 ? everywhere : kept;
    for (std::size_t k = 20; k < scene.bounds.size(); ++k) {
      scene.bounds[k].lower.x() += 0.05, scene.bounds[k].upper.x() += 0.05;
    }
    broad.find(scene.bounds, scene.group, pairs);
    ASSERT_EQ(pairs, scene.brute_force()) << step;
  }
}

// Whatever way pairs are found: anew, among candidates, by boxes that left their skin, without skins.
TEST(BroadPhase, RefusedPairsNeverComeUp) {
  Dice dice(6);
  const auto may_meet = [](Index i, Index j) { return (i + j) % 3 != 0; };
  for (const double speed : {0.0, 0.02, 3.0}) {
    Scene scene = random_scene(dice, 300, 0.5);
    BroadPhase broad;
    broad.set_filter(may_meet);
    Pairs pairs;
    for (int step = 0; step < 40; ++step) {
      for (std::size_t k = 0; k < scene.bounds.size(); ++k) {
        const Vec3 shift = dice.vector(step % 9 == 8 && k % 50 == 0 ? 1.0 : speed);
        scene.bounds[k].lower += shift, scene.bounds[k].upper += shift;
      }
      Pairs expected = scene.brute_force();
      std::erase_if(expected, [&](const auto& pair) { return !may_meet(pair.first, pair.second); });
      broad.find(scene.bounds, scene.group, pairs);
      ASSERT_EQ(pairs, expected) << speed << " " << step;
    }
  }
}

TEST(BroadPhase, AllInOnePlace) {
  Scene scene;
  for (int k = 0; k < 300; ++k) scene.add(Vec3(1, 2, 3), Vec3::Constant(k % 2 == 0 ? 0.0 : 1e-3));
  Pairs pairs;
  BroadPhase().find(scene.bounds, scene.group, pairs);
  EXPECT_EQ(pairs.size(), 300u * 299u / 2u);
}

TEST(BroadPhase, TouchingBoxesMeetAndPlanesSkipTheirGroup) {
  Scene scene;
  scene.add({0, 0, 0}, {1, 1, 1}, 0);
  scene.add({2, 0, 0}, {1, 1, 1}, 1);
  scene.add({0, 0, 0}, Vec3::Constant(std::numeric_limits<double>::infinity()), 0);
  Pairs pairs;
  BroadPhase().find(scene.bounds, scene.group, pairs);
  EXPECT_EQ(pairs, (Pairs{{0, 1}, {1, 2}}));
}

TEST(BroadPhase, WarmCallsDoNotAllocate) {
  Dice dice(4);
  for (const int count : {100, 2000}) {
    const Scene scene = random_scene(dice, count, 1.0);
    BroadPhase broad;
    Pairs pairs;
    broad.find(scene.bounds, scene.group, pairs);
    broad.find(scene.bounds, scene.group, pairs);
    const std::size_t before = allocation_count();
    broad.find(scene.bounds, scene.group, pairs);
    broad.find(scene.bounds, scene.group, pairs);
    EXPECT_EQ(allocation_count(), before);
  }
}

}  // namespace
}  // namespace tribo::test
