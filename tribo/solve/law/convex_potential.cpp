#include "tribo/solve/law/convex_potential.h"

#include <cmath>
#include <limits>

#include "tribo/problem/infeasibility.h"

namespace tribo {

void ConvexPotential::set_cone(const ContactProblem& problem, Index i, double tangent_root,
                               double normal_root, double friction) {
  const detail::Aperture cone = detail::coulomb_aperture(friction);
  constraints_[i] = {problem.row(i), problem.rows(i), tangent_root, normal_root,
                     cone.sine,      cone.cosine,     0.0,          0.0};
}

void ConvexPotential::prepare(const ContactProblem& problem, const ProximalLaw& law) {
  jacobian_ = &problem.jacobian();
  constraints_.resize(problem.constraint_count());
  offset_.setZero(problem.row_count());
  for_each_constraint(
      problem,
      [&](auto cone) {
        const double tangent = std::sqrt(law.total(cone.row));
        const double normal = std::sqrt(law.total(cone.row + cone.kNormal));
        set_cone(problem, cone.index, 1.0 / tangent, 1.0 / normal, cone.friction * (tangent / normal));
      },
      [&](IntervalConstraint row) {
        const double root = std::sqrt(law.total(row.row));
        constraints_[row.index] = {
            row.row, 1, 0.0, 1.0 / root, 0.0, 0.0, row.set.lower * root, row.set.upper * root};
      });
}

void ConvexPotential::prepare_demands(const ContactProblem& problem, Law law,
                                      const std::vector<double>& compliance) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  jacobian_ = &problem.jacobian();
  constraints_.resize(problem.constraint_count());
  offset_.setZero(problem.row_count());
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const double root = 1.0 / std::sqrt(compliance[i]);
    const Demand demand = demand_of(problem, i, law);
    visit_constraint(
        problem, i,
        [&](auto cone) {
          if (demand == Demand::dual_cone) return set_cone(problem, i, root, root, cone.friction);
          // The normal alone is the cone of a frictionless contact; without a weight it asks nothing.
          const double weight = demand == Demand::none ? 0.0 : root;
          set_cone(problem, i, weight, weight, 0.0);
        },
        [&](IntervalConstraint row) {  // rays
          const bool down = demand == Demand::at_most_zero || demand == Demand::zero;
          const bool up = demand == Demand::at_least_zero || demand == Demand::zero;
          constraints_[i] = {row.row, 1, 0.0, root, 0.0, 0.0, down ? -infinity : 0.0, up ? infinity : 0.0};
        });
  }
}

void ConvexPotential::set_offset(const ProximalLaw& law, const Vector& multiplier, const Vector& shift) {
  for (Index row = 0; row < offset_.size(); ++row) {
    offset_[row] = law.proximal(row) * multiplier[row] - shift[row];
  }
}

template <int N>
inline VecN<N> ConvexPotential::coordinates(const Constraint& c, const Vector& u) const {
  VecN<N> x;
  for (int r = 0; r < N - 1; ++r) x[r] = (offset_[c.row + r] - u[c.row + r]) * c.tangent_root;
  x[N - 1] = (offset_[c.row + N - 1] - u[c.row + N - 1]) * c.normal_root;
  return x;
}

template <int N>
inline ConvexPotential::Cone<N> ConvexPotential::project(const Constraint& c, const VecN<N>& x) {
  Cone<N> out;
  const double normal = x[N - 1];
  out.tangent = detail::tangent_norm(x);
  out.stick = c.cosine * out.tangent <= c.sine * normal && normal >= 0.0;
  out.slide = !out.stick && c.sine * out.tangent > -c.cosine * normal;
  out.along = 0.0;
  if (out.stick) {
    out.image = x;
  } else if (out.slide) {
    out.along = c.sine * out.tangent + c.cosine * normal;
    const double scale = out.tangent > 0.0 ? c.sine * out.along / out.tangent : 0.0;
    for (int r = 0; r < N - 1; ++r) out.image[r] = scale * x[r];
    out.image[N - 1] = c.cosine * out.along;
  } else {
    out.image.setZero();
  }
  return out;
}

template <int N>
inline void ConvexPotential::set_impulse(const Constraint& c, const VecN<N>& image, Vector& impulse) {
  for (int r = 0; r < N - 1; ++r) impulse[c.row + r] = image[r] * c.tangent_root;
  impulse[c.row + N - 1] = image[N - 1] * c.normal_root;
}

template <int N, class Block>
inline void ConvexPotential::set_derivative(const Constraint& c, const VecN<N>& x, const Cone<N>& cone,
                                            Block&& d) {
  const double tt = c.tangent_root * c.tangent_root;
  const double nn = c.normal_root * c.normal_root;
  d.setZero();
  // The ray of a frictionless contact has no interior: never the identity.
  if (cone.stick && c.sine > 0.0) {
    for (int r = 0; r < N - 1; ++r) d(r, r) = tt;
    d(N - 1, N - 1) = nn;
  } else if (cone.stick || cone.slide) {
    const double inverse = cone.tangent > 0.0 ? 1.0 / cone.tangent : 0.0;
    const double along = c.sine * c.sine;
    const double across = c.sine * cone.along * inverse;
    const double mixed = c.sine * c.cosine * c.tangent_root * c.normal_root;
    const VecN<N - 1> e = x.template head<N - 1>() * inverse;
    if constexpr (N == 3) {
      d(0, 0) = (along * e[0] * e[0] + across * e[1] * e[1]) * tt;
      d(1, 1) = (along * e[1] * e[1] + across * e[0] * e[0]) * tt;
      d(0, 1) = d(1, 0) = (along - across) * e[0] * e[1] * tt;
    } else {
      for (int r = 0; r < N - 1; ++r) {
        for (int k = 0; k < N - 1; ++k) d(r, k) = (along - across) * e[r] * e[k] * tt;
        d(r, r) += across * tt;
      }
    }
    for (int r = 0; r < N - 1; ++r) d(r, N - 1) = d(N - 1, r) = mixed * e[r];
    d(N - 1, N - 1) = c.cosine * c.cosine * nn;
  }
}

double ConvexPotential::value(const Vector& u) const {
  double sum = 0.0;
  for (const Constraint& c : constraints_) {
    with_rows(c.rows, [&](auto rows) {
      constexpr int n = rows();
      if constexpr (n == 1) {
        const double x = coordinate(c, u);
        const double image = project_box(x, c.lower, c.upper);
        sum += image * (x - 0.5 * image);
      } else {
        sum += 0.5 * project<n>(c, coordinates<n>(c, u)).image.squaredNorm();
      }
    });
  }
  return sum;
}

void ConvexPotential::impulse(const Vector& u, Vector& impulse) const {
  for (const Constraint& c : constraints_) {
    with_rows(c.rows, [&](auto rows) {
      constexpr int n = rows();
      if constexpr (n == 1) {
        impulse[c.row] = project_box(coordinate(c, u), c.lower, c.upper) * c.normal_root;
      } else {
        set_impulse<n>(c, project<n>(c, coordinates<n>(c, u)).image, impulse);
      }
    });
  }
}

void ConvexPotential::evaluate(const Vector& u, Vector& impulse, GroupBlocks& derivative) const {
  derivative.resize(*jacobian_);
  for (std::size_t i = 0; i < constraints_.size(); ++i) {
    const Constraint& c = constraints_[i];
    with_rows(c.rows, [&](auto rows) {
      constexpr int n = rows();
      if constexpr (n == 1) {
        const double x = coordinate(c, u);
        impulse[c.row] = project_box(x, c.lower, c.upper) * c.normal_root;
        derivative[static_cast<Index>(i)](0, 0) =
            project_box_derivative(x, c.lower, c.upper) * c.normal_root * c.normal_root;
      } else {
        const VecN<n> x = coordinates<n>(c, u);
        const Cone<n> cone = project<n>(c, x);
        set_impulse<n>(c, cone.image, impulse);
        set_derivative<n>(c, x, cone, derivative.at<n>(static_cast<Index>(i)));
      }
    });
  }
}

ValueAndDerivative ConvexPotential::along(const Vector& u, const Vector& du, double alpha) const {
  double slope = 0.0, curvature = 0.0;
  for (const Constraint& c : constraints_) {
    with_rows(c.rows, [&](auto rows) {
      constexpr int n = rows();
      if constexpr (n == 1) {
        const double dx = -du[c.row] * c.normal_root;
        const double x = coordinate(c, u) + alpha * dx;
        slope += project_box(x, c.lower, c.upper) * dx;
        curvature += project_box_derivative(x, c.lower, c.upper) * dx * dx;
      } else {
        VecN<n> dx;
        for (int r = 0; r < n - 1; ++r) dx[r] = -du[c.row + r] * c.tangent_root;
        dx[n - 1] = -du[c.row + n - 1] * c.normal_root;
        const VecN<n> x = coordinates<n>(c, u) + alpha * dx;
        const Cone<n> cone = project<n>(c, x);
        slope += cone.image.dot(dx);
        if (cone.stick && c.sine > 0.0) {
          curvature += dx.squaredNorm();
        } else if (cone.stick || cone.slide) {
          const double inverse = cone.tangent > 0.0 ? 1.0 / cone.tangent : 0.0;
          const auto x_t = x.template head<n - 1>();
          const auto dx_t = dx.template head<n - 1>();
          const double radial = x_t.dot(dx_t) * inverse;
          const double turning =
              n == 3 ? (x[0] * dx[1] - x[1] * dx[0]) * inverse : (dx_t - radial * inverse * x_t).norm();
          const double generator = c.sine * radial + c.cosine * dx[n - 1];
          curvature += generator * generator + c.sine * cone.along * inverse * turning * turning;
        }
      }
    });
  }
  return {slope, curvature};
}

}  // namespace tribo
