// Inverse masses of constraints as they stand in a set, before a problem is made of them: W_ii = J_i A^-1 J_i^T over the
// trees they touch. One solve with A per row and tree.
#pragma once

#include "tribo/sim/assembly/constraint_set.h"

namespace tribo {

class FreeMotion;

class InverseMass {
 public:
  using Block = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMostRows, kMostRows>;
  // W_ii, rows x rows of the constraint.
  Block block(const ConstraintSet& set, Index constraint, const FreeMotion& motion);
  // Mean diagonal over `count` scalar constraints from `first` on.
  double mean(const ConstraintSet& set, Index first, Index count, const FreeMotion& motion);

 private:
  Numbers column_;
};

}  // namespace tribo
