// The momentum equation of a few trees in coordinates y = L^T v, in which the mass is the identity:
//   r(y) = y - y_free - X lambda(X^T y + e),   X = L^-1 J^T  [dofs x rows], dense.
#include "tribo/solve/systems/dense_system.h"

#include <algorithm>
#include <cmath>

#include "tribo/solve/systems/dense_fronts.h"
#include "tribo/solve/systems/dense_newton.h"
#include "tribo/solve/systems/dense_whitened_jacobian.h"

namespace tribo {
namespace {

class DenseSystem final : public StateSystem {
 public:
  void prepare(const ContactProblem& problem, const DenseWhitenedJacobian* whitened) override {
    problem_ = &problem;
    if (whitened == nullptr) own_whitened_.assemble(problem);
    whitened_ = whitened != nullptr ? whitened : &own_whitened_;
    branched_ = fronts_.assemble(problem, *whitened_);
    for (Vector* v : {&state_, &residual_, &direction_}) v->resize(whitened_->dofs());
  }

  void start(const Vector& impulse) override {
    state_ = whitened_->free();
    add_impulses(impulse, 1.0, state_);
    multiply_transposed(state_, velocity_);
    velocity_ += problem_->bias();
  }

  double residual(const Vector& impulse) override {
    residual_ = state_ - whitened_->free();
    add_impulses(impulse, -1.0, residual_);
    return residual_.norm();
  }

  bool direction(const GroupBlocks& derivative) override {
    if (branched_) return fronts_.factorize(derivative) && direction_again();
    newton_.begin(whitened_->dofs(), problem_->constraint_count(), whitened_->rows());
    for (Index i = 0; i < problem_->constraint_count(); ++i) {
      newton_.add(whitened_->column(problem_->row(i)), problem_->scale(i),
                  derivative.block(i, problem_->rows(i)));
    }
    return newton_.factorize() && direction_again();
  }

  bool direction_changed(const GroupBlocks& derivative, std::span<const Index> constraints) override {
    return branched_ && fronts_.factorize_again(derivative, constraints) && direction_again();
  }

  bool direction_again() override {
    direction_ = -residual_;
    if (branched_) {
      fronts_.solve_in_place(direction_.data());
    } else {
      newton_.solve_in_place(direction_.data());
    }
    multiply_transposed(direction_, velocity_direction_);
    return direction_.allFinite();
  }

  double magnitude() const override {
    return std::sqrt(std::max(state_.squaredNorm(), problem_->free_energy()));
  }

  void set_interrupt(const std::function<bool()>*) override {}

 private:
  void add_impulses(const Vector& impulse, double sign, Vector& target) {
    if (branched_) {
      fronts_.add_impulses(impulse, sign, target);
    } else {
      whitened_->add_impulses(impulse, sign, target);
    }
  }

  void multiply_transposed(const Vector& y, Vector& u) {
    if (branched_) {
      fronts_.multiply_transposed(y, u);
    } else {
      whitened_->multiply_transposed(y, u);
    }
  }

  const ContactProblem* problem_ = nullptr;
  DenseWhitenedJacobian own_whitened_;
  const DenseWhitenedJacobian* whitened_ = nullptr;
  DenseNewton newton_;
  DenseFronts fronts_;
  bool branched_ = false;  // the fronts serve instead of whitened_ and newton_
  Vector residual_;
};

}  // namespace

std::unique_ptr<NewtonSystem> make_dense_system() { return std::make_unique<DenseSystem>(); }

}  // namespace tribo
