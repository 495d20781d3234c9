#include "tribo/math/spectrum.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tribo {

namespace {

using SmallVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, lanczos_max_steps, 1>;
using SmallMatrix =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, lanczos_max_steps, lanczos_max_steps>;

void grow(Vector& storage, Eigen::Index entries) {
  if (storage.size() < entries) storage.resize(entries);
}

// Entries in [-1, 1) from the splitmix64 sequence: reproducible on every platform and without the symmetries
// of a constant vector, which may be orthogonal to the wanted eigenvectors.
void fill_start_vector(Eigen::Ref<Vector> v, std::uint64_t seed) {
  std::uint64_t state = seed;
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    state += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    z ^= z >> 31;
    v[i] = static_cast<double>(z >> 11) * 0x1.0p-52 - 1.0;
  }
}

// Removes from v its components in the first `count` basis columns, twice ("twice is enough", Kahan and
// Parlett).
void orthogonalise(const Eigen::Ref<const Matrix>& basis, Index count, Eigen::Ref<Vector> v,
                   Vector& coefficients) {
  auto c = coefficients.head(count);
  for (int pass = 0; pass < 2; ++pass) {
    c.noalias() = basis.leftCols(count).transpose() * v;
    v.noalias() -= basis.leftCols(count) * c;
  }
}

// The fraction by which the largest Ritz value may fall short of the largest eigenvalue, with probability
// 0.999 over start vectors: P(short by more than e) <= 1.648 sqrt(n) exp(-sqrt(e) (2k - 1)) after k steps
// (Kuczynski & Wozniakowski 1992). That says nothing for very few steps; a factor 10 stands in for it there.
double underestimate(Index size, Index steps) {
  const double root = std::log(1.648 * std::sqrt(static_cast<double>(size)) / 1e-3) / (2.0 * steps - 1.0);
  return std::min(0.9, root * root);
}

}  // namespace

SpectrumBounds lanczos_bounds(LinearOperatorRef apply, Index size, Index steps,
                              SpectrumWorkspace& workspace) {
  SpectrumBounds bounds;
  steps = std::min({steps, size, lanczos_max_steps});
  if (steps <= 0) return bounds;
  grow(workspace.basis, Eigen::Index{size} * steps);
  grow(workspace.product, size);
  grow(workspace.coefficients, steps);
  Eigen::Map<Matrix> basis(workspace.basis.data(), size, steps);
  auto product = workspace.product.head(size);

  SmallVector diagonal(steps);
  SmallVector off_diagonal = SmallVector::Zero(steps);
  bool exact = steps == size;  // an invariant subspace met by a generic start holds every distinct eigenvalue
  double norm = 0.0;           // running estimate of the operator's norm
  fill_start_vector(basis.col(0), 1);
  basis.col(0).normalize();
  for (Index k = 0; k < steps; ++k) {
    apply(basis.col(k), product);
    diagonal[k] = basis.col(k).dot(product);
    norm = std::max(norm, product.norm());
    orthogonalise(basis, k + 1, product, workspace.coefficients);
    const double beta = product.norm();
    const bool invariant = !(beta > 1e-13 * norm);
    off_diagonal[k] = invariant ? 0.0 : beta;
    exact = exact || invariant;
    if (k + 1 == steps) break;
    if (invariant) {
      // The basis spans an invariant subspace; a fresh direction lets the rest of the spectrum in, and the
      // tridiagonal matrix merely splits in two.
      fill_start_vector(product, static_cast<std::uint64_t>(k) + 2);
      orthogonalise(basis, k + 1, product, workspace.coefficients);
    }
    basis.col(k + 1) = product / product.norm();
  }

  Eigen::SelfAdjointEigenSolver<SmallMatrix> ritz;
  ritz.computeFromTridiagonal(diagonal, off_diagonal.head(steps - 1), Eigen::EigenvaluesOnly);
  bounds.lambda_min = ritz.eigenvalues()[0];
  bounds.lambda_max = ritz.eigenvalues()[steps - 1];
  bounds.upper_bound = bounds.lambda_max * (exact ? 1.0 + 1e-12 : 1.0 / (1.0 - underestimate(size, steps)));
  bounds.steps = steps;
  return bounds;
}

PowerResult power_iteration(LinearOperatorRef apply, Index size, Index max_iterations, double tolerance,
                            SpectrumWorkspace& workspace) {
  PowerResult result;
  if (size <= 0) return result;
  grow(workspace.basis, size);
  grow(workspace.product, size);
  auto v = workspace.basis.head(size);
  auto product = workspace.product.head(size);
  fill_start_vector(v, 1);
  v.normalize();
  for (Index k = 1; k <= max_iterations; ++k) {
    apply(v, product);
    result.lambda_max = v.dot(product);
    result.residual = (product - result.lambda_max * v).norm();
    result.iterations = k;
    const double length = product.norm();
    if (result.residual <= tolerance * result.lambda_max || length == 0.0) break;
    v = product / length;
  }
  return result;
}

}  // namespace tribo
