// Words of settings, as on the command line. InvalidInput lists what there is.
#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tribo/sim/simulator.h"
#include "tribo/solve/settings.h"

namespace tribo::python {

namespace nb = nanobind;

Measure measure_of(std::string_view word);
Law law_of(std::string_view word);
std::string_view to_string(Law law);
Index threads_of(Index threads);

// Of the arguments that Simulator and Batch have in common; what is not given is as the world wants it. TypeError where `world` is
// no tribo.World.
SimulatorSettings simulator_settings(nb::handle world, std::optional<double> dt,
                                     const std::optional<std::string>& law,
                                     const std::optional<std::string>& solver,
                                     std::optional<double> tolerance, Index threads,
                                     const std::optional<std::string>& scheme,
                                     std::optional<Index> max_iterations, std::optional<double> time_limit,
                                     std::optional<bool> warm_start, std::optional<bool> sleeping,
                                     const std::map<std::string, double>& contact);

}  // namespace tribo::python
