#include "tribo/linalg/simd/padded_product.h"

#include <algorithm>

namespace tribo {
namespace {

using Lanes = Eigen::Array<double, kPadding, 1>;

// A tile of C: kVectors times eight rows, kColumns columns; its sums stay in registers.
template <int kVectors, int kColumns>
[[gnu::always_inline]] inline void multiply_tile(const double* a, Index stride, Index inner, const double* b,
                                                 Index row_step, Index column_step, double* c) {
  Lanes sum[kVectors][kColumns];
  for (auto& column : sum) {
    for (Lanes& lanes : column) lanes.setZero();
  }
  for (Index k = 0; k < inner; ++k, a += stride, b += row_step) {
    Lanes left[kVectors];
    for (int v = 0; v < kVectors; ++v) left[v] = Eigen::Map<const Lanes>(a + v * kPadding);
    for (int j = 0; j < kColumns; ++j) {
      const double factor = b[j * column_step];
      for (int v = 0; v < kVectors; ++v) sum[v][j] += factor * left[v];
    }
  }
  for (int j = 0; j < kColumns; ++j) {
    for (int v = 0; v < kVectors; ++v) Eigen::Map<Lanes>(c + j * stride + v * kPadding) = sum[v][j];
  }
}

template <int kColumns>
void multiply_columns(const double* a, Index stride, Index inner, const double* b, Index row_step,
                      Index column_step, double* c) {
  Index r = 0;
  for (; r + 2 * kPadding <= stride; r += 2 * kPadding) {
    multiply_tile<2, kColumns>(a + r, stride, inner, b, row_step, column_step, c + r);
  }
  if (r < stride) multiply_tile<1, kColumns>(a + r, stride, inner, b, row_step, column_step, c + r);
}

}  // namespace

void multiply_padded(const double* a, Index stride, Index inner, const double* b, Index row_step,
                     Index column_step, Index columns, double* c) {
  Index j = 0;
  for (; j + 6 <= columns; j += 6) {
    multiply_columns<6>(a, stride, inner, b + j * column_step, row_step, column_step, c + j * stride);
  }
  for (; j + 3 <= columns; j += 3) {
    multiply_columns<3>(a, stride, inner, b + j * column_step, row_step, column_step, c + j * stride);
  }
  for (; j < columns; ++j) {
    multiply_columns<1>(a, stride, inner, b + j * column_step, row_step, column_step, c + j * stride);
  }
}

}  // namespace tribo
