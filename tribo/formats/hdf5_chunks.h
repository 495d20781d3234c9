// Data of one-dimensional chunked HDF5 datasets: where each chunk is, read from the index of the file, and the
// chunks put together.
//
// Indices understood: B-tree version 1 (what libhdf5 and h5py write by default), and of the newer layout
// single chunk, implicit, fixed array and extensible array. The last one, B-tree version 2, is for datasets that
// may grow in several dimensions, which one-dimensional ones cannot. Format: "HDF5 File Format Specification
// Version 3.0", III.A.1, IV.A.2.i, VII.
//
// Chunks that were never written hold the fill value. Nothing is allocated beyond what the stored bytes can
// stand for (kMostInflation times their number) and kMostChunkedBytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tribo/formats/hdf5_cursor.h"
#include "tribo/formats/hdf5_filters.h"

namespace tribo::detail {

// Of one dataset; FCLIB counts entries in 32-bit integers.
inline constexpr std::uint64_t kMostChunkedBytes = std::uint64_t{1} << 32;

struct Hdf5ChunkedData {
  std::size_t count = 0;         // elements
  std::size_t element_size = 0;  // bytes
  const Hdf5Filters* filters = nullptr;
  std::string_view fill;  // one element; empty: zeros
};

// `layout` is the body of a layout message behind its version and class (2, chunked); `version` is 3 or 4.
std::string read_hdf5_chunks(const Hdf5Bytes& file, std::string_view layout, std::uint64_t version,
                             const Hdf5ChunkedData& data);

}  // namespace tribo::detail
