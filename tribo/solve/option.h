// Named solver parameters: the same words in C++, on the command line and in Python.
//
// A solver keeps its parameters in a plain struct (AdmmOptions, ...), which is what C++ programs fill in. One function
// beside it, describe(AdmmOptions&), is the table of them: name, meaning, unit, range. The command line, `tribo solvers`
// and the documentation are made from it; the default is the value in a struct that nobody has changed.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "tribo/base/types.h"

namespace tribo {

struct Option {
  std::string name;
  std::string meaning;
  std::string unit;                           // SI; "1": dimensionless; empty: not a quantity
  std::string allowed;                        // "0 .. 2", "projection | newton | exact"
  std::function<std::string()> get;           // the present value as text
  std::function<void(std::string_view)> set;  // throws InvalidInput naming the option and what is allowed
};

// Binds a real number in [lowest, highest].
Option real_option(std::string name, std::string meaning, std::string unit, double& target, double lowest,
                   double highest);
// Binds a count in [lowest, highest].
Option integer_option(std::string name, std::string meaning, Index& target, Index lowest, Index highest);
Option flag_option(std::string name, std::string meaning, bool& target);

namespace detail {
Option choice_option(std::string name, std::string meaning, std::function<int()> get,
                     std::function<void(int)> set,
                     std::initializer_list<std::pair<int, std::string_view>> choices);
}

// Binds an enumeration by the names of its values.
template <class Enum>
Option choice_option(std::string name, std::string meaning, Enum& target,
                     std::initializer_list<std::pair<int, std::string_view>> choices) {
  return detail::choice_option(
      std::move(name), std::move(meaning), [&target] { return static_cast<int>(target); },
      [&target](int value) { target = static_cast<Enum>(value); }, choices);
}

}  // namespace tribo
