#include "tribo/formats/fclib_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "tribo/base/errors.h"
#include "tribo/formats/assembly.h"
#include "tribo/formats/fclib_matrix.h"
#include "tribo/formats/fclib_writer.h"
#include "tribo/formats/hdf5_reader.h"

namespace tribo::detail {
namespace {

std::string problem_group(const Hdf5Reader& file) {
  constexpr std::array<const char*, 4> kGroups{"/fclib_local", "/fclib_global", "/fclib_local_rolling",
                                               "/fclib_global_rolling"};
  std::string found;
  for (const char* group : kGroups) {
    if (!file.has(group)) continue;
    if (!found.empty())
      file.fail("/", fmt::format("holds both {} and {}; one problem per file", found.substr(1), group + 1));
    found = group;
  }
  if (found.empty()) {
    if (file.has("/fclib_rolling"))
      file.fail("/fclib_rolling", "is a form of rolling friction that tribo does not know");
    file.fail("/", "holds neither fclib_local nor fclib_global: this is not an FCLIB file");
  }
  return found;
}

bool is_rolling(const std::string& group) { return group.ends_with("_rolling"); }

Index read_space_dimension(const Hdf5Reader& file, const std::string& name) {
  const std::int64_t dimension = file.integer(name);
  if (dimension == 5) file.fail(name, "is 5, which is for rolling friction: the group should be named so");
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
    const bool allowed = is_cone_size(rows[i]);
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

// Contacts with rolling friction, of which one of sliding and rolling is zero.
Layout read_rolling_layout(const Hdf5Reader& file, const std::string& group, Index contact_rows,
                           Index bilateral_rows) {
  constexpr Index kRows = 5;  // (n, t1, t2, r1, r2)
  Layout layout;
  const std::int64_t dimension = file.integer(group + "/spacedim");
  if (dimension != 3 && dimension != 5)
    file.fail(group + "/spacedim",
              fmt::format("is {}: it must be 3 or 5 where there is rolling friction", dimension));
  const Vector friction = file.reals(group + "/vectors/mu");
  const auto contacts = static_cast<Index>(friction.size());
  const Vector rolling = file.reals_of_size(group + "/vectors/mu_r", contacts);
  if (contact_rows != std::int64_t{kRows} * contacts)
    file.fail(group + "/vectors/mu", fmt::format("has {} values: {} rows, 5 per contact, need {}", contacts,
                                                 contact_rows, contact_rows / kRows));
  for (Index i = 0; i < contacts; ++i) {
    if (friction[i] != 0.0 && rolling[i] != 0.0) {
      file.fail(group + "/vectors/mu_r", fmt::format("[{}] is {} where the sliding friction is {}: tribo "
                                                     "reads contacts with one of the two; the cone "
                                                     "of both, an intersection, is none of its own",
                                                     i, rolling[i], friction[i]));
    }
    ConstraintSpec spec;
    spec.friction = rolling[i] != 0.0 ? rolling[i] : friction[i];
    layout.constraints.push_back(spec);
    const Index row = 3 * i;  // of (t1, t2, n), or of (r1, r2, n)
    if (rolling[i] != 0.0) {
      layout.map.contact.insert(layout.map.contact.end(), {row + 2, -1, -1, row, row + 1});
    } else {
      layout.map.contact.insert(layout.map.contact.end(), {row + 2, row, row + 1, -1, -1});
    }
  }
  ConstraintSpec bilateral;
  bilateral.kind = ConstraintKind::bilateral;
  layout.constraints.insert(layout.constraints.end(), bilateral_rows, bilateral);
  for (Index k = 0; k < bilateral_rows; ++k) layout.map.bilateral.push_back(3 * contacts + k);
  layout.map.rows = 3 * contacts + bilateral_rows;
  layout.extra_bias.resize(0);
  return layout;
}

Layout read_layout(const Hdf5Reader& file, const std::string& group, Index contact_rows,
                   Index bilateral_rows) {
  if (is_rolling(group)) return read_rolling_layout(file, group, contact_rows, bilateral_rows);
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
  if (file.has(group + "/sparse_trees")) {
    const auto trees = static_cast<Index>(parts.tree_sizes.size());
    parts.sparse_trees = file.indices(group + "/sparse_trees", 0, trees - 1);
  }
}

ContactProblem read_global(const Hdf5Reader& file, const std::string& group, Layout& layout,
                           IndefiniteShare& indefinite) {
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
  return assemble(parts, &indefinite);
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

ContactProblem read_local(const Hdf5Reader& file, const std::string& group, Layout& layout,
                          IndefiniteShare& indefinite) {
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
  if (!file.has("/tribo/factor")) return assemble(dual, &indefinite);

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
  const bool local = group.starts_with("/fclib_local");
  Layout layout;
  IndefiniteShare indefinite;
  ContactProblem problem =
      local ? read_local(file, group, layout, indefinite) : read_global(file, group, layout, indefinite);
  LoadedProblem loaded{std::move(problem)};
  loaded.guess = read_impulse(file, "/guesses/1", "/tribo/extra/guess", layout.map);
  loaded.solution = read_solution(file, layout.map);
  loaded.format =
      fmt::format("FCLIB {}{}, {}", local ? "local" : "global", is_rolling(group) ? " rolling" : "",
                  storage_name(file, group + (local ? "/W" : "/M")));
  loaded.space_dimension = layout.dimension;
  loaded.title = file.text(group + "/info/title");
  loaded.description = file.text(group + "/info/description");
  loaded.warnings = warnings_of(indefinite);
  return loaded;
}

}  // namespace tribo::detail
