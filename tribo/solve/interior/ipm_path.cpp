#include "tribo/solve/interior/ipm_path.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/problem/constraints.h"
#include "tribo/problem/divergence.h"

namespace tribo {
namespace {

// Stiffness of bilateral rows, scaled: their residual shrinks by this factor per full step, and the reduced
// system keeps 16 + log10 of it digits before refinement.
constexpr double kBilateralThroughDofs = 1e-7;
constexpr double kBilateralThroughRows = 1e-10;
// The path gets ahead while its error, or its residual above kEndGame, falls by this factor within `patience` iterations.
constexpr double kPathGain = 0.7;
constexpr double kEndGame = 1e-6;
constexpr double kLargestSize = 1e18;  // of scaled impulses; beyond they grow without bound
// careful_step(): below the first length the direction is solved again without Mehrotra's term and with mu at this share at
// least; below the second with mu as it is and this share of the residual.
constexpr double kShortStep = 0.3, kCentring = 0.3;
constexpr double kTinyStep = 0.1, kResidualShare = 0.3;
// A step is shortened by the factor until every pair's smaller eigenvalue is this share of the mean.
constexpr double kLeastEigenvalue = 1e-3, kShortening = 0.8;

}  // namespace

void IpmPath::prepare(const ContactProblem& problem, Law law, RowSystem::Route route) {
  law_ = law;
  cones_.prepare(problem);
  system_.prepare(problem, route);
  blocks_.resize(problem);
  for (Vector* v : {&impulse_, &velocity_, &w_, &rp_, &r_, &dl_, &compliance_, &pull_}) {
    v->resize(problem.row_count());
  }
  impulse_.setZero();
  velocity_ = problem.free_velocity();
  set_proximal(problem, 0.0, impulse_);
}

void IpmPath::set_proximal(const ContactProblem& problem, double alpha, const Vector& anchor) {
  alpha_ = alpha;
  compliance_ = problem.compliance();
  pull_.setZero();
  if (alpha == 0.0) return;
  dl_ = alpha * cones_.scaling().cwiseAbs2().cwiseInverse();
  compliance_ += dl_;
  pull_ = dl_.cwiseProduct(anchor);
}

void IpmPath::evaluate(const ContactProblem& problem) {
  impulse_ = cones_.unit() * cones_.scaling().cwiseProduct(cones_.x());
  problem.velocity_of(impulse_, dofs_, velocity_);
  w_ = velocity_ + compliance_.cwiseProduct(impulse_) - pull_;
  w_ = w_.cwiseProduct(cones_.scaling()) / cones_.unit();
  cones_.primal_residual(law_, w_, rp_);
}

double IpmPath::residual() const { return std::max(rp_.lpNorm<Eigen::Infinity>(), cones_.mu()); }

void IpmPath::start_cold(const ContactProblem& problem, const IpmPathOptions& options, Monitor& monitor) {
  cones_.start_cold();
  if (options.start == IpmOptions::Start::stick) return start_stick(problem, options, monitor);
  if (options.start == IpmOptions::Start::centre || options.start == IpmOptions::Start::automatic) return;
  blocks_.weight = cones_.scaling();
  blocks_.symmetric = false;
  evaluate(problem);
  const double bilateral = kBilateralThroughDofs;
  if (!cones_.scale_pairs(problem, law_, compliance_, w_, bilateral, blocks_)) return;
  monitor.count_factorization();
  if (!system_.factorize(problem, blocks_)) return;
  if (options.start == IpmOptions::Start::clamped) {
    if (solve_direction(problem, options, 0.0, false, 1.0)) cones_.start_clamped();
    return;
  }
  // (4.57): at x = y = e the blocks are N2 = I, so (W~ + I) z = -q~ is solved by the matrix at hand (exactly
  // under the convex law, to first order under the exact one).
  r_ = -problem.free_velocity() / cones_.unit();
  system_.solve(problem, blocks_, r_, dl_, options.refinements);
  if (dl_.allFinite()) cones_.start_shifted(dl_.cwiseQuotient(cones_.scaling()));
}

// The normal impulses that would hold everything where it is, W lambda = -q softened, tell how large impulses
// are: the lower contacts of a tall stack carry what single contacts do not suggest.
void IpmPath::start_stick(const ContactProblem& problem, const IpmPathOptions& options, Monitor& monitor) {
  blocks_.weight = cones_.scaling();
  blocks_.symmetric = false;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    with_rows(problem.rows(i), [&](auto rows) {
      constexpr int n = rows();
      VecN<n> soft = VecN<n>::Constant(problem.scale(i) / options.sticking);
      soft += compliance_.segment<n>(problem.row(i));
      const MatN<n> inverse = soft.cwiseInverse().asDiagonal();
      blocks_.p.at<n>(i).setIdentity();
      blocks_.q.at<n>(i) = soft.asDiagonal();
      blocks_.q_inverse.at<n>(i) = inverse;
      blocks_.d.at<n>(i) = inverse;
    });
  }
  monitor.count_factorization();
  if (!system_.factorize(problem, blocks_)) return;
  r_ = -problem.free_velocity();
  system_.solve(problem, blocks_, r_, dl_, options.refinements);
  if (!dl_.allFinite()) return;
  dl_ = dl_.cwiseQuotient(cones_.scaling()) / cones_.unit();
  for_each_cone(problem, [&](auto cone) { cone.tangent(dl_).setZero(); });
  w_.setZero();
  cones_.start_from(&dl_, &w_, 1.0);
}

void IpmPath::start_warm(const ContactProblem& problem, const IpmPathOptions& options,
                         const Vector& impulse) {
  impulse_ = impulse;
  problem.velocity_of(impulse_, dofs_, velocity_);
  w_ = velocity_ + compliance_.cwiseProduct(impulse_) - pull_;
  w_ = w_.cwiseProduct(cones_.scaling()) / cones_.unit();
  cones_.add_slip(law_, w_, w_);
  dl_ = impulse_.cwiseQuotient(cones_.scaling()) / cones_.unit();
  cones_.start_from(options.warm == IpmOptions::Warm::full ? &dl_ : nullptr, &w_, options.warm_margin);
}

bool IpmPath::solve_direction(const ContactProblem& problem, const IpmPathOptions& options, double target,
                              bool second_order, double share) {
  cones_.aim(target, second_order, share, rp_, r_);
  system_.solve(problem, blocks_, r_, dl_, options.refinements);
  if (!dl_.allFinite()) return false;
  cones_.set_direction(dl_);
  return true;
}

bool IpmPath::diverges(const ContactProblem& problem) const {
  return !impulse_.allFinite() || looks_infeasible(problem, impulse_, velocity_, law_);
}

// Called with the corrector's direction and its step. Returns the step to take along the direction then held,
// 0 when there is none.
double IpmPath::careful_step(const ContactProblem& problem, const IpmPathOptions& options, double target,
                             double step) {
  const double mu = cones_.mu();
  if (step < kShortStep) {
    if (!solve_direction(problem, options, std::max(target, kCentring * mu), false, 1.0)) return 0.0;
    step = cones_.step_lengths(options.step_back).minCoeff();
  }
  if (step < kTinyStep) {
    if (!solve_direction(problem, options, mu, false, kResidualShare)) return 0.0;
    step = cones_.step_lengths(options.step_back).minCoeff();
  }
  for (Index k = 0; k < 20 && !cones_.is_central_at(step, kLeastEigenvalue); ++k) step *= kShortening;
  return step;
}

// One iteration from an evaluated point; false when it cannot go on.
bool IpmPath::advance(const ContactProblem& problem, const IpmPathOptions& options, Monitor& monitor) {
  const double bilateral =
      system_.route() == RowSystem::Route::rows ? kBilateralThroughRows : kBilateralThroughDofs;
  if (!cones_.scale_pairs(problem, law_, compliance_, w_, bilateral, blocks_)) return false;
  monitor.count_factorization();
  if (!system_.factorize(problem, blocks_)) return false;
  if (!solve_direction(problem, options, 0.0, false, 1.0)) return false;
  if (cones_.pair_count() == 0) {  // equalities only: one solve (Mangoni 4.27)
    cones_.move(1.0, 1.0);
    return true;
  }
  const bool apart = !options.equal_steps && !cones_.has_cones();
  const Vec2 affine = cones_.step_lengths(1.0);
  const double mu = cones_.mu();
  const double mu_affine =
      apart ? cones_.mu_at(affine[0], affine[1]) : cones_.mu_at(affine.minCoeff(), affine.minCoeff());
  const double ratio = std::clamp(mu_affine / mu, 0.0, 1.0);
  const double target = ratio * ratio * ratio * mu;
  if (!solve_direction(problem, options, target, true, 1.0)) return false;
  const Vec2 steps = cones_.step_lengths(options.step_back);
  if (apart) {
    cones_.move(steps[0], steps[1]);
    return steps.minCoeff() > 0.0;
  }
  double step = steps.minCoeff();
  if (cones_.has_cones()) step = careful_step(problem, options, target, step);
  short_steps_ = step < options.blocked_step ? short_steps_ + 1 : 0;
  cones_.move(step, step);
  return step > 0.0;
}

IpmPath::End IpmPath::run(const ContactProblem& problem, const IpmPathOptions& options, Monitor& monitor,
                          double target, Index& iteration, Index last_iteration) {
  blocks_.weight = cones_.scaling();
  blocks_.symmetric = is_symmetric(problem);
  double best = std::numeric_limits<double>::infinity(), best_residual = best, largest = 0.0;
  Index waiting = 0;
  short_steps_ = 0;
  evaluate(problem);
  while (iteration < last_iteration && monitor.may_factorize()) {
    if (!advance(problem, options, monitor))
      return monitor.out_of_time(iteration) ? End::stopped : End::broken;
    evaluate(problem);
    if (!impulse_.allFinite() || !velocity_.allFinite()) return End::broken;
    ++iteration;
    if (monitor.check(iteration, impulse_, velocity_, cones_.mu())) return End::stopped;
    const double error = alpha_ == 0.0 ? monitor.last_error() : residual();
    if (error <= target) return End::reached;
    if (options.blocked_steps > 0 && short_steps_ >= options.blocked_steps) return End::blocked;
    // The path may go on for many steps before the error shows it: residuals that fall, impulses that still grow to
    // their size.
    const double remaining = residual(), size = cones_.x().lpNorm<Eigen::Infinity>();
    const bool ahead = remaining > kEndGame && remaining < kPathGain * best_residual;
    const bool growing = kPathGain * size > largest && size < kLargestSize;
    if (error < kPathGain * best || ahead || growing) {
      best = std::min(best, error);
      best_residual = std::min(best_residual, remaining);
      largest = std::max(largest, size);
      waiting = 0;
    } else if (++waiting >= options.patience) {
      return End::stalled;
    }
  }
  return End::stalled;
}

}  // namespace tribo
