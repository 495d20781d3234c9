// The filter pipeline of chunked HDF5 datasets, undone: what h5py, MATLAB and the HDF5 tools write by default.
//
// Known: deflate (gzip), shuffle, fletcher32. All others, among them lzf, szip, n-bit, scale-offset, blosc and
// zstd, are refused by name when a chunk has been through them. Every chunk has a mask of filters that were
// left out for it. Format: "HDF5 File Format Specification Version 3.0", IV.A.2.l.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tribo::detail {

class Hdf5Filters {
 public:
  // No filters: chunks are stored as they are.
  Hdf5Filters() = default;
  // From the body of a filter pipeline message; InvalidInput if it is damaged.
  explicit Hdf5Filters(std::string_view message);

  bool empty() const { return filters_.empty(); }

  // The `size` bytes of a chunk from what is stored of it. Filters whose bit in `mask` is set were left out.
  // InvalidInput if the chunk is damaged (its checksums do not hold, it is shorter or longer than it should be)
  // or went through an unknown filter.
  std::string undo(std::string_view stored, std::uint32_t mask, std::size_t size) const;

 private:
  struct Filter {
    unsigned id = 0;
    std::string_view name;            // for messages; may be empty
    std::vector<std::uint32_t> data;  // client data
  };
  std::vector<Filter> filters_;  // in the order of writing
};

// The largest stretch of zeros that one byte of deflated data can stand for, and the fixed part beside it.
inline constexpr std::size_t kMostInflation = 1032;

}  // namespace tribo::detail
