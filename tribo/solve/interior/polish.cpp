#include "tribo/solve/interior/polish.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "tribo/problem/constraints.h"

namespace tribo {
namespace {

constexpr double kSuccess = 0.1;         // alpha after a sub-problem that was solved
constexpr double kQuickSuccess = 0.01;   // ... by a single step
constexpr double kFailure = 5.0;         // and after one that was not
constexpr double kProbeReduction = 0.3;  // a probe goes on only while every step does at least this
constexpr double kInnerTolerance = 0.1;  // of a sub-problem, relative to the error it begins with
constexpr Index kInnerSteps = 12;        // Newton steps of a sub-problem
constexpr Index kTrials = 8;             // of a line search, each half as long
constexpr double kLowestAlpha = 1e-11, kHighestAlpha = 1e2;  // proximal weight, relative to w_i
constexpr Index kRefinements = 1;                            // of a linear solve

}  // namespace

void Polish::prepare(const ContactProblem& problem, Law law) {
  law_ = law;
  for (Vector* v : {&root_, &anchor_, &impulse_, &trial_, &velocity_, &natural_, &z_, &step_, &negative_}) {
    v->resize(problem.row_count());
  }
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    root_.segment(problem.row(i), problem.rows(i)).setConstant(std::sqrt(problem.scale(i)));
  }
}

// Fills velocity_, z_ and natural_ = F; returns the scaled norm of F.
double Polish::residual(const ContactProblem& problem, const Vector& impulse, double alpha) {
  problem.velocity_of(impulse, dofs_, velocity_);
  z_ = impulse.array() -
       (velocity_.array() + problem.compliance().array() * impulse.array()) / root_.array().square() -
       alpha * (impulse.array() - anchor_.array());
  for_each_constraint(
      problem,
      [&](auto cone) {
        cone.rows(natural_) = cone.get(impulse) - project_law(cone.get(z_), cone.friction, law_);
      },
      [&](IntervalConstraint row) { natural_[row.row] = impulse[row.row] - row.set.project(z_[row.row]); });
  return natural_.cwiseProduct(root_).norm();
}

void Polish::fill_blocks(const ContactProblem& problem, double alpha, RowBlocks& blocks) const {
  for_each_constraint(
      problem,
      [&](auto cone) {
        constexpr int n = cone.kRows;
        const Index i = cone.index;
        const double rho = 1.0 / problem.scale(i);
        const MatN<n> t = project_law_jacobian(cone.get(z_), cone.friction, law_);
        const VecN<n> soft = (rho * problem.compliance().segment<n>(cone.row)).array() + alpha;
        blocks.p.at<n>(i) = rho * t;
        blocks.q.at<n>(i) = MatN<n>::Identity() - t + t * soft.asDiagonal();
        blocks.q_inverse.at<n>(i) = blocks.q.at<n>(i).inverse();
        blocks.d.at<n>(i) = blocks.q_inverse.at<n>(i) * blocks.p.at<n>(i);
      },
      [&](IntervalConstraint row) {
        const Index i = row.index;
        const double rho = 1.0 / problem.scale(i), t = row.set.derivative(z_[row.row]);
        const double q = 1.0 - t + t * (rho * problem.compliance()[row.row] + alpha);
        blocks.p[i](0, 0) = rho * t;
        blocks.q[i](0, 0) = q;
        blocks.q_inverse[i](0, 0) = 1.0 / q;
        blocks.d[i](0, 0) = rho * t / q;
      });
}

// From trial_ with F at it: a step of decreasing length until the norm of F falls; the full one otherwise.
bool Polish::newton_step(const ContactProblem& problem, double alpha, double& merit) {
  const double before = merit;
  double length = 1.0;
  trial_ += step_;
  merit = residual(problem, trial_, alpha);
  for (Index k = 0; k < kTrials && !(merit <= (1.0 - 0.1 * length) * before); ++k) {
    trial_ -= 0.5 * length * step_;
    length *= 0.5;
    merit = residual(problem, trial_, alpha);
  }
  return merit < before;
}

Polish::End Polish::run(const ContactProblem& problem, Monitor& monitor, RowSystem& system, RowBlocks& blocks,
                        const Vector& start, double alpha, Index factorizations, bool probe,
                        Index& iteration) {
  blocks.weight = root_;
  blocks.symmetric = false;
  impulse_ = start;
  factorizations = std::min(factorizations, monitor.factorizations_left());
  Index used = 0;
  anchor_ = impulse_;
  double error = residual(problem, impulse_, 0.0);
  const Index last = monitor.iterations_left();
  while (used < factorizations && iteration < last) {
    alpha = std::clamp(alpha, kLowestAlpha, kHighestAlpha);
    anchor_ = impulse_;
    trial_ = impulse_;
    double merit = residual(problem, trial_, alpha);
    const double wanted = kInnerTolerance * error;
    bool solved = false, quick = false;
    for (Index k = 0; k < kInnerSteps && used < factorizations && iteration < last && !solved; ++k) {
      fill_blocks(problem, alpha, blocks);
      monitor.count_factorization();
      ++used;
      if (!system.factorize(problem, blocks)) break;
      negative_ = -natural_;
      system.solve(problem, blocks, negative_, step_, kRefinements);
      if (!step_.allFinite()) break;
      const double before = merit;
      const bool better = newton_step(problem, alpha, merit);
      quick = k == 0;
      if (monitor.check(++iteration, trial_, velocity_, alpha)) return End::stopped;
      solved = merit <= wanted;
      if (probe && merit > kProbeReduction * before) return End::stalled;
      if (!better) break;
    }
    const double moved = residual(problem, trial_, 0.0);
    if (solved || moved < error) {
      impulse_ = trial_;
      if (!(moved < 0.999 * error) && alpha <= kLowestAlpha) return End::stalled;
      error = moved;
    }
    if (!solved && alpha >= kHighestAlpha) return End::stalled;
    alpha *= solved ? (quick ? kQuickSuccess : kSuccess) : kFailure;
  }
  return End::exhausted;
}

}  // namespace tribo
