// What every benchmark program here shares: a CPU clock, statistics of repeated runs, and the one CSV row
// format in which tribo and its peers report, so that bench/run.py can put them side by side.
#pragma once

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "tribo/problem/certificate.h"

namespace tribo::bench {

// CPU time of the whole process (all threads), ms. CPU and not wall-clock time, so that other programs on the
// machine disturb as little as possible.
inline double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

// Minimum, median and maximum of repeated runs: the minimum is the number, the rest shows the noise.
struct Spread {
  double min = 0.0, median = 0.0, max = 0.0;
  int runs = 0;
};

inline Spread spread_of(std::vector<double> times) {
  std::erase_if(times, [](double ms) { return ms <= 0.0; });  // virtual machines' clocks stand still at times
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 2], times.back(), static_cast<int>(times.size())};
}

// One line of results. `solved` is never the solver's own opinion: it is the recomputed `measured` error
// against the tolerance.
struct Row {
  std::string problem;
  Index contacts = 0, rows = 0, dofs = 0;
  std::string family;   // "tribo", "siconos", "pinocchio"
  std::string method;   // "nsgs", "admm", ...: what is compared with its namesake
  std::string variant;  // settings
  double tolerance = 0.0;
  std::string measure;  // "scaled", "siconos", or "both": kBothScaled and kBothSiconos at once
  std::string status;   // what the solver itself says
  long iterations = 0, factorizations = 0;
  Spread build, solve;  // ms of CPU time
  Certificate certificate;
  bool certified = false;  // a certificate could be computed
};

// What "both" asks for: two measures that see different faults, at once.
constexpr double kBothScaled = 1e-6;
constexpr double kBothSiconos = 1e-8;

inline double measured_error(const Row& row) {
  if (row.measure == "both") {  // as a siconos error
    return std::max(row.certificate.siconos_error, row.certificate.error.value * kBothSiconos / kBothScaled);
  }
  return row.measure == "scaled" ? row.certificate.error.value : row.certificate.siconos_error;
}

constexpr double kMargin = 1.0 + 1e-6;  // for the rounding of one more evaluation of the same formula

inline bool solved(const Row& row) {
  return row.certified && row.certificate.is_finite() && measured_error(row) <= row.tolerance * kMargin;
}

inline void print_header() {
  std::puts(
      "problem,contacts,rows,dofs,family,method,variant,tolerance,measure,status,solved,iterations,"
      "factorizations,"
      "build_min_ms,build_median_ms,build_max_ms,solve_min_ms,solve_median_ms,solve_max_ms,runs,"
      "error,siconos_error,fclib_error");
}

inline void print_row(const Row& r) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::printf(
      "%s,%d,%d,%d,%s,%s,\"%s\",%g,%s,%s,%d,%ld,%ld,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%d,%.4g,%.4g,%.4g\n",
      r.problem.c_str(), r.contacts, r.rows, r.dofs, r.family.c_str(), r.method.c_str(), r.variant.c_str(),
      r.tolerance, r.measure.c_str(), r.status.c_str(), solved(r) ? 1 : 0, r.iterations, r.factorizations,
      r.build.min, r.build.median, r.build.max, r.solve.min, r.solve.median, r.solve.max, r.solve.runs,
      r.certified ? r.certificate.error.value : nan, r.certified ? r.certificate.siconos_error : nan,
      r.certified ? r.certificate.fclib_error : nan);
  std::fflush(stdout);
}

inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return parts;
}

// How many repetitions fit a budget once one run is known to take `ms`: many of a short run, few of a long
// one.
inline int repetitions(double ms, int least, double budget_ms) {
  const double fit = ms > 0.0 ? budget_ms / ms : 1000.0;
  return std::clamp(static_cast<int>(fit), least, 200);
}

}  // namespace tribo::bench
