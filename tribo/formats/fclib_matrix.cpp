#include "tribo/formats/fclib_matrix.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

namespace tribo::detail {
namespace {

enum class Storage { triplet, compressed_columns, compressed_rows };

const char* to_string(Storage storage) {
  switch (storage) {
    case Storage::triplet:
      return "triplet";
    case Storage::compressed_columns:
      return "CSC";
    case Storage::compressed_rows:
      return "CSR";
  }
  return "unknown";
}

Storage storage_of(const Hdf5Reader& file, const std::string& group) {
  const std::int64_t nz = file.integer(group + "/nz");
  if (nz >= 0) return Storage::triplet;
  if (nz == -1) return Storage::compressed_columns;
  if (nz == -2) return Storage::compressed_rows;
  file.fail(group + "/nz", fmt::format("is {}: >= 0 (triplet), -1 (CSC) and -2 (CSR) are known", nz));
}

// The entries of a compressed matrix; `outer` counts columns (CSC) or rows (CSR), i holds the other index.
std::vector<ScalarTriplet> expand(const Hdf5Reader& file, const std::string& group, Index outer,
                                  const std::vector<Index>& inner, const Vector& x, bool columns) {
  const Index size = static_cast<Index>(inner.size());
  const std::vector<Index> p = file.indices_of_size(group + "/p", outer + 1, 0, size);
  std::vector<ScalarTriplet> entries;
  entries.reserve(inner.size());
  for (Index o = 0; o < outer; ++o) {
    if (p[o] > p[o + 1]) file.fail(group + "/p", fmt::format("decreases from [{}] to [{}]", o, o + 1));
    for (Index k = p[o]; k < p[o + 1]; ++k) {
      entries.push_back(columns ? ScalarTriplet{inner[k], o, x[k]} : ScalarTriplet{o, inner[k], x[k]});
    }
  }
  return entries;
}

}  // namespace

const char* storage_name(const Hdf5Reader& file, const std::string& group) {
  return to_string(storage_of(file, group));
}

SparseMatrix read_matrix(const Hdf5Reader& file, const std::string& group, Index rows, Index cols) {
  if (!file.has(group)) file.fail(group, "is missing");
  for (const auto& [name, size] : {std::pair("/m", rows), std::pair("/n", cols)}) {
    const std::int64_t stored = file.integer(group + name);
    if (stored != size) {
      file.fail(group + name,
                fmt::format("is {}: the vectors of the file ask for {} x {}", stored, rows, cols));
    }
  }
  SparseMatrix matrix{rows, cols, {}};
  const Storage storage = storage_of(file, group);
  const Vector x = file.reals(group + "/x");
  const Index size = static_cast<Index>(x.size());
  const Index inner = storage == Storage::compressed_rows ? cols : rows;
  const std::vector<Index> i = file.indices_of_size(group + "/i", size, 0, inner - 1);
  if (storage != Storage::triplet) {
    const bool columns = storage == Storage::compressed_columns;
    matrix.entries = expand(file, group, columns ? cols : rows, i, x, columns);
    return matrix;
  }
  const std::int64_t count = file.integer(group + "/nz");
  if (count > size) file.fail(group + "/nz", fmt::format("is {} where {} entries are stored", count, size));
  const std::vector<Index> p = file.indices_of_size(group + "/p", size, 0, cols - 1);
  matrix.entries.reserve(count);
  for (Index k = 0; k < count; ++k) matrix.entries.push_back({i[k], p[k], x[k]});
  return matrix;
}

void append(const SparseMatrix& from, const std::vector<Index>* rows, const std::vector<Index>& cols,
            SparseMatrix& to) {
  to.entries.reserve(to.entries.size() + from.entries.size());
  for (const ScalarTriplet& entry : from.entries) {
    if (cols[entry.col] < 0 || (rows != nullptr && (*rows)[entry.row] < 0)) continue;
    to.entries.push_back({rows != nullptr ? (*rows)[entry.row] : entry.row, cols[entry.col], entry.value});
  }
}

SparseMatrix transposed(SparseMatrix matrix) {
  std::swap(matrix.rows, matrix.cols);
  for (ScalarTriplet& entry : matrix.entries) std::swap(entry.row, entry.col);
  return matrix;
}

}  // namespace tribo::detail
