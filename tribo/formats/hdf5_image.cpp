#include "tribo/formats/hdf5_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tribo/base/errors.h"
#include "tribo/formats/hdf5_chunks.h"
#include "tribo/formats/hdf5_filters.h"

namespace tribo::detail {
namespace {

constexpr std::uint64_t kMostExtents = 8;
constexpr std::string_view kSignature("\x89HDF\r\n\x1a\n", 8);
constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
// More than any sound file needs; a damaged one may chain its blocks in circles.
constexpr std::size_t kMostBlocks = 4096;
constexpr std::size_t kMostMessages = 65536;
constexpr int kDeepestTree = 16;

// Message types, IV.A.2.
constexpr unsigned kDataspace = 0x01;
constexpr unsigned kLinkInfo = 0x02;
constexpr unsigned kDatatype = 0x03;
constexpr unsigned kOldFillValue = 0x04;
constexpr unsigned kFillValue = 0x05;
constexpr unsigned kLink = 0x06;
constexpr unsigned kExternalFiles = 0x07;
constexpr unsigned kLayout = 0x08;
constexpr unsigned kFilters = 0x0B;
constexpr unsigned kContinuation = 0x10;
constexpr unsigned kSymbolTable = 0x11;
constexpr unsigned kSharedFlag = 0x02;

[[noreturn]] void damaged(const char* what) { hdf5_damaged(what); }

// The superblock is at 0, 512, 1024, 2048, ...; kNowhere if there is none (II.A).
std::size_t find_superblock(std::string_view bytes) {
  for (std::size_t at = 0; at + kSignature.size() <= bytes.size(); at = at == 0 ? 512 : 2 * at) {
    if (bytes.substr(at, kSignature.size()) == kSignature) return at;
  }
  return kNowhere;
}

}  // namespace

std::uint64_t Hdf5Dataset::bits(std::size_t k) const {
  if (data.empty()) return 0;
  const std::string_view element = data.substr(k * element_size, element_size);
  std::uint64_t value = 0;
  for (std::size_t b = 0; b < element_size; ++b) {
    const std::size_t at = big_endian ? b : element_size - 1 - b;
    value = value << 8 | static_cast<unsigned char>(element[at]);
  }
  return value;
}

namespace {

// IV.A.2.e: size and value.
std::string_view old_fill_value(std::string_view message) {
  Hdf5Cursor cursor(message);
  return cursor.take(cursor.number(4));
}

// IV.A.2.f: what elements hold that were never written; empty: zero.
std::string_view fill_value(std::string_view message) {
  Hdf5Cursor cursor(message);
  const std::uint64_t version = cursor.number(1);
  if (version < 1 || version > 3) damaged("its fill value has an unknown version");
  bool defined = true;
  if (version == 3) {
    defined = (cursor.number(1) & 0x20) != 0;
  } else {
    cursor.skip(2);  // when space is allotted and filled
    defined = cursor.number(1) != 0 || version == 1;
  }
  return defined && cursor.left() >= 4 ? cursor.take(cursor.number(4)) : std::string_view();
}

}  // namespace

bool Hdf5Image::has_signature(std::string_view bytes) { return find_superblock(bytes) != kNowhere; }

// II.A, versions 0-3.
Hdf5Image::Hdf5Image(std::string bytes) : image_(std::move(bytes)) {
  const std::size_t start = find_superblock(image_);
  if (start == kNowhere) throw InvalidInput("is not an HDF5 file");
  Hdf5Cursor superblock(std::string_view(image_).substr(start + kSignature.size()));
  const std::uint64_t version = superblock.number(1);
  if (version > 3) damaged("its superblock has an unknown version");
  if (version < 2) superblock.skip(4);
  address_size_ = static_cast<unsigned>(superblock.number(1));
  length_size_ = static_cast<unsigned>(superblock.number(1));
  for (const unsigned size : {address_size_, length_size_}) {
    if (size != 4 && size != 8) damaged("its superblock gives addresses an unknown size");
  }
  superblock.skip(version < 2 ? 9 : 1);
  if (version == 1) superblock.skip(4);
  base_ = superblock.number(address_size_);
  if (base_ > start) damaged("its base address is wrong");
  superblock.skip(address_size_);
  const std::uint64_t end = superblock.number(address_size_);  // of the file when it was closed
  if (end != undefined_address() && end > base_ && end - base_ > image_.size() - start) {
    throw InvalidInput(fmt::format("the file is cut short: it should have {} bytes and has {}",
                                   end - base_ + start, image_.size()));
  }
  if (version < 2) superblock.skip(2 * address_size_);  // driver information, name of the root
  root_ = superblock.number(address_size_);
}

// Messages of one block of an object header; continuation blocks are appended to `blocks`. IV.A.1.
void Hdf5Image::add_messages(std::string_view block, unsigned version, unsigned header_flags,
                             std::vector<std::string_view>& blocks, std::vector<Message>& found) const {
  Hdf5Cursor cursor(block);
  const std::size_t head = version == 1 ? 8 : (header_flags & 0x04) != 0 ? 6 : 4;
  while (cursor.left() >= head) {
    Message message;
    message.type = static_cast<unsigned>(cursor.number(version == 1 ? 2 : 1));
    const std::uint64_t size = cursor.number(2);
    message.flags = static_cast<unsigned>(cursor.number(1));
    cursor.skip(version == 1 ? 3 : head - 4);
    message.body = cursor.take(size);
    if (message.type == kContinuation) {
      Hdf5Cursor continuation(message.body);
      const std::uint64_t address = continuation.number(address_size_);
      std::string_view next = bytes(address, continuation.number(length_size_));
      if (version == 2) {  // "OCHK" in front, a checksum behind
        if (next.size() < 8 || next.substr(0, 4) != "OCHK")
          damaged("its header continues in the wrong place");
        next = next.substr(4, next.size() - 8);
      }
      if (blocks.size() >= kMostBlocks) damaged("its header does not end");
      blocks.push_back(next);
    }
    if (found.size() >= kMostMessages) damaged("its header does not end");
    found.push_back(message);
  }
}

std::vector<Hdf5Image::Message> Hdf5Image::messages(std::uint64_t object) const {
  Hdf5Cursor header = cursor(object);
  unsigned version = 1;
  unsigned flags = 0;
  std::uint64_t size = 0;
  if (bytes(object, 4) == "OHDR") {
    header.skip(4);
    version = static_cast<unsigned>(header.number(1));
    if (version != 2) damaged("its header has an unknown version");
    flags = static_cast<unsigned>(header.number(1));
    if ((flags & 0x20) != 0) header.skip(16);  // times
    if ((flags & 0x10) != 0) header.skip(4);   // attribute limits
    size = header.number(1u << (flags & 0x03));
  } else {
    if (header.number(1) != 1) damaged("its header has an unknown version");
    header.skip(7);  // reserved, number of messages, references
    size = header.number(4);
    header.skip(4);
  }
  std::vector<std::string_view> blocks{header.take(size)};
  std::vector<Message> found;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const std::string_view block = blocks[k];  // the vector grows meanwhile
    add_messages(block, version, flags, blocks, found);
  }
  return found;
}

std::optional<std::uint64_t> Hdf5Image::find(std::string_view path) const {
  std::uint64_t object = root_;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::optional<std::uint64_t> next = child(object, path.substr(0, end));
    if (!next) return std::nullopt;
    object = *next;
    path.remove_prefix(end);
  }
  return object;
}

std::optional<std::uint64_t> Hdf5Image::child(std::uint64_t group, std::string_view name) const {
  for (const Message& message : messages(group)) {
    if ((message.flags & kSharedFlag) != 0) continue;
    std::optional<std::uint64_t> object;
    if (message.type == kSymbolTable) object = symbol_table_child(message.body, name);
    if (message.type == kLink) object = link_child(message.body, name);
    if (message.type == kLinkInfo) {  // IV.A.2.c: many links are in a heap, whose address is then defined
      Hdf5Cursor info(message.body);
      info.skip(1);
      if ((info.number(1) & 0x01) != 0) info.skip(8);
      if (info.number(address_size_) != undefined_address())
        hdf5_unsupported("in a group with densely stored links");
    }
    if (object) return object;
  }
  return std::nullopt;
}

// III.A.1 (B-tree), III.B (symbol table node), III.D (local heap).
std::optional<std::uint64_t> Hdf5Image::symbol_table_child(std::string_view message,
                                                           std::string_view name) const {
  Hdf5Cursor table(message);
  const std::uint64_t tree = table.number(address_size_);
  Hdf5Cursor heap = cursor(table.number(address_size_));
  heap.expect("HEAP", "the names of its group are missing");
  heap.skip(4);
  const std::uint64_t heap_size = heap.number(length_size_);
  heap.skip(length_size_);
  const std::string_view names = bytes(heap.number(address_size_), heap_size);

  const std::size_t entry_size = 2 * address_size_ + 24;
  std::size_t entries_left = image_.size() / entry_size;       // sound nodes do not overlap
  std::vector<std::pair<std::uint64_t, int>> open{{tree, 0}};  // nodes to visit and their depth
  for (std::size_t visited = 0; visited < open.size(); ++visited) {
    const auto [address, depth] = open[visited];
    Hdf5Cursor node = cursor(address);
    if (bytes(address, 4) == "TREE") {
      node.skip(6);
      const std::uint64_t used = node.number(2);
      node.skip(2 * address_size_);
      if (depth >= kDeepestTree || open.size() + used > kMostMessages)
        damaged("the tree of its group does not end");
      for (std::uint64_t k = 0; k < used; ++k) {
        node.skip(length_size_);
        open.emplace_back(node.number(address_size_), depth + 1);
      }
      continue;
    }
    node.expect("SNOD", "the tree of its group is broken");
    node.skip(2);
    const std::uint64_t symbols = node.number(2);
    if (symbols > entries_left) damaged("the tree of its group does not end");
    entries_left -= symbols;
    for (std::uint64_t k = symbols; k > 0; --k) {
      const std::uint64_t offset = node.number(address_size_);
      const std::uint64_t object = node.number(address_size_);
      const std::uint64_t cache = node.number(4);
      node.skip(20);
      if (offset >= names.size()) damaged("a name of its group is missing");
      const std::string_view found = names.substr(offset, names.find('\0', offset) - offset);
      if (found == name && cache != 2) return object;  // 2: a symbolic link
    }
  }
  return std::nullopt;
}

// IV.A.2.g.
std::optional<std::uint64_t> Hdf5Image::link_child(std::string_view message, std::string_view name) const {
  Hdf5Cursor link(message);
  if (link.number(1) != 1) return std::nullopt;
  const auto flags = static_cast<unsigned>(link.number(1));
  const std::uint64_t type = (flags & 0x08) != 0 ? link.number(1) : 0;
  if ((flags & 0x04) != 0) link.skip(8);
  if ((flags & 0x10) != 0) link.skip(1);
  const std::string_view found = link.take(link.number(1u << (flags & 0x03)));
  if (found != name || type != 0) return std::nullopt;  // 0: hard
  return link.number(address_size_);
}

Hdf5Dataset Hdf5Image::dataset(std::uint64_t object) const {
  Hdf5Dataset dataset;
  std::optional<std::string_view> type;
  std::optional<std::string_view> space;
  std::optional<std::string_view> layout;
  std::string_view filters;
  std::string_view fill;
  for (const Message& message : messages(object)) {
    const bool needed = message.type == kDatatype || message.type == kDataspace || message.type == kLayout ||
                        message.type == kFilters;
    if (needed && (message.flags & kSharedFlag) != 0) hdf5_unsupported("of a named type");
    if (message.type == kDatatype) type = message.body;
    if (message.type == kDataspace) space = message.body;
    if (message.type == kLayout) layout = message.body;
    if (message.type == kFilters) filters = message.body;
    if (message.type == kOldFillValue && fill.empty()) fill = old_fill_value(message.body);
    if (message.type == kFillValue && (message.flags & kSharedFlag) == 0) fill = fill_value(message.body);
    if (message.type == kExternalFiles) hdf5_unsupported("stored in another file");
  }
  if (!type || !space || !layout) throw InvalidInput("is not a dataset");
  read_type(*type, dataset);
  read_space(*space, dataset);
  read_layout(*layout, filters, fill, dataset);
  return dataset;
}

// IV.A.2.d: class, bit field, size, then for numbers where their bits are.
void Hdf5Image::read_type(std::string_view message, Hdf5Dataset& dataset) const {
  Hdf5Cursor type(message);
  const std::uint64_t class_id = type.number(1) & 0x0f;
  const std::uint64_t field = type.number(3);
  dataset.element_size = type.number(4);
  dataset.big_endian = (field & 0x01) != 0;
  if (class_id == 3) {
    dataset.type = Hdf5Type::text;
    return;
  }
  const std::size_t size = dataset.element_size;
  if (class_id > 1) throw InvalidInput("must hold numbers");
  const std::uint64_t offset = type.number(2);
  const std::uint64_t precision = type.number(2);
  bool plain = offset == 0 && (size == 4 || size == 8 || (class_id == 0 && (size == 1 || size == 2)));
  plain = plain && precision == 8 * size;
  dataset.type = class_id == 0 ? Hdf5Type::integer : Hdf5Type::real;
  dataset.is_signed = (field & 0x08) != 0;
  if (plain && class_id == 1) {  // exponent: location, size; mantissa: location, size; bias
    const std::uint64_t shape = type.number(4);
    const std::uint64_t bias = type.number(4);
    const bool is_double = size == 8;
    plain = shape == (is_double ? 0x34000b34u : 0x17000817u) && bias == (is_double ? 1023u : 127u) &&
            (field & 0x40) == 0;
  }
  if (!plain)
    throw InvalidInput("holds numbers of an unusual format; use 32-bit integers and 64-bit IEEE reals");
}

// IV.A.2.b: rank 0 (one value) and up.
void Hdf5Image::read_space(std::string_view message, Hdf5Dataset& dataset) const {
  Hdf5Cursor space(message);
  const std::uint64_t version = space.number(1);
  const std::uint64_t rank = space.number(1);
  space.skip(1);
  if (version != 1 && version != 2) damaged("its dataspace has an unknown version");
  const std::uint64_t kind = space.number(1);
  if (version == 1) space.skip(4);
  if (rank > kMostExtents) throw InvalidInput(fmt::format("has rank {}, too many", rank));
  dataset.rank = rank;
  dataset.count = rank == 0 && version == 2 && kind == 2 ? 0 : 1;
  for (std::uint64_t k = 0; k < rank; ++k) {
    const std::uint64_t extent = space.number(length_size_);
    // Several extents: none beyond what the image can hold, far from where products wrap.
    if (rank > 1 && (extent > image_.size() || dataset.count > image_.size())) {
      damaged("its dataspace is larger than the file");
    }
    dataset.count *= extent;
  }
}

// IV.A.2.i, versions 3 to 5: where the data are. Version 5 (HDF5 2.0) is 4 with stored sizes of chunks in as many bytes as
// lengths have, which the entries of the index tell anyway.
void Hdf5Image::read_layout(std::string_view message, std::string_view filters, std::string_view fill,
                            Hdf5Dataset& dataset) const {
  constexpr std::uint64_t kCompact = 0, kContiguous = 1, kChunked = 2;
  Hdf5Cursor layout(message);
  const std::uint64_t version = layout.number(1);
  if (version < 3 || version > 5) hdf5_unsupported("stored in an unknown layout");
  const std::uint64_t kind = layout.number(1);
  if (dataset.element_size == 0) damaged("its type has no size");
  if (kind == kChunked) {
    if (dataset.rank != 1)
      throw InvalidInput(fmt::format("has {} dimensions; stored in chunks it must have one", dataset.rank));
    const Hdf5Filters pipeline = filters.empty() ? Hdf5Filters() : Hdf5Filters(filters);
    const Hdf5ChunkedData data{dataset.count, dataset.element_size, &pipeline, fill};
    dataset.unpacked = std::make_shared<const std::string>(
        read_hdf5_chunks(file(), layout.take(layout.left()), version, data));
    dataset.data = *dataset.unpacked;
    return;
  }
  if (kind != kCompact && kind != kContiguous) hdf5_unsupported("stored in other files");
  if (dataset.count > image_.size() / dataset.element_size) {
    throw InvalidInput(fmt::format("claims {} values, more than the file can hold", dataset.count));
  }
  const std::size_t size = dataset.count * dataset.element_size;
  if (kind == kCompact) {
    const std::string_view data = layout.take(layout.number(2));
    if (data.size() < size) damaged("it holds too few data");
    dataset.data = data.substr(0, size);
  } else {
    // Space is allotted on the first write; a dataset that never saw one reads as its fill value, zero.
    const std::uint64_t address = layout.number(address_size_);
    if (size > 0 && address != undefined_address()) dataset.data = bytes(address, size);
  }
}

}  // namespace tribo::detail
