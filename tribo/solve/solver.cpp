#include "tribo/solve/solver.h"

#include <fmt/format.h>

#include "tribo/base/errors.h"
#include "tribo/math/cone.h"
#include "tribo/solve/driver/solve_driver.h"

namespace tribo {

void project_impulse(const ContactProblem& problem, Vector& impulse) {
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Index row = problem.row(i);
    switch (problem.kind(i)) {
      case ConstraintKind::contact:
        if (!impulse.segment<3>(row).isZero(0.0)) {
          impulse.segment<3>(row) = project_cone(impulse.segment<3>(row), problem.friction(i));
        }
        break;
      case ConstraintKind::unilateral:
        impulse[row] = project_orthant(impulse[row]);
        break;
      case ConstraintKind::bilateral:
        break;
      case ConstraintKind::box:
        impulse[row] = project_box(impulse[row], problem.lower(i), problem.upper(i));
        break;
    }
  }
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
