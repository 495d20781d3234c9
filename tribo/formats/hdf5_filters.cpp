#include "tribo/formats/hdf5_filters.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>

#include "tribo/formats/hdf5_cursor.h"

namespace tribo::detail {
namespace {

constexpr unsigned kDeflate = 1;
constexpr unsigned kShuffle = 2;
constexpr unsigned kFletcher32 = 3;
constexpr std::uint64_t kMostFilters = 32;  // as many as a mask has bits
constexpr std::size_t kChecksumSize = 4;

// Registered filters that files of other tools carry.
std::string_view known_name(unsigned id) {
  switch (id) {
    case 4:
      return "szip";
    case 5:
      return "n-bit";
    case 6:
      return "scale-offset";
    case 307:
      return "bzip2";
    case 32000:
      return "lzf";
    case 32001:
      return "blosc";
    case 32004:
      return "lz4";
    case 32008:
      return "bitshuffle";
    case 32013:
      return "zfp";
    case 32015:
      return "zstd";
    case 32026:
      return "blosc2";
    default:
      return {};
  }
}

// HDF5's variant of Fletcher's checksum: both sums start at 0 and run over 16-bit words, high byte first; their
// representative modulo 65535 is 0 only where the sum is.
std::uint32_t fletcher32(std::string_view bytes) {
  const auto byte = [&](std::size_t k) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[k]));
  };
  const auto fold = [](std::uint32_t sum) { return (sum & 0xffffu) + (sum >> 16); };
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  for (std::size_t k = 0; k < bytes.size(); k += 2) {
    first = fold(first + (byte(k) << 8 | (k + 1 < bytes.size() ? byte(k + 1) : 0)));
    second = fold(second + first);
  }
  return fold(second) << 16 | fold(first);
}

// The checksum stands behind the data, low byte first; an early version of HDF5 exchanged the bytes of its halves.
std::string_view without_checksum(std::string_view stored) {
  if (stored.size() < kChecksumSize) hdf5_damaged("a chunk is shorter than its checksum");
  const std::string_view data = stored.substr(0, stored.size() - kChecksumSize);
  Hdf5Cursor end(stored.substr(data.size()));
  const auto expected = static_cast<std::uint32_t>(end.number(kChecksumSize));
  const std::uint32_t sum = fletcher32(data);
  const std::uint32_t exchanged = (sum & 0x00ff00ffu) << 8 | (sum & 0xff00ff00u) >> 8;
  if (expected != sum && expected != exchanged) hdf5_damaged("the checksum of a chunk is wrong");
  return data;
}

// Byte k of all elements stands together; what is left over at the end stays as it is.
std::string unshuffled(std::string_view stored, std::size_t element_size) {
  std::string chunk(stored);
  const std::size_t count = stored.size() / element_size;
  if (count < 2) return chunk;
  for (std::size_t b = 0; b < element_size; ++b) {
    for (std::size_t k = 0; k < count; ++k) chunk[k * element_size + b] = stored[b * count + k];
  }
  return chunk;
}

// A zlib stream of exactly `size` bytes.
std::string inflated(std::string_view stored, std::size_t size) {
  constexpr std::size_t most = std::numeric_limits<uInt>::max();
  if (size > most || stored.size() > most) hdf5_damaged("a chunk has more than 4 GB");
  // Before anything is allocated: no stream of this length can stand for so much.
  if (size / kMostInflation > stored.size()) hdf5_damaged("a compressed chunk is cut short");
  std::string chunk(size, '\0');
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) hdf5_damaged("zlib does not start");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(stored.data()));
  stream.avail_in = static_cast<uInt>(stored.size());
  stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
  stream.avail_out = static_cast<uInt>(size);
  const int result = inflate(&stream, Z_FINISH);
  const bool complete = result == Z_STREAM_END && stream.total_out == size;
  inflateEnd(&stream);
  if (!complete) hdf5_damaged("a compressed chunk does not unpack to its size");
  return chunk;
}

}  // namespace

Hdf5Filters::Hdf5Filters(std::string_view message) {
  Hdf5Cursor cursor(message);
  const std::uint64_t version = cursor.number(1);
  if (version != 1 && version != 2) hdf5_damaged("its filters have an unknown version");
  const std::uint64_t count = cursor.number(1);
  if (count > kMostFilters) hdf5_damaged("it has too many filters");
  if (version == 1) cursor.skip(6);
  for (std::uint64_t k = 0; k < count; ++k) {
    Filter filter;
    filter.id = static_cast<unsigned>(cursor.number(2));
    const std::uint64_t name_length = version == 1 || filter.id >= 256 ? cursor.number(2) : 0;
    cursor.skip(2);  // flags: whether writing may leave it out
    const std::uint64_t values = cursor.number(2);
    const std::string_view name = cursor.take(version == 1 ? (name_length + 7) / 8 * 8 : name_length);
    filter.name = known_name(filter.id);
    if (filter.name.empty()) filter.name = name.substr(0, name.find('\0'));
    for (std::uint64_t v = 0; v < values; ++v)
      filter.data.push_back(static_cast<std::uint32_t>(cursor.number(4)));
    if (version == 1 && values % 2 == 1) cursor.skip(4);
    filters_.push_back(std::move(filter));
  }
}

std::string Hdf5Filters::undo(std::string_view stored, std::uint32_t mask, std::size_t size) const {
  const auto applied = [&](std::size_t k) { return (mask >> k & 1u) == 0; };
  // Of the bytes that went into filter k, which fletcher32 makes longer and deflate must give back exactly.
  std::vector<std::size_t> size_before;
  std::size_t size_now = size;
  for (std::size_t k = 0; k < filters_.size(); ++k) {
    size_before.push_back(size_now);
    if (applied(k) && filters_[k].id == kFletcher32) size_now += kChecksumSize;
    if (applied(k) && filters_[k].id == kDeflate &&
        std::any_of(filters_.begin(), filters_.begin() + static_cast<std::ptrdiff_t>(k),
                    [](const Filter& f) { return f.id == kDeflate; }))
      hdf5_unsupported("compressed twice");
  }
  std::string chunk(stored);
  for (std::size_t k = filters_.size(); k-- > 0;) {
    if (!applied(k)) continue;
    const Filter& filter = filters_[k];
    if (filter.id == kDeflate) {
      chunk = inflated(chunk, size_before[k]);
    } else if (filter.id == kFletcher32) {
      chunk.resize(without_checksum(chunk).size());
    } else if (filter.id == kShuffle) {
      const std::size_t element = filter.data.empty() ? 0 : filter.data[0];
      if (element == 0) hdf5_damaged("it was shuffled with elements of no size");
      chunk = unshuffled(chunk, element);
    } else {
      hdf5_unsupported(fmt::format("compressed with {}, which tribo does not read",
                                   filter.name.empty() ? fmt::format("filter {}", filter.id) : filter.name));
    }
  }
  if (chunk.size() != size) hdf5_damaged("a chunk does not have its size");
  return chunk;
}

}  // namespace tribo::detail
