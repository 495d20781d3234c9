// What the sweeping solvers (pgs, nsgs) share: w_i = (J v + e + R lambda)_i one constraint after the other, and the update
// of what it depends on. W = J A^-1 J^T is never formed dense. Two modes:
//
//   velocity  with A = L L^T and G_i = L^-1 J_i^T (the only copy of J), keep y = L^T v:
//             u_i = G_i^T y + e_i,   y += G_i dlambda_i.              2 x entries of J per sweep
//   rows      block rows of W: u_i = q_i + sum_j W_ij lambda_j.       entries of W per sweep
//
// A problem given by its own W (possibly unsymmetric) uses rows. Otherwise the mode with fewer
// multiplications is taken: velocity for bodies with many contacts, rows for few contacts on large trees. Memory:
// entries of J, or of W.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tribo/linalg/delassus.h"
#include "tribo/problem/contact_problem.h"

namespace tribo {

// How much a sweep moved the impulses, and their size: sums of squares over all rows.
struct SweepChange {
  double step = 0.0;
  double impulse = 0.0;
  bool complete = true;  // every constraint that was to be was visited
};

class SweepOperator {
 public:
  enum class Mode : std::uint8_t { automatic, velocity, rows };

  // Buffers only grow: the same structure again allocates nothing. `problem` must outlive the sweeps.
  void setup(const ContactProblem& problem, Mode mode = Mode::automatic);
  Mode mode() const { return mode_; }

  // u = W impulse + q at the impulses of the last sweep.
  void find_velocity(const Vector& impulse, Vector& velocity) const;
  // The same at any impulses, to which the state is set. Removes the rounding collected by sweeps.
  void refresh(const Vector& impulse, Vector& velocity);

  // What the sweeps keep beside the impulses, an affine function of them: y in velocity mode, nothing in rows mode.
  Vector& state() { return y_; }
  // Without the rounding collected by sweeps.
  void renew_state(const Vector& impulse);
  // The state follows a step of impulse i that is none of a sweep; the step of a scalar row is the first entry. At most
  // three rows: problems without friction have no larger constraints.
  void push(Index i, const Vec3& step) {
    if (mode_ == Mode::rows) return;
    const Constraint& c = constraint_[i];
    if (c.rows == 1) {
      push_scalar(c, step[0]);
    } else {
      push_contact<3>(c, step);
    }
  }

  // Visits constraints in `order`; `local` maps the constraint's w and impulse to its new impulse:
  //   VecN<N> local.contact(Index slot, const VecN<N>& w, const VecN<N>& impulse), N = 3, 4, 6
  //   double local.scalar(Index slot, double w, double impulse)
  // where slot counts contacts of each N and scalar rows separately. `steps`, if given, receives |dlambda_i|^2 of each
  // i visited.
  template <class Local>
  SweepChange sweep(std::span<const Index> order, Vector& impulse, Local&& local, double* steps = nullptr) {
    return mode_ == Mode::rows ? visit<true>(order, impulse, local, steps)
                               : visit<false>(order, impulse, local, steps);
  }

 private:
  using Vec6 = Eigen::Matrix<double, 6, 1>;
  struct Constraint {
    Index row = 0;
    Index slot = 0;
    Index begin = 0,
          end = 0;         // pieces (velocity) or blocks (rows); pair: first entries of y of its two pieces
    std::size_t data = 0;  // first entry of its pieces or blocks in data_
    Index rows = 1;        // of a contact 3, 4, 6
    bool pair = false;     // scalar row with two pieces of three entries: balls without friction (velocity)
  };
  struct Piece {
    Index dof = 0;   // first entry of y (velocity) or column (rows)
    Index size = 0;  // degrees of freedom, or columns
  };
  struct Touched {
    Index first = 0, last = 0;  // degrees of freedom of a tree that constraints touch
    Index start = 0;            // of these in y
  };
  // A block row of three rows is stored with four, the last one zero, which fills vector registers evenly.
  static constexpr Index padded(Index rows) { return rows == 3 ? 4 : rows; }

  void number_constraints();
  bool rows_are_cheaper();
  void setup_velocity();
  void setup_state();
  static Index touched_half(const double* g);
  void setup_rows_from_matrix(const BlockMatrix& matrix);

  template <bool kRows, class Local>
  SweepChange visit(std::span<const Index> order, Vector& impulse, Local& local, double* steps);
  template <bool kRows, int N, class Local>
  void visit_contact(const Constraint& c, Vector& impulse, Local& local, double* step_size,
                     SweepChange& change);
  template <bool kRows, int N>
  VecN<N> contact_velocity(const Constraint& c, const double* impulse) const;
  template <bool kRows>
  double scalar_velocity(const Constraint& c, const double* impulse) const;
  template <int N>
  void push_contact(const Constraint& c, const VecN<N>& step);
  void push_scalar(const Constraint& c, double step);

  const ContactProblem* problem_ = nullptr;
  Mode mode_ = Mode::velocity;
  std::vector<Constraint> constraint_;
  std::vector<Piece> piece_;
  Numbers data_;
  std::vector<Touched> tree_;  // [trees], velocity
  Vector y_, y_free_;          // L^T v and its value without impulses, L^-1 b, where constraints touch them
  Vector momentum_;
  // For forming W out of the pieces.
  std::vector<Index> tree_rows_;  // [trees] constraint rows on each tree
  DelassusAssembler assembler_;   // forms W for Mode::rows
};

template <bool kRows, int N>
VecN<N> SweepOperator::contact_velocity(const Constraint& c, const double* impulse) const {
  const double* data = data_.data() + c.data;
  if constexpr (N > 3) {
    VecN<N> u = kRows ? problem_->free_velocity().segment<N>(c.row) : problem_->bias().segment<N>(c.row);
    const double* from = kRows ? impulse : y_.data();
    for (Index k = c.begin; k < c.end; ++k) {
      const auto [at, size] = piece_[k];
      if constexpr (kRows) {
        for (Index j = 0; j < size; ++j, data += N) u += from[at + j] * Eigen::Map<const VecN<N>>(data);
      } else {
        for (int r = 0; r < N; ++r) {
          for (Index d = 0; d < size; ++d) u[r] += data[r * size + d] * from[at + d];
        }
        data += N * size;
      }
    }
    return u;
  } else if constexpr (kRows) {
    constexpr Index kPaddedRows = padded(3);
    // One sum per column: three independent chains of additions.
    Eigen::Vector4d sum0 = Eigen::Vector4d::Zero(), sum1 = sum0, sum2 = sum0;
    for (Index k = c.begin; k < c.end; ++k) {
      const double* x = impulse + piece_[k].dof;
      sum0 += x[0] * Eigen::Map<const Eigen::Vector4d>(data);
      data += kPaddedRows;
      if (piece_[k].size >= 3) {
        sum1 += x[1] * Eigen::Map<const Eigen::Vector4d>(data);
        sum2 += x[2] * Eigen::Map<const Eigen::Vector4d>(data + kPaddedRows);
        data += 2 * kPaddedRows;
        for (Index j = 3; j < piece_[k].size; ++j, data += kPaddedRows) {
          sum0 += x[j] * Eigen::Map<const Eigen::Vector4d>(data);
        }
      }
    }
    return problem_->free_velocity().segment<3>(c.row) + (sum0 + sum1 + sum2).head<3>();
  } else {
    // Free bodies: entry by entry over both of them, added up once.
    Vec6 sum0 = Vec6::Zero(), sum1 = sum0, sum2 = sum0;
    const double* bias = problem_->bias().data() + c.row;
    double u0 = bias[0], u1 = bias[1], u2 = bias[2];
    for (Index k = c.begin; k < c.end; ++k) {
      const auto [dof, size] = piece_[k];
      const double* y = y_.data() + dof;
      if (size == 6) {
        const Eigen::Map<const Vec6> v(y);
        sum0 += Eigen::Map<const Vec6>(data).cwiseProduct(v);
        sum1 += Eigen::Map<const Vec6>(data + 6).cwiseProduct(v);
        sum2 += Eigen::Map<const Vec6>(data + 12).cwiseProduct(v);
      } else {
        for (Index d = 0; d < size; ++d) {
          u0 += data[d] * y[d];
          u1 += data[size + d] * y[d];
          u2 += data[2 * size + d] * y[d];
        }
      }
      data += 3 * size;
    }
    return {u0 + sum0.sum(), u1 + sum1.sum(), u2 + sum2.sum()};
  }
}

template <bool kRows>
[[gnu::always_inline]] inline double SweepOperator::scalar_velocity(const Constraint& c,
                                                                    const double* impulse) const {
  const double* data = data_.data() + c.data;
  const double* from = kRows ? impulse : y_.data();
  if (!kRows && c.pair) {
    const double *a = from + c.begin, *b = from + c.end;
    return problem_->bias()[c.row] + ((data[0] * a[0] + data[1] * a[1] + data[2] * a[2]) +
                                      (data[3] * b[0] + data[4] * b[1] + data[5] * b[2]));
  }
  double u = kRows ? problem_->free_velocity()[c.row] : problem_->bias()[c.row];
  Vec6 sum = Vec6::Zero();
  for (Index k = c.begin; k < c.end; ++k) {
    const auto [dof, size] = piece_[k];
    if (!kRows && size == 6) {
      sum += Eigen::Map<const Vec6>(data).cwiseProduct(Eigen::Map<const Vec6>(from + dof));
    } else {
      for (Index j = 0; j < size; ++j) u += data[j] * from[dof + j];
    }
    data += size;
  }
  return kRows ? u : u + sum.sum();
}

template <int N>
inline void SweepOperator::push_contact(const Constraint& c, const VecN<N>& step) {
  const double* data = data_.data() + c.data;
  for (Index k = c.begin; k < c.end; ++k) {
    const auto [dof, size] = piece_[k];
    if (N == 3 && size == 6) {
      Eigen::Map<Vec6> y(y_.data() + dof);
      y += step[0] * Eigen::Map<const Vec6>(data) + step[1] * Eigen::Map<const Vec6>(data + 6) +
           step[2] * Eigen::Map<const Vec6>(data + 12);
    } else {
      y_.segment(dof, size).noalias() +=
          Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, N>>(data, size, N).lazyProduct(step);
    }
    data += N * size;
  }
}

inline void SweepOperator::push_scalar(const Constraint& c, double step) {
  const double* data = data_.data() + c.data;
  if (c.pair) {
    Eigen::Map<Vec3>(y_.data() + c.begin) += step * Eigen::Map<const Vec3>(data);
    Eigen::Map<Vec3>(y_.data() + c.end) += step * Eigen::Map<const Vec3>(data + 3);
    return;
  }
  for (Index k = c.begin; k < c.end; ++k) {
    const auto [dof, size] = piece_[k];
    if (size == 6) {
      Eigen::Map<Vec6>(y_.data() + dof) += step * Eigen::Map<const Vec6>(data);
    } else {
      for (Index j = 0; j < size; ++j) y_[dof + j] += step * data[j];
    }
    data += size;
  }
}

template <bool kRows, int N, class Local>
[[gnu::always_inline]] inline void SweepOperator::visit_contact(const Constraint& c, Vector& impulse,
                                                                Local& local, double* step_size,
                                                                SweepChange& change) {
  Eigen::Map<VecN<N>> lambda(impulse.data() + c.row);
  VecN<N> w = contact_velocity<kRows, N>(c, impulse.data());
  if (!problem_->is_rigid()) {
    w += Eigen::Map<const VecN<N>>(problem_->compliance().data() + c.row).cwiseProduct(lambda);
  }
  const VecN<N> next = local.contact(c.slot, w, VecN<N>(lambda));
  const VecN<N> step = next - lambda;
  const double size = step.squaredNorm();
  change.step += size;
  change.impulse += next.squaredNorm();
  if (step_size != nullptr) *step_size = size;
  if (size == 0.0) return;
  lambda = next;
  if constexpr (!kRows) push_contact<N>(c, step);
}

template <bool kRows, class Local>
SweepChange SweepOperator::visit(std::span<const Index> order, Vector& impulse, Local& local, double* steps) {
  SweepChange change;
  const bool rigid = problem_->is_rigid();
  const double* compliance = problem_->compliance().data();
  for (const Index i : order) {
    const Constraint& c = constraint_[i];
    double* step_size = steps != nullptr ? steps + i : nullptr;
    if (c.rows == 3) [[likely]] {
      visit_contact<kRows, 3>(c, impulse, local, step_size, change);
    } else if (c.rows == 4) {
      visit_contact<kRows, 4>(c, impulse, local, step_size, change);
    } else if (c.rows == 6) {
      visit_contact<kRows, 6>(c, impulse, local, step_size, change);
    } else {
      double& lambda = impulse[c.row];
      double w = scalar_velocity<kRows>(c, impulse.data());
      if (!rigid) w += compliance[c.row] * lambda;
      const double next = local.scalar(c.slot, w, lambda);
      const double step = next - lambda;
      change.step += step * step;
      change.impulse += next * next;
      if (step_size != nullptr) *step_size = step * step;
      if (step == 0.0) continue;
      lambda = next;
      if constexpr (!kRows) push_scalar(c, step);
    }
  }
  return change;
}

}  // namespace tribo
