#include "tribo/solve/sweeps/sweep.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

namespace tribo {
namespace {

constexpr double kNegligible =
    1e-12;                         // entry of a piece of G beside its largest: rounding of world coordinates
constexpr Index kStillPeriod = 4;  // accelerated sweeps between two looks at who rests
constexpr double kRounding = 4e-16;  // relative step of a sweep that changed nothing but the last digits

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

// Column r of G = L^-1 J^T by forward substitution; without `lower`: L = I.
void SweepOperator::fill_column(const double* j, Index rows, Index r, const double* lower, Index n,
                                double* g) {
  for (Index k = 0; k < n; ++k) g[k] = j[k * rows + r];
  for (Index k = 0; k < n && lower != nullptr; ++k) {
    if (g[k] == 0.0) continue;
    const double* column = lower + static_cast<std::size_t>(k) * n;
    g[k] /= column[k];
    for (Index l = k + 1; l < n; ++l) g[l] -= column[l] * g[k];
  }
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
  const BlockDiagonalCholesky& factor = problem_->mass_factor();
  const bool unit = problem_->mass().is_identity();
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
      const double* lower = unit ? nullptr : factor.lower(tree).data();
      for (Index r = 0; r < rows; ++r) {
        fill_column(jacobian.piece_data(p), rows, r, lower, n,
                    data_.data() + at + static_cast<std::size_t>(r) * n);
      }
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
  const BlockDiagonalCholesky& factor = problem_->mass_factor();
  const bool unit = problem_->mass().is_identity();
  Index size = 0;
  for (Touched& tree : tree_) {
    tree.start = size;
    size += std::max<Index>(tree.last - tree.first, 0);
  }
  momentum_ = problem_->momentum();
  if (!unit) factor.solve_lower_in_place(momentum_);
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

void SweepOrder::reset(Index count, std::uint64_t seed) {
  order_.resize(count);
  for (Index i = 0; i < count; ++i) order_[i] = i;
  state_ = seed;
}

// Fisher-Yates on splitmix64: the same permutations on every machine.
void SweepOrder::shuffle() {
  for (std::size_t i = order_.size(); i > 1; --i) {
    state_ += 0x9e3779b97f4a7c15ull;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    std::swap(order_[i - 1], order_[z % i]);
  }
}

void SweepOrder::reverse() { std::reverse(order_.begin(), order_.end()); }

void SweepRest::reset(Index count, Index longest, bool only_still) {
  longest_ = only_still ? std::max<Index>(longest / kStillPeriod, std::min<Index>(longest, 1)) : longest;
  only_still_ = only_still;
  sweep_ = 0;
  period_ = only_still ? kStillPeriod : 1;
  resting_ = 0;
  if (longest_ == 0) return;
  rest_.assign(count, 0);
  quiet_.assign(count, 0);
  steps_.assign(count, 0.0);
  awake_.reserve(count);
}

std::span<const Index> SweepRest::find_awake(std::span<const Index> order) {
  if (resting_ == 0) return order;
  awake_.resize(order.size());
  resting_ = 0;
  std::size_t awake = 0;
  for (const Index i : order) {  // without branches: who rests is hard to predict
    const std::uint16_t left = rest_[i];
    awake_[awake] = i;
    awake += left == 0 ? 1 : 0;
    rest_[i] = left - (left > 0 ? 1 : 0);
    resting_ += left > 1 ? 1 : 0;
  }
  return {awake_.data(), awake};
}

void SweepRest::update(std::span<const Index> awake, const SweepChange& change) {
  // Nothing moves among those awake: only a complete sweep can tell whether that is the end.
  if (change.step <= kRounding * kRounding * change.impulse) {
    std::fill(rest_.begin(), rest_.end(), 0);
    resting_ = 0;
    return;
  }
  const double small = only_still_ ? 0.0 : 1e-4 * change.step / static_cast<double>(awake.size());
  for (const Index i : awake) {
    if (steps_[i] > small) {
      quiet_[i] = 0;
    } else if (++quiet_[i] >= 3) {
      rest_[i] = static_cast<std::uint16_t>(std::min<Index>(longest_, quiet_[i] - 2));
      quiet_[i] = rest_[i] + 2;  // no more than the longest rest needs
      ++resting_;
    }
  }
}

SweepWatch::SweepWatch(const ContactProblem& problem, double tolerance) : tolerance_(tolerance) {
  // Natural size of the impulses: what stops each constraint alone, and all the momentum there is (a heavy
  // body that rests on light ones shows only there). In Delassus form the momentum is unknown, hence the
  // larger factor.
  double natural = problem.momentum().squaredNorm();
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    natural += problem.free_velocity().segment(problem.row(i), problem.rows(i)).squaredNorm() /
               (problem.scale(i) * problem.scale(i));
  }
  const double factor =
      (problem.has_delassus() ? 1e4 : 10.0) * std::max<Index>(problem.constraint_count(), 1);
  huge_ = natural * factor * factor;
}

bool SweepWatch::due(Index sweep, const SweepChange& change) {
  step_ = change.impulse > 0.0 ? std::sqrt(change.step / change.impulse) : 0.0;
  still_ = step_ > kRounding ? 0 : still_ + (change.complete ? 1 : 0);
  if (sweep == mark_) {
    // Growth in proportion to the sweeps: impulses doubled, steps as long as before (squares: factors 4 and
    // 1).
    const bool linear = change.impulse > huge_ && change.impulse >= 3.6 * marked_.impulse &&
                        change.step >= 0.8 * marked_.step && marked_.impulse > 0.0;
    doublings_ = linear ? doublings_ + 1 : 0;
    marked_ = change;
    mark_ *= 2;
  }
  return sweep >= next_ || ratio_ * step_ <= tolerance_ || stuck() || diverging();
}

void SweepWatch::learn(Index sweep, double error) {
  next_ = sweep + 1 + std::min(sweep / 2, 6 + sweep / 12);
  if (step_ > 0.0) ratio_ = error / step_;
  if (error < 0.9 * best_) {
    best_ = error;
    best_at_ = sweep;
  }
}

bool SweepWatch::cycling(Index sweep, const SweepChange& change, const Vector& impulse, Vector& past) {
  constexpr Index kLength = 50;
  if (circle_from_ == 0) {
    if (sweep <= 2 * best_at_ + 500) return false;
    circle_from_ = sweep;
    way_ = 0.0;
    past = impulse;
    return false;
  }
  way_ += std::sqrt(change.step);
  if (sweep < circle_from_ + kLength) return false;
  circle_from_ = 0;
  best_at_ = sweep / 2;  // the next test after as many sweeps again
  return (impulse - past).norm() < 0.2 * way_;
}

}  // namespace tribo
