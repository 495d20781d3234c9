#include "tribo/formats/hdf5_chunk_arrays.h"

#include <algorithm>
#include <bit>
#include <string_view>

namespace tribo::detail {
namespace {

constexpr std::uint64_t kChecksumSize = 4;
constexpr unsigned kMostBits = 48;  // of the number of entries; more than any file could hold

// Size and form of one entry.
class Entries {
 public:
  Entries(const Hdf5Bytes& file, const Hdf5ChunkArray& array, std::uint64_t client, std::uint64_t entry_size)
      : file_(file), array_(array), entry_size_(entry_size) {
    if (client != (array.filtered ? 1u : 0u)) hdf5_damaged("the index of its chunks is for another dataset");
    const std::uint64_t least = file.address_size + (array.filtered ? 4u + 1u : 0u);
    if (entry_size < least || entry_size > least + (array.filtered ? 7u : 0u))
      hdf5_damaged("the index of its chunks has entries of an unknown size");
  }

  std::uint64_t size() const { return entry_size_; }

  Hdf5ChunkEntry next(Hdf5Cursor& cursor) const {
    Hdf5ChunkEntry entry{cursor.number(file_.address_size), array_.chunk_size, 0};
    if (array_.filtered) {
      entry.size = cursor.number(static_cast<unsigned>(entry_size_ - file_.address_size - 4));
      entry.mask = static_cast<std::uint32_t>(cursor.number(4));
    }
    return entry;
  }

 private:
  const Hdf5Bytes& file_;
  const Hdf5ChunkArray& array_;
  std::uint64_t entry_size_;
};

// Behind the signature: version 0, the client again, the address of the header.
void check_block(const Hdf5Bytes& file, Hdf5Cursor& block, std::string_view signature, std::uint64_t header) {
  block.expect(signature, "the index of its chunks is broken");
  if (block.number(1) != 0) hdf5_damaged("the index of its chunks has an unknown version");
  block.skip(1);
  if (block.number(file.address_size) != header)
    hdf5_damaged("the index of its chunks is of another dataset");
}

// Bit k, the highest bit of a byte first.
bool bit_of(std::string_view bits, std::uint64_t k) {
  return (static_cast<unsigned char>(bits[k / 8]) & (0x80u >> (k % 8))) != 0;
}

// The extensible array: sizes of its parts, VII.D. Its entries lie in the index block, then in data blocks that
// super blocks of growing size list; those of the first super blocks are listed by the index block itself.
class ExtensibleArray {
 public:
  ExtensibleArray(const Hdf5Bytes& file, std::uint64_t header, const Hdf5ChunkArray& array,
                  const Hdf5ChunkVisit& visit)
      : file_(file), header_(header), array_(array), visit_(visit) {}

  void read() {
    Hdf5Cursor head = file_.cursor(header_);
    head.expect("EAHD", "the index of its chunks is broken");
    if (head.number(1) != 0) hdf5_damaged("the index of its chunks has an unknown version");
    const std::uint64_t client = head.number(1);
    const Entries entries(file_, array_, client, head.number(1));
    entries_ = &entries;
    max_bits_ = static_cast<unsigned>(head.number(1));
    index_elements_ = head.number(1);
    least_block_ = head.number(1);
    least_pointers_ = head.number(1);
    page_bits_ = static_cast<unsigned>(head.number(1));
    head.skip(6 * file_.length_size);
    const std::uint64_t index = head.number(file_.address_size);
    if (max_bits_ > kMostBits || page_bits_ > kMostBits || !std::has_single_bit(least_block_) ||
        !std::has_single_bit(least_pointers_) || least_pointers_ < 2 ||
        max_bits_ < static_cast<unsigned>(std::countr_zero(least_block_)))
      hdf5_damaged("the index of its chunks has parts of an unknown size");
    if (index != file_.undefined_address()) read_index(index);
  }

 private:
  bool done() const { return next_ >= array_.chunks; }
  unsigned offset_size() const { return (max_bits_ + 7) / 8; }

  void read_entries(Hdf5Cursor& block, std::uint64_t count) {
    for (std::uint64_t k = 0; k < count && !done(); ++k) visit_(next_++, entries_->next(block));
  }

  void read_index(std::uint64_t address) {
    Hdf5Cursor index = file_.cursor(address);
    check_block(file_, index, "EAIB", header_);
    Hdf5Cursor own(index.take(index_elements_ * entries_->size()));
    read_entries(own, index_elements_);
    // Super block u has 2^(u/2) data blocks of 2^((u+1)/2) times the least size.
    const unsigned super_blocks = 1 + max_bits_ - static_cast<unsigned>(std::countr_zero(least_block_));
    const unsigned listed = 2 * static_cast<unsigned>(std::countr_zero(least_pointers_));
    for (unsigned u = 0; u < super_blocks && !done(); ++u) {
      const std::uint64_t blocks = std::uint64_t{1} << (u / 2);
      const std::uint64_t elements = (std::uint64_t{1} << ((u + 1) / 2)) * least_block_;
      if (u < listed) {
        for (std::uint64_t b = 0; b < blocks && !done(); ++b)
          read_data_block(index.number(file_.address_size), elements, {}, 0);
        continue;
      }
      const std::uint64_t super = index.number(file_.address_size);
      if (super == file_.undefined_address()) {
        next_ += blocks * elements;
      } else {
        read_super_block(super, blocks, elements);
      }
    }
  }

  void read_super_block(std::uint64_t address, std::uint64_t blocks, std::uint64_t elements) {
    Hdf5Cursor super = file_.cursor(address);
    check_block(file_, super, "EASB", header_);
    super.skip(offset_size());
    const std::uint64_t page = std::uint64_t{1} << page_bits_;
    // One bit per page, those of all data blocks in a row; yet there is room for whole bytes per data block.
    const std::uint64_t pages = elements > page ? elements / page : 0;
    const std::string_view bits = super.take(blocks * ((pages + 7) / 8));
    for (std::uint64_t b = 0; b < blocks && !done(); ++b) {
      const std::uint64_t block = super.number(file_.address_size);
      read_data_block(block, elements, bits, b * pages);
    }
  }

  // `pages` are the bits of the super block, those of this data block begin at `first_page`.
  void read_data_block(std::uint64_t address, std::uint64_t elements, std::string_view pages,
                       std::uint64_t first_page) {
    if (address == file_.undefined_address()) {
      next_ += elements;
      return;
    }
    Hdf5Cursor block = file_.cursor(address);
    check_block(file_, block, "EADB", header_);
    block.skip(offset_size());
    if (pages.empty()) {
      read_entries(block, elements);
      return;
    }
    block.skip(kChecksumSize);
    const std::uint64_t page = std::uint64_t{1} << page_bits_;
    for (std::uint64_t p = 0; p < elements / page && !done(); ++p) {
      Hdf5Cursor entries(block.take(page * entries_->size()));
      block.skip(kChecksumSize);
      if (bit_of(pages, first_page + p)) {
        read_entries(entries, page);
      } else {
        next_ += page;
      }
    }
  }

  const Hdf5Bytes& file_;
  std::uint64_t header_;
  const Hdf5ChunkArray& array_;
  const Hdf5ChunkVisit& visit_;
  const Entries* entries_ = nullptr;
  unsigned max_bits_ = 0, page_bits_ = 0;
  std::uint64_t index_elements_ = 0, least_block_ = 1, least_pointers_ = 2;
  std::uint64_t next_ = 0;  // entry to be read
};

}  // namespace

void read_fixed_array(const Hdf5Bytes& file, std::uint64_t header, const Hdf5ChunkArray& array,
                      const Hdf5ChunkVisit& visit) {
  if (header == file.undefined_address()) return;
  Hdf5Cursor head = file.cursor(header);
  head.expect("FAHD", "the index of its chunks is broken");
  if (head.number(1) != 0) hdf5_damaged("the index of its chunks has an unknown version");
  const std::uint64_t client = head.number(1);
  const Entries entries(file, array, client, head.number(1));
  const auto page_bits = static_cast<unsigned>(head.number(1));
  const std::uint64_t count = head.number(file.length_size);
  const std::uint64_t address = head.number(file.address_size);
  if (count < array.chunks || page_bits > kMostBits || count >> kMostBits != 0)
    hdf5_damaged("the index of its chunks is too short");
  if (address == file.undefined_address()) return;
  Hdf5Cursor block = file.cursor(address);
  check_block(file, block, "FADB", header);
  const std::uint64_t page = std::uint64_t{1} << page_bits;
  if (count <= page) {
    for (std::uint64_t k = 0; k < array.chunks; ++k) visit(k, entries.next(block));
    return;
  }
  const std::uint64_t pages = (count + page - 1) / page;
  const std::string_view bits = block.take((pages + 7) / 8);
  block.skip(kChecksumSize);
  for (std::uint64_t p = 0; p * page < array.chunks; ++p) {
    Hdf5Cursor cursor(block.take(std::min(page, count - p * page) * entries.size()));
    block.skip(kChecksumSize);
    if (!bit_of(bits, p)) continue;
    for (std::uint64_t k = p * page; k < std::min((p + 1) * page, array.chunks); ++k)
      visit(k, entries.next(cursor));
  }
}

void read_extensible_array(const Hdf5Bytes& file, std::uint64_t header, const Hdf5ChunkArray& array,
                           const Hdf5ChunkVisit& visit) {
  if (header != file.undefined_address()) ExtensibleArray(file, header, array, visit).read();
}

}  // namespace tribo::detail
