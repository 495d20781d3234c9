#include "tribo/solve/systems/row_system.h"

#include <cmath>
#include <limits>

namespace tribo {
namespace {

DualKernel::Operator delassus(const ContactProblem& problem) {
  return {problem.mass(), problem.mass_factor(), problem.jacobian(),
          problem.has_delassus() ? &problem.delassus() : nullptr};
}

}  // namespace

void RowBlocks::resize(const ContactProblem& problem) {
  for (GroupBlocks* blocks : {&p, &q, &q_inverse, &d}) blocks->resize(problem.jacobian());
  weight.resize(problem.row_count());
}

void RowSystem::prepare(const ContactProblem& problem, Route route) {
  if (problem.has_delassus() || (route == Route::automatic && problem.row_count() < problem.dof_count())) {
    route = Route::rows;
  }
  route_ = route == Route::rows ? Route::rows : Route::dofs;
  w_ = problem.has_delassus() ? &problem.delassus() : nullptr;
  row_cholesky_prepared_ = false;
  dofs_.resize(problem.dof_count());
  dofs_solution_.resize(problem.dof_count());
  product_.resize(problem.row_count());
  residual_.resize(problem.row_count());
  correction_.resize(problem.row_count());
}

void RowSystem::set_interrupt(const std::function<bool()>* interrupt) {
  cholesky_.set_interrupt(interrupt);
  primal_lu_.set_interrupt(interrupt);
  row_lu_.set_interrupt(interrupt);
  row_cholesky_.set_interrupt(interrupt);
}

double RowSystem::analyze(const ContactProblem& problem, bool symmetric) {
  if (route_ == Route::dofs && symmetric) {
    cholesky_.analyze(problem.mass(), problem.jacobian());
    return cholesky_.cholesky().factor_flops();
  }
  if (route_ == Route::dofs) {
    primal_lu_.analyze(problem.mass(), problem.jacobian());
    return primal_lu_.lu().factor_flops();
  }
  if (symmetric) {
    if (!row_cholesky_prepared_) row_cholesky_.prepare(delassus(problem), DualKernel::Route::through_rows);
    row_cholesky_prepared_ = true;
    return row_cholesky_.factor_flops();
  }
  if (w_ == nullptr) w_ = &assembler_.assemble(problem.mass_factor(), problem.jacobian());
  row_lu_.analyze(*w_);
  return row_lu_.lu().factor_flops();
}

bool RowSystem::factorize_analyzed(const ContactProblem& problem, const RowBlocks& blocks) {
  if (route_ == Route::rows) {
    return symmetric_ ? row_cholesky_.factorize(delassus(problem), blocks.q)
                      : row_lu_.factorize(*w_, blocks.p, blocks.q);
  }
  return symmetric_ ? cholesky_.factorize(problem.mass(), problem.jacobian(), blocks.d)
                    : primal_lu_.factorize(problem.mass(), problem.jacobian(), blocks.d);
}

// Where rounding has cost the Cholesky factor its positive pivots the LU may still manage.
bool RowSystem::factorize(const ContactProblem& problem, const RowBlocks& blocks) {
  for (symmetric_ = blocks.symmetric;; symmetric_ = false) {
    analyze(problem, symmetric_);
    if (factorize_analyzed(problem, blocks)) return true;
    if (!symmetric_) return false;
  }
}

void RowSystem::solve_once(const ContactProblem& problem, const RowBlocks& blocks, const Vector& r,
                           Vector& x) {
  if (route_ == Route::rows && symmetric_) return row_cholesky_.solve(delassus(problem), r, x);
  if (route_ == Route::rows) return row_lu_.solve(r, x, 0);
  multiply_blocks(problem.jacobian(), blocks.q_inverse, r, x);
  dofs_.setZero();
  problem.jacobian().add_transpose_product(x, dofs_);
  if (symmetric_) {
    cholesky_.solve_in_place(dofs_);
    problem.jacobian().multiply(dofs_, product_);
  } else {
    primal_lu_.solve(dofs_, dofs_solution_, 0);
    problem.jacobian().multiply(dofs_solution_, product_);
  }
  multiply_blocks(problem.jacobian(), blocks.d, product_, product_);
  x -= product_;
}

// r -= (P W + Q) x.
void RowSystem::subtract_product(const ContactProblem& problem, const RowBlocks& blocks, const Vector& x,
                                 Vector& r) {
  if (problem.has_delassus()) {
    problem.delassus().multiply(x, product_);
  } else {
    dofs_.setZero();
    problem.jacobian().add_transpose_product(x, dofs_);
    problem.mass_factor().solve_in_place(dofs_);
    problem.jacobian().multiply(dofs_, product_);
  }
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Index row = problem.row(i);
    with_rows(problem.rows(i), [&](auto rows) {
      constexpr int n = rows();
      r.segment<n>(row) -=
          blocks.p.at<n>(i) * product_.segment<n>(row) + blocks.q.at<n>(i) * x.segment<n>(row);
    });
  }
}

void RowSystem::solve(const ContactProblem& problem, const RowBlocks& blocks, const Vector& r, Vector& x,
                      Index refinements) {
  solve_once(problem, blocks, r, x);
  if (refinements == 0 || route_ == Route::rows) return;
  constexpr double kGoodEnough = 1e-13;  // relative residual below which no more is corrected
  const double size = r.cwiseProduct(blocks.weight).norm();
  double last = std::numeric_limits<double>::infinity();
  for (Index step = 0; step <= refinements; ++step) {
    residual_ = r;
    subtract_product(problem, blocks, x, residual_);
    const double error = residual_.cwiseProduct(blocks.weight).norm();
    if (!(error < last)) {  // the last correction did harm
      if (step > 0) x -= correction_;
      return;
    }
    if (step == refinements || error <= kGoodEnough * size) return;
    last = error;
    solve_once(problem, blocks, residual_, correction_);
    x += correction_;
  }
}

}  // namespace tribo
