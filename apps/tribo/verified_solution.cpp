#include "apps/tribo/verified_solution.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "apps/tribo/support.h"
#include "tribo/base/errors.h"
#include "tribo/problem/certificate.h"
#include "tribo/problem/divergence.h"
#include "tribo/solve/catalogue.h"

namespace tribo::cli {

std::string VerifiedSolution::note() const {
  if (is_good) {
    std::string text = fmt::format("solution by {}, certified error {}", solver, format_error(error));
    if (!converged) text += fmt::format(" (tolerance {} not reached)", tolerance);
    return text;
  }
  return fmt::format("no solution stored (best error {} by {})", format_error(error), solver);
}

bool is_verified(const ContactProblem& problem, const Solution& solution, double error, double limit) {
  return error <= limit && !looks_infeasible(problem, solution.impulse, solution.velocity, Law::exact);
}

VerifiedSolution find_verified_solution(const ContactProblem& problem, double tolerance, double time_limit) {
  Settings settings;
  settings.tolerance = tolerance;
  settings.time_limit = time_limit;
  settings.max_iterations = std::numeric_limits<Index>::max();

  VerifiedSolution best;
  best.error = std::numeric_limits<double>::infinity();
  for (const char* name : {"auto", "admm"}) {
    Solution solution;
    const std::unique_ptr<Solver> solver = make_solver(name);
    const Report report = solver->solve(problem, settings, solution);
    const double error = report.certificate.error.value;
    const bool converged = report.status == Status::converged;
    const bool good = converged || is_verified(problem, solution, error, std::max(tolerance, kVerifiedError));
    // A small error does not make up for contradictory constraints.
    if (std::pair(!good, error) < std::pair(!best.is_good, best.error)) {
      best = {std::move(solution), name, error, tolerance, converged, good};
    }
    if (converged) break;
  }
  return best;
}

void require_fclib_name(std::string_view option, const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension != ".hdf5" && extension != ".h5") {
    throw InvalidInput(fmt::format("{} {}: only FCLIB is written, name it something.hdf5", option, path));
  }
  require_writable(option, path);
}

}  // namespace tribo::cli
