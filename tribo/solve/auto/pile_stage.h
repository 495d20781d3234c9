// The stage of `auto` for piles: bodies that touch several others each. Elimination fills in there, so that Newton on the
// whole costs more per body the larger the island is. Stacks and chains are none.
//
// Accelerated sweeps, and Newton on the clusters where they do not get ahead (patches.h): cost in proportion to bodies and
// sweeps, of which deeper piles take more.
#pragma once

#include <cstdint>

#include "tribo/solve/auto/patches.h"
#include "tribo/solve/driver/monitor.h"
#include "tribo/solve/sweeps/nsgs_solver.h"

namespace tribo {

// Pairs of bodies with contacts, and contacts that are one of several of their pair beside the first.
struct PairCount {
  Index pairs = 0, repeated = 0;
};
PairCount count_pairs(const ContactProblem& problem);

class PileStage {
 public:
  // Constraints of a pile beyond which `auto` tries nothing else.
  static constexpr Index kLargestWhole = 5000;

  // Whether the problem is a pile; before run(). `cold`: it starts from zero.
  bool fits(const ContactProblem& problem, bool cold);
  // Constraints up to which Newton on the whole may do better than run(), after fits().
  Index largest_shallow() const;
  // How much may be spent. briefly: up to 300 sweeps, and 300 more with patches where few constraints are left over, for
  // piles that another method may solve as a whole; at_a_glance: the same, but where contacts share pairs of bodies no
  // more than 25 if most are bad after them; patiently: where every other method costs more.
  enum class Effort : std::uint8_t { at_a_glance, briefly, usually, patiently };
  // From monitor.best(). True when the monitor said to end.
  bool run(const ContactProblem& problem, Monitor& monitor, Effort effort);

 private:
  struct Allowance {
    Index sweeps;
    double work;  // of patches, factorisations times constraints
  };
  static Allowance allowance(Index count, Effort effort);
  void plan_after_patches(const ContactProblem& problem, Law law, double allowed);

  Nsgs sweeps_{NsgsOptions{.accelerate = NsgsOptions::Acceleration::cg}};
  SweepStart sweep_start_;  // of the next call
  PatchSolver patches_;
  Vector impulse_;          // where run() has come to
  Index count_ = 0;         // sweeps of the next call
  bool redundant_ = false;  // many contacts share their pair of bodies
};

}  // namespace tribo
