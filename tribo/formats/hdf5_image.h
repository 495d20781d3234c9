// The part of the HDF5 file format that FCLIB files use, read from memory.
//
// Why not the HDF5 library: damaged metadata make it crash (version 1.10.8 copies out of bounds in its
// metadata accumulator), and a solver must not die of a file. Here every access is checked against the length
// of the image, every loop is bounded, and nothing is allocated that the image does not hold. (Writing goes
// through the library, see hdf5_writer.h.)
//
// Understood: superblocks 0-3, object headers 1 and 2, groups as symbol tables (B-tree 1, local heap) or as
// link messages, contiguous, compact and chunked datasets (hdf5_chunks.h) of integers, IEEE reals and fixed-length
// texts, either byte order, compressed by deflate with or without shuffle and fletcher32 (hdf5_filters.h).
// Refused with advice: other filters, external or virtual data, dense groups, links other than hard ones.
// Format: "HDF5 File Format Specification Version 3.0", The HDF Group. Section numbers below refer to it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tribo/formats/hdf5_cursor.h"

namespace tribo::detail {

enum class Hdf5Type { integer, real, text };

struct Hdf5Dataset {
  Hdf5Type type = Hdf5Type::real;
  bool is_signed = true;
  bool big_endian = false;
  std::size_t element_size = 0;  // bytes: integers 1, 2, 4, 8; reals 4, 8; texts any
  std::size_t rank = 0;          // number of extents
  std::size_t count = 0;         // elements of all extents together; rank 0 counts as one
  // count * element_size bytes of the image or of `unpacked`; empty if never written: all zero.
  std::string_view data;
  std::shared_ptr<const std::string> unpacked;  // data that were chunked

  // Bits of element k, zero-extended, for elements of at most 8 bytes.
  std::uint64_t bits(std::size_t k) const;
};

// All functions throw InvalidInput, with a message that continues "NAME ", if the image is damaged or not
// understood.
class Hdf5Image {
 public:
  static bool has_signature(std::string_view bytes);

  // Takes the bytes of a whole file. Throws InvalidInput if there is no superblock.
  explicit Hdf5Image(std::string bytes);

  // Address of the object with this full path ("/a/b"), if there is one.
  std::optional<std::uint64_t> find(std::string_view path) const;

  Hdf5Dataset dataset(std::uint64_t object) const;

 private:
  struct Message {
    unsigned type = 0;
    unsigned flags = 0;
    std::string_view body;
  };

  Hdf5Bytes file() const { return {std::string_view(image_).substr(base_), address_size_, length_size_}; }
  std::string_view bytes(std::uint64_t address, std::uint64_t size) const {
    return file().bytes(address, size);
  }
  Hdf5Cursor cursor(std::uint64_t address) const { return file().cursor(address); }
  std::vector<Message> messages(std::uint64_t object) const;
  void add_messages(std::string_view block, unsigned version, unsigned header_flags,
                    std::vector<std::string_view>& blocks, std::vector<Message>& found) const;
  std::optional<std::uint64_t> child(std::uint64_t group, std::string_view name) const;
  std::optional<std::uint64_t> symbol_table_child(std::string_view message, std::string_view name) const;
  std::optional<std::uint64_t> link_child(std::string_view message, std::string_view name) const;
  std::uint64_t undefined_address() const { return file().undefined_address(); }
  void read_type(std::string_view message, Hdf5Dataset& dataset) const;
  void read_space(std::string_view message, Hdf5Dataset& dataset) const;
  void read_layout(std::string_view message, std::string_view filters, std::string_view fill,
                   Hdf5Dataset& dataset) const;

  std::string image_;
  std::size_t base_ = 0;       // of all addresses
  unsigned address_size_ = 8;  // bytes of an address
  unsigned length_size_ = 8;   // bytes of a length
  std::uint64_t root_ = 0;     // object header of "/"
};

}  // namespace tribo::detail
