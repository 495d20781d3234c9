// The one exception of tribo: input that cannot be used. Hard problems never throw; they get a status.
#pragma once

#include <stdexcept>
#include <string>

namespace tribo {

// The message names the offending field or file and says what would be right, e.g.
// "friction of contact 12 is -0.3: it must be finite and >= 0".
class InvalidInput : public std::invalid_argument {
 public:
  explicit InvalidInput(const std::string& message) : std::invalid_argument(message) {}
};

}  // namespace tribo
