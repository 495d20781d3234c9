#include "tribo/problem/tree_structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tribo/base/errors.h"

namespace tribo {
namespace {

constexpr double kSparsityTolerance = 1e-12;  // of A, relative to its diagonal
constexpr double kTermTolerance = 1e-9;       // of J_ij against its terms, relative to its largest entry

bool on_path(const Articulation& a, Index ancestor, Index dof) {
  while (dof > ancestor) dof = a.parent[dof];
  return dof == ancestor;
}

void check_parents(Index tree, const Eigen::Ref<const Matrix>& mass, const Articulation& a) {
  if (a.size() != mass.rows() || a.motion.cols() != mass.rows()) {
    throw InvalidInput(
        fmt::format("articulation of tree {} has {} parents and {} motions: the tree has {} dofs", tree,
                    a.size(), a.motion.cols(), mass.rows()));
  }
  if (!a.motion.allFinite())
    throw InvalidInput(fmt::format("articulation of tree {}: motion is not finite", tree));
  for (Index d = 0; d < a.size(); ++d) {
    if (a.parent[d] < -1 || a.parent[d] >= d) {
      throw InvalidInput(
          fmt::format("articulation of tree {}: parent of dof {} is {}: it must be -1 or a smaller dof", tree,
                      d, a.parent[d]));
    }
  }
}

}  // namespace

const Articulation* TreeStructure::articulation(Index tree) const {
  if (tree >= static_cast<Index>(of_tree_.size()) || of_tree_[tree] < 0) return nullptr;
  return &articulations_[of_tree_[tree]];
}

void TreeStructure::set_articulation(Index tree, const Eigen::Ref<const Matrix>& mass,
                                     Articulation articulation) {
  check_parents(tree, mass, articulation);
  for (Index l = 0; l < articulation.size(); ++l) {
    for (Index k = 0; k < l; ++k) {
      const double bound = kSparsityTolerance * std::sqrt(mass(k, k) * mass(l, l));
      if (std::abs(mass(k, l)) > bound && !on_path(articulation, k, l)) {
        throw InvalidInput(
            fmt::format("articulation of tree {}: its mass couples dofs {} and {}, which are on different "
                        "branches",
                        tree, k, l));
      }
    }
  }
  if (tree >= static_cast<Index>(of_tree_.size())) of_tree_.resize(tree + 1, -1);
  of_tree_[tree] = static_cast<Index>(articulations_.size());
  articulations_.push_back(std::move(articulation));
}

void TreeStructure::set_terms(Index constraint, Index piece, Index tree,
                              const Eigen::Ref<const Matrix>& block, std::span<const BodyTerm> terms) {
  const Articulation* a = articulation(tree);
  const auto refuse = [&](const std::string& why) {
    throw InvalidInput(fmt::format("bodies of constraint {} on tree {}: {}", constraint, tree, why));
  };
  if (a == nullptr) return refuse("the tree has no articulation, set it first");
  Matrix rest = block;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    const BodyTerm& term = terms[t];
    if (term.dof < 0 || term.dof >= a->size()) return refuse(fmt::format("there is no dof {}", term.dof));
    if (term.block.rows() != block.rows() || term.block.cols() != 6) {
      return refuse(fmt::format("a block is {} x {}: it must be {} x 6", term.block.rows(), term.block.cols(),
                                block.rows()));
    }
    for (std::size_t s = 0; s < t; ++s) {
      if (terms[s].dof == term.dof)
        return refuse(fmt::format("dof {} occurs twice: add the two blocks", term.dof));
    }
    for (Index d = term.dof; d >= 0; d = a->parent[d]) rest.col(d).noalias() -= term.block * a->motion.col(d);
  }
  // Written so that a NaN is refused.
  if (!(rest.cwiseAbs().maxCoeff() <= kTermTolerance * std::max(block.cwiseAbs().maxCoeff(), 1e-300))) {
    return refuse("their sum is not the Jacobian of the constraint");
  }
  term_start_.resize(static_cast<std::size_t>(piece) + 1, static_cast<Index>(term_dof_.size()));
  for (const BodyTerm& term : terms) {
    term_dof_.push_back(term.dof);
    term_offset_.push_back(blocks_.size());
    blocks_.insert(blocks_.end(), term.block.data(), term.block.data() + term.block.size());
  }
  term_start_.push_back(static_cast<Index>(term_dof_.size()));
}

void TreeStructure::clear() {
  of_tree_.clear();
  term_start_.resize(1);
  term_dof_.clear();
  term_offset_.clear();
  blocks_.clear();
}

void TreeStructure::add_articulation(Index tree, std::span<const Index> parent, const double* motion) {
  const auto last = std::find_if(of_tree_.rbegin(), of_tree_.rend(), [](Index known) { return known >= 0; });
  const Index number = last == of_tree_.rend() ? 0 : *last + 1;
  of_tree_.resize(static_cast<std::size_t>(tree) + 1, -1);
  of_tree_[tree] = number;
  if (number == static_cast<Index>(articulations_.size())) articulations_.emplace_back();
  Articulation& articulation = articulations_[number];
  articulation.parent.assign(parent.begin(), parent.end());
  articulation.motion = Eigen::Map<const Eigen::Matrix<double, 6, Eigen::Dynamic>>(
      motion, 6, static_cast<Eigen::Index>(parent.size()));
}

void TreeStructure::add_term(Index piece, Index dof, Index rows, const double* block) {
  while (stored_pieces() <= piece) term_start_.push_back(term_start_.back());
  term_dof_.push_back(dof);
  term_offset_.push_back(blocks_.size());
  blocks_.insert(blocks_.end(), block, block + 6 * rows);
  term_start_.back() = static_cast<Index>(term_dof_.size());
}

void TreeStructure::begin_part(const TreeStructure& whole, std::span<const Index> trees) {
  clear();
  for (std::size_t k = 0; k < trees.size(); ++k) {
    const Articulation* known = whole.articulation(trees[k]);
    if (known != nullptr) add_articulation(static_cast<Index>(k), known->parent, known->motion.data());
  }
}

void TreeStructure::add_part_terms(const TreeStructure& whole, Index whole_piece, Index piece, Index rows) {
  for (Index term = whole.term_begin(whole_piece); term < whole.term_end(whole_piece); ++term) {
    add_term(piece, whole.term_dof(term), rows, whole.term_data(term));
  }
}

}  // namespace tribo
