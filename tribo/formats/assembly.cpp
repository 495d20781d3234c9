#include "tribo/formats/assembly.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <numeric>

#include "tribo/base/errors.h"

namespace tribo::detail {
namespace {

// Trees are stored dense: 200 MB each at the first limit, 2 GB together at the second.
constexpr Index kLargestTree = 5000;
constexpr double kLargestMass = 1 << 28;
// Relative asymmetry of M below this is rounding.
constexpr double kAsymmetry = 1e-12;

struct Trees {
  std::vector<Index> start;        // [trees + 1] first degree of freedom, in the order of the trees
  std::vector<Index> tree_of;      // [dofs] by the file's numbering
  std::vector<Index> position_of;  // [dofs] place inside the tree

  Index count() const { return static_cast<Index>(start.size()) - 1; }
  Index size(Index t) const { return start[t + 1] - start[t]; }
};

// `count` boxes: entries of box b are at order[begin[b]] ... order[begin[b + 1] - 1], in their original
// order.
struct Buckets {
  std::vector<std::size_t> begin, order;
};

template <class BoxOf>
Buckets sort_into(Index count, std::size_t entries, const BoxOf& box_of) {
  Buckets buckets;
  buckets.begin.assign(static_cast<std::size_t>(count) + 1, 0);
  for (std::size_t k = 0; k < entries; ++k) ++buckets.begin[box_of(k) + 1];
  std::partial_sum(buckets.begin.begin(), buckets.begin.end(), buckets.begin.begin());
  std::vector<std::size_t> next(buckets.begin.begin(), buckets.begin.end() - 1);
  buckets.order.resize(entries);
  for (std::size_t k = 0; k < entries; ++k) buckets.order[next[box_of(k)]++] = k;
  return buckets;
}

// Connected components of M's pattern; the label of a degree of freedom is the smallest one of its component.
std::vector<Index> component_labels(const SparseMatrix& mass) {
  std::vector<Index> parent(mass.rows);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](Index d) {
    while (parent[d] != d) d = parent[d] = parent[parent[d]];
    return d;
  };
  for (const ScalarTriplet& entry : mass.entries) {
    if (entry.value == 0.0) continue;
    const Index a = root(entry.row);
    const Index b = root(entry.col);
    parent[std::max(a, b)] = std::min(a, b);
  }
  std::vector<Index> label(mass.rows);
  for (Index d = 0; d < mass.rows; ++d) label[d] = root(d);
  return label;
}

// Labels by bodies of `size` consecutive degrees of freedom, if no component reaches beyond one.
void merge_into_bodies(std::vector<Index>& label, Index size) {
  const Index n = static_cast<Index>(label.size());
  if (n % size != 0) return;
  for (Index d = 0; d < n; ++d) {
    if (label[d] / size != d / size) return;
  }
  for (Index d = 0; d < n; ++d) label[d] = d - d % size;
}

Trees trees_from_labels(const std::vector<Index>& label) {
  const Index n = static_cast<Index>(label.size());
  Trees trees;
  trees.tree_of.resize(n);
  trees.position_of.resize(n);
  std::vector<Index> size;
  for (Index d = 0; d < n; ++d) {  // a label is the smallest member, so it is met first
    if (label[d] == d) {
      trees.tree_of[d] = static_cast<Index>(size.size());
      size.push_back(0);
    } else {
      trees.tree_of[d] = trees.tree_of[label[d]];
    }
    trees.position_of[d] = size[trees.tree_of[d]]++;
  }
  trees.start.push_back(0);
  for (const Index s : size) trees.start.push_back(trees.start.back() + s);
  return trees;
}

Trees find_trees(const PrimalParts& parts) {
  if (parts.tree_sizes.empty()) {
    std::vector<Index> label = component_labels(parts.mass);
    merge_into_bodies(label, parts.body_size);
    return trees_from_labels(label);
  }
  const auto total = std::accumulate(parts.tree_sizes.begin(), parts.tree_sizes.end(), std::int64_t{0});
  if (total != parts.mass.rows || *std::min_element(parts.tree_sizes.begin(), parts.tree_sizes.end()) < 1) {
    throw InvalidInput(
        fmt::format("tree sizes must be positive and add up to the {} degrees of freedom, not {}",
                    parts.mass.rows, total));
  }
  std::vector<Index> label;
  label.reserve(parts.mass.rows);
  for (const Index size : parts.tree_sizes) label.insert(label.end(), size, static_cast<Index>(label.size()));
  return trees_from_labels(label);
}

void check_size(const Trees& trees) {
  double entries = 0.0;
  for (Index t = 0; t < trees.count(); ++t) {
    const double size = trees.size(t);
    entries += size * size;
    if (size > kLargestTree) {
      throw InvalidInput(fmt::format(
          "the mass matrix M couples {} degrees of freedom: connected parts of up to {} are supported", size,
          kLargestTree));
    }
  }
  if (entries > kLargestMass) {
    throw InvalidInput(fmt::format("the connected parts of the mass matrix M need {:.1f} GB as dense blocks",
                                   entries * sizeof(double) / 1e9));
  }
}

std::vector<Matrix> mass_blocks(const SparseMatrix& mass, const Trees& trees) {
  const Buckets buckets = sort_into(trees.count(), mass.entries.size(),
                                    [&](std::size_t k) { return trees.tree_of[mass.entries[k].row]; });
  std::vector<Matrix> blocks(trees.count());
  for (Index t = 0; t < trees.count(); ++t) {
    blocks[t].setZero(trees.size(t), trees.size(t));
    for (std::size_t k = buckets.begin[t]; k < buckets.begin[t + 1]; ++k) {
      const ScalarTriplet& entry = mass.entries[buckets.order[k]];
      if (trees.tree_of[entry.col] == t) {
        blocks[t](trees.position_of[entry.row], trees.position_of[entry.col]) += entry.value;
      } else if (entry.value != 0.0) {
        throw InvalidInput(
            fmt::format("the mass matrix M has an entry at ({}, {}), which joins the trees {} and {}",
                        entry.row, entry.col, t, trees.tree_of[entry.col]));
      }
    }
  }
  return blocks;
}

// True if all blocks are symmetric up to rounding; then they are made so.
bool symmetrize(std::vector<Matrix>& blocks) {
  for (const Matrix& block : blocks) {
    const double difference = (block - block.transpose()).cwiseAbs().maxCoeff();
    if (difference > kAsymmetry * block.cwiseAbs().maxCoeff()) return false;
  }
  for (Matrix& block : blocks) {
    for (Index c = 0; c < block.cols(); ++c) {
      for (Index r = 0; r < c; ++r) {
        if (block(r, c) != block(c, r)) block(r, c) = block(c, r) = 0.5 * block(r, c) + 0.5 * block(c, r);
      }
    }
  }
  return true;
}

// The pieces of constraint i: dense blocks on the trees listed for it, or on those where it has entries.
class PieceMaker {
 public:
  PieceMaker(const PrimalParts& parts, const Trees& trees)
      : parts_(parts), trees_(trees), row_start_(row_starts(parts.constraints)) {
    const Index count = static_cast<Index>(parts.constraints.size());
    std::vector<Index> constraint_of(row_start_.back());
    for (Index i = 0; i < count; ++i) {
      std::fill(constraint_of.begin() + row_start_[i], constraint_of.begin() + row_start_[i + 1], i);
    }
    const std::vector<ScalarTriplet>& entries = parts.jacobian.entries;
    buckets_ = sort_into(count, entries.size(), [&](std::size_t k) { return constraint_of[entries[k].col]; });
    check_pieces();
  }

  // To be called for i = 0, 1, 2, ... in turn.
  const std::vector<JacobianPiece>& next(Index i) {
    std::vector<Index> touched;
    if (!parts_.piece_count.empty()) {
      const auto begin = parts_.piece_tree.begin() + next_piece_;
      touched.assign(begin, begin + parts_.piece_count[i]);
      next_piece_ += parts_.piece_count[i];
    } else {
      for_entries(i, [&](const ScalarTriplet& entry) { touched.push_back(trees_.tree_of[entry.row]); });
      std::sort(touched.begin(), touched.end());
      touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    }
    pieces_.clear();
    for (const Index tree : touched) {
      pieces_.push_back({tree, Matrix::Zero(row_start_[i + 1] - row_start_[i], trees_.size(tree))});
    }
    for_entries(i, [&](const ScalarTriplet& entry) {
      const Index tree = trees_.tree_of[entry.row];
      const auto piece =
          std::find_if(pieces_.begin(), pieces_.end(), [&](const auto& p) { return p.tree == tree; });
      if (piece == pieces_.end()) {
        throw InvalidInput(
            fmt::format("constraint {} has a Jacobian entry on tree {}, which its list lacks", i, tree));
      }
      piece->block(entry.col - row_start_[i], trees_.position_of[entry.row]) += entry.value;
    });
    return pieces_;
  }

 private:
  template <class Visit>
  void for_entries(Index i, const Visit& visit) const {
    for (std::size_t k = buckets_.begin[i]; k < buckets_.begin[i + 1]; ++k) {
      const ScalarTriplet& entry = parts_.jacobian.entries[buckets_.order[k]];
      if (entry.value != 0.0) visit(entry);
    }
  }

  void check_pieces() const {
    if (parts_.piece_count.empty()) return;
    std::int64_t total = 0;
    for (const Index count : parts_.piece_count) {
      if (count < 0 || count > trees_.count()) {
        throw InvalidInput(fmt::format("a constraint lists {} trees: there are {}", count, trees_.count()));
      }
      total += count;
    }
    if (total != static_cast<std::int64_t>(parts_.piece_tree.size())) {
      throw InvalidInput(
          fmt::format("the constraints list {} trees where {} are stored", total, parts_.piece_tree.size()));
    }
    for (const Index tree : parts_.piece_tree) {
      if (tree < 0 || tree >= trees_.count()) {
        throw InvalidInput(
            fmt::format("a constraint lists tree {}: there are {} trees", tree, trees_.count()));
      }
    }
  }

  const PrimalParts& parts_;
  const Trees& trees_;
  std::vector<Index> row_start_;
  Buckets buckets_;
  std::size_t next_piece_ = 0;
  std::vector<JacobianPiece> pieces_;
};

void add_constraint(ContactProblemBuilder& builder, const ConstraintSpec& spec,
                    const std::vector<JacobianPiece>& pieces, const double* bias) {
  if (!spec.unit.empty()) {
    const std::size_t rows = spec.unit.size();
    builder.add_scaled_contact(spec.unit, pieces, {bias, rows}, {spec.compliance.data(), rows}, spec.key);
    return;
  }
  switch (spec.kind) {
    case ConstraintKind::contact:
      builder.add_contact(spec.friction, pieces, Vec3(bias[0], bias[1], bias[2]), spec.compliance.head<3>(),
                          spec.key);
      break;
    case ConstraintKind::unilateral:
      builder.add_unilateral(pieces, bias[0], spec.compliance[0], spec.key);
      break;
    case ConstraintKind::bilateral:
      builder.add_bilateral(pieces, bias[0], spec.compliance[0], spec.key);
      break;
    case ConstraintKind::box:
      builder.add_box(spec.lower, spec.upper, pieces, bias[0], spec.compliance[0], spec.key);
      break;
  }
}

Vector tree_momentum(const Vector& momentum, const Trees& trees) {
  Vector ordered(momentum.size());
  for (Index d = 0; d < momentum.size(); ++d) {
    ordered[trees.start[trees.tree_of[d]] + trees.position_of[d]] = momentum[d];
  }
  return ordered;
}

// W = J M^-1 J^T and q = J M^-1 f + e for an unsymmetric M; only constraints that share a tree are coupled.
DualParts condense(const PrimalParts& parts, const Trees& trees, const std::vector<Matrix>& mass) {
  DualParts dual{parts.constraints, {parts.jacobian.cols, parts.jacobian.cols, {}}, parts.bias};
  const Vector momentum = tree_momentum(parts.momentum, trees);
  const std::vector<ScalarTriplet>& entries = parts.jacobian.entries;
  const Buckets buckets =
      sort_into(trees.count(), entries.size(), [&](std::size_t k) { return trees.tree_of[entries[k].row]; });
  for (Index t = 0; t < trees.count(); ++t) {
    std::vector<Index> rows;
    for (std::size_t k = buckets.begin[t]; k < buckets.begin[t + 1]; ++k) {
      rows.push_back(entries[buckets.order[k]].col);
    }
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    if (rows.empty()) continue;

    Matrix jacobian_transpose = Matrix::Zero(trees.size(t), static_cast<Eigen::Index>(rows.size()));
    for (std::size_t k = buckets.begin[t]; k < buckets.begin[t + 1]; ++k) {
      const ScalarTriplet& entry = entries[buckets.order[k]];
      const auto column = std::lower_bound(rows.begin(), rows.end(), entry.col) - rows.begin();
      jacobian_transpose(trees.position_of[entry.row], column) += entry.value;
    }
    const Eigen::PartialPivLU<Matrix> lu(mass[t]);
    const Matrix w = jacobian_transpose.transpose() * lu.solve(jacobian_transpose);
    const Vector q =
        jacobian_transpose.transpose() * lu.solve(momentum.segment(trees.start[t], trees.size(t)));
    if (!w.allFinite() || !q.allFinite()) {
      throw InvalidInput(
          fmt::format("the mass matrix M is singular in the part of degree of freedom {}",
                      std::find(trees.tree_of.begin(), trees.tree_of.end(), t) - trees.tree_of.begin()));
    }
    for (std::size_t c = 0; c < rows.size(); ++c) {
      dual.free_velocity[rows[c]] += q[c];
      for (std::size_t r = 0; r < rows.size(); ++r)
        dual.delassus.entries.push_back({rows[r], rows[c], w(r, c)});
    }
  }
  return dual;
}

}  // namespace

std::vector<Index> row_starts(const std::vector<ConstraintSpec>& constraints) {
  std::vector<Index> starts{0};
  starts.reserve(constraints.size() + 1);
  for (const ConstraintSpec& spec : constraints) starts.push_back(starts.back() + rows_of(spec));
  return starts;
}

RowMap map_rows(const std::vector<ConstraintSpec>& constraints, Index space_dimension) {
  RowMap map;
  for (const ConstraintSpec& spec : constraints) {
    if (!spec.unit.empty()) {
      for (Index r = 0; r < rows_of(spec); ++r) map.extra.push_back(map.rows + r);
    } else if (spec.kind == ConstraintKind::contact) {
      map.contact.push_back(map.rows + 2);
      map.contact.push_back(map.rows);
      if (space_dimension == 3) map.contact.push_back(map.rows + 1);
    } else {
      (spec.kind == ConstraintKind::bilateral ? map.bilateral : map.extra).push_back(map.rows);
    }
    map.rows += rows_of(spec);
  }
  return map;
}

void scatter(const Vector& from, const std::vector<Index>& map, Vector& to) {
  for (std::size_t k = 0; k < map.size(); ++k) to[map[k]] = from[static_cast<Eigen::Index>(k)];
}

Vector gather(const Vector& from, const std::vector<Index>& map) {
  Vector to(static_cast<Eigen::Index>(map.size()));
  for (std::size_t k = 0; k < map.size(); ++k) to[static_cast<Eigen::Index>(k)] = from[map[k]];
  return to;
}

ContactProblem assemble(const PrimalParts& parts) {
  const Trees trees = find_trees(parts);
  check_size(trees);
  std::vector<Matrix> mass = mass_blocks(parts.mass, trees);
  if (!symmetrize(mass)) return assemble(condense(parts, trees, mass));

  const Index count = static_cast<Index>(parts.constraints.size());
  const Vector momentum = tree_momentum(parts.momentum, trees);
  ContactProblemBuilder builder;
  builder.reserve(trees.count(), count);
  for (Index t = 0; t < trees.count(); ++t) {
    builder.add_tree(mass[t], momentum.segment(trees.start[t], trees.size(t)));
    mass[t].resize(0, 0);
  }
  PieceMaker pieces(parts, trees);
  const std::vector<Index> starts = row_starts(parts.constraints);
  for (Index i = 0; i < count; ++i) {
    add_constraint(builder, parts.constraints[i], pieces.next(i), parts.bias.data() + starts[i]);
  }
  if (parts.delassus.rows > 0)
    builder.set_delassus(BlockMatrix::from_triplets(starts, parts.delassus.entries));
  return builder.build();
}

ContactProblem assemble(const DualParts& parts) {
  return lift(BlockMatrix::from_triplets(row_starts(parts.constraints), parts.delassus.entries),
              parts.free_velocity, parts.constraints);
}

}  // namespace tribo::detail
