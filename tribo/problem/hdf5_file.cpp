#include "tribo/problem/hdf5_file.h"

#include <fmt/format.h>
#include <hdf5.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "tribo/problem/errors.h"

namespace tribo::detail {
namespace {

static_assert(std::is_same_v<hid_t, std::int64_t>, "HDF5 1.10 or newer is needed");
static_assert(std::is_same_v<herr_t, int>);

// A compressed dataset may be larger than its file; DEFLATE reaches about 1000 : 1.
constexpr std::uint64_t kLargestCompression = 2000;
constexpr std::size_t kLongestText = std::size_t{1} << 20;

std::mutex& hdf5_mutex() {
  static std::mutex mutex;
  return mutex;
}

// Length in bytes of the UTF-8 character at `at`, 0 if there is none.
std::size_t utf8_length(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  if (first >= 0xC2 && first <= 0xDF) length = 2;
  if (first >= 0xE0 && first <= 0xEF) length = 3;
  if (first >= 0xF0 && first <= 0xF4) length = 4;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t k = at + 1; k < at + length; ++k) {
    if ((byte(k) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = byte(at + 1);  // overlong forms, surrogates and what lies beyond U+10FFFF
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return 0;
  if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return 0;
  return length;
}

}  // namespace

Hdf5Handle& Hdf5Handle::operator=(Hdf5Handle&& other) noexcept {
  if (this != &other) {
    reset();
    id_ = std::exchange(other.id_, -1);
    close_ = other.close_;
  }
  return *this;
}

bool Hdf5Handle::reset() {
  const std::int64_t id = std::exchange(id_, -1);
  return id < 0 || close_(id) >= 0;
}

Hdf5Session::Hdf5Session() : lock_(hdf5_mutex()) {
  H5Eget_auto2(H5E_DEFAULT, &printer_, &printer_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Session::~Hdf5Session() { H5Eset_auto2(H5E_DEFAULT, printer_, printer_data_); }

bool is_hdf5(const std::filesystem::path& path) {
  const Hdf5Session session;
  return H5Fis_hdf5(path.c_str()) > 0;
}

Hdf5Reader::Hdf5Reader(const std::filesystem::path& path)
    : file_name_(path.string()),
      file_bytes_(std::filesystem::file_size(path)),
      file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), &H5Fclose) {
  if (!file_)
    throw InvalidInput(fmt::format("{}: HDF5 cannot open it; the file is damaged or cut short", file_name_));
}

void Hdf5Reader::fail(const std::string& name, const std::string& message) const {
  throw InvalidInput(fmt::format("{}: {} {}", file_name_, name, message));
}

bool Hdf5Reader::has(const std::string& name) const {
  // Every step of the path must exist before the next is asked for; links that lead out of the file are not
  // followed.
  for (std::size_t end = name.find('/', 1);; end = name.find('/', end + 1)) {
    const std::string step = name.substr(0, end);
    if (H5Lexists(file_.id(), step.c_str(), H5P_DEFAULT) <= 0) return false;
    H5L_info_t info{};
    if (H5Lget_info(file_.id(), step.c_str(), &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_HARD)
      return false;
    if (end == std::string::npos) return true;
  }
}

Hdf5Reader::Dataset Hdf5Reader::open(const std::string& name, int type_class) const {
  if (!has(name)) fail(name, "is missing");
  Dataset dataset{Hdf5Handle(H5Dopen2(file_.id(), name.c_str(), H5P_DEFAULT), &H5Dclose)};
  if (!dataset.handle) fail(name, "is not a readable dataset");
  const std::int64_t id = dataset.handle.id();

  const Hdf5Handle type(H5Dget_type(id), &H5Tclose);
  const Hdf5Handle space(H5Dget_space(id), &H5Sclose);
  const Hdf5Handle creation(H5Dget_create_plist(id), &H5Pclose);
  if (!type || !space || !creation) fail(name, "is damaged");
  if (H5Tget_class(type.id()) != type_class) {
    fail(name, type_class == H5T_FLOAT     ? "must hold real numbers"
               : type_class == H5T_INTEGER ? "must hold integers"
                                           : "must hold a text");
  }
  const int rank = H5Sget_simple_extent_ndims(space.id());
  if (rank < 0 || rank > 1) fail(name, fmt::format("has rank {}; it must be one-dimensional", rank));
  const hssize_t points = H5Sget_simple_extent_npoints(space.id());
  const H5D_layout_t layout = H5Pget_layout(creation.id());
  if (layout != H5D_CONTIGUOUS && layout != H5D_COMPACT && layout != H5D_CHUNKED) {
    fail(name, "is not stored in the file itself");
  }
  if (H5Pget_external_count(creation.id()) != 0) fail(name, "is not stored in the file itself");

  const std::uint64_t element = H5Tget_size(type.id());
  const std::uint64_t bound = file_bytes_ * (layout == H5D_CHUNKED ? kLargestCompression : 1);
  const auto count = static_cast<std::uint64_t>(points);
  if (points < 0 || element == 0 || count > bound / element || count > std::numeric_limits<Index>::max()) {
    fail(name, fmt::format("claims {} values, more than the file can hold", points));
  }
  dataset.size = count;
  return dataset;
}

Vector Hdf5Reader::reals(const std::string& name, bool allow_infinite) const {
  const Dataset dataset = open(name, H5T_FLOAT);
  Vector values(static_cast<Eigen::Index>(dataset.size));
  if (dataset.size == 0) return values;
  if (H5Dread(dataset.handle.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
    fail(name, "cannot be read; the file is damaged or cut short");
  }
  for (Eigen::Index k = 0; k < values.size(); ++k) {
    if (std::isnan(values[k]) || (!allow_infinite && std::isinf(values[k]))) {
      fail(name, fmt::format("[{}] is {}: it must be finite", k, values[k]));
    }
  }
  return values;
}

template <class T>
std::vector<T> Hdf5Reader::read_integers(const std::string& name, std::int64_t memory_type) const {
  const Dataset dataset = open(name, H5T_INTEGER);
  std::vector<T> values(dataset.size);
  if (dataset.size == 0) return values;
  if (H5Dread(dataset.handle.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
    fail(name, "cannot be read; the file is damaged or cut short");
  }
  return values;
}

std::vector<std::int64_t> Hdf5Reader::integers(const std::string& name) const {
  return read_integers<std::int64_t>(name, H5T_NATIVE_INT64);
}

std::vector<std::uint64_t> Hdf5Reader::unsigned_integers(const std::string& name) const {
  return read_integers<std::uint64_t>(name, H5T_NATIVE_UINT64);
}

Vector Hdf5Reader::reals_of_size(const std::string& name, Index size, bool allow_infinite) const {
  Vector values = reals(name, allow_infinite);
  if (values.size() != size)
    fail(name, fmt::format("has {} values where {} are needed", values.size(), size));
  return values;
}

std::vector<Index> Hdf5Reader::indices_of_size(const std::string& name, Index size, Index lowest,
                                               Index highest) const {
  const std::vector<std::int64_t> values = integers(name);
  if (values.size() != static_cast<std::size_t>(size)) {
    fail(name, fmt::format("has {} values where {} are needed", values.size(), size));
  }
  std::vector<Index> indices(values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (values[k] < lowest || values[k] > highest) {
      fail(name, fmt::format("[{}] is {}: it must lie in {}..{}", k, values[k], lowest, highest));
    }
    indices[k] = static_cast<Index>(values[k]);
  }
  return indices;
}

std::int64_t Hdf5Reader::integer(const std::string& name) const {
  const std::vector<std::int64_t> values = integers(name);
  if (values.size() != 1) fail(name, fmt::format("has {} values where one is needed", values.size()));
  return values[0];
}

std::string Hdf5Reader::text(const std::string& name) const {
  if (!has(name)) return {};
  const Dataset dataset = open(name, H5T_STRING);
  const Hdf5Handle type(H5Dget_type(dataset.handle.id()), &H5Tclose);
  if (dataset.size != 1 || !type) return {};
  const htri_t variable = H5Tis_variable_str(type.id());
  const std::size_t length = H5Tget_size(type.id());
  if (variable != 0 || length > kLongestText) return {};  // no writer of FCLIB uses variable-length texts
  std::string bytes(length, '\0');
  if (H5Dread(dataset.handle.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0) return {};
  bytes.resize(std::min(bytes.size(), bytes.find('\0')));
  return to_utf8(bytes);
}

std::string to_utf8(const std::string& bytes) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return {};
  const std::string trimmed = bytes.substr(first, bytes.find_last_not_of(" \t\r\n") + 1 - first);

  std::size_t at = 0;
  while (at < trimmed.size()) {
    const std::size_t length = utf8_length(trimmed, at);
    if (length == 0) break;
    at += length;
  }
  if (at == trimmed.size()) return trimmed;
  std::string converted;
  for (const char character : trimmed) {
    const auto code = static_cast<unsigned char>(character);
    if (code < 0x80) {
      converted += character;
    } else {
      converted += static_cast<char>(0xC0 | (code >> 6));
      converted += static_cast<char>(0x80 | (code & 0x3F));
    }
  }
  return converted;
}

Hdf5Writer::Hdf5Writer(const std::filesystem::path& path)
    : file_name_(path.string()),
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
                       const void* data, std::size_t size) {
  const hsize_t extent = size;
  const Hdf5Handle space(H5Screate_simple(1, &extent, nullptr), &H5Sclose);
  const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), &H5Pclose);
  // Without time stamps the same problem gives the same bytes.
  if (!space || !creation || H5Pset_obj_track_times(creation.id(), false) < 0) fail(name);
  Hdf5Handle dataset(
      H5Dcreate2(file_.id(), name.c_str(), file_type, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
      &H5Dclose);
  if (!dataset) fail(name);
  if (size > 0 && H5Dwrite(dataset.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) fail(name);
  if (!dataset.reset()) fail(name);
}

void Hdf5Writer::reals(const std::string& name, std::span<const double> values) {
  write(name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.data(), values.size());
}

void Hdf5Writer::reals(const std::string& name, const Vector& values) {
  reals(name, std::span(values.data(), static_cast<std::size_t>(values.size())));
}

void Hdf5Writer::integers(const std::string& name, std::span<const Index> values) {
  static_assert(sizeof(Index) == 4);
  write(name, H5T_STD_I32LE, H5T_NATIVE_INT32, values.data(), values.size());
}

void Hdf5Writer::unsigned_integers(const std::string& name, std::span<const std::uint64_t> values) {
  write(name, H5T_STD_U64LE, H5T_NATIVE_UINT64, values.data(), values.size());
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
