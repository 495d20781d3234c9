#include "tribo/formats/hdf5_writer.h"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <type_traits>
#include <vector>

#include "tribo/base/errors.h"

namespace tribo::detail {
namespace {

static_assert(std::is_same_v<hid_t, std::int64_t>, "HDF5 1.10 or newer is needed");
static_assert(std::is_same_v<herr_t, int>);

constexpr std::size_t kLongestText = std::size_t{1} << 20;
// Smaller arrays would lose by the index of their chunk.
constexpr std::size_t kLeastCompressed = 512;         // bytes
constexpr std::size_t kChunk = std::size_t{1} << 20;  // bytes at most
constexpr unsigned kDeflateLevel = 6;

std::mutex& hdf5_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

Hdf5Session::Hdf5Session() : lock_(hdf5_mutex()) {
  H5Eget_auto2(H5E_DEFAULT, &printer_, &printer_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Session::~Hdf5Session() { H5Eset_auto2(H5E_DEFAULT, printer_, printer_data_); }

Hdf5Writer::Hdf5Writer(const std::filesystem::path& path, bool compress)
    : file_name_(path.string()),
      compress_(compress),
      file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), &H5Fclose) {
  if (!file_) {
    throw InvalidInput(
        fmt::format("{}: cannot be created; choose a folder that exists and is writable", file_name_));
  }
}

void Hdf5Writer::fail(const std::string& name) const {
  throw InvalidInput(fmt::format("{}: {} cannot be written; is the disk full?", file_name_, name));
}

void Hdf5Writer::group(const std::string& name) {
  const Hdf5Handle group(H5Gcreate2(file_.id(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                         &H5Gclose);
  if (!group) fail(name);
}

void Hdf5Writer::write(const std::string& name, std::int64_t file_type, std::int64_t memory_type,
                       const void* data, std::span<const std::uint64_t> extents) {
  std::vector<hsize_t> shape(extents.begin(), extents.end());
  const hsize_t size = std::accumulate(shape.begin(), shape.end(), hsize_t{1}, std::multiplies<>());
  const Hdf5Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), &H5Sclose);
  const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), &H5Pclose);
  // Without time stamps the same problem gives the same bytes.
  if (!space || !creation || H5Pset_obj_track_times(creation.id(), false) < 0) fail(name);
  if (compress_ && !set_filters(creation.id(), extents, H5Tget_size(file_type))) fail(name);
  Hdf5Handle dataset(
      H5Dcreate2(file_.id(), name.c_str(), file_type, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
      &H5Dclose);
  if (!dataset) fail(name);
  if (size > 0 && H5Dwrite(dataset.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) fail(name);
  if (!dataset.reset()) fail(name);
}

// One-dimensional arrays only.
bool Hdf5Writer::set_filters(std::int64_t creation, std::span<const std::uint64_t> extents,
                             std::size_t element_size) const {
  if (extents.size() != 1 || extents[0] * element_size < kLeastCompressed) return true;
  const hsize_t chunk = std::min<hsize_t>(extents[0], kChunk / element_size);
  return H5Pset_chunk(creation, 1, &chunk) >= 0 && H5Pset_shuffle(creation) >= 0 &&
         H5Pset_deflate(creation, kDeflateLevel) >= 0;
}

void Hdf5Writer::array(const std::string& name, std::span<const double> values,
                       std::span<const std::uint64_t> extents) {
  write(name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.data(), extents);
}

void Hdf5Writer::reals(const std::string& name, std::span<const double> values) {
  const std::uint64_t size = values.size();
  array(name, values, {&size, 1});
}

void Hdf5Writer::reals(const std::string& name, const Vector& values) {
  reals(name, std::span(values.data(), static_cast<std::size_t>(values.size())));
}

void Hdf5Writer::integers(const std::string& name, std::span<const Index> values) {
  static_assert(sizeof(Index) == 4);
  const std::uint64_t size = values.size();
  write(name, H5T_STD_I32LE, H5T_NATIVE_INT32, values.data(), {&size, 1});
}

void Hdf5Writer::unsigned_integers(const std::string& name, std::span<const std::uint64_t> values) {
  const std::uint64_t size = values.size();
  write(name, H5T_STD_U64LE, H5T_NATIVE_UINT64, values.data(), {&size, 1});
}

void Hdf5Writer::bytes(const std::string& name, std::string_view value) {
  const std::uint64_t size = value.size();
  write(name, H5T_STD_U8LE, H5T_NATIVE_UINT8, value.data(), {&size, 1});
}

void Hdf5Writer::text(const std::string& name, const std::string& value) {
  const std::string stored = value.substr(0, kLongestText - 1);
  const Hdf5Handle type(H5Tcopy(H5T_C_S1), &H5Tclose);
  const Hdf5Handle space(H5Screate(H5S_SCALAR), &H5Sclose);
  const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), &H5Pclose);
  if (!type || !space || !creation || H5Tset_size(type.id(), stored.size() + 1) < 0 ||
      H5Pset_obj_track_times(creation.id(), false) < 0) {
    fail(name);
  }
  const Hdf5Handle dataset(
      H5Dcreate2(file_.id(), name.c_str(), type.id(), space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
      &H5Dclose);
  if (!dataset || H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, stored.c_str()) < 0)
    fail(name);
}

void Hdf5Writer::close() {
  if (!file_.reset()) fail("the file");
}

}  // namespace tribo::detail
