#include "apps/tribo/solve_options.h"

#include <fmt/format.h>

#include <cmath>

#include "apps/tribo/support.h"
#include "tribo/base/errors.h"
#include "tribo/solve/catalogue.h"

namespace tribo::cli {

namespace {

// In the order of the enumerations Measure and Law.
const std::vector<std::string> kMeasures = {"scaled", "fclib", "siconos"};
const std::vector<std::string> kLaws = {"exact", "convex"};

void require_positive(std::string_view option, double value) {
  // The negated comparison also refuses NaN.
  if (!(value > 0.0)) throw InvalidInput(fmt::format("{} {}: it must be positive", option, value));
}

}  // namespace

void SolveOptions::add_to(CLI::App& command) {
  command.add_option("--tol", tolerance_, "Accuracy to reach, in the chosen measure")
      ->type_name("T")
      ->capture_default_str();
  command
      .add_option(
          "--measure", measure_,
          "What the tolerance is about: scaled (natural map, each contact by its own effective mass), fclib "
          "(Acary's error) or siconos (Siconos' error)")
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--max-iter", max_iterations_, "Limit on iterations")
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--time-limit", time_limit_, "Limit on the time of one solve, in seconds")
      ->type_name("S")
      ->capture_default_str();
  command.add_option("--law", law_, "exact (Signorini-Coulomb) or convex (cone complementarity)")
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option("--threads", threads_,
                  "Threads for islands and parallel solvers; the result is the same for any")
      ->type_name("N")
      ->capture_default_str();
  command.add_flag("--no-islands", no_islands_, "Solve the problem as one piece, not island by island");
}

Settings SolveOptions::settings() const {
  require_positive("--tol", tolerance_);
  if (!std::isfinite(tolerance_)) throw InvalidInput("--tol must be finite");
  require_positive("--time-limit", time_limit_);
  if (max_iterations_ < 0) throw InvalidInput(fmt::format("--max-iter {}: it must be >= 0", max_iterations_));

  if (threads_ < 1 || threads_ > 1024) {
    throw InvalidInput(fmt::format("--threads {}: it must be between 1 and 1024", threads_));
  }

  Settings settings;
  settings.threads = threads_;
  settings.islands = !no_islands_;
  settings.tolerance = tolerance_;
  settings.measure = static_cast<Measure>(index_of_name("measure", measure_, kMeasures));
  settings.law = static_cast<Law>(index_of_name("law", law_, kLaws));
  settings.max_iterations = max_iterations_;
  settings.time_limit = time_limit_;
  return settings;
}

std::unique_ptr<Solver> make_named_solver(const std::string& specification) {
  std::vector<std::string> names;
  for (const SolverInfo& info : solver_catalogue()) names.emplace_back(info.name);
  index_of_name("solver", specification.substr(0, specification.find(':')), names);
  return make_solver(specification);
}

std::vector<std::string> expand_families(const std::vector<std::string>& words, Law law) {
  std::vector<std::string> solvers;
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find(':'));
    bool family = false;
    for (const SolverInfo& info : solver_catalogue()) {
      const bool meant = name == "all" || name == to_string(info.family) ||
                         (name == "classical" && is_classical(info.family));
      family = family || meant;
      if (meant && info.make()->supports(law)) solvers.emplace_back(info.name);
    }
    if (family && name != word)
      throw InvalidInput(
          fmt::format("'{}': {} are several solvers; options are given to one by its name", word, name));
    if (!family) solvers.push_back(word);
  }
  return solvers;
}

std::vector<std::string> split_solver_list(const std::string& list) {
  std::vector<std::string> solvers;
  std::size_t begin = 0;
  while (begin <= list.size()) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    const std::string part = list.substr(begin, comma - begin);
    begin = comma + 1;
    if (part.empty()) continue;
    const bool assignment = part.find('=') != std::string::npos && part.find(':') == std::string::npos;
    if (assignment && !solvers.empty()) {
      solvers.back() += "," + part;
    } else {
      solvers.push_back(part);
    }
  }
  return solvers;
}

}  // namespace tribo::cli
