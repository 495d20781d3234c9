#include "tribo/formats/assembly.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <numeric>

#include "tribo/base/errors.h"
#include "tribo/formats/file_trees.h"
#include "tribo/problem/contact_problem_builder.h"

namespace tribo::detail {
namespace {

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
    const Index rows = row_start_[i + 1] - row_start_[i];
    for (const Index tree : touched) {
      pieces_.push_back({tree, Matrix::Zero(rows, trees_.sparse[tree] ? 1 : trees_.size(tree))});
    }
    for_entries(i, [&](const ScalarTriplet& entry) {
      const Index tree = trees_.tree_of[entry.row];
      const auto piece =
          std::find_if(pieces_.begin(), pieces_.end(), [&](const auto& p) { return p.tree == tree; });
      if (piece == pieces_.end()) {
        throw InvalidInput(
            fmt::format("constraint {} has a Jacobian entry on tree {}, which its list lacks", i, tree));
      }
      const Index row = entry.col - row_start_[i], column = trees_.position_of[entry.row];
      if (!trees_.sparse[tree]) {
        piece->block(row, column) += entry.value;
        return;
      }
      const auto own = std::find_if(pieces_.begin(), pieces_.end(),
                                    [&](const auto& p) { return p.tree == tree && p.first_dof == column; });
      if (own != pieces_.end()) {
        own->block(row, 0) += entry.value;
      } else {
        pieces_.push_back({tree, Matrix::Zero(rows, 1), {}, column});
        pieces_.back().block(row, 0) = entry.value;
      }
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
  for (std::size_t k = 0; k < map.size(); ++k) {
    if (map[k] >= 0) to[map[k]] = from[static_cast<Eigen::Index>(k)];
  }
}

Vector gather(const Vector& from, const std::vector<Index>& map) {
  Vector to(static_cast<Eigen::Index>(map.size()));
  for (std::size_t k = 0; k < map.size(); ++k) to[static_cast<Eigen::Index>(k)] = from[map[k]];
  return to;
}

ContactProblem assemble(const PrimalParts& parts, IndefiniteShare* indefinite) {
  Trees trees = find_trees(parts);
  const std::vector<Eigen::SparseMatrix<double>> sparse = sparse_blocks(parts.mass, trees);
  check_size(trees);
  std::vector<Matrix> mass = mass_blocks(parts.mass, trees);
  if (!symmetrize(mass)) {
    trees.sparse.assign(trees.count(), false);
    check_size(trees);
    return assemble(condense(parts, trees, mass_blocks(parts.mass, trees)), indefinite);
  }

  const Index count = static_cast<Index>(parts.constraints.size());
  const Vector momentum = tree_momentum(parts.momentum, trees);
  ContactProblemBuilder builder;
  builder.reserve(trees.count(), count);
  for (Index t = 0; t < trees.count(); ++t) {
    const auto part = momentum.segment(trees.start[t], trees.size(t));
    if (trees.sparse[t]) {
      builder.add_sparse_tree(sparse[t], part);
    } else {
      builder.add_tree(mass[t], part);
      mass[t].resize(0, 0);
    }
  }
  PieceMaker pieces(parts, trees);
  const std::vector<Index> starts = row_starts(parts.constraints);
  for (Index i = 0; i < count; ++i) {
    const ConstraintSpec& spec = parts.constraints[i];
    add_constraint(builder, spec, pieces.next(i),
                   {parts.bias.data() + starts[i], static_cast<std::size_t>(rows_of(spec))});
  }
  if (parts.delassus.rows > 0)
    builder.set_delassus(BlockMatrix::from_triplets(starts, parts.delassus.entries));
  return builder.build();
}

ContactProblem assemble(const DualParts& parts, IndefiniteShare* indefinite) {
  return lift(BlockMatrix::from_triplets(row_starts(parts.constraints), parts.delassus.entries),
              parts.free_velocity, parts.constraints, indefinite);
}

std::vector<std::string> warnings_of(const IndefiniteShare& indefinite) {
  if (!(indefinite.share > 0.0)) return {};
  return {fmt::format(
      "W is indefinite: its smallest eigenvalue is {:.1e} times the largest (in the part of constraint "
      "{}), which rounding explains. The certificate uses W as it is",
      -indefinite.share, indefinite.constraint)};
}

}  // namespace tribo::detail
