#include "tribo/solve/sweeps/tiny_sweeps.h"

#include <algorithm>
#include <type_traits>

namespace tribo {

void VisitSolvers::prepare(const ContactProblem& problem, Law law) {
  law_ = law;
  exact_.clear();
  convex_.clear();
  scalar_.clear();
  for_each_constraint(
      problem,
      [&](auto cone) {
        constexpr int n = cone.kRows;
        const MatN<n> w = local_matrix<n>(problem, cone.index);
        if (law == Law::exact) {
          exact_.of<n>().emplace_back(w, cone.friction);
        } else {
          convex_.of<n>().emplace_back(w, cone.friction);
        }
      },
      [&](IntervalConstraint row) { scalar_.push_back(scalar_row(problem, row.index, 1.0)); });
}

namespace {

// One sweep over all constraints in their order. `velocity_of(row, out)` writes the velocities u of N rows from `row` on
// (std::integral_constant<int, N> first), `move(row, step)` tells that their impulses have changed by `step`.
template <class VelocityOf, class Move>
void sweep_once(const ContactProblem& problem, VisitSolvers& solvers, Vector& impulse,
                const VelocityOf& velocity_of, const Move& move) {
  VisitCount count;
  for_each_constraint(
      problem,
      [&](auto cone) {
        constexpr int n = cone.kRows;
        const VecN<n> old = cone.get(impulse);
        VecN<n> w;
        velocity_of(std::integral_constant<int, n>(), cone.row, w.data());
        w += problem.compliance().segment<n>(cone.row).cwiseProduct(old);
        const VecN<n> next = solvers.solve_contact<n>(count.next(n), w, old), step = next - old;
        cone.rows(impulse) = next;
        if (!step.isZero(0.0)) move(std::integral_constant<int, n>(), cone.row, step.data());
      },
      [&](IntervalConstraint row) {
        using One = std::integral_constant<int, 1>;
        const double old = impulse[row.row];
        double u = 0.0;
        velocity_of(One(), row.row, &u);
        const double next = solvers.solve_scalar(count.next(1), u + problem.compliance()[row.row] * old, old),
                     step = next - old;
        impulse[row.row] = next;
        if (step != 0.0) move(One(), row.row, &step);
      });
}

}  // namespace

void TinySweeps::sweep(const ContactProblem& problem) {
  sweep_once(
      problem, solvers_, impulse_,
      [this](auto rows, Index row, double* u) { std::copy_n(velocity_.data() + row, rows(), u); },
      [this](auto rows, Index row, const double* step) {
        const auto& w = w_.matrix();
        if constexpr (rows() < 3) {
          velocity_ += step[0] * w.col(row);
        } else {
          velocity_ += step[0] * w.col(row) + step[1] * w.col(row + 1) + step[2] * w.col(row + 2);
          for (int r = 3; r < rows(); ++r) velocity_ += step[r] * w.col(row + r);
        }
      });
}

bool TinySweeps::run(const ContactProblem& problem, Monitor& monitor) {
  w_.assemble(problem);
  impulse_ = monitor.start();
  velocity_ = problem.free_velocity();
  if (!impulse_.isZero(0.0)) velocity_.noalias() += w_.matrix() * impulse_;
  solvers_.prepare(problem, monitor.settings().law);
  const Index most = monitor.iterations_left();
  for (Index k = 1; k <= most; ++k) {
    sweep(problem);
    // Looking costs about as much as a sweep; separate contacts are done after the first.
    if (k % 2 == 1 && k != 1 && k != most) continue;
    // Where W is explicit, fresh velocities are cheaper than checking twice whether ours have drifted.
    const bool done =
        problem.has_delassus() ? monitor.check(k, impulse_) : monitor.check(k, impulse_, velocity_);
    if (done) return true;
  }
  return false;
}

void DenseSweeps::sweep(const ContactProblem& problem) {
  const Index dofs = whitened_.dofs();
  double* y = state_.data();
  sweep_once(
      problem, solvers_, impulse_,
      [&](auto rows, Index row, double* u) {
        whitened_.products<rows()>(row, y, u);
        for (int r = 0; r < rows(); ++r) u[r] += problem.bias()[row + r];
      },
      [&](auto rows, Index row, const double* step) {
        add_columns<rows()>(whitened_.column(row), dofs, step, 1.0, y);
      });
}

bool DenseSweeps::run(const ContactProblem& problem, Monitor& monitor) {
  whitened_.assemble(problem);
  impulse_ = monitor.start();
  state_ = whitened_.free();
  whitened_.add_impulses(impulse_, 1.0, state_);
  solvers_.prepare(problem, monitor.settings().law);
  const Index most = monitor.iterations_left();
  for (Index k = 1; k <= most; ++k) {
    sweep(problem);
    if (k % 2 == 1 && k != most) continue;  // looking costs about as much as a sweep
    whitened_.velocity_of(state_, velocity_);
    if (monitor.check(k, impulse_, velocity_)) return true;
  }
  return false;
}

}  // namespace tribo
