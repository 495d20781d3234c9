// Reading and writing HDF5 files, no more of it than FCLIB needs: one-dimensional datasets of numbers, texts,
// groups.
//
// Files come from anywhere, so nothing in them is believed: every read checks kind, rank and size, the size
// of a dataset is held against the size of the file before memory is taken, and every complaint is an
// InvalidInput that names the file and the dataset. The library's own error printing is silent while one of
// these objects lives, and a process-wide lock is held, because HDF5 is usually built without thread safety.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tribo/math/types.h"

namespace tribo::detail {

// Owns one HDF5 identifier (a hid_t) and closes it.
class Hdf5Handle {
 public:
  using Close = int (*)(std::int64_t);

  Hdf5Handle() = default;
  Hdf5Handle(std::int64_t id, Close close) : id_(id), close_(close) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept;
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  ~Hdf5Handle() { reset(); }

  explicit operator bool() const { return id_ >= 0; }
  std::int64_t id() const { return id_; }
  // Closes now; false if HDF5 reports a failure (on writing: data may be lost).
  bool reset();

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

bool is_hdf5(const std::filesystem::path& path);

// Names are full paths inside the file, such as "/fclib_local/vectors/q".
class Hdf5Reader {
 public:
  explicit Hdf5Reader(const std::filesystem::path& path);

  bool has(const std::string& name) const;

  // Vectors of any length; scalars (rank 0) count as length 1. Reals must not be NaN, and finite unless
  // allowed.
  Vector reals(const std::string& name, bool allow_infinite = false) const;
  std::vector<std::int64_t> integers(const std::string& name) const;
  std::vector<std::uint64_t> unsigned_integers(const std::string& name) const;
  // The same with the length that they must have.
  Vector reals_of_size(const std::string& name, Index size, bool allow_infinite = false) const;
  std::vector<Index> indices_of_size(const std::string& name, Index size, Index lowest, Index highest) const;
  // A dataset of length 1.
  std::int64_t integer(const std::string& name) const;
  // A text as UTF-8 (other encodings are taken for Latin-1) without surrounding white space; empty if there
  // is none.
  std::string text(const std::string& name) const;

  // Throws "FILE: NAME MESSAGE".
  [[noreturn]] void fail(const std::string& name, const std::string& message) const;

 private:
  struct Dataset {
    Hdf5Handle handle;
    std::size_t size = 0;
  };
  Dataset open(const std::string& name, int type_class) const;
  template <class T>
  std::vector<T> read_integers(const std::string& name, std::int64_t memory_type) const;

  std::string file_name_;
  std::uintmax_t file_bytes_ = 0;
  Hdf5Session session_;
  Hdf5Handle file_;
};

class Hdf5Writer {
 public:
  // Creates (or replaces) the file.
  explicit Hdf5Writer(const std::filesystem::path& path);

  void group(const std::string& name);
  void reals(const std::string& name, std::span<const double> values);
  void reals(const std::string& name, const Vector& values);
  void integers(const std::string& name, std::span<const Index> values);
  void unsigned_integers(const std::string& name, std::span<const std::uint64_t> values);
  void integer(const std::string& name, Index value) { integers(name, std::span(&value, 1)); }
  void real(const std::string& name, double value) { reals(name, std::span(&value, 1)); }
  void text(const std::string& name, const std::string& value);

  // Flushes and closes; a file that is not closed is not complete.
  void close();

 private:
  [[noreturn]] void fail(const std::string& name) const;
  void write(const std::string& name, std::int64_t file_type, std::int64_t memory_type, const void* data,
             std::size_t size);

  std::string file_name_;
  Hdf5Session session_;
  Hdf5Handle file_;
};

// `bytes` if it is valid UTF-8, otherwise the same bytes read as Latin-1; trimmed.
std::string to_utf8(const std::string& bytes);

}  // namespace tribo::detail
