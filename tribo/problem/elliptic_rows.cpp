#include "tribo/problem/elliptic_rows.h"

#include <algorithm>

namespace tribo {

EllipticRows::EllipticRows(std::span<const double> coefficients)
    : given(static_cast<Index>(coefficients.size()) + 1) {
  const bool rest =
      std::any_of(coefficients.begin() + 2, coefficients.end(), [](double mu) { return mu > 0.0; });
  scaled = rest || coefficients[0] != coefficients[1];
  friction = scaled ? 1.0 : coefficients[0];
  source.fill(-1);
  unit.fill(scaled ? 0.0 : 1.0);
  factor.fill(1.0);
  Index kept = 0;
  for (Index j = 0; j < given - 1; ++j) {
    if (scaled ? coefficients[j] == 0.0 : j >= 2) continue;
    source[kept] = j;
    if (scaled) unit[kept] = factor[kept] = coefficients[j];
    ++kept;
  }
  rows = *std::find_if(kRowCounts.begin() + 1, kRowCounts.end(), [&](Index count) { return count > kept; });
  source[rows - 1] = given - 1;
  unit[rows - 1] = factor[rows - 1] = 1.0;
}

void EllipticRows::apply(const double* block, Index columns, double* out) const {
  for (Index c = 0; c < columns; ++c, block += given, out += rows) {
    for (Index r = 0; r < rows; ++r) out[r] = source[r] < 0 ? 0.0 : factor[r] * block[source[r]];
  }
}

void EllipticRows::apply(const double* bias, const double* compliance, double* bias_out,
                         double* compliance_out) const {
  for (Index r = 0; r < rows; ++r) {
    bias_out[r] = source[r] < 0 ? 0.0 : factor[r] * bias[source[r]];
    compliance_out[r] = source[r] < 0 ? 0.0 : factor[r] * factor[r] * compliance[source[r]];
  }
}

void EllipticRows::to_given(const double* impulse, double* out) const {
  std::fill_n(out, given, 0.0);
  for (Index r = 0; r < rows; ++r) {
    if (source[r] >= 0) out[source[r]] = factor[r] * impulse[r];
  }
}

void EllipticRows::to_stored(const double* impulse, double* out) const {
  for (Index r = 0; r < rows; ++r) out[r] = source[r] < 0 ? 0.0 : impulse[source[r]] / factor[r];
}

}  // namespace tribo
