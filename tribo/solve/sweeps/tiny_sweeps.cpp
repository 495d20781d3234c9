#include "tribo/solve/sweeps/tiny_sweeps.h"

namespace tribo {

void VisitSolvers::prepare(const ContactProblem& problem, Law law) {
  law_ = law;
  const auto count = static_cast<std::size_t>(problem.constraint_count());
  if (scalar_.size() < count) scalar_.resize(count);
  if (law == Law::exact && exact_.size() < count) exact_.resize(count);
  if (law == Law::convex && convex_.size() < count) convex_.resize(count);
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (problem.kind(i) != ConstraintKind::contact) {
      scalar_[i] = scalar_row(problem, i, 1.0);
      continue;
    }
    Mat3 w = problem.delassus_diagonal(i);
    w.diagonal() += problem.compliance().segment<3>(problem.row(i));
    if (law == Law::exact) {
      exact_[i] = ExactContact(w, problem.friction(i));
    } else {
      convex_[i] = ConvexContact(w, problem.friction(i));
    }
  }
}

void TinySweeps::sweep(const ContactProblem& problem) {
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Index row = problem.row(i);
    if (problem.kind(i) != ConstraintKind::contact) {
      const double old = impulse_[row];
      const double next = solvers_.solve_scalar(i, velocity_[row] + problem.compliance()[row] * old, old);
      impulse_[row] = next;
      if (next != old) velocity_ += (next - old) * w_.matrix().col(row);
      continue;
    }
    const Vec3 old = impulse_.segment<3>(row);
    const Vec3 velocity = velocity_.segment<3>(row) + problem.compliance().segment<3>(row).cwiseProduct(old);
    const Vec3 next = solvers_.solve_contact(i, velocity, old);
    impulse_.segment<3>(row) = next;
    const Vec3 step = next - old;
    if (step.isZero(0.0)) continue;
    velocity_ += step[0] * w_.matrix().col(row) + step[1] * w_.matrix().col(row + 1) +
                 step[2] * w_.matrix().col(row + 2);
  }
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
  const Index n = half_.dofs();
  double* y = state_.data();
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Index row = problem.row(i);
    const double* x0 = half_.column(row);
    if (problem.kind(i) != ConstraintKind::contact) {
      const double old = impulse_[row];
      double u = 0.0;
      half_.products<1>(row, y, &u);
      u += problem.bias()[row] + problem.compliance()[row] * old;
      const double next = solvers_.solve_scalar(i, u, old), step = next - old;
      impulse_[row] = next;
      if (step == 0.0) continue;
      for (Index d = 0; d < n; ++d) y[d] += step * x0[d];
      continue;
    }
    const double *x1 = x0 + n, *x2 = x1 + n;
    const Vec3 old = impulse_.segment<3>(row);
    Vec3 u;
    half_.products<3>(row, y, u.data());
    for (int r = 0; r < 3; ++r) u[r] += problem.bias()[row + r] + problem.compliance()[row + r] * old[r];
    const Vec3 next = solvers_.solve_contact(i, u, old), step = next - old;
    impulse_.segment<3>(row) = next;
    if (step.isZero(0.0)) continue;
    for (Index d = 0; d < n; ++d) y[d] += step[0] * x0[d] + step[1] * x1[d] + step[2] * x2[d];
  }
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
