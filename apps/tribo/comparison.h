// Every solver on every problem: the measurements of `tribo compare`, their summary and their performance
// profiles.
#pragma once

#include <string>
#include <vector>

#include "tribo/solve/solver.h"

namespace tribo::cli {

struct ComparedProblem {
  std::string name;
  Index contacts = 0;
};

struct Run {
  Status status = Status::iteration_limit;
  Index iterations = 0;
  Index factorizations = 0;
  double cpu_ms = 0.0;  // the least of the repetitions
  Certificate certificate;
  std::vector<Progress> history;  // empty unless asked for

  bool solved() const { return status == Status::converged; }
};

struct SkippedFile {
  std::string name, reason;
};

struct Comparison {
  Settings settings;
  int repeat = 1;
  std::vector<std::string> solvers;
  std::vector<ComparedProblem> problems;
  std::vector<Run> runs;  // [problems x solvers], problem by problem
  std::vector<SkippedFile> skipped;

  const Run& run(std::size_t problem, std::size_t solver) const {
    return runs[problem * solvers.size() + solver];
  }
  // The least time of all solvers that solved the problem; infinite if none did.
  double best_ms(std::size_t problem) const;
};

// CPU time of the process so far, all threads, ms.
double cpu_ms();

// Solves once per repetition with a fresh solver, so that every run is cold. A run that fails is not
// repeated.
Run measure(const std::string& solver, const ContactProblem& problem, const Settings& settings, int repeat);

struct SolverSummary {
  int solved = 0;
  int fastest = 0;         // problems on which no other solver needed less time
  double median_ms = 0.0;  // of the solved ones; NaN if there is none
  double slowdown = 0.0;  // geometric mean of the ratios to the best on the solved ones; NaN if there is none
  std::string failures;   // "2 time_limit, 1 stalled"
};

SolverSummary summarize(const Comparison& comparison, std::size_t solver);

// Dolan and More, Math. Program. 91 (2002): the ratios r = t / t_best of the problems this solver solved,
// ascending. The profile rho(tau) is the share of all problems with r <= tau.
std::vector<double> performance_ratios(const Comparison& comparison, std::size_t solver);

// The table as comma-separated values, with a line of titles.
std::string to_csv(const Comparison& comparison);

}  // namespace tribo::cli
