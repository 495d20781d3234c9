// Extreme eigenvalues of a symmetric positive semidefinite operator known only by its products.
//
//   lanczos_bounds   k products, full reorthogonalisation: k^2 n flops beside the products. Both ends of the
//                    spectrum; ends well separated from the rest converge in 10 to 20 products.
//   power_iteration  lambda_max only, n storage, for many cheap products.
//
// The start vector is a fixed pseudo-random one: same operator, same bits. The operator is any callable
// `void(const Eigen::Ref<const Vector>& in, Eigen::Ref<Vector> out)`; in and out never overlap.
//
// Example: a penalty parameter between the extreme eigenvalues of W
//   SpectrumWorkspace workspace;
//   auto apply = [&](const Eigen::Ref<const Vector>& in, Eigen::Ref<Vector> out) { out.noalias() = W * in; };
//   SpectrumBounds bounds = lanczos_bounds(apply, W.rows(), 20, workspace);
//   double rho = std::sqrt(bounds.lambda_min * bounds.lambda_max);
#pragma once

#include <Eigen/Core>
#include <type_traits>

#include "tribo/base/types.h"

namespace tribo {

// A reference to a callable as above: two pointers, no allocation. The callable must outlive it.
class LinearOperatorRef {
 public:
  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, LinearOperatorRef>>>
  LinearOperatorRef(F&& apply)
      : object_(const_cast<void*>(static_cast<const void*>(&apply))),
        call_([](void* object, const Eigen::Ref<const Vector>& in, Eigen::Ref<Vector> out) {
          (*static_cast<std::remove_reference_t<F>*>(object))(in, out);
        }) {}

  void operator()(const Eigen::Ref<const Vector>& in, Eigen::Ref<Vector> out) const {
    call_(object_, in, out);
  }

 private:
  void* object_;
  void (*call_)(void*, const Eigen::Ref<const Vector>&, Eigen::Ref<Vector>);
};

// Grow-only storage: a second call of the same or a smaller size allocates nothing.
struct SpectrumWorkspace {
  Vector basis;         // columns of the Krylov basis, `size` entries each
  Vector product;       // operator times the newest column
  Vector coefficients;  // components removed by one orthogonalisation
};

struct SpectrumBounds {
  double lambda_min = 0.0;  // smallest Ritz value: never below the true minimum (up to rounding)
  double lambda_max = 0.0;  // largest Ritz value: never above the true maximum
  // Above the true maximum with probability 0.999 from 8 steps on; too large by about 7 % after 20 steps, 40
  // % after 10, and by a factor up to 10 after fewer than 6. Equal to lambda_max when that is exact.
  double upper_bound = 0.0;
  Index steps = 0;  // products used
};

struct PowerResult {
  double lambda_max = 0.0;  // Rayleigh quotient: never above the true maximum
  double residual = 0.0;    // |A v - lambda v| for |v| = 1: some eigenvalue lies this near
  Index iterations = 0;
};

// At most `lanczos_max_steps` steps are taken; steps >= n gives the exact extremes.
inline constexpr Index lanczos_max_steps = 64;

SpectrumBounds lanczos_bounds(LinearOperatorRef apply, Index size, Index steps, SpectrumWorkspace& workspace);

// Stops when the Rayleigh quotient's residual is below tolerance * lambda_max, or after max_iterations.
PowerResult power_iteration(LinearOperatorRef apply, Index size, Index max_iterations, double tolerance,
                            SpectrumWorkspace& workspace);

}  // namespace tribo
