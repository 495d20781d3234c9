// Chunked and compressed datasets written by the HDF5 library, in every index and with every filter that tribo reads,
// against the same numbers kept aside; damaged files; filters that are refused.
#include "tribo/formats/hdf5_chunks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/fuzzing.h"
#include "tests/support/hdf5_maker.h"
#include "tests/support/temporary_folder.h"
#include "tribo/base/errors.h"
#include "tribo/formats/hdf5_reader.h"

namespace tribo {
namespace {

using detail::Hdf5Reader;
using test::Hdf5Maker;

struct Chunking {
  hsize_t elements = 16;  // per chunk
  bool shuffle = false, deflate = false, checksum = false;
  bool growing = false;  // may be extended later: another index in the newer format
  bool latest = false;   // newest file format
  bool early = false;    // space allotted at once: implicit index
};

std::vector<double> smooth(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t k = 0; k < count; ++k)
    values[k] = std::sin(0.01 * static_cast<double>(k)) * std::exp2(k % 7);
  return values;
}

hid_t creation_list(const Chunking& c) {
  const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(list, 1, &c.elements);
  if (c.early) H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
  if (c.shuffle) H5Pset_shuffle(list);
  if (c.deflate) H5Pset_deflate(list, 6);
  if (c.checksum) H5Pset_fletcher32(list);
  return list;
}

// Writes `count` of the values (all by default) to a dataset of their full number.
void write_chunked(hid_t file, const char* name, const std::vector<double>& values, const Chunking& c,
                   hid_t type = H5T_IEEE_F64LE, double fill = 0.0, hsize_t written = ~hsize_t{0}) {
  const hsize_t size = values.size();
  const hsize_t most = c.growing ? H5S_UNLIMITED : size;
  const hid_t space = H5Screate_simple(1, &size, &most);
  const hid_t list = creation_list(c);
  if (fill != 0.0) H5Pset_fill_value(list, H5T_NATIVE_DOUBLE, &fill);
  const hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
  ASSERT_GE(dataset, 0);
  written = std::min(written, size);
  if (written > 0) {
    const hsize_t start = 0;
    const hid_t part = H5Screate_simple(1, &written, nullptr);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &written, nullptr);
    EXPECT_GE(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, part, space, H5P_DEFAULT, values.data()), 0);
    H5Sclose(part);
  }
  H5Dclose(dataset);
  H5Pclose(list);
  H5Sclose(space);
}

std::vector<double> list(const Vector& v) { return {v.data(), v.data() + v.size()}; }

std::string load(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::string describe(const Chunking& c, std::size_t count) {
  std::string text = std::to_string(count) + " values in chunks of " + std::to_string(c.elements);
  if (c.shuffle) text += " shuffle";
  if (c.deflate) text += " deflate";
  if (c.checksum) text += " fletcher32";
  if (c.growing) text += " growing";
  if (c.early) text += " early";
  return text + (c.latest ? " latest" : "");
}

class Hdf5Chunks : public testing::Test {
 protected:
  void SetUp() override { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

  void expect_round_trip(const Chunking& c, std::size_t count) {
    const std::vector<double> values = smooth(count);
    {
      Hdf5Maker maker(folder_ / "p.hdf5", c.latest);
      maker.reals("/plain", values);
      write_chunked(maker.file(), "/x", values, c);
    }
    const Hdf5Reader reader(folder_ / "p.hdf5");
    ASSERT_EQ(list(reader.reals("/plain")), values);
    EXPECT_EQ(list(reader.reals("/x")), values) << describe(c, count);
  }

  std::string error_of(const std::string& name) {
    try {
      const Hdf5Reader reader(folder_ / "p.hdf5");
      reader.reals(name);
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "";
  }

  test::TemporaryFolder folder_;
};

// Written by h5py 3.16 with HDF5 2.0 and libver='latest' (layout version 5), which the library here is too old to write:
// datasets /single, /fixed, /extensible and /plain, named by their index or that they have no filters, of 0, 0.5 ... 19.5.
TEST_F(Hdf5Chunks, LayoutOfHdf5Version2) {
  const Hdf5Reader reader("tests/formats/chunks_of_hdf5_2.hdf5");
  for (const char* name : {"/single", "/fixed", "/extensible", "/plain"}) {
    const std::vector<double> values = list(reader.reals(name));
    ASSERT_EQ(values.size(), 40u) << name;
    for (std::size_t k = 0; k < values.size(); ++k)
      ASSERT_EQ(values[k], 0.5 * static_cast<double>(k)) << name;
  }
}

TEST_F(Hdf5Chunks, SeveralDimensionsAreNotCalledDamage) {
  {
    Hdf5Maker maker(folder_ / "p.hdf5", false);
    const hsize_t size[2] = {6, 1}, chunk[2] = {3, 1};
    const hid_t space = H5Screate_simple(2, size, nullptr), creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 2, chunk);
    H5Dclose(H5Dcreate2(maker.file(), "/x", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    H5Pclose(creation);
    H5Sclose(space);
  }
  EXPECT_NE(error_of("/x").find("has 2 dimensions"), std::string::npos) << error_of("/x");
}

TEST_F(Hdf5Chunks, EveryIndexAndFilterGivesTheNumbersBack) {
  for (const bool latest : {false, true}) {
    for (const bool growing : {false, true}) {
      for (int filters = 0; filters < 8; ++filters) {
        for (const auto& [elements, count] :
             {std::pair<hsize_t, std::size_t>(16, 160), {16, 167}, {500, 3}, {1, 1}}) {
          if (!growing && elements > count) continue;  // libhdf5 refuses chunks beyond a fixed size
          expect_round_trip({.elements = elements,
                             .shuffle = (filters & 1) != 0,
                             .deflate = (filters & 2) != 0,
                             .checksum = (filters & 4) != 0,
                             .growing = growing,
                             .latest = latest},
                            count);
        }
      }
    }
  }
}

// Trees of several levels, arrays of several pages, super blocks.
TEST_F(Hdf5Chunks, ManyChunks) {
  for (const bool latest : {false, true}) {
    for (const bool growing : {false, true}) {
      expect_round_trip({.elements = 1, .growing = growing, .latest = latest}, 6000);
      expect_round_trip({.elements = 3, .deflate = true, .growing = growing, .latest = latest}, 7001);
    }
  }
  // Data blocks of the extensible array have pages from 131 072 chunks on.
  expect_round_trip({.elements = 1, .growing = true, .latest = true}, 140000);
}

TEST_F(Hdf5Chunks, ImplicitIndex) { expect_round_trip({.elements = 8, .latest = true, .early = true}, 45); }

TEST_F(Hdf5Chunks, WhatWasNeverWrittenIsTheFillValue) {
  const std::vector<double> values = smooth(100);
  for (const double fill : {0.0, -2.5}) {
    for (const bool latest : {false, true}) {
      for (const bool growing : {false, true}) {
        for (const hsize_t written : {hsize_t{0}, hsize_t{20}}) {
          const Chunking c{.elements = 10, .deflate = true, .growing = growing, .latest = latest};
          {
            Hdf5Maker maker(folder_ / "p.hdf5", latest);
            write_chunked(maker.file(), "/x", values, c, H5T_IEEE_F64LE, fill, written);
          }
          std::vector<double> expected(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(written));
          expected.resize(100, fill);
          const Hdf5Reader reader(folder_ / "p.hdf5");
          EXPECT_EQ(list(reader.reals("/x")), expected) << describe(c, 100) << " fill " << fill;
        }
      }
    }
  }
}

TEST_F(Hdf5Chunks, OtherTypesAndByteOrders) {
  const std::vector<double> values{1, -2, 3, 100, -128, 127, 0, 7, 8, 9, 11};
  const Chunking c{.elements = 4, .shuffle = true, .deflate = true, .checksum = true};
  {
    Hdf5Maker maker(folder_ / "p.hdf5");
    write_chunked(maker.file(), "/float", values, c, H5T_IEEE_F32BE);
    write_chunked(maker.file(), "/double", values, c, H5T_IEEE_F64BE);
    write_chunked(maker.file(), "/int8", values, c, H5T_STD_I8LE);
    write_chunked(maker.file(), "/int64", values, c, H5T_STD_I64BE);
  }
  const Hdf5Reader reader(folder_ / "p.hdf5");
  EXPECT_EQ(list(reader.reals("/float")), values);
  EXPECT_EQ(list(reader.reals("/double")), values);
  for (const char* name : {"/int8", "/int64"}) {
    const std::vector<std::int64_t> found = reader.integers(name);
    EXPECT_EQ(std::vector<double>(found.begin(), found.end()), values) << name;
  }
}

// An odd number of bytes per chunk before the checksum: int8 in chunks of 5.
TEST_F(Hdf5Chunks, ChecksumOfAnOddNumberOfBytes) {
  const std::vector<double> values{1, -2, 3, 100, -128, 127, 0};
  {
    Hdf5Maker maker(folder_ / "p.hdf5");
    write_chunked(maker.file(), "/x", values, {.elements = 5, .checksum = true}, H5T_STD_I8LE);
  }
  const std::vector<std::int64_t> found = Hdf5Reader(folder_ / "p.hdf5").integers("/x");
  EXPECT_EQ(std::vector<double>(found.begin(), found.end()), values);
}

TEST_F(Hdf5Chunks, OtherFiltersAreRefusedByName) {
  const std::vector<double> values = smooth(40);
  const hsize_t size = values.size(), chunk = 8;
  {
    Hdf5Maker maker(folder_ / "p.hdf5");
    const hid_t space = H5Screate_simple(1, &size, nullptr);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 1, &chunk);
    H5Pset_scaleoffset(list, H5Z_SO_INT, 0);
    const hid_t dataset =
        H5Dcreate2(maker.file(), "/x", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    ASSERT_GE(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    H5Dclose(dataset);
    H5Pclose(list);
    H5Sclose(space);
  }
  std::string error;
  try {
    Hdf5Reader(folder_ / "p.hdf5").integers("/x");
  } catch (const InvalidInput& found) {
    error = found.what();
  }
  EXPECT_NE(error.find("scale-offset"), std::string::npos) << error;
  EXPECT_NE(error.find("h5repack"), std::string::npos) << error;
  EXPECT_NE(error.find("/x"), std::string::npos) << error;
}

// A pipeline of one filter 32000, which h5py calls lzf; message version 2.
TEST(Hdf5Filters, LzfIsRefusedUnlessItWasLeftOut) {
  const std::string message("\x02\x01\x00\x7d\x00\x00\x01\x00\x00\x00", 10);
  const detail::Hdf5Filters filters(message);
  EXPECT_EQ(filters.undo("abcd", 1, 4), "abcd");
  try {
    filters.undo("abcd", 0, 4);
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find("lzf"), std::string::npos) << error.what();
  }
}

// Every byte of the compressed chunks is covered by a checksum: a changed one is never read as a number.
TEST_F(Hdf5Chunks, DamagedChunksAreRefused) {
  const std::vector<double> values = smooth(200);
  for (const bool deflate : {false, true}) {
    {
      Hdf5Maker maker(folder_ / "p.hdf5");
      write_chunked(maker.file(), "/x", values, {.elements = 200, .deflate = deflate, .checksum = !deflate});
    }
    std::string bytes = load(folder_ / "p.hdf5");
    // The chunk is where the numbers, or the head of a zlib stream of this level, stand.
    const std::string first =
        deflate ? std::string("\x78\x9c") : std::string(reinterpret_cast<const char*>(&values[1]), 8);
    const std::size_t begin = bytes.find(first);
    ASSERT_NE(begin, std::string::npos);
    int refused = 0;
    for (std::size_t at = begin; at < begin + 200; ++at) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
      folder_.write("p.hdf5", damaged);
      if (!error_of("/x").empty()) ++refused;
    }
    EXPECT_EQ(refused, 200);
  }
}

TEST_F(Hdf5Chunks, TruncatedFilesAreRefused) {
  for (const bool latest : {false, true}) {
    {
      Hdf5Maker maker(folder_ / "p.hdf5", latest);
      write_chunked(maker.file(), "/x", smooth(100),
                    {.elements = 7, .shuffle = true, .deflate = true, .latest = latest});
    }
    const std::string bytes = load(folder_ / "p.hdf5");
    for (std::size_t size = 0; size < bytes.size(); size += 13) {
      folder_.write("p.hdf5", bytes.substr(0, size));
      EXPECT_NE(error_of("/x"), "") << size << " of " << bytes.size() << " bytes";
    }
  }
}

// Every chunk claims the rest of the file: each would be copied, which takes the square of its length.
TEST_F(Hdf5Chunks, OverlappingChunksAreRefused) {
  {
    Hdf5Maker maker(folder_ / "p.hdf5");
    write_chunked(maker.file(), "/x", smooth(400), {.elements = 8, .deflate = true});
  }
  std::string bytes = load(folder_ / "p.hdf5");
  int changed = 0;
  for (std::size_t at = bytes.find("TREE"); at != std::string::npos; at = bytes.find("TREE", at + 1)) {
    if (bytes[at + 4] != 1 || bytes[at + 5] != 0) continue;  // no leaf of chunks
    const int used = static_cast<unsigned char>(bytes[at + 6]);
    for (int k = 0; k < used; ++k, ++changed) {
      const std::size_t key = at + 24 + 32 * static_cast<std::size_t>(k);  // stored size, ..., address
      std::uint64_t address = 0;
      std::memcpy(&address, bytes.data() + key + 24, 8);
      const auto stored = static_cast<std::uint32_t>(bytes.size() - address);
      std::memcpy(bytes.data() + key, &stored, 4);
    }
  }
  ASSERT_EQ(changed, 50);
  folder_.write("p.hdf5", bytes);
  EXPECT_NE(error_of("/x").find("its chunks overlap"), std::string::npos) << error_of("/x");
}

// Any damage is either not noticed (numbers of the file changed) or an InvalidInput; with the address sanitizer this
// test also sees accesses beyond the image. Claims of gigabytes by a small file are refused, too.
TEST_F(Hdf5Chunks, FlippedBitsNeverCrash) {
  for (const bool latest : {false, true}) {
    for (const bool growing : {false, true}) {
      {
        Hdf5Maker maker(folder_ / "p.hdf5", latest);
        write_chunked(maker.file(), "/x", smooth(300),
                      {.elements = 4,
                       .shuffle = true,
                       .deflate = true,
                       .checksum = true,
                       .growing = growing,
                       .latest = latest});
      }
      const std::string bytes = load(folder_ / "p.hdf5");
      test::FuzzDice dice(growing ? 1 : 2);
      int refused = 0;
      for (int k = 0; k < 300; ++k) {
        std::string damaged = bytes;
        for (std::size_t n = 1 + dice.below(3); n > 0; --n) {
          const std::size_t at = dice.below(bytes.size());
          damaged[at] = dice.chance(2) ? static_cast<char>(dice.bits())
                                       : static_cast<char>(damaged[at] ^ (1 << dice.below(8)));
        }
        folder_.write("p.hdf5", damaged);
        if (!error_of("/x").empty()) ++refused;
      }
      EXPECT_GT(refused, 50);
    }
  }
}

// A tree whose leaves are all the same one: without a bound its entries are read thousands of times.
TEST(Hdf5Image, GroupsThatRepeatThemselvesAreRefused) {
  constexpr std::uint64_t kTree = 160, kLeaves = 4000, kSymbols = 60000;
  constexpr std::uint64_t kNode = kTree + 24 + 16 * kLeaves, kNames = kNode + 8 + 40 * kSymbols;
  std::string image(kNames + 8, '\0');
  const auto put = [&image](std::size_t at, std::uint64_t number, std::size_t size) {
    std::memcpy(image.data() + at, &number, size);
  };
  image.replace(0, 8, std::string("\x89HDF\r\n\x1a\n", 8));
  image[13] = image[14] = 8;  // bytes of addresses and lengths
  put(40, image.size(), 8);
  put(64, 72, 8);  // the root: an object header with one message, a symbol table
  image[72] = 1;
  put(80, 24, 4);
  put(88, 0x11, 2);
  put(90, 16, 2);
  put(96, kTree, 8);
  put(104, 112, 8);
  image.replace(112, 4, "HEAP");
  put(120, 8, 8);
  put(136, kNames, 8);
  image.replace(kTree, 4, "TREE");
  put(kTree + 6, kLeaves, 2);
  for (std::uint64_t k = 0; k < kLeaves; ++k) put(kTree + 32 + 16 * k, kNode, 8);
  image.replace(kNode, 4, "SNOD");
  put(kNode + 6, kSymbols, 2);
  const detail::Hdf5Image file(image);
  try {
    file.find("/x");
    FAIL() << "nothing was noticed";
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find("the tree of its group does not end"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tribo
