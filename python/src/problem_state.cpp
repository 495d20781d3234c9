#include "problem_state.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "tribo/base/errors.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/problem/sparse_trees.h"

namespace tribo::python {
namespace {

constexpr int kFormat = 1;

nb::object array_of(const Matrix& m) { return nb::cast(new_matrix(m)); }

nb::tuple tree_state(const ContactProblem& problem, Index t) {
  const BlockDiagonal& mass = problem.mass();
  if (problem.is_sparse(t)) {
    const SparseTrees& trees = problem.sparse_trees();
    const SparseTree& tree = *trees.find(t);
    const LowerColumns lower = tree.mass->lower();
    const auto indices = [](std::span<const Index> x) { return new_array<NewIndices>(x.data(), {x.size()}); };
    return nb::make_tuple(nb::make_tuple(new_vector(lower.value.data(), lower.value.size()),
                                         indices(lower.row), indices(lower.start)),
                          new_vector(trees.momentum().segment(tree.first, tree.dofs())), nb::none());
  }
  const Articulation* articulation = problem.structure().articulation(t);
  nb::object structure = nb::none();
  if (articulation != nullptr) {
    nb::list parent;
    for (const Index p : articulation->parent) parent.append(p);
    structure = nb::make_tuple(parent, array_of(articulation->motion));
  }
  return nb::make_tuple(array_of(mass.block(t)),
                        new_vector(problem.momentum().segment(mass.block_start(t), mass.block_size(t))),
                        structure);
}

nb::tuple piece_state(const ContactProblem& problem, Index i, Index p) {
  const BlockJacobian& jacobian = problem.jacobian();
  const TreeStructure& structure = problem.structure();
  nb::list bodies;
  for (Index term = structure.term_begin(p); term < structure.term_end(p); ++term) {
    bodies.append(nb::make_tuple(structure.term_dof(term), array_of(structure.term(term, problem.rows(i)))));
  }
  return nb::make_tuple(jacobian.piece_tree(p), array_of(jacobian.piece(i, p)), bodies);
}

// Those of a sparse tree, with the degree of freedom that each begins with; one without entries where there are none.
void add_sparse_pieces(const ContactProblem& problem, Index i, Index tree, nb::list& pieces) {
  const SparseTrees& trees = problem.sparse_trees();
  const BlockJacobian& jacobian = trees.jacobian();
  bool any = false;
  const auto add = [&](const Matrix& block, Index first_dof) {
    pieces.append(nb::make_tuple(tree, array_of(block), nb::list(), first_dof));
    any = true;
  };
  for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
    const SparseTree& sparse = trees.trees()[jacobian.piece_tree(p)];
    if (sparse.tree == tree) add(jacobian.piece(i, p), jacobian.piece_dof(p) - sparse.first);
  }
  if (!any) add(Matrix::Zero(problem.rows(i), 1), 0);
}

nb::tuple constraint_state(const ContactProblem& problem, Index i) {
  nb::list pieces;
  for (Index p = problem.jacobian().piece_begin(i); p < problem.jacobian().piece_end(i); ++p)
    if (!problem.is_sparse(problem.jacobian().piece_tree(p))) {
      pieces.append(piece_state(problem, i, p));
    } else {
      add_sparse_pieces(problem, i, problem.jacobian().piece_tree(p), pieces);
    }
  const Index row = problem.row(i), rows = problem.rows(i);
  nb::object unit = nb::none();
  if (problem.kind(i) == ConstraintKind::contact && !problem.coefficients(i).empty())
    unit = nb::cast(new_vector(problem.row_units(row), static_cast<std::size_t>(rows)));
  return nb::make_tuple(static_cast<int>(problem.kind(i)), problem.friction(i), problem.lower(i),
                        problem.upper(i), problem.key(i), unit, new_vector(problem.bias().segment(row, rows)),
                        new_vector(problem.compliance().segment(row, rows)), pieces);
}

std::vector<JacobianPiece> pieces_of(nb::handle list) {
  std::vector<JacobianPiece> pieces;
  for (const nb::handle item : nb::cast<nb::list>(list)) {
    JacobianPiece piece{nb::cast<Index>(item[0]), to_matrix(item[1], "piece")};
    for (const nb::handle body : nb::cast<nb::list>(item[2]))
      piece.bodies.push_back({nb::cast<Index>(body[0]), to_matrix(body[1], "body")});
    if (nb::len(item) > 3) piece.first_dof = nb::cast<Index>(item[3]);
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

// The lower triangle by columns: data, indices, starts.
Eigen::SparseMatrix<double> sparse_of(nb::handle state) {
  const Vector data = to_vector(state[0], "mass");
  const auto row = nb::cast<std::vector<Index>>(state[1]), start = nb::cast<std::vector<Index>>(state[2]);
  const auto size = static_cast<Index>(start.size()) - 1;
  const auto entries = static_cast<Index>(row.size());
  if (size < 1 || data.size() != entries || start.front() != 0 || start.back() != entries)
    throw InvalidInput("state: a sparse mass does not fit");
  std::vector<Eigen::Triplet<double>> triplets;
  for (Index c = 0; c < size; ++c) {
    for (Index p = start[c]; p < start[c + 1]; ++p) {
      if (p < 0 || p >= entries || row[p] < c || row[p] >= size)
        throw InvalidInput("state: a sparse mass does not fit");
      triplets.emplace_back(row[p], c, data[p]);
    }
  }
  Eigen::SparseMatrix<double> mass(size, size);
  mass.setFromTriplets(triplets.begin(), triplets.end());
  return mass;
}

void add_tree(ContactProblemBuilder& builder, nb::handle state) {
  if (nb::isinstance<nb::tuple>(state[0])) {
    builder.add_sparse_tree(sparse_of(state[0]), to_vector(state[1], "momentum"));
    return;
  }
  const Index tree = builder.add_tree(to_matrix(state[0], "mass"), to_vector(state[1], "momentum"));
  const nb::object structure = state[2];
  if (structure.is_none()) return;
  Articulation articulation;
  for (const nb::handle parent : nb::cast<nb::list>(structure[0]))
    articulation.parent.push_back(nb::cast<Index>(parent));
  articulation.motion = to_matrix(structure[1], "motion");
  builder.set_articulation(tree, std::move(articulation));
}

void add_constraint(ContactProblemBuilder& builder, nb::handle state) {
  const auto kind = static_cast<ConstraintKind>(nb::cast<int>(state[0]));
  const double friction = nb::cast<double>(state[1]), lower = nb::cast<double>(state[2]),
               upper = nb::cast<double>(state[3]);
  const auto key = nb::cast<std::uint64_t>(state[4]);
  const nb::object unit = state[5];
  const Vector bias = to_vector(state[6], "bias"), compliance = to_vector(state[7], "compliance");
  if (bias.size() < 1 || compliance.size() != bias.size()) throw InvalidInput("state: rows do not fit");
  const std::vector<JacobianPiece> pieces = pieces_of(state[8]);
  const auto span = [](const Vector& x) { return std::span(x.data(), static_cast<std::size_t>(x.size())); };
  if (!unit.is_none()) {
    const Vector units = to_vector(unit, "unit", static_cast<Index>(bias.size()));
    builder.add_scaled_contact(span(units), pieces, span(bias), span(compliance), key);
  } else if (kind == ConstraintKind::contact) {
    if (bias.size() != 3) throw InvalidInput("state: a contact has three rows");
    builder.add_contact(friction, pieces, bias, compliance, key);
  } else if (kind == ConstraintKind::unilateral) {
    builder.add_unilateral(pieces, bias[0], compliance[0], key);
  } else if (kind == ConstraintKind::bilateral) {
    builder.add_bilateral(pieces, bias[0], compliance[0], key);
  } else {
    builder.add_box(lower, upper, pieces, bias[0], compliance[0], key);
  }
}

nb::tuple delassus_state(const BlockMatrix& w) {
  nb::list starts, blocks;
  for (const Index start : w.starts()) starts.append(start);
  for (Index g = 0; g < w.group_count(); ++g) {
    for (Index k = w.row_begin(g); k < w.row_end(g); ++k)
      blocks.append(nb::make_tuple(g, w.column(k), array_of(w.block(g, k))));
  }
  return nb::make_tuple(starts, blocks);
}

BlockMatrix delassus_of(nb::handle state) {
  std::vector<Index> starts;
  for (const nb::handle start : nb::cast<nb::list>(state[0])) starts.push_back(nb::cast<Index>(start));
  if (starts.empty()) throw InvalidInput("state: W is empty");
  const auto groups = static_cast<Index>(starts.size()) - 1;
  std::vector<std::vector<Index>> columns(static_cast<std::size_t>(groups));
  std::vector<Matrix> values;
  for (const nb::handle block : nb::cast<nb::list>(state[1])) {
    const Index g = nb::cast<Index>(block[0]), column = nb::cast<Index>(block[1]);
    if (g < 0 || g >= groups || column < 0 || column >= groups) throw InvalidInput("state: W does not fit");
    columns[g].push_back(column);
    values.push_back(to_matrix(block[2], "W"));
  }
  BlockMatrix w = BlockMatrix::from_pattern(starts, columns);
  if (w.block_count() != static_cast<Index>(values.size())) throw InvalidInput("state: W does not fit");
  for (Index g = 0, next = 0; g < groups; ++g) {
    for (Index k = w.row_begin(g); k < w.row_end(g); ++k, ++next) {
      if (values[next].rows() != w.rows(g) || values[next].cols() != w.rows(w.column(k)))
        throw InvalidInput("state: a block of W does not fit");
      w.mutable_block(g, k) = values[next];
    }
  }
  return w;
}

}  // namespace

nb::tuple state_of(const ContactProblem& problem) {
  nb::list trees, constraints;
  for (Index t = 0; t < problem.tree_count(); ++t) trees.append(tree_state(problem, t));
  for (Index i = 0; i < problem.constraint_count(); ++i) constraints.append(constraint_state(problem, i));
  nb::object delassus = nb::none();
  if (problem.has_delassus()) delassus = delassus_state(problem.delassus());
  return nb::make_tuple(kFormat, trees, constraints, delassus);
}

ContactProblem problem_of(const nb::tuple& state) {
  if (state.size() != 4 || nb::cast<int>(state[0]) != kFormat)
    throw InvalidInput("state: this is not a problem pickled by this version of tribo");
  ContactProblemBuilder builder;
  for (const nb::handle tree : nb::cast<nb::list>(state[1])) add_tree(builder, tree);
  for (const nb::handle constraint : nb::cast<nb::list>(state[2])) add_constraint(builder, constraint);
  if (!nb::object(state[3]).is_none()) builder.set_delassus(delassus_of(state[3]));
  return builder.build();
}

}  // namespace tribo::python
