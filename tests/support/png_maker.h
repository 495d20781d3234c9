// Writes small PNG images for tests, without zlib: stored blocks, own checksums.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tribo::test {

inline std::string png_number(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

inline std::uint32_t png_checksum(const std::string& bytes) {
  std::uint32_t rest = 0xffffffffu;
  for (const char byte : bytes) {
    rest ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ (rest & 1 ? 0xedb88320u : 0u);
  }
  return ~rest;
}

inline std::string png_chunk(const std::string& kind, const std::string& data) {
  return png_number(static_cast<std::uint32_t>(data.size())) + kind + data +
         png_number(png_checksum(kind + data));
}

// A zlib stream of one stored block, at most 65535 bytes.
inline std::string stored_stream(const std::string& raw) {
  std::uint32_t a = 1, b = 0;
  for (const char byte : raw) {
    a = (a + static_cast<unsigned char>(byte)) % 65521;
    b = (b + a) % 65521;
  }
  const auto size = static_cast<std::uint16_t>(raw.size());
  std::string stream = "\x78\x01\x01";
  for (const unsigned value : {unsigned{size}, ~unsigned{size}}) {
    stream += static_cast<char>(value);
    stream += static_cast<char>(value >> 8);
  }
  return stream + raw + png_number(b << 16 | a);
}

struct PngKind {
  std::uint32_t columns, rows;
  unsigned char depth, color;
  bool interlaced = false;
};

// `raw`: the rows, each with the number of its filter before it.
inline std::string png_file(const PngKind& kind, const std::string& raw, const std::string& palette = {}) {
  std::string header = png_number(kind.columns) + png_number(kind.rows);
  header += static_cast<char>(kind.depth);
  header += static_cast<char>(kind.color);
  header += std::string(2, '\0');
  header += static_cast<char>(kind.interlaced ? 1 : 0);
  std::string file = "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header);
  if (!palette.empty()) file += png_chunk("PLTE", palette);
  const std::string stream = stored_stream(raw);
  // Two chunks: readers must put them together.
  return file + png_chunk("IDAT", stream.substr(0, 9)) + png_chunk("IDAT", stream.substr(9)) +
         png_chunk("IEND", "");
}

inline std::string bytes_of(const std::vector<int>& values) {
  std::string bytes;
  for (const int value : values) bytes += static_cast<char>(value);
  return bytes;
}

}  // namespace tribo::test
