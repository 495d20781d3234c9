// The momentum equation with the constraint law inserted, as the semismooth Newton solvers see it, in the
// forms a problem can take:
//
//   dofs   state v:  r(v) = A v - b - J^T lambda(J v + e),     Newton matrix A + J^T D J,     Lee (19)
//   rows   state u:  F(u) = u - q - W lambda(u),               Newton matrix I + W D
//
// with D = -d lambda / d u block by block. The rows form serves explicit (also unsymmetric) W and problems
// with fewer rows than degrees of freedom. Its system is solved for d lambda = -D du:
//   (E + w^-1 (I - E) W) d lambda = w^-1 (I - E) F,   du = W d lambda - F,   E_i = (I + w_i D_i)^-1,
// which is the Newton step multiplied by E and bounded whatever the penalty.
// A tiny problem with explicit W (solve/systems/small_delassus.h) takes the rows form with a dense matrix, few trees
// take whichever is smaller as dense matrices (dense_system.h): no symbolic work at all.
// Residuals are measured in the energy norm, sqrt(J): |r| in A^-1, |F| weighted by 1 / w_i.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tribo/linalg/delassus.h"
#include "tribo/linalg/kernels/newton_kernel.h"
#include "tribo/problem/contact_problem.h"

namespace tribo {

class DenseWhitenedJacobian;

class NewtonSystem {
 public:
  virtual ~NewtonSystem() = default;

  // Called once per solve; symbolic work only when the structure is new. `problem` must stay, and so must `whitened`, X of
  // this problem where the caller has it already.
  virtual void prepare(const ContactProblem& problem, const DenseWhitenedJacobian* whitened = nullptr) = 0;
  // The state that follows from these impulses: u = W lambda + q.
  virtual void start(const Vector& impulse) = 0;
  // Constraint velocities of the present state, [rows].
  const Vector& velocity() const { return velocity_; }
  // Residual of the present state when the law answers with `impulse`; returns its energy norm.
  virtual double residual(const Vector& impulse) = 0;
  // Newton direction from the last residual. False if the matrix is singular or the factorisation was
  // interrupted.
  virtual bool direction(const GroupBlocks& derivative) = 0;
  // The same after the derivatives of these few constraints have changed since the last call of this or of direction(),
  // for the price of a few solves; false, too, where that is not possible.
  virtual bool direction_changed(const GroupBlocks& /*derivative*/, std::span<const Index> /*constraints*/) {
    return false;
  }
  // The same with the matrix of the last call; false also where it was not kept.
  virtual bool direction_again() { return false; }
  // Moves the state by `step` times the direction (negative: back).
  virtual void move(double step) = 0;
  // Keeps the present state; recall() returns to it.
  virtual void remember() { remembered_velocity_ = velocity_; }
  virtual void recall() { velocity_ = remembered_velocity_; }
  // Size of the state in the energy norm: what rounding errors are relative to.
  virtual double magnitude() const = 0;
  // Multiply-adds of a factorisation; 0 where not known or not worth asking.
  virtual double factor_flops() const { return 0.0; }
  virtual void set_interrupt(const std::function<bool()>* interrupt) = 0;

 protected:
  Vector velocity_, remembered_velocity_;
};

// What the forms with a state of their own beside the velocities share.
class StateSystem : public NewtonSystem {
 public:
  void move(double step) override {
    state_ += step * direction_;
    velocity_ += step * velocity_direction_;
  }
  void remember() override {
    NewtonSystem::remember();
    remembered_state_ = state_;
  }
  void recall() override {
    NewtonSystem::recall();
    state_ = remembered_state_;
  }

 protected:
  Vector state_, remembered_state_, direction_, velocity_direction_;
};

// Which form suits the problem: few trees, or a robot with a few bodies -> dense; tiny with explicit W -> small; robots
// with few constraints between them -> trees; explicit W or fewer rows than degrees of freedom -> rows.
enum class NewtonForm { dofs, rows, small, dense, trees };
NewtonForm suitable_form(const ContactProblem& problem);
std::unique_ptr<NewtonSystem> make_newton_system(NewtonForm form);

}  // namespace tribo
