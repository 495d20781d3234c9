// Proximal point, Acary et al. (2018) Alg. 8 with its errata: each iteration solves the problem with W + a D in place of W
// and q - a D x_k in place of q,
//
//   z_{k+1} solves FC(W + R + a_k D, q - a_k D x_k),   x_{k+1} = (1 - omega) x_k + omega z_{k+1},
//
// which is regular whatever the rank of W; De Saxce's term is that of the shifted velocity, which is the same at a
// solution (E-19 of the errata). a_k follows one of two rules:
//
//   error      (125)  a = sigma error^nu, ten times that where the inner engine failed
//   adaptive          a / 10 where the inner engine succeeded, 5 a where it failed
//
// kind = tikhonov regularises instead: FC(W + R + a_k D, q), whose solution tends to the least one as a_k -> 0.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "tribo/solve/classical/nsn_engine.h"
#include "tribo/solve/classical/splitting_engine.h"

namespace tribo {

struct ProximalPointOptions {
  enum class Inner { newton, sweeps };
  enum class Alpha { error, adaptive };
  enum class Kind { proximal, tikhonov };

  Inner inner = Inner::newton;
  Alpha alpha = Alpha::error;
  Kind kind = Kind::proximal;
  double alpha0 = 1.0;           // the first one (1e3 to 1e4 in the literature, without scaling)
  double sigma = 0.5, nu = 1.0;  // of rule (125)
  double omega = 1.0;
  double accuracy = 0.1;  // of the inner problems, relative to the error
  Index inner_iterations = 40;
  bool scaled = true;
  NsnOptions newton{};
  SplittingOptions sweeps{};
};

std::vector<Option> describe(ProximalPointOptions& options);

// ppa-nsn-ac, ppa-nsn-ac-gp, ppa-nsgs-ac, each also -adaptive.
std::unique_ptr<Solver> make_proximal_point(std::string_view name, const ProximalPointOptions& options);

}  // namespace tribo
