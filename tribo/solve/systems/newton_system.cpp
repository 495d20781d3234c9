#include "tribo/solve/systems/newton_system.h"

#include <Eigen/LU>
#include <cmath>

#include "tribo/solve/problem_size.h"
#include "tribo/solve/systems/dense_newton.h"
#include "tribo/solve/systems/dense_system.h"
#include "tribo/solve/systems/small_delassus.h"
#include "tribo/solve/systems/trees_system.h"

namespace tribo {
namespace {

double energy_norm(const ContactProblem& problem, const Vector& u) {
  double sum = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    sum += u.segment(problem.row(i), problem.rows(i)).squaredNorm() / problem.scale(i);
  }
  return std::sqrt(sum);
}

class DofsSystem final : public StateSystem {
 public:
  void prepare(const ContactProblem& problem, const DenseWhitenedJacobian*) override {
    problem_ = &problem;
    for (Vector* v : {&state_, &residual_, &weighted_, &direction_}) v->resize(problem.dof_count());
    velocity_.resize(problem.row_count());
    velocity_direction_.resize(problem.row_count());
    kernel_.analyze(problem.mass(), problem.jacobian());
  }

  void start(const Vector& impulse) override {
    problem_->generalized_velocity_of(impulse, state_);
    problem_->jacobian().multiply(state_, velocity_);
    velocity_ += problem_->bias();
  }

  double residual(const Vector& impulse) override {
    problem_->mass().multiply(state_, residual_);
    residual_ -= problem_->momentum();
    weighted_.setZero();
    problem_->jacobian().add_transpose_product(impulse, weighted_);
    residual_ -= weighted_;
    weighted_ = residual_;
    problem_->mass_factor().solve_lower_in_place(weighted_);  // |L^-1 r|^2 = r . A^-1 r
    return weighted_.norm();
  }

  bool direction(const GroupBlocks& derivative) override {
    return kernel_.factorize(problem_->mass(), problem_->jacobian(), derivative) && direction_again();
  }

  bool direction_again() override {
    residual_ = -residual_;
    // Newton corrects itself; refinement is for matrices whose elimination lost digits.
    constexpr double kWorryingGrowth = 1e3;
    kernel_.solve(residual_, direction_, kernel_.lu().growth() > kWorryingGrowth ? 2 : 0);
    if (!direction_.allFinite()) return false;
    problem_->jacobian().multiply(direction_, velocity_direction_);
    return true;
  }

  double magnitude() const override {
    const BlockDiagonal& mass = problem_->mass();
    if (mass.is_identity()) return std::sqrt(std::max(state_.squaredNorm(), problem_->free_energy()));
    double energy = 0.0;  // v . A v block by block, without a temporary vector
    for (Index t = 0; t < mass.block_count(); ++t) {
      const auto v = state_.segment(mass.block_start(t), mass.block_size(t));
      for (Index c = 0; c < v.size(); ++c) energy += v[c] * mass.block(t).col(c).dot(v);
    }
    return std::sqrt(std::max(energy, problem_->free_energy()));
  }

  double factor_flops() const override { return kernel_.lu().factor_flops(); }

  void set_interrupt(const std::function<bool()>* interrupt) override { kernel_.set_interrupt(interrupt); }

 private:
  const ContactProblem* problem_ = nullptr;
  PrimalLu kernel_;
  Vector residual_, weighted_;
};

class RowsSystem final : public NewtonSystem {
 public:
  void prepare(const ContactProblem& problem, const DenseWhitenedJacobian*) override {
    problem_ = &problem;
    w_ = problem.has_delassus() ? &problem.delassus()
                                : &assembler_.assemble(problem.mass_factor(), problem.jacobian());
    for (Vector* v : {&velocity_, &residual_, &direction_, &rhs_, &impulse_direction_}) {
      v->resize(problem.row_count());
    }
    left_.resize(problem.jacobian());
    diagonal_.resize(problem.jacobian());
    kernel_.analyze(*w_);
  }

  void start(const Vector& impulse) override {
    w_->multiply(impulse, velocity_);
    velocity_ += problem_->free_velocity();
  }

  double residual(const Vector& impulse) override {
    w_->multiply(impulse, residual_);
    residual_ = velocity_ - problem_->free_velocity() - residual_;
    return energy_norm(*problem_, residual_);
  }

  bool direction(const GroupBlocks& derivative) override {
    for (Index i = 0; i < problem_->constraint_count(); ++i) {
      with_rows(problem_->rows(i), [&](auto rows) {
        constexpr int n = rows();
        split_derivative<n>(problem_->scale(i), MatN<n>(derivative.at<n>(i)), diagonal_.at<n>(i),
                            left_.at<n>(i));
      });
    }
    return kernel_.factorize(*w_, left_, diagonal_) && direction_again();
  }

  bool direction_again() override {
    multiply_blocks(problem_->jacobian(), left_, residual_, rhs_);
    constexpr double kWorryingGrowth = 1e3;
    kernel_.solve(rhs_, impulse_direction_, kernel_.lu().growth() > kWorryingGrowth ? 2 : 0);
    w_->multiply(impulse_direction_, direction_);
    direction_ -= residual_;
    return direction_.allFinite();
  }

  void move(double step) override { velocity_ += step * direction_; }

  double magnitude() const override {
    return std::max(energy_norm(*problem_, velocity_), energy_norm(*problem_, problem_->free_velocity()));
  }

  double factor_flops() const override { return kernel_.lu().factor_flops(); }

  void set_interrupt(const std::function<bool()>* interrupt) override { kernel_.set_interrupt(interrupt); }

 private:
  const ContactProblem* problem_ = nullptr;
  const BlockMatrix* w_ = nullptr;
  DelassusAssembler assembler_;
  RowLu kernel_;
  GroupBlocks left_, diagonal_;
  Vector residual_, direction_, rhs_, impulse_direction_;
};

class SmallSystem final : public NewtonSystem {
 public:
  void prepare(const ContactProblem& problem, const DenseWhitenedJacobian*) override {
    problem_ = &problem;
    w_.assemble(problem);
    velocity_.resize(problem.row_count());
    residual_.resize(problem.row_count());
    direction_.resize(problem.row_count());
  }

  void start(const Vector& impulse) override {
    velocity_.noalias() = w_.matrix() * impulse;
    velocity_ += problem_->free_velocity();
  }

  double residual(const Vector& impulse) override {
    residual_.noalias() = w_.matrix() * impulse;
    residual_ = velocity_ - problem_->free_velocity() - residual_;
    return energy_norm(*problem_, residual_);
  }

  bool direction(const GroupBlocks& derivative) override {
    const Index size = problem_->row_count();
    newton_.resize(size, size);
    rhs_.resize(size);
    for (Index i = 0; i < problem_->constraint_count(); ++i) {
      with_rows(problem_->rows(i), [&](auto rows) {
        constexpr int n = rows();
        const Index row = problem_->row(i);
        MatN<n> e, left;
        split_derivative<n>(problem_->scale(i), MatN<n>(derivative.at<n>(i)), e, left);
        newton_.middleRows(row, n).noalias() = left * w_.matrix().middleRows(row, n);
        newton_.block<n, n>(row, row) += e;
        rhs_.segment<n>(row).noalias() = left * residual_.segment<n>(row);
      });
    }
    const Eigen::PartialPivLU<Eigen::Ref<SmallDelassus::Dense>> lu(newton_);
    impulse_direction_ = lu.solve(rhs_);
    direction_ = -residual_;
    direction_.noalias() += w_.matrix() * impulse_direction_;
    return direction_.allFinite();
  }

  void move(double step) override { velocity_ += step * direction_; }

  double magnitude() const override {
    return std::max(energy_norm(*problem_, velocity_), energy_norm(*problem_, problem_->free_velocity()));
  }

  void set_interrupt(const std::function<bool()>*) override {}

 private:
  const ContactProblem* problem_ = nullptr;
  SmallDelassus w_;
  SmallDelassus::Dense newton_;
  SmallDelassus::Column rhs_, impulse_direction_;
  Vector residual_, direction_;
};

}  // namespace

std::unique_ptr<NewtonSystem> make_newton_system(NewtonForm form) {
  switch (form) {
    case NewtonForm::small:
      return std::make_unique<SmallSystem>();
    case NewtonForm::rows:
      return std::make_unique<RowsSystem>();
    case NewtonForm::dense:
      return make_dense_system();
    case NewtonForm::trees:
      return make_trees_system();
    default:
      return std::make_unique<DofsSystem>();
  }
}

namespace {

// Few rows between trees that are not too large for a dense matrix: robots that touch each other.
bool is_loosely_coupled(const ContactProblem& problem) {
  constexpr Index kMostRows = 96;      // between trees: the matrix that is on top of theirs
  constexpr Index kLargestTree = 128;  // degrees of freedom of a dense matrix
  constexpr double kShare = 0.3;       // of the degrees of freedom
  const BlockJacobian& jacobian = problem.jacobian();
  const double most = std::min<double>(kMostRows, kShare * problem.dof_count());
  Index rows = 0;
  for (Index i = 0; i < problem.constraint_count() && rows <= most; ++i) {
    if (jacobian.piece_end(i) - jacobian.piece_begin(i) > 1) rows += problem.rows(i);
  }
  for (Index t = 0; t < problem.tree_count(); ++t) {
    if (problem.mass().block_size(t) > kLargestTree) return false;
  }
  return rows <= most;
}

}  // namespace

NewtonForm suitable_form(const ContactProblem& problem) {
  constexpr Index kDenseSize = 96;  // rows or degrees of freedom, whichever are fewer
  constexpr Index kDenseDofs = 64;  // of a robot and what it holds
  constexpr Index kBodyDofs = 6;
  const Index smaller = std::min(problem.row_count(), problem.dof_count());
  const bool few =
      (problem.tree_count() <= kFewTrees && smaller <= kDenseSize) ||
      (problem.dof_count() > kBodyDofs * problem.tree_count() && problem.dof_count() <= kDenseDofs);
  const bool tiny = SmallDelassus::is_tiny(problem);
  if (tiny && problem.has_delassus()) return NewtonForm::small;
  if (!problem.has_delassus() && (tiny || few)) {
    return NewtonForm::dense;
  }
  if (!problem.has_delassus() && is_loosely_coupled(problem)) return NewtonForm::trees;
  const bool by_rows = problem.has_delassus() || problem.row_count() < problem.dof_count();
  return by_rows ? NewtonForm::rows : NewtonForm::dofs;
}

}  // namespace tribo
