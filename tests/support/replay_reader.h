// Replay pages read by the letter of docs/replay-format.md, without any code of the library: what the encoder is compared
// with.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tribo::test {

struct DecodedChunk {
  std::uint32_t frames = 0, bodies = 0, contacts = 0;
  double quantum = 0.0;
  std::vector<double> time, kinetic, potential;
  std::vector<std::uint32_t> step, contact_count, islands, iterations, missed;
  std::vector<float> error, solve_time, step_time, penetration;
  std::vector<std::int32_t> position;  // differences undone
  std::vector<std::int16_t> rotation;
  std::vector<float> contact_position, contact_impulse, contact_velocity, gap, friction, contact_error,
      pressure;
  std::vector<std::int16_t> normal;
  std::vector<std::uint32_t> geoms, island;
  std::vector<std::uint8_t> state;
};

std::string from_base64(const std::string& text);  // throws std::runtime_error
// Throws std::runtime_error where a chunk is not exactly what the table of the format says.
DecodedChunk decode_chunk(const std::string& zlib_bytes);

struct PageRun {
  nlohmann::json world, end;  // end: null where it is missing
  std::vector<DecodedChunk> chunks;
  std::size_t frame_count() const;
};

// Everything between the tags of a page, as a browser would find it; a tag that is cut off is left out.
std::vector<PageRun> read_page(const std::string& html);

std::string file_text(const std::string& path);

}  // namespace tribo::test
