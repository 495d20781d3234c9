// Fixed points of convex problems, Acary et al. (2018) sec. 7: an outer loop poses convex problems, inner engines solve
// them to a tenth of the present error.
//
//   pana     Alg. 10  normals with the tangents held, then tangents on the disks mu lambda_n with the normals held
//   tresca   Alg. 11  the problem on cylinders of radius mu lambda_n
//   aclm     Alg. 12  the problem on the cones with velocities shifted by Gamma(w) of the last iterate
//
// The exact law; aclm also the convex one, where it is a single convex problem.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "tribo/solve/classical/projected_gradient.h"
#include "tribo/solve/classical/splitting_engine.h"
#include "tribo/solve/classical/vi_engine.h"

namespace tribo {

enum class ConvexInner { sweeps, vi, projected_gradient };

struct FixedPointOptions {
  enum class Outer { pana, tresca, aclm };

  Outer outer = Outer::aclm;
  ConvexInner inner = ConvexInner::sweeps;   // pana: of the tangents
  ConvexInner normal = ConvexInner::sweeps;  // pana: of the normals (sweeps: projected Gauss-Seidel)
  double accuracy = 0.1;                     // of the inner problems, relative to the error
  Index inner_iterations = 1000;
  bool scaled = true;
  ViOptions vi{};
  SplittingOptions sweeps{};
  ProjectedGradientOptions gradient{};
};

std::vector<Option> describe(FixedPointOptions& options);

// pana-*, tresca-*, aclm-*.
std::unique_ptr<Solver> make_fixed_point(std::string_view name, const FixedPointOptions& options);

}  // namespace tribo
