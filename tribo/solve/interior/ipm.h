// Primal-dual interior point with a final polish; see ipm.cpp.
#pragma once

#include <memory>
#include <vector>

#include "tribo/solve/solver.h"

namespace tribo {

struct IpmOptions {
  enum class System { automatic, dofs, rows };
  enum class Start { automatic, centre, clamped, shifted, stick };
  enum class Warm { full, partial, none };

  System system = System::automatic;
  Start start = Start::automatic;  // cold; for a path: centre
  Warm warm = Warm::full;
  double warm_margin = 1e-2;  // how far inside its cone a warm start is pushed, scaled
  double step_back = 0.95;    // fraction of the distance to the boundary
  bool equal_steps = true;    // one step for x and y; frictionless problems may use two
  Index refinements = 1;
  Index patience = 8;           // iterations without headway before the path is left
  double switch_error = 100.0;  // times the tolerance: where a first short polish is tried
  bool polish = true;
  Index polish_steps = 25;     // factorisations of one polish
  Index proximal_rounds = 10;  // sub-problems tried when the path is lost
};

// The table of the options: meaning, unit and range of each.
std::vector<Option> describe(IpmOptions& options);

std::unique_ptr<Solver> make_ipm(const IpmOptions& options = {});

}  // namespace tribo
