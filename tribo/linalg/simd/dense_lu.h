// Dense LU with row pivoting on memory of the caller, column-major; nothing is allocated.
#pragma once

#include "tribo/base/types.h"

namespace tribo {

// In place: M = P^T L U with the row exchanges recorded, [n]. False for a singular or not finite matrix.
bool factorize_lu(double* matrix, Index n, Index stride, int* exchanges);
// x <- M^-1 x.
void solve_lu(const double* lu, Index n, Index stride, const int* exchanges, double* x);
// B <- B M^-1 for `rows` rows, column-major without gaps.
void solve_lu_right(const double* lu, Index n, Index stride, const int* exchanges, double* block, Index rows);

}  // namespace tribo
