// Numbers between numpy and Eigen. What comes from Python is checked here, and complaints name the argument: TypeError for
// what is not real numbers, InvalidInput (a ValueError) for shapes and for NaN or infinity.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "tribo/base/types.h"
#include "tribo/linalg/block_matrix.h"

namespace tribo::python {

namespace nb = nanobind;

// Views of memory that `owner` keeps alive. Python cannot write through the first two.
using NumbersView = nb::ndarray<nb::numpy, const double, nb::ndim<1>, nb::c_contig>;
using MatrixView = nb::ndarray<nb::numpy, const double, nb::ndim<2>>;
using WritableView = nb::ndarray<nb::numpy, double, nb::ndim<1>, nb::c_contig>;
// Arrays of their own.
using NewVector = nb::ndarray<nb::numpy, double, nb::ndim<1>, nb::c_contig>;
using NewMatrix = nb::ndarray<nb::numpy, double, nb::ndim<2>>;
using NewTensor = nb::ndarray<nb::numpy, double>;
using NewIndices = nb::ndarray<nb::numpy, Index, nb::ndim<1>, nb::c_contig>;
using NewKeys = nb::ndarray<nb::numpy, std::uint64_t, nb::ndim<1>, nb::c_contig>;

enum class Finite : bool { no, yes };

// From anything numpy makes real numbers of: lists, arrays of any real type, order and stride.
Vector to_vector(nb::handle value, const char* argument, Finite finite = Finite::yes);
Vector to_vector(nb::handle value, const char* argument, Index size, Finite finite = Finite::yes);
Matrix to_matrix(nb::handle value, const char* argument);
// An array of shape (rows, 3), row after row.
Vector to_rows3(nb::handle value, const char* argument, Index rows);
Vec3 to_vec3(nb::handle value, const char* argument);
double to_number(nb::handle value, const char* argument);

// A matrix as its entries, from a dense one or from one of scipy.sparse.
struct Triplets {
  Index rows = 0, cols = 0;
  std::vector<ScalarTriplet> entries = {};
};
Triplets to_triplets(nb::handle value, const char* argument);

// "array of shape (2, 3)", for messages.
std::string shape_of(nb::handle value);

inline NumbersView view_of(const Vector& x, nb::handle owner) {
  return NumbersView(x.data(), {static_cast<std::size_t>(x.size())}, owner);
}
inline WritableView writable_view_of(Vector& x, nb::handle owner) {
  return WritableView(x.data(), {static_cast<std::size_t>(x.size())}, owner);
}

// Copies in memory that the array owns.
template <class Array, class Number>
Array new_array(const Number* data, std::initializer_list<std::size_t> shape,
                std::initializer_list<std::int64_t> strides = {}) {
  std::size_t count = 1;
  for (const std::size_t extent : shape) count *= extent;
  auto memory = std::make_unique<Number[]>(count);
  std::copy(data, data + count, memory.get());
  Number* raw = memory.get();
  nb::capsule owner(memory.release(), [](void* p) noexcept { delete[] static_cast<Number*>(p); });
  return Array(raw, shape, owner, strides);
}
inline NewVector new_vector(const double* data, std::size_t count) {
  return new_array<NewVector>(data, {count});
}
template <class Derived>
NewVector new_vector(const Eigen::MatrixBase<Derived>& x) {
  const Vector plain = x;
  return new_vector(plain.data(), static_cast<std::size_t>(plain.size()));
}
// In C order, as numpy users expect.
template <class Derived>
NewMatrix new_matrix(const Eigen::MatrixBase<Derived>& x) {
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> plain = x;
  return new_array<NewMatrix>(
      plain.data(), {static_cast<std::size_t>(plain.rows()), static_cast<std::size_t>(plain.cols())});
}

// Bytes seen with a structured dtype: `records` is an array of plain structs that `owner` keeps alive; without an owner they
// are copied. The array cannot be written to.
nb::object structured(const void* records, std::size_t count, std::size_t size, nb::handle dtype,
                      nb::handle owner = {});
// numpy.dtype({"names": ..., "formats": ..., "offsets": ..., "itemsize": ...}).
struct Field {
  const char* name;
  const char* format;  // of numpy, "f8", "3f8"
  std::size_t offset;
};
nb::object structured_dtype(std::initializer_list<Field> fields, std::size_t size);

}  // namespace tribo::python
