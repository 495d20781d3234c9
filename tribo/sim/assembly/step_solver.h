// Stage two of a step: partitions the constraints into islands (connected components over the trees), makes one
// ContactProblem of each, solves them on any number of threads, and puts velocities and impulses together.
//
// Islands are numbered by their first constraint; an island's numbers do not depend on the thread that solves
// it, so the result has the same bits for any number of threads. Trees without constraints keep v*.
//
// The problems are posed in coordinates in which A is the identity (sim/assembly/tree_roots.h) unless the solver splits by
// bodies: it gets the masses themselves and, where the set kept them, the bodies of large trees.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tribo/base/workers.h"
#include "tribo/multibody/articulation.h"
#include "tribo/sim/assembly/constraint_set.h"
#include "tribo/sim/forces/free_motion.h"
#include "tribo/sim/settling.h"
#include "tribo/solve/solver.h"

namespace tribo {

struct SolveSummary {
  Index islands = 0;
  Index missed_islands = 0;  // certificate above the tolerance
  Index iterations = 0, factorizations = 0;
  double error = 0.0;  // worst certificate of the islands, chosen measure
  Status worst_status = Status::converged;
  Index corrected_islands = 0;  // whose position errors were led back
};

class StepSolver {
 public:
  // InvalidInput when the solver's name or options are unknown.
  // `flexible_bodies`: so many trees follow those of the model.
  StepSolver(const Model& model, const std::string& solver, Index flexible_bodies = 0);
  ~StepSolver();

  // Whether the bodies of the constraints are of use (ConstraintSet::keep_bodies).
  bool splits_by_bodies() const { return !normalized_; }
  // Of the steps before, for a new beginning.
  void forget() { settling_.forget(); }
  SettlingPolicy::Memory memory() const { return settling_.memory(); }
  void set_memory(SettlingPolicy::Memory memory) { settling_.set_memory(std::move(memory)); }

  // `start` [constraints]: impulses to start from (zero: none known). Fills velocity [dofs, then those of flexible bodies]
  // and impulse [constraints] (scalars: the first entry). With `correction` also displacement, as velocity, which leads
  // position errors back (sim/assembly/position_correction.h): zero where there are none.
  struct Correction {
    double h;
    const ContactLawSettings& settings;
    Vector& displacement;
  };
  SolveSummary solve(const ConstraintSet& set, const TreeMotion& motion, const Settings& settings,
                     Workers& workers, const std::vector<RowValues>& start, Vector& velocity,
                     std::vector<RowValues>& impulse, const Correction* correction = nullptr);

  // All constraints and all trees they touch (or all trees) in one problem, with its bodies where they were kept:
  // their kinematics must still be those of the constraints then.
  bool whole_problem(const ConstraintSet& set, const TreeMotion& motion, ContactProblem& problem,
                     bool all_trees = false, bool bodies = false);

  // Of the last solve, for who looks at it afterwards: the island of a constraint, -1 where no dof moves it; and the
  // islands' problems, made again one after the other in coordinates with A = 1, with the impulses they were solved with.
  // `set` and `motion` must still be those of the solve, with roots.
  Index island(Index constraint) const { return constraint_island_[constraint]; }
  using IslandVisit = std::function<void(const ContactProblem& problem, std::span<const Index> constraints,
                                         const Vector& impulse)>;
  void revisit(const ConstraintSet& set, const TreeMotion& motion, const std::vector<RowValues>& impulse,
               const IslandVisit& visit);

  // Root of the tree's component in the last solve; trees with one root were coupled.
  Index component(Index tree) const { return root_[tree]; }

 private:
  struct Slot;

  // Trees of the model and flexible bodies.
  bool is_flexible(Index tree) const { return tree >= model_->tree_count(); }
  Index tree_count() const { return static_cast<Index>(root_.size()); }
  Index dof_count(Index tree, const TreeMotion& motion) const;
  Index first_dof(Index tree, const TreeMotion& motion) const;

  Index find(Index tree);
  void partition(const ConstraintSet& set);
  bool fill(const ConstraintSet& set, const TreeMotion& motion, std::span<const Index> constraints,
            std::span<const Index> trees, ProblemFiller& filler, ContactProblem& problem,
            const TreeRoots* roots, const Kinematics* bodies);
  void add_constraint(const ConstraintSet& set, Index i, ProblemFiller& filler, const TreeRoots* roots,
                      const Kinematics* bodies);
  std::size_t add_contacts_of_one_tree(const ConstraintSet& set, std::span<const Index> constraints,
                                       const TreeRoots& roots, ProblemFiller& filler);
  void solve_island(Index island, Slot& slot, const ConstraintSet& set, const TreeMotion& motion,
                    const Settings& settings, const std::vector<RowValues>& start, Vector& velocity,
                    std::vector<RowValues>& impulse, const Correction* correction);
  void correct_positions(std::span<const Index> constraints, std::span<const Index> trees, Slot& slot,
                         const ConstraintSet& set, const TreeMotion& motion, const Correction& correction,
                         SolveSummary& result);
  // Of an island's trees, from the coordinates of its problem to those of the model.
  void recover(std::span<const Index> trees, const Eigen::Ref<const Vector>& from, const TreeMotion& motion,
               Vector& to) const;
  void recover_displacement(std::span<const Index> trees, Slot& slot, const TreeMotion& motion,
                            Vector& to) const;
  double largest_turn(std::span<const Index> trees, const Vector& displacement) const;  // rad, of a joint
  void limit_turns(std::span<const Index> trees, const TreeMotion& motion, Vector& displacement) const;
  bool is_small(Index island) const;
  void sort_by_size(Index islands);
  Slot& slot(Index number, std::vector<std::unique_ptr<Slot>>& slots);

  const Model* model_;
  Articulations articulations_;
  std::unique_ptr<Solver> prototype_;          // copied for every slot
  bool normalized_;                            // problems in coordinates with A = 1
  std::vector<Index> root_;                    // [trees] union-find
  std::vector<Index> island_of_, local_tree_;  // [trees]
  SettlingPolicy settling_;
  std::vector<Index> constraint_start_, constraints_;  // by island
  std::vector<Index> tree_start_, trees_, constraint_island_;
  std::vector<std::unique_ptr<Slot>> own_, shared_;  // by island, by worker
  std::unique_ptr<Slot> revisited_;
  std::vector<Index> local_slot_;     // [islands] into own_, -1: shared
  std::vector<Index> order_;          // [islands] in which they are solved
  std::vector<SolveSummary> result_;  // [islands]
};

}  // namespace tribo
