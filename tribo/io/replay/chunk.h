// Frames as a chunk of docs/replay-format.md: a zlib stream that the browser's DecompressionStream reads.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tribo/io/replay/frame.h"

namespace tribo::detail {

// What a chunk keeps of a number is what a picture needs, as half a unit of: positions `quantum` (of contacts twice that),
// impulses 2^-12 of the contact's largest component, velocities 2^-7 (1 below 1 um/s, which is rounding of solutions),
// gaps 2^-8 (2^-2 below 1 um), errors 2^-3. Bits that are zero compress; recordings in HDF5 keep all of them.
// `bodies` without the world; all frames have as many. `level`: of zlib, 1 (fast) .. 9 (small).
std::string encode_chunk(std::span<const ReplayFrame> frames, Index bodies, double quantum, int level = 4);

std::string base64(std::string_view bytes);

}  // namespace tribo::detail
