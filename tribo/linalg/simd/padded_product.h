// Products of dense matrices of some tens of rows, where packing as for large ones would cost as much as the product.
#pragma once

#include "tribo/base/types.h"

namespace tribo {

constexpr Index kPadding = 8;  // doubles of the widest vector registers

// Rows with the padding that multiply_padded wants.
constexpr Index padded_rows(Index rows) { return (rows + kPadding - 1) / kPadding * kPadding; }

// C = A B with A [stride x inner] and C [stride x columns] column-major, stride = padded_rows(rows), and
// B(k, j) = b[k * row_step + j * column_step]. A's padding must be finite; nothing may overlap.
void multiply_padded(const double* a, Index stride, Index inner, const double* b, Index row_step,
                     Index column_step, Index columns, double* c);

}  // namespace tribo
