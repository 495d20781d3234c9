// The options common to the commands that solve: accuracy, limits, law; and solvers given as
// "name:option=value,...".
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tribo/solve/solver.h"

namespace tribo::cli {

class SolveOptions {
 public:
  SolveOptions(double default_time_limit, Index default_iterations)
      : max_iterations_(default_iterations), time_limit_(default_time_limit) {}

  // --tol, --measure, --max-iter, --time-limit, --law, --threads, --no-islands.
  void add_to(CLI::App& command);

  // InvalidInput names the option that is out of range.
  Settings settings() const;

 private:
  double tolerance_ = Settings{}.tolerance;
  std::string measure_ = "scaled";
  Index max_iterations_;
  double time_limit_;
  std::string law_ = "exact";
  Index threads_ = 1;
  bool no_islands_ = false;
};

// make_solver() with a message that suggests the nearest name.
std::unique_ptr<Solver> make_named_solver(const std::string& specification);

// "admm,nsgs:local=newton,omega=1.2" -> "admm", "nsgs:local=newton,omega=1.2": a part that is an assignment
// belongs to the solver before it.
std::vector<std::string> split_solver_list(const std::string& list);

// "all", "classical" and the names of families become the solvers of that kind that solve the law; others stay.
std::vector<std::string> expand_families(const std::vector<std::string>& words, Law law);

}  // namespace tribo::cli
