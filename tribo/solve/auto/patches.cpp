#include "tribo/solve/auto/patches.h"

#include <algorithm>
#include <limits>

#include "tribo/problem/natural_map.h"
#include "tribo/solve/auto/tuning.h"

namespace tribo {
using namespace tuning;

PatchSolver::PatchSolver()
    : solver_("alnewton", [this](const ContactProblem& problem, Monitor& monitor) {
        monitor.run_stage("alnewton", {.factorizations = factorizations_}, Monitor::From::best,
                          [&] { newton_.iterate(problem, monitor, {.beta = kPatchBeta}); });
        return Status::stalled;
      }) {}

void PatchSolver::prepare(const ContactProblem& problem) {
  const BlockJacobian& jacobian = problem.jacobian();
  const Index count = problem.constraint_count(), trees = problem.tree_count();
  tree_start_.assign(trees + 1, 0);
  tree_constraints_.resize(jacobian.piece_count());
  for (Index p = 0; p < jacobian.piece_count(); ++p) ++tree_start_[jacobian.piece_tree(p) + 1];
  for (Index t = 0; t < trees; ++t) tree_start_[t + 1] += tree_start_[t];
  // Filled from the back, so that a tree's constraints are in ascending order.
  local_tree_.assign(tree_start_.begin() + 1, tree_start_.end());
  for (Index i = count - 1; i >= 0; --i) {
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      tree_constraints_[--local_tree_[jacobian.piece_tree(p)]] = i;
    }
  }
  mark_.assign(count + trees, -1);
  patch_ = 0;
}

double PatchSolver::error_of(const ContactProblem& problem, Law law, const Vector& impulse, Index i) {
  const BlockJacobian& jacobian = problem.jacobian();
  const Index row = problem.row(i), rows = problem.rows(i);
  auto u = velocity_.segment(row, rows);
  u = problem.bias().segment(row, rows);
  for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
    u.noalias() +=
        jacobian.piece(i, p).lazyProduct(motion_.segment(jacobian.piece_dof(p), jacobian.piece_cols(p)));
  }
  return tribo::natural_map(problem, i, impulse, velocity_, law) / reference_of(problem, i, reference_);
}

Index PatchSolver::inspect(const ContactProblem& problem, Law law, const Vector& impulse, double allowed) {
  motion_.resize(problem.dof_count());
  velocity_.resize(problem.row_count());
  problem.velocity_of(impulse, motion_, velocity_);
  // Where nothing acts and nothing moves errors are absolute.
  const double reference = common_reference(problem, impulse);
  reference_ = reference > 0.0 ? reference : 1.0;
  error_.resize(problem.constraint_count());
  Index bad = 0;
  worst_ = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    error_[i] =
        tribo::natural_map(problem, i, impulse, velocity_, law) / reference_of(problem, i, reference_);
    if (!(error_[i] <= allowed)) ++bad;
    worst_ = std::max(worst_, error_[i]);
  }
  return bad;
}

// Constraints with an error of more than `more_than` beside those in [begin, end) of the patch, as long as there are
// fewer than `most` in it.
void PatchSolver::add_neighbours(const ContactProblem& problem, std::size_t begin, std::size_t end,
                                 double more_than, std::size_t most) {
  const BlockJacobian& jacobian = problem.jacobian();
  for (std::size_t k = begin; k < end; ++k) {
    const Index i = constraints_[k];
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      const Index tree = jacobian.piece_tree(p);
      for (Index n = tree_start_[tree]; n < tree_start_[tree + 1]; ++n) {
        const Index other = tree_constraints_[n];
        if (mark_[other] == patch_ || !(error_[other] > more_than)) continue;
        if (constraints_.size() >= most) return;
        mark_[other] = patch_;
        constraints_.push_back(other);
      }
    }
  }
}

// Rings of neighbours around the constraints there are; all in ascending order.
void PatchSolver::add_rings(const ContactProblem& problem, Index rings, std::size_t most) {
  std::size_t begin = 0;
  for (Index ring = 0; ring < rings; ++ring) {
    const std::size_t end = constraints_.size();
    add_neighbours(problem, begin, end, -1.0, most);
    begin = end;
  }
  std::sort(constraints_.begin(), constraints_.end());
}

// The bad constraints around `seed`, nearest first, and their surroundings.
void PatchSolver::collect(const ContactProblem& problem, Index seed, const Plan& plan) {
  constraints_.assign(1, seed);
  mark_[seed] = ++patch_;
  for (std::size_t k = 0; k < constraints_.size(); ++k) {
    add_neighbours(problem, k, k + 1, plan.allowed, static_cast<std::size_t>(plan.core));
  }
  for (const Index i : constraints_) done_[i] = 1;
  add_rings(problem, plan.overlap, static_cast<std::size_t>(plan.largest));
}

std::span<const Index> PatchSolver::around_bad(const ContactProblem& problem, double allowed, Index rings) {
  constraints_.clear();
  ++patch_;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (error_[i] <= allowed) continue;
    mark_[i] = patch_;
    constraints_.push_back(i);
  }
  add_rings(problem, rings, std::numeric_limits<std::size_t>::max());
  return constraints_;
}

// The trees that constraints of the patch act on, with what they have without the impulses of the patch.
void PatchSolver::extract_trees(const ContactProblem& problem, const Vector& impulse) {
  const BlockJacobian& jacobian = problem.jacobian();
  const BlockDiagonal& mass = problem.mass();
  const Index count = problem.constraint_count();
  trees_.clear();
  for (const Index i : constraints_) {
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      const Index tree = jacobian.piece_tree(p);
      if (mark_[count + tree] == patch_) continue;
      mark_[count + tree] = patch_;
      trees_.push_back(tree);
    }
  }
  std::sort(trees_.begin(), trees_.end());
  for (std::size_t k = 0; k < trees_.size(); ++k) {
    const Index tree = trees_[k], n = mass.block_size(tree);
    local_tree_[tree] = static_cast<Index>(k);
    const auto v = motion_.segment(mass.block_start(tree), n);
    scratch_ = v;
    if (!mass.is_identity()) scratch_.noalias() = mass.block(tree).lazyProduct(v);
    for (Index at = tree_start_[tree]; at < tree_start_[tree + 1]; ++at) {
      const Index i = tree_constraints_[at];
      if (mark_[i] != patch_) continue;
      for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
        if (jacobian.piece_tree(p) != tree) continue;
        scratch_.noalias() -=
            jacobian.piece(i, p).transpose().lazyProduct(impulse.segment(problem.row(i), problem.rows(i)));
      }
    }
    if (mass.is_identity()) {
      filler_.add_unit_tree(n, scratch_.data());
    } else {
      filler_.add_tree(n, mass.block(tree).data(), scratch_.data());
    }
  }
}

bool PatchSolver::extract(const ContactProblem& problem, const Vector& impulse) {
  const BlockJacobian& jacobian = problem.jacobian();
  filler_.begin(part_, static_cast<Index>(constraints_.size()));
  extract_trees(problem, impulse);
  Index rows = 0;
  for (const Index i : constraints_) rows += problem.rows(i);
  start_.resize(rows);
  rows = 0;
  for (const Index i : constraints_) {
    const Index row = problem.row(i), n = problem.rows(i);
    ProblemFiller::Constraint c{.kind = problem.kind(i),
                                .friction = problem.friction(i),
                                .lower = problem.lower(i),
                                .upper = problem.upper(i),
                                .key = problem.key(i)};
    c.bias.head(n) = problem.bias().segment(row, n);
    c.compliance.head(n) = problem.compliance().segment(row, n);
    if (problem.has_row_units() && n > 1) {
      c.scaled_rows = n;
      c.unit = problem.row_units(row);
    }
    filler_.add_constraint(c);
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      filler_.add_piece(local_tree_[jacobian.piece_tree(p)], jacobian.piece_data(p));
    }
    start_.segment(rows, n) = impulse.segment(row, n);
    rows += n;
  }
  return filler_.finish();
}

void PatchSolver::put_back(const ContactProblem& problem, Vector& impulse) {
  Index row = 0, dof = 0;
  for (const Index i : constraints_) {
    impulse.segment(problem.row(i), problem.rows(i)) = solution_.impulse.segment(row, problem.rows(i));
    row += problem.rows(i);
  }
  for (const Index tree : trees_) {
    const Index n = problem.mass().block_size(tree);
    motion_.segment(problem.mass().block_start(tree), n) = solution_.generalized_velocity.segment(dof, n);
    dof += n;
  }
}

PatchSolver::Outcome PatchSolver::solve(const ContactProblem& problem, const Settings& settings,
                                        const Plan& plan, double accuracy, Vector& impulse) {
  Outcome outcome;
  factorizations_ = plan.factorizations;
  Settings own;
  own.law = settings.law;
  own.max_iterations = kPatchIterations;
  own.islands = false;
  done_.assign(problem.constraint_count(), 0);
  for (Index seed = 0; seed < problem.constraint_count(); ++seed) {
    if (done_[seed] != 0 || error_[seed] <= plan.allowed) continue;
    if (error_of(problem, settings.law, impulse, seed) <= plan.allowed)
      continue;  // solved with the patch of a neighbour
    collect(problem, seed, plan);
    if (!extract(problem, impulse)) continue;
    const double reference = common_reference(part_, start_);
    if (!(reference > 0.0)) continue;
    own.tolerance = std::clamp(accuracy * reference_ / reference, kTightest, kLoosest);
    const Report report = solver_.solve(part_, own, solution_, &start_);
    outcome.iterations += report.iterations;
    outcome.factorizations += report.factorizations;
    outcome.work += static_cast<double>(report.factorizations) * part_.constraint_count();
    ++outcome.patches;
    if (report.status == Status::converged) put_back(problem, impulse);
  }
  return outcome;
}

}  // namespace tribo
