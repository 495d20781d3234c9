// Numbers and texts of an HDF5 file by name. Files come from anywhere, so nothing in them is believed: every
// read checks kind, rank and size, and every complaint is an InvalidInput that names the file and the
// dataset.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tribo/base/types.h"
#include "tribo/formats/hdf5_image.h"

namespace tribo::detail {

bool is_hdf5(const std::filesystem::path& path);

// Names are full paths inside the file, such as "/fclib_local/vectors/q".
class Hdf5Reader {
 public:
  explicit Hdf5Reader(const std::filesystem::path& path);

  bool has(const std::string& name) const;

  // Vectors of any length; scalars (rank 0) count as length 1. Reals must not be NaN, and finite unless
  // allowed.
  Vector reals(const std::string& name, bool allow_infinite = false) const;
  // The same of any rank and of that size, whatever the values are: of recordings, where NaN says that a number is not known.
  Vector numbers(const std::string& name, std::size_t size) const;
  // How many reals of any rank there are.
  // Integers of one byte each, as they are.
  std::string bytes(const std::string& name) const;
  std::vector<std::int64_t> integers(const std::string& name) const;
  std::vector<std::uint64_t> unsigned_integers(const std::string& name) const;
  // The same with the length that they must have, and the range of their values.
  Vector reals_of_size(const std::string& name, Index size, bool allow_infinite = false) const;
  std::vector<Index> indices(const std::string& name, Index lowest, Index highest) const;
  std::vector<Index> indices_of_size(const std::string& name, Index size, Index lowest, Index highest) const;
  // A dataset of length 1.
  std::int64_t integer(const std::string& name) const;
  // A text as UTF-8 (other encodings are taken for Latin-1) without surrounding white space; empty if there
  // is none.
  std::string text(const std::string& name) const;

  // Throws "FILE: NAME MESSAGE".
  [[noreturn]] void fail(const std::string& name, const std::string& message) const;

 private:
  Hdf5Dataset open(const std::string& name, Hdf5Type type, bool any_rank = false) const;

  std::string file_name_;
  Hdf5Image image_;
};

// `bytes` if it is valid UTF-8, otherwise the same bytes read as Latin-1; trimmed.
std::string to_utf8(const std::string& bytes);

}  // namespace tribo::detail
