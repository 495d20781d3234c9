#include "tests/support/replay_reader.h"

#include <zlib.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace tribo::test {
namespace {

std::string inflated(const std::string& bytes) {
  std::string out(1 << 16, '\0');
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) throw std::runtime_error("zlib");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  int state = Z_OK;
  while (state == Z_OK) {
    if (stream.total_out == out.size()) out.resize(2 * out.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data()) + stream.total_out;
    stream.avail_out = static_cast<uInt>(out.size() - stream.total_out);
    state = inflate(&stream, Z_NO_FLUSH);
  }
  out.resize(stream.total_out);
  inflateEnd(&stream);
  if (state != Z_STREAM_END) throw std::runtime_error("the zlib stream is damaged");
  return out;
}

class Bytes {
 public:
  explicit Bytes(std::string bytes) : bytes_(std::move(bytes)) {}
  template <class T>
  T one() {
    return many<T>(1)[0];
  }
  template <class T>
  std::vector<T> many(std::size_t count) {
    if (at_ + count * sizeof(T) > bytes_.size()) throw std::runtime_error("the chunk is too short");
    std::vector<T> values(count);
    if (count > 0) std::memcpy(values.data(), bytes_.data() + at_, count * sizeof(T));
    at_ += count * sizeof(T);
    return values;
  }
  template <class T>
  std::vector<T> planes(std::size_t count) {
    const auto bytes = many<std::uint8_t>(count * sizeof(T));
    std::vector<T> values(count);
    for (std::size_t k = 0; k < count; ++k) {
      std::uint64_t value = 0;
      for (std::size_t p = 0; p < sizeof(T); ++p) value |= std::uint64_t{bytes[p * count + k]} << (8 * p);
      values[k] = static_cast<T>(value);
    }
    return values;
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

template <class T>
void add_up(std::vector<T>& values, std::size_t width) {
  for (std::size_t k = width; k < values.size(); ++k) {
    values[k] = static_cast<T>(static_cast<std::int64_t>(values[k]) + values[k - width]);
  }
}

}  // namespace

std::string from_base64(const std::string& text) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) throw std::runtime_error("base64 of an odd length");
  std::string out;
  for (std::size_t k = 0; k < text.size(); k += 4) {
    std::uint32_t group = 0;
    int padding = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const std::size_t digit = letters.find(text[k + j]);
      if (text[k + j] == '=' && k + 4 == text.size()) {
        ++padding;
      } else if (digit == std::string::npos || padding > 0) {
        throw std::runtime_error("no base64");
      }
      group = group << 6 | (padding > 0 ? 0u : static_cast<std::uint32_t>(digit));
    }
    for (int j = 0; j < 3 - padding; ++j) out += static_cast<char>(group >> (16 - 8 * j) & 0xff);
  }
  return out;
}

DecodedChunk decode_chunk(const std::string& zlib_bytes) {
  Bytes in(inflated(zlib_bytes));
  DecodedChunk c;
  const auto magic = in.many<char>(4);
  if (std::string(magic.begin(), magic.end()) != "TRC2") throw std::runtime_error("no chunk");
  c.frames = in.one<std::uint32_t>(), c.bodies = in.one<std::uint32_t>(),
  c.contacts = in.one<std::uint32_t>();
  c.quantum = in.one<double>();
  const std::size_t f = c.frames, b = c.bodies, n = c.contacts;
  c.time = in.many<double>(f);
  for (auto* column : {&c.step, &c.contact_count, &c.islands, &c.iterations, &c.missed})
    *column = in.many<std::uint32_t>(f);
  for (auto* column : {&c.error, &c.solve_time, &c.step_time}) *column = in.many<float>(f);
  c.kinetic = in.many<double>(f), c.potential = in.many<double>(f);
  c.penetration = in.many<float>(f);
  c.position = in.planes<std::int32_t>(3 * b * f);
  add_up(c.position, 3 * b);
  c.rotation = in.planes<std::int16_t>(4 * b * f);
  add_up(c.rotation, 4 * b);
  const auto floats = [&](std::size_t count) {
    const auto bits = in.planes<std::uint32_t>(count);
    std::vector<float> values(count);
    if (count > 0) std::memcpy(values.data(), bits.data(), 4 * count);
    return values;
  };
  c.contact_position = floats(3 * n);
  c.normal = in.planes<std::int16_t>(3 * n);
  c.contact_impulse = floats(3 * n), c.contact_velocity = floats(3 * n);
  c.gap = floats(n), c.friction = floats(n), c.contact_error = floats(n), c.pressure = floats(n);
  c.geoms = in.planes<std::uint32_t>(2 * n), c.island = in.planes<std::uint32_t>(n);
  c.state = in.many<std::uint8_t>(n);
  if (!in.at_end()) throw std::runtime_error("the chunk is too long");
  return c;
}

std::size_t PageRun::frame_count() const {
  std::size_t count = 0;
  for (const DecodedChunk& chunk : chunks) count += chunk.frames;
  return count;
}

std::vector<PageRun> read_page(const std::string& html) {
  std::vector<PageRun> runs;
  const std::string begin = "<script type=";
  for (std::size_t at = html.find(begin); at != std::string::npos; at = html.find(begin, at + 1)) {
    const std::size_t close = html.find('>', at), end = html.find("</script>", at);
    if (close == std::string::npos || end == std::string::npos) break;
    const std::string tag = html.substr(at, close - at), body = html.substr(close + 1, end - close - 1);
    const std::size_t where = tag.find("data-run=\"");
    if (where == std::string::npos) continue;
    const auto run = static_cast<std::size_t>(std::stoi(tag.substr(where + 10)));
    if (runs.size() <= run) runs.resize(run + 1);
    if (tag.find("\"tribo-world\"") != std::string::npos) runs[run].world = nlohmann::json::parse(body);
    if (tag.find("\"tribo-end\"") != std::string::npos) runs[run].end = nlohmann::json::parse(body);
    if (tag.find("\"tribo-frames\"") != std::string::npos) {
      runs[run].chunks.push_back(decode_chunk(from_base64(body)));
      const std::size_t frames = std::stoul(tag.substr(tag.find("data-frames=\"") + 13));
      if (frames != runs[run].chunks.back().frames) throw std::runtime_error("data-frames is wrong");
    }
  }
  return runs;
}

std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace tribo::test
