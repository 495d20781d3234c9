#include "tribo/solve/report.h"

namespace tribo {

std::string_view to_string(Status status) {
  switch (status) {
    case Status::converged:
      return "converged";
    case Status::iteration_limit:
      return "iteration_limit";
    case Status::time_limit:
      return "time_limit";
    case Status::stalled:
      return "stalled";
    case Status::infeasible:
      return "infeasible";
    case Status::no_solution_suspected:
      return "no_solution_suspected";
    case Status::cancelled:
      return "cancelled";
    case Status::regularized:
      return "regularized";
  }
  return "unknown";
}

}  // namespace tribo
