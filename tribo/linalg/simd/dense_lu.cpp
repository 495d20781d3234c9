#include "tribo/linalg/simd/dense_lu.h"

#include <algorithm>
#include <cmath>

namespace tribo {
namespace {

using Strided = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;

constexpr Index kNarrow = 4;  // panel up to kSmall rows: updates of rank 4 stay in registers ...
constexpr Index kWide = 24;   // ... and beyond, products of matrices
constexpr Index kSmall = 64;

// Plain loops: for so few rows they compile to better code than expressions on segments of unknown length.
// Eliminates columns [first, first + width) of the panel itself.
bool factorize_panel(double* m, Index n, Index stride, Index first, Index width, int* exchanges) {
  for (Index c = first; c < first + width; ++c) {
    double* column = m + c * stride;
    Index best = c;
    for (Index r = c + 1; r < n; ++r) {
      if (std::abs(column[r]) > std::abs(column[best])) best = r;
    }
    const double pivot = column[best];
    if (!(std::abs(pivot) > 0.0) || !std::isfinite(pivot)) return false;
    exchanges[c] = static_cast<int>(best);
    if (best != c) {
      for (Index j = 0; j < n; ++j) std::swap(m[j * stride + c], m[j * stride + best]);
    }
    const double inverse = 1.0 / pivot;
    for (Index r = c + 1; r < n; ++r) column[r] *= inverse;
    for (Index j = c + 1; j < first + width; ++j) {
      double* target = m + j * stride;
      const double factor = target[c];
      for (Index r = c + 1; r < n; ++r) target[r] -= factor * column[r];
    }
  }
  return true;
}

// One column right of a panel of kNarrow: its upper part solved, the panel subtracted from the rest.
void update_column(const double* panel, Index n, Index stride, Index first, double* column) {
  const double *l0 = panel, *l1 = panel + stride, *l2 = panel + 2 * stride, *l3 = panel + 3 * stride;
  const double u0 = column[first];
  const double u1 = column[first + 1] - u0 * l0[first + 1];
  const double u2 = column[first + 2] - u0 * l0[first + 2] - u1 * l1[first + 2];
  const double u3 = column[first + 3] - u0 * l0[first + 3] - u1 * l1[first + 3] - u2 * l2[first + 3];
  column[first + 1] = u1;
  column[first + 2] = u2;
  column[first + 3] = u3;
  for (Index r = first + kNarrow; r < n; ++r) {
    column[r] -= u0 * l0[r] + u1 * l1[r] + u2 * l2[r] + u3 * l3[r];
  }
}

// The same for four columns: the panel is read once for all.
void update_four(const double* panel, Index n, Index stride, Index first, double* column) {
  const double *l0 = panel, *l1 = panel + stride, *l2 = panel + 2 * stride, *l3 = panel + 3 * stride;
  double u[4][4];
  for (int c = 0; c < 4; ++c) {
    double* x = column + c * stride + first;
    u[c][0] = x[0];
    u[c][1] = x[1] - u[c][0] * l0[first + 1];
    u[c][2] = x[2] - u[c][0] * l0[first + 2] - u[c][1] * l1[first + 2];
    u[c][3] = x[3] - u[c][0] * l0[first + 3] - u[c][1] * l1[first + 3] - u[c][2] * l2[first + 3];
    for (int k = 1; k < 4; ++k) x[k] = u[c][k];
  }
  double *a = column, *b = a + stride, *d = b + stride, *e = d + stride;
#pragma GCC ivdep
  for (Index r = first + kNarrow; r < n; ++r) {
    const double p0 = l0[r], p1 = l1[r], p2 = l2[r], p3 = l3[r];
    a[r] -= u[0][0] * p0 + u[0][1] * p1 + u[0][2] * p2 + u[0][3] * p3;
    b[r] -= u[1][0] * p0 + u[1][1] * p1 + u[1][2] * p2 + u[1][3] * p3;
    d[r] -= u[2][0] * p0 + u[2][1] * p1 + u[2][2] * p2 + u[2][3] * p3;
    e[r] -= u[3][0] * p0 + u[3][1] * p1 + u[3][2] * p2 + u[3][3] * p3;
  }
}

// Entries [first, first + kNarrow) of x solved with the upper triangle of these columns, which are then subtracted from
// those before.
void solve_upper(const double* columns, Index stride, Index first, double* x) {
  const double *u0 = columns, *u1 = u0 + stride, *u2 = u1 + stride, *u3 = u2 + stride;
  double* y = x + first;
  const double x3 = y[3] / u3[first + 3];
  const double x2 = (y[2] - x3 * u3[first + 2]) / u2[first + 2];
  const double x1 = (y[1] - x3 * u3[first + 1] - x2 * u2[first + 1]) / u1[first + 1];
  const double x0 = (y[0] - x3 * u3[first] - x2 * u2[first] - x1 * u1[first]) / u0[first];
  for (Index r = 0; r < first; ++r) x[r] -= x0 * u0[r] + x1 * u1[r] + x2 * u2[r] + x3 * u3[r];
  y[0] = x0;
  y[1] = x1;
  y[2] = x2;
  y[3] = x3;
}

// Column `column` of a block minus its columns [first, end) times `factors` (indexed as they are), four at a time.
void subtract_columns(double* block, Index rows, Index column, Index first, Index end,
                      const double* factors) {
  double* target = block + column * rows;
  Index k = first;
  for (; k + 4 <= end; k += 4) {
    const double *a = block + k * rows, *b = a + rows, *c = b + rows, *d = c + rows;
    const double fa = factors[k], fb = factors[k + 1], fc = factors[k + 2], fd = factors[k + 3];
    for (Index r = 0; r < rows; ++r) target[r] -= fa * a[r] + fb * b[r] + fc * c[r] + fd * d[r];
  }
  for (; k < end; ++k) {
    const double* a = block + k * rows;
    const double fa = factors[k];
    for (Index r = 0; r < rows; ++r) target[r] -= fa * a[r];
  }
}

}  // namespace

bool factorize_lu(double* matrix, Index n, Index stride, int* exchanges) {
  Strided m(matrix, n, n, Eigen::OuterStride<>(stride));
  const Index panel = n <= kSmall ? kNarrow : kWide;
  for (Index first = 0; first < n; first += panel) {
    const Index width = std::min(panel, n - first), rest = n - first - width;
    if (!factorize_panel(matrix, n, stride, first, width, exchanges)) return false;
    if (rest == 0) break;
    if (panel == kNarrow) {
      const double* columns = matrix + first * stride;
      Index c = first + width;
      for (; c + 4 <= n; c += 4) update_four(columns, n, stride, first, matrix + c * stride);
      for (; c < n; ++c) update_column(columns, n, stride, first, matrix + c * stride);
      continue;
    }
    auto right = m.block(first, first + width, width, rest);
    m.block(first, first, width, width).triangularView<Eigen::UnitLower>().solveInPlace(right);
    m.bottomRightCorner(rest, rest).noalias() -= m.block(first + width, first, rest, width) * right;
  }
  return true;
}

void solve_lu(const double* lu, Index n, Index stride, const int* exchanges, double* x) {
  for (Index c = 0; c < n; ++c) std::swap(x[c], x[exchanges[c]]);
  // Four columns at a time: one alone waits for the entries that the one before has just written.
  Index c = 0;
  for (; c + kNarrow <= n; c += kNarrow) update_column(lu + c * stride, n, stride, c, x);
  for (; c + 1 < n; ++c) {
    for (Index r = c + 1; r < n; ++r) x[r] -= x[c] * lu[c * stride + r];
  }
  c = n;
  for (; c >= kNarrow; c -= kNarrow) solve_upper(lu + (c - kNarrow) * stride, stride, c - kNarrow, x);
  for (--c; c >= 0; --c) {
    x[c] /= lu[c * stride + c];
    for (Index r = 0; r < c; ++r) x[r] -= x[c] * lu[c * stride + r];
  }
}

void solve_lu_right(const double* lu, Index n, Index stride, const int* exchanges, double* block,
                    Index rows) {
  for (Index c = 0; c < n; ++c) {
    subtract_columns(block, rows, c, 0, c, lu + c * stride);
    const double inverse = 1.0 / lu[c * stride + c];
    for (Index r = 0; r < rows; ++r) block[c * rows + r] *= inverse;
  }
  for (Index c = n - 2; c >= 0; --c) subtract_columns(block, rows, c, c + 1, n, lu + c * stride);
  for (Index c = n - 1; c >= 0; --c) {
    double *a = block + c * rows, *b = block + exchanges[c] * rows;
    if (a != b) std::swap_ranges(a, a + rows, b);
  }
}

}  // namespace tribo
