#include "tribo/io/replay/chunk.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>

namespace tribo::detail {
namespace {

static_assert(std::endian::native == std::endian::little, "chunks are little-endian");

// `bits` of the mantissa, rounded to nearest.
float rounded(double value, int bits) {
  const auto x = static_cast<float>(value);
  if (!std::isfinite(x)) return std::isnan(x) ? std::numeric_limits<float>::quiet_NaN() : x;
  const int dropped = 23 - bits;
  auto pattern = std::bit_cast<std::uint32_t>(x);
  pattern += std::uint32_t{1} << (dropped - 1);
  pattern &= ~((std::uint32_t{1} << dropped) - 1);
  return std::bit_cast<float>(pattern);
}

// All components to 2^-bits of the largest one.
Vec3 rounded(const Vec3& x, int bits) {
  const double most = x.cwiseAbs().maxCoeff();
  if (!(most > 0.0) || !x.allFinite()) return x;
  // Powers of two are exact both ways.
  const double unit = std::ldexp(1.0, std::ilogb(most) - bits), inverse = 1.0 / unit;
  return {std::nearbyint(x[0] * inverse) * unit, std::nearbyint(x[1] * inverse) * unit,
          std::nearbyint(x[2] * inverse) * unit};
}

constexpr double kSlow = 1e-6;  // m/s or m: rounding of solutions rather than motion

class ChunkBytes {
 public:
  template <class T>
  void add(T value) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  // All lowest bytes first, then all second bytes, ...
  template <class T>
  void add_planes(const std::vector<T>& values) {
    const std::size_t begin = bytes_.size(), count = values.size();
    bytes_.resize(begin + sizeof(T) * count);
    for (std::size_t plane = 0; plane < sizeof(T); ++plane) {
      char* out = bytes_.data() + begin + plane * count;
      for (std::size_t k = 0; k < count; ++k) out[k] = static_cast<char>(values[k] >> (8 * plane) & 0xff);
    }
  }
  const std::string& str() const { return bytes_; }
  void reserve(std::size_t size) { bytes_.reserve(size); }

 private:
  std::string bytes_;
};

// The first frame's values, then differences to the frame before; unsigned, so that they wrap.
template <class T>
void take_differences(std::vector<T>& values, std::size_t per_frame) {
  for (std::size_t k = values.size(); k-- > per_frame;)
    values[k] = static_cast<T>(values[k] - values[k - per_frame]);
}

// Not finite: the lowest number of all.
std::uint32_t quantised(double x, double quantum) {
  constexpr double kMost = 2147483647.0;
  if (!std::isfinite(x)) return 0x80000000u;
  return static_cast<std::uint32_t>(
      static_cast<std::int32_t>(std::clamp(std::nearbyint(x / quantum), -kMost, kMost)));
}

std::uint16_t sixteen_bits(double x) {
  return static_cast<std::uint16_t>(
      static_cast<std::int16_t>(std::nearbyint(std::clamp(x, -1.0, 1.0) * 32767.0)));
}

void add_rotation(const double* q, std::vector<std::uint16_t>& values) {
  const bool finite = std::isfinite(q[0] + q[1] + q[2] + q[3]);
  const double sign = q[0] < 0.0 ? -1.0 : 1.0;
  for (int k = 0; k < 4; ++k) values.push_back(sixteen_bits(finite ? sign * q[k] : k == 0 ? 1.0 : 0.0));
}

void add_numbers(std::span<const ReplayFrame> frames, ChunkBytes& out) {
  const auto column = [&]<class T>(T, auto field) {
    for (const ReplayFrame& frame : frames) out.add(static_cast<T>(field(frame)));
  };
  constexpr auto kWhole = std::uint32_t{};
  column(0.0, [](const ReplayFrame& f) { return f.time; });
  column(kWhole, [](const ReplayFrame& f) { return f.step; });
  column(kWhole, [](const ReplayFrame& f) { return f.contacts.size(); });
  column(kWhole, [](const ReplayFrame& f) { return f.islands; });
  column(kWhole, [](const ReplayFrame& f) { return f.iterations; });
  column(kWhole, [](const ReplayFrame& f) { return f.missed_islands; });
  column(0.0f, [](const ReplayFrame& f) { return f.error; });
  column(0.0f, [](const ReplayFrame& f) { return f.solve_time; });
  column(0.0f, [](const ReplayFrame& f) { return f.step_time; });
  column(0.0, [](const ReplayFrame& f) { return f.kinetic; });
  column(0.0, [](const ReplayFrame& f) { return f.potential; });
  column(0.0f, [](const ReplayFrame& f) { return f.penetration; });
}

void add_poses(std::span<const ReplayFrame> frames, Index bodies, double quantum, ChunkBytes& out) {
  std::vector<std::uint32_t> positions;
  std::vector<std::uint16_t> rotations;
  const auto count = static_cast<std::size_t>(bodies);
  positions.reserve(3 * count * frames.size());
  rotations.reserve(4 * count * frames.size());
  for (const ReplayFrame& frame : frames) {
    for (std::size_t k = 0; k < 3 * count; ++k) positions.push_back(quantised(frame.position[k], quantum));
    for (std::size_t b = 0; b < count; ++b) add_rotation(frame.rotation.data() + 4 * b, rotations);
  }
  take_differences(positions, 3 * count);
  take_differences(rotations, 4 * count);
  out.add_planes(positions);
  out.add_planes(rotations);
}

void add_contacts(std::span<const ReplayFrame> frames, double quantum, ChunkBytes& out) {
  std::size_t count = 0;
  for (const ReplayFrame& frame : frames) count += frame.contacts.size();
  const auto each = [&](auto&& action) {
    for (const ReplayFrame& frame : frames) {
      for (const ReplayContact& contact : frame.contacts) action(contact);
    }
  };
  const auto numbers = [&](auto&& add) {
    std::vector<std::uint32_t> bits;
    bits.reserve(3 * count);
    each([&](const ReplayContact& c) {
      add(c, [&](double x) { bits.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(x))); });
    });
    out.add_planes(bits);
  };
  const auto vector = [](const Vec3& x, auto&& put) {
    for (int k = 0; k < 3; ++k) put(x[k]);
  };
  std::vector<std::uint16_t> normals;
  std::vector<std::uint32_t> geoms, islands;
  each([&](const ReplayContact& c) {
    for (int k = 0; k < 3; ++k) normals.push_back(sixteen_bits(c.normal[k]));
    geoms.push_back(static_cast<std::uint32_t>(c.geom_a));
    geoms.push_back(static_cast<std::uint32_t>(c.geom_b));
    islands.push_back(static_cast<std::uint32_t>(c.island));
  });
  numbers([&](const ReplayContact& c, auto&& put) {
    for (int k = 0; k < 3; ++k) put(std::nearbyint(c.position[k] / (2.0 * quantum)) * 2.0 * quantum);
  });
  out.add_planes(normals);
  numbers([&](const ReplayContact& c, auto&& put) { vector(rounded(c.impulse, 12), put); });
  numbers([&](const ReplayContact& c, auto&& put) {
    vector(rounded(c.velocity, c.velocity.cwiseAbs().maxCoeff() < kSlow ? 0 : 7), put);
  });
  numbers([&](const ReplayContact& c, auto&& put) { put(rounded(c.gap, std::abs(c.gap) < kSlow ? 2 : 8)); });
  numbers([&](const ReplayContact& c, auto&& put) { put(c.friction); });
  numbers([&](const ReplayContact& c, auto&& put) { put(rounded(c.error, 3)); });
  numbers([&](const ReplayContact& c, auto&& put) { put(rounded(c.pressure, 8)); });
  out.add_planes(geoms);
  out.add_planes(islands);
  each([&](const ReplayContact& c) { out.add(static_cast<std::uint8_t>(c.state)); });
}

std::string compressed(const std::string& bytes, int level) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  const auto* from = reinterpret_cast<const Bytef*>(bytes.data());
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size, from, bytes.size(), level) != Z_OK) {
    throw std::bad_alloc();  // the only thing that can be wrong
  }
  out.resize(size);
  return out;
}

}  // namespace

std::string encode_chunk(std::span<const ReplayFrame> frames, Index bodies, double quantum, int level) {
  constexpr std::size_t kFrameBytes = 64, kBodyBytes = 20, kContactBytes = 71;
  std::size_t contacts = 0;
  for (const ReplayFrame& frame : frames) contacts += frame.contacts.size();
  ChunkBytes out;
  out.reserve(24 + frames.size() * (kFrameBytes + kBodyBytes * static_cast<std::size_t>(bodies)) +
              kContactBytes * contacts);
  for (const char letter : {'T', 'R', 'C', '2'}) out.add(letter);
  out.add(static_cast<std::uint32_t>(frames.size()));
  out.add(static_cast<std::uint32_t>(bodies));
  out.add(static_cast<std::uint32_t>(contacts));
  out.add(quantum);
  add_numbers(frames, out);
  add_poses(frames, bodies, quantum, out);
  add_contacts(frames, quantum, out);
  return compressed(out.str(), level);
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t k = 0; k < bytes.size(); k += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - k);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8 | (j < count ? static_cast<unsigned char>(bytes[k + j]) : 0u);
    }
    for (std::size_t j = 0; j < 4; ++j) out += j <= count ? kLetters[group >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

}  // namespace tribo::detail
