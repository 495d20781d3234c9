// Subsystem-based ADMM (Lee et al. 2024, Alg. 2) and the two ablations of its Table III.
#pragma once

#include <memory>
#include <vector>

#include "tribo/solve/solver.h"

namespace tribo {

struct SubAdmmOptions {
  enum class Scaling { contact, uniform };

  Scaling scaling = Scaling::contact;
  double beta = 1.0;       // initial penalty
  Index interval = 10;     // iterations between updates of beta, 0: never
  double threshold = 3.0;  // ratio of the residuals that triggers one
  Index anderson = 5;      // memory of the acceleration, 0: off
};

// The table of the options: meaning, unit and range of each.
std::vector<Option> describe(SubAdmmOptions& options);

std::unique_ptr<Solver> make_subadmm(const SubAdmmOptions& options = {});         // split per body
std::unique_ptr<Solver> make_subadmm_nobody(const SubAdmmOptions& options = {});  // per tree («No Body»)
std::unique_ptr<Solver> make_admm_full(const SubAdmmOptions& options = {});  // not at all («No Sub», (28))

}  // namespace tribo
