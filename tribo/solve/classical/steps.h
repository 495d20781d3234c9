// Steps rho of one constraint from its block W_ii, Acary et al. (2018) sec. 5.4:
//
//   constant     rho_n = rho_t = 1 / D_i
//   norm         (109)  1 / |W|_F
//   largest      (110)  1 / lambda_max(W)
//   split        (111)  rho_n = 1 / W_nn,  rho_t = 1 / lambda_max(W_tt)
//   conditioned  (112)  rho_n = 1 / W_nn,  rho_t = lambda_min(W_tt) / lambda_max(W_tt)^2
//
// (112) with W_tt, not the printed W_NN. Eigenvalues are those of the symmetric part.
#pragma once

#include <cstdint>

#include "tribo/base/types.h"

namespace tribo {

enum class RhoRule : std::uint8_t { constant, norm, largest, split, conditioned };

struct Steps {
  double normal = 1.0, tangent = 1.0;
};

// `weight`: D_i. Finite and positive for every matrix.
template <int N>
Steps find_steps(RhoRule rule, const MatN<N>& w, double weight);

extern template Steps find_steps<3>(RhoRule, const MatN<3>&, double);
extern template Steps find_steps<4>(RhoRule, const MatN<4>&, double);
extern template Steps find_steps<6>(RhoRule, const MatN<6>&, double);

}  // namespace tribo
