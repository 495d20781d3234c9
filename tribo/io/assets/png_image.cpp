#include "tribo/io/assets/png_image.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "tribo/base/errors.h"

namespace tribo::detail {
namespace {

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
constexpr std::size_t kMostPixels = 100'000'000;
constexpr std::size_t kMostInflation = 1032;  // deflate: at most 258 bytes out of 2 bits

[[noreturn]] void damaged(const std::string& what) {
  throw InvalidInput(fmt::format("the PNG image {}", what));
}

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t k = 0; k < 4; ++k) value = value << 8 | static_cast<unsigned char>(bytes[at + k]);
  return value;
}

struct Header {
  std::size_t columns = 0, rows = 0, depth = 0, samples = 0;  // samples per pixel
  bool palette = false, interlaced = false;

  std::size_t row_bytes(std::size_t width) const { return (width * samples * depth + 7) / 8; }
  std::size_t pixel_bytes() const { return std::max<std::size_t>(1, samples * depth / 8); }
};

Header read_header(std::string_view data) {
  if (data.size() != 13) damaged("has a damaged header");
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(data[at]); };
  Header header;
  header.columns = big_endian(data, 0);
  header.rows = big_endian(data, 4);
  if (header.columns == 0 || header.rows == 0 || header.columns > kMostPixels / header.rows) {
    damaged(fmt::format("has {} x {} pixels: it must have 1 to 100 million", header.columns, header.rows));
  }
  header.depth = byte(8);
  const unsigned kind = byte(9);
  const bool whole_bytes = header.depth == 8 || header.depth == 16;
  const bool bits = header.depth == 1 || header.depth == 2 || header.depth == 4 || header.depth == 8;
  const bool valid = kind == 0 ? whole_bytes || bits : kind == 3 ? bits : whole_bytes;
  constexpr std::array<std::size_t, 7> kSamples{1, 0, 3, 1, 2, 0, 4};
  if (kind >= kSamples.size() || kSamples[kind] == 0 || !valid) {
    damaged(fmt::format("has colour type {} with {} bits, which PNG does not know", kind, header.depth));
  }
  header.samples = kSamples[kind];
  header.palette = kind == 3;
  if (byte(10) != 0 || byte(11) != 0 || byte(12) > 1) damaged("has a compression that PNG does not know");
  header.interlaced = byte(12) == 1;
  return header;
}

// One of the seven passes of an interlaced image; a plain image is one pass with steps of 1.
struct Pass {
  std::size_t x, y, step_x, step_y;
  std::size_t columns(const Header& h) const {
    return h.columns > x ? (h.columns - x + step_x - 1) / step_x : 0;
  }
  std::size_t rows(const Header& h) const { return h.rows > y ? (h.rows - y + step_y - 1) / step_y : 0; }
};

std::vector<Pass> passes_of(const Header& header) {
  if (!header.interlaced) return {{0, 0, 1, 1}};
  return {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
}

std::string inflate_exactly(std::string_view packed, std::size_t size) {
  if (size / kMostInflation > packed.size()) damaged("is shorter than its size says");
  std::string result(size, '\0');
  auto length = static_cast<uLongf>(size);
  const int status = uncompress(reinterpret_cast<Bytef*>(result.data()), &length,
                                reinterpret_cast<const Bytef*>(packed.data()), packed.size());
  if (status != Z_OK || length != size) damaged("cannot be unpacked");
  return result;
}

std::uint8_t paeth(int left, int up, int corner) {
  const int p = left + up - corner;
  const int a = std::abs(p - left), b = std::abs(p - up), c = std::abs(p - corner);
  return static_cast<std::uint8_t>(a <= b && a <= c ? left : b <= c ? up : corner);
}

// Undoes the filter of one row in place. `above`: the row before, null at the top of a pass.
void unfilter(unsigned kind, std::uint8_t* row, const std::uint8_t* above, std::size_t size,
              std::size_t pixel) {
  for (std::size_t k = 0; k < size; ++k) {
    const int left = k >= pixel ? row[k - pixel] : 0, up = above != nullptr ? above[k] : 0;
    const int corner = k >= pixel && above != nullptr ? above[k - pixel] : 0;
    const int add = kind == 1   ? left
                    : kind == 2 ? up
                    : kind == 3 ? (left + up) / 2
                    : kind == 4 ? paeth(left, up, corner)
                                : 0;
    row[k] = static_cast<std::uint8_t>(row[k] + add);
  }
}

// The first sample of pixel x, scaled to a byte unless it is a number in a palette.
std::uint8_t first_sample(const Header& header, const std::uint8_t* row, std::size_t x) {
  if (header.depth >= 8) return row[x * header.pixel_bytes()];
  const std::size_t bit = x * header.depth, most = (std::size_t{1} << header.depth) - 1;
  const std::size_t value = row[bit / 8] >> (8 - header.depth - bit % 8) & most;
  return static_cast<std::uint8_t>(header.palette ? value : value * 255 / most);
}

struct Chunks {
  Header header;
  std::string_view palette;
  std::string packed;
};

Chunks read_chunks(std::string_view bytes) {
  Chunks chunks;
  bool first = true;
  for (std::size_t at = kSignature.size();;) {
    if (bytes.size() < at + 12) damaged("ends before its last chunk");
    const std::size_t length = big_endian(bytes, at);
    if (length > bytes.size() - at - 12) damaged("ends within a chunk");
    const std::string_view kind = bytes.substr(at + 4, 4), data = bytes.substr(at + 8, length);
    const auto checksum =
        crc32(0, reinterpret_cast<const Bytef*>(kind.data()), static_cast<uInt>(length + 4));
    if (checksum != big_endian(bytes, at + 8 + length)) damaged("has a chunk whose checksum is wrong");
    if (first != (kind == "IHDR")) damaged("does not begin with one header");
    if (first) {
      chunks.header = read_header(data);
    } else if (kind == "PLTE") {
      chunks.palette = data;
    } else if (kind == "IDAT") {
      chunks.packed += data;
    } else if (kind == "IEND") {
      return chunks;
    }
    first = false;
    at += 12 + length;
  }
}

}  // namespace

PngChannel read_png_channel(std::string_view bytes) {
  if (!bytes.starts_with(kSignature)) damaged("does not begin like one");
  const Chunks chunks = read_chunks(bytes);
  const Header& header = chunks.header;
  const std::vector<Pass> passes = passes_of(header);
  std::size_t size = 0;
  for (const Pass& pass : passes) {
    if (pass.columns(header) > 0) size += pass.rows(header) * (1 + header.row_bytes(pass.columns(header)));
  }
  std::string raw = inflate_exactly(chunks.packed, size);
  PngChannel image{header.rows, header.columns, std::vector<std::uint8_t>(header.rows * header.columns)};
  auto* row = reinterpret_cast<std::uint8_t*>(raw.data());
  for (const Pass& pass : passes) {
    const std::size_t columns = pass.columns(header), width = header.row_bytes(columns);
    if (columns == 0) continue;
    const std::uint8_t* above = nullptr;
    for (std::size_t r = 0; r < pass.rows(header); ++r) {
      const unsigned filter = *row++;
      if (filter > 4) damaged("has a filter that PNG does not know");
      unfilter(filter, row, above, width, header.pixel_bytes());
      for (std::size_t c = 0; c < columns; ++c) {
        std::uint8_t value = first_sample(header, row, c);
        if (header.palette) {
          const std::size_t entry = 3 * std::size_t{value};
          if (entry >= chunks.palette.size()) damaged("names a colour that its palette does not have");
          value = static_cast<std::uint8_t>(chunks.palette[entry]);
        }
        image.values[(pass.y + r * pass.step_y) * header.columns + pass.x + c * pass.step_x] = value;
      }
      above = row;
      row += width;
    }
  }
  return image;
}

}  // namespace tribo::detail
