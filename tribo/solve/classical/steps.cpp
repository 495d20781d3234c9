#include "tribo/solve/classical/steps.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

namespace tribo {
namespace {

constexpr double kFloor = 1e-14;  // smallest eigenvalue counted, relative to the trace

struct Range {
  double smallest, largest;
};

template <int N>
Range eigenvalues(const MatN<N>& w) {
  if constexpr (N == 2) {
    const double a = w(0, 0), b = 0.5 * (w(0, 1) + w(1, 0)), d = w(1, 1);
    const double mean = 0.5 * (a + d), root = std::sqrt(0.25 * (a - d) * (a - d) + b * b);
    return {mean - root, mean + root};
  } else {
    const Eigen::SelfAdjointEigenSolver<MatN<N>> spectrum(MatN<N>(0.5 * (w + w.transpose())),
                                                          Eigen::EigenvaluesOnly);
    return {spectrum.eigenvalues()[0], spectrum.eigenvalues()[N - 1]};
  }
}

}  // namespace

template <int N>
Steps find_steps(RhoRule rule, const MatN<N>& w, double weight) {
  const double trace = w.trace();
  const double floor = trace > 0.0 ? kFloor * trace : weight;
  const auto inverse = [floor](double x) { return 1.0 / std::max(x, floor); };
  const double normal = inverse(w(N - 1, N - 1));
  switch (rule) {
    case RhoRule::constant:
      return {1.0 / weight, 1.0 / weight};
    case RhoRule::norm:
      return {inverse(w.norm()), inverse(w.norm())};
    case RhoRule::largest: {
      const double rho = inverse(eigenvalues<N>(w).largest);
      return {rho, rho};
    }
    case RhoRule::split:
      return {normal, inverse(eigenvalues<N - 1>(w.template topLeftCorner<N - 1, N - 1>()).largest)};
    case RhoRule::conditioned: {
      const Range tangent = eigenvalues<N - 1>(w.template topLeftCorner<N - 1, N - 1>());
      const double largest = std::max(tangent.largest, floor);
      return {normal, std::max(tangent.smallest, floor) / (largest * largest)};
    }
  }
  return {};
}

template Steps find_steps<3>(RhoRule, const MatN<3>&, double);
template Steps find_steps<4>(RhoRule, const MatN<4>&, double);
template Steps find_steps<6>(RhoRule, const MatN<6>&, double);

}  // namespace tribo
