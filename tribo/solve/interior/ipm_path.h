// Path following: primal-dual Newton steps from a starting point along the central path, Mehrotra's predictor
// and corrector with one matrix per iteration (Mangoni 4.11-4.14), for both laws.
//
// Exact law: Newton on De Saxce's term too, G in solve/interior/ipm_cones.h. The path of this non-monotone problem is
// followed with care: a short step is tried again without the second-order term and with more centring, then
// as pure centring with a part of the residual; the step is shortened until no pair falls behind the others.
//
// A proximal term alpha (x - x_k), scaled, can be added to w: sub-problems with alpha > 0 have no folds.
#pragma once

#include "tribo/solve/driver/monitor.h"
#include "tribo/solve/interior/ipm.h"
#include "tribo/solve/interior/ipm_cones.h"
#include "tribo/solve/systems/row_system.h"

namespace tribo {

// The options of the solver, and what a path is told by whoever follows it.
struct IpmPathOptions : IpmOptions {
  double sticking = 1e4;  // penalty of the start from sticking contacts, dimensionless
  // Steps in a row shorter than `blocked_step` after which the path is left, 0: none.
  Index blocked_steps = 0;
  double blocked_step = 0.1;
};

class IpmPath {
 public:
  enum class End { stopped, reached, stalled, blocked, broken };  // stopped: by the monitor

  // Scales the problem and prepares the linear system.
  void prepare(const ContactProblem& problem, Law law, RowSystem::Route route);

  void start_cold(const ContactProblem& problem, const IpmPathOptions& options, Monitor& monitor);
  void start_warm(const ContactProblem& problem, const IpmPathOptions& options, const Vector& impulse);
  // alpha = 0: the problem itself; otherwise the sub-problem around `anchor` (impulses).
  void set_proximal(const ContactProblem& problem, double alpha, const Vector& anchor);

  // Iterates until the chosen error (alpha = 0) or the residual of the sub-problem falls below `target`.
  // `iteration` counts on.
  End run(const ContactProblem& problem, const IpmPathOptions& options, Monitor& monitor, double target,
          Index& iteration, Index last_iteration);

  // Whether the Newton matrices are; after prepare().
  bool is_symmetric(const ContactProblem& problem) const {
    return problem.is_symmetric() && (law_ == Law::convex || !cones_.has_cones());
  }
  const Vector& impulse() const { return impulse_; }
  // Whether the impulses run away as they do for contradictory constraints.
  bool diverges(const ContactProblem& problem) const;
  RowSystem& system() { return system_; }
  RowBlocks& blocks() { return blocks_; }

 private:
  void start_stick(const ContactProblem& problem, const IpmPathOptions& options, Monitor& monitor);
  void evaluate(const ContactProblem& problem);
  double residual() const;
  bool solve_direction(const ContactProblem& problem, const IpmPathOptions& options, double target,
                       bool second_order, double share);
  bool advance(const ContactProblem& problem, const IpmPathOptions& options, Monitor& monitor);
  double careful_step(const ContactProblem& problem, const IpmPathOptions& options, double target,
                      double step);

  Law law_ = Law::exact;
  IpmCones cones_;
  RowSystem system_;
  RowBlocks blocks_;
  double alpha_ = 0.0;
  Index short_steps_ = 0;     // in a row
  Vector compliance_, pull_;  // R + alpha / S^2 and alpha lambda_k / S^2
  Vector impulse_, velocity_, w_, rp_, r_, dl_, dofs_;
};

}  // namespace tribo
