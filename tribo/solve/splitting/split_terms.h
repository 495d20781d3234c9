// How SubADMM and its ablations cut the constraints into pieces, each with a slack of its own: Lee et al.
// (2024), section VI-A.
//
//   Splitting::body   one term per body of an articulated tree and per free body (30), (31)
//   Splitting::tree   one term per tree («No Body»)
//   Splitting::none   one term for all trees together («No Sub», (28))
//
// A term is a block of the constraint's rows on a contiguous part of the extended velocity V. For every tree
// V holds the tree's own degrees of freedom and, where it is split by bodies, the spatial velocity of every
// body behind them. Blocks are not copied: they point into the problem.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tribo/linalg/tree_matrix.h"
#include "tribo/problem/contact_problem.h"

namespace tribo {

enum class Splitting : std::uint8_t { body, tree, none };

class SplitTerms {
 public:
  struct Term {
    const double* block;  // rows(constraint) x cols, column-major
    Index start;          // in V
    Index cols;
    Index constraint;
    Index force;  // where J^T s of the term goes, in an array of force_count() entries ordered by trees
  };
  // A term seen from its tree.
  struct Incident {
    Index term;
    Index offset;  // in the tree's part of V
    Index cols;
  };

  // Allocates only when the problem is larger than any before or its trees are other ones.
  void prepare(const ContactProblem& problem, Splitting splitting);

  Splitting splitting() const { return splitting_; }
  Index extended_size() const { return extended_start_.back(); }
  Index extended_start(Index tree) const { return extended_start_[tree]; }
  Index extended_size(Index tree) const { return extended_start_[tree + 1] - extended_start_[tree]; }
  Index largest_extended() const { return largest_; }

  std::span<const Term> terms(Index constraint) const {
    return {terms_.data() + term_start_[constraint], terms_.data() + term_start_[constraint + 1]};
  }
  // |Z_i|: slacks of the constraint, at least 1.
  Index slack_count(Index constraint) const;

  // u = J V + e of one constraint, written to its rows of `u`.
  void velocity_of(const ContactProblem& problem, Index constraint, const Vector& extended, Vector& u) const;

  // Geometric mean over the trees of mass per term, kg: the penalty of section VI-D.
  double pseudo_density(const ContactProblem& problem) const;

  // Terms on a tree, in the order of the constraints.
  std::span<const Incident> incident(Index tree) const {
    return {incident_.data() + incident_start_[tree], incident_.data() + incident_start_[tree + 1]};
  }
  const Term& term(Index t) const { return terms_[t]; }
  Index force_count() const { return force_start_.back(); }
  Index force_start(Index tree) const { return force_start_[tree]; }  // the tree's forces, in incident order

  // Whether the tree is split by bodies, and its number among those that are.
  bool by_bodies(Index tree) const { return articulated_[tree] >= 0; }
  Index articulated_index(Index tree) const { return articulated_[tree]; }
  const TreeMatrix& pattern(Index articulated) const { return patterns_[articulated]; }
  Index articulated_count() const { return articulated_count_; }

  std::size_t byte_count() const;

 private:
  void find_articulated(const ContactProblem& problem);
  void add_terms(const ContactProblem& problem, Index constraint, Index piece);
  void find_incident(const ContactProblem& problem);

  Splitting splitting_ = Splitting::body;
  std::vector<Index> articulated_;  // [trees] -1: no
  std::vector<TreeMatrix> patterns_;
  Index articulated_count_ = 0;
  std::vector<Index> extended_start_;  // [trees + 1]
  Index largest_ = 0;
  std::vector<Term> terms_;
  std::vector<Index> term_tree_;
  std::vector<Index> term_start_;      // [constraints + 1]
  std::vector<Incident> incident_;     // [terms]
  std::vector<Index> incident_start_;  // [trees + 1]
  std::vector<Index> force_start_;     // [trees + 1]
};

}  // namespace tribo
