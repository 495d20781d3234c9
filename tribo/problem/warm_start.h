// Impulses carried from one problem to the next by the persistent keys of its constraints.
//
//   WarmStart warm;
//   warm.store(problem, solution.impulse);             // after a step
//   warm.impulse_for(next_problem, impulse);   // before the next: zero where a constraint is new
#pragma once

#include <cstdint>
#include <vector>

#include "tribo/problem/contact_problem.h"
#include "tribo/problem/solution.h"

namespace tribo {

class WarmStart {
 public:
  void clear() { entries_.clear(); }
  bool empty() const { return entries_.empty(); }
  void store(const ContactProblem& problem, const Vector& impulse);
  // Fills `impulse` [rows]; returns how many constraints were matched (same key and kind).
  Index impulse_for(const ContactProblem& problem, Vector& impulse) const;

 private:
  struct Entry {
    std::uint64_t key;
    ConstraintKind kind;
    Vec3 impulse;
  };
  std::vector<Entry> entries_;  // sorted by key
};

}  // namespace tribo
