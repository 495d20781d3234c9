// Projected gradients (Calamai and More) for min q(lambda) = lambda.(W + R + a D) lambda / 2 + lambda.(q + o) on the set of
// a subproblem, Acary et al. (2018) Alg. 9 with its errata: rho = rho_k l^i, i the trials of an iteration, until
//
//   q(lambda+) - q(lambda) <= sigma grad q . (lambda+ - lambda).
//
// W is symmetric, or its symmetric part has to decide. rho grows by 1/l where the first trial succeeds.
#pragma once

#include <vector>

#include "tribo/solve/classical/judge.h"

namespace tribo {

struct ProjectedGradientOptions {
  double rho = 1.0;  // the first one, in scaled variables in units of 1 / w_i
  double least_rho = 1e-9;
  double sigma = 0.9;
  double shrink = 2.0 / 3.0;  // l
  Index trials = 20;
};

std::vector<Option> describe(ProjectedGradientOptions& options);

class ProjectedGradient final : public Engine {
 public:
  explicit ProjectedGradient(const ProjectedGradientOptions& options) : options_(options) {}
  void begin(Subproblem&) override { rho_ = options_.rho; }
  Status run(Subproblem& problem, Vector& impulse, Judge& judge) override;

 private:
  const ProjectedGradientOptions& options_;
  double rho_ = 1.0;
  Vector velocity_, gradient_, next_, next_velocity_, next_gradient_, step_, circle_;
};

}  // namespace tribo
