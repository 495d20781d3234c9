// Sweeps over the constraints, Acary et al. (2018) Alg. 7: every constraint is solved alone by a local solver while the
// others rest, nsgs (omega = 1) and psor. The sets of the subproblem decide what "solved" means: friction, Tresca
// cylinders, plain cones, or the normals alone (projected Gauss-Seidel).
//
//   relax = matrix    local matrix divided by omega, (117)-(119)
//   relax = iterate   r <- P(omega r_local + (1 - omega) r_old), what Siconos runs as PSOR
//   regularize = c    W_ii + c D_i in place of W_ii, about the present impulse: local problems that are regular where
//                     W_ii is not, and smaller steps
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "tribo/solve/classical/judge.h"
#include "tribo/solve/classical/local_solvers.h"
#include "tribo/solve/law/by_rows.h"
#include "tribo/solve/law/local_step.h"
#include "tribo/solve/law/one_cone.h"

namespace tribo {

struct SplittingOptions {
  enum class Local { newton, one_step, vi, exact };
  enum class Relax { matrix, iterate };
  enum class Shuffle { none, once, every };

  Local local = Local::newton;
  Formulation formulation = Formulation::alart_curnier;
  RhoRule rho = RhoRule::split;
  SearchOptions search{.m1 = 0.1, .m2 = 0.9};
  ViRule vi{};
  LocalLimits limits{};
  bool adaptive = false;    // local tolerance: a tenth of the error
  double regularize = 0.0;  // c
  double omega = 1.0;
  Relax relax = Relax::matrix;
  Shuffle shuffle = Shuffle::none;
  Index seed = 0;
  bool scaled = true;
};

std::vector<Option> describe(SplittingOptions& options);

class SplittingEngine final : public Engine {
 public:
  explicit SplittingEngine(const SplittingOptions& options) : options_(options) {}
  void begin(Subproblem& problem) override;
  Status run(Subproblem& problem, Vector& impulse, Judge& judge) override;

 private:
  struct Visitor;

  void prepare(const Subproblem& problem);

  const SplittingOptions& options_;
  bool prepared_ = false;
  SetKind set_ = SetKind::coulomb;  // prepared for
  double shift_ = 0.0;
  SweepOrder order_;
  ByRows<LocalContact> contacts_;
  ByRows<LocalMatrixN> matrices_;  // of the exact solvers
  ByRows<ExactContactN> exact_;
  ByRows<ConvexContactN> convex_;
  std::vector<ScalarRow> rows_;
  std::vector<IntervalConstraint> intervals_;
  Vector velocity_, circle_;
};

// nsgs-{ac,jm,ac-gp,jm-gp,fp-ds-one,fp-vi-upk,exact}, psor-ac; with `relaxation` the convex law alone, soclcp-nsgs-pli.
std::unique_ptr<Solver> make_splitting(std::string_view name, const SplittingOptions& options,
                                       bool relaxation = false);

}  // namespace tribo
