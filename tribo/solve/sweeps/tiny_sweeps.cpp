#include "tribo/solve/sweeps/tiny_sweeps.h"

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

void TinySweeps::sweep(const ContactProblem& problem) {
  VisitCount count;
  for_each_constraint(
      problem,
      [&](auto cone) {
        constexpr int n = cone.kRows;
        const VecN<n> old = cone.get(impulse_);
        const VecN<n> velocity =
            velocity_.segment<n>(cone.row) + problem.compliance().segment<n>(cone.row).cwiseProduct(old);
        const VecN<n> next = solvers_.solve_contact<n>(count.next(n), velocity, old);
        cone.rows(impulse_) = next;
        const VecN<n> step = next - old;
        if (step.isZero(0.0)) return;
        if constexpr (n == 3) {
          velocity_ += step[0] * w_.matrix().col(cone.row) + step[1] * w_.matrix().col(cone.row + 1) +
                       step[2] * w_.matrix().col(cone.row + 2);
        } else {
          for (int r = 0; r < n; ++r) velocity_ += step[r] * w_.matrix().col(cone.row + r);
        }
      },
      [&](IntervalConstraint row) {
        const double old = impulse_[row.row];
        const double next = solvers_.solve_scalar(
            count.next(1), velocity_[row.row] + problem.compliance()[row.row] * old, old);
        impulse_[row.row] = next;
        if (next != old) velocity_ += (next - old) * w_.matrix().col(row.row);
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
  const Index dofs = half_.dofs();
  double* y = state_.data();
  VisitCount count;
  for_each_constraint(
      problem,
      [&](auto cone) {
        constexpr int n = cone.kRows;
        const VecN<n> old = cone.get(impulse_);
        VecN<n> u;
        half_.products<n>(cone.row, y, u.data());
        for (int r = 0; r < n; ++r) {
          u[r] += problem.bias()[cone.row + r] + problem.compliance()[cone.row + r] * old[r];
        }
        const VecN<n> next = solvers_.solve_contact<n>(count.next(n), u, old), step = next - old;
        cone.rows(impulse_) = next;
        if (step.isZero(0.0)) return;
        add_columns<n>(half_.column(cone.row), dofs, step.data(), 1.0, y);
      },
      [&](IntervalConstraint row) {
        const double old = impulse_[row.row];
        double u = 0.0;
        half_.products<1>(row.row, y, &u);
        u += problem.bias()[row.row] + problem.compliance()[row.row] * old;
        const double next = solvers_.solve_scalar(count.next(1), u, old), step = next - old;
        impulse_[row.row] = next;
        if (step == 0.0) return;
        add_columns<1>(half_.column(row.row), dofs, &step, 1.0, y);
      });
}

bool DenseSweeps::run(const ContactProblem& problem, Monitor& monitor) {
  half_.assemble(problem);
  impulse_ = monitor.start();
  state_ = half_.free();
  half_.add_impulses(impulse_, 1.0, state_);
  solvers_.prepare(problem, monitor.settings().law);
  const Index most = monitor.iterations_left();
  for (Index k = 1; k <= most; ++k) {
    sweep(problem);
    if (k % 2 == 1 && k != most) continue;  // looking costs about as much as a sweep
    half_.velocity_of(state_, velocity_);
    if (monitor.check(k, impulse_, velocity_)) return true;
  }
  return false;
}

}  // namespace tribo
