// Islands at rest may be left out of the steps until something touches them. Off by default.
//
// A component of trees whose velocities have all stayed below a threshold for some time falls asleep together: its
// velocities become zero and its contacts are dropped. It wakes as a whole when an awake tree comes into reach of one
// of its trees or a force is applied to one. Driven trees never sleep.
#pragma once

#include <vector>

#include "tribo/sim/assembly/step_solver.h"
#include "tribo/sim/contact/contact_finder.h"

namespace tribo {

class Sleeping {
 public:
  explicit Sleeping(const Model& model);

  bool asleep(Index tree) const { return tree >= 0 && sleep_group_[tree] >= 0; }
  Index asleep_count() const { return asleep_count_; }

  // Wakes what is touched or pushed and removes contacts among sleepers and fixed bodies.
  void filter(const Vector& force, std::vector<Contact>& contacts);
  // After a solve: stills the sleepers' velocities, lets quiet components fall asleep.
  void update(const StepSolver& solver, double h, double velocity, double time, Vector& v);
  void wake_all();

  // All that it knows, to be kept and put back.
  struct Memory {
    std::vector<Index> group;   // [trees] the tree it sleeps with, -1: awake
    std::vector<double> quiet;  // [trees] s
  };
  Memory memory() const { return {sleep_group_, quiet_}; }
  void set_memory(const Memory& memory);

 private:
  void wake(Index group);

  const Model* model_;
  std::vector<bool> driven_;        // [trees]
  std::vector<Index> sleep_group_;  // [trees] whose component it sleeps with (its root), -1: awake
  std::vector<double> quiet_;       // [trees] s below the threshold
  std::vector<bool> restless_;      // [trees] by component root
  Index asleep_count_ = 0;
};

}  // namespace tribo
