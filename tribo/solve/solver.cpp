#include "tribo/solve/solver.h"

#include <fmt/format.h>

#include "tribo/base/errors.h"
#include "tribo/problem/constraints.h"
#include "tribo/solve/driver/solve_driver.h"

namespace tribo {

void project_impulse(const ContactProblem& problem, Vector& impulse) {
  for_each_constraint(
      problem,
      [&](auto cone) {
        const auto now = cone.get(impulse);
        if (!now.isZero(0.0)) cone.rows(impulse) = project_cone(now, cone.friction);
      },
      [&](IntervalConstraint row) { impulse[row.row] = row.set.project(impulse[row.row]); });
}

Solver::Solver() = default;
Solver::~Solver() = default;

void Solver::set_option(std::string_view option_name, std::string_view value) {
  std::string names;
  for (const Option& option : options()) {
    if (option.name == option_name) {
      ++option_version_;
      return option.set(value);
    }
    names += (names.empty() ? "" : ", ") + option.name;
  }
  throw InvalidInput(fmt::format("solver {} has no option '{}' (options: {})", name(), option_name,
                                 names.empty() ? "none" : names));
}

Report Solver::solve(const ContactProblem& problem, const Settings& settings, Solution& solution,
                     const Vector* initial_impulse) {
  if (!driver_) driver_ = std::make_unique<SolveDriver>();
  return driver_->solve(*this, option_version_, problem, settings, solution, initial_impulse);
}

}  // namespace tribo
