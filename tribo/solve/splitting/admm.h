// Proximal ADMM on the exact or the convex law (Carpentier et al. 2024); see admm.cpp.
#pragma once

#include <memory>
#include <vector>

#include "tribo/solve/solver.h"

namespace tribo {

struct AdmmOptions {
  enum class Penalty { balance, linear, spectral };
  enum class Operator { strict, cone };

  Penalty penalty = Penalty::balance;  // the rule that adapts rho
  double rho = 0.03;                   // initial penalty
  double proximal = 1e-6;              // eta
  Index anderson = 20;                 // memory of the acceleration, 0: off
  Operator cone_operator = Operator::strict;
  Index patience = 100;  // iterations without headway
  Index interval = 10;   // iterations between updates of rho
  double linear_factor = 2.0, linear_ratio = 10.0;
  double balance_threshold = 5.0;
  double spectral_step = 0.05, spectral_exponent = 0.1;
};

// The table of the options: meaning, unit and range of each.
std::vector<Option> describe(AdmmOptions& options);

std::unique_ptr<Solver> make_admm(const AdmmOptions& options = {});

}  // namespace tribo
