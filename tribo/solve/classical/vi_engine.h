// Projection methods on a whole problem: fixed point and extragradient with constant or self-adaptive steps; see
// solve/classical/vi_step.h for the iteration and docs/solvers/vi.md.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "tribo/solve/classical/judge.h"
#include "tribo/solve/classical/vi_step.h"

namespace tribo {

struct ViOptions {
  ViRule rule{};
  double rho = 1.0;    // the first one, in scaled variables in units of 1 / w_i
  bool scaled = true;  // rho / w_i instead of rho
};

// The table of the options that the rule uses.
std::vector<Option> describe(ViOptions& options);

class ViEngine final : public Engine {
 public:
  explicit ViEngine(const ViOptions& options) : options_(options) {}
  void begin(Subproblem&) override { rho_ = options_.rho; }
  Status run(Subproblem& problem, Vector& impulse, Judge& judge) override;

 private:
  const ViOptions& options_;  // the solver's
  double rho_ = 1.0;          // kept from one run to the next
  Vector field_, next_, next_field_, velocity_, difference_, past_, circle_;
};

// One of fp-ds, fp-vi-upk, fp-vi-upts, eg-vi-upk, eg-vi-upts.
std::unique_ptr<Solver> make_vi(std::string_view name, const ViOptions& options);

}  // namespace tribo
