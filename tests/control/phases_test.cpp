#include "tribo/control/phases.h"

#include <gtest/gtest.h>

#include "tribo/base/errors.h"

namespace tribo {
namespace {

TEST(Phases, GoOnByEventsAndTimeLimits) {
  std::vector<std::string> begun;
  const auto note = [&](const char* name) { return [&begun, name] { begun.emplace_back(name); }; };
  bool touched = false;
  double acted = -1.0;
  Phases task({{.name = "reach", .begin = note("reach"), .done = [&](double) { return touched; }},
               {.name = "grip",
                .begin = note("grip"),
                .act = [&](double since) { acted = since; },
                .done = [](double) { return false; },
                .time_limit = 0.5,
                .otherwise = "retry"},
               {.name = "leave", .begin = note("leave")},
               {.name = "retry",
                .begin = note("retry"),
                .done = [](double since) { return since >= 0.25; },
                .next = "leave"}});
  task.step(1.0);
  task.step(2.0);
  EXPECT_EQ(task.name(), "reach");
  touched = true;
  task.step(2.25);
  EXPECT_EQ(task.name(), "grip");
  EXPECT_EQ(acted, 0.0);
  task.step(2.5);
  EXPECT_EQ(acted, 0.25);
  task.step(2.75);
  EXPECT_EQ(task.name(), "retry");
  EXPECT_EQ(task.timeouts(), 1);
  task.step(3.0);
  task.step(100.0);
  EXPECT_EQ(task.name(), "leave");
  EXPECT_EQ(begun, (std::vector<std::string>{"reach", "grip", "retry", "leave"}));
  EXPECT_FALSE(task.finished());
  task.restart();
  touched = false;
  task.step(0.0);
  EXPECT_EQ(task.name(), "reach");
}

TEST(Phases, EndAfterTheLastOne) {
  Phases task({{.name = "only", .done = [](double since) { return since >= 1.0; }}});
  task.step(0.0);
  task.step(1.0);
  EXPECT_TRUE(task.finished());
  EXPECT_EQ(task.name(), "end");
  task.step(2.0);
}

TEST(Phases, RefusesUnknownAndDoubleNames) {
  EXPECT_THROW(Phases(std::vector<Phase>{}), InvalidInput);
  EXPECT_THROW(Phases(std::vector<Phase>{{.name = "a", .next = "b"}}), InvalidInput);
  EXPECT_THROW(Phases(std::vector<Phase>{{.name = "a"}, {.name = "a"}}), InvalidInput);
}

TEST(Threshold, WaitsAndHasHysteresis) {
  Threshold touch(5.0, 0.1, 2.0);
  EXPECT_FALSE(touch.update(6.0, 0.0));
  EXPECT_FALSE(touch.update(4.0, 0.05));  // not long enough
  EXPECT_FALSE(touch.update(6.0, 0.06));
  EXPECT_FALSE(touch.update(6.0, 0.1));
  EXPECT_TRUE(touch.update(6.0, 0.16));
  EXPECT_TRUE(touch.update(3.0, 0.2));
  EXPECT_FALSE(touch.update(1.0, 0.3));
}

TEST(ContactForce, IsTheWeightOfWhatLies) {
  World world;
  ModelBuilder builder;
  const Shape box = Shape::box(Vec3::Constant(0.1));
  for (int k = 0; k < 2; ++k)
    builder.add_free_body("box" + std::to_string(k), {Vec3(0.0, 0.0, 0.1 + 0.2 * k)},
                          uniform_inertia(box, 1.0 + k));
  world.model = builder.build();
  world.add_geom({.shape = Shape::plane()});
  for (Index b = 1; b < 3; ++b) world.add_geom({.shape = box, .body = b});
  Simulator simulator(world, {.tolerance = 1e-10});
  for (int k = 0; k < 5; ++k) simulator.step();
  EXPECT_NEAR(contact_force(simulator, 1, 0).z(), 3.0 * 9.81, 1e-6);
  EXPECT_NEAR(contact_force(simulator, 1, 2).z(), -2.0 * 9.81, 1e-6);
  EXPECT_NEAR(contact_force(simulator, 1).z(), 1.0 * 9.81, 1e-6);
  EXPECT_NEAR(contact_force(simulator, 2).z(), 2.0 * 9.81, 1e-6);
}

}  // namespace
}  // namespace tribo
