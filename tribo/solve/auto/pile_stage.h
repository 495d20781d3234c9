// The stage of `auto` for piles: bodies that touch several others each. Elimination fills in there, so that Newton on the
// whole costs more per body the larger the island is. Stacks and chains are none.
//
// Accelerated sweeps, and Newton on the clusters where they do not get ahead (patches.h): cost in proportion to bodies and
// sweeps, of which deeper piles take more.
#pragma once

#include <cstdint>

#include "tribo/solve/auto/patches.h"
#include "tribo/solve/auto/traits.h"
#include "tribo/solve/driver/monitor.h"
#include "tribo/solve/sweeps/nsgs_solver.h"

namespace tribo {

// How much may be spent on a pile.
//   glance   up to 300 sweeps, and 300 more with patches where few constraints are left over, for piles that another
//            method may solve as a whole; where contacts share pairs of bodies and friction makes most of them bad, 25
//   usual    6000 sweeps, and patches worth 60 factorisations of the whole
//   patient  6000 sweeps, 20 000 where no other method has its turn, and patches without limit; from zero until they are
//            stuck, where another method has its turn
enum class PileEffort : std::uint8_t { glance, usual, patient };

class PileStage {
 public:
  // From monitor.best(). True when the monitor said to end.
  bool run(const ContactProblem& problem, const ProblemTraits& traits, Monitor& monitor, PileEffort effort);

 private:
  struct Allowance {
    Index sweeps;
    double work;  // of patches, factorisations times constraints
  };
  static Allowance allowance(Index count, PileEffort effort);
  void plan_after_patches(const ContactProblem& problem, Law law, double allowed);

  Nsgs sweeps_{NsgsOptions{.accelerate = NsgsOptions::Acceleration::cg}};
  SweepStart sweep_start_;  // of the next call
  PatchSolver patches_;
  Vector impulse_;          // where run() has come to
  Index count_ = 0;         // sweeps of the next call
  bool redundant_ = false;  // many contacts share their pair of bodies
};

}  // namespace tribo
