#include "tribo/solve/law/convex_potential.h"

#include <cmath>
#include <limits>

#include "tribo/math/cone.h"
#include "tribo/problem/infeasibility.h"

namespace tribo {

void ConvexPotential::prepare(const ContactProblem& problem, const ProximalLaw& law) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constraints_.resize(problem.constraint_count());
  offset_.setZero(problem.row_count());
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    Constraint& c = constraints_[i];
    c.row = problem.row(i);
    if (problem.kind(i) == ConstraintKind::contact) {
      const double tangent = std::sqrt(law.total(c.row));
      const double normal = std::sqrt(law.total(c.row + 2));
      const detail::Aperture cone = detail::coulomb_aperture(problem.friction(i) * (tangent / normal));
      c = {c.row, Shape::cone, 1.0 / tangent, 1.0 / normal, cone.sine, cone.cosine, 0.0, 0.0};
      continue;
    }
    const double root = std::sqrt(law.total(c.row));
    double lower = -infinity, upper = infinity;
    if (problem.kind(i) == ConstraintKind::unilateral) lower = 0.0;
    if (problem.kind(i) == ConstraintKind::box) {
      lower = problem.lower(i) * root;
      upper = problem.upper(i) * root;
    }
    c = {c.row, Shape::interval, 0.0, 1.0 / root, 0.0, 0.0, lower, upper};
  }
}

void ConvexPotential::prepare_demands(const ContactProblem& problem, Law law,
                                      const std::vector<double>& compliance) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constraints_.resize(problem.constraint_count());
  offset_.setZero(problem.row_count());
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const double root = 1.0 / std::sqrt(compliance[i]);
    const bool contact = problem.kind(i) == ConstraintKind::contact;
    const Index row = problem.row(i);
    double lower = 0.0, upper = 0.0;  // of the ray
    switch (demand_of(problem, i, law)) {
      case Demand::none:
        break;
      case Demand::at_least_zero:
        upper = infinity;
        break;
      case Demand::at_most_zero:
        lower = -infinity;
        break;
      case Demand::zero:
        lower = -infinity;
        upper = infinity;
        break;
      case Demand::dual_cone: {
        const detail::Aperture cone = detail::coulomb_aperture(problem.friction(i));
        constraints_[i] = {row, Shape::cone, root, root, cone.sine, cone.cosine, 0.0, 0.0};
        continue;
      }
    }
    if (contact) {  // the normal alone is the cone of a frictionless contact; without a weight it asks nothing
      const double weight = upper > 0.0 ? root : 0.0;
      constraints_[i] = {row, Shape::cone, weight, weight, 0.0, 1.0, 0.0, 0.0};
    } else {
      constraints_[i] = {row, Shape::interval, 0.0, root, 0.0, 0.0, lower, upper};
    }
  }
}

void ConvexPotential::set_offset(const ProximalLaw& law, const Vector& multiplier, const Vector& shift) {
  for (Index row = 0; row < offset_.size(); ++row) {
    offset_[row] = law.proximal(row) * multiplier[row] - shift[row];
  }
}

inline Vec3 ConvexPotential::coordinates(const Constraint& c, const Vector& u) const {
  return {(offset_[c.row] - u[c.row]) * c.tangent_root, (offset_[c.row + 1] - u[c.row + 1]) * c.tangent_root,
          (offset_[c.row + 2] - u[c.row + 2]) * c.normal_root};
}

inline ConvexPotential::Cone ConvexPotential::project(const Constraint& c, const Vec3& x) {
  Cone out;
  out.tangent = detail::tangent_norm(x);
  out.stick = c.cosine * out.tangent <= c.sine * x[2] && x[2] >= 0.0;
  out.slide = !out.stick && c.sine * out.tangent > -c.cosine * x[2];
  out.along = 0.0;
  if (out.stick) {
    out.image = x;
  } else if (out.slide) {
    out.along = c.sine * out.tangent + c.cosine * x[2];
    const double scale = out.tangent > 0.0 ? c.sine * out.along / out.tangent : 0.0;
    out.image = {scale * x[0], scale * x[1], c.cosine * out.along};
  } else {
    out.image.setZero();
  }
  return out;
}

double ConvexPotential::value(const Vector& u) const {
  double sum = 0.0;
  for (const Constraint& c : constraints_) {
    if (c.shape == Shape::cone) {
      sum += 0.5 * project(c, coordinates(c, u)).image.squaredNorm();
    } else {
      const double x = (offset_[c.row] - u[c.row]) * c.normal_root;
      const double image = project_box(x, c.lower, c.upper);
      sum += image * (x - 0.5 * image);
    }
  }
  return sum;
}

void ConvexPotential::impulse(const Vector& u, Vector& impulse) const {
  for (const Constraint& c : constraints_) {
    if (c.shape == Shape::cone) {
      const Vec3 image = project(c, coordinates(c, u)).image;
      impulse[c.row] = image[0] * c.tangent_root;
      impulse[c.row + 1] = image[1] * c.tangent_root;
      impulse[c.row + 2] = image[2] * c.normal_root;
    } else {
      const double x = (offset_[c.row] - u[c.row]) * c.normal_root;
      impulse[c.row] = project_box(x, c.lower, c.upper) * c.normal_root;
    }
  }
}

void ConvexPotential::evaluate(const Vector& u, Vector& impulse, std::vector<Mat3>& derivative) const {
  derivative.resize(constraints_.size());
  for (std::size_t i = 0; i < constraints_.size(); ++i) {
    const Constraint& c = constraints_[i];
    Mat3& d = derivative[i];
    if (c.shape == Shape::interval) {
      const double x = (offset_[c.row] - u[c.row]) * c.normal_root;
      impulse[c.row] = project_box(x, c.lower, c.upper) * c.normal_root;
      d(0, 0) = project_box_derivative(x, c.lower, c.upper) * c.normal_root * c.normal_root;
      continue;
    }
    const Vec3 x = coordinates(c, u);
    const Cone cone = project(c, x);
    const double tt = c.tangent_root * c.tangent_root;
    const double nn = c.normal_root * c.normal_root;
    impulse[c.row] = cone.image[0] * c.tangent_root;
    impulse[c.row + 1] = cone.image[1] * c.tangent_root;
    impulse[c.row + 2] = cone.image[2] * c.normal_root;
    d.setZero();
    // The ray of a frictionless contact has no interior: never the identity.
    if (cone.stick && c.sine > 0.0) {
      d(0, 0) = d(1, 1) = tt;
      d(2, 2) = nn;
    } else if (cone.stick || cone.slide) {
      const double inverse = cone.tangent > 0.0 ? 1.0 / cone.tangent : 0.0;
      const double ex = x[0] * inverse, ey = x[1] * inverse;
      const double along = c.sine * c.sine;
      const double across = c.sine * cone.along * inverse;
      const double mixed = c.sine * c.cosine * c.tangent_root * c.normal_root;
      d(0, 0) = (along * ex * ex + across * ey * ey) * tt;
      d(1, 1) = (along * ey * ey + across * ex * ex) * tt;
      d(0, 1) = d(1, 0) = (along - across) * ex * ey * tt;
      d(0, 2) = d(2, 0) = mixed * ex;
      d(1, 2) = d(2, 1) = mixed * ey;
      d(2, 2) = c.cosine * c.cosine * nn;
    }
  }
}

ValueAndDerivative ConvexPotential::along(const Vector& u, const Vector& du, double alpha) const {
  double slope = 0.0, curvature = 0.0;
  for (const Constraint& c : constraints_) {
    if (c.shape == Shape::interval) {
      const double dx = -du[c.row] * c.normal_root;
      const double x = (offset_[c.row] - u[c.row]) * c.normal_root + alpha * dx;
      slope += project_box(x, c.lower, c.upper) * dx;
      curvature += project_box_derivative(x, c.lower, c.upper) * dx * dx;
      continue;
    }
    const Vec3 dx(-du[c.row] * c.tangent_root, -du[c.row + 1] * c.tangent_root,
                  -du[c.row + 2] * c.normal_root);
    const Vec3 x = coordinates(c, u) + alpha * dx;
    const Cone cone = project(c, x);
    slope += cone.image.dot(dx);
    if (cone.stick && c.sine > 0.0) {
      curvature += dx.squaredNorm();
    } else if (cone.stick || cone.slide) {
      const double inverse = cone.tangent > 0.0 ? 1.0 / cone.tangent : 0.0;
      const double radial = (x[0] * dx[0] + x[1] * dx[1]) * inverse;
      const double turning = (x[0] * dx[1] - x[1] * dx[0]) * inverse;
      const double generator = c.sine * radial + c.cosine * dx[2];
      curvature += generator * generator + c.sine * cone.along * inverse * turning * turning;
    }
  }
  return {slope, curvature};
}

}  // namespace tribo
