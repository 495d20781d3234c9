#include "tribo/solve/splitting/split_terms.h"

#include <algorithm>
#include <cmath>

namespace tribo {
namespace {

// The columns of a piece that are not zero: [first, last).
struct Columns {
  Index first, last;
};

Columns used_columns(const BlockJacobian::Piece& piece) {
  Columns c{0, static_cast<Index>(piece.cols())};
  while (c.first < c.last && piece.col(c.first).isZero(0.0)) ++c.first;
  while (c.last > c.first && piece.col(c.last - 1).isZero(0.0)) --c.last;
  return c;
}

// Rows with this support add nothing to the pattern of the tree.
bool on_one_path(const BlockJacobian::Piece& piece, const TreeMatrix& pattern) {
  const Columns used = used_columns(piece);
  for (Index c = used.first; c < used.last; ++c) {
    if (!piece.col(c).isZero(0.0) && !pattern.on_path(c, used.last - 1)) return false;
  }
  return true;
}

}  // namespace

Index SplitTerms::slack_count(Index constraint) const {
  if (splitting_ == Splitting::none) return 1;
  return std::max<Index>(1, static_cast<Index>(terms(constraint).size()));
}

void SplitTerms::velocity_of(const ContactProblem& problem, Index constraint, const Vector& extended,
                             Vector& u) const {
  const Index row = problem.row(constraint);
  with_rows(problem.rows(constraint), [&](auto rows) {
    constexpr int n = rows();
    VecN<n> sum = problem.bias().segment<n>(row);
    for (const Term& term : terms(constraint)) {
      if constexpr (n == 1) {
        sum[0] +=
            Eigen::Map<const Vector>(term.block, term.cols).dot(extended.segment(term.start, term.cols));
      } else if (term.cols == 6) {
        sum.noalias() +=
            Eigen::Map<const Eigen::Matrix<double, n, 6>>(term.block) * extended.segment<6>(term.start);
      } else {
        sum.noalias() +=
            Eigen::Map<const Eigen::Matrix<double, n, Eigen::Dynamic>>(term.block, n, term.cols) *
            extended.segment(term.start, term.cols);
      }
    }
    u.segment<n>(row) = sum;
  });
}

double SplitTerms::pseudo_density(const ContactProblem& problem) const {
  double sum = 0.0;
  Index count = 0;
  for (Index tree = 0; tree < problem.tree_count(); ++tree) {
    const auto on_tree = incident(tree);
    if (on_tree.empty()) continue;
    double mass = 0.0;
    if (problem.mass().block_size(tree) == 6) {
      mass = problem.mass().block(tree).diagonal().head<3>().mean();
    } else {
      for (const Incident& t : on_tree) mass += 1.0 / problem.scale(terms_[t.term].constraint);
      mass /= static_cast<double>(on_tree.size());
    }
    sum += std::log(mass / static_cast<double>(on_tree.size()));
    ++count;
  }
  return count > 0 ? std::exp(sum / count) : 1.0;
}

// A tree is split by bodies if its joints are known and every constraint on it either names its bodies or
// acts along one path (a joint limit); otherwise it stays one dense block.
void SplitTerms::find_articulated(const ContactProblem& problem) {
  const TreeStructure& structure = problem.structure();
  articulated_.assign(problem.tree_count(), -1);
  articulated_count_ = 0;
  if (splitting_ != Splitting::body || structure.empty()) return;
  for (Index tree = 0; tree < problem.tree_count(); ++tree) {
    const Articulation* articulation = structure.articulation(tree);
    if (articulation == nullptr) continue;
    articulated_[tree] = articulated_count_++;
    if (articulated_count_ > static_cast<Index>(patterns_.size())) patterns_.emplace_back();
    patterns_[articulated_[tree]].analyze(articulation->parent);
  }
  const BlockJacobian& jacobian = problem.jacobian();
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      const Index tree = jacobian.piece_tree(p);
      if (articulated_[tree] < 0 || structure.term_begin(p) < structure.term_end(p)) continue;
      if (!on_one_path(jacobian.piece(i, p), patterns_[articulated_[tree]])) articulated_[tree] = -1;
    }
  }
}

void SplitTerms::add_terms(const ContactProblem& problem, Index constraint, Index piece) {
  const BlockJacobian& jacobian = problem.jacobian();
  const TreeStructure& structure = problem.structure();
  const Index tree = jacobian.piece_tree(piece);
  const Index start = extended_start_[tree];
  const Index dofs = jacobian.piece_cols(piece);
  const auto add = [&](const double* block, Index at, Index cols) {
    terms_.push_back({block, at, cols, constraint, 0});
    term_tree_.push_back(tree);
  };
  if (by_bodies(tree) && structure.term_begin(piece) < structure.term_end(piece)) {
    for (Index t = structure.term_begin(piece); t < structure.term_end(piece); ++t) {
      add(structure.term_data(t), start + dofs + 6 * structure.term_dof(t), 6);
    }
  } else if (dofs == 6) {
    add(jacobian.piece_data(piece), start, 6);
  } else {
    const Columns used = used_columns(jacobian.piece(constraint, piece));
    if (used.first == used.last) return;
    const std::size_t skipped = static_cast<std::size_t>(used.first) * problem.rows(constraint);
    add(jacobian.piece_data(piece) + skipped, start + used.first, used.last - used.first);
  }
}

// Counting sort of the terms by tree: incident_start_[tree + 1] is first the end of the tree's part, moves down
// to its beginning while the part is filled from behind, and is then shifted into its own place.
void SplitTerms::find_incident(const ContactProblem& problem) {
  incident_start_.assign(problem.tree_count() + 1, 0);
  incident_.resize(terms_.size());
  for (const Index tree : term_tree_) ++incident_start_[tree + 1];
  for (Index tree = 0; tree < problem.tree_count(); ++tree)
    incident_start_[tree + 1] += incident_start_[tree];
  for (Index t = static_cast<Index>(terms_.size()) - 1; t >= 0; --t) {
    const Index tree = term_tree_[t];
    incident_[--incident_start_[tree + 1]] = {t, terms_[t].start - extended_start_[tree], terms_[t].cols};
  }
  for (Index tree = 0; tree < problem.tree_count(); ++tree) incident_start_[tree] = incident_start_[tree + 1];
  incident_start_[problem.tree_count()] = static_cast<Index>(terms_.size());
  force_start_.resize(problem.tree_count() + 1);
  force_start_[0] = 0;
  for (Index tree = 0; tree < problem.tree_count(); ++tree) {
    Index at = force_start_[tree];
    for (const Incident& t : incident(tree)) {
      terms_[t.term].force = at;
      at += t.cols;
    }
    force_start_[tree + 1] = at;
  }
}

void SplitTerms::prepare(const ContactProblem& problem, Splitting splitting) {
  splitting_ = splitting;
  find_articulated(problem);
  const Index trees = problem.tree_count();
  extended_start_.resize(trees + 1);
  extended_start_[0] = 0;
  largest_ = 0;
  for (Index tree = 0; tree < trees; ++tree) {
    const Index size = problem.mass().block_size(tree) * (by_bodies(tree) ? 7 : 1);
    extended_start_[tree + 1] = extended_start_[tree] + size;
    largest_ = std::max(largest_, size);
  }
  terms_.clear();
  term_tree_.clear();
  term_start_.resize(problem.constraint_count() + 1);
  const BlockJacobian& jacobian = problem.jacobian();
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    term_start_[i] = static_cast<Index>(terms_.size());
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) add_terms(problem, i, p);
  }
  term_start_[problem.constraint_count()] = static_cast<Index>(terms_.size());
  find_incident(problem);
}

std::size_t SplitTerms::byte_count() const {
  std::size_t bytes = terms_.capacity() * sizeof(Term) + incident_.capacity() * sizeof(Incident);
  for (const auto* v :
       {&articulated_, &extended_start_, &term_tree_, &term_start_, &incident_start_, &force_start_})
    bytes += v->capacity() * sizeof(Index);
  return bytes;
}

}  // namespace tribo
