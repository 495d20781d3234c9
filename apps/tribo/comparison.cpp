#include "apps/tribo/comparison.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tribo/solve/catalogue.h"

namespace tribo::cli {

namespace {

double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

double Comparison::best_ms(std::size_t problem) const {
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t s = 0; s < solvers.size(); ++s) {
    if (run(problem, s).solved()) best = std::min(best, run(problem, s).cpu_ms);
  }
  return best;
}

double cpu_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

Run measure(const std::string& solver, const ContactProblem& problem, const Settings& settings, int repeat) {
  Run run;
  run.cpu_ms = std::numeric_limits<double>::infinity();
  for (int k = 0; k < repeat; ++k) {
    const std::unique_ptr<Solver> fresh = make_solver(solver);
    Solution solution;
    const double begin = cpu_ms();
    Report report = fresh->solve(problem, settings, solution);
    const double spent = cpu_ms() - begin;
    if (spent < run.cpu_ms) {
      run.cpu_ms = spent;
      run.status = report.status;
      run.iterations = report.iterations;
      run.factorizations = report.factorizations;
      run.certificate = report.certificate;
      run.history = std::move(report.history);
    }
    if (report.status != Status::converged) break;
  }
  return run;
}

SolverSummary summarize(const Comparison& comparison, std::size_t solver) {
  SolverSummary summary;
  std::vector<double> times;
  std::map<std::string_view, int> failures;
  for (std::size_t p = 0; p < comparison.problems.size(); ++p) {
    const Run& run = comparison.run(p, solver);
    if (!run.solved()) {
      ++failures[to_string(run.status)];
      continue;
    }
    ++summary.solved;
    times.push_back(run.cpu_ms);
    if (run.cpu_ms <= comparison.best_ms(p)) ++summary.fastest;
  }
  summary.median_ms = median(times);
  double log_sum = 0.0;
  const std::vector<double> ratios = performance_ratios(comparison, solver);
  for (const double ratio : ratios) log_sum += std::log(ratio);
  summary.slowdown = ratios.empty() ? std::numeric_limits<double>::quiet_NaN()
                                    : std::exp(log_sum / static_cast<double>(ratios.size()));
  for (const auto& [status, count] : failures) {
    summary.failures += fmt::format("{}{} {}", summary.failures.empty() ? "" : ", ", count, status);
  }
  return summary;
}

std::vector<double> performance_ratios(const Comparison& comparison, std::size_t solver) {
  // Below the resolution of the clock ratios mean nothing.
  constexpr double kLeastMs = 1e-3;
  std::vector<double> ratios;
  for (std::size_t p = 0; p < comparison.problems.size(); ++p) {
    const Run& run = comparison.run(p, solver);
    if (!run.solved()) continue;
    ratios.push_back(std::max(run.cpu_ms, kLeastMs) / std::max(comparison.best_ms(p), kLeastMs));
  }
  std::sort(ratios.begin(), ratios.end());
  return ratios;
}

std::string to_csv(const Comparison& comparison) {
  std::string text =
      "problem,contacts,solver,status,iterations,factorizations,cpu_ms,error,fclib_error,siconos_error\n";
  for (std::size_t p = 0; p < comparison.problems.size(); ++p) {
    for (std::size_t s = 0; s < comparison.solvers.size(); ++s) {
      const Run& run = comparison.run(p, s);
      text += fmt::format("{},{},{},{},{},{},{:.6g},{:.6g},{:.6g},{:.6g}\n",
                          csv_field(comparison.problems[p].name), comparison.problems[p].contacts,
                          csv_field(comparison.solvers[s]), to_string(run.status), run.iterations,
                          run.factorizations, run.cpu_ms, run.certificate.error.value,
                          run.certificate.fclib_error, run.certificate.siconos_error);
    }
  }
  return text;
}

}  // namespace tribo::cli
