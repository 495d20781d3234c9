// Writes FCLIB files: /fclib_local for a problem in Delassus form, /fclib_global otherwise; triplets, 32-bit
// integers, 64-bit reals. What FCLIB has no words for is in the group /tribo, which other readers ignore, so
// that reading returns the very same problem, bit by bit:
//
//   /tribo/format_version              1
//   /tribo/{kind, key}  [constraints]  in the problem's order; kind as in ConstraintKind
//   /tribo/compliance   [rows]         R, rows in memory order (t1, t2, n)
//   /tribo/scaled_rows  [constraints]  only where contacts are stored in scaled rows (problem/elliptic_rows.h): 3, 4
//                                      or 6 for those, 0 for all others; their rows are among the extra ones
//   /tribo/row_unit     [their rows]   coefficients of friction of the tangential rows, 1 of the normal
//   /tribo/{tree_sizes, piece_count, piece_tree}
//                                      global: the trees, and the trees that every constraint touches
//   /tribo/sparse_trees                only where there are some: those with a sparse block of A, whose zeros are
//                                      part of M's pattern
//   /tribo/extra                       the unilateral and box rows: bias, lower, upper, guess, solution;
//                                      global: J [dofs x rows];
//                                      local: W, the entries of the full matrix (memory order) that W, V, R
//                                      do not hold; symmetric_coupling, 0 if the coupling of bilateral rows
//                                      to contacts is not V^T
//   /tribo/factor                      A, J, b and the trees of a Delassus form that is not from lift()
//   /tribo/solution_certificate        the certificate of /solution, recomputed when it was written
#pragma once

#include <filesystem>

#include "tribo/formats/problem_file.h"

namespace tribo::detail {

constexpr Index kTriboGroupVersion = 1;

// Writes straight to `path`. Throws InvalidInput for impulses of the wrong size or with a certificate that is
// not finite, before anything is created.
void write_fclib(const std::filesystem::path& path, const ContactProblem& problem,
                 const WriteOptions& options);

}  // namespace tribo::detail
