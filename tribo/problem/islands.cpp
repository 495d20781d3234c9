#include "tribo/problem/islands.h"

#include <algorithm>

#include "tribo/problem/sparse_trees.h"

namespace tribo {

Index Islands::root(Index node) {
  while (parent_[node] != node) {
    parent_[node] = parent_[parent_[node]];
    node = parent_[node];
  }
  return node;
}

// The smaller number is the root: the outcome does not depend on the order of the unions.
void Islands::unite(Index a, Index b) {
  a = root(a);
  b = root(b);
  parent_[std::max(a, b)] = std::min(a, b);
}

void Islands::unite_small(Index first_constraint, Index constraints, Index together) {
  local_constraint_.assign(parent_.size(), 0);  // constraints of a root, for now
  for (Index i = 0; i < constraints; ++i) ++local_constraint_[root(first_constraint + i)];
  Index small = -1;
  for (Index i = 0; i < constraints; ++i) {
    const Index at = root(first_constraint + i);
    if (local_constraint_[at] == 0 || local_constraint_[at] > together) continue;
    local_constraint_[at] = 0;  // seen
    if (small >= 0) unite(small, at);
    small = root(at);
    local_constraint_[small] = 0;
  }
}

void Islands::find(const ContactProblem& problem, Index together) {
  const Index trees = problem.tree_count();
  const Index constraints = problem.constraint_count();
  const BlockJacobian& jacobian = problem.jacobian();
  parent_.resize(trees + constraints);
  for (Index node = 0; node < trees + constraints; ++node) parent_[node] = node;
  for (Index i = 0; i < constraints; ++i) {
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      unite(trees + i, jacobian.piece_tree(p));
    }
  }
  if (problem.has_delassus()) {
    const BlockMatrix& w = problem.delassus();
    for (Index i = 0; i < constraints; ++i) {
      for (Index k = w.row_begin(i); k < w.row_end(i); ++k) unite(trees + i, trees + w.column(k));
    }
  }

  if (together > 0) unite_small(trees, constraints, together);

  // Islands in the order of their first constraint; sizes first, then a stable counting sort.
  island_of_tree_.assign(trees, -1);
  island_of_constraint_.resize(constraints);
  local_constraint_.assign(trees + constraints, -1);  // island of a root, for now
  std::vector<Index>& island_of_root = local_constraint_;
  constraint_start_.assign(1, 0);
  for (Index i = 0; i < constraints; ++i) {
    Index& island = island_of_root[root(trees + i)];
    if (island < 0) {
      island = count();
      constraint_start_.push_back(0);
    }
    island_of_constraint_[i] = island;
    ++constraint_start_[island + 1];
  }
  tree_start_.assign(count() + 1, 0);
  for (Index t = 0; t < trees; ++t) {
    island_of_tree_[t] = island_of_root[root(t)];
    if (island_of_tree_[t] >= 0) ++tree_start_[island_of_tree_[t] + 1];
  }
  for (Index k = 0; k < count(); ++k) {
    constraint_start_[k + 1] += constraint_start_[k];
    tree_start_[k + 1] += tree_start_[k];
  }
  constraints_.resize(constraints);
  local_constraint_.resize(constraints);
  trees_.resize(tree_start_.back());
  local_tree_.resize(trees);
  parent_.assign(2 * static_cast<std::size_t>(count()), 0);  // how many were placed so far
  for (Index i = 0; i < constraints; ++i) {
    const Index k = island_of_constraint_[i];
    local_constraint_[i] = parent_[2 * k]++;
    constraints_[constraint_start_[k] + local_constraint_[i]] = i;
  }
  for (Index t = 0; t < trees; ++t) {
    const Index k = island_of_tree_[t];
    if (k < 0) continue;
    local_tree_[t] = parent_[2 * k + 1]++;
    trees_[tree_start_[k] + local_tree_[t]] = t;
  }
}

void Islands::extract(const ContactProblem& problem, Index island, ContactProblem& part) const {
  copy_trees(problem, island, part);
  copy_constraints(problem, island, part);
  copy_delassus(problem, island, part);
}

void Islands::copy_trees(const ContactProblem& problem, Index island, ContactProblem& part) const {
  part.sparse_.reset();
  part.mass_.clear();
  part.mass_factor_.clear();
  Index dofs = 0;
  for (const Index t : trees(island)) {
    if (problem.sparse_ && problem.sparse_->find(t) != nullptr) {  // its coordinates are a dense tree
      part.mass_.add_identity(problem.mass_.block_size(t));
      part.mass_factor_.add_unit_lower(problem.mass_.block_size(t));
    } else {
      part.mass_.add_block(problem.mass_.block(t));
      part.mass_factor_.add_lower(problem.mass_factor_.lower(t));
    }
    dofs += problem.mass_.block_size(t);
  }
  part.momentum_.resize(dofs);
  part.tree_root_energy_.clear();
  part.free_energy_ = 0.0;
  part.free_speed_ = problem.free_speed_;
  part.mass_growth_ = problem.mass_growth_;
  Index at = 0;
  for (const Index t : trees(island)) {
    part.tree_root_energy_.push_back(problem.tree_root_energy_[t]);
    part.free_energy_ += problem.tree_root_energy_[t] * problem.tree_root_energy_[t];
    const Index n = problem.mass_.block_size(t);
    part.momentum_.segment(at, n) = problem.momentum_.segment(problem.mass_.block_start(t), n);
    at += n;
  }
}

void Islands::copy_constraints(const ContactProblem& problem, Index island, ContactProblem& part) const {
  const std::span<const Index> chosen = constraints(island);
  const BlockJacobian& jacobian = problem.jacobian_;
  const std::size_t n = chosen.size();
  part.kind_.resize(n);
  for (std::vector<double>* values :
       {&part.friction_, &part.lower_, &part.upper_, &part.scale_, &part.root_scale_, &part.inverse_scale_}) {
    values->resize(n);
  }
  part.idle_count_ = 0;
  part.key_.resize(n);
  part.jacobian_.clear();
  part.structure_.begin_part(problem.structure_, trees(island));
  part.contact_count_ = 0;
  part.rigid_ = true;
  part.has_friction_ = false;
  for (std::size_t k = 0; k < n; ++k) {
    const Index i = chosen[k];
    part.kind_[k] = problem.kind_[i];
    part.friction_[k] = problem.friction_[i];
    part.lower_[k] = problem.lower_[i];
    part.upper_[k] = problem.upper_[i];
    part.key_[k] = problem.key_[i];
    part.scale_[k] = problem.scale_[i];
    part.root_scale_[k] = problem.root_scale_[i];
    part.inverse_scale_[k] = problem.inverse_scale_[i];
    part.idle_count_ += problem.is_idle(i) ? 1 : 0;
    part.contact_count_ += problem.kind_[i] == ConstraintKind::contact ? 1 : 0;
    part.has_friction_ = part.has_friction_ || problem.friction_[i] > 0.0;
    part.jacobian_.add_group(problem.rows(i));
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      const Index tree = local_tree_[jacobian.piece_tree(p)];
      part.structure_.add_part_terms(problem.structure_, p, part.jacobian_.piece_count(), problem.rows(i));
      part.jacobian_.add_piece(tree, part.mass_.block_start(tree), jacobian.piece(i, p));
    }
  }
  part.diagonal_.resize(part.jacobian_);
  for (std::size_t k = 0; k < n; ++k) {
    with_rows(problem.rows(chosen[k]), [&](auto rows) {
      if constexpr (rows() <= 3) {
        part.diagonal_[static_cast<Index>(k)] = problem.diagonal_[chosen[k]];
      } else {
        part.diagonal_.at<rows()>(static_cast<Index>(k)) = problem.diagonal_.at<rows()>(chosen[k]);
      }
    });
  }
  if (problem.has_row_units()) {
    gather(problem, island, problem.row_unit_, part.row_unit_);
  } else {
    part.row_unit_.resize(0);
  }
  gather(problem, island, problem.bias_, part.bias_);
  gather(problem, island, problem.compliance_, part.compliance_);
  gather(problem, island, problem.free_velocity_, part.free_velocity_);
  part.rigid_ = part.compliance_.isZero(0.0);
  part.derive_demands();
}

void Islands::copy_delassus(const ContactProblem& problem, Index island, ContactProblem& part) const {
  part.symmetric_ = problem.symmetric_;
  if (!problem.delassus_) {
    part.delassus_.reset();
    return;
  }
  if (!part.delassus_) part.delassus_.emplace();
  part.delassus_->assign_part(*problem.delassus_, constraints(island), local_constraint_);
  part.symmetric_ = problem.symmetric_ || part.delassus_->asymmetry() <= ContactProblem::kSymmetryTolerance;
}

void Islands::gather(const ContactProblem& problem, Index island, const Vector& whole, Vector& part) const {
  Index rows = 0;
  for (const Index i : constraints(island)) rows += problem.rows(i);
  part.resize(rows);
  Index at = 0;
  for (const Index i : constraints(island)) {
    for (Index r = 0; r < problem.rows(i); ++r) part[at++] = whole[problem.row(i) + r];
  }
}

void Islands::scatter(const ContactProblem& problem, Index island, const Vector& part, Vector& whole) const {
  Index at = 0;
  for (const Index i : constraints(island)) {
    for (Index r = 0; r < problem.rows(i); ++r) whole[problem.row(i) + r] = part[at++];
  }
}

}  // namespace tribo
