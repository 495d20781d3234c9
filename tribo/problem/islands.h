// Connected components of the contact graph: constraints that share a tree (or a block of an explicit W) are
// in one island. Islands do not influence each other and can be solved one by one, in any order, on any
// thread, with the same result.
//
// Numbering is deterministic: islands in the order of their first constraint, constraints inside an island in
// the order of the problem; trees without constraints belong to none. Cost of find(): O(pieces of J).
//
// Example
//   Islands islands;
//   islands.find(problem);
//   ContactProblem part;
//   islands.extract(problem, k, part);       // a problem of its own; its copy of A, J, ... is exact
//   islands.scatter(problem, k, part_impulse, impulse);
#pragma once

#include <span>
#include <vector>

#include "tribo/problem/contact_problem.h"

namespace tribo {

class Islands {
 public:
  // Components of at most `together` constraints are put together into one island.
  // Grow-only: finding again in a problem that is not larger allocates nothing.
  void find(const ContactProblem& problem, Index together = 0);

  Index count() const { return static_cast<Index>(constraint_start_.size()) - 1; }
  std::span<const Index> constraints(Index island) const {
    return {constraints_.data() + constraint_start_[island],
            constraints_.data() + constraint_start_[island + 1]};
  }
  std::span<const Index> trees(Index island) const {
    return {trees_.data() + tree_start_[island], trees_.data() + tree_start_[island + 1]};
  }

  // The island as a problem. Allocates nothing when `part` has held an island of the same structure before.
  void extract(const ContactProblem& problem, Index island, ContactProblem& part) const;

  // Rows of the island out of, and back into, a vector of the whole problem.
  void gather(const ContactProblem& problem, Index island, const Vector& whole, Vector& part) const;
  void scatter(const ContactProblem& problem, Index island, const Vector& part, Vector& whole) const;

 private:
  Index root(Index node);
  void unite(Index a, Index b);
  void unite_small(Index first_constraint, Index constraints, Index together);
  void copy_constraints(const ContactProblem& problem, Index island, ContactProblem& part) const;
  void copy_trees(const ContactProblem& problem, Index island, ContactProblem& part) const;
  void copy_delassus(const ContactProblem& problem, Index island, ContactProblem& part) const;

  std::vector<Index> parent_;  // union-find over trees, then constraints
  std::vector<Index> island_of_constraint_, island_of_tree_;
  std::vector<Index> local_constraint_, local_tree_;  // number inside its island
  std::vector<Index> constraint_start_{0}, constraints_;
  std::vector<Index> tree_start_{0}, trees_;
};

}  // namespace tribo
