#include "tribo/solve/option.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <vector>

#include "tribo/base/errors.h"

namespace tribo {
namespace {

template <class Number>
Number parse(const std::string& option, std::string_view text, const std::string& allowed) {
  Number value{};
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) {
    throw InvalidInput(fmt::format("option {}: '{}' is not a number ({})", option, text, allowed));
  }
  return value;
}

template <class Number>
Option number_option(std::string name, std::string meaning, std::string unit, Number& target, Number lowest,
                     Number highest) {
  Option option;
  option.unit = std::move(unit);
  option.allowed = fmt::format("{} .. {}", lowest, highest);
  option.get = [&target] { return fmt::format("{}", target); };
  option.set = [&target, lowest, highest, name, allowed = option.allowed](std::string_view text) {
    const Number value = parse<Number>(name, text, allowed);
    if (!(value >= lowest && value <= highest)) {
      throw InvalidInput(fmt::format("option {}: {} is out of range ({})", name, text, allowed));
    }
    target = value;
  };
  option.name = std::move(name);
  option.meaning = std::move(meaning);
  return option;
}

}  // namespace

Option real_option(std::string name, std::string meaning, std::string unit, double& target, double lowest,
                   double highest) {
  return number_option<double>(std::move(name), std::move(meaning), std::move(unit), target, lowest, highest);
}

Option integer_option(std::string name, std::string meaning, Index& target, Index lowest, Index highest) {
  return number_option<Index>(std::move(name), std::move(meaning), "1", target, lowest, highest);
}

Option flag_option(std::string name, std::string meaning, bool& target) {
  return detail::choice_option(
      std::move(name), std::move(meaning), [&target] { return target ? 1 : 0; },
      [&target](int value) { target = value != 0; }, {{1, "on"}, {0, "off"}});
}

Option detail::choice_option(std::string name, std::string meaning, std::function<int()> get,
                             std::function<void(int)> set,
                             std::initializer_list<std::pair<int, std::string_view>> choices) {
  const std::vector<std::pair<int, std::string>> table(choices.begin(), choices.end());
  Option option;
  for (const auto& [value, text] : table) option.allowed += (option.allowed.empty() ? "" : " | ") + text;
  option.get = [get = std::move(get), table] {
    for (const auto& [value, text] : table) {
      if (value == get()) return text;
    }
    return std::string("?");
  };
  option.set = [set = std::move(set), table, name, allowed = option.allowed](std::string_view text) {
    for (const auto& [value, choice] : table) {
      if (choice == text) return set(value);
    }
    throw InvalidInput(fmt::format("option {}: '{}' is not one of {}", name, text, allowed));
  };
  option.name = std::move(name);
  option.meaning = std::move(meaning);
  return option;
}

}  // namespace tribo
