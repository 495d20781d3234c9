#include "tribo/solve/tiny_sweeps.h"

namespace tribo {

void TinySweeps::prepare(const ContactProblem& problem, const Vector& start) {
  w_.assemble(problem);
  impulse_ = start;
  velocity_ = problem.free_velocity();
  if (!impulse_.isZero(0.0)) velocity_.noalias() += w_.matrix() * impulse_;
}

void TinySweeps::sweep(const ContactProblem& problem, Law law) {
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Index row = problem.row(i);
    if (problem.kind(i) != ConstraintKind::contact) {
      const double old = impulse_[row];
      const double next = scalar_[i].solve(velocity_[row] + problem.compliance()[row] * old, old);
      impulse_[row] = next;
      if (next != old) velocity_ += (next - old) * w_.matrix().col(row);
      continue;
    }
    const Vec3 old = impulse_.segment<3>(row);
    const Vec3 velocity = velocity_.segment<3>(row) + problem.compliance().segment<3>(row).cwiseProduct(old);
    const Vec3 next = law == Law::exact ? exact_[i].solve(velocity, old) : convex_[i].solve(velocity, old);
    impulse_.segment<3>(row) = next;
    const Vec3 step = next - old;
    if (step.isZero(0.0)) continue;
    velocity_ += step[0] * w_.matrix().col(row) + step[1] * w_.matrix().col(row + 1) +
                 step[2] * w_.matrix().col(row + 2);
  }
}

bool TinySweeps::run(const ContactProblem& problem, Monitor& monitor, Index sweeps) {
  const Law law = monitor.settings().law;
  prepare(problem, monitor.start());
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
  const Index most = std::min(sweeps, monitor.settings().max_iterations);
  for (Index k = 1; k <= most; ++k) {
    sweep(problem, law);
    // Looking costs about as much as a sweep; separate contacts are done after the first.
    if (k % 2 == 1 && k != 1 && k != most) continue;
    // Where W is explicit, fresh velocities are cheaper than checking twice whether ours have drifted.
    const bool done =
        problem.has_delassus() ? monitor.check(k, impulse_) : monitor.check(k, impulse_, velocity_);
    if (done) return true;
  }
  return false;
}

}  // namespace tribo
