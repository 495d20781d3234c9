#include "tribo/problem/certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/base/errors.h"
#include "tribo/math/cone.h"
#include "tribo/math/norms.h"
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

// w + Gamma(w) under the exact law, w under the convex one.
Vec3 corrected(const Vec3& w, double mu, Law law) {
  return law == Law::exact ? Vec3(w + de_saxce(w, mu)) : w;
}

double project_scalar(const ContactProblem& problem, Index i, double x) {
  switch (problem.kind(i)) {
    case ConstraintKind::unilateral:
      return project_orthant(x);
    case ConstraintKind::box:
      return project_box(x, problem.lower(i), problem.upper(i));
    default:
      return x;
  }
}

// What the conditions of one constraint are made of; scalars use the first entries.
struct Local {
  Vec3 lambda = Vec3::Zero();
  Vec3 w = Vec3::Zero();               // u + R lambda
  Vec3 hat = Vec3::Zero();             // contacts: w + Gamma(w), or w
  detail::Aperture cone = {0.0, 1.0};  // contacts: of K_mu; swapped, of its dual
};

Local local_values(const ContactProblem& problem, Index i, const Vector& impulse, const Vector& velocity,
                   Law law) {
  const Index row = problem.row(i);
  if (problem.kind(i) == ConstraintKind::contact) {
    const double mu = problem.friction(i);
    const Vec3 lambda = impulse.segment<3>(row);
    const Vec3 w = velocity.segment<3>(row) + problem.compliance().segment<3>(row).cwiseProduct(lambda);
    return {lambda, w, corrected(w, mu, law), detail::coulomb_aperture(mu)};
  }
  Local local;
  local.lambda[0] = impulse[row];
  local.w[0] = velocity[row] + problem.compliance()[row] * impulse[row];
  return local;
}

Vec3 project_primal(const Local& local, const Vec3& x) {
  return detail::project_circular_cone(x, local.cone);
}

Vec3 project_dual(const Local& local, const Vec3& x) {
  return detail::project_circular_cone(x, {local.cone.cosine, local.cone.sine});
}

// lambda_i - P_i(lambda_i - step hat w_i); zeros beyond the constraint's rows. The plain difference loses w
// beside a huge lambda, and impulses that grow without bound would look like a solution; where the projection
// is idle the map is step hat w itself, and on the cone, by Moreau, step hat w - P_K*(step hat w - lambda).
Vec3 contact_map(const Local& local, double step) {
  const Vec3& lambda = local.lambda;
  const Vec3 move = step * local.hat;
  const double l = lambda.squaredNorm(), m = move.squaredNorm();
  const bool loses = is_safe_square(l) || is_safe_square(m)
                         ? l > m
                         : lambda.lpNorm<Eigen::Infinity>() > move.lpNorm<Eigen::Infinity>();
  if (loses) return move - project_dual(local, move - lambda);
  return lambda - project_primal(local, lambda - move);
}

double scalar_map(const ContactProblem& problem, Index i, const Local& local, double step) {
  const double move = step * local.w[0];
  const double target = local.lambda[0] - move;
  const double projected = project_scalar(problem, i, target);
  return projected == target ? move : local.lambda[0] - projected;
}

Vec3 natural_map(const ContactProblem& problem, Index i, const Local& local, double step) {
  if (problem.kind(i) == ConstraintKind::contact) return contact_map(local, step);
  return {scalar_map(problem, i, local, step), 0.0, 0.0};
}

double scaled_error(const ContactProblem& problem, Index i, const Local& local) {
  const double step = problem.inverse_scale(i);
  const double root = problem.root_scale(i);
  if (problem.kind(i) != ConstraintKind::contact) return root * std::abs(scalar_map(problem, i, local, step));
  return root * contact_map(local, step).cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
}

// |x_i|_inf.
double largest_of(const Vector& x, const ContactProblem& problem, Index i) {
  const double* rows = x.data() + problem.row(i);
  const double first = std::abs(rows[0]);
  return problem.rows(i) == 1 ? first : std::max({first, std::abs(rows[1]), std::abs(rows[2])});
}

// Where nothing has a size to compare with (impulses, demands and free motion are zero, and only the bound of an idle box
// moves something), an error is all there is: 1.
double ratio(double value, double reference) {
  if (value == 0.0) return 0.0;
  return value > 0.0 && reference == 0.0 ? 1.0 : value / reference;
}

// Everything but the three normalised errors, at one constraint.
void judge_contact(const ContactProblem& problem, Index i, const Local& local, double reference,
                   Certificate& out) {
  const double mu = problem.friction(i);
  raise(out.cone_primal, safe_norm(local.lambda - project_primal(local, local.lambda)), i);
  raise(out.cone_dual, safe_norm(local.hat - project_dual(local, local.hat)), i);
  raise(out.complementarity, std::abs(local.lambda.dot(local.hat)), i);
  raise(out.penetration_velocity, std::max(0.0, -local.w[2]), i);
  const double limit = mu * local.lambda[2];
  const double friction = detail::tangent_norm(local.lambda);
  const double slip = detail::tangent_norm(local.w);
  const double root = problem.root_scale(i);
  const bool loaded = root * local.lambda[2] > kLoadedShare * reference;
  if (!loaded) return;
  if (friction < kStickShare * limit) {
    raise(out.stick_slip_velocity, slip, i);
  } else if (slip > kSlipShare * root * problem.largest_demand() && friction > 0.0) {
    const Vec2 e = local.lambda.head<2>() / friction, d = local.w.head<2>() / slip;
    const double sine = e[0] * d[1] - e[1] * d[0];
    const double cosine = -e.dot(d);
    raise(out.slip_angle, std::abs(std::atan2(sine, cosine)), i);
  }
}

void judge_scalar(const ContactProblem& problem, Index i, const Local& local, double reference,
                  Certificate& out) {
  const double lambda = local.lambda[0];
  const double w = local.w[0];
  raise(out.cone_primal, std::abs(lambda - project_scalar(problem, i, lambda)), i);
  switch (problem.kind(i)) {
    case ConstraintKind::unilateral:
      raise(out.cone_dual, std::max(0.0, -w), i);
      raise(out.penetration_velocity, std::max(0.0, -w), i);
      raise(out.complementarity, std::abs(lambda * w), i);
      break;
    case ConstraintKind::bilateral:
      raise(out.cone_dual, std::abs(w), i);
      raise(out.penetration_velocity, std::abs(w), i);
      break;
    default: {
      // Where w pushes towards an absent bound, an impulse of the reference's size stands in for the distance to it.
      const double root = problem.is_idle(i) ? 1.0 : problem.root_scale(i);
      const double room = std::abs(w > 0.0 ? lambda - problem.lower(i) : problem.upper(i) - lambda);
      raise(out.complementarity, std::abs(w) * (std::isfinite(room) ? room : reference / root), i);
      break;
    }
  }
}

}  // namespace

double natural_map(const ContactProblem& problem, Index i, const Vector& impulse, const Vector& velocity,
                   Law law) {
  return scaled_error(problem, i, local_values(problem, i, impulse, velocity, law));
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

// A constraint that is violated as if nothing held it although its impulse is far beyond what stops the
// fastest of them all.
bool runs_away(const ContactProblem& problem, Index i, const Local& local, double fastest, double energy) {
  const double beyond = local.lambda.cwiseAbs().maxCoeff() * problem.scale(i) / fastest;
  // Of the fastest free velocity: the farther beyond, the less; where the work wasted on the constraint counts
  // among the energies, in between.
  const bool costly = std::abs(local.lambda.dot(local.w)) > 0.01 * energy;
  const double allowed = beyond > 1e5 ? 0.01 : costly ? std::sqrt(10.0 / beyond) : 0.1;
  double violation = 0.0;
  switch (problem.kind(i)) {
    case ConstraintKind::contact:
      violation = -local.w[2];
      break;
    case ConstraintKind::unilateral:
      violation = -local.w[0];
      break;
    case ConstraintKind::bilateral:
      violation = std::abs(local.w[0]);
      break;
    case ConstraintKind::box:
      if (local.lambda[0] > problem.lower(i) && local.lambda[0] < problem.upper(i)) {
        violation = std::abs(local.w[0]);
      }
      break;
  }
  return violation > allowed * fastest;
}

}  // namespace

bool looks_infeasible(const ContactProblem& problem, const Vector& impulse, const Vector& velocity, Law law) {
  constexpr double kBeyond = 10.0;
  constexpr double kShare = 0.5;
  if (impulse.size() == 0) return false;
  const double fastest = problem.free_velocity().lpNorm<Eigen::Infinity>();
  const double energy = std::abs(impulse.dot(problem.free_velocity()));
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (!(largest_of(impulse, problem, i) * problem.scale(i) > kFar * fastest)) continue;
    if (runs_away(problem, i, local_values(problem, i, impulse, velocity, law), fastest, energy)) return true;
  }
  if (impulse_sizes(problem, impulse).largest <= kBeyond * problem.largest_demand()) return false;
  double gap = 0.0;
  double work = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Local local = local_values(problem, i, impulse, velocity, law);
    work += local.lambda.dot(local.w);
    if (problem.kind(i) == ConstraintKind::contact) {
      gap += std::abs(local.lambda.dot(local.hat));
    } else if (problem.kind(i) != ConstraintKind::box ||  // a box at its bound may do work
               (local.lambda[0] > problem.lower(i) && local.lambda[0] < problem.upper(i))) {
      gap += std::abs(local.lambda[0] * local.w[0]);
    }
  }
  const double free = impulse.dot(problem.free_velocity());
  return gap > kShare * std::max(std::abs(free), std::abs(work - free));
}

namespace {

// sqrt(sum_i |map_i|^2) with step 1, mixed units. The squares of very small and very large problems leave the range of
// doubles: they are scaled then.
double plain_norm(const ContactProblem& problem, const Vector& impulse, const Vector& velocity, Law law) {
  const auto sum = [&](double unit) {
    double squared = 0.0;
    for (Index i = 0; i < problem.constraint_count(); ++i) {
      const Local local = local_values(problem, i, impulse, velocity, law);
      squared += (natural_map(problem, i, local, 1.0) / unit).squaredNorm();
    }
    return squared;
  };
  const double squared = sum(1.0);
  if (is_safe_square(squared) || std::isnan(squared)) return std::sqrt(squared);
  double largest = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Local local = local_values(problem, i, impulse, velocity, law);
    largest = std::max(largest, natural_map(problem, i, local, 1.0).lpNorm<Eigen::Infinity>());
  }
  return largest > 0.0 && std::isfinite(largest) ? largest * std::sqrt(sum(largest)) : largest;
}

Vec3 strict_map(const ContactProblem& problem, Index i, const Local& local) {
  return local.lambda - project_strict(local.lambda - local.w, problem.friction(i));
}

// plain_norm() with the strict operator for contacts.
double strict_norm(const ContactProblem& problem, const Vector& impulse, const Vector& velocity, Law law) {
  double largest = 0.0, scaled = 0.0;  // largest^2 scaled is the sum of squares
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Local local = local_values(problem, i, impulse, velocity, law);
    const bool contact = problem.kind(i) == ConstraintKind::contact;
    const Vec3 map = contact ? strict_map(problem, i, local) : natural_map(problem, i, local, 1.0);
    const double size = safe_norm(map);
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
    const double map = scaled_error(problem, i, local_values(problem, i, impulse, velocity, law));
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
  const Local local = local_values(problem, i, impulse, velocity, law);
  if (measure == Measure::scaled) {
    const double root = problem.root_scale(i);
    if (root == 0.0) return std::max(scaled_error(problem, i, local), idle_error(problem, i, law));
    const BlockJacobian& jacobian = problem.jacobian();
    double energy = 0.0;
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      energy = std::max(energy, problem.tree_root_energy(jacobian.piece_tree(p)));
    }
    const double demand = std::max({problem.demand(i), root * problem.lower(i), -root * problem.upper(i)});
    const double common =
        bounded_reference(root * local.lambda.cwiseAbs().maxCoeff<Eigen::PropagateNaN>(), demand, energy);
    return ratio(scaled_error(problem, i, local), reference_of(problem, i, common));
  }
  const Index row = problem.row(i), n = problem.rows(i);
  const double map = safe_norm(natural_map(problem, i, local, 1.0));
  const double q = safe_norm(problem.free_velocity().segment(row, n));
  if (measure == Measure::fclib) return ratio(map, q);
  return ratio(map, std::max({q, safe_norm(local.lambda), safe_norm(velocity.segment(row, n))}));
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
  double squared = 0.0, strict_squared = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Local local = local_values(problem, i, impulse, u, law);
    raise(out.error, ratio(scaled_error(problem, i, local), reference_of(problem, i, reference)), i);
    const double plain = natural_map(problem, i, local, 1.0).squaredNorm();
    squared += plain;
    if (problem.kind(i) == ConstraintKind::contact) {
      strict_squared += strict_map(problem, i, local).squaredNorm();
      judge_contact(problem, i, local, reference, out);
    } else {
      strict_squared += plain;
      judge_scalar(problem, i, local, reference, out);
    }
  }
  raise_idle(problem, law, out.error);
  const double map = is_safe_square(squared) ? std::sqrt(squared) : plain_norm(problem, impulse, u, law);
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
