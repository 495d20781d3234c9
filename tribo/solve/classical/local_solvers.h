// One contact alone, for the sweeps of solve/classical/splitting_engine.h: the methods of whole problems (projection
// methods, nonsmooth Newton) on a matrix of N rows, and one projected step. Each takes the present impulse r and
// w = (W_ii + R_ii + a D_i) r + q and returns its new impulse, never one that is not finite.
#pragma once

#include "tribo/solve/classical/formulation.h"
#include "tribo/solve/classical/line_search.h"
#include "tribo/solve/classical/sets.h"
#include "tribo/solve/classical/vi_step.h"

namespace tribo {

template <int N>
struct LocalContact {
  Index index = 0, row = 0;         // of the constraint, and its first row
  double weight = 1.0;              // D_i
  MatN<N> w = MatN<N>::Identity();  // (W_ii + R_ii + a D_i) / omega
  LawAt law;                        // for Newton: friction and steps
  double rho = 1.0;                 // for projections, in units of 1 / D_i: kept from visit to visit
  double one_step = 1.0;            // 1 / W_nn
};

struct LocalLimits {
  double tolerance = 1e-14;  // on the residual relative to |r| + |q| / W_nn
  Index iterations = 10;
};

// One step r <- P(r - F(w) / W_nn): De Saxce and Feng's, classical projected Gauss-Seidel.
template <int N>
VecN<N> local_projection(const LocalContact<N>& c, SetKind set, double radius, const VecN<N>& w,
                         const VecN<N>& r);

// Projection method with self-adaptive rho; at least one iteration.
template <int N>
VecN<N> local_vi(LocalContact<N>& c, const ViRule& rule, const LocalLimits& limits, SetKind set,
                 double radius, const VecN<N>& w, const VecN<N>& r);

// Nonsmooth Newton; where it does not converge, the better one of its last iterate and that of local_vi().
template <int N>
VecN<N> local_newton(LocalContact<N>& c, const SearchOptions& search, const LocalLimits& limits,
                     const VecN<N>& w, const VecN<N>& r);

}  // namespace tribo
