#include "tribo/problem/certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/base/errors.h"
#include "tribo/math/norms.h"
#include "tribo/problem/constraints.h"
#include "tribo/problem/natural_map.h"
#include "tribo/problem/rounding.h"

namespace tribo {
namespace {

// A contact counts as sticking (strictly inside its cone) below this share of the friction limit, and as
// loaded above this share of the reference; a slip counts above this share of the largest demand.
constexpr double kStickShare = 0.999;
constexpr double kLoadedShare = 1e-6;
constexpr double kSlipShare = 1e-6;

// Whether `value` takes the place of `worst`. A NaN does and then stays, so that it cannot hide.
bool is_worse(double value, double worst) { return !(value <= worst) && !std::isnan(worst); }

void raise(Worst& worst, double value, Index constraint) {
  if (is_worse(value, worst.value)) worst = {value, constraint};
}

// What the conditions of a contact are made of ...
template <int N>
struct LocalCone {
  VecN<N> lambda;
  VecN<N> w;              // u + R lambda
  VecN<N> hat;            // w + Gamma(w), or w
  detail::Aperture cone;  // of K_mu; swapped, of its dual
  double friction;

  VecN<N> project_primal(const VecN<N>& x) const { return detail::project_circular_cone(x, cone); }
  VecN<N> project_dual(const VecN<N>& x) const {
    return detail::project_circular_cone(x, detail::Aperture{cone.cosine, cone.sine});
  }
  double normal() const { return w[N - 1]; }
};

// ... and those of a scalar row.
struct LocalRow {
  double lambda, w;
  Interval set;
};

// Calls action with the one or the other; returns what it returns.
template <class Action>
decltype(auto) with_local(const ContactProblem& problem, Index i, const Vector& impulse,
                          const Vector& velocity, Law law, Action&& action) {
  return visit_constraint(
      problem, i,
      [&](auto cone) -> decltype(auto) {
        constexpr int n = cone.kRows;
        const VecN<n> lambda = cone.get(impulse);
        const VecN<n> w =
            velocity.segment<n>(cone.row) + problem.compliance().segment<n>(cone.row).cwiseProduct(lambda);
        return action(LocalCone<n>{lambda, w, corrected(w, cone.friction, law),
                                   detail::coulomb_aperture(cone.friction), cone.friction});
      },
      [&](IntervalConstraint row) -> decltype(auto) {
        const double lambda = impulse[row.row];
        return action(LocalRow{lambda, velocity[row.row] + problem.compliance()[row.row] * lambda, row.set});
      });
}

// lambda_i - P_i(lambda_i - step hat w_i). The plain difference loses w beside a huge lambda, and impulses that grow
// without bound would look like a solution; where the projection is idle the map is step hat w itself, and on the cone,
// by Moreau, step hat w - P_K*(step hat w - lambda).
template <int N>
VecN<N> map_of(const LocalCone<N>& local, double step) {
  const VecN<N>& lambda = local.lambda;
  const VecN<N> move = step * local.hat;
  const double l = lambda.squaredNorm(), m = move.squaredNorm();
  const bool loses = is_safe_square(l) || is_safe_square(m) ? l > m
                                                            : lambda.template lpNorm<Eigen::Infinity>() >
                                                                  move.template lpNorm<Eigen::Infinity>();
  if (loses) return move - local.project_dual(move - lambda);
  return lambda - local.project_primal(lambda - move);
}

double map_of(const LocalRow& local, double step) {
  return natural_map(local.set, local.lambda, local.w, step);
}

// Sizes of a map: largest entry (a NaN wins), sum of squares, norm.
double largest(double map) { return std::abs(map); }
double squared(double map) { return map * map; }
double size_of(double map) { return safe_norm(VecN<1>(map)); }
template <int N>
double largest(const VecN<N>& map) {
  return map.cwiseAbs().template maxCoeff<Eigen::PropagateNaN>();
}
template <int N>
double squared(const VecN<N>& map) {
  return map.squaredNorm();
}
template <int N>
double size_of(const VecN<N>& map) {
  return safe_norm(map);
}

template <class Local>
double scaled_error(const ContactProblem& problem, Index i, const Local& local) {
  return problem.root_scale(i) * largest(map_of(local, problem.inverse_scale(i)));
}

// |x_i|_inf.
double largest_of(const Vector& x, const ContactProblem& problem, Index i) {
  const double* rows = x.data() + problem.row(i);
  return with_rows(problem.rows(i), [&](auto n) {
    double most = std::abs(rows[0]);
    for (int r = 1; r < n(); ++r) most = std::max(most, std::abs(rows[r]));
    return most;
  });
}

// Work of the impulse, and the part of it that vanishes at a solution: a row at a bound may do work.
template <int N>
double work_of(const LocalCone<N>& local) {
  return local.lambda.dot(local.w);
}
double work_of(const LocalRow& local) { return local.lambda * local.w; }
template <int N>
double gap_of(const LocalCone<N>& local) {
  return std::abs(local.lambda.dot(local.hat));
}
double gap_of(const LocalRow& local) {
  return local.set.contains_inside(local.lambda) ? std::abs(local.lambda * local.w) : 0.0;
}

double ratio(double value, double reference) { return value == 0.0 ? 0.0 : value / reference; }

// Everything but the three normalised errors, at one constraint.
template <int N>
void judge(const ContactProblem& problem, Index i, const LocalCone<N>& local, double reference,
           Certificate& out) {
  raise(out.cone_primal, safe_norm(local.lambda - local.project_primal(local.lambda)), i);
  raise(out.cone_dual, safe_norm(local.hat - local.project_dual(local.hat)), i);
  raise(out.complementarity, std::abs(local.lambda.dot(local.hat)), i);
  raise(out.penetration_velocity, std::max(0.0, -local.normal()), i);
  const double pressed = local.lambda[N - 1];
  const double limit = local.friction * pressed;
  const double friction = detail::tangent_norm(local.lambda);
  const double slip = detail::tangent_norm(local.w);
  const double root = problem.root_scale(i);
  const bool loaded = root * pressed > kLoadedShare * reference;
  if (!loaded) return;
  if (friction < kStickShare * limit) {
    raise(out.stick_slip_velocity, slip, i);
  } else if (slip > kSlipShare * root * problem.largest_demand() && friction > 0.0) {
    const VecN<N - 1> e = local.lambda.template head<N - 1>() / friction;
    const VecN<N - 1> d = local.w.template head<N - 1>() / slip;
    const double cosine = -e.dot(d);
    const double sine = N == 3 ? e[0] * d[1] - e[1] * d[0] : (d + cosine * e).norm();
    raise(out.slip_angle, std::abs(std::atan2(sine, cosine)), i);
  }
}

void judge(const ContactProblem&, Index i, const LocalRow& local, double, Certificate& out) {
  raise(out.cone_primal, std::abs(local.lambda - local.set.project(local.lambda)), i);
  raise(out.cone_dual, local.set.violation(local.w), i);
  raise(out.penetration_velocity, local.set.violation(local.w), i);
  raise(out.complementarity, std::abs(local.w) * local.set.room(local.lambda, local.w), i);
}

}  // namespace

double natural_map(const ContactProblem& problem, Index i, const Vector& impulse, const Vector& velocity,
                   Law law) {
  return with_local(problem, i, impulse, velocity, law,
                    [&](const auto& local) { return scaled_error(problem, i, local); });
}

std::string_view to_string(Measure measure) {
  switch (measure) {
    case Measure::scaled:
      return "scaled";
    case Measure::fclib:
      return "fclib";
    case Measure::siconos:
      return "siconos";
  }
  return "unknown";
}

double value_of(const Certificate& certificate, Measure measure) {
  switch (measure) {
    case Measure::fclib:
      return certificate.fclib_error;
    case Measure::siconos:
      return certificate.siconos_error;
    default:
      return certificate.error.value;
  }
}

Certificate measure_alone(Measure measure, double value) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  Certificate out;
  for (double* number : {&out.fclib_error, &out.siconos_error, &out.lee_residual, &out.momentum})
    *number = kUnknown;
  for (Worst* worst : {&out.error, &out.cone_primal, &out.cone_dual, &out.complementarity,
                       &out.penetration_velocity, &out.stick_slip_velocity, &out.slip_angle}) {
    worst->value = kUnknown;
  }
  switch (measure) {
    case Measure::fclib:
      out.fclib_error = value;
      break;
    case Measure::siconos:
      out.siconos_error = value;
      break;
    default:
      out.error.value = value;
      break;
  }
  return out;
}

bool Certificate::is_finite() const {
  return std::isfinite(error.value) && std::isfinite(siconos_error) && std::isfinite(momentum) &&
         std::isfinite(complementarity.value) && std::isfinite(lee_residual);
}

namespace {

constexpr double kFar =
    1e3;  // impulse over what stops the fastest of them all, from where on it is looked at

// Velocity that the constraint should have stopped, m/s; <= 0: none. Rows with two bounds: strictly between them.
template <int N>
double unmet(const LocalCone<N>& local) {
  return -local.normal();
}
double unmet(const LocalRow& local) {
  if (!local.set.is_bounded()) return local.set.violation(local.w);
  return local.set.contains_inside(local.lambda) ? std::abs(local.w) : 0.0;
}

// A constraint that is violated as if nothing held it although its impulse is far beyond what stops the
// fastest of them all.
template <class Local>
bool runs_away(const ContactProblem& problem, Index i, double impulse, const Local& local, double fastest,
               double energy) {
  const double beyond = impulse * problem.scale(i) / fastest;
  // Of the fastest free velocity: the farther beyond, the less; where the work wasted on the constraint counts
  // among the energies, in between.
  const bool costly = std::abs(work_of(local)) > 0.01 * energy;
  const double allowed = beyond > 1e5 ? 0.01 : costly ? std::sqrt(10.0 / beyond) : 0.1;
  return unmet(local) > allowed * fastest;
}

}  // namespace

bool looks_infeasible(const ContactProblem& problem, const Vector& impulse, const Vector& velocity, Law law) {
  constexpr double kBeyond = 10.0;
  constexpr double kShare = 0.5;
  if (impulse.size() == 0) return false;
  const double fastest = problem.free_velocity().lpNorm<Eigen::Infinity>();
  const double energy = std::abs(impulse.dot(problem.free_velocity()));
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const double size = largest_of(impulse, problem, i);
    if (!(size * problem.scale(i) > kFar * fastest)) continue;
    const bool away = with_local(problem, i, impulse, velocity, law, [&](const auto& local) {
      return runs_away(problem, i, size, local, fastest, energy);
    });
    if (away) return true;
  }
  if (impulse_sizes(problem, impulse).largest <= kBeyond * problem.largest_demand()) return false;
  double gap = 0.0;
  double work = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    with_local(problem, i, impulse, velocity, law, [&](const auto& local) {
      work += work_of(local);
      gap += gap_of(local);
    });
  }
  const double free = impulse.dot(problem.free_velocity());
  return gap > kShare * std::max(std::abs(free), std::abs(work - free));
}

namespace {

// sqrt(sum_i |map_i|^2) with step 1, mixed units. The squares of very small and very large problems leave the range of
// doubles: they are scaled then.
double plain_norm(const ContactProblem& problem, const Vector& impulse, const Vector& velocity, Law law) {
  const auto sum = [&](double unit) {
    double total = 0.0;
    for (Index i = 0; i < problem.constraint_count(); ++i) {
      with_local(problem, i, impulse, velocity, law, [&](const auto& local) {
        const auto map = map_of(local, 1.0);
        total += squared(decltype(map)(map / unit));
      });
    }
    return total;
  };
  const double total = sum(1.0);
  if (is_safe_square(total) || std::isnan(total)) return std::sqrt(total);
  double most = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    with_local(problem, i, impulse, velocity, law,
               [&](const auto& local) { most = std::max(most, largest(map_of(local, 1.0))); });
  }
  return most > 0.0 && std::isfinite(most) ? most * std::sqrt(sum(most)) : most;
}

template <int N>
VecN<N> strict_map(const LocalCone<N>& local) {
  return local.lambda - project_strict(VecN<N>(local.lambda - local.w), local.friction);
}
double strict_map(const LocalRow& local) { return map_of(local, 1.0); }

// plain_norm() with the strict operator for contacts.
double strict_norm(const ContactProblem& problem, const Vector& impulse, const Vector& velocity, Law law) {
  double largest = 0.0, scaled = 0.0;  // largest^2 scaled is the sum of squares
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const double size = with_local(problem, i, impulse, velocity, law,
                                   [](const auto& local) { return size_of(strict_map(local)); });
    if (!std::isfinite(size)) return size;
    if (size > largest) {
      scaled = 1.0 + scaled * (largest / size) * (largest / size);
      largest = size;
    } else if (size > 0.0) {
      scaled += (size / largest) * (size / largest);
    }
  }
  return largest * std::sqrt(scaled);
}

void raise_idle(const ContactProblem& problem, Law law, Worst& worst) {
  if (problem.idle_count() == 0) return;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (problem.is_idle(i)) raise(worst, idle_error(problem, i, law), i);
  }
}

// max over the constraints of their errors, and where. A NaN wins.
Worst scaled_worst(const ContactProblem& problem, const Vector& impulse, const Vector& velocity, Law law,
                   double common) {
  Worst worst;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const double map = tribo::natural_map(problem, i, impulse, velocity, law);
    raise(worst, ratio(map, reference_of(problem, i, common)), i);
  }
  raise_idle(problem, law, worst);
  return worst;
}

}  // namespace

double Certifier::error(const ContactProblem& problem, const Vector& impulse, const Vector& velocity, Law law,
                        Measure measure) {
  if (measure == Measure::scaled) {
    return scaled_worst(problem, impulse, velocity, law, common_reference(problem, impulse)).value;
  }
  const double map = plain_norm(problem, impulse, velocity, law);
  const double q = safe_norm(problem.free_velocity());
  if (measure == Measure::fclib) return ratio(map, q);
  return ratio(map, std::max({q, safe_norm(impulse), safe_norm(velocity)}));
}

double Certifier::error_alone(const ContactProblem& problem, Index i, const Vector& impulse,
                              const Vector& velocity, Law law, Measure measure) {
  if (measure == Measure::scaled) {
    const double root = problem.root_scale(i);
    const double map = tribo::natural_map(problem, i, impulse, velocity, law);
    if (root == 0.0) return std::max(map, idle_error(problem, i, law));
    const BlockJacobian& jacobian = problem.jacobian();
    double energy = 0.0;
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      energy = std::max(energy, problem.tree_root_energy(jacobian.piece_tree(p)));
    }
    const double demand = std::max({problem.demand(i), root * problem.lower(i), -root * problem.upper(i)});
    const Index row = problem.row(i), n = problem.rows(i);
    const double size = impulse.segment(row, n).cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
    const double common = bounded_reference(root * size, demand, energy);
    return ratio(map, reference_of(problem, i, common));
  }
  const Index row = problem.row(i), n = problem.rows(i);
  const double map = with_local(problem, i, impulse, velocity, law,
                                [](const auto& local) { return size_of(map_of(local, 1.0)); });
  const double q = safe_norm(problem.free_velocity().segment(row, n));
  if (measure == Measure::fclib) return ratio(map, q);
  return ratio(map, std::max({q, safe_norm(impulse.segment(row, n)), safe_norm(velocity.segment(row, n))}));
}

namespace {

// Rounding counts from this share of an error on.
constexpr double kCounts = 0.1;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// Whether `rounding` may be much of an error, or decide whether it is below the tolerance.
bool counts(double rounding, double error, double tolerance) {
  return rounding > kCounts * std::max(error, tolerance) ||
         (error <= tolerance && error + rounding > tolerance);
}

// What rounding can do to plain_norm(), relative to |q|; |delta u_i| as in problem/rounding.h.
double plain_rounding(const ContactProblem& problem, const Vector& impulse, const ImpulseSizes& sizes) {
  double scales = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const double slip = 1.0 + problem.friction(i);
    scales += slip * slip * problem.scale(i);
  }
  const double energy = problem.mass_growth() * (sizes.sum + problem.root_energy());
  return ratio(kRoundings * kEpsilon * (std::sqrt(scales) * energy + safe_norm(impulse)),
               safe_norm(problem.free_velocity()));
}

}  // namespace

double Certifier::confirm(const ContactProblem& problem, const Vector& impulse, double error,
                          double tolerance, Law law, Measure measure) {
  extended_.reserve(problem);  // now, so that it allocates nothing later
  const ImpulseSizes sizes = impulse_sizes(problem, impulse);
  const bool scaled = measure == Measure::scaled;
  const double rounding =
      scaled ? evaluation_rounding(problem, sizes, kEpsilon) : plain_rounding(problem, impulse, sizes);
  if (!counts(rounding, error, tolerance)) return error + rounding;
  const ExtendedErrors exact = extended_.errors(problem, impulse, law);
  return scaled ? exact.scaled : measure == Measure::fclib ? exact.fclib : exact.siconos;
}

// ||A v - b - J^T lambda|| relative to A v or b, all in the A^-1 norm (Castro 32).
double Certifier::momentum_residual(const ContactProblem& problem, const Vector& impulse, const Vector& v) {
  inertia_.resize(v.size());
  problem.mass().multiply(v, inertia_);
  residual_ = problem.momentum();
  problem.jacobian().add_transpose_product(impulse, residual_);
  residual_ = inertia_ - residual_;
  // |x|^2 = x . A^-1 x = |L^-1 x|^2 in this norm.
  problem.mass_factor().solve_lower_in_place(residual_);
  // |A v|^2 = v . A v and |b|^2 = b . A^-1 b; J^T lambda is at most their sum.
  double free = 0.0;
  for (Index t = 0; t < problem.tree_count(); ++t) free = detail::norm2(free, problem.tree_root_energy(t));
  return ratio(safe_norm(residual_), std::max(root_of_product(inertia_, v), free));
}

Certificate Certifier::judge(const ContactProblem& problem, const Vector& impulse, const Vector& u,
                             const Vector& v, Law law, double tolerance) {
  extended_.reserve(problem);
  Certificate out;
  const ImpulseSizes sizes = impulse_sizes(problem, impulse);
  const double reference = common_reference(problem, sizes.largest);
  double plain_squared = 0.0, strict_squared = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    with_local(problem, i, impulse, u, law, [&](const auto& local) {
      raise(out.error, ratio(scaled_error(problem, i, local), reference_of(problem, i, reference)), i);
      plain_squared += squared(map_of(local, 1.0));
      strict_squared += squared(strict_map(local));
      tribo::judge(problem, i, local, reference, out);
    });
  }
  raise_idle(problem, law, out.error);
  const double map =
      is_safe_square(plain_squared) ? std::sqrt(plain_squared) : plain_norm(problem, impulse, u, law);
  const double q = safe_norm(problem.free_velocity());
  out.fclib_error = ratio(map, q);
  out.siconos_error = ratio(map, std::max({q, safe_norm(impulse), safe_norm(u)}));
  const double rounding = evaluation_rounding(problem, sizes, kEpsilon);
  if (counts(rounding, out.error.value, tolerance) ||
      counts(plain_rounding(problem, impulse, sizes), out.siconos_error, tolerance)) {
    const ExtendedErrors exact = extended_.errors(problem, impulse, law);
    out.error = {exact.scaled, exact.worst};
    out.fclib_error = exact.fclib;
    out.siconos_error = exact.siconos;
  } else if (tolerance >
             0.0) {  // otherwise rounding is little of the error, and what is claimed goes by confirm()
    out.error.value += rounding;
  }
  const Index divisor = problem.contact_count() > 0 ? problem.contact_count() : problem.constraint_count();
  const double strict =
      is_safe_square(strict_squared) ? std::sqrt(strict_squared) : strict_norm(problem, impulse, u, law);
  out.lee_residual = strict / std::max<Index>(1, divisor);
  // In Delassus form the generalised velocity is a by-product of the lift, not part of the problem.
  if (!problem.has_delassus()) out.momentum = momentum_residual(problem, impulse, v);
  return out;
}

Certificate Certifier::complete(const ContactProblem& problem, Solution& solution, Law law,
                                double tolerance) {
  if (problem.has_delassus()) solution.generalized_velocity.resize(0);
  problem.velocity_of(solution.impulse, solution.generalized_velocity, solution.velocity);
  return judge(problem, solution.impulse, solution.velocity, solution.generalized_velocity, law, tolerance);
}

Certificate certify(const ContactProblem& problem, const Solution& solution, Law law) {
  const auto require = [](Eigen::Index size, Index expected, const char* field, const char* unit) {
    if (size == expected) return;
    throw InvalidInput(
        fmt::format("{} of the solution has {} entries: the problem has {} {}", field, size, expected, unit));
  };
  require(solution.impulse.size(), problem.row_count(), "impulse", "rows");
  if (solution.generalized_velocity.size() != 0) {
    require(solution.generalized_velocity.size(), problem.dof_count(), "generalized_velocity", "dofs");
  }
  Vector u;
  Vector v;
  problem.velocity_of(solution.impulse, v, u);
  const bool given = solution.generalized_velocity.size() == v.size();
  return Certifier().judge(problem, solution.impulse, u, given ? solution.generalized_velocity : v, law, 0.0);
}

}  // namespace tribo
