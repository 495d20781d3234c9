// What a problem may know about its trees beyond A and J: how the joints hang together and which bodies a
// constraint acts on. Solvers that split per body (subadmm) use it to keep the sparsity of A_j; to all others
// a tree is one dense block.
//
// Degree of freedom d of a tree moves a body and everything that hangs on it. The body is named by its last
// degree of freedom; its spatial velocity (linear at a reference point common to the tree, angular) is
//
//   V_d = V_parent(d) + s_d v_d,     V of the root's parent = 0,     s_d = motion.col(d)
//
// so that J_{b,j} of Lee et al. (2024) (30) has the column s_k for every k on the path from the root to d,
// and the piece of a constraint on the tree is J_ij = sum over its bodies of J_{i,b} J_{b,j} (31). A_j has
// branch-induced sparsity: A_j(k, l) = 0 unless k is on the path of l or l on the path of k.
//
// Example: a trunk with six degrees of freedom and one hinge; a contact of the hinged leg with the floor.
//   Articulation leg{.parent = {-1, 0, 1, 2, 3, 4, 5}, .motion = motion};        // motion: 6 x 7
//   builder.set_articulation(tree, leg);
//   builder.add_contact(mu, {{tree, jacobian, {{6, frame_rows}}}});              // frame_rows: 3 x 6
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tribo/base/types.h"

namespace tribo {

struct Articulation {
  std::vector<Index> parent;                        // [dofs] -1: root; otherwise smaller than the dof itself
  Eigen::Matrix<double, 6, Eigen::Dynamic> motion;  // 6 x dofs

  Index size() const { return static_cast<Index>(parent.size()); }
};

// J_{i,b}: what the body moved last by `dof` contributes to the rows of a constraint.
struct BodyTerm {
  Index dof;
  Matrix block;  // rows x 6
};

class TreeStructure {
 public:
  using Block = Eigen::Map<const Matrix>;

  bool empty() const { return of_tree_.empty(); }
  // nullptr: nothing is known, the tree is one dense block.
  const Articulation* articulation(Index tree) const;

  // Body terms of Jacobian piece p; none where they were not given.
  Index term_begin(Index piece) const { return piece < stored_pieces() ? term_start_[piece] : 0; }
  Index term_end(Index piece) const { return piece < stored_pieces() ? term_start_[piece + 1] : 0; }
  Index term_dof(Index term) const { return term_dof_[term]; }
  const double* term_data(Index term) const { return blocks_.data() + term_offset_[term]; }
  Block term(Index term, Index rows) const { return Block(term_data(term), rows, 6); }

  // InvalidInput unless the articulation fits the tree's mass block; constraints on the tree come afterwards.
  void set_articulation(Index tree, const Eigen::Ref<const Matrix>& mass, Articulation articulation);
  // InvalidInput unless the terms add up to the piece. `constraint` is for the message.
  void set_terms(Index constraint, Index piece, Index tree, const Eigen::Ref<const Matrix>& block,
                 std::span<const BodyTerm> terms);

  // The same without checks or allocations, for problems that are filled again and again: clear() keeps the memory,
  // trees and pieces come in order. `motion`: 6 x dofs, `block`: rows x 6, both column-major.
  void clear();
  void add_articulation(Index tree, std::span<const Index> parent, const double* motion);
  void add_term(Index piece, Index dof, Index rows, const double* block);

  // Becomes what `whole` knows about these trees, piece by piece in order. Keeps its memory.
  void begin_part(const TreeStructure& whole, std::span<const Index> trees);
  void add_part_terms(const TreeStructure& whole, Index whole_piece, Index piece, Index rows);

 private:
  Index stored_pieces() const { return static_cast<Index>(term_start_.size()) - 1; }

  std::vector<Articulation> articulations_;  // those that of_tree_ does not name are memory only
  std::vector<Index> of_tree_;        // index into articulations_, -1: none; shorter than the trees: the rest
  std::vector<Index> term_start_{0};  // [pieces + 1], up to the last piece that has terms
  std::vector<Index> term_dof_;
  std::vector<std::size_t> term_offset_;
  Numbers blocks_;  // column-major
};

}  // namespace tribo
