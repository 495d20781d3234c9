// Pivoting for the linear complementarity problem z >= 0, w = M z + q >= 0, z.w = 0 with a dense M.
//
//   lemke    complementary pivots with an artificial variable, Cottle, Pang and Stone, The Linear Complementarity Problem,
//            Alg. 4.4.5, q perturbed by 1e-9 against cycles: ends for copositive M
//   dantzig  principal pivots that drive one violated variable after the other to zero, Alg. 4.2.6 (Dantzig and Cottle;
//            Baraff 1994): ends where all principal minors of M are positive
//
// Cost: 2 m^2 (lemke: 4 m^2) per pivot, m^2 numbers (lemke: 2 m^2), m the number of variables.
#pragma once

#include <functional>
#include <vector>

#include "tribo/base/types.h"

namespace tribo {

enum class LcpEnd { solved, ray, limit };  // ray: no pivot is left

class Lemke {
 public:
  // `step(pivots)` is asked before every pivot; false ends the search.
  LcpEnd solve(const Matrix& m, const Vector& q, const std::function<bool(Index)>& step, Vector& z);

 private:
  Index leaving_row(Index entering) const;
  void pivot(Index row, Index column);

  // [size x (2 size + 2)]: w, z, the artificial variable, right-hand side.
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> tableau_;
  std::vector<Index> basis_;  // column of the tableau that is basic in a row
};

class Dantzig {
 public:
  void prepare(const Matrix& m);  // starts from z = 0
  // From the basis that the last call ended with.
  LcpEnd solve(const Vector& q, const std::function<bool(Index)>& step, Vector& z);

 private:
  void pivot(Index i);

  Matrix tableau_;  // principal transform of M
  std::vector<char> basic_;
  Vector value_, column_, row_;
};

}  // namespace tribo
