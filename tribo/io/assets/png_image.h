// PNG images as height fields need them: the first colour channel of every pixel, eight bits of it.
//
// All kinds of the format (ISO/IEC 15948): grey, RGB, palette, with or without alpha, 1 to 16 bits per sample, plain or
// interlaced. The checksums of the chunks are checked; ancillary chunks (gamma, transparency, text) are passed over.
// Cost: one pass over the pixels after zlib's inflate.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tribo::detail {

struct PngChannel {
  std::size_t rows = 0, columns = 0;
  // Row by row from the top: grey, or red; scaled to 0 .. 255 where there are fewer bits, the upper byte of sixteen.
  std::vector<std::uint8_t> values;
};

// Never more than 100 million pixels. InvalidInput (without a file name) where the bytes are no PNG or damaged.
PngChannel read_png_channel(std::string_view bytes);

}  // namespace tribo::detail
