#include "tribo/io/volumes/word_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "tribo/base/errors.h"

namespace tribo::detail {

namespace {

constexpr std::string_view kSpace = " \t\r\n\v\f";

// As much of a word as a message needs.
std::string quoted(std::string_view word) {
  std::string shown;
  for (const char c : word.substr(0, 40)) shown += c >= ' ' && c <= '~' ? c : '?';
  return word.empty() ? "the end of the file" : "'" + shown + "'";
}

// Of a number that no double can hold: whether it is too small rather than too large.
bool is_small(std::string_view number) {
  const std::size_t e = std::min(number.find_first_of("eE"), number.size());
  if (e < number.size()) return number.substr(e + 1).starts_with('-');
  const std::size_t digit = number.find_first_of("123456789");  // without an exponent: 0.00...01 or 100...0
  return number.find('.') < digit;
}

}  // namespace

WordStream::WordStream(std::string_view text, std::filesystem::path file, int first_line)
    : rest_(text), file_(std::move(file)), line_(first_line) {}

void WordStream::skip_space() {
  std::size_t k = 0;
  for (; k < rest_.size() && kSpace.find(rest_[k]) != std::string_view::npos; ++k) line_ += rest_[k] == '\n';
  rest_.remove_prefix(k);
}

bool WordStream::at_end() {
  skip_space();
  return rest_.empty();
}

std::string_view WordStream::next() {
  skip_space();
  const std::string_view word = rest_.substr(0, std::min(rest_.find_first_of(kSpace), rest_.size()));
  rest_.remove_prefix(word.size());
  return word;
}

std::string_view WordStream::rest_of_line() {
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  const std::string_view line = rest_.substr(0, end);
  if (end < rest_.size()) ++line_;
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  return line;
}

void WordStream::fail(std::string_view field, const std::string& what) const {
  throw InvalidInput(fmt::format("{}:{}: {}: {}", file_.string(), line_, field, what));
}

void WordStream::expect(std::string_view word) {
  const std::string_view found = next();
  if (found != word) fail(word, fmt::format("there is {} in its place", quoted(found)));
}

double WordStream::real(std::string_view field) {
  const std::string_view found = next();
  std::string_view word = found;
  if (!word.empty() && word.front() == '+') word.remove_prefix(1);
  double value = 0.0;
  const auto [at, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc::result_out_of_range)
    value = is_small(word) ? 0.0 : std::numeric_limits<double>::infinity();  // 1e-400 is an exporter's noise
  if (word.empty() || at != word.data() + word.size() || error == std::errc::invalid_argument) {
    fail(field, fmt::format("{} is not a number", quoted(found)));
  }
  if (!std::isfinite(value)) fail(field, fmt::format("{} is not finite", quoted(found)));
  return value;
}

std::int64_t WordStream::tag(std::string_view field) {
  const std::string_view word = next();
  std::int64_t value = 0;
  const auto [at, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || at != word.data() + word.size() || error != std::errc()) {
    fail(field, fmt::format("{} is not an integer", quoted(word)));
  }
  return value;
}

Index WordStream::integer(std::string_view field) {
  const std::int64_t value = tag(field);
  if (value < std::numeric_limits<Index>::min() || value > std::numeric_limits<Index>::max()) {
    fail(field, fmt::format("{} is out of range", value));
  }
  return static_cast<Index>(value);
}

Index WordStream::count(std::string_view field) {
  const std::int64_t value = tag(field);
  if (value < 0 || value > kMostMeshEntries) {
    fail(field, fmt::format("{} is not a number from 0 to {}", value, kMostMeshEntries));
  }
  if (static_cast<std::size_t>(value) > rest_.size()) {
    fail(field, fmt::format("{} are announced, but the file is not as long as that", value));
  }
  return static_cast<Index>(value);
}

Vec3 WordStream::point(std::string_view field) {
  Vec3 p;
  for (int k = 0; k < 3; ++k) p[k] = real(field);
  return p;
}

}  // namespace tribo::detail
