// The interface of the stages of `auto`, and what they know of each other.
#pragma once

#include <array>
#include <cstddef>

#include "tribo/solve/auto/auto.h"
#include "tribo/solve/auto/traits.h"
#include "tribo/solve/driver/monitor.h"
#include "tribo/solve/interior/ipm_solver.h"
#include "tribo/solve/newton/alnewton_solver.h"
#include "tribo/solve/sweeps/nsgs_solver.h"
#include "tribo/solve/sweeps/tiny_sweeps.h"

namespace tribo {

enum class StageId : std::size_t {
  tiny_sweeps,     // Gauss-Seidel on the dense Delassus matrix
  dense_sweeps,    // the same on X of few trees, W never formed
  sweeps,          // Gauss-Seidel
  more_sweeps,     // for as long as their rate promises the tolerance
  stack,           // Newton from the load of a stack, where its prediction holds
  newton_here,     // Newton from a start that is known, stiff at once
  natural,         // Newton on the natural map, a few steps
  newton,          // Newton with its own penalties
  pile_glance,     // accelerated sweeps, as long as they are cheaper than a factorisation
  pile,            // the same with Newton on patches, patiently
  path,            // an interior path, left before its end
  point,           // interior point with its polish
  convex,          // convex surrogates whose penalty grows slowly
  patient_convex,  // the same, more slowly, from the beginning
  admm,
  afresh,    // Newton from zero, where the solve began elsewhere
  restarts,  // Newton from other starts
  proof,     // that there is no solution
  count
};

// What one solve of one problem has come to.
struct StageContext {
  const ContactProblem& problem;
  const ProblemTraits& traits;
  const AutoOptions& options;
  Monitor& monitor;
  double factor_sweeps = 0.0;  // what a factorisation costs, in sweeps; 0: no stage has looked yet
  std::array<bool, static_cast<std::size_t>(StageId::count)> tried{};

  bool has_tried(StageId id) const { return tried[static_cast<std::size_t>(id)]; }
  bool is_near() const { return monitor.best_error() <= options.near; }
};

// The solvers and sweeps that several stages use.
struct StageTools {
  TinySweeps tiny;
  DenseSweeps dense;
  Nsgs nsgs;
  AlNewton newton;
  Ipm point;
};

class AutoStage {
 public:
  virtual ~AutoStage() = default;
  // Within `budget`, from the best iterate or from where the solve began. True when the solve must end.
  virtual bool run(StageContext& context, const Budget& budget, Monitor::From from) = 0;
};

}  // namespace tribo
