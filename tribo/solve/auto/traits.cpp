#include "tribo/solve/auto/traits.h"

#include <algorithm>
#include <limits>

#include "tribo/problem/constraints.h"
#include "tribo/problem/sparse_trees.h"
#include "tribo/solve/auto/tuning.h"
#include "tribo/solve/systems/newton_system.h"
#include "tribo/solve/systems/small_delassus.h"

namespace tribo {
namespace {

using namespace tuning;

Index smallest_pile(bool cold, bool redundant) {
  if (!cold) return kSmallestPile;
  return redundant ? kLargestRedundantWhole : kSmallestColdPile;
}

// Share of the coordinates that are of sparse trees.
double flexible_share(const ContactProblem& problem) {
  if (!problem.has_sparse_trees()) return 0.0;
  double coordinates = 0.0;
  for (const SparseTree& tree : problem.sparse_trees().trees()) coordinates += tree.coordinates();
  return coordinates / static_cast<double>(std::max<Index>(1, problem.dof_count()));
}

// Multiply-adds of a sweep on flexible bodies: every contact moves all coordinates of its bodies, a visit takes the products
// with J_i and J_i^T; kVisitFlops at least.
double flexible_sweep_flops(const ContactProblem& problem) {
  const BlockJacobian& jacobian = problem.jacobian();
  double flops = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    double entries = 0.0;
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      entries += static_cast<double>(jacobian.piece(i, p).size());
    }
    flops += std::max(kVisitFlops, 2.0 * entries);
  }
  return flops;
}

}  // namespace

// Those of one pair stand next to each other.
PairCount count_pairs(const ContactProblem& problem) {
  const BlockJacobian& jacobian = problem.jacobian();
  PairCount count;
  for (Index i = 0, last = -1; i < problem.constraint_count(); ++i) {
    const Index begin = jacobian.piece_begin(i), pieces = jacobian.piece_end(i) - begin;
    bool same = last >= 0 && jacobian.piece_end(last) - jacobian.piece_begin(last) == pieces;
    for (Index p = 0; same && p < pieces; ++p) {
      same = jacobian.piece_tree(begin + p) == jacobian.piece_tree(jacobian.piece_begin(last) + p);
    }
    count.repeated += same ? 1 : 0;
    count.pairs += !same && pieces > 1 ? 1 : 0;
    last = i;
  }
  return count;
}

namespace {

void find_graph_traits(const ContactProblem& problem, ProblemTraits& traits) {
  const PairCount count = count_pairs(problem);
  traits.chain = count.pairs < problem.tree_count();
  traits.redundant = static_cast<double>(count.repeated) > kRedundantShare * traits.constraints;
  traits.pile = traits.constraints > smallest_pile(traits.cold, traits.redundant) &&
                static_cast<double>(count.pairs) > kPairsPerTree * problem.tree_count();
}

void find_flexible_traits(const ContactProblem& problem, ProblemTraits& traits) {
  traits.flexible = true;
  traits.sweep_flops = flexible_sweep_flops(problem);
  const double size = std::min(problem.row_count(), problem.dof_count());
  traits.factor_sweeps = size * size * size / 3.0 / traits.sweep_flops;
}

}  // namespace

ProblemTraits classify(const ContactProblem& problem, Law law, bool cold) {
  ProblemTraits traits;
  traits.constraints = problem.constraint_count();
  traits.cold = cold;
  traits.tiny = SmallDelassus::is_tiny(problem);
  traits.single = traits.constraints == 1;
  traits.explicit_w = problem.has_delassus();
  const NewtonForm form = suitable_form(problem);
  traits.dense = form == NewtonForm::dense;
  traits.robots = traits.dense || form == NewtonForm::trees;
  traits.frictional = law == Law::exact && problem.has_friction();
  traits.sweep_flops = kVisitFlops * static_cast<double>(traits.constraints);
  if (!traits.explicit_w && !traits.dense) find_graph_traits(problem, traits);
  if (!traits.pile && flexible_share(problem) >= kFlexibleShare) find_flexible_traits(problem, traits);
  return traits;
}

double scale_spread(const ContactProblem& problem) {
  double smallest = std::numeric_limits<double>::infinity(), largest = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    smallest = std::min(smallest, problem.scale(i));
    largest = std::max(largest, problem.scale(i));
  }
  return largest / smallest;
}

double sliding_share(const ContactProblem& problem, const Vector& impulse) {
  Index sliding = 0;
  for_each_cone(problem, [&](auto cone) {
    const auto r = cone.get(impulse);
    const double pressed = r[cone.kNormal];
    if (pressed > 0.0 && tangent_norm(r) >= kSliding * cone.friction * pressed) ++sliding;
  });
  return static_cast<double>(sliding) / static_cast<double>(std::max<Index>(1, problem.contact_count()));
}

}  // namespace tribo
