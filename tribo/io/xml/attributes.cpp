#include "tribo/io/xml/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tribo::detail {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string trimmed(const std::string& text) {
  const auto begin = std::find_if_not(text.begin(), text.end(), is_blank);
  const auto end = std::find_if_not(text.rbegin(), std::make_reverse_iterator(begin), is_blank).base();
  return {begin, end};
}

}  // namespace

std::vector<double> parse_numbers(const SourceElement& element, std::string_view attribute,
                                  const std::string& text) {
  std::vector<double> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    while (at != end && is_blank(*at)) ++at;
    if (at == end) return numbers;
    if (*at == '+') ++at;
    double value = 0.0;
    const auto [next, error] = std::from_chars(at, end, value);
    // Too small for a double is zero for us; too large is not.
    const bool tiny = error == std::errc::result_out_of_range && std::abs(std::strtod(at, nullptr)) < 1.0;
    if (tiny) value = 0.0;
    if ((error != std::errc() && !tiny) || (next != end && !is_blank(*next)) || !std::isfinite(value)) {
      fail(element, fmt::format("attribute {}=\"{}\" must be finite numbers separated by blanks", attribute,
                                text.substr(0, 60)));
    }
    numbers.push_back(value);
    at = next;
  }
}

Attributes::Attributes(const SourceElement& element, std::span<const SourceElement* const> defaults)
    : layers_{&element} {
  layers_.insert(layers_.end(), defaults.begin(), defaults.end());
}

void Attributes::check(LoadLog& log, std::initializer_list<std::string_view> used,
                       std::initializer_list<std::string_view> harmless) const {
  for (const SourceElement* layer : layers_) log.check_attributes(*layer, used, harmless);
}

const std::string* Attributes::find(std::string_view attribute, const SourceElement** where) const {
  for (const SourceElement* layer : layers_) {
    if (const std::string* found = layer->find(attribute)) {
      if (where != nullptr) *where = layer;
      return found;
    }
  }
  return nullptr;
}

std::string Attributes::text(std::string_view attribute) const {
  const std::string* found = find(attribute);
  return found != nullptr ? *found : std::string();
}

const SourceElement* Attributes::strongest(std::initializer_list<std::string_view> attributes) const {
  for (const SourceElement* layer : layers_) {
    for (const std::string_view attribute : attributes) {
      if (layer->find(attribute) != nullptr) return layer;
    }
  }
  return nullptr;
}

double Attributes::number(std::string_view attribute, double fallback) const {
  const SourceElement* where = nullptr;
  const std::string* found = find(attribute, &where);
  if (found == nullptr) return fallback;
  const std::vector<double> numbers = parse_numbers(*where, attribute, *found);
  if (numbers.size() != 1) fail(*where, fmt::format("attribute '{}' must be one number", attribute));
  return numbers[0];
}

int Attributes::integer(std::string_view attribute, int fallback) const {
  const double value = number(attribute, fallback);
  if (value != std::floor(value) || std::abs(value) > 2147483647.0) {
    fail(element(), fmt::format("attribute '{}' must be a whole number", attribute));
  }
  return static_cast<int>(value);
}

bool Attributes::flag(std::string_view attribute, bool fallback) const {
  return word(attribute, {"false", "true"}, fallback ? 1 : 0) == 1;
}

int Attributes::word(std::string_view attribute, std::initializer_list<std::string_view> words,
                     int fallback) const {
  const SourceElement* where = nullptr;
  const std::string* found = find(attribute, &where);
  if (found == nullptr) return fallback;
  const std::string value = trimmed(*found);
  const auto at = std::find(words.begin(), words.end(), value);
  if (at == words.end()) {
    fail(*where,
         fmt::format("attribute {}=\"{}\" must be one of: {}", attribute, value, fmt::join(words, ", ")));
  }
  return static_cast<int>(at - words.begin());
}

std::size_t Attributes::fill(std::string_view attribute, std::span<double> values, std::size_t least) const {
  std::size_t known = 0;
  for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
    const std::string* found = (*layer)->find(attribute);
    if (found == nullptr) continue;
    const std::vector<double> numbers = parse_numbers(**layer, attribute, *found);
    if (numbers.size() < least || numbers.size() > values.size()) {
      fail(**layer,
           least == values.size()
               ? fmt::format("attribute '{}' must be {} numbers", attribute, least)
               : fmt::format("attribute '{}' must be {} to {} numbers", attribute, least, values.size()));
    }
    std::copy(numbers.begin(), numbers.end(), values.begin());
    known = std::max(known, numbers.size());
  }
  return known;
}

Vec3 Attributes::vector3(std::string_view attribute, const Vec3& fallback) const {
  Vec3 value = fallback;
  fill(attribute, std::span<double>(value.data(), 3), 3);
  return value;
}

}  // namespace tribo::detail
