#include "tribo/solve/interior/ipm_cones.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

namespace tribo {
namespace {

// Below this a contact's friction could not be told from none.
constexpr double kNoFriction = 1e-12;
// Stiffness of a row that does not move, scaled: its dx is zero to rounding.
constexpr double kFixedStiffness = 1e20;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double smaller_eigenvalue(const Vec3& x) { return jordan_eigenvalues(x)[0]; }

// Largest step <= limit that keeps value + step * change > 0.
double scalar_step(double value, double change, double limit) {
  return change < 0.0 ? std::min(limit, -value / change) : limit;
}

// The same for a cone. Most do not limit: whether x + limit * change is inside costs less than where it leaves.
double cone_step(const Vec3& x, const Vec3& change, double limit) {
  const Vec3 end = x + limit * change;
  if (end[2] > 0.0 && end[2] * end[2] > end[0] * end[0] + end[1] * end[1]) return limit;
  return step_length_to_cone(x, change, limit);
}

Vec3 pushed_inside(Vec3 x, double margin) {
  x = project_cone(x, 1.0);
  x[2] += margin;
  return x;
}

}  // namespace

void IpmCones::set_scaling(const ContactProblem& problem, Index i) {
  const Index row = problem.row(i);
  const Mat3& w = problem.delassus_diagonal(i);
  const double least = 1e-12 * problem.scale(i);
  if (problem.kind(i) != ConstraintKind::contact) {
    scale_[row] = 1.0 / std::sqrt(std::max(w(0, 0) + problem.compliance()[row], least));
    return;
  }
  const Vec3 diagonal = w.diagonal() + problem.compliance().segment<3>(row);
  const double mu = problem.friction(i);
  if (mu < kNoFriction) {
    scale_.segment<3>(row).setConstant(1.0 / std::sqrt(std::max(diagonal[2], least)));
    return;
  }
  const double mean = (diagonal[0] + diagonal[1] + diagonal[2] / mu / mu) / 3.0;
  const double s = 1.0 / std::sqrt(std::max(mean, least));
  scale_.segment<3>(row) << s, s, s / mu;
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
  const Index row = problem.row(i);
  switch (problem.kind(i)) {
    case ConstraintKind::contact:
      if (problem.friction(i) >= kNoFriction) {
        cones_.push_back({});
        cones_.back().constraint = i;
        cones_.back().row = row;
        cones_.back().mu = problem.friction(i);
        ++pair_count_;
      } else {
        fixed_rows_.push_back(row);
        fixed_rows_.push_back(row + 1);
        add_scalar(i, row + 2, 0.0, kInfinity);
      }
      break;
    case ConstraintKind::unilateral:
      add_scalar(i, row, 0.0, kInfinity);
      break;
    case ConstraintKind::bilateral:
      add_scalar(i, row, -kInfinity, kInfinity);
      break;
    case ConstraintKind::box:
      add_scalar(i, row, problem.lower(i), problem.upper(i));
      break;
  }
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
    if (problem.kind(i) == ConstraintKind::box && forced < kInfinity) {
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
  for (const Cone& cone : cones_) x_[cone.row + 2] = y_[cone.row + 2] = 1.0;
  for (Scalar& scalar : scalars_) place(scalar, 0.0, 0.0, 1.0);
}

void IpmCones::start_from(const Vector* x, const Vector* y, double margin) {
  for (const Cone& cone : cones_) {
    const Vec3 e = jordan_identity();
    const Vec3 x_cone = x != nullptr ? pushed_inside(x->segment<3>(cone.row), margin) : e;
    const Vec3 y_cone = y != nullptr ? pushed_inside(y->segment<3>(cone.row), margin) : e;
    x_.segment<3>(cone.row) = x_cone;
    y_.segment<3>(cone.row) = y_cone;
  }
  for (Scalar& scalar : scalars_) {
    const double wish = x != nullptr ? (*x)[scalar.row] : 0.0;
    const double w = y != nullptr ? (*y)[scalar.row] : 0.0;
    place(scalar, wish, w, x != nullptr && y != nullptr ? margin : 1.0);
  }
}

void IpmCones::start_clamped() {
  const auto clamped = [](Vec3 x) {
    x[2] = std::max({1.0, std::abs(x[2]), 1.0 + detail::tangent_norm(x)});
    return x;
  };
  for (const Cone& cone : cones_) {
    x_.segment<3>(cone.row) = clamped(x_.segment<3>(cone.row) + dx_.segment<3>(cone.row));
    y_.segment<3>(cone.row) = clamped(y_.segment<3>(cone.row) + dy_.segment<3>(cone.row));
  }
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
  for (const Cone& cone : cones_) {
    const Vec3 x = z.segment<3>(cone.row);
    outside_x = std::max(outside_x, -smaller_eigenvalue(x));
    outside_y = std::max(outside_y, -smaller_eigenvalue(-x));
  }
  for (const Scalar& scalar : scalars_) {
    if (!scalar.low.active || scalar.high.active) continue;
    outside_x = std::max(outside_x, scalar.lower - z[scalar.row]);
    outside_y = std::max(outside_y, z[scalar.row] - scalar.lower);
  }
  const double shift_x = outside_x >= -1e-8 ? 1.0 + outside_x : 0.0;
  const double shift_y = outside_y >= -1e-8 ? 1.0 + outside_y : 0.0;
  for (const Cone& cone : cones_) {
    x_.segment<3>(cone.row) = z.segment<3>(cone.row) + shift_x * jordan_identity();
    y_.segment<3>(cone.row) = -z.segment<3>(cone.row) + shift_y * jordan_identity();
  }
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
  for (const Cone& cone : cones_) to[cone.row + 2] += detail::norm2(w[cone.row], w[cone.row + 1]);
}

void IpmCones::primal_residual(Law law, const Vector& w, Vector& rp) const {
  rp = w - y_;
  add_slip(law, w, rp);
  clear_fixed(rp);
}

bool IpmCones::scale_cone(Cone& cone, Law law, const Vector& compliance, const Vector& w, RowBlocks& blocks) {
  cone.scaling = nesterov_todd(x_.segment<3>(cone.row), y_.segment<3>(cone.row));
  if (!cone.scaling.valid) return false;
  cone.n = cone.scaling.matrix();
  cone.n_inverse = cone.scaling.inverse();
  cone.n2 = cone.scaling.squared_inverse();
  cone.centre = cone.n * y_.segment<3>(cone.row);
  const Vec3 s = scale_.segment<3>(cone.row);
  const Vec3 s_inverse = s.cwiseInverse();
  const auto r = compliance.segment<3>(cone.row);
  Vec2 slide = Vec2::Zero();  // w_t / |w_t|, what G has beside the identity
  if (law == Law::exact) {
    const double slip = detail::norm2(w[cone.row], w[cone.row + 1]);
    if (slip > 0.0) slide << w[cone.row] / slip, w[cone.row + 1] / slip;
  }
  Mat3& p = blocks.p[cone.constraint];
  Mat3& q = blocks.q[cone.constraint];
  Mat3& inverse = blocks.q_inverse[cone.constraint];
  p.setIdentity();
  p.row(2).head<2>() << s_inverse[2] * slide[0] * s[0], s_inverse[2] * slide[1] * s[1];
  q = s_inverse.asDiagonal() * cone.n2 * s_inverse.asDiagonal();
  if (r.isZero(0.0)) {
    inverse = s.asDiagonal() * cone.scaling.squared() * s.asDiagonal();
  } else {
    q += p * r.asDiagonal();
    // (N^-2 + G R~)^-1 = N (I + N G R~ N)^-1 N: no difference of large numbers.
    const Vec3 r_scaled = s.cwiseAbs2().cwiseProduct(r);
    Mat3 g = Mat3::Identity();
    g.row(2).head<2>() = slide.transpose();
    const Mat3 inner = Mat3::Identity() + cone.n * g * r_scaled.asDiagonal() * cone.n;
    inverse = s.asDiagonal() * (cone.n * inner.partialPivLu().solve(cone.n)) * s.asDiagonal();
  }
  Mat3& d = blocks.d[cone.constraint];  // inverse * p
  d.col(0) = inverse.col(0) + p(2, 0) * inverse.col(2);
  d.col(1) = inverse.col(1) + p(2, 1) * inverse.col(2);
  d.col(2) = inverse.col(2);
  return true;
}

bool IpmCones::scale_pairs(const ContactProblem& problem, Law law, const Vector& compliance, const Vector& w,
                           double bilateral, RowBlocks& blocks) {
  bool inside = true;
  for (Cone& cone : cones_) inside = scale_cone(cone, law, compliance, w, blocks) && inside;
  for (const Scalar& scalar : scalars_) {
    const Index i = scalar.constraint;
    const bool is_contact = problem.kind(i) == ConstraintKind::contact;
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
  for (Cone& cone : cones_) {
    Vec3 excess(0.0, 0.0, -mu);
    if (second_order) {
      excess += jordan_product(cone.n * dy_.segment<3>(cone.row), cone.n_inverse * dx_.segment<3>(cone.row));
    }
    rc_.segment<3>(cone.row) = y_.segment<3>(cone.row) + cone.n_inverse * jordan_divide(excess, cone.centre);
  }
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
  for (const Cone& cone : cones_) {
    dy_.segment<3>(cone.row) = -rc_.segment<3>(cone.row) - cone.n2 * dx_.segment<3>(cone.row);
  }
  for (Scalar& scalar : scalars_) {
    dy_[scalar.row] = (scalar.low.active ? scalar.low.direct(dx_[scalar.row]) : 0.0) -
                      (scalar.high.active ? scalar.high.direct(-dx_[scalar.row]) : 0.0);
  }
}

Vec2 IpmCones::step_lengths(double margin) const {
  double step_x = 1.0 / margin, step_y = 1.0 / margin;
  for (const Cone& cone : cones_) {
    step_x = cone_step(x_.segment<3>(cone.row), dx_.segment<3>(cone.row), step_x);
    step_y = cone_step(y_.segment<3>(cone.row), dy_.segment<3>(cone.row), step_y);
  }
  for_each_side([&](const Side& side) {
    step_x = scalar_step(side.slack, side.d_slack, step_x);
    step_y = scalar_step(side.dual, side.d_dual, step_y);
  });
  return {margin * step_x, margin * step_y};
}

double IpmCones::mu_at(double step_x, double step_y) const {
  double sum = 0.0;
  for (const Cone& cone : cones_) {
    sum += (x_.segment<3>(cone.row) + step_x * dx_.segment<3>(cone.row))
               .dot(y_.segment<3>(cone.row) + step_y * dy_.segment<3>(cone.row));
  }
  for_each_side([&](const Side& side) {
    sum += (side.slack + step_x * side.d_slack) * (side.dual + step_y * side.d_dual);
  });
  return pair_count_ > 0 ? sum / static_cast<double>(pair_count_) : 0.0;
}

bool IpmCones::is_central_at(double step, double fraction) const {
  const double least = fraction * mu_at(step, step);
  for (const Cone& cone : cones_) {
    const Vec3 x = x_.segment<3>(cone.row) + step * dx_.segment<3>(cone.row);
    const Vec3 y = y_.segment<3>(cone.row) + step * dy_.segment<3>(cone.row);
    // Smaller eigenvalue of the scaled square: x.y - sqrt((x.y)^2 - det x det y), written without the difference.
    const double product = x.dot(y);
    const double determinants = jordan_determinant(x) * jordan_determinant(y);
    const double root = std::sqrt(std::max(product * product - determinants, 0.0));
    if (!(determinants >= least * (product + root))) return false;
  }
  bool central = true;
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
