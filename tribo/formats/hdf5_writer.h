// Writing HDF5 files through the HDF5 library, no more of it than FCLIB needs: groups, one-dimensional
// datasets of 32-bit integers and 64-bit reals, texts. The same data give the same bytes (compressed ones: with
// the same version of zlib). Compressed datasets are chunked and have been through shuffle and deflate, which every
// HDF5 library reads. A process-wide lock is held while a writer lives, because the library is usually built without thread safety, and its own error
// printing is off.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "tribo/base/types.h"

namespace tribo::detail {

// Owns one HDF5 identifier (a hid_t) and closes it.
class Hdf5Handle {
 public:
  using Close = int (*)(std::int64_t);

  Hdf5Handle(std::int64_t id, Close close) : id_(id), close_(close) {}
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  ~Hdf5Handle() { reset(); }

  explicit operator bool() const { return id_ >= 0; }
  std::int64_t id() const { return id_; }
  // Closes now; false if HDF5 reports a failure: data may be lost.
  bool reset() {
    const std::int64_t id = std::exchange(id_, -1);
    return id < 0 || close_(id) >= 0;
  }

 private:
  std::int64_t id_ = -1;
  Close close_ = nullptr;
};

// The lock, and HDF5's error printing switched off until destruction.
class Hdf5Session {
 public:
  Hdf5Session();
  ~Hdf5Session();
  Hdf5Session(const Hdf5Session&) = delete;
  Hdf5Session& operator=(const Hdf5Session&) = delete;

 private:
  std::unique_lock<std::mutex> lock_;
  int (*printer_)(std::int64_t, void*) = nullptr;
  void* printer_data_ = nullptr;
};

// Every failure is an InvalidInput that names the file.
class Hdf5Writer {
 public:
  // Creates (or replaces) the file. `compress`: arrays of 512 bytes and more are compressed.
  explicit Hdf5Writer(const std::filesystem::path& path, bool compress = false);

  void group(const std::string& name);
  void reals(const std::string& name, std::span<const double> values);
  // Row-major array of the given extents.
  void array(const std::string& name, std::span<const double> values, std::span<const std::uint64_t> extents);
  void reals(const std::string& name, const Vector& values);
  void integers(const std::string& name, std::span<const Index> values);
  void unsigned_integers(const std::string& name, std::span<const std::uint64_t> values);
  void bytes(const std::string& name, std::string_view value);
  void integer(const std::string& name, Index value) { integers(name, std::span(&value, 1)); }
  void real(const std::string& name, double value) { reals(name, std::span(&value, 1)); }
  void text(const std::string& name, const std::string& value);

  // Flushes and closes; a file that is not closed is not complete.
  void close();

 private:
  [[noreturn]] void fail(const std::string& name) const;
  void write(const std::string& name, std::int64_t file_type, std::int64_t memory_type, const void* data,
             std::span<const std::uint64_t> extents);

  bool set_filters(std::int64_t creation, std::span<const std::uint64_t> extents,
                   std::size_t element_size) const;

  std::string file_name_;
  bool compress_;
  Hdf5Session session_;
  Hdf5Handle file_;
};

}  // namespace tribo::detail
