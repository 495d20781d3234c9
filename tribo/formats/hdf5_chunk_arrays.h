// Two indices of chunks that newer HDF5 files have: the fixed array (datasets that cannot grow) and the
// extensible array (datasets that can grow in one dimension). Entry k says where chunk k is. Format: "HDF5 File
// Format Specification Version 3.0", VII.C and VII.D. Every address is checked; damage is an InvalidInput.
#pragma once

#include <cstdint>
#include <functional>

#include "tribo/formats/hdf5_cursor.h"

namespace tribo::detail {

struct Hdf5ChunkEntry {
  std::uint64_t address = 0;  // undefined: never written
  std::uint64_t size = 0;     // bytes stored
  std::uint32_t mask = 0;     // of filters left out
};

struct Hdf5ChunkArray {
  std::uint64_t chunks = 0;      // that the data have; entries beyond are not visited
  std::uint64_t chunk_size = 0;  // bytes, of a chunk without filters
  bool filtered = false;         // entries tell the stored size and the mask
};

using Hdf5ChunkVisit = std::function<void(std::uint64_t, const Hdf5ChunkEntry&)>;

// `header` is the address of the array's header; undefined: no chunk was ever written.
void read_fixed_array(const Hdf5Bytes& file, std::uint64_t header, const Hdf5ChunkArray& array,
                      const Hdf5ChunkVisit& visit);
void read_extensible_array(const Hdf5Bytes& file, std::uint64_t header, const Hdf5ChunkArray& array,
                           const Hdf5ChunkVisit& visit);

}  // namespace tribo::detail
