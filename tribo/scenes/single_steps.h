// Problems of one time step from real geometry, made from a seed: Lee et al. 2024, sec. VII-A1 and VII-B1. Ten
// configurations (seed / 10) with ten random wrenches on every free body each (seed % 10), and so on for larger seeds.
//
// | name      | case                                                                                     |
// | bolt-nut  | an M48 nut on a fixed bolt, its flanks pressed on by the clearance, shaken within it      |
// | dish-pile | bowl, bowl, plate and pot (0.1, 0.1, 0.1, 5 kg) in one another, each turned at random     |
//
// Example
//   ContactProblem problem = make_single_step("bolt-nut", {.seed = 42});
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tribo/problem/contact_problem.h"

namespace tribo {

struct SingleStepSettings {
  double friction = -1.0;   // < 0: the set's own
  double time_step = -1.0;  // s; < 0: Lee's 1/240
  std::uint64_t seed = 0;
};

struct SingleStepInfo {
  std::string_view name;
  std::string_view summary;
};

std::span<const SingleStepInfo> single_step_catalogue();

// InvalidInput for an unknown name (lists them) or settings out of range.
ContactProblem make_single_step(std::string_view name, const SingleStepSettings& settings = {});

}  // namespace tribo
