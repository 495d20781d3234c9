#include "tribo/solve/auto/traits.h"

#include <algorithm>
#include <limits>

#include "tribo/problem/constraints.h"
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
  if (traits.explicit_w || traits.dense) return traits;
  const PairCount count = count_pairs(problem);
  traits.chain = count.pairs < problem.tree_count();
  traits.redundant = static_cast<double>(count.repeated) > kRedundantShare * traits.constraints;
  traits.pile = traits.constraints > smallest_pile(cold, traits.redundant) &&
                static_cast<double>(count.pairs) > kPairsPerTree * problem.tree_count();
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
