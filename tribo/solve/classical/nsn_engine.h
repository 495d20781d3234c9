// Nonsmooth Newton on a whole problem, Acary et al. (2018) Alg. 4: with the element Phi of the generalised Jacobian of
// solve/classical/formulation.h,
//
//   (Phi_w (W + R + a D) + Phi_lambda) d = -G,   lambda <- lambda + t d,
//
// one sparse block LU per iteration and a step t of solve/classical/line_search.h. Phi is singular where W is rank
// deficient and too many contacts stick: then, or always with `regularize`, W + c D takes the place of W in the matrix.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "tribo/linalg/kernels/newton_kernel.h"
#include "tribo/solve/classical/formulation.h"
#include "tribo/solve/classical/judge.h"
#include "tribo/solve/classical/line_search.h"

namespace tribo {

struct NsnOptions {
  Formulation formulation = Formulation::alart_curnier;
  RhoRule rho = RhoRule::split;
  SearchOptions search{};
  // c relative to the error of the iterate, at most 1; 0: only where the matrix is singular.
  double regularize = 0.0;
  Index patience = 200;     // iterations without progress before it gives up
  Index eg_iterations = 0;  // of eg-vi-upk before (hybrid)
  bool scaled = true;
};

std::vector<Option> describe(NsnOptions& options);

class NsnEngine final : public Engine {
 public:
  explicit NsnEngine(const NsnOptions& options) : options_(options) {}
  void begin(Subproblem& problem) override;
  Status run(Subproblem& problem, Vector& impulse, Judge& judge) override;

 private:
  void find_laws(const Subproblem& problem, Law law);
  double merit(const Subproblem& problem, const Vector& impulse, const Vector& u) const;
  double linearise_all(const Subproblem& problem, const Vector& impulse, const Vector& u);
  void add_compliance(const Subproblem& problem, double regularization);
  bool find_direction(Subproblem& problem, Judge& judge, double error, double merit);
  double slope(const Subproblem& problem) const;

  const NsnOptions& options_;
  RowLu lu_;
  std::vector<LawAt> laws_;  // [constraints]
  GroupBlocks by_velocity_, by_impulse_, shifted_;
  Vector value_, rhs_, direction_, product_, velocity_, trial_, trial_velocity_;
};

// nsn-{nm,ac,jm,fb}, -gp, -a, nsn-ac-hybrid.
std::unique_ptr<Solver> make_nsn(std::string_view name, const NsnOptions& options);

}  // namespace tribo
