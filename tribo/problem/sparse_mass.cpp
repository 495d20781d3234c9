#include "tribo/problem/sparse_mass.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tribo/base/errors.h"

namespace tribo {

bool factorize_sparse(const Eigen::SparseMatrix<double>& mass, Index tree, SparseFactor& factor) {
  const auto refuse = [tree](const std::string& why) {
    throw InvalidInput(fmt::format("mass of tree {} {}", tree, why));
  };
  if (mass.rows() != mass.cols() || mass.rows() == 0)
    refuse(fmt::format("is {} x {}: it must be square and not empty", mass.rows(), mass.cols()));
  Eigen::SparseMatrix<double> lower = mass.triangularView<Eigen::Lower>();
  const Eigen::SparseMatrix<double> upper =
      Eigen::SparseMatrix<double>(mass.transpose()).triangularView<Eigen::Lower>();
  const auto is_diagonal = [n = mass.rows()](const Eigen::SparseMatrix<double>& m) {
    return m.nonZeros() <= n &&
           Eigen::SparseMatrix<double>(m.triangularView<Eigen::StrictlyLower>()).nonZeros() == 0;
  };
  double largest = 0.0;
  for (Eigen::Index k = 0; k < mass.outerSize(); ++k) {
    for (Eigen::SparseMatrix<double>::InnerIterator entry(mass, k); entry; ++entry) {
      if (!std::isfinite(entry.value())) refuse("is not finite");
      largest = std::max(largest, std::abs(entry.value()));
    }
  }
  if (is_diagonal(lower)) {
    lower = upper;
  } else if (!is_diagonal(upper)) {
    const Eigen::SparseMatrix<double> difference = lower - upper;
    double asymmetry = 0.0;
    for (Eigen::Index p = 0; p < difference.nonZeros(); ++p)
      asymmetry = std::max(asymmetry, std::abs(difference.valuePtr()[p]));
    if (asymmetry > 1e-9 * largest)
      refuse(fmt::format("is not symmetric (largest difference {:.3g})", asymmetry));
  }
  lower.makeCompressed();
  const auto n = static_cast<std::size_t>(lower.cols()), entries = static_cast<std::size_t>(lower.nonZeros());
  for (std::size_t k = 0; k < n; ++k) {
    const Index begin = lower.outerIndexPtr()[k];
    if (begin == lower.outerIndexPtr()[k + 1] || lower.innerIndexPtr()[begin] != static_cast<Index>(k))
      return false;
  }
  return factor.factorize({static_cast<Index>(n),
                           {lower.outerIndexPtr(), n + 1},
                           {lower.innerIndexPtr(), entries},
                           {lower.valuePtr(), entries}});
}

}  // namespace tribo
