#include "tribo/problem/sparse_trees.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <utility>

namespace tribo {

const SparseTree* SparseTrees::find(Index t) const {
  if (t >= static_cast<Index>(place_.size()) || place_[t] < 0) return nullptr;
  return &trees_[place_[t]];
}

void SparseTrees::clear() {
  for (SparseTree& tree : trees_) tree.mass.reset();
  count_ = 0;
  place_.clear();
  gathered_.clear();
  jacobian_.clear();
}

void SparseTrees::add_tree(Index tree, std::shared_ptr<const SparseFactor> mass, const double* momentum) {
  if (count_ == static_cast<Index>(trees_.size())) trees_.emplace_back();
  SparseTree& out = trees_[count_];
  place_.resize(tree + 1, -1);
  place_[tree] = count_++;
  out.tree = tree;
  out.first = static_cast<Index>(gathered_.size());
  out.mass = std::move(mass);
  gathered_.insert(gathered_.end(), momentum, momentum + out.dofs());
}

void SparseTrees::add_groups(const BlockJacobian& jacobian, Index count) {
  while (jacobian_.group_count() < count) jacobian_.add_group(jacobian.rows(jacobian_.group_count()));
}

double* SparseTrees::add_piece(const BlockJacobian& jacobian, Index constraint, Index tree, Index first_dof,
                               Index columns) {
  add_groups(jacobian, constraint + 1);
  return jacobian_.add_piece(place_[tree], find(tree)->first + first_dof, columns);
}

// The columns of every constraint that are not zero, ascending, added up where they were given several times; neighbours
// make one piece.
void SparseTrees::sort_pieces() {
  std::swap(jacobian_, unsorted_);
  jacobian_.clear();
  for (Index i = 0; i < unsorted_.group_count(); ++i) {
    const Index rows = unsorted_.rows(i);
    jacobian_.add_group(rows);
    columns_.clear();
    for (Index p = unsorted_.piece_begin(i); p < unsorted_.piece_end(i); ++p) {
      for (Index c = 0; c < unsorted_.piece_cols(p); ++c) {
        columns_.push_back({unsorted_.piece_dof(p) + c, static_cast<Index>(columns_.size()),
                            unsorted_.piece_tree(p), unsorted_.piece_data(p) + c * rows});
      }
    }
    std::sort(columns_.begin(), columns_.end(), [](const Column& a, const Column& b) {
      return a.dof != b.dof ? a.dof < b.dof : a.number < b.number;
    });
    add_sorted_columns(rows);
  }
}

void SparseTrees::add_sorted_columns(Index rows) {
  Index kept = 0;  // of columns_, with their sums in values_
  values_.clear();
  for (std::size_t k = 0; k < columns_.size();) {
    const Column column = columns_[k];
    const std::size_t begin = values_.size();
    values_.insert(values_.end(), column.data, column.data + rows);
    while (++k < columns_.size() && columns_[k].dof == column.dof) {
      for (Index r = 0; r < rows; ++r) values_[begin + r] += columns_[k].data[r];
    }
    const auto is_zero = [](double value) { return value == 0.0; };
    if (std::all_of(values_.begin() + static_cast<std::ptrdiff_t>(begin), values_.end(), is_zero)) {
      values_.resize(begin);
    } else {
      columns_[kept++] = column;
    }
  }
  for (Index k = 0; k < kept;) {
    Index end = k + 1;
    while (end < kept && columns_[end].dof == columns_[end - 1].dof + 1 &&
           columns_[end].tree == columns_[k].tree) {
      ++end;
    }
    const double* from = values_.data() + static_cast<std::ptrdiff_t>(k) * rows;
    std::copy_n(from, (end - k) * rows, jacobian_.add_piece(columns_[k].tree, columns_[k].dof, end - k));
    k = end;
  }
}

// The degrees of freedom that pieces name; at least one, which gives every tree a coordinate.
void SparseTrees::find_touched() {
  dofs_.clear();
  for (const SparseTree& tree : trees()) dofs_.push_back(tree.first);
  for (Index p = 0; p < jacobian_.piece_count(); ++p) {
    for (Index c = 0; c < jacobian_.piece_cols(p); ++c) dofs_.push_back(jacobian_.piece_dof(p) + c);
  }
  std::sort(dofs_.begin(), dofs_.end());
  dofs_.erase(std::unique(dofs_.begin(), dofs_.end()), dofs_.end());
}

// R from (A^-1)_cc = R R^T, kept where neither A nor c is new.
bool SparseTrees::find_root(SparseTree& tree) {
  const auto begin = std::lower_bound(dofs_.begin(), dofs_.end(), tree.first);
  const auto end = std::lower_bound(begin, dofs_.end(), tree.first + tree.dofs());
  own_.clear();
  for (auto d = begin; d != end; ++d) own_.push_back(*d - tree.first);
  if (tree.root_version_ == tree.mass->version() && tree.touched == own_) return true;
  tree.touched = own_;
  tree.root_version_ = 0;
  tree.mass->inverse_block(tree.touched, inverse_, scratch_.factor);
  if (!inverse_.allFinite()) return false;  // the factor of a matrix that is not positive definite
  if (Eigen::LLT<Eigen::Ref<Matrix>>(inverse_).info() != Eigen::Success) return false;
  tree.root = inverse_.triangularView<Eigen::Lower>().transpose();
  tree.root_version_ = tree.mass->version();
  return true;
}

// J' = J_c R of one constraint and one tree, rows x coordinates.
void SparseTrees::condense_piece(Index constraint, Index k, Index rows, double* out) const {
  const SparseTree& tree = trees_[k];
  std::fill_n(out, static_cast<std::size_t>(rows) * tree.coordinates(), 0.0);
  for (Index p = jacobian_.piece_begin(constraint); p < jacobian_.piece_end(constraint); ++p) {
    if (jacobian_.piece_tree(p) != k) continue;
    const double* column = jacobian_.piece_data(p);
    const Index dof = jacobian_.piece_dof(p) - tree.first;
    const auto found = std::lower_bound(tree.touched.begin(), tree.touched.end(), dof);
    const auto rank = static_cast<Index>(found - tree.touched.begin());
    for (Index c = 0; c < jacobian_.piece_cols(p); ++c, column += rows) {
      const double* root = tree.root.data() + static_cast<std::ptrdiff_t>(rank + c) * tree.root.rows();
      for (Index j = 0; j <= rank + c; ++j) {
        for (Index r = 0; r < rows; ++r) out[j * rows + r] += column[r] * root[j];
      }
    }
  }
}

// Of a sparse tree y = R^-1 v_c of the free motion.
void SparseTrees::condense_momentum(const BlockDiagonal& mass, Vector& momentum) {
  momentum.resize(mass.size());
  for (Index t = 0; t < mass.block_count(); ++t) {
    auto part = momentum.segment(mass.block_start(t), mass.block_size(t));
    if (const SparseTree* tree = find(t)) {
      for (Index k = 0; k < tree->coordinates(); ++k) part[k] = free_[tree->first + tree->touched[k]];
      tree->root.transpose().triangularView<Eigen::Lower>().solveInPlace(part);
    } else {
      part = given_momentum_.segment(given_mass_.block_start(t), given_mass_.block_size(t));
    }
  }
}

Index SparseTrees::condense(BlockDiagonal& mass, Vector& momentum, BlockJacobian& jacobian) {
  momentum_ = Eigen::Map<const Vector>(gathered_.data(), static_cast<Index>(gathered_.size()));
  add_groups(jacobian, jacobian.group_count());
  free_ = momentum_;
  solve_in_place(free_, scratch_);
  sort_pieces();
  find_touched();
  std::swap(mass, given_mass_);
  std::swap(jacobian, given_jacobian_);
  mass.clear();
  for (Index t = 0; t < given_mass_.block_count(); ++t) {
    if (find(t) != nullptr) {
      SparseTree& tree = trees_[place_[t]];
      if (!find_root(tree)) return t;
      tree.coordinate = mass.block_start(mass.add_identity(tree.coordinates()));
    } else if (given_mass_.is_unit(t)) {
      mass.add_identity(given_mass_.block_size(t));
    } else {
      mass.add_block(given_mass_.block(t));
    }
  }
  condense_momentum(mass, momentum);
  jacobian.clear();
  for (Index i = 0; i < given_jacobian_.group_count(); ++i) {
    const Index rows = given_jacobian_.rows(i);
    jacobian.add_group(rows);
    for (Index p = given_jacobian_.piece_begin(i); p < given_jacobian_.piece_end(i); ++p) {
      const Index t = given_jacobian_.piece_tree(p), start = mass.block_start(t);
      double* block = jacobian.add_piece(t, start, mass.block_size(t));
      if (find(t) != nullptr) {
        condense_piece(i, place_[t], rows, block);
      } else {
        std::copy_n(given_jacobian_.piece_data(p), static_cast<std::size_t>(rows) * mass.block_size(t),
                    block);
      }
    }
  }
  return kSuccess;
}

void SparseTrees::solve_in_place(Eigen::Ref<Vector> motion, SparseScratch& scratch) const {
  for (const SparseTree& tree : trees()) {
    tree.mass->solve_in_place(motion.data() + tree.first, scratch.factor);
  }
}

void SparseTrees::motion_of(const Vector& impulse, Vector& motion, SparseScratch& scratch) const {
  motion = momentum_;
  jacobian_.add_transpose_product(impulse, motion);
  solve_in_place(motion, scratch);
}

void SparseTrees::extend(const Vector& coordinates, bool free, Vector& motion, SparseScratch& scratch) const {
  motion.setZero(dof_count());
  for (const SparseTree& tree : trees()) {
    const Index n = tree.coordinates();
    Vector& y = scratch.coordinates;
    // R y = v_c; the force on c that moves it there is R^-T y.
    y = coordinates.segment(tree.coordinate, n);
    if (free) {
      Vector& known = scratch.known;
      known.resize(n);
      for (Index k = 0; k < n; ++k) known[k] = free_[tree.first + tree.touched[k]];
      tree.root.transpose().triangularView<Eigen::Lower>().solveInPlace(known);
      y -= known;
    }
    tree.root.triangularView<Eigen::Upper>().solveInPlace(y);
    for (Index k = 0; k < n; ++k) motion[tree.first + tree.touched[k]] = y[k];
  }
  solve_in_place(motion, scratch);
  if (free) motion += free_;
}

bool SparseTrees::operator==(const SparseTrees& other) const {
  const auto same = [](const Vector& a, const Vector& b) { return a.size() == b.size() && a == b; };
  if (count_ != other.count_ || place_ != other.place_ || !same(momentum_, other.momentum_)) return false;
  for (Index k = 0; k < count_; ++k) {
    if (trees_[k].mass != other.trees_[k].mass && !(*trees_[k].mass == *other.trees_[k].mass)) return false;
  }
  return jacobian_ == other.jacobian_;
}

}  // namespace tribo
