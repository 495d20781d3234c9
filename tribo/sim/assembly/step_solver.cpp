#include "tribo/sim/assembly/step_solver.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "tribo/problem/certificate.h"
#include "tribo/problem/sparse_trees.h"
#include "tribo/sim/assembly/position_correction.h"
#include "tribo/sim/assembly/unfinished_solve.h"
#include "tribo/sim/flex/flexible_motion.h"
#include "tribo/solve/catalogue.h"
#include "tribo/solve/problem_size.h"

namespace tribo {

namespace {
// Islands that have a solver of their own, which keeps what it knows of their structure from step to step. All others
// share one per thread: the small ones, solved directly without a structure worth keeping, and those of scenes with so
// many islands that memory counts for more.
constexpr Index kOwnSolvers = 32;

// Sizes of islands, in constraints and in trees, that are told apart when they are put in order.
constexpr Index kSizes = 32, kTreeCounts = 4;

// Trees up to this size are one dense block to a solver that splits by bodies, as a free body is.
constexpr Index kDenseTree = 6;

// Of one constraint.
void copy_rows(const double* from, Index rows, double* to) {
  with_rows(rows, [&](auto n) {
    for (int r = 0; r < n(); ++r) to[r] = from[r];
  });
}

}  // namespace

struct StepSolver::Slot {
  std::unique_ptr<Solver> solver;
  ProblemFiller filler;
  ContactProblem problem;
  Solution solution;
  Vector start;
  UnfinishedSolve unfinished;
  PositionCorrection correction;
  std::vector<double> position;
  Vector displacement;  // of all degrees of freedom, where there are flexible bodies
  SparseScratch scratch;
};

StepSolver::StepSolver(const Model& model, const std::string& solver, Index flexible_bodies)
    : model_(&model),
      articulations_(model),
      prototype_(make_solver(solver)),
      normalized_(!prototype_->traits().uses_masses),
      settling_(model.tree_count() + flexible_bodies) {
  const Index trees = model.tree_count() + flexible_bodies;
  root_.resize(trees);
  island_of_.resize(trees);
  local_tree_.resize(trees);
}

StepSolver::~StepSolver() = default;

StepSolver::Slot& StepSolver::slot(Index number, std::vector<std::unique_ptr<Slot>>& slots) {
  while (static_cast<Index>(slots.size()) <= number) {
    slots.push_back(std::make_unique<Slot>());
    slots.back()->solver = prototype_->clone();
  }
  return *slots[number];
}

Index StepSolver::dof_count(Index tree, const TreeMotion& motion) const {
  return is_flexible(tree) ? motion.flexible->dof_count(tree - model_->tree_count())
                           : model_->tree_dof_count(tree);
}

Index StepSolver::first_dof(Index tree, const TreeMotion& motion) const {
  return is_flexible(tree) ? model_->dof_count() + motion.flexible->dof(tree - model_->tree_count())
                           : model_->tree_dof(tree);
}

Index StepSolver::find(Index tree) {
  while (root_[tree] != tree) {
    root_[tree] = root_[root_[tree]];
    tree = root_[tree];
  }
  return tree;
}

void StepSolver::partition(const ConstraintSet& set) {
  std::iota(root_.begin(), root_.end(), 0);
  for (Index i = 0; i < set.size(); ++i) {
    const ConstraintSet::Entry& entry = set.entry(i);
    for (Index p = entry.piece_begin + 1; p < entry.piece_end; ++p) {
      const Index a = find(set.piece(p - 1).tree), b = find(set.piece(p).tree);
      root_[std::max(a, b)] = std::min(a, b);
    }
  }
  for (Index t = 0; t < tree_count(); ++t) root_[t] = find(t);
  std::fill(island_of_.begin(), island_of_.end(), -1);
  constraint_start_.assign(1, 0);
  constraint_island_.resize(set.size());
  for (Index i = 0; i < set.size(); ++i) {
    const ConstraintSet::Entry& entry = set.entry(i);
    constraint_island_[i] = -1;
    if (entry.piece_begin == entry.piece_end) continue;  // between fixed bodies
    Index& island = island_of_[root_[set.piece(entry.piece_begin).tree]];
    if (island < 0) {
      island = static_cast<Index>(constraint_start_.size()) - 1;
      constraint_start_.push_back(0);
    }
    constraint_island_[i] = island;
    ++constraint_start_[island + 1];
  }
  const auto islands = static_cast<Index>(constraint_start_.size()) - 1;
  tree_start_.assign(islands + 1, 0);
  for (Index t = 0; t < tree_count(); ++t) {
    island_of_[t] = island_of_[root_[t]];
    if (island_of_[t] >= 0) {
      local_tree_[t] = tree_start_[island_of_[t] + 1]++;
    } else {
      settling_.release(t);
    }
  }
  std::partial_sum(constraint_start_.begin(), constraint_start_.end(), constraint_start_.begin());
  std::partial_sum(tree_start_.begin(), tree_start_.end(), tree_start_.begin());
  constraints_.resize(constraint_start_.back());
  trees_.resize(tree_start_.back());
  for (Index t = 0; t < tree_count(); ++t) {
    if (island_of_[t] >= 0) trees_[tree_start_[island_of_[t]] + local_tree_[t]] = t;
  }
  for (Index i = set.size() - 1; i >= 0; --i) {
    // Filled from the back: constraint_start_[k + 1] is pushed down to the island's beginning ...
    if (constraint_island_[i] >= 0) constraints_[--constraint_start_[constraint_island_[i] + 1]] = i;
  }
  // ... so that the array now holds the beginnings one place late.
  constraint_start_.erase(constraint_start_.begin());
  constraint_start_.push_back(static_cast<Index>(constraints_.size()));
}

bool StepSolver::fill(const ConstraintSet& set, const TreeMotion& motion, std::span<const Index> constraints,
                      std::span<const Index> trees, ProblemFiller& filler, ContactProblem& problem,
                      const TreeRoots* roots, const Kinematics* bodies) {
  filler.begin(problem, static_cast<Index>(constraints.size()));
  for (const Index t : trees) {
    if (is_flexible(t)) {
      const Index body = t - model_->tree_count();
      filler.add_sparse_tree(motion.flexible->matrix(body),
                             motion.flexible->momentum().data() + motion.flexible->dof(body));
      continue;
    }
    const Index n = model_->tree_dof_count(t), first = model_->tree_dof(t);
    if (roots) {
      filler.add_unit_tree(n, motion.unit_momentum.data() + first);
    } else {
      filler.add_tree(n, motion.matrix[t], motion.momentum.data() + first);
      if (bodies && n > kDenseTree) {
        filler.set_articulation(articulations_.parents(t), tree_motion(*bodies, t).data());
      }
    }
  }
  for (std::size_t k = 0; k < constraints.size();) {
    const ConstraintSet::Entry& entry = set.entry(constraints[k]);
    const Index tree = set.piece(entry.piece_begin).tree;
    const bool robot = roots && !is_flexible(tree) && !roots->is_body(tree);
    const std::size_t together =
        robot ? add_contacts_of_one_tree(set, constraints.subspan(k), *roots, filler) : 0;
    if (together == 0) add_constraint(set, constraints[k], filler, roots, bodies);
    k += std::max<std::size_t>(1, together);
  }
  return filler.finish();
}

void StepSolver::add_constraint(const ConstraintSet& set, Index i, ProblemFiller& filler,
                                const TreeRoots* roots, const Kinematics* bodies) {
  const ConstraintSet::Entry& entry = set.entry(i);
  const Index rows = entry.data.rows();
  filler.add_constraint(entry.data);
  for (Index p = entry.piece_begin; p < entry.piece_end; ++p) {
    const Index tree = set.piece(p).tree;
    const double* values = set.values(set.piece(p));
    if (is_flexible(tree)) {
      filler.add_sparse_piece(local_tree_[tree], 3 * set.piece(p).node, 3, values);
      continue;
    }
    if (roots) {
      roots->transform(tree, rows, values, filler.add_piece(local_tree_[tree]));
    } else {
      filler.add_piece(local_tree_[tree], values);
    }
    if (!bodies || model_->tree_dof_count(tree) <= kDenseTree) continue;
    for (Index b = entry.body_begin; b < entry.body_end; ++b) {
      if (set.body(b).piece == p) filler.add_body(set.body(b).dof, set.body(b).block.data());
    }
  }
}

// The first few, of a robot, as long as they are contacts of that one only: their rows are transformed together. Returns
// how many.
std::size_t StepSolver::add_contacts_of_one_tree(const ConstraintSet& set, std::span<const Index> constraints,
                                                 const TreeRoots& roots, ProblemFiller& filler) {
  std::array<const double*, TreeRoots::kBlocks> blocks;
  std::size_t count = 0;
  Index tree = -1;
  while (count < std::min(blocks.size(), constraints.size())) {
    const ConstraintSet::Entry& entry = set.entry(constraints[count]);
    if (entry.data.rows() != 3 || entry.piece_end - entry.piece_begin != 1) break;
    const auto& piece = set.piece(entry.piece_begin);
    if (count > 0 && piece.tree != tree) break;
    tree = piece.tree;
    blocks[count++] = set.values(piece);
  }
  if (count < 2) return 0;
  double* last = nullptr;
  for (std::size_t k = 0; k < count; ++k) {
    filler.add_constraint(set.entry(constraints[k]).data);
    last = filler.add_piece(local_tree_[tree]);
  }
  const auto entries = 3 * static_cast<std::ptrdiff_t>(model_->tree_dof_count(tree));
  roots.transform_contacts(tree, {blocks.data(), count},
                           last - entries * static_cast<std::ptrdiff_t>(count - 1));
  return count;
}

void StepSolver::solve_island(Index island, Slot& slot, const ConstraintSet& set, const TreeMotion& motion,
                              const Settings& settings, const std::vector<RowValues>& start, Vector& velocity,
                              std::vector<RowValues>& impulse, const Correction* correction) {
  const std::span<const Index> constraints{constraints_.data() + constraint_start_[island],
                                           constraints_.data() + constraint_start_[island + 1]};
  const std::span<const Index> trees{trees_.data() + tree_start_[island],
                                     trees_.data() + tree_start_[island + 1]};
  SolveSummary& result = result_[island];
  result = {};
  if (!fill(set, motion, constraints, trees, slot.filler, slot.problem, normalized_ ? motion.roots : nullptr,
            normalized_ ? nullptr : set.kinematics_of_bodies())) {
    result.missed_islands = 1;
    result.error = std::numeric_limits<double>::infinity();
    result.worst_status = Status::stalled;
    return;  // v* stays
  }
  bool known = false;
  slot.start.resize(slot.problem.row_count());
  Index row = 0;
  for (const Index i : constraints) {
    const Index rows = set.entry(i).data.rows();
    copy_rows(start[i].data(), rows, slot.start.data() + row);
    known = known || !start[i].isZero(0.0);
    row += rows;
  }
  Settings own = UnfinishedSolve::of_solver(settings);
  own.start_tolerance = settling_.start_tolerance(trees, settings.tolerance, settings.start_tolerance);
  const Report report = slot.solver->solve(slot.problem, own, slot.solution, known ? &slot.start : nullptr);
  settling_.take_solve(trees, report.iterations, report.start_error, settings.tolerance);
  result.iterations = report.iterations;
  result.factorizations = report.factorizations;
  result.worst_status = report.status;
  // The error is that of what is used.
  result.error =
      slot.unfinished.finish(slot.problem, settings, known ? &slot.start : nullptr, report, slot.solution);
  result.missed_islands = result.error <= settings.tolerance ? 0 : 1;
  row = 0;
  for (const Index i : constraints) {
    const Index rows = set.entry(i).data.rows();
    copy_rows(slot.solution.impulse.data() + row, rows, impulse[i].data());
    row += rows;
  }
  recover(trees, slot.solution.generalized_velocity, motion, velocity);
  if (correction) correct_positions(constraints, trees, slot, set, motion, *correction, result);
}

void StepSolver::recover(std::span<const Index> trees, const Eigen::Ref<const Vector>& from,
                         const TreeMotion& motion, Vector& to) const {
  Index dof = 0;
  for (const Index t : trees) {
    const Index n = dof_count(t, motion), first = first_dof(t, motion);
    to.segment(first, n) = from.segment(dof, n);
    if (normalized_ && motion.roots && !is_flexible(t)) motion.roots->recover_velocity(t, to.data() + first);
    dof += n;
  }
}

void StepSolver::recover_displacement(std::span<const Index> trees, Slot& slot, const TreeMotion& motion,
                                      Vector& to) const {
  if (!slot.problem.has_sparse_trees()) return recover(trees, slot.correction.displacement(), motion, to);
  slot.problem.extend_displacement(slot.correction.displacement(), slot.displacement, slot.scratch);
  recover(trees, slot.displacement, motion, to);
}

void StepSolver::correct_positions(std::span<const Index> constraints, std::span<const Index> trees,
                                   Slot& slot, const ConstraintSet& set, const TreeMotion& motion,
                                   const Correction& correction, SolveSummary& result) {
  slot.position.clear();
  for (const Index i : constraints) slot.position.push_back(set.entry(i).position);
  double standing = settling_.standing_error(trees);
  using Outcome = PositionCorrection::Outcome;
  const Outcome outcome = slot.correction.run(slot.problem, slot.solution, slot.position, correction.h,
                                              correction.settings, result.iterations == 0, standing);
  if (outcome == Outcome::none) return;
  if (outcome == Outcome::drift_undone) settling_.take_correction(trees, standing);
  result.corrected_islands = 1;
  recover_displacement(trees, slot, motion, correction.displacement);
  const double limit = correction.h * correction.settings.max_correction_speed;
  if (outcome != Outcome::corrected || largest_turn(trees, correction.displacement) <= limit) return;
  const auto turn_of = [&](Index local, const double* d) {
    const std::span<const Index> tree = trees.subspan(local, 1);
    if (is_flexible(tree[0])) return 0.0;
    recover(tree, Eigen::Map<const Vector>(d, model_->tree_dof_count(tree[0])), motion,
            correction.displacement);
    return largest_turn(tree, correction.displacement);
  };
  slot.correction.run_within(slot.problem, limit, turn_of);
  recover_displacement(trees, slot, motion, correction.displacement);
  limit_turns(trees, motion, correction.displacement);
}

double StepSolver::largest_turn(std::span<const Index> trees, const Vector& displacement) const {
  double turn = 0.0;
  for (const Index t : trees) {
    if (is_flexible(t)) continue;
    const Index first = model_->tree_dof(t), end = first + model_->tree_dof_count(t);
    for (Index d = first; d < end; ++d) {
      if (model_->dof_turns(d)) turn = std::max(turn, std::abs(displacement[d]));
    }
  }
  return turn;
}

// Displacements are linear in the errors, which holds for turns small against 1 rad. Of larger ones a share is made, and the
// rest is left to the next steps.
void StepSolver::limit_turns(std::span<const Index> trees, const TreeMotion& motion,
                             Vector& displacement) const {
  constexpr double kLargestTurn = 0.2;  // rad, of one joint in one step
  const double turn = largest_turn(trees, displacement);
  if (turn <= kLargestTurn) return;
  for (const Index t : trees) {
    displacement.segment(first_dof(t, motion), dof_count(t, motion)) *= kLargestTurn / turn;
  }
}

// Solved without a structure worth keeping.
bool StepSolver::is_small(Index island) const {
  return constraint_start_[island + 1] - constraint_start_[island] <= kFewConstraints ||
         tree_start_[island + 1] - tree_start_[island] <= kFewTrees;
}

// Large ones first, which is best for the threads; and what solvers have allocated fits the next island of the same size.
void StepSolver::sort_by_size(Index islands) {
  const auto place = [this](Index k) {
    const Index constraints = std::min(constraint_start_[k + 1] - constraint_start_[k], kSizes);
    const Index trees = std::min(tree_start_[k + 1] - tree_start_[k], kTreeCounts);
    return kTreeCounts * (kSizes - constraints) + kTreeCounts - trees;
  };
  std::array<Index, kTreeCounts*(kSizes + 1) + 1> begin{};
  for (Index k = 0; k < islands; ++k) ++begin[place(k) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  order_.resize(islands);
  for (Index k = 0; k < islands; ++k) order_[begin[place(k)]++] = k;
}

SolveSummary StepSolver::solve(const ConstraintSet& set, const TreeMotion& motion, const Settings& settings,
                               Workers& workers, const std::vector<RowValues>& start, Vector& velocity,
                               std::vector<RowValues>& impulse, const Correction* correction) {
  const Index own = motion.velocity.size(), flexible = motion.flexible ? motion.flexible->dof_count() : 0;
  velocity.resize(own + flexible);
  velocity.head(own) = motion.velocity;
  if (flexible > 0) velocity.tail(flexible) = motion.flexible->velocity();
  if (correction) correction->displacement.setZero(velocity.size());
  impulse.assign(set.size(), RowValues::Zero());
  SolveSummary sum;
  partition(set);
  sum.islands = static_cast<Index>(constraint_start_.size()) - 1;
  if (sum.islands == 0) return sum;
  result_.resize(sum.islands);
  slot(workers.count() - 1, shared_);
  Index large = 0;
  local_slot_.resize(sum.islands);
  for (Index k = 0; k < sum.islands; ++k) {
    local_slot_[k] = large == kOwnSolvers || is_small(k) ? -1 : large++;
  }
  if (large > 0) slot(large - 1, own_);
  // An island alone may use all threads itself.
  Settings of_island = settings;
  of_island.islands = false;
  of_island.full_certificate = false;
  of_island.threads = sum.islands == 1 ? workers.count() : 1;
  sort_by_size(sum.islands);
  const auto body = [&](Index item, Index worker) {
    const Index k = order_[item];
    Slot& chosen = local_slot_[k] < 0 ? *shared_[worker] : *own_[local_slot_[k]];
    solve_island(k, chosen, set, motion, of_island, start, velocity, impulse, correction);
  };
  if (sum.islands == 1) {
    body(0, 0);
  } else {
    workers.run(sum.islands, body);
  }
  for (const SolveSummary& r : result_) {
    sum.iterations += r.iterations;
    sum.factorizations += r.factorizations;
    sum.missed_islands += r.missed_islands;
    sum.corrected_islands += r.corrected_islands;
    if (!(r.error <= sum.error)) {
      sum.error = r.error;
      sum.worst_status = r.worst_status;
    }
  }
  return sum;
}

void StepSolver::revisit(const ConstraintSet& set, const TreeMotion& motion,
                         const std::vector<RowValues>& impulse, const IslandVisit& visit) {
  if (!revisited_) revisited_ = std::make_unique<Slot>();
  Slot& slot = *revisited_;
  const auto islands = static_cast<Index>(constraint_start_.size()) - 1;
  for (Index k = 0; k < islands; ++k) {
    const std::span<const Index> constraints{constraints_.data() + constraint_start_[k],
                                             constraints_.data() + constraint_start_[k + 1]};
    const std::span<const Index> trees{trees_.data() + tree_start_[k], trees_.data() + tree_start_[k + 1]};
    for (std::size_t t = 0; t < trees.size(); ++t) local_tree_[trees[t]] = static_cast<Index>(t);
    if (!fill(set, motion, constraints, trees, slot.filler, slot.problem, motion.roots, nullptr)) continue;
    Vector& stacked = slot.start;
    stacked.resize(slot.problem.row_count());
    Index row = 0;
    for (const Index i : constraints) {
      const Index rows = set.entry(i).data.rows();
      copy_rows(impulse[i].data(), rows, stacked.data() + row);
      row += rows;
    }
    visit(slot.problem, constraints, stacked);
  }
}

bool StepSolver::whole_problem(const ConstraintSet& set, const TreeMotion& motion, ContactProblem& problem,
                               bool all_trees, bool bodies) {
  std::vector<Index> constraints, trees;
  std::vector<bool> touched(tree_count(), false);
  std::fill_n(touched.begin(), model_->tree_count(), all_trees);
  for (Index i = 0; i < set.size(); ++i) {
    const ConstraintSet::Entry& entry = set.entry(i);
    if (entry.piece_begin < entry.piece_end) constraints.push_back(i);
    for (Index p = entry.piece_begin; p < entry.piece_end; ++p) touched[set.piece(p).tree] = true;
  }
  for (Index t = 0; t < tree_count(); ++t) {
    if (!touched[t]) continue;
    local_tree_[t] = static_cast<Index>(trees.size());
    trees.push_back(t);
  }
  ProblemFiller filler;
  return fill(set, motion, constraints, trees, filler, problem, nullptr,
              bodies ? set.kinematics_of_bodies() : nullptr);
}

}  // namespace tribo
