#include "tribo/formats/fclib_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tribo/base/errors.h"
#include "tribo/formats/assembly.h"
#include "tribo/formats/fclib_writer.h"
#include "tribo/formats/hdf5_reader.h"

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

// A matrix group that must be rows x cols.
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
    to.entries.push_back({rows != nullptr ? (*rows)[entry.row] : entry.row, cols[entry.col], entry.value});
  }
}

SparseMatrix transposed(SparseMatrix matrix) {
  std::swap(matrix.rows, matrix.cols);
  for (ScalarTriplet& entry : matrix.entries) std::swap(entry.row, entry.col);
  return matrix;
}

std::string problem_group(const Hdf5Reader& file) {
  for (const char* rolling : {"/fclib_global_rolling", "/fclib_local_rolling", "/fclib_rolling"}) {
    if (file.has(rolling))
      file.fail(rolling,
                "holds a problem with rolling friction, which tribo does not read: its cone, a product of "
                "sliding and rolling, is not the elliptic one");
  }
  const bool local = file.has("/fclib_local");
  const bool global = file.has("/fclib_global");
  if (local && global) file.fail("/", "holds both fclib_local and fclib_global; one problem per file");
  if (!local && !global)
    file.fail("/", "holds neither fclib_local nor fclib_global: this is not an FCLIB file");
  return local ? "/fclib_local" : "/fclib_global";
}

Index read_space_dimension(const Hdf5Reader& file, const std::string& name) {
  const std::int64_t dimension = file.integer(name);
  if (dimension == 5) file.fail(name, "is 5: rolling friction is not supported");
  if (dimension != 2 && dimension != 3) file.fail(name, fmt::format("is {}: it must be 2 or 3", dimension));
  return static_cast<Index>(dimension);
}

// The constraints of the file in the order of memory, and where their rows are.
struct Layout {
  Index dimension = 3;
  bool has_tribo = false;  // the file has a /tribo group
  std::vector<ConstraintSpec> constraints;
  RowMap map;
  Vector extra_bias;
};

// Contacts in scaled rows.
void read_row_units(const Hdf5Reader& file, Layout& layout) {
  const auto count = static_cast<Index>(layout.constraints.size());
  const std::vector<Index> rows = file.indices_of_size("/tribo/scaled_rows", count, 0, kMostRows);
  Index total = 0;
  for (Index i = 0; i < count; ++i) {
    const bool allowed = rows[i] == 3 || rows[i] == 4 || rows[i] == 6;
    if (rows[i] != 0 && (!allowed || layout.constraints[i].kind != ConstraintKind::contact)) {
      file.fail("/tribo/scaled_rows",
                fmt::format("is {} for constraint {}: a contact has 3, 4 or 6", rows[i], i));
    }
    total += rows[i];
  }
  const Vector unit = file.reals_of_size("/tribo/row_unit", total);
  Index next = 0;
  for (Index i = 0; i < count; ++i) {
    layout.constraints[i].unit.assign(unit.data() + next, unit.data() + next + rows[i]);
    next += rows[i];
  }
}

// The constraints as /tribo has them: kinds in order, keys, compliance, bounds.
void read_tribo_constraints(const Hdf5Reader& file, Layout& layout) {
  const std::int64_t version = file.integer("/tribo/format_version");
  if (version != kTriboGroupVersion) {
    file.fail("/tribo/format_version",
              fmt::format("is {}: this version of tribo reads {}", version, kTriboGroupVersion));
  }
  const std::vector<std::uint64_t> keys = file.unsigned_integers("/tribo/key");
  const auto count = static_cast<Index>(keys.size());
  const std::vector<Index> kinds = file.indices_of_size("/tribo/kind", count, 0, 3);
  layout.constraints.assign(keys.size(), {});
  for (Index i = 0; i < count; ++i) {
    layout.constraints[i].kind = static_cast<ConstraintKind>(kinds[i]);
    layout.constraints[i].key = keys[i];
  }
  if (file.has("/tribo/scaled_rows")) read_row_units(file, layout);
  layout.map = map_rows(layout.constraints, layout.dimension);
  const auto extra = static_cast<Index>(layout.map.extra.size());
  layout.extra_bias = file.reals_of_size("/tribo/extra/bias", extra);
  const Vector lower = file.reals_of_size("/tribo/extra/lower", extra, true);
  const Vector upper = file.reals_of_size("/tribo/extra/upper", extra, true);
  const Vector compliance = file.reals_of_size("/tribo/compliance", layout.map.rows);
  const std::vector<Index> starts = row_starts(layout.constraints);
  for (Index i = 0, next_extra = 0; i < count; ++i) {
    ConstraintSpec& spec = layout.constraints[i];
    spec.compliance.head(rows_of(spec)) = compliance.segment(starts[i], rows_of(spec));
    next_extra += static_cast<Index>(spec.unit.size());
    if (spec.kind == ConstraintKind::unilateral || spec.kind == ConstraintKind::box) {
      spec.lower = lower[next_extra];
      spec.upper = upper[next_extra++];
    }
  }
}

Layout read_layout(const Hdf5Reader& file, const std::string& group, Index contact_rows,
                   Index bilateral_rows) {
  Layout layout;
  layout.dimension = read_space_dimension(file, group + "/spacedim");
  const Vector friction = file.reals(group + "/vectors/mu");
  const auto contacts = static_cast<Index>(friction.size());
  if (contact_rows % layout.dimension != 0 || contact_rows / layout.dimension != contacts) {
    file.fail(group + "/vectors/mu",
              fmt::format("has {} values: {} contact rows in dimension {} need {}", contacts, contact_rows,
                          layout.dimension, contact_rows / layout.dimension));
  }
  layout.has_tribo = file.has("/tribo");
  if (layout.has_tribo) {
    read_tribo_constraints(file, layout);
  } else {
    ConstraintSpec bilateral;
    bilateral.kind = ConstraintKind::bilateral;
    layout.constraints.assign(contacts, {});
    layout.constraints.insert(layout.constraints.end(), bilateral_rows, bilateral);
    layout.map = map_rows(layout.constraints, layout.dimension);
    layout.extra_bias.resize(0);
  }
  if (layout.map.contact.size() != static_cast<std::size_t>(contact_rows) ||
      layout.map.bilateral.size() != static_cast<std::size_t>(bilateral_rows)) {
    file.fail("/tribo/kind", "does not list the contacts and bilateral rows that the file has");
  }
  Index next = 0;
  for (ConstraintSpec& spec : layout.constraints) {
    if (spec.kind == ConstraintKind::contact && spec.unit.empty()) spec.friction = friction[next++];
  }
  return layout;
}

// Trees and the trees that every constraint touches, as written by tribo.
void read_partition(const Hdf5Reader& file, const std::string& group, PrimalParts& parts) {
  const auto count = static_cast<Index>(parts.constraints.size());
  const Index most = std::numeric_limits<Index>::max();
  parts.tree_sizes = file.indices(group + "/tree_sizes", 1, most);
  parts.piece_count = file.indices_of_size(group + "/piece_count", count, 0, most);
  parts.piece_tree = file.indices(group + "/piece_tree", 0, most);
}

ContactProblem read_global(const Hdf5Reader& file, const std::string& group, Layout& layout) {
  const std::string vectors = group + "/vectors";
  PrimalParts parts;
  parts.momentum = file.reals(vectors + "/f");
  const Vector w = file.reals(vectors + "/w");
  const bool bilateral = file.has(group + "/G");
  const Vector b = bilateral ? file.reals(vectors + "/b") : Vector(0);
  const auto dofs = static_cast<Index>(parts.momentum.size());
  const auto contact_rows = static_cast<Index>(w.size());
  const auto bilateral_rows = static_cast<Index>(b.size());
  layout = read_layout(file, group, contact_rows, bilateral_rows);

  const RowMap& map = layout.map;
  parts.constraints = layout.constraints;
  parts.body_size = layout.dimension == 3 ? 6 : 3;
  parts.mass = read_matrix(file, group + "/M", dofs, dofs);
  parts.jacobian = {dofs, map.rows, {}};
  append(read_matrix(file, group + "/H", dofs, contact_rows), nullptr, map.contact, parts.jacobian);
  if (bilateral)
    append(read_matrix(file, group + "/G", dofs, bilateral_rows), nullptr, map.bilateral, parts.jacobian);
  parts.bias.setZero(map.rows);
  scatter(w, map.contact, parts.bias);
  scatter(b, map.bilateral, parts.bias);
  if (layout.has_tribo) {
    const auto extra = static_cast<Index>(map.extra.size());
    append(read_matrix(file, "/tribo/extra/J", dofs, extra), nullptr, map.extra, parts.jacobian);
    scatter(layout.extra_bias, map.extra, parts.bias);
    read_partition(file, "/tribo", parts);
  }
  return assemble(parts);
}

// W of all rows in memory order: [W V; V^T R], and what only /tribo can say.
SparseMatrix read_delassus(const Hdf5Reader& file, const std::string& group, const Layout& layout) {
  const RowMap& map = layout.map;
  const auto contact_rows = static_cast<Index>(map.contact.size());
  const auto bilateral_rows = static_cast<Index>(map.bilateral.size());
  SparseMatrix delassus{map.rows, map.rows, {}};
  append(read_matrix(file, group + "/W", contact_rows, contact_rows), &map.contact, map.contact, delassus);
  const bool symmetric_coupling = !layout.has_tribo || file.integer("/tribo/extra/symmetric_coupling") != 0;
  if (file.has(group + "/V")) {
    SparseMatrix coupling = read_matrix(file, group + "/V", contact_rows, bilateral_rows);
    append(coupling, &map.contact, map.bilateral, delassus);
    if (symmetric_coupling) append(transposed(std::move(coupling)), &map.bilateral, map.contact, delassus);
    append(read_matrix(file, group + "/R", bilateral_rows, bilateral_rows), &map.bilateral, map.bilateral,
           delassus);
  }
  if (layout.has_tribo) {
    const SparseMatrix extra = read_matrix(file, "/tribo/extra/W", map.rows, map.rows);
    delassus.entries.insert(delassus.entries.end(), extra.entries.begin(), extra.entries.end());
  }
  return delassus;
}

ContactProblem read_local(const Hdf5Reader& file, const std::string& group, Layout& layout) {
  const std::string vectors = group + "/vectors";
  const Vector q = file.reals(vectors + "/q");
  const bool bilateral = file.has(group + "/V") || file.has(group + "/R");
  const Vector s = bilateral ? file.reals(vectors + "/s") : Vector(0);
  layout = read_layout(file, group, static_cast<Index>(q.size()), static_cast<Index>(s.size()));
  if (bilateral && !file.has(group + "/V")) file.fail(group + "/V", "is missing: R needs it");

  DualParts dual;
  dual.constraints = layout.constraints;
  dual.delassus = read_delassus(file, group, layout);
  dual.free_velocity.setZero(layout.map.rows);
  scatter(q, layout.map.contact, dual.free_velocity);
  scatter(s, layout.map.bilateral, dual.free_velocity);
  scatter(layout.extra_bias, layout.map.extra, dual.free_velocity);
  if (!file.has("/tribo/factor")) return assemble(dual);

  PrimalParts parts;
  const Index dofs = static_cast<Index>(file.integer("/tribo/factor/A/m"));
  parts.constraints = std::move(dual.constraints);
  parts.momentum = file.reals("/tribo/factor/b");
  if (parts.momentum.size() != dofs) file.fail("/tribo/factor/b", fmt::format("must have {} values", dofs));
  parts.mass = read_matrix(file, "/tribo/factor/A", dofs, dofs);
  parts.jacobian = read_matrix(file, "/tribo/factor/J", dofs, layout.map.rows);
  parts.bias = std::move(dual.free_velocity);
  parts.delassus = std::move(dual.delassus);
  read_partition(file, "/tribo/factor", parts);
  return assemble(parts);
}

// The impulses of /guesses/1 or /solution in memory order, if they are there.
std::optional<Vector> read_impulse(const Hdf5Reader& file, const std::string& group, const std::string& extra,
                                   const RowMap& map) {
  if (!file.has(group + "/r")) return std::nullopt;
  Vector impulse = Vector::Zero(map.rows);
  scatter(file.reals_of_size(group + "/r", static_cast<Index>(map.contact.size())), map.contact, impulse);
  if (!map.bilateral.empty() && file.has(group + "/l")) {
    scatter(file.reals_of_size(group + "/l", static_cast<Index>(map.bilateral.size())), map.bilateral,
            impulse);
  }
  if (file.has(extra)) {
    scatter(file.reals_of_size(extra, static_cast<Index>(map.extra.size())), map.extra, impulse);
  }
  return impulse;
}

// Many published files have a solution that was never filled in: zeros say nothing without a certificate.
std::optional<Vector> read_solution(const Hdf5Reader& file, const RowMap& map) {
  std::optional<Vector> solution = read_impulse(file, "/solution", "/tribo/extra/solution", map);
  const bool is_filled =
      solution && ((solution->array() != 0.0).any() || file.has("/tribo/solution_certificate"));
  return is_filled ? solution : std::nullopt;
}

}  // namespace

LoadedProblem read_fclib(const std::filesystem::path& path) {
  const Hdf5Reader file(path);
  const std::string group = problem_group(file);
  const bool local = group == "/fclib_local";
  Layout layout;
  ContactProblem problem = local ? read_local(file, group, layout) : read_global(file, group, layout);
  LoadedProblem loaded{std::move(problem)};
  loaded.guess = read_impulse(file, "/guesses/1", "/tribo/extra/guess", layout.map);
  loaded.solution = read_solution(file, layout.map);
  loaded.format = fmt::format("FCLIB {}, {}", local ? "local" : "global",
                              to_string(storage_of(file, group + (local ? "/W" : "/M"))));
  loaded.space_dimension = layout.dimension;
  loaded.title = file.text(group + "/info/title");
  loaded.description = file.text(group + "/info/description");
  return loaded;
}

}  // namespace tribo::detail
