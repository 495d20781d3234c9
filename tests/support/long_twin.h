// The scaled error of a small problem by dense algebra in long double, straight from its definition in
// docs/certificate.md: an independent witness for claims of convergence. Demands that the library's doubles round to zero
// are zero here, too: the definition caps the impulses by 100 times the largest demand where there is one, and not
// where there is none.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/formats/full_form.h"
#include "tribo/problem/contact_problem.h"

namespace tribo::test {

class LongTwin {
 public:
  using Long = long double;
  using LongMatrix = Eigen::Matrix<Long, Eigen::Dynamic, Eigen::Dynamic>;
  using LongVector = Eigen::Matrix<Long, Eigen::Dynamic, 1>;

  explicit LongTwin(const ContactProblem& problem) : problem_(problem) {
    // Over all degrees of freedom as they were given, those of sparse trees included.
    const LongMatrix a = dense(detail::full_mass(problem));
    const LongMatrix j = dense(detail::full_jacobian(problem)).transpose();
    const Eigen::LLT<LongMatrix> factor(a);
    const LongVector b = detail::full_momentum(problem).cast<Long>(), v = factor.solve(b);
    w_ = j * factor.solve(j.transpose());
    q_ = j * v + problem.bias().cast<Long>();
    for (Index r = 0; r < problem.row_count(); ++r) {
      const Long rounding = 0x1p-50L * (j.row(r).cwiseAbs().dot(v.cwiseAbs()) + std::abs(problem.bias()[r]));
      if (problem.free_velocity()[r] == 0.0 && std::abs(q_[r]) <= rounding) q_[r] = 0.0L;
    }
    Index at = 0;
    for (const Index n : detail::full_tree_sizes(problem)) {
      energy_ = std::max(energy_, std::sqrt(b.segment(at, n).dot(v.segment(at, n))));
      at += n;
    }
    scale_.resize(problem.constraint_count());
    for (Index i = 0; i < problem.constraint_count(); ++i) {
      const Index row = problem.row(i), n = problem.rows(i);
      scale_[i] =
          w_.block(row, row, n, n).trace() / n + problem.compliance().segment(row, n).cast<Long>().mean();
    }
  }

  // Without constraints that are idle.
  double error(const Vector& impulse, Law law) const {
    LongVector lambda = impulse.cast<Long>();
    // Products with numbers below the smallest normal double vanish in doubles: such an impulse is none.
    for (Long& x : lambda) {
      if (std::abs(x) < std::numeric_limits<double>::min()) x = 0.0L;
    }
    const LongVector u = w_ * lambda + q_ + problem_.compliance().cast<Long>().cwiseProduct(lambda);
    Long largest = 0.0L, demand = 0.0L;
    for_each([&](Index i, Index row, Index n, Long root) {
      largest = std::max(largest, root * lambda.segment(row, n).lpNorm<Eigen::Infinity>());
      demand = std::max({demand, q_.segment(row, n).lpNorm<Eigen::Infinity>() / root,
                         root * problem_.lower(i), -root * problem_.upper(i)});
    });
    const Long impulses = demand > 0.0L ? std::min(largest, 100.0L * demand) : largest;
    const Long common = std::max(impulses, std::sqrt(0x1p-52L) * energy_);
    Long worst = 0.0L;
    for_each([&](Index i, Index row, Index n, Long root) {
      const Long reference = std::max(common, 1e-3L * q_.segment(row, n).lpNorm<Eigen::Infinity>() / root);
      LongVector z = lambda.segment(row, n), hat = u.segment(row, n);
      if (n > 1 && law == Law::exact) hat[n - 1] += problem_.friction(i) * hat.head(n - 1).norm();
      z -= hat / (root * root);
      const Long map = (lambda.segment(row, n) - project(i, z)).lpNorm<Eigen::Infinity>();
      if (map > 0.0L) worst = std::max(worst, root * map / reference);
    });
    return static_cast<double>(worst);
  }

 private:
  static LongMatrix dense(const detail::SparseMatrix& matrix) {
    LongMatrix out = LongMatrix::Zero(matrix.rows, matrix.cols);
    for (const ScalarTriplet& entry : matrix.entries) out(entry.row, entry.col) = entry.value;
    return out;
  }
  template <class Action>
  void for_each(const Action& action) const {
    for (Index i = 0; i < problem_.constraint_count(); ++i) {
      if (!problem_.is_idle(i)) action(i, problem_.row(i), problem_.rows(i), std::sqrt(scale_[i]));
    }
  }

  LongVector project(Index i, LongVector z) const {
    switch (problem_.kind(i)) {
      case ConstraintKind::unilateral:
        z[0] = std::max(z[0], 0.0L);
        break;
      case ConstraintKind::box:
        z[0] = std::clamp<Long>(z[0], problem_.lower(i), problem_.upper(i));
        break;
      case ConstraintKind::bilateral:
        break;
      case ConstraintKind::contact: {
        const Eigen::Index n = z.size() - 1;
        const Long mu = problem_.friction(i), t = z.head(n).norm();
        if (t <= mu * z[n] && z[n] >= 0.0L) break;
        const Long normal = std::max(0.0L, (mu * t + z[n]) / (1.0L + mu * mu));
        if (t > 0.0L) z.head(n) *= mu * normal / t;
        z[n] = normal;
        break;
      }
    }
    return z;
  }

  const ContactProblem& problem_;
  LongMatrix w_;
  LongVector q_;
  Long energy_ = 0.0L;
  std::vector<Long> scale_;
};

}  // namespace tribo::test
