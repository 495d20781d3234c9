#include "arrays.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>

#include "tribo/base/errors.h"

namespace tribo::python {
namespace {

using Real = nb::ndarray<const double, nb::device::cpu>;

std::string python_type(nb::handle value) { return nb::cast<std::string>(value.type().attr("__name__")); }

// An array of doubles, converted if necessary.
nb::object as_doubles(nb::handle value, const char* argument) {
  nb::module_ numpy = nb::module_::import_("numpy");
  nb::object array;
  std::string kind;
  try {
    array = numpy.attr("asarray")(value);
    kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ValueError) && !error.matches(PyExc_TypeError)) throw;
    throw nb::type_error(fmt::format("{}: expected an array of numbers, not this {} ({})", argument,
                                     python_type(value), error.what())
                             .c_str());
  }
  if (kind != "f" && kind != "i" && kind != "u" && kind != "b") {
    throw nb::type_error(fmt::format("{}: expected real numbers, not {} of dtype {}", argument,
                                     python_type(value),
                                     nb::cast<std::string>(array.attr("dtype").attr("__str__")()))
                             .c_str());
  }
  return numpy.attr("asarray")(array, numpy.attr("float64"));
}

Real real_array(nb::handle value, const char* argument, std::size_t dimensions) {
  Real array;
  if (!nb::try_cast<Real>(value, array, false) || !array.is_valid()) {
    array = nb::cast<Real>(as_doubles(value, argument));
  }
  if (array.ndim() != dimensions) {
    throw InvalidInput(fmt::format("{}: expected {} dimension{}, not an {}", argument, dimensions,
                                   dimensions == 1 ? "" : "s", shape_of(value)));
  }
  return array;
}

void require_finite(double value, const char* argument, Index row, Index col = -1) {
  if (std::isfinite(value)) return;
  throw InvalidInput(
      col < 0 ? fmt::format("{}: entry {} is {}, it must be finite", argument, row, value)
              : fmt::format("{}: entry ({}, {}) is {}, it must be finite", argument, row, col, value));
}

// Sizes of tribo are of type int.
Index extent(std::size_t size, const char* argument) {
  if (size > static_cast<std::size_t>(std::numeric_limits<Index>::max()))
    throw InvalidInput(fmt::format("{}: {} entries are too many", argument, size));
  return static_cast<Index>(size);
}

Triplets sparse_triplets(nb::handle value, const char* argument) {
  const nb::object coo = value.attr("tocoo")();
  const nb::object shape = coo.attr("shape");
  Triplets result;
  result.rows = nb::cast<Index>(shape[0]);
  result.cols = nb::cast<Index>(shape[1]);
  const Vector data = to_vector(coo.attr("data"), argument);
  const Vector row = to_vector(coo.attr("row"), argument);
  const Vector col = to_vector(coo.attr("col"), argument);
  result.entries.reserve(static_cast<std::size_t>(data.size()));
  for (Index k = 0; k < data.size(); ++k)
    result.entries.push_back({static_cast<Index>(row[k]), static_cast<Index>(col[k]), data[k]});
  return result;
}

}  // namespace

std::string shape_of(nb::handle value) {
  const nb::object shape = nb::module_::import_("numpy").attr("shape")(value);
  return "array of shape " + nb::cast<std::string>(shape.attr("__str__")());
}

Vector to_vector(nb::handle value, const char* argument, Finite finite) {
  const Real array = real_array(value, argument, 1);
  Vector result(extent(array.shape(0), argument));
  for (Index k = 0; k < result.size(); ++k) {
    result[k] = array.data()[k * array.stride(0)];
    if (finite == Finite::yes) require_finite(result[k], argument, k);
  }
  return result;
}

Vector to_vector(nb::handle value, const char* argument, Index size, Finite finite) {
  Vector result = to_vector(value, argument, finite);
  if (result.size() != size) {
    throw InvalidInput(fmt::format("{}: expected {} entr{}, not {}", argument, size, size == 1 ? "y" : "ies",
                                   result.size()));
  }
  return result;
}

Vector to_rows3(nb::handle value, const char* argument, Index rows) {
  const Matrix given = to_matrix(value, argument);
  if (given.rows() != rows || given.cols() != 3) {
    throw InvalidInput(fmt::format("{}: expected shape ({}, 3), not an {}", argument, rows, shape_of(value)));
  }
  return given.transpose().reshaped();
}

Vec3 to_vec3(nb::handle value, const char* argument) { return to_vector(value, argument, 3); }

Matrix to_matrix(nb::handle value, const char* argument) {
  if (nb::hasattr(value, "tocoo")) {
    const Triplets sparse = to_triplets(value, argument);
    Matrix result = Matrix::Zero(sparse.rows, sparse.cols);
    for (const ScalarTriplet& entry : sparse.entries) result(entry.row, entry.col) += entry.value;
    return result;
  }
  const Real array = real_array(value, argument, 2);
  Matrix result(extent(array.shape(0), argument), extent(array.shape(1), argument));
  for (Index c = 0; c < result.cols(); ++c) {
    for (Index r = 0; r < result.rows(); ++r) {
      result(r, c) = array.data()[r * array.stride(0) + c * array.stride(1)];
      require_finite(result(r, c), argument, r, c);
    }
  }
  return result;
}

double to_number(nb::handle value, const char* argument) {
  double number = 0.0;
  if (nb::try_cast<double>(value, number)) return number;
  throw nb::type_error(fmt::format("{}: expected a number, not {}", argument, python_type(value)).c_str());
}

Triplets to_triplets(nb::handle value, const char* argument) {
  if (nb::hasattr(value, "tocoo")) return sparse_triplets(value, argument);
  const Matrix dense = to_matrix(value, argument);
  Triplets result{.rows = static_cast<Index>(dense.rows()), .cols = static_cast<Index>(dense.cols())};
  for (Index r = 0; r < result.rows; ++r) {
    for (Index c = 0; c < result.cols; ++c) {
      if (dense(r, c) != 0.0) result.entries.push_back({r, c, dense(r, c)});
    }
  }
  return result;
}

nb::object structured(const void* records, std::size_t count, std::size_t size, nb::handle dtype,
                      nb::handle owner) {
  using Bytes = nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>, nb::c_contig>;
  // numpy has no place for the address of nothing.
  static const std::uint8_t none = 0;
  const std::size_t bytes = count * size;
  const auto* data = static_cast<const std::uint8_t*>(records);
  nb::object array;
  if (bytes == 0) {
    array = nb::module_::import_("numpy").attr("empty")(0, "u1");
  } else if (owner.is_valid()) {
    array = nb::cast(Bytes(data ? data : &none, {bytes}, owner));
  } else {
    array = nb::cast(new_array<Bytes>(data, {bytes}));
  }
  return array.attr("view")(dtype);
}

nb::object structured_dtype(std::initializer_list<Field> fields, std::size_t size) {
  nb::list names, formats, offsets;
  for (const Field& field : fields) {
    names.append(nb::str(field.name));
    formats.append(nb::str(field.format));
    offsets.append(nb::int_(field.offset));
  }
  nb::dict description;
  description["names"] = names;
  description["formats"] = formats;
  description["offsets"] = offsets;
  description["itemsize"] = nb::int_(size);
  return nb::module_::import_("numpy").attr("dtype")(description);
}

}  // namespace tribo::python
