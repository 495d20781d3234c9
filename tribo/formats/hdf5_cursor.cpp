#include "tribo/formats/hdf5_cursor.h"

#include <fmt/format.h>

#include "tribo/base/errors.h"

namespace tribo::detail {

void hdf5_damaged(const char* what) { throw InvalidInput(fmt::format("is damaged: {}", what)); }

void hdf5_unsupported(std::string_view what) {
  throw InvalidInput(fmt::format("is {}; rewrite the file with: h5repack -f NONE -l CONTI OLD NEW", what));
}

std::string_view Hdf5Cursor::take(std::uint64_t size) {
  if (size > left()) hdf5_damaged("a part is cut short");
  const std::string_view taken = bytes_.substr(at_, size);
  at_ += size;
  return taken;
}

std::uint64_t Hdf5Cursor::number(unsigned size) {
  const std::string_view taken = take(size);
  std::uint64_t value = 0;
  for (unsigned k = size; k-- > 0;) value = value << 8 | static_cast<unsigned char>(taken[k]);
  return value;
}

std::string_view Hdf5Bytes::bytes(std::uint64_t address, std::uint64_t size) const {
  if (address > all.size() || size > all.size() - address)
    hdf5_damaged("it points beyond the end of the file");
  return all.substr(address, size);
}

Hdf5Cursor Hdf5Bytes::cursor(std::uint64_t address) const {
  if (address > all.size()) hdf5_damaged("it points beyond the end of the file");
  return Hdf5Cursor(all.substr(address));
}

}  // namespace tribo::detail
