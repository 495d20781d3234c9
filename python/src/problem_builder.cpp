// tribo.ProblemBuilder.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>

#include "arrays.h"
#include "module.h"
#include "tribo/base/errors.h"
#include "tribo/problem/contact_problem_builder.h"

namespace tribo::python {
namespace {

using namespace nb::literals;

// A block of a scalar row may be one-dimensional.
Matrix block_of(nb::handle block, Index rows, const std::string& argument) {
  if (rows == 1 && nb::cast<Index>(nb::module_::import_("numpy").attr("ndim")(block)) == 1)
    return to_vector(block, argument.c_str()).transpose();
  return to_matrix(block, argument.c_str());
}

// {tree: block}: a block has as many columns as the tree has dofs; of a sparse tree {first dof: block}.
std::vector<JacobianPiece> pieces_of(nb::handle blocks, Index rows) {
  nb::dict pieces_given;
  if (!nb::try_cast<nb::dict>(blocks, pieces_given)) {
    throw nb::type_error(fmt::format("blocks: expected a dict {{tree: Jacobian}}, not {}",
                                     nb::cast<std::string>(blocks.type().attr("__name__")))
                             .c_str());
  }
  std::vector<JacobianPiece> pieces;
  for (const auto [tree, block] : pieces_given) {
    Index number = -1;
    if (!nb::try_cast<Index>(tree, number))
      throw nb::type_error("blocks: trees are the integers that add_tree() returned");
    const std::string argument = fmt::format("block of tree {}", number);
    nb::dict columns;
    if (!nb::try_cast<nb::dict>(block, columns)) {
      pieces.push_back({number, block_of(block, rows, argument)});
      continue;
    }
    for (const auto [first, part] : columns) {
      Index first_dof = -1;
      if (!nb::try_cast<Index>(first, first_dof))
        throw nb::type_error((argument + ": the keys are the first degrees of freedom, integers").c_str());
      pieces.push_back({number, block_of(part, rows, argument), {}, first_dof});
    }
  }
  return pieces;
}

Eigen::SparseMatrix<double> to_sparse(nb::handle mass) {
  const Triplets triplets = to_triplets(mass, "mass");
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(triplets.entries.size());
  for (const ScalarTriplet& entry : triplets.entries) entries.emplace_back(entry.row, entry.col, entry.value);
  Eigen::SparseMatrix<double> matrix(triplets.rows, triplets.cols);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

std::uint64_t key_of(std::optional<std::uint64_t> key) {
  return key.value_or(ContactProblemBuilder::kAutomaticKey);
}

Vector rows_or_zero(nb::handle value, const char* argument, Index rows) {
  return value.is_none() ? Vector::Zero(rows).eval() : to_vector(value, argument, rows);
}

Index add_contact(ContactProblemBuilder& builder, nb::handle mu, nb::handle blocks, nb::handle bias,
                  nb::handle compliance, std::optional<std::uint64_t> key) {
  double friction = 0.0;
  if (nb::try_cast<double>(mu, friction)) {
    const Vec3 e = rows_or_zero(bias, "bias", 3), r = rows_or_zero(compliance, "compliance", 3);
    return builder.add_contact(friction, pieces_of(blocks, 3), e, r, key_of(key));
  }
  const Vector coefficients = to_vector(mu, "mu");
  const Index rows = static_cast<Index>(coefficients.size()) + 1;
  if (rows != 3 && rows != 4 && rows != 6) {
    throw InvalidInput(fmt::format(
        "mu: expected a number or 2 (sliding), 3 (and torsion) or 5 (and rolling) coefficients, not {}",
        rows - 1));
  }
  const Vector e = rows_or_zero(bias, "bias", rows), r = rows_or_zero(compliance, "compliance", rows);
  const auto span = [](const Vector& x) { return std::span(x.data(), static_cast<std::size_t>(x.size())); };
  return builder.add_elliptic_contact(span(coefficients), pieces_of(blocks, rows), span(e), span(r),
                                      key_of(key));
}

}  // namespace

void bind_problem_builder(nb::module_& m) {
  nb::class_<ContactProblemBuilder>(
      m, "ProblemBuilder", R"(Collects a problem piece by piece: trees, then constraints of every kind.

Example: a 2 kg ball hits the ground at 1 m/s while moving sideways at 0.5 m/s::

    builder = tribo.ProblemBuilder()
    ball = builder.add_tree(2.0 * np.eye(3), [1.0, 0.0, -2.0])   # mass, momentum
    builder.add_contact(0.4, {ball: np.eye(3)})                  # friction, Jacobian
    problem = builder.build())")
      .def(nb::init<>())
      .def(
          "add_tree",
          [](ContactProblemBuilder& builder, nb::handle mass, nb::handle momentum) {
            const Matrix a = to_matrix(mass, "mass");
            return builder.add_tree(a, to_vector(momentum, "momentum", static_cast<Index>(a.rows())));
          },
          "mass"_a, "momentum"_a,
          nb::sig(
              "def add_tree(self, mass: numpy.typing.ArrayLike, momentum: numpy.typing.ArrayLike) -> int"),
          "Adds a tree (a free body, an arm): its mass matrix A (n, n), kg and kg m^2, and its free momentum "
          "b = A v + h "
          "forces (n,), N s. Returns its number.")
      .def(
          "add_sparse_tree",
          [](ContactProblemBuilder& builder, nb::handle mass, nb::handle momentum) {
            return builder.add_sparse_tree(to_sparse(mass), to_vector(momentum, "momentum"));
          },
          "mass"_a, "momentum"_a,
          nb::sig("def add_sparse_tree(self, mass: typing.Any, momentum: numpy.typing.ArrayLike) -> int"),
          "Adds a tree with a large sparse mass matrix (a flexible body): scipy.sparse (n, n), the whole "
          "matrix or one "
          "triangle. In the `blocks` of constraints it stands with the columns that they touch: {tree: "
          "{first dof: "
          "Jacobian of some columns}}. Returns its number.")
      .def("add_contact", &add_contact, "mu"_a, "blocks"_a, "bias"_a = nb::none(),
           "compliance"_a = nb::none(), "key"_a = nb::none(),
           nb::sig("def add_contact(self, mu: float | numpy.typing.ArrayLike, blocks: dict[int, "
                   "numpy.typing.ArrayLike], "
                   "bias: numpy.typing.ArrayLike | None = None, compliance: numpy.typing.ArrayLike | None = "
                   "None, key: "
                   "int | None = None) -> int"),
           "Adds a contact with friction. `mu`: Coulomb's coefficient, or one per tangential row: 2 "
           "(sliding), 3 (and "
           "torsion, m), 5 (and rolling, m). `blocks`: {tree: Jacobian}, rows (t1, t2, n), or (t1, t2, "
           "torsion, n), (t1, t2, "
           "torsion, rolling1, rolling2, n). `bias` e, m/s; `compliance` R, m/s per N s, both per row. `key` "
           "names the "
           "constraint for warm starts. Returns its number.")
      .def(
          "add_unilateral",
          [](ContactProblemBuilder& b, nb::handle blocks, double bias, double compliance,
             std::optional<std::uint64_t> key) {
            return b.add_unilateral(pieces_of(blocks, 1), bias, compliance, key_of(key));
          },
          "blocks"_a, "bias"_a = 0.0, "compliance"_a = 0.0, "key"_a = nb::none(),
          nb::sig("def add_unilateral(self, blocks: dict[int, numpy.typing.ArrayLike], bias: float = 0.0, "
                  "compliance: "
                  "float = 0.0, key: int | None = None) -> int"),
          "Adds a row that only pushes: impulse >= 0, velocity >= 0, one of them 0. A joint limit.")
      .def(
          "add_bilateral",
          [](ContactProblemBuilder& b, nb::handle blocks, double bias, double compliance,
             std::optional<std::uint64_t> key) {
            return b.add_bilateral(pieces_of(blocks, 1), bias, compliance, key_of(key));
          },
          "blocks"_a, "bias"_a = 0.0, "compliance"_a = 0.0, "key"_a = nb::none(),
          nb::sig("def add_bilateral(self, blocks: dict[int, numpy.typing.ArrayLike], bias: float = 0.0, "
                  "compliance: "
                  "float = 0.0, key: int | None = None) -> int"),
          "Adds a row whose velocity is zero: a loop of a mechanism.")
      .def(
          "add_box",
          [](ContactProblemBuilder& b, double lower, double upper, nb::handle blocks, double bias,
             double compliance, std::optional<std::uint64_t> key) {
            return b.add_box(lower, upper, pieces_of(blocks, 1), bias, compliance, key_of(key));
          },
          "lower"_a, "upper"_a, "blocks"_a, "bias"_a = 0.0, "compliance"_a = 0.0, "key"_a = nb::none(),
          nb::sig("def add_box(self, lower: float, upper: float, blocks: dict[int, numpy.typing.ArrayLike], "
                  "bias: float = "
                  "0.0, compliance: float = 0.0, key: int | None = None) -> int"),
          "Adds a row whose impulse stays in [lower, upper], N s, and opposes its velocity at a bound: dry "
          "friction, a motor.")
      .def("build", &ContactProblemBuilder::build,
           "Checks everything and returns the Problem; the builder is empty afterwards.")
      .def(
          "__reduce__",
          [](nb::handle) -> nb::object {
            throw nb::type_error("a ProblemBuilder cannot be pickled: build() the Problem and pickle that");
          },
          nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
}

}  // namespace tribo::python
