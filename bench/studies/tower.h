// Towers by name, the same names here, in the Pinocchio programs and in the results:
//   tower10  tower40  tower10-r1e4  tower20-slide  tower10-r1e4-slide  (cubes, mass ratio, sliding)
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "measure.h"
#include "tribo/base/errors.h"
#include "tribo/generate/generators.h"

namespace tribo::bench {

inline GeneratorSettings tower_settings(std::string_view name) {
  const auto refuse = [&] {
    throw InvalidInput("tower '" + std::string(name) + "': write tower<cubes>[-r<mass ratio>][-slide]");
  };
  const auto number = [&](std::string_view text) {
    double value = 0.0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size()) refuse();
    return value;
  };
  GeneratorSettings settings;
  const std::vector<std::string> words = split(name, '-');
  if (words.empty() || !words[0].starts_with("tower")) refuse();
  settings.bodies = static_cast<Index>(number(std::string_view(words[0]).substr(5)));
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "slide") {
      settings.slide = true;
    } else if (words[i].starts_with("r")) {
      settings.mass_ratio = number(std::string_view(words[i]).substr(1));
    } else {
      refuse();
    }
  }
  return settings;
}

}  // namespace tribo::bench
