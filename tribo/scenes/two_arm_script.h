// A task of two guided arms as phases: what begins with each, and what it waits for.
//
// Example
//   TwoArmScript script(task);                           // task: TwoArms, or derived from it
//   script.add("reach", [&] { task.left->go(task.time(), {{0.8, there}}); });                   // until both have arrived
//   script.add_until_force("grasp", [&] { task.left->grip(true); }, 1.5, [&] { return force(); }, 1.0);
//   task.phases = script.take();
//   scene.control = [task](Simulator& s) { task->control(s); };
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tribo/control/phases.h"
#include "tribo/scenes/guided_arm.h"

namespace tribo::detail {

struct TwoArms {
  std::unique_ptr<GuidedArm> left, right;
  std::unique_ptr<Phases> phases;
  Simulator* simulator = nullptr;  // of the step at hand

  double time() const { return simulator->state().time; }
  const Pose& pose(Index body) const { return simulator->kinematics().pose(body); }
  void control(Simulator& s);  // forces of both arms in the current phase
};

class TwoArmScript {
 public:
  explicit TwoArmScript(TwoArms& task) : task_(&task) {}  // which has to stay where it is

  // Without `done`: until both arms have arrived. `limit`: s, then on.
  void add(const std::string& name, std::function<void()> begin, std::function<bool(double)> done = {},
           double limit = 10.0);
  // Until a force has been there for 0.1 s, N.
  void add_until_force(const std::string& name, std::function<void()> begin, double level,
                       std::function<double()> force, double limit);
  std::unique_ptr<Phases> take() { return std::make_unique<Phases>(std::move(phases_)); }

 private:
  TwoArms* task_;
  std::vector<Phase> phases_;
};

}  // namespace tribo::detail
