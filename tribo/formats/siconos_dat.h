// Siconos text files (.dat), white-space separated numbers.
//
//   local    d nc  M  q[d nc]  mu[nc]               u = M r + q; M is W
//   global   d nc  M  H  q[n]  b[d nc]  mu[nc]      M v = q + H r, u = H^T v + b
//
// d is 2 or 3; contacts have the normal first. Nothing in the file says which of the two it is: a second
// matrix header of the right size after M decides, together with the number of values that are left. What may
// follow mu, a flag 0 or 1 and more, is not used. A matrix is `storage rows cols` and
//
//   0 dense    rows cols, then the values by columns
//   1 block    blocks, block rows, block columns, cumulative row sizes, cumulative column sizes, lengths of
//              the two indices, row pointers, block columns; for every block its number and its values by
//              columns
//   2 sparse   kind (1 triplet, 2 CSC, 3 CSR; also 0 triplet, 1 CSC); a banner; the line
//              `[triplet:] R-by-C, nzmax: k nnz: k`; then lines `row col : value` or, for every column (row),
//              `col j : locations a to b` and its lines `index : value`
#pragma once

#include <filesystem>

#include "tribo/formats/problem_file.h"

namespace tribo::detail {

LoadedProblem read_siconos_dat(const std::filesystem::path& path);

}  // namespace tribo::detail
