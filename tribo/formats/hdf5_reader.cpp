#include "tribo/formats/hdf5_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>

#include "tribo/base/errors.h"

namespace tribo::detail {
namespace {

std::string load(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream.is_open() || stream.bad()) throw InvalidInput("cannot be read");
  return bytes;
}

// Length in bytes of the UTF-8 character at `at`, 0 if there is none.
std::size_t utf8_length(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  if (first >= 0xC2 && first <= 0xDF) length = 2;
  if (first >= 0xE0 && first <= 0xEF) length = 3;
  if (first >= 0xF0 && first <= 0xF4) length = 4;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t k = at + 1; k < at + length; ++k) {
    if ((byte(k) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = byte(at + 1);  // overlong forms, surrogates and what lies beyond U+10FFFF
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return 0;
  if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return 0;
  return length;
}

double real_of(const Hdf5Dataset& dataset, std::size_t k) {
  const std::uint64_t bits = dataset.bits(k);
  return dataset.element_size == 8 ? std::bit_cast<double>(bits)
                                   : std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

// Complaints name the file.
Hdf5Image open_image(const std::filesystem::path& path) {
  try {
    return Hdf5Image(load(path));
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("{}: {}", path.string(), error.what()));
  }
}

}  // namespace

bool is_hdf5(const std::filesystem::path& path) {
  // The signature may follow a block of the user's own, of 512, 1024, 2048, ... bytes.
  std::ifstream stream(path, std::ios::binary);
  std::array<char, 8> bytes{};
  for (std::streamoff at = 0; stream.seekg(at).read(bytes.data(), bytes.size());
       at = at == 0 ? 512 : 2 * at) {
    if (Hdf5Image::has_signature(std::string_view(bytes.data(), bytes.size()))) return true;
  }
  return false;
}

Hdf5Reader::Hdf5Reader(const std::filesystem::path& path)
    : file_name_(path.string()), image_(open_image(path)) {}

void Hdf5Reader::fail(const std::string& name, const std::string& message) const {
  throw InvalidInput(fmt::format("{}: {} {}", file_name_, name, message));
}

bool Hdf5Reader::has(const std::string& name) const {
  try {
    return image_.find(name).has_value();
  } catch (const InvalidInput& error) {
    fail(name, error.what());
  }
}

Hdf5Dataset Hdf5Reader::open(const std::string& name, Hdf5Type type, bool any_rank) const {
  if (!has(name)) fail(name, "is missing");
  Hdf5Dataset dataset;
  try {
    dataset = image_.dataset(*image_.find(name));
  } catch (const InvalidInput& error) {
    fail(name, error.what());
  }
  if (dataset.type != type) {
    fail(name, type == Hdf5Type::real      ? "must hold real numbers"
               : type == Hdf5Type::integer ? "must hold integers"
                                           : "must hold a text");
  }
  if (dataset.rank > 1 && !any_rank) {
    fail(name, fmt::format("has rank {}; it must be one-dimensional", dataset.rank));
  }
  if (dataset.count > static_cast<std::size_t>(std::numeric_limits<Index>::max())) {
    fail(name, fmt::format("has {} values, too many", dataset.count));
  }
  return dataset;
}

Vector Hdf5Reader::numbers(const std::string& name, std::size_t size) const {
  const Hdf5Dataset dataset = open(name, Hdf5Type::real, true);
  if (dataset.count != size)
    fail(name, fmt::format("has {} values where {} are needed", dataset.count, size));
  Vector values(static_cast<Eigen::Index>(size));
  for (std::size_t k = 0; k < size; ++k) values[static_cast<Eigen::Index>(k)] = real_of(dataset, k);
  return values;
}

std::string Hdf5Reader::bytes(const std::string& name) const {
  const Hdf5Dataset dataset = open(name, Hdf5Type::integer);
  if (dataset.element_size != 1) fail(name, "must hold integers of one byte");
  return std::string(dataset.data);
}

Vector Hdf5Reader::reals(const std::string& name, bool allow_infinite) const {
  const Hdf5Dataset dataset = open(name, Hdf5Type::real);
  Vector values(static_cast<Eigen::Index>(dataset.count));
  for (std::size_t k = 0; k < dataset.count; ++k) {
    const double value = real_of(dataset, k);
    if (std::isnan(value) || (!allow_infinite && std::isinf(value))) {
      fail(name, fmt::format("[{}] is {}: it must be finite", k, value));
    }
    values[static_cast<Eigen::Index>(k)] = value;
  }
  return values;
}

std::vector<std::int64_t> Hdf5Reader::integers(const std::string& name) const {
  const Hdf5Dataset dataset = open(name, Hdf5Type::integer);
  const unsigned unused = 64 - 8 * static_cast<unsigned>(dataset.element_size);
  std::vector<std::int64_t> values(dataset.count);
  for (std::size_t k = 0; k < dataset.count; ++k) {
    const std::uint64_t bits = dataset.bits(k);
    // The sign bit is moved to the top and back, which copies it into all bits between.
    values[k] = dataset.is_signed ? static_cast<std::int64_t>(bits << unused) >> unused
                                  : static_cast<std::int64_t>(bits);
    if (!dataset.is_signed && values[k] < 0) fail(name, fmt::format("[{}] is {}: too large", k, bits));
  }
  return values;
}

std::vector<std::uint64_t> Hdf5Reader::unsigned_integers(const std::string& name) const {
  const Hdf5Dataset dataset = open(name, Hdf5Type::integer);
  if (dataset.is_signed) fail(name, "must hold unsigned integers");
  std::vector<std::uint64_t> values(dataset.count);
  for (std::size_t k = 0; k < dataset.count; ++k) values[k] = dataset.bits(k);
  return values;
}

Vector Hdf5Reader::reals_of_size(const std::string& name, Index size, bool allow_infinite) const {
  Vector values = reals(name, allow_infinite);
  if (values.size() != size)
    fail(name, fmt::format("has {} values where {} are needed", values.size(), size));
  return values;
}

std::vector<Index> Hdf5Reader::indices(const std::string& name, Index lowest, Index highest) const {
  const std::vector<std::int64_t> values = integers(name);
  std::vector<Index> found(values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (values[k] < lowest || values[k] > highest) {
      fail(name, fmt::format("[{}] is {}: it must lie in {}..{}", k, values[k], lowest, highest));
    }
    found[k] = static_cast<Index>(values[k]);
  }
  return found;
}

std::vector<Index> Hdf5Reader::indices_of_size(const std::string& name, Index size, Index lowest,
                                               Index highest) const {
  std::vector<Index> found = indices(name, lowest, highest);
  if (found.size() != static_cast<std::size_t>(size)) {
    fail(name, fmt::format("has {} values where {} are needed", found.size(), size));
  }
  return found;
}

std::int64_t Hdf5Reader::integer(const std::string& name) const {
  const std::vector<std::int64_t> values = integers(name);
  if (values.size() != 1) fail(name, fmt::format("has {} values where one is needed", values.size()));
  return values[0];
}

std::string Hdf5Reader::text(const std::string& name) const {
  if (!has(name)) return {};
  const Hdf5Dataset dataset = open(name, Hdf5Type::text);
  const std::string bytes(dataset.data);
  return to_utf8(bytes.substr(0, bytes.find('\0')));
}

std::string to_utf8(const std::string& bytes) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return {};
  std::string trimmed = bytes.substr(first, bytes.find_last_not_of(" \t\r\n") + 1 - first);

  std::size_t at = 0;
  while (at < trimmed.size()) {
    const std::size_t length = utf8_length(trimmed, at);
    if (length == 0) break;
    at += length;
  }
  if (at == trimmed.size()) return trimmed;
  std::string converted;
  for (const char character : trimmed) {
    const auto code = static_cast<unsigned char>(character);
    if (code < 0x80) {
      converted += character;
    } else {
      converted += static_cast<char>(0xC0 | (code >> 6));
      converted += static_cast<char>(0x80 | (code & 0x3F));
    }
  }
  return converted;
}

}  // namespace tribo::detail
