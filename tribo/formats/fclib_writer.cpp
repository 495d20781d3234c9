#include "tribo/formats/fclib_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "tribo/base/errors.h"
#include "tribo/formats/assembly.h"
#include "tribo/formats/full_form.h"
#include "tribo/formats/hdf5_writer.h"
#include "tribo/problem/certificate.h"
#include "tribo/problem/lift.h"
#include "tribo/problem/sparse_trees.h"

namespace tribo::detail {
namespace {

// Which matrix of the file a row belongs to, and which row of it.
enum class Part { contact, bilateral, extra };
struct Place {
  Part part = Part::contact;
  Index row = 0;
};

struct Layout {
  std::vector<ConstraintSpec> constraints;
  RowMap map;
  std::vector<Place> place;  // [rows] the inverse of the map
};

Layout layout_of(const ContactProblem& problem) {
  Layout layout;
  layout.constraints.resize(problem.constraint_count());
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    ConstraintSpec& spec = layout.constraints[i];
    spec.kind = problem.kind(i);
    spec.friction = problem.friction(i);
    spec.lower = problem.lower(i);
    spec.upper = problem.upper(i);
    spec.compliance.head(problem.rows(i)) = problem.compliance().segment(problem.row(i), problem.rows(i));
    spec.key = problem.key(i);
    if (problem.coefficients(i).empty()) continue;
    for (Index r = 0; r < problem.rows(i); ++r) spec.unit.push_back(problem.row_unit(problem.row(i) + r));
  }
  layout.map = map_rows(layout.constraints, 3);
  layout.place.resize(layout.map.rows);
  const auto invert = [&](Part part, const std::vector<Index>& rows) {
    for (std::size_t k = 0; k < rows.size(); ++k) layout.place[rows[k]] = {part, static_cast<Index>(k)};
  };
  invert(Part::contact, layout.map.contact);
  invert(Part::bilateral, layout.map.bilateral);
  invert(Part::extra, layout.map.extra);
  return layout;
}

void write_matrix(Hdf5Writer& file, const std::string& group, const SparseMatrix& matrix) {
  const std::size_t count = matrix.entries.size();
  if (count > static_cast<std::size_t>(std::numeric_limits<Index>::max())) {
    throw InvalidInput(fmt::format("{} has {} entries, more than FCLIB can count", group, count));
  }
  std::vector<Index> p(count);
  std::vector<Index> i(count);
  std::vector<double> x(count);
  for (std::size_t k = 0; k < count; ++k) {
    p[k] = matrix.entries[k].col;
    i[k] = matrix.entries[k].row;
    x[k] = matrix.entries[k].value;
  }
  const auto nz = static_cast<Index>(count);
  file.group(group);
  file.integer(group + "/nzmax", nz);
  file.integer(group + "/m", matrix.rows);
  file.integer(group + "/n", matrix.cols);
  file.integer(group + "/nz", nz);
  file.integers(group + "/p", p);
  file.integers(group + "/i", i);
  file.reals(group + "/x", x);
}

void write_partition(Hdf5Writer& file, const std::string& group, const ContactProblem& problem) {
  std::vector<Index> piece_count;
  std::vector<Index> piece_tree;
  const BlockJacobian& jacobian = problem.jacobian();
  piece_count.reserve(problem.constraint_count());
  piece_tree.reserve(jacobian.piece_count());
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    piece_count.push_back(jacobian.piece_end(i) - jacobian.piece_begin(i));
  }
  for (Index p = 0; p < jacobian.piece_count(); ++p) piece_tree.push_back(jacobian.piece_tree(p));
  file.integers(group + "/tree_sizes", full_tree_sizes(problem));
  if (problem.has_sparse_trees()) {
    std::vector<Index> sparse;
    for (const SparseTree& tree : problem.sparse_trees().trees()) sparse.push_back(tree.tree);
    file.integers(group + "/sparse_trees", sparse);
  }
  file.integers(group + "/piece_count", piece_count);
  file.integers(group + "/piece_tree", piece_tree);
}

void write_head(Hdf5Writer& file, const std::string& group, const Layout& layout,
                const WriteOptions& options) {
  file.group(group);
  file.integer(group + "/spacedim", 3);
  file.group(group + "/info");
  file.text(group + "/info/title", options.title);
  file.text(group + "/info/description", options.description);
  file.text(group + "/info/math_info", "");
  std::vector<double> friction;
  for (const ConstraintSpec& spec : layout.constraints) {
    if (spec.kind == ConstraintKind::contact && spec.unit.empty()) friction.push_back(spec.friction);
  }
  file.group(group + "/vectors");
  file.reals(group + "/vectors/mu", friction);
}

void write_tribo(Hdf5Writer& file, const ContactProblem& problem, const Layout& layout) {
  std::vector<Index> kind;
  std::vector<std::uint64_t> key;
  std::vector<double> lower;
  std::vector<double> upper, unit;
  std::vector<Index> scaled_rows;
  for (const ConstraintSpec& spec : layout.constraints) {
    scaled_rows.push_back(static_cast<Index>(spec.unit.size()));
    unit.insert(unit.end(), spec.unit.begin(), spec.unit.end());
    lower.resize(lower.size() + spec.unit.size(),
                 0.0);  // the extra rows of a contact have no bounds of their own
    upper.resize(upper.size() + spec.unit.size(), 0.0);
    kind.push_back(static_cast<Index>(spec.kind));
    key.push_back(spec.key);
    if (spec.kind == ConstraintKind::unilateral || spec.kind == ConstraintKind::box) {
      lower.push_back(spec.lower);
      upper.push_back(spec.upper);
    }
  }
  file.group("/tribo");
  file.integer("/tribo/format_version", kTriboGroupVersion);
  file.integers("/tribo/kind", kind);
  file.unsigned_integers("/tribo/key", key);
  file.reals("/tribo/compliance", problem.compliance());
  if (!unit.empty()) {
    file.integers("/tribo/scaled_rows", scaled_rows);
    file.reals("/tribo/row_unit", unit);
  }
  file.group("/tribo/extra");
  file.reals("/tribo/extra/bias", gather(problem.bias(), layout.map.extra));
  file.reals("/tribo/extra/lower", lower);
  file.reals("/tribo/extra/upper", upper);
}

void write_global(Hdf5Writer& file, const ContactProblem& problem, const Layout& layout,
                  const WriteOptions& options) {
  const Index dofs = problem.full_dof_count();
  const RowMap& map = layout.map;
  SparseMatrix h{dofs, static_cast<Index>(map.contact.size()), {}};
  SparseMatrix g{dofs, static_cast<Index>(map.bilateral.size()), {}};
  SparseMatrix extra{dofs, static_cast<Index>(map.extra.size()), {}};
  for (const ScalarTriplet& entry : full_jacobian(problem).entries) {
    const Place place = layout.place[entry.col];
    SparseMatrix& matrix = place.part == Part::contact ? h : place.part == Part::bilateral ? g : extra;
    matrix.entries.push_back({entry.row, place.row, entry.value});
  }
  write_head(file, "/fclib_global", layout, options);
  write_matrix(file, "/fclib_global/M", full_mass(problem));
  write_matrix(file, "/fclib_global/H", h);
  file.reals("/fclib_global/vectors/f", full_momentum(problem));
  file.reals("/fclib_global/vectors/w", gather(problem.bias(), map.contact));
  if (!map.bilateral.empty()) {
    write_matrix(file, "/fclib_global/G", g);
    file.reals("/fclib_global/vectors/b", gather(problem.bias(), map.bilateral));
  }
  write_tribo(file, problem, layout);
  write_matrix(file, "/tribo/extra/J", extra);
  write_partition(file, "/tribo", problem);
}

// W cut into the matrices of the file. Zeros are kept: they are part of the block pattern.
struct LocalMatrices {
  SparseMatrix w, v, r, rest;
  bool symmetric_coupling = true;
};

// True if the block of a bilateral row and a contact is V^T exactly, in values and in pattern.
bool has_symmetric_coupling(const BlockMatrix& delassus, const std::vector<ConstraintSpec>& constraints) {
  const auto is = [&](Index g, ConstraintKind kind) { return constraints[g].kind == kind; };
  for (Index g = 0; g < delassus.group_count(); ++g) {
    for (Index k = delassus.row_begin(g); k < delassus.row_end(g); ++k) {
      const Index c = delassus.column(k);
      const bool coupling = (is(g, ConstraintKind::bilateral) && is(c, ConstraintKind::contact)) ||
                            (is(g, ConstraintKind::contact) && is(c, ConstraintKind::bilateral));
      if (!coupling) continue;
      Index partner = delassus.row_begin(c);
      while (partner < delassus.row_end(c) && delassus.column(partner) != g) ++partner;
      if (partner == delassus.row_end(c) || delassus.block(c, partner) != delassus.block(g, k).transpose())
        return false;
    }
  }
  return true;
}

LocalMatrices cut_delassus(const BlockMatrix& delassus, const Layout& layout) {
  const auto contact_rows = static_cast<Index>(layout.map.contact.size());
  const auto bilateral_rows = static_cast<Index>(layout.map.bilateral.size());
  LocalMatrices matrices;
  matrices.w = {contact_rows, contact_rows, {}};
  matrices.v = {contact_rows, bilateral_rows, {}};
  matrices.r = {bilateral_rows, bilateral_rows, {}};
  matrices.rest = {layout.map.rows, layout.map.rows, {}};
  matrices.symmetric_coupling = has_symmetric_coupling(delassus, layout.constraints);
  const auto place_entry = [&](Index row, Index col, double value) {
    const Place a = layout.place[row];
    const Place b = layout.place[col];
    if (a.part == Part::contact && b.part == Part::contact) {
      matrices.w.entries.push_back({a.row, b.row, value});
    } else if (a.part == Part::contact && b.part == Part::bilateral) {
      matrices.v.entries.push_back({a.row, b.row, value});
    } else if (a.part == Part::bilateral && b.part == Part::bilateral) {
      matrices.r.entries.push_back({a.row, b.row, value});
    } else if (a.part == Part::extra || b.part == Part::extra || !matrices.symmetric_coupling) {
      matrices.rest.entries.push_back({row, col, value});
    }
  };
  for (Index g = 0; g < delassus.group_count(); ++g) {
    for (Index k = delassus.row_begin(g); k < delassus.row_end(g); ++k) {
      const BlockMatrix::Block block = delassus.block(g, k);
      for (Index r = 0; r < block.rows(); ++r) {
        for (Index c = 0; c < block.cols(); ++c) {
          place_entry(delassus.start(g) + r, delassus.start(delassus.column(k)) + c, block(r, c));
        }
      }
    }
  }
  return matrices;
}

// True if lift() makes this very problem out of its W and q; then A and J need not be stored.
bool is_lifted(const ContactProblem& problem, const Layout& layout) {
  try {
    return lift(problem.delassus(), problem.bias(), layout.constraints) == problem;
  } catch (const InvalidInput&) {
    return false;  // an indefinite W, given to the builder together with A and J
  }
}

void write_local(Hdf5Writer& file, const ContactProblem& problem, const Layout& layout,
                 const WriteOptions& options, bool with_factor) {
  const LocalMatrices matrices = cut_delassus(problem.delassus(), layout);
  write_head(file, "/fclib_local", layout, options);
  write_matrix(file, "/fclib_local/W", matrices.w);
  file.reals("/fclib_local/vectors/q", gather(problem.bias(), layout.map.contact));
  if (!layout.map.bilateral.empty()) {
    write_matrix(file, "/fclib_local/V", matrices.v);
    write_matrix(file, "/fclib_local/R", matrices.r);
    file.reals("/fclib_local/vectors/s", gather(problem.bias(), layout.map.bilateral));
  }
  write_tribo(file, problem, layout);
  write_matrix(file, "/tribo/extra/W", matrices.rest);
  file.integer("/tribo/extra/symmetric_coupling", matrices.symmetric_coupling ? 1 : 0);
  if (!with_factor) return;

  file.group("/tribo/factor");
  write_matrix(file, "/tribo/factor/A", full_mass(problem));
  write_matrix(file, "/tribo/factor/J", full_jacobian(problem));
  file.reals("/tribo/factor/b", problem.momentum());
  write_partition(file, "/tribo/factor", problem);
}

// Impulses and what follows from them; u and v are always recomputed.
Solution complete(const ContactProblem& problem, const Vector& impulse, const char* field) {
  if (impulse.size() != problem.row_count()) {
    throw InvalidInput(fmt::format("{} has {} impulses: the problem has {} rows", field, impulse.size(),
                                   problem.row_count()));
  }
  if (!impulse.allFinite()) throw InvalidInput(fmt::format("{} has impulses that are not finite", field));
  Solution solution;
  solution.impulse = impulse;
  problem.velocity_of(impulse, solution.generalized_velocity, solution.velocity);
  SparseScratch scratch;
  problem.full_velocity_of(impulse, solution.generalized_velocity, scratch);
  return solution;
}

void write_impulse(Hdf5Writer& file, const std::string& group, const std::string& extra,
                   const ContactProblem& problem, const Layout& layout, const Solution& solution) {
  const RowMap& map = layout.map;
  file.group(group);
  if (!problem.has_delassus()) file.reals(group + "/v", solution.generalized_velocity);
  file.reals(group + "/u", gather(solution.velocity, map.contact));
  file.reals(group + "/r", gather(solution.impulse, map.contact));
  if (!map.bilateral.empty()) file.reals(group + "/l", gather(solution.impulse, map.bilateral));
  file.reals(extra, gather(solution.impulse, map.extra));
}

void write_certificate(Hdf5Writer& file, const Certificate& certificate) {
  const std::string group = "/tribo/solution_certificate";
  file.group(group);
  file.real(group + "/error", certificate.error.value);
  file.integer(group + "/worst", certificate.error.constraint);
  file.real(group + "/fclib_error", certificate.fclib_error);
  file.real(group + "/siconos_error", certificate.siconos_error);
  file.real(group + "/momentum", certificate.momentum);
  file.real(group + "/cone_primal", certificate.cone_primal.value);
  file.real(group + "/cone_dual", certificate.cone_dual.value);
  file.real(group + "/complementarity", certificate.complementarity.value);
  file.real(group + "/penetration_velocity", certificate.penetration_velocity.value);
  file.real(group + "/stick_slip_velocity", certificate.stick_slip_velocity.value);
}

}  // namespace

void write_fclib(const std::filesystem::path& path, const ContactProblem& problem,
                 const WriteOptions& options) {
  const Layout layout = layout_of(problem);
  const bool with_factor = problem.has_delassus() && !is_lifted(problem, layout);
  std::optional<Solution> solution;
  std::optional<Solution> guess;
  Certificate certificate;
  if (options.solution != nullptr) {
    solution = complete(problem, options.solution->impulse, "solution");
    certificate = certify(problem, *solution);
    if (!certificate.is_finite()) throw InvalidInput("solution has a certificate that is not finite");
  }
  if (options.guess != nullptr) guess = complete(problem, *options.guess, "guess");

  Hdf5Writer file(path, options.compress);
  if (problem.has_delassus()) {
    write_local(file, problem, layout, options, with_factor);
  } else {
    write_global(file, problem, layout, options);
  }
  if (solution) {
    write_impulse(file, "/solution", "/tribo/extra/solution", problem, layout, *solution);
    write_certificate(file, certificate);
  }
  if (guess) {
    file.group("/guesses");
    file.integer("/guesses/number_of_guesses", 1);
    write_impulse(file, "/guesses/1", "/tribo/extra/guess", problem, layout, *guess);
  }
  file.close();
}

}  // namespace tribo::detail
