// Numbers and stretches of bytes of an HDF5 image in memory. No access leaves the image: what would is an
// InvalidInput whose message continues "NAME ".
#pragma once

#include <cstdint>
#include <string_view>

namespace tribo::detail {

// "is damaged: WHAT".
[[noreturn]] void hdf5_damaged(const char* what);
// "is WHAT; rewrite the file with ...".
[[noreturn]] void hdf5_unsupported(std::string_view what);

// Reads numbers one after the other from a stretch of bytes and never leaves it.
class Hdf5Cursor {
 public:
  explicit Hdf5Cursor(std::string_view bytes) : bytes_(bytes) {}

  std::size_t left() const { return bytes_.size() - at_; }
  std::string_view take(std::uint64_t size);
  void skip(std::uint64_t size) { take(size); }
  // Little-endian, `size` <= 8 bytes.
  std::uint64_t number(unsigned size);
  void expect(std::string_view text, const char* what) {
    if (take(text.size()) != text) hdf5_damaged(what);
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

// The image from its base address on, and how wide its addresses and lengths are.
struct Hdf5Bytes {
  std::string_view all;
  unsigned address_size = 8;  // bytes, 4 or 8
  unsigned length_size = 8;   // bytes, 4 or 8

  std::uint64_t undefined_address() const { return address_size == 8 ? ~std::uint64_t{0} : 0xffffffffu; }
  std::string_view bytes(std::uint64_t address, std::uint64_t size) const;
  // From `address` to the end of the image.
  Hdf5Cursor cursor(std::uint64_t address) const;
};

}  // namespace tribo::detail
