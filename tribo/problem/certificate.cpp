#include "tribo/problem/certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/base/errors.h"
#include "tribo/math/norms.h"
#include "tribo/problem/local_conditions.h"
#include "tribo/problem/natural_map.h"
#include "tribo/problem/rounding.h"
#include "tribo/problem/sparse_trees.h"

namespace tribo {
namespace {

using detail::largest;
using detail::LocalCone;
using detail::LocalRow;
using detail::map_of;
using detail::scaled_error;
using detail::size_of;
using detail::squared;
using detail::with_local;

// Whether `value` takes the place of `worst`. A NaN does and then stays, so that it cannot hide.
bool is_worse(double value, double worst) { return !(value <= worst) && !std::isnan(worst); }

void raise(Worst& worst, double value, Index constraint) {
  if (is_worse(value, worst.value)) worst = {value, constraint};
}

// Where nothing has a size to compare with (impulses, demands and free motion are zero, and only the bound of an idle box
// moves something), an error is all there is: 1.
double ratio(double value, double reference) {
  if (value == 0.0) return 0.0;
  return value > 0.0 && reference == 0.0 ? 1.0 : value / reference;
}

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

// sqrt(sum_i |map_i|^2) where the squares leave the range of doubles: one pass, relative to the largest so far.
template <class Map>
double scaled_norm(const ContactProblem& problem, const Vector& impulse, const Vector& velocity, Law law,
                   const Map& map) {
  double largest = 0.0, scaled = 0.0;  // largest^2 scaled is the sum of squares
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const double size = with_local(problem, i, impulse, velocity, law,
                                   [&](const auto& local) { return size_of(map(local)); });
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

// sqrt(sum_i |map_i|^2) of the natural maps with step 1, mixed units.
double plain_norm(const ContactProblem& problem, const Vector& impulse, const Vector& velocity, Law law) {
  const auto map = [](const auto& local) { return map_of(local, 1.0); };
  double total = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    with_local(problem, i, impulse, velocity, law, [&](const auto& local) { total += squared(map(local)); });
  }
  if (is_safe_square(total) || std::isnan(total)) return std::sqrt(total);
  return scaled_norm(problem, impulse, velocity, law, map);
}

// The natural map with the strict operator for contacts.
template <int N>
VecN<N> strict_map(const LocalCone<N>& local) {
  return local.lambda - project_strict(VecN<N>(local.lambda - local.w), local.friction);
}
double strict_map(const LocalRow& local) { return map_of(local, 1.0); }

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
  if (!problem.has_sparse_trees() && !counts(rounding, error, tolerance)) return error + rounding;
  const ExtendedErrors exact = extended_.errors(problem, impulse, law);
  return scaled ? exact.scaled : measure == Measure::fclib ? exact.fclib : exact.siconos;
}

// ||A v - b - J^T lambda|| relative to A v or b, all in the A^-1 norm (Castro 32).
double Certifier::momentum_residual(const ContactProblem& problem, const Vector& impulse, const Vector& v) {
  if (problem.has_sparse_trees()) return sparse_momentum_residual(problem, impulse, v);
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

// The same tree by tree, v [full dofs].
double Certifier::sparse_momentum_residual(const ContactProblem& problem, const Vector& impulse,
                                           const Vector& v) {
  const SparseTrees& sparse = problem.sparse_trees();
  const BlockDiagonal& mass = problem.mass();
  residual_ = problem.momentum();
  problem.jacobian().add_transpose_product(impulse, residual_);
  sparse_residual_ = sparse.momentum();
  sparse.jacobian().add_transpose_product(impulse, sparse_residual_);
  inertia_.resize(problem.full_dof_count());
  double moved = 0.0, free = 0.0, missing = 0.0;
  for (Index t = 0, from = 0; t < problem.tree_count(); ++t) {
    const SparseTree* tree = sparse.find(t);
    const Index n = tree != nullptr ? tree->dofs() : mass.block_size(t);
    const auto motion = v.segment(from, n);
    auto inertia = inertia_.segment(from, n);
    auto residual = tree != nullptr ? sparse_residual_.segment(tree->first, n)
                                    : residual_.segment(mass.block_start(t), n);
    if (tree != nullptr) {
      tree->mass->multiply(motion.data(), inertia.data());
    } else {
      inertia.noalias() = mass.block(t) * motion;
    }
    moved = detail::norm2(moved, root_of_product(inertia, motion));
    free = detail::norm2(free, problem.tree_root_energy(t));
    residual -= inertia;
    inertia = residual;
    if (tree != nullptr) {
      tree->mass->solve_in_place(inertia.data(), scratch_.factor);
    } else {
      problem.mass_factor().solve_block_in_place(t, inertia);
    }
    missing = detail::norm2(missing, root_of_product(inertia, residual));
    from += n;
  }
  return ratio(missing, std::max(moved, free));
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
  if (problem.has_sparse_trees() || counts(rounding, out.error.value, tolerance) ||
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
      is_safe_square(strict_squared)
          ? std::sqrt(strict_squared)
          : scaled_norm(problem, impulse, u, law, [](const auto& local) { return strict_map(local); });
  out.lee_residual = strict / std::max<Index>(1, divisor);
  // In Delassus form the generalised velocity is a by-product of the lift, not part of the problem.
  if (!problem.has_delassus()) out.momentum = momentum_residual(problem, impulse, v);
  return out;
}

// v [full dofs] and u of an impulse, on A, b and J as they were given.
void Certifier::move(const ContactProblem& problem, const Vector& impulse, Vector& v, Vector& u) {
  if (!problem.has_sparse_trees()) return problem.velocity_of(impulse, v, u);
  problem.full_velocity_of(impulse, v, scratch_);
  const SparseTrees& sparse = problem.sparse_trees();
  Vector &dense = scratch_.coordinates, &part = scratch_.known;
  dense = scratch_.dense;
  for (const SparseTree& tree : sparse.trees()) dense.segment(tree.coordinate, tree.coordinates()).setZero();
  u.resize(problem.row_count());
  part.resize(problem.row_count());
  problem.jacobian().multiply(dense, u);
  sparse.jacobian().multiply(scratch_.motion, part);
  u += part + problem.bias();
}

Certificate Certifier::complete(const ContactProblem& problem, Solution& solution, Law law,
                                double tolerance) {
  if (problem.has_delassus()) solution.generalized_velocity.resize(0);
  move(problem, solution.impulse, solution.generalized_velocity, solution.velocity);
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
    require(solution.generalized_velocity.size(), problem.full_dof_count(), "generalized_velocity", "dofs");
  }
  Vector u;
  Vector v;
  Certifier certifier;
  certifier.move(problem, solution.impulse, v, u);
  const bool given = solution.generalized_velocity.size() == v.size();
  return certifier.judge(problem, solution.impulse, u, given ? solution.generalized_velocity : v, law, 0.0);
}

}  // namespace tribo
