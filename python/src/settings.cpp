#include "settings.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cmath>
#include <span>

#include "tribo/base/errors.h"
#include "tribo/solve/catalogue.h"
#include "world.h"

namespace tribo::python {
namespace {

// In the order of the enumerations.
constexpr std::array<std::string_view, 3> kMeasures{"scaled", "fclib", "siconos"};
constexpr std::array<std::string_view, 2> kLaws{"exact", "convex"};

int place(std::string_view argument, std::string_view word, std::span<const std::string_view> words) {
  std::string list;
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (words[k] == word) return static_cast<int>(k);
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", words[k]);
  }
  throw InvalidInput(fmt::format("{}: there is no \"{}\", only {}", argument, word, list));
}

// Contact settings by name, as on the command line.
void set_contact_option(ContactLawSettings& s, const std::string& name, double value) {
  const std::map<std::string, double*> numbers{{"stabilization", &s.stabilization},
                                               {"position_slop", &s.position_slop},
                                               {"max_correction_speed", &s.max_correction_speed},
                                               {"coupling_compliance", &s.coupling_compliance},
                                               {"restitution_threshold", &s.restitution_threshold},
                                               {"near_rigid", &s.near_rigid},
                                               {"slip_regularization", &s.slip_regularization}};
  const auto found = numbers.find(name);
  if (found == numbers.end()) {
    std::string names;
    for (const auto& [known, target] : numbers) names += (names.empty() ? "" : ", ") + known;
    throw InvalidInput(fmt::format("contact: there is no \"{}\" (there are: {})", name, names));
  }
  *found->second = value;
}

}  // namespace

Measure measure_of(std::string_view word) { return static_cast<Measure>(place("measure", word, kMeasures)); }
Law law_of(std::string_view word) { return static_cast<Law>(place("law", word, kLaws)); }
std::string_view to_string(Law law) { return kLaws[static_cast<std::size_t>(law)]; }

Index threads_of(Index threads) {
  if (threads < 1 || threads > 1024)
    throw InvalidInput(fmt::format("threads: expected 1 to 1024, not {}", threads));
  return threads;
}

SimulatorSettings simulator_settings(nb::handle world, std::optional<double> dt,
                                     const std::optional<std::string>& law,
                                     const std::optional<std::string>& solver,
                                     std::optional<double> tolerance, Index threads,
                                     const std::optional<std::string>& scheme,
                                     std::optional<Index> max_iterations, std::optional<double> time_limit,
                                     std::optional<bool> warm_start, std::optional<bool> sleeping,
                                     const std::map<std::string, double>& contact) {
  if (!nb::isinstance<WorldBox>(world)) {
    throw nb::type_error(
        fmt::format("world: expected a tribo.World (tribo.load, tribo.scene, tribo.WorldBuilder), not {}",
                    nb::cast<std::string>(world.type().attr("__name__")))
            .c_str());
  }
  SimulatorSettings settings = nb::cast<WorldBox&>(world).settings;
  if (dt) {
    if (!(*dt > 0.0) || !std::isfinite(*dt))
      throw InvalidInput(fmt::format("dt: expected seconds > 0, not {}", *dt));
    settings.time_step = *dt;
  }
  if (law) settings.law = law_of(*law);
  if (solver) settings.solver = *solver;
  make_solver(settings.solver);
  if (tolerance) settings.tolerance = *tolerance;
  settings.threads = threads_of(threads);
  if (scheme) settings.scheme = scheme_from_name(*scheme);
  if (max_iterations) settings.max_iterations = *max_iterations;
  if (time_limit) settings.time_limit = *time_limit;
  if (warm_start) settings.warm_start = *warm_start;
  if (sleeping) settings.sleeping = *sleeping;
  for (const auto& [name, value] : contact) set_contact_option(settings.contact, name, value);
  return settings;
}

}  // namespace tribo::python
