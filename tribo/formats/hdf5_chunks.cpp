#include "tribo/formats/hdf5_chunks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tribo/base/errors.h"
#include "tribo/formats/hdf5_chunk_arrays.h"

namespace tribo::detail {
namespace {

constexpr int kDeepestTree = 32;

// The dataset while its chunks arrive.
class Assembly {
 public:
  Assembly(const Hdf5Bytes& file, const Hdf5ChunkedData& data, std::uint64_t chunk_elements,
           bool plain_last_chunk)
      : file_(file), data_(data), plain_last_chunk_(plain_last_chunk), stored_left_(file.all.size()) {
    if (data.element_size == 0) hdf5_damaged("its type has no size");
    if (chunk_elements == 0) hdf5_damaged("its chunks have no size");
    if (data.count > kMostChunkedBytes / data.element_size ||
        data.count * data.element_size / kMostInflation > file.all.size()) {
      throw InvalidInput(fmt::format("claims {} values, more than the file can hold", data.count));
    }
    if (chunk_elements > kMostChunkedBytes / data.element_size) hdf5_damaged("its chunks are too large");
    chunk_size_ = chunk_elements * data.element_size;
    const std::size_t size = data.count * data.element_size;
    chunk_count_ = (size + chunk_size_ - 1) / chunk_size_;
    seen_.assign(chunk_count_, false);
    bytes_.assign(size, '\0');
    if (data.fill.size() == data.element_size &&
        data.fill.find_first_not_of('\0') != std::string_view::npos) {
      for (std::size_t at = 0; at < size; at += data.element_size)
        data.fill.copy(bytes_.data() + at, data.element_size);
    }
  }

  std::size_t chunk_count() const { return chunk_count_; }
  std::size_t chunk_size() const { return chunk_size_; }

  // Chunk k of the dataset, `stored` bytes at `address`.
  void add(std::uint64_t k, std::uint64_t address, std::uint64_t stored, std::uint32_t mask) {
    if (k >= chunk_count_) hdf5_damaged("a chunk lies outside of it");
    if (seen_[k]) hdf5_damaged("a chunk is listed twice");
    seen_[k] = true;
    const std::string_view raw = file_.bytes(address, stored);
    if (stored > stored_left_) hdf5_damaged("its chunks overlap");
    stored_left_ -= stored;
    const std::size_t begin = k * chunk_size_;
    const std::size_t used = std::min(chunk_size_, bytes_.size() - begin);
    if (data_.filters->empty() || (plain_last_chunk_ && used < chunk_size_)) {
      if (stored != chunk_size_) hdf5_damaged("a chunk does not have its size");
      raw.copy(bytes_.data() + begin, used);
    } else {
      data_.filters->undo(raw, mask, chunk_size_).copy(bytes_.data() + begin, used);
    }
  }

  std::string take() { return std::move(bytes_); }

 private:
  const Hdf5Bytes& file_;
  const Hdf5ChunkedData& data_;
  bool plain_last_chunk_;    // filters are not for a chunk that reaches beyond the end of the data
  std::size_t stored_left_;  // bytes that further chunks may have: sound ones do not overlap
  std::size_t chunk_size_ = 0, chunk_count_ = 0;
  std::vector<bool> seen_;
  std::string bytes_;
};

// III.A.1, nodes of type 1. Keys: stored size, filter mask, offset of the chunk [elements], a last zero offset.
void walk_tree(const Hdf5Bytes& file, std::uint64_t root, const Hdf5ChunkedData& data, Assembly& assembly) {
  struct Open {
    std::uint64_t address;
    std::uint64_t level;
  };
  std::vector<Open> open;
  // The level of the root is its own to tell; below, levels go down by one, so that no circle is possible.
  const auto read_node = [&](std::uint64_t address, const std::uint64_t* expected_level) {
    Hdf5Cursor node = file.cursor(address);
    node.expect("TREE", "the index of its chunks is broken");
    if (node.number(1) != 1) hdf5_damaged("the index of its chunks is of another kind");
    const std::uint64_t level = node.number(1);
    if (level > kDeepestTree || (expected_level != nullptr && level != *expected_level))
      hdf5_damaged("the index of its chunks does not end");
    const std::uint64_t used = node.number(2);
    node.skip(2 * file.address_size);
    for (std::uint64_t k = 0; k < used; ++k) {
      const std::uint64_t stored = node.number(4);
      const auto mask = static_cast<std::uint32_t>(node.number(4));
      const std::uint64_t offset = node.number(8);
      node.skip(8);
      const std::uint64_t child = node.number(file.address_size);
      if (level > 0) {
        // Every node holds a chunk at least, or there would be no need for it.
        if (open.size() > 2 * assembly.chunk_count() + kDeepestTree)
          hdf5_damaged("the index of its chunks does not end");
        open.push_back({child, level - 1});
        continue;
      }
      const std::uint64_t elements = assembly.chunk_size() / data.element_size;
      if (offset % elements != 0) hdf5_damaged("a chunk begins in the middle of another");
      assembly.add(offset / elements, child, stored, mask);
    }
  };
  read_node(root, nullptr);
  for (std::size_t k = 0; k < open.size(); ++k) {
    const Open next = open[k];
    read_node(next.address, &next.level);
  }
}

std::string read_version_3(const Hdf5Bytes& file, Hdf5Cursor layout, const Hdf5ChunkedData& data) {
  if (layout.number(1) != 2) hdf5_damaged("its chunks have another dimension than its data");
  const std::uint64_t tree = layout.number(file.address_size);
  const std::uint64_t elements = layout.number(4);
  if (layout.number(4) != data.element_size) hdf5_damaged("its chunks have elements of another size");
  Assembly assembly(file, data, elements, false);
  if (tree != file.undefined_address()) walk_tree(file, tree, data, assembly);
  return assembly.take();
}

std::string read_version_4(const Hdf5Bytes& file, Hdf5Cursor layout, const Hdf5ChunkedData& data) {
  constexpr unsigned kPlainLastChunk = 1;
  constexpr unsigned kFilteredSingleChunk = 2;
  const auto flags = static_cast<unsigned>(layout.number(1));
  if (layout.number(1) != 2) hdf5_damaged("its chunks have another dimension than its data");
  const auto width = static_cast<unsigned>(layout.number(1));
  if (width < 1 || width > 8) hdf5_damaged("its chunks have a size of unknown width");
  const std::uint64_t elements = layout.number(width);
  if (layout.number(width) != data.element_size) hdf5_damaged("its chunks have elements of another size");
  Assembly assembly(file, data, elements, (flags & kPlainLastChunk) != 0);
  const auto add = [&](std::uint64_t k, const Hdf5ChunkEntry& entry) {
    if (entry.address == file.undefined_address()) return;
    // An index may be longer than the data are now.
    if (k < assembly.chunk_count()) assembly.add(k, entry.address, entry.size, entry.mask);
  };
  const Hdf5ChunkArray array{assembly.chunk_count(), assembly.chunk_size(), !data.filters->empty()};
  switch (layout.number(1)) {
    case 1: {  // a single chunk
      Hdf5ChunkEntry entry{0, assembly.chunk_size(), 0};
      if ((flags & kFilteredSingleChunk) != 0) {
        entry.size = layout.number(file.length_size);
        entry.mask = static_cast<std::uint32_t>(layout.number(4));
      }
      entry.address = layout.number(file.address_size);
      add(0, entry);
      break;
    }
    case 2: {  // implicit: one after the other, without filters
      const std::uint64_t address = layout.number(file.address_size);
      if (!data.filters->empty()) hdf5_damaged("it has filters where none can be");
      if (address == file.undefined_address()) break;
      for (std::uint64_t k = 0; k < assembly.chunk_count(); ++k) {
        add(k, {address + k * assembly.chunk_size(), assembly.chunk_size(), 0});
      }
      break;
    }
    case 3: {
      layout.skip(1);
      read_fixed_array(file, layout.number(file.address_size), array, add);
      break;
    }
    case 4: {
      layout.skip(5);
      read_extensible_array(file, layout.number(file.address_size), array, add);
      break;
    }
    case 5:
      hdf5_unsupported("indexed by a B-tree of version 2");
    default:
      hdf5_damaged("the index of its chunks is of an unknown kind");
  }
  return assembly.take();
}

}  // namespace

std::string read_hdf5_chunks(const Hdf5Bytes& file, std::string_view layout, std::uint64_t version,
                             const Hdf5ChunkedData& data) {
  return version == 3 ? read_version_3(file, Hdf5Cursor(layout), data)
                      : read_version_4(file, Hdf5Cursor(layout), data);
}

}  // namespace tribo::detail
