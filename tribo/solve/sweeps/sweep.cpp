#include "tribo/solve/sweeps/sweep.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "tribo/linalg/whitened_jacobian.h"

namespace tribo {
namespace {

// Entry of a piece of G beside its largest: rounding of world coordinates.
constexpr double kNegligible = 1e-12;

}  // namespace

void SweepOperator::setup(const ContactProblem& problem, Mode mode) {
  problem_ = &problem;
  number_constraints();
  if (problem.has_delassus()) {
    mode_ = Mode::rows;
    setup_rows_from_matrix(problem.delassus());
    return;
  }
  mode_ = mode;
  if (mode == Mode::automatic) mode_ = rows_are_cheaper() ? Mode::rows : Mode::velocity;
  if (mode_ == Mode::rows) {
    setup_rows_from_matrix(assembler_.assemble(problem.mass_factor(), problem.jacobian()));
  } else {
    setup_velocity();
  }
}

void SweepOperator::number_constraints() {
  const Index count = problem_->constraint_count();
  constraint_.resize(count);
  std::array<Index, kMostRows + 1> slots{};  // by rows
  for (Index i = 0; i < count; ++i) {
    Constraint& c = constraint_[i];
    c.row = problem_->row(i);
    c.rows = problem_->rows(i);
    c.pair = false;
    c.slot = slots[c.rows]++;
  }
}

// Entries of W are bounded by the sum over trees of (rows on the tree)^2. Rows must save half of the work to
// be worth forming W.
bool SweepOperator::rows_are_cheaper() {
  const BlockJacobian& jacobian = problem_->jacobian();
  tree_rows_.assign(problem_->tree_count(), 0);
  double entries_of_j = 0.0;
  for (Index i = 0; i < problem_->constraint_count(); ++i) {
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      tree_rows_[jacobian.piece_tree(p)] += jacobian.rows(i);
      entries_of_j += static_cast<double>(jacobian.rows(i)) * jacobian.piece_cols(p);
    }
  }
  double entries_of_w = 0.0;
  for (const Index rows : tree_rows_) entries_of_w += static_cast<double>(rows) * rows;
  return 2.0 * entries_of_w < 2.0 * entries_of_j;
}

// First of the three of six degrees of freedom that a scalar row touches but for rounding; -1: it touches others too.
// A ball without friction does not turn.
Index SweepOperator::touched_half(const double* g) {
  const Eigen::Map<const Vec3> first(g), last(g + 3);
  const double a = first.cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
  const double b = last.cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
  return b <= kNegligible * a ? 0 : a <= kNegligible * b ? 3 : -1;
}

void SweepOperator::setup_velocity() {
  const BlockJacobian& jacobian = problem_->jacobian();
  const Index count = problem_->constraint_count();
  piece_.resize(jacobian.piece_count());
  data_.resize(jacobian.entry_count());
  tree_.assign(problem_->tree_count(), {std::numeric_limits<Index>::max(), 0, 0});
  std::size_t at = 0;
  for (Index i = 0; i < count; ++i) {
    Constraint& c = constraint_[i];
    c.begin = jacobian.piece_begin(i);
    c.end = jacobian.piece_end(i);
    c.data = at;
    const Index rows = jacobian.rows(i);
    for (Index p = c.begin; p < c.end; ++p) {
      const Index n = jacobian.piece_cols(p), tree = jacobian.piece_tree(p);
      whiten_piece(problem_->mass_factor(), jacobian, i, p, data_.data() + at, n);
      Piece& piece = piece_[p] = {0, n};
      const Index half = rows == 1 && n == 6 ? touched_half(data_.data() + at) : -1;
      if (half >= 0) {
        piece = {half, 3};
        std::copy_n(data_.data() + at + half, 3, data_.data() + at);
      }
      tree_[tree].first = std::min(tree_[tree].first, piece.dof);
      tree_[tree].last = std::max(tree_[tree].last, piece.dof + piece.size);
      at += static_cast<std::size_t>(rows) * piece.size;
    }
  }
  setup_state();
  for (Index p = 0; p < jacobian.piece_count(); ++p) {
    const Touched& touched = tree_[jacobian.piece_tree(p)];
    piece_[p].dof += touched.start - touched.first;
  }
  for (Constraint& c : constraint_) {
    c.pair =
        c.rows == 1 && c.end - c.begin == 2 && piece_[c.begin].size == 3 && piece_[c.begin + 1].size == 3;
    if (c.pair) std::tie(c.begin, c.end) = std::pair(piece_[c.begin].dof, piece_[c.begin + 1].dof);
  }
}

// y of the degrees of freedom that are touched.
void SweepOperator::setup_state() {
  Index size = 0;
  for (Touched& tree : tree_) {
    tree.start = size;
    size += std::max<Index>(tree.last - tree.first, 0);
  }
  momentum_ = problem_->momentum();
  problem_->mass_factor().solve_lower_in_place(momentum_);
  y_free_.resize(size);
  for (Index b = 0; b < problem_->tree_count(); ++b) {
    const auto& [first, last, start] = tree_[b];
    if (last <= first) continue;  // nothing touches it
    const Index from = problem_->mass().block_start(b) + first;
    for (Index k = 0; k < last - first; ++k) y_free_[start + k] = momentum_[from + k];
  }
  y_ = y_free_;
}

void SweepOperator::setup_rows_from_matrix(const BlockMatrix& matrix) {
  y_.resize(0);
  const Index count = matrix.group_count();
  piece_.resize(matrix.block_count());
  std::size_t at = 0;
  for (Index i = 0; i < count; ++i) {
    Constraint& c = constraint_[i];
    c.begin = matrix.row_begin(i);
    c.end = matrix.row_end(i);
    c.data = at;
    for (Index k = c.begin; k < c.end; ++k) {
      piece_[k] = {matrix.start(matrix.column(k)), matrix.rows(matrix.column(k))};
      at += static_cast<std::size_t>(padded(c.rows)) * piece_[k].size;
    }
  }
  data_.resize(at);
  at = 0;
  for (Index i = 0; i < count; ++i) {
    const Index rows = matrix.rows(i);
    for (Index k = constraint_[i].begin; k < constraint_[i].end; ++k) {
      const double* block = matrix.data(k);
      for (Index col = 0; col < piece_[k].size; ++col) {
        for (Index r = 0; r < rows; ++r) data_[at++] = block[col * rows + r];
        for (Index r = rows; r < padded(rows); ++r) data_[at++] = 0.0;
      }
    }
  }
}

void SweepOperator::renew_state(const Vector& impulse) {
  if (mode_ == Mode::rows) return;
  y_ = y_free_;
  for (const Constraint& c : constraint_) {
    with_rows(c.rows, [&](auto size) {
      constexpr int n = size();
      const VecN<n> lambda = impulse.segment<n>(c.row);
      if (lambda.isZero(0.0)) return;
      if constexpr (n == 1) {
        push_scalar(c, lambda[0]);
      } else {
        push_contact<n>(c, lambda);
      }
    });
  }
}

void SweepOperator::refresh(const Vector& impulse, Vector& velocity) {
  renew_state(impulse);
  find_velocity(impulse, velocity);
}

void SweepOperator::find_velocity(const Vector& impulse, Vector& velocity) const {
  velocity.resize(impulse.size());
  const bool rows = mode_ == Mode::rows;
  for (const Constraint& c : constraint_) {
    with_rows(c.rows, [&](auto size) {
      constexpr int n = size();
      if constexpr (n == 1) {
        velocity[c.row] =
            rows ? scalar_velocity<true>(c, impulse.data()) : scalar_velocity<false>(c, impulse.data());
      } else {
        velocity.segment<n>(c.row) = rows ? contact_velocity<true, n>(c, impulse.data())
                                          : contact_velocity<false, n>(c, impulse.data());
      }
    });
  }
}

}  // namespace tribo
