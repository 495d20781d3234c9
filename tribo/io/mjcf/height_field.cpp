// Height fields of MJCF: from a PNG image, from MuJoCo's binary format, or as numbers in the file.
#include "tribo/io/mjcf/height_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tribo/base/errors.h"
#include "tribo/io/assets/png_image.h"
#include "tribo/io/xml/attributes.h"

namespace tribo::detail {
namespace {

constexpr double kMostHeights = 1e8;

// Heights in any scale, row by row from the smallest y.
struct Heights {
  double rows = 0, columns = 0;
  std::vector<double> values;

  // As text and in images the first row is the one seen at the top, that of the largest y.
  void turn_over() {
    const auto width = static_cast<std::ptrdiff_t>(columns);
    for (std::ptrdiff_t top = 0, low = static_cast<std::ptrdiff_t>(rows) - 1; top < low; ++top, --low) {
      std::swap_ranges(values.begin() + top * width, values.begin() + (top + 1) * width,
                       values.begin() + low * width);
    }
  }
};

// The red or grey channel in eight bits, as MuJoCo takes it.
Heights from_image(const std::string& bytes) {
  const PngChannel image = read_png_channel(bytes);
  Heights heights{static_cast<double>(image.rows), static_cast<double>(image.columns), {}};
  heights.values.assign(image.values.begin(), image.values.end());
  heights.turn_over();
  return heights;
}

// int32 rows, int32 columns, float32 heights.
Heights from_binary(const std::string& bytes) {
  std::array<std::int32_t, 2> counts{};
  if (bytes.size() >= 8) std::memcpy(counts.data(), bytes.data(), 8);
  Heights heights{static_cast<double>(counts[0]), static_cast<double>(counts[1]), {}};
  if (!(heights.rows >= 1 && heights.columns >= 1) ||
      static_cast<double>(bytes.size()) != 8.0 + 4.0 * heights.rows * heights.columns) {
    throw InvalidInput("it does not hold the rows and columns it says");
  }
  for (std::size_t at = 8; at < bytes.size(); at += 4) {
    float value;
    std::memcpy(&value, bytes.data() + at, 4);
    heights.values.push_back(value);
  }
  return heights;
}

bool is_png(const Attributes& attributes, const std::filesystem::path& file) {
  if (attributes.has("content_type")) return attributes.text("content_type") == "image/png";
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  return extension == ".png";
}

Heights from_text(const Attributes& attributes) {
  const SourceElement& element = attributes.element();
  Heights heights{static_cast<double>(attributes.integer("nrow", 0)),
                  static_cast<double>(attributes.integer("ncol", 0)),
                  {}};
  if (!(heights.rows >= 2 && heights.columns >= 2 && heights.rows * heights.columns <= kMostHeights)) {
    fail(element, "a height field needs a file, or at least two rows and two columns (nrow, ncol)");
  }
  if (attributes.has("elevation")) {
    heights.values = parse_numbers(element, "elevation", attributes.text("elevation"));
    if (static_cast<double>(heights.values.size()) != heights.rows * heights.columns) {
      fail(element, "attribute 'elevation' must have nrow x ncol numbers");
    }
    heights.turn_over();
  } else {
    heights.values.assign(static_cast<std::size_t>(heights.rows * heights.columns), 0.0);
  }
  return heights;
}

// Heights between 0 and 1; a flat field is 0.
std::shared_ptr<const HeightField> make_field(Heights heights, const std::array<double, 4>& size) {
  if (!(heights.rows >= 2 && heights.columns >= 2)) {
    throw InvalidInput("it needs at least two rows and two columns");
  }
  const auto [low, high] = std::minmax_element(heights.values.begin(), heights.values.end());
  const double offset = *low, range = *high - *low;
  for (double& h : heights.values) h = range > 1e-10 ? (h - offset) / range : h - offset;
  return HeightField::make(static_cast<Index>(heights.rows), static_cast<Index>(heights.columns),
                           std::move(heights.values), size);
}

}  // namespace

void read_height_field(const SourceElement& element, const std::string& name,
                       const std::filesystem::path& file, LoadLog& log, HeightFieldAsset& asset) {
  log.check_attributes(element, {"name", "file", "nrow", "ncol", "size", "elevation", "content_type"});
  const Attributes attributes(element);
  std::array<double, 4> size{};
  if (attributes.fill("size", size, 4) != 4) fail(element, "attribute 'size' is missing");
  if (file.empty()) {
    try {
      asset.field = make_field(from_text(attributes), size);
    } catch (const InvalidInput& error) {
      if (std::string_view(error.what()).starts_with(*element.file)) throw;
      fail(element, error.what());
    }
    return;
  }
  try {
    const std::string bytes = read_text(file);
    asset.field = make_field(is_png(attributes, file) ? from_image(bytes) : from_binary(bytes), size);
  } catch (const InvalidInput& error) {
    // Who needs it says so.
    asset.obstacle =
        fmt::format("the height field '{}' ({}) cannot be read: {}", name, file.string(), error.what());
  }
}

}  // namespace tribo::detail
