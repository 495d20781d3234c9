// The momentum equation of robots that touch each other in few places. In coordinates y = L^T v, in which the mass is
// the identity, constraints on one tree t give a small dense Newton matrix H_t each (solve/systems/dense_newton.h). Those
// between trees, C the columns of X that are active, come on top as rows:
//   H = diag(H_t) + C D C^T,   Z = diag(H_t)^-1 C,   h = diag(H_t)^-1 r,
//   (E + w^-1 (I - E) C^T Z) d lambda = w^-1 (I - E) C^T h,   dy = Z d lambda - h,   E_i = (I + w_i D_i)^-1.
// Ten robots in a row cost ten small factorisations and one of nine contacts, where eliminating them one after the
// other works on blocks of all their degrees of freedom.
#include "tribo/solve/systems/trees_system.h"

#include <algorithm>
#include <cmath>

#include "tribo/linalg/simd/dense_lu.h"
#include "tribo/solve/systems/dense_newton.h"
#include "tribo/solve/systems/dense_whitened_jacobian.h"
#include "tribo/solve/systems/tree_whitened_jacobians.h"

namespace tribo {
namespace {

class TreesSystem final : public StateSystem {
 public:
  void prepare(const ContactProblem& problem, const DenseWhitenedJacobian*) override;
  void start(const Vector& impulse) override;
  double residual(const Vector& impulse) override;
  bool direction(const GroupBlocks& derivative) override;
  bool direction_again() override;
  double magnitude() const override {
    return std::sqrt(std::max(state_.squaredNorm(), problem_->free_energy()));
  }
  double factor_flops() const override;
  void set_interrupt(const std::function<bool()>* interrupt) override { interrupt_ = interrupt; }

 private:
  // A constraint between trees that is active.
  struct Coupling {
    Index row;  // in the matrix of the couplings
    Index rows;
    using Block = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMostRows, kMostRows>;
    Block kept, left;
  };

  void choose_couplings(const GroupBlocks& derivative);
  bool factorize_trees(const GroupBlocks& derivative);
  void solve_couplings();
  bool factorize_couplings();

  const ContactProblem* problem_ = nullptr;
  TreeWhitenedJacobians whitened_;
  std::vector<DenseNewton> newton_;  // of the trees
  std::vector<Coupling> couplings_;
  std::vector<Index> coupling_of_;  // [constraints], -1 for all others
  Index coupling_rows_ = 0;
  const std::function<bool()>* interrupt_ = nullptr;
  Numbers solved_;  // Z, every piece where X has it
  Numbers matrix_, rhs_;
  std::vector<int> exchanges_;
  Vector residual_;
};

void TreesSystem::prepare(const ContactProblem& problem, const DenseWhitenedJacobian*) {
  problem_ = &problem;
  whitened_.assemble(problem);
  for (Vector* v : {&state_, &residual_, &direction_}) v->resize(whitened_.dofs());
  if (newton_.size() < static_cast<std::size_t>(problem.tree_count())) newton_.resize(problem.tree_count());
  couplings_.clear();
  coupling_rows_ = 0;
  coupling_of_.assign(problem.constraint_count(), -1);
  couplings_.reserve(problem.constraint_count());
  solved_.resize(whitened_.entry_count());
  const auto rows = static_cast<std::size_t>(whitened_.coupling_rows());
  matrix_.resize(rows * rows);
  rhs_.resize(rows);
  exchanges_.resize(rows);
}

void TreesSystem::start(const Vector& impulse) {
  state_ = whitened_.free();
  whitened_.add_impulses(impulse, 1.0, state_);
  whitened_.multiply_transposed(state_, velocity_);
  velocity_ += problem_->bias();
}

double TreesSystem::residual(const Vector& impulse) {
  residual_ = state_ - whitened_.free();
  whitened_.add_impulses(impulse, -1.0, residual_);
  return residual_.norm();
}

bool TreesSystem::direction(const GroupBlocks& derivative) {
  choose_couplings(derivative);
  if (!factorize_trees(derivative)) return false;
  solve_couplings();
  return factorize_couplings() && direction_again();
}

void TreesSystem::choose_couplings(const GroupBlocks& derivative) {
  couplings_.clear();
  coupling_rows_ = 0;
  for (Index i = 0; i < problem_->constraint_count(); ++i) {
    coupling_of_[i] = -1;
    const Index rows = problem_->rows(i);
    if (!whitened_.couples(i) || derivative.block(i, rows).isZero(0.0)) continue;
    coupling_of_[i] = static_cast<Index>(couplings_.size());
    Coupling& coupling = couplings_.emplace_back();
    coupling.row = coupling_rows_;
    coupling.rows = rows;
    with_rows(rows, [&](auto size) {
      constexpr int n = size();
      coupling.kept.resize(n, n);
      coupling.left.resize(n, n);
      split_derivative<n>(problem_->scale(i), MatN<n>(derivative.at<n>(i)),
                          Eigen::Map<MatN<n>>(coupling.kept.data()),
                          Eigen::Map<MatN<n>>(coupling.left.data()));
    });
    coupling_rows_ += rows;
  }
}

bool TreesSystem::factorize_trees(const GroupBlocks& derivative) {
  for (Index t = 0; t < problem_->tree_count(); ++t) {
    const TreeWhitenedJacobians::Tree& tree = whitened_.tree(t);
    newton_[t].begin(tree.dofs, tree.end - tree.begin, tree.rows);
    for (const TreeWhitenedJacobians::Piece& piece : whitened_.pieces(tree)) {
      if (whitened_.couples(piece.constraint)) continue;
      newton_[t].add(whitened_.columns(piece), problem_->scale(piece.constraint),
                     derivative.block(piece.constraint, piece.rows));
    }
    if (interrupt_ != nullptr && (*interrupt_)()) return false;
    if (!newton_[t].factorize()) return false;
  }
  return true;
}

// If all constraints are active.
double TreesSystem::factor_flops() const {
  const auto cube = [](Index n) { return static_cast<double>(n) * n * n / 3.0; };
  double sum = cube(whitened_.coupling_rows());
  for (Index t = 0; t < problem_->tree_count(); ++t) {
    const TreeWhitenedJacobians::Tree& tree = whitened_.tree(t);
    sum += cube(std::min(tree.dofs, tree.rows)) + static_cast<double>(tree.rows) * tree.dofs * tree.dofs;
  }
  return sum;
}

void TreesSystem::solve_couplings() {
  for (Index t = 0; t < problem_->tree_count(); ++t) {
    const TreeWhitenedJacobians::Tree& tree = whitened_.tree(t);
    for (const TreeWhitenedJacobians::Piece& piece : whitened_.pieces(tree)) {
      if (coupling_of_[piece.constraint] < 0) continue;
      const double* columns = whitened_.columns(piece);
      double* solved = solved_.data() + piece.start;
      std::copy(columns, columns + tree.dofs * piece.rows, solved);
      for (Index r = 0; r < piece.rows; ++r) newton_[t].solve_in_place(solved + r * tree.dofs);
    }
  }
}

bool TreesSystem::factorize_couplings() {
  const Index n = coupling_rows_;
  std::fill_n(matrix_.begin(), static_cast<std::size_t>(n) * n, 0.0);
  Eigen::Map<Matrix> m(matrix_.data(), n, n);
  for (Index t = 0; t < problem_->tree_count(); ++t) {
    const TreeWhitenedJacobians::Tree& tree = whitened_.tree(t);
    for (const TreeWhitenedJacobians::Piece& right : whitened_.pieces(tree)) {
      if (coupling_of_[right.constraint] < 0) continue;
      const Coupling& to = couplings_[coupling_of_[right.constraint]];
      for (const TreeWhitenedJacobians::Piece& left : whitened_.pieces(tree)) {
        if (coupling_of_[left.constraint] < 0) continue;
        const Coupling& from = couplings_[coupling_of_[left.constraint]];
        for (Index c = 0; c < to.rows; ++c) {
          RowValues product = RowValues::Zero();
          whitened_.products(left, solved_.data() + right.start + c * tree.dofs, product.data());
          m.col(to.row + c).segment(from.row, from.rows) += from.left.lazyProduct(product.head(from.rows));
        }
      }
    }
  }
  for (const Coupling& c : couplings_) {
    m.block(c.row, c.row, c.rows, c.rows) += c.kept;
  }
  return factorize_lu(matrix_.data(), n, n, exchanges_.data());
}

bool TreesSystem::direction_again() {
  direction_ = -residual_;
  std::fill_n(rhs_.begin(), coupling_rows_, 0.0);
  for (Index t = 0; t < problem_->tree_count(); ++t) {
    const TreeWhitenedJacobians::Tree& tree = whitened_.tree(t);
    newton_[t].solve_in_place(direction_.data() + tree.dof);
    for (const TreeWhitenedJacobians::Piece& piece : whitened_.pieces(tree)) {
      if (coupling_of_[piece.constraint] < 0) continue;
      const Coupling& coupling = couplings_[coupling_of_[piece.constraint]];
      RowValues product = RowValues::Zero();
      whitened_.products(piece, direction_.data() + tree.dof, product.data());
      Eigen::Map<Vector>(rhs_.data() + coupling.row, coupling.rows) -=
          coupling.left.lazyProduct(product.head(coupling.rows));
    }
  }
  if (coupling_rows_ > 0) {
    solve_lu(matrix_.data(), coupling_rows_, coupling_rows_, exchanges_.data(), rhs_.data());
    for (Index t = 0; t < problem_->tree_count(); ++t) {
      const TreeWhitenedJacobians::Tree& tree = whitened_.tree(t);
      for (const TreeWhitenedJacobians::Piece& piece : whitened_.pieces(tree)) {
        if (coupling_of_[piece.constraint] < 0) continue;
        const Coupling& coupling = couplings_[coupling_of_[piece.constraint]];
        add_columns(solved_.data() + piece.start, tree.dofs, piece.rows, rhs_.data() + coupling.row, 1.0,
                    direction_.data() + tree.dof);
      }
    }
  }
  whitened_.multiply_transposed(direction_, velocity_direction_);
  return direction_.allFinite();
}

}  // namespace

std::unique_ptr<NewtonSystem> make_trees_system() { return std::make_unique<TreesSystem>(); }

}  // namespace tribo
