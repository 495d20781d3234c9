// CANAL, cascaded Newton augmented Lagrangian (Lee et al. 2024); see canal.cpp.
#pragma once

#include <memory>
#include <vector>

#include "tribo/solve/solver.h"

namespace tribo {

struct CanalOptions {
  enum class Variant { standard, printed };

  Variant variant = Variant::standard;
  bool corrector = true;                                // Newton with the strict operator after the cascade
  double beta = 100.0, beta_max = 1e7, beta_min = 1.0;  // first, largest, smallest penalty
  double growth = 10.0;                                 // of the penalty after an easy surrogate
  double inner = 0.1;                                   // surrogate residual over the natural map
  Index newton = 50, corrector_steps = 15;              // Newton steps per outer step
  bool reuse = true;                                    // of factors, by the corrector
  Index stall = 300;                                    // outer steps without headway before giving up
  Index anderson = 10;                                  // memory of the acceleration, 0: off
  double line_tolerance = 0.1;
  // Variant::printed.
  double printed_beta = 1e4, kappa = 10.0, printed_beta_max = 1e8, zeta = 0.25;
  double inner_tolerance = 1e-10;  // N s
};

// The table of the options: meaning, unit and range of each.
std::vector<Option> describe(CanalOptions& options);

std::unique_ptr<Solver> make_canal(const CanalOptions& options = {});

}  // namespace tribo
