// tribo.Problem and tribo.ProblemBuilder.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arrays.h"
#include "module.h"
#include "problem_state.h"
#include "tribo/base/errors.h"
#include "tribo/formats/matrix_problem.h"
#include "tribo/problem/contact_problem_builder.h"

namespace tribo::python {
namespace {

using namespace nb::literals;

std::vector<double> friction_of(nb::handle mu, Index contacts) {
  double one = 0.0;
  if (nb::try_cast<double>(mu, one)) return std::vector<double>(static_cast<std::size_t>(contacts), one);
  const Vector each = to_vector(mu, "mu", contacts);
  return {each.data(), each.data() + each.size()};
}

ContactProblem from_global(nb::handle mass, nb::handle h, nb::handle f, nb::handle w, nb::handle mu) {
  Triplets m = to_triplets(mass, "M");
  Triplets jacobian = to_triplets(h, "H");
  if (m.rows != m.cols)
    throw InvalidInput(fmt::format("M: expected a square matrix, not {} x {}", m.rows, m.cols));
  if (jacobian.rows != m.rows || jacobian.cols % 3 != 0) {
    throw InvalidInput(fmt::format(
        "H: expected {} rows, as many as M has, and three columns per contact (t1, t2, n), not {} x {}",
        m.rows, jacobian.rows, jacobian.cols));
  }
  GlobalMatrices matrices{.dofs = m.rows,
                          .mass = std::move(m.entries),
                          .momentum = to_vector(f, "f", m.rows),
                          .jacobian = std::move(jacobian.entries),
                          .bias = to_vector(w, "w", jacobian.cols),
                          .friction = friction_of(mu, jacobian.cols / 3)};
  const nb::gil_scoped_release release;
  return problem_from_matrices(matrices);
}

ContactProblem from_local(nb::handle w, nb::handle q, nb::handle mu) {
  const Triplets delassus = to_triplets(w, "W");
  if (delassus.rows != delassus.cols || delassus.rows % 3 != 0) {
    throw InvalidInput(
        fmt::format("W: expected a square matrix with three rows per contact (t1, t2, n), not {} x {}",
                    delassus.rows, delassus.cols));
  }
  const Vector free = to_vector(q, "q", delassus.rows);
  const std::vector<double> friction = friction_of(mu, delassus.rows / 3);
  const nb::gil_scoped_release release;
  return problem_from_delassus(delassus.entries, free, friction);
}

Matrix dense_mass(const ContactProblem& problem) {
  const BlockDiagonal& mass = problem.mass();
  Matrix dense = Matrix::Zero(problem.dof_count(), problem.dof_count());
  for (Index t = 0; t < mass.block_count(); ++t)
    dense.block(mass.block_start(t), mass.block_start(t), mass.block_size(t), mass.block_size(t)) =
        mass.block(t);
  return dense;
}

Matrix dense_jacobian(const ContactProblem& problem) {
  const BlockJacobian& j = problem.jacobian();
  Matrix dense = Matrix::Zero(problem.row_count(), problem.dof_count());
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    for (Index p = j.piece_begin(i); p < j.piece_end(i); ++p)
      dense.block(j.row_start(i), j.piece_dof(p), j.rows(i), j.piece_cols(p)) = j.piece(i, p);
  }
  return dense;
}

// (data, indices, indptr), as scipy.sparse.csr_array takes them.
nb::tuple jacobian_csr(const ContactProblem& problem) {
  const BlockJacobian& j = problem.jacobian();
  std::vector<double> data;
  std::vector<Index> indices, starts{0};
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    std::vector<Index> order;
    for (Index p = j.piece_begin(i); p < j.piece_end(i); ++p) order.push_back(p);
    std::sort(order.begin(), order.end(), [&](Index a, Index b) { return j.piece_dof(a) < j.piece_dof(b); });
    for (Index r = 0; r < j.rows(i); ++r) {
      for (const Index p : order) {
        for (Index c = 0; c < j.piece_cols(p); ++c) {
          data.push_back(j.piece(i, p)(r, c));
          indices.push_back(j.piece_dof(p) + c);
        }
      }
      starts.push_back(static_cast<Index>(data.size()));
    }
  }
  return nb::make_tuple(new_vector(data.data(), data.size()),
                        new_array<NewIndices>(indices.data(), {indices.size()}),
                        new_array<NewIndices>(starts.data(), {starts.size()}));
}

nb::tuple mass_csr(const ContactProblem& problem) {
  const BlockDiagonal& mass = problem.mass();
  std::vector<double> data;
  std::vector<Index> indices, starts{0};
  for (Index t = 0; t < mass.block_count(); ++t) {
    for (Index r = 0; r < mass.block_size(t); ++r) {
      for (Index c = 0; c < mass.block_size(t); ++c) {
        data.push_back(mass.block(t)(r, c));
        indices.push_back(mass.block_start(t) + c);
      }
      starts.push_back(static_cast<Index>(data.size()));
    }
  }
  return nb::make_tuple(new_vector(data.data(), data.size()),
                        new_array<NewIndices>(indices.data(), {indices.size()}),
                        new_array<NewIndices>(starts.data(), {starts.size()}));
}

// The file's own W where there is one, J A^-1 J^T otherwise.
Matrix dense_delassus(const ContactProblem& problem) {
  if (problem.has_delassus()) return problem.delassus().to_dense();
  Matrix x = dense_jacobian(problem).transpose();
  for (Index c = 0; c < x.cols(); ++c) problem.mass_factor().solve_lower_in_place(x.col(c));
  return x.transpose() * x;
}

template <class Number, class Get>
std::vector<Number> per_constraint(const ContactProblem& problem, const Get& get) {
  std::vector<Number> values;
  values.reserve(static_cast<std::size_t>(problem.constraint_count()));
  for (Index i = 0; i < problem.constraint_count(); ++i) values.push_back(get(i));
  return values;
}

template <class Get>
NewVector numbers_per_constraint(const ContactProblem& problem, const Get& get) {
  const auto values = per_constraint<double>(problem, get);
  return new_vector(values.data(), values.size());
}

std::string describe(const ContactProblem& p) {
  return fmt::format("tribo.Problem({} contact{}, {} constraint{}, {} rows, {} dofs in {} tree{}{})",
                     p.contact_count(), p.contact_count() == 1 ? "" : "s", p.constraint_count(),
                     p.constraint_count() == 1 ? "" : "s", p.row_count(), p.dof_count(), p.tree_count(),
                     p.tree_count() == 1 ? "" : "s", p.has_delassus() ? ", Delassus form" : "");
}

}  // namespace

void bind_problem(nb::module_& m) {
  using P = ContactProblem;
  nb::class_<P>(m, "Problem", R"(One time step with contacts: find v, impulses λ and velocities u with

    A v = b + Jᵀ λ,   u = J v + e,   (u + R λ, λ) in the set of every constraint

A mass matrix [kg], b momentum [N s], J Jacobian, e bias [m/s], R compliance [m/s per N s]. Contacts have the rows
(t1, t2, n). A problem does not change; its arrays are views that cannot be written to.

`Problem(M, H, f, w, mu)` takes the global form of FCLIB, M v = H r + f, u = Hᵀ v + w, with numpy arrays or
scipy.sparse matrices: M (n, n), H (n, 3 contacts), f (n,), w (3 contacts,), mu a number or (contacts,). All
constraints are contacts with rows (t1, t2, n), the normal last. Other kinds: ProblemBuilder.

Example::

    problem = tribo.Problem(2.0 * np.eye(3), np.eye(3), [1.0, 0.0, -2.0], np.zeros(3), 0.4)
    solution, report = tribo.solve(problem))")
      .def(
          "__init__",
          [](P* self, nb::handle mass, nb::handle h, nb::handle f, nb::handle w, nb::handle mu) {
            new (self) P(from_global(mass, h, f, w, mu));
          },
          "M"_a, "H"_a, "f"_a, "w"_a, "mu"_a,
          nb::sig("def __init__(self, M: typing.Any, H: typing.Any, f: numpy.typing.ArrayLike, w: "
                  "numpy.typing.ArrayLike, "
                  "mu: float | numpy.typing.ArrayLike) -> None"))
      .def_static("local", &from_local, "W"_a, "q"_a, "mu"_a,
                  nb::sig("def local(W: typing.Any, q: numpy.typing.ArrayLike, mu: float | "
                          "numpy.typing.ArrayLike) -> Problem"),
                  "A problem in Delassus form, u = W λ + q: W (3 contacts, 3 contacts) numpy or "
                  "scipy.sparse, m/s per N s, "
                  "may be unsymmetric; q (3 contacts,) m/s; mu a number or (contacts,). Rows (t1, t2, n).")
      .def_prop_ro("contacts", &P::contact_count, "Number of contacts.")
      .def_prop_ro("constraints", &P::constraint_count, "Number of constraints of all kinds.")
      .def_prop_ro("rows", &P::row_count, "Number of rows of J.")
      .def_prop_ro("dofs", &P::dof_count,
                   "Number of degrees of freedom, those of mass, momentum and jacobian: of a sparse tree the "
                   "coordinates "
                   "that solvers see, one per degree of freedom that constraints touch.")
      .def_prop_ro("full_dofs", &P::full_dof_count,
                   "Number of degrees of freedom as the trees were given, entries of a generalized velocity.")
      .def_prop_ro("trees", &P::tree_count, "Number of trees, blocks of the mass matrix.")
      .def_prop_ro(
          "mass", [](const P& p) { return new_matrix(dense_mass(p)); },
          "A as a dense (dofs, dofs) array, made when asked for, kg and kg m².", nb::rv_policy::automatic)
      .def_prop_ro(
          "jacobian", [](const P& p) { return new_matrix(dense_jacobian(p)); },
          "J as a dense (rows, dofs) array, made when asked for. Contacts with friction coefficients per row "
          "stand in "
          "stored rows, see row_unit.",
          nb::rv_policy::automatic)
      .def("mass_csr", &mass_csr,
           nb::sig("def mass_csr(self) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]"),
           "A as (data, indices, indptr), which scipy.sparse.csr_array takes with shape (dofs, dofs).")
      .def("jacobian_csr", &jacobian_csr,
           nb::sig("def jacobian_csr(self) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]"),
           "J as (data, indices, indptr), which scipy.sparse.csr_array takes with shape (rows, dofs).")
      .def(
          "delassus", [](const P& p) { return new_matrix(dense_delassus(p)); },
          "W (rows, rows): the given one in Delassus form, otherwise J A⁻¹ Jᵀ; m/s per N s.")
      .def_prop_ro("is_delassus", &P::has_delassus, "Whether the problem was given by W and q.")
      .def_prop_ro(
          "momentum", [](nb::pointer_and_handle<P> p) { return view_of(p.p->momentum(), p.h); },
          "b (dofs,), N s.")
      .def_prop_ro(
          "bias", [](nb::pointer_and_handle<P> p) { return view_of(p.p->bias(), p.h); }, "e (rows,), m/s.")
      .def_prop_ro(
          "compliance", [](nb::pointer_and_handle<P> p) { return view_of(p.p->compliance(), p.h); },
          "R (rows,), m/s per N s; 0 is rigid.")
      .def_prop_ro(
          "free_velocity", [](nb::pointer_and_handle<P> p) { return view_of(p.p->free_velocity(), p.h); },
          "q = J A⁻¹ b + e (rows,): the velocities without impulses, m/s.")
      .def_prop_ro(
          "friction",
          [](const P& p) { return numbers_per_constraint(p, [&](Index i) { return p.friction(i); }); },
          "Coulomb's coefficient of every constraint (constraints,); 0 of those that are no contacts, 1 of "
          "contacts "
          "with a coefficient per row, which coefficients() has.",
          nb::rv_policy::automatic)
      .def(
          "coefficients",
          [](const P& p, Index i) {
            if (i < 0 || i >= p.constraint_count()) throw nb::index_error("there is no such constraint");
            const std::span<const double> c = p.coefficients(i);
            return new_vector(c.data(), c.size());
          },
          "constraint"_a, "Friction per tangential row of a contact that has such; empty for all others.")
      .def_prop_ro(
          "kinds",
          [](const P& p) {
            return per_constraint<std::string>(p, [&](Index i) { return std::string(to_string(p.kind(i))); });
          },
          "\"contact\", \"unilateral\", \"bilateral\" or \"box\" for every constraint.")
      .def_prop_ro(
          "lower", [](const P& p) { return numbers_per_constraint(p, [&](Index i) { return p.lower(i); }); },
          "Least impulse of every constraint, of contacts that of the normal, N s.", nb::rv_policy::automatic)
      .def_prop_ro(
          "upper", [](const P& p) { return numbers_per_constraint(p, [&](Index i) { return p.upper(i); }); },
          "Largest impulse of every constraint, of contacts that of the normal, N s.",
          nb::rv_policy::automatic)
      .def_prop_ro(
          "keys",
          [](const P& p) {
            const auto keys = per_constraint<std::uint64_t>(p, [&](Index i) { return p.key(i); });
            return new_array<NewKeys>(keys.data(), {keys.size()});
          },
          "Persistent names of the constraints, for warm starts.", nb::rv_policy::automatic)
      .def_prop_ro(
          "first_row",
          [](const P& p) {
            auto rows = per_constraint<Index>(p, [&](Index i) { return p.row(i); });
            rows.push_back(p.row_count());
            return new_array<NewIndices>(rows.data(), {rows.size()});
          },
          "Where the rows of every constraint begin (constraints + 1,).", nb::rv_policy::automatic)
      .def_prop_ro(
          "row_unit",
          [](const P& p) {
            Vector units(p.row_count());
            for (Index r = 0; r < p.row_count(); ++r) units[r] = p.row_unit(r);
            return new_vector(units);
          },
          "Physical impulse over the stored one (rows,): 1, except in contacts with a coefficient per row, "
          "which are "
          "stored in rows in which their cone is round. jacobian, bias, free_velocity and delassus() are of "
          "stored "
          "rows; Solution and warm starts are physical.",
          nb::rv_policy::automatic)
      .def("__eq__",
           [](const P& a, nb::handle b) { return nb::isinstance<P>(b) && a == nb::cast<const P&>(b); })
      .def("__repr__", &describe)
      .def(
          "_repr_html_",
          [](nb::handle self) { return nb::module_::import_("tribo._display").attr("problem_html")(self); },
          nb::sig("def _repr_html_(self) -> str"))
      .def("__getstate__", &state_of)
      .def("__setstate__", [](P& p, const nb::tuple& state) { new (&p) P(problem_of(state)); });
  m.attr("Problem").attr("__hash__") = nb::none();  // equal problems need not be the same object
  bind_problem_builder(m);
}

}  // namespace tribo::python
