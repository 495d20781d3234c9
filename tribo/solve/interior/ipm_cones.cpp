#include "tribo/solve/interior/ipm_cones.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/solve/interior/step_lengths.h"

namespace tribo {
namespace {

// Below this a contact's friction could not be told from none.
constexpr double kNoFriction = 1e-12;
// Stiffness of a row that does not move, scaled: its dx is zero to rounding.
constexpr double kFixedStiffness = 1e20;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <int N>
double smaller_eigenvalue(const VecN<N>& x) {
  return jordan_eigenvalues(x)[0];
}

template <int N>
VecN<N> pushed_inside(const VecN<N>& from, double margin) {
  VecN<N> x = project_cone(from, 1.0);
  x[N - 1] += margin;
  return x;
}

}  // namespace

void IpmCones::set_scaling(const ContactProblem& problem, Index i) {
  const double least = 1e-12 * problem.scale(i);
  visit_constraint(
      problem, i,
      [&](auto cone) {
        constexpr int n = cone.kRows;
        const VecN<n> diagonal =
            problem.delassus_block<n>(i).diagonal() + problem.compliance().segment<n>(cone.row);
        const double mu = cone.friction;
        if (mu < kNoFriction) {
          cone.rows(scale_).setConstant(1.0 / std::sqrt(std::max(diagonal[n - 1], least)));
          return;
        }
        double mean = diagonal[0];
        for (int r = 1; r < n - 1; ++r) mean += diagonal[r];
        mean = (mean + diagonal[n - 1] / mu / mu) / n;
        const double s = 1.0 / std::sqrt(std::max(mean, least));
        cone.tangent(scale_).setConstant(s);
        cone.normal(scale_) = s / mu;
      },
      [&](IntervalConstraint row) {
        scale_[row.row] =
            1.0 / std::sqrt(std::max(problem.delassus_scalar(i) + problem.compliance()[row.row], least));
      });
}

void IpmCones::add_scalar(Index constraint, Index row, double lower, double upper) {
  Scalar scalar{};
  scalar.constraint = constraint;
  scalar.row = row;
  scalar.fixed = lower == upper;
  scalar.lower = lower / (unit_ * scale_[row]);
  scalar.upper = upper / (unit_ * scale_[row]);
  scalar.low.active = !scalar.fixed && lower > -kInfinity;
  scalar.high.active = !scalar.fixed && upper < kInfinity;
  pair_count_ += (scalar.low.active ? 1 : 0) + (scalar.high.active ? 1 : 0);
  if (scalar.fixed) fixed_rows_.push_back(row);
  scalars_.push_back(scalar);
}

void IpmCones::add_blocks(const ContactProblem& problem, Index i) {
  visit_constraint(
      problem, i,
      [&](auto cone) {
        constexpr int n = cone.kRows;
        if (cone.friction >= kNoFriction) {
          Cone<n>& pair = cones_.of<n>().emplace_back();
          pair.constraint = i;
          pair.row = cone.row;
          pair.mu = cone.friction;
          ++pair_count_;
        } else {
          for (Index r = 0; r < n - 1; ++r) fixed_rows_.push_back(cone.row + r);
          add_scalar(i, cone.row + n - 1, 0.0, kInfinity);
        }
      },
      [&](IntervalConstraint row) { add_scalar(i, row.row, row.set.lower, row.set.upper); });
}

void IpmCones::prepare(const ContactProblem& problem) {
  const Index rows = problem.row_count();
  for (Vector* v : {&scale_, &x_, &y_, &dx_, &dy_, &rc_}) v->setZero(rows);
  unit_ = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    set_scaling(problem, i);
    const Index row = problem.row(i);
    for (Index r = row; r < row + problem.rows(i); ++r) {
      unit_ = std::max(unit_, std::abs(scale_[r] * problem.free_velocity()[r]));
    }
    // Bounds that force an impulse set the unit as well.
    const double forced = std::max({problem.lower(i), -problem.upper(i), 0.0});
    if (forced < kInfinity) {
      unit_ = std::max(unit_, forced / scale_[row]);
    }
  }
  if (!(unit_ > 0.0)) unit_ = 1.0;
  cones_.clear();
  scalars_.clear();
  fixed_rows_.clear();
  pair_count_ = 0;
  for (Index i = 0; i < problem.constraint_count(); ++i) add_blocks(problem, i);
}

void IpmCones::place(Scalar& scalar, double wish, double w, double margin) {
  double& x = x_[scalar.row];
  x = scalar.fixed ? scalar.lower : wish;
  y_[scalar.row] = 0.0;
  if (scalar.fixed) return;
  const double room = std::min(margin, 0.5 * (scalar.upper - scalar.lower));
  if (scalar.low.active) x = std::max(x, scalar.lower + room);
  if (scalar.high.active) x = std::min(x, scalar.upper - room);
  if (scalar.low.active) {
    scalar.low.slack = std::max(x - scalar.lower, room);
    scalar.low.dual = std::max(w, 0.0) + margin * margin / scalar.low.slack;
    y_[scalar.row] += scalar.low.dual;
  }
  if (scalar.high.active) {
    scalar.high.slack = std::max(scalar.upper - x, room);
    scalar.high.dual = std::max(-w, 0.0) + margin * margin / scalar.high.slack;
    y_[scalar.row] -= scalar.high.dual;
  }
}

void IpmCones::start_cold() {
  x_.setZero();
  y_.setZero();
  cones_.for_each_item([&](const auto& cone) {
    const Index normal = cone.row + cone.kRows - 1;
    x_[normal] = y_[normal] = 1.0;
  });
  for (Scalar& scalar : scalars_) place(scalar, 0.0, 0.0, 1.0);
}

void IpmCones::start_from(const Vector* x, const Vector* y, double margin) {
  cones_.for_each_item([&](const auto& cone) {
    const auto e = jordan_unit<std::decay_t<decltype(cone)>::kRows>();
    if (x != nullptr) {
      cone.rows(x_) = pushed_inside(cone.get(*x), margin);
    } else {
      cone.rows(x_) = e;
    }
    if (y != nullptr) {
      cone.rows(y_) = pushed_inside(cone.get(*y), margin);
    } else {
      cone.rows(y_) = e;
    }
  });
  for (Scalar& scalar : scalars_) {
    const double wish = x != nullptr ? (*x)[scalar.row] : 0.0;
    const double w = y != nullptr ? (*y)[scalar.row] : 0.0;
    place(scalar, wish, w, x != nullptr && y != nullptr ? margin : 1.0);
  }
}

void IpmCones::start_clamped() {
  cones_.for_each_item([&](const auto& cone) {
    constexpr int n = std::decay_t<decltype(cone)>::kRows;
    const auto clamped = [](VecN<n> x) {
      x[n - 1] = std::max({1.0, std::abs(x[n - 1]), 1.0 + detail::tangent_norm(x)});
      return x;
    };
    cone.rows(x_) = clamped(cone.get(x_) + cone.get(dx_));
    cone.rows(y_) = clamped(cone.get(y_) + cone.get(dy_));
  });
  for (Scalar& scalar : scalars_) {
    const double wish = x_[scalar.row] + dx_[scalar.row];
    const double w = y_[scalar.row] + dy_[scalar.row];
    place(scalar,
          scalar.low.active && !scalar.high.active ? scalar.lower + std::abs(wish - scalar.lower) : wish,
          std::abs(w), 1.0);
  }
}

void IpmCones::start_shifted(const Vector& z) {
  double outside_x = -kInfinity, outside_y = -kInfinity;
  cones_.for_each_item([&](const auto& cone) {
    const auto x = cone.get(z);
    outside_x = std::max(outside_x, -smaller_eigenvalue(x));
    outside_y = std::max(outside_y, -smaller_eigenvalue(decltype(cone.get(z))(-x)));
  });
  for (const Scalar& scalar : scalars_) {
    if (!scalar.low.active || scalar.high.active) continue;
    outside_x = std::max(outside_x, scalar.lower - z[scalar.row]);
    outside_y = std::max(outside_y, z[scalar.row] - scalar.lower);
  }
  const double shift_x = outside_x >= -1e-8 ? 1.0 + outside_x : 0.0;
  const double shift_y = outside_y >= -1e-8 ? 1.0 + outside_y : 0.0;
  cones_.for_each_item([&](const auto& cone) {
    const auto e = jordan_unit<std::decay_t<decltype(cone)>::kRows>();
    cone.rows(x_) = cone.get(z) + shift_x * e;
    cone.rows(y_) = -cone.get(z) + shift_y * e;
  });
  for (Scalar& scalar : scalars_) {
    place(scalar, z[scalar.row], 0.0, 1.0);
    if (!scalar.low.active || scalar.high.active) continue;
    scalar.low.slack = z[scalar.row] - scalar.lower + shift_x;
    scalar.low.dual = scalar.lower - z[scalar.row] + shift_y;
    x_[scalar.row] = scalar.lower + scalar.low.slack;
    y_[scalar.row] = scalar.low.dual;
  }
}

void IpmCones::clear_fixed(Vector& rows) const {
  for (const Index row : fixed_rows_) rows[row] = 0.0;
}

void IpmCones::add_slip(Law law, const Vector& w, Vector& to) const {
  if (law != Law::exact) return;
  cones_.for_each_item(
      [&](const auto& cone) { to[cone.row + cone.kRows - 1] += detail::tangent_norm(cone.get(w)); });
}

void IpmCones::primal_residual(Law law, const Vector& w, Vector& rp) const {
  rp = w - y_;
  add_slip(law, w, rp);
  clear_fixed(rp);
}

template <int N>
bool IpmCones::scale_cone(Cone<N>& cone, Law law, const Vector& compliance, const Vector& w,
                          RowBlocks& blocks) {
  cone.scaling = nesterov_todd(cone.get(x_), cone.get(y_));
  if (!cone.scaling.valid) return false;
  cone.n = cone.scaling.matrix();
  cone.n_inverse = cone.scaling.inverse();
  cone.n2 = cone.scaling.squared_inverse();
  cone.centre = cone.n * y_.segment<N>(cone.row);
  const VecN<N> s = cone.get(scale_);
  const VecN<N> s_inverse = s.cwiseInverse();
  const auto r = compliance.segment<N>(cone.row);
  VecN<N - 1> slide = VecN<N - 1>::Zero();  // w_t / |w_t|, what G has beside the identity
  if (law == Law::exact) {
    const double slip = detail::tangent_norm(cone.get(w));
    if (slip > 0.0) slide = w.segment<N - 1>(cone.row) / slip;
  }
  auto&& p = blocks.p.at<N>(cone.constraint);
  auto&& q = blocks.q.at<N>(cone.constraint);
  auto&& inverse = blocks.q_inverse.at<N>(cone.constraint);
  p.setIdentity();
  for (int k = 0; k < N - 1; ++k) p(N - 1, k) = s_inverse[N - 1] * slide[k] * s[k];
  q = s_inverse.asDiagonal() * cone.n2 * s_inverse.asDiagonal();
  if (r.isZero(0.0)) {
    inverse = s.asDiagonal() * cone.scaling.squared() * s.asDiagonal();
  } else {
    q += p * r.asDiagonal();
    // (N^-2 + G R~)^-1 = N (I + N G R~ N)^-1 N: no difference of large numbers.
    const VecN<N> r_scaled = s.cwiseAbs2().cwiseProduct(r);
    MatN<N> g = MatN<N>::Identity();
    g.row(N - 1).template head<N - 1>() = slide.transpose();
    const MatN<N> inner = MatN<N>::Identity() + cone.n * g * r_scaled.asDiagonal() * cone.n;
    inverse = s.asDiagonal() * (cone.n * inner.partialPivLu().solve(cone.n)) * s.asDiagonal();
  }
  auto&& d = blocks.d.at<N>(cone.constraint);  // inverse * p
  for (int k = 0; k < N - 1; ++k) d.col(k) = inverse.col(k) + p(N - 1, k) * inverse.col(N - 1);
  d.col(N - 1) = inverse.col(N - 1);
  return true;
}

bool IpmCones::scale_pairs(const ContactProblem& problem, Law law, const Vector& compliance, const Vector& w,
                           double bilateral, RowBlocks& blocks) {
  bool inside = true;
  cones_.for_each_item([&](auto& cone) { inside = scale_cone(cone, law, compliance, w, blocks) && inside; });
  for (const Scalar& scalar : scalars_) {
    const Index i = scalar.constraint;
    const bool is_contact = problem.rows(i) > 1;  // one without friction: three rows
    double stiffness = scalar.stiffness();
    if (scalar.fixed) {
      stiffness = kFixedStiffness;
    } else if (!scalar.low.active && !scalar.high.active) {
      stiffness = bilateral;
    }
    const double s = scale_[scalar.row];
    const double q = stiffness / (s * s) + compliance[scalar.row];
    const Index k = is_contact ? 2 : 0;
    if (is_contact) {
      blocks.q[i] = (kFixedStiffness / (s * s)) * Mat3::Identity();
      blocks.q_inverse[i].setZero();
      blocks.p[i].setIdentity();
      blocks.d[i].setZero();
    }
    blocks.p[i](k, k) = 1.0;
    blocks.q[i](k, k) = q;
    blocks.q_inverse[i](k, k) = blocks.d[i](k, k) = 1.0 / q;
    inside = inside && q > 0.0 && std::isfinite(q);
  }
  return inside;
}

void IpmCones::aim(double mu, bool second_order, double share, const Vector& rp, Vector& r) {
  cones_.for_each_item([&](auto& cone) {
    constexpr int n = std::decay_t<decltype(cone)>::kRows;
    VecN<n> excess = -mu * jordan_unit<n>();
    if (second_order) {
      const VecN<n> dy = cone.n * cone.get(dy_), dx = cone.n_inverse * cone.get(dx_);
      excess += jordan_product(dy, dx);
    }
    cone.rows(rc_) = cone.get(y_) + cone.n_inverse * jordan_divide(excess, cone.centre);
  });
  for (Scalar& scalar : scalars_) {
    rc_[scalar.row] = (scalar.low.active ? scalar.low.aim(mu, second_order) : 0.0) -
                      (scalar.high.active ? scalar.high.aim(mu, second_order) : 0.0);
  }
  r = -(rc_ + share * rp).cwiseQuotient(scale_);
  clear_fixed(r);
}

void IpmCones::set_direction(const Vector& dl) {
  dx_ = dl.cwiseQuotient(scale_);
  clear_fixed(dx_);
  cones_.for_each_item([&](const auto& cone) { cone.rows(dy_) = -cone.get(rc_) - cone.n2 * cone.get(dx_); });
  for (Scalar& scalar : scalars_) {
    dy_[scalar.row] = (scalar.low.active ? scalar.low.direct(dx_[scalar.row]) : 0.0) -
                      (scalar.high.active ? scalar.high.direct(-dx_[scalar.row]) : 0.0);
  }
}

Vec2 IpmCones::step_lengths(double margin) const {
  double step_x = 1.0 / margin, step_y = 1.0 / margin;
  cones_.for_each_item([&](const auto& cone) {
    step_x = cone_step(cone.get(x_), cone.get(dx_), step_x);
    step_y = cone_step(cone.get(y_), cone.get(dy_), step_y);
  });
  for_each_side([&](const Side& side) {
    step_x = scalar_step(side.slack, side.d_slack, step_x);
    step_y = scalar_step(side.dual, side.d_dual, step_y);
  });
  return {margin * step_x, margin * step_y};
}

double IpmCones::mu_at(double step_x, double step_y) const {
  double sum = 0.0;
  cones_.for_each_item([&](const auto& cone) {
    sum += (cone.get(x_) + step_x * cone.get(dx_)).dot(cone.get(y_) + step_y * cone.get(dy_));
  });
  for_each_side([&](const Side& side) {
    sum += (side.slack + step_x * side.d_slack) * (side.dual + step_y * side.d_dual);
  });
  return pair_count_ > 0 ? sum / static_cast<double>(pair_count_) : 0.0;
}

bool IpmCones::is_central_at(double step, double fraction) const {
  const double least = fraction * mu_at(step, step);
  bool central = true;
  cones_.for_each_item([&](const auto& cone) {
    if (!central) return;
    constexpr int n = std::decay_t<decltype(cone)>::kRows;
    const VecN<n> x = cone.get(x_) + step * cone.get(dx_);
    const VecN<n> y = cone.get(y_) + step * cone.get(dy_);
    // Smaller eigenvalue of the scaled square: x.y - sqrt((x.y)^2 - det x det y), written without the difference.
    const double product = x.dot(y);
    const double determinants = jordan_determinant(x) * jordan_determinant(y);
    const double root = std::sqrt(std::max(product * product - determinants, 0.0));
    central = determinants >= least * (product + root);
  });
  if (!central) return false;
  for_each_side([&](const Side& side) {
    central = central && (side.slack + step * side.d_slack) * (side.dual + step * side.d_dual) >= least;
  });
  return central;
}

void IpmCones::move(double step_x, double step_y) {
  x_ += step_x * dx_;
  y_ += step_y * dy_;
  for (Scalar& scalar : scalars_) {
    for (Side* side : {&scalar.low, &scalar.high}) {
      if (!side->active) continue;
      side->slack += step_x * side->d_slack;
      side->dual += step_y * side->d_dual;
    }
    // Next to a bound the slack knows the impulse better than the sum does.
    if (scalar.low.active && (!scalar.high.active || scalar.low.slack < scalar.high.slack)) {
      x_[scalar.row] = scalar.lower + scalar.low.slack;
    } else if (scalar.high.active) {
      x_[scalar.row] = scalar.upper - scalar.high.slack;
    }
  }
}

}  // namespace tribo
