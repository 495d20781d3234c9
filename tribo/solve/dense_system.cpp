// The momentum equation of a few trees in coordinates y = L^T v, in which the mass is the identity:
//   r(y) = y - y_free - X lambda(X^T y + e),   X = L^-1 J^T  [dofs x rows], dense.
// Open constraints (D = 0) drop out of the Newton matrix; with X_a the columns of the others it is
//   I + X_a D X_a^T                                    [dofs], or
//   (E + w^-1 (I - E) X_a^T X_a) d lambda = w^-1 (I - E) X_a^T r,   dy = X_a d lambda - r     [active rows],
// whichever is smaller. Nothing symbolic, products of dense matrices, one LU.
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "tribo/linalg/dense_lu.h"
#include "tribo/solve/dense_half.h"
#include "tribo/solve/newton_system.h"

namespace tribo {
namespace {

using MatrixMap = Eigen::Map<Matrix>;

class DenseSystem final : public NewtonSystem {
 public:
  void prepare(const ContactProblem& problem, const DenseHalf* half) override;
  void start(const Vector& impulse) override;
  double residual(const Vector& impulse) override;
  bool direction(std::span<const Mat3> derivative) override;
  bool direction_again() override;
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
  double magnitude() const override {
    return std::sqrt(std::max(state_.squaredNorm(), problem_->free_energy()));
  }
  void set_interrupt(const std::function<bool()>*) override {}

 private:
  void gather(std::span<const Mat3> derivative);
  template <class Weight>
  void weigh(const Weight& weight);
  void form_dofs(std::span<const Mat3> derivative);
  void form_rows(std::span<const Mat3> derivative);

  const ContactProblem* problem_ = nullptr;
  Index dofs_ = 0, active_rows_ = 0;
  bool by_dofs_ = true;  // the form of the matrix
  DenseHalf own_half_;
  const DenseHalf* half_ = nullptr;
  Numbers active_half_, weighted_;  // X_a; X_a D, or X_a (w^-1 (I - E))^T
  Numbers matrix_, rhs_;            // Newton matrix, right-hand side in rows
  std::vector<Index> active_;
  std::vector<Mat3> kept_, left_;  // [constraints] E and (w^-1 (I - E))^T of the active ones
  std::vector<int> exchanges_;
  Vector state_, remembered_state_, residual_, direction_, velocity_direction_;
};

void DenseSystem::prepare(const ContactProblem& problem, const DenseHalf* half) {
  problem_ = &problem;
  if (half == nullptr) own_half_.assemble(problem);
  half_ = half != nullptr ? half : &own_half_;
  dofs_ = half_->dofs();
  for (Vector* v : {&state_, &residual_, &direction_}) v->resize(dofs_);
  // As much as all constraints being active would need.
  const std::size_t entries = static_cast<std::size_t>(dofs_) * half_->rows();
  const auto smaller = static_cast<std::size_t>(std::min(dofs_, half_->rows()));
  active_half_.resize(entries);
  weighted_.resize(entries);
  matrix_.resize(smaller * smaller);
  exchanges_.resize(smaller);
  rhs_.resize(static_cast<std::size_t>(half_->rows()));
  kept_.resize(static_cast<std::size_t>(problem.constraint_count()));
  left_.resize(static_cast<std::size_t>(problem.constraint_count()));
  active_.reserve(static_cast<std::size_t>(problem.constraint_count()));
}

void DenseSystem::start(const Vector& impulse) {
  state_ = half_->free();
  half_->add_impulses(impulse, 1.0, state_);
  half_->velocity_of(state_, velocity_);
}

double DenseSystem::residual(const Vector& impulse) {
  residual_ = state_ - half_->free();
  half_->add_impulses(impulse, -1.0, residual_);
  return residual_.norm();
}

void DenseSystem::gather(std::span<const Mat3> derivative) {
  active_.clear();
  active_rows_ = 0;
  for (Index i = 0; i < problem_->constraint_count(); ++i) {
    const Index rows = problem_->rows(i);
    if (derivative[i].topLeftCorner(rows, rows).isZero(0.0)) continue;
    active_.push_back(i);
    const double* first = half_->column(problem_->row(i));
    std::copy(first, first + dofs_ * rows, active_half_.data() + dofs_ * active_rows_);
    active_rows_ += rows;
  }
}

bool DenseSystem::direction(std::span<const Mat3> derivative) {
  gather(derivative);
  by_dofs_ = dofs_ <= active_rows_;
  const Index size = std::min(dofs_, active_rows_);
  if (by_dofs_) {
    form_dofs(derivative);
  } else {
    form_rows(derivative);
  }
  return factorize_lu(matrix_.data(), size, size, exchanges_.data()) && direction_again();
}

bool DenseSystem::direction_again() {
  direction_ = -residual_;
  if (by_dofs_) {
    solve_lu(matrix_.data(), dofs_, dofs_, exchanges_.data(), direction_.data());
  } else if (active_rows_ > 0) {
    const MatrixMap x(active_half_.data(), dofs_, active_rows_);
    const MatrixMap weighted(weighted_.data(), dofs_, active_rows_);
    Eigen::Map<Vector> rhs(rhs_.data(), active_rows_);
    rhs.noalias() = weighted.transpose() * residual_;
    solve_lu(matrix_.data(), active_rows_, active_rows_, exchanges_.data(), rhs_.data());
    direction_.noalias() += x * rhs;
  }
  half_->multiply_transposed(direction_, velocity_direction_);
  return direction_.allFinite();
}

// X_a times the blocks weight(i) on the diagonal, column by column.
template <class Weight>
void DenseSystem::weigh(const Weight& weight) {
  const Index n = dofs_;
  const double* x = active_half_.data();
  double* out = weighted_.data();
  for (const Index i : active_) {
    const Mat3& w = weight(i);
    if (problem_->rows(i) == 3) {
      const double *x0 = x, *x1 = x + n, *x2 = x1 + n;
      for (int c = 0; c < 3; ++c, x += n, out += n) {
        const double w0 = w(0, c), w1 = w(1, c), w2 = w(2, c);
        for (Index k = 0; k < n; ++k) out[k] = w0 * x0[k] + w1 * x1[k] + w2 * x2[k];
      }
    } else {
      const double w0 = w(0, 0);
      for (Index k = 0; k < n; ++k) out[k] = w0 * x[k];
      x += n;
      out += n;
    }
  }
}

void DenseSystem::form_dofs(std::span<const Mat3> derivative) {
  const Index n = dofs_;
  const MatrixMap x(active_half_.data(), n, active_rows_);
  MatrixMap xd(weighted_.data(), n, active_rows_), m(matrix_.data(), n, n);
  weigh([&](Index i) -> const Mat3& { return derivative[i]; });
  if (n == 6) {
    using Six = Eigen::Matrix<double, 6, Eigen::Dynamic>;
    const Eigen::Map<const Six> x6(active_half_.data(), 6, active_rows_);
    Eigen::Matrix<double, 6, 6> sum = Eigen::Matrix<double, 6, 6>::Identity();
    for (Index r = 0; r < active_rows_; ++r) {
      const Eigen::Map<const Eigen::Matrix<double, 6, 1>> left(weighted_.data() + 6 * r);
      for (int c = 0; c < 6; ++c) sum.col(c) += x6(c, r) * left;
    }
    m = sum;
  } else {
    m.noalias() = xd * x.transpose();
    m.diagonal().array() += 1.0;
  }
}

void DenseSystem::form_rows(std::span<const Mat3> derivative) {
  const Index n = active_rows_;
  for (const Index i : active_) {
    const double w = problem_->scale(i);
    if (problem_->rows(i) == 3) {
      kept_[i] = (Mat3::Identity() + w * derivative[i]).inverse();
      left_[i] = (Mat3::Identity() - kept_[i]).transpose() / w;
    } else {
      kept_[i](0, 0) = 1.0 / (1.0 + w * derivative[i](0, 0));
      left_[i](0, 0) = (1.0 - kept_[i](0, 0)) / w;
    }
  }
  weigh([&](Index i) -> const Mat3& { return left_[i]; });
  const MatrixMap x(active_half_.data(), dofs_, n), weighted(weighted_.data(), dofs_, n);
  MatrixMap m(matrix_.data(), n, n);
  m.noalias() = weighted.transpose() * x;
  Index row = 0;
  for (const Index i : active_) {
    const Index rows = problem_->rows(i);
    for (Index c = 0; c < rows; ++c) {
      for (Index r = 0; r < rows; ++r) m(row + r, row + c) += kept_[i](r, c);
    }
    row += rows;
  }
}

}  // namespace

std::unique_ptr<NewtonSystem> make_dense_system() { return std::make_unique<DenseSystem>(); }

}  // namespace tribo
