#include "tribo/scenes/two_arm_script.h"

namespace tribo::detail {

void TwoArms::control(Simulator& s) {
  simulator = &s;
  if (s.step_count() == 0) {  // also of a simulator that was set back to its start
    phases->restart();
    left->restart();
    right->restart();
  }
  s.force().setZero();
  phases->step(s.state().time);
  left->add_force(s);
  right->add_force(s);
}

void TwoArmScript::add(const std::string& name, std::function<void()> begin, std::function<bool(double)> done,
                       double limit) {
  TwoArms* task = task_;
  const auto act = [task](double) {
    task->left->move(task->time());
    task->right->move(task->time());
  };
  const auto arrived = [task](double) {
    return task->left->arrived(task->time()) && task->right->arrived(task->time());
  };
  phases_.push_back({.name = name,
                     .begin = std::move(begin),
                     .act = act,
                     .done = done ? std::move(done) : arrived,
                     .time_limit = limit});
}

void TwoArmScript::add_until_force(const std::string& name, std::function<void()> begin, double level,
                                   std::function<double()> force, double limit) {
  constexpr double kHold = 0.1;  // s: longer than an impact
  const auto felt = std::make_shared<Threshold>(level, kHold);
  TwoArms* task = task_;
  add(
      name, std::move(begin),
      [felt, task, force = std::move(force)](double) { return felt->update(force(), task->time()); }, limit);
}

}  // namespace tribo::detail
