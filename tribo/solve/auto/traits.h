// What a problem is, as far as the choice of a method depends on it. A pure function of the problem, the law and the
// start; one pass over J.
#pragma once

#include "tribo/problem/contact_problem.h"

namespace tribo {

struct ProblemTraits {
  Index constraints = 0;
  bool cold = true;          // it starts from zero, not from the impulses of a step before
  bool tiny = false;         // at most five constraints
  bool single = false;       // one constraint
  bool explicit_w = false;   // W is given, bodies are not known
  bool dense = false;        // few trees, or a robot with what it holds: a factorisation costs a few sweeps
  bool robots = false;       // trees of many degrees of freedom, hardly coupled or few
  bool frictional = false;   // friction under the exact law: what Newton's method finds hard
  bool chain = false;        // bodies that touch each other in no rings, the ground aside
  bool pile = false;         // bodies that touch several others each: elimination fills in
  bool redundant = false;    // many contacts share their pair of bodies
  double sweep_flops = 0.0;  // multiply-adds of a Gauss-Seidel sweep

  // Bodies that bend, no pile: most coordinates are of sparse trees; the copy of an island has none.
  bool flexible = false;
  double factor_sweeps = 0.0;  // flexible: sweeps that a factorisation costs where the matrix is full
};

ProblemTraits classify(const ContactProblem& problem, Law law, bool cold);

// Largest over smallest scale w_i of the constraints: mass ratios.
double scale_spread(const ContactProblem& problem);
// Share of the contacts whose impulse is on its cone.
double sliding_share(const ContactProblem& problem, const Vector& impulse);

// Pairs of bodies with contacts, and contacts that are one of several of their pair beside the first.
struct PairCount {
  Index pairs = 0, repeated = 0;
};
PairCount count_pairs(const ContactProblem& problem);

}  // namespace tribo
