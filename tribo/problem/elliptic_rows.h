// Friction with a coefficient per tangential row, as rows of a circular cone.
//
// The rows of such a contact are (t1, t2, n), (t1, t2, torsion, n) or (t1, t2, torsion, rolling 1, rolling 2, n): two
// directions of sliding with coefficients [1], the turning about the normal and about the two tangents with coefficients
// in metres. Its impulses lie in the elliptic cone
//   { sum_j (lambda_j / mu_j)^2 <= lambda_n^2,  lambda_n >= 0 }.
// With lambda_j' = lambda_j / mu_j and u_j' = mu_j u_j this is the circular cone with mu = 1, lambda' . u' = lambda . u, and
// De Saxce's term is |u_t'|. So a problem stores the scaled rows, J_j' = mu_j J_j, e_j' = mu_j e_j, R_j' = mu_j^2 R_j, and
// the coefficients as the units of its rows (ContactProblem::row_unit).
//
// Rows with mu_j = 0 carry no impulse and are left out. Cones have 3, 4 or 6 rows; where fewer are left, rows of zeros
// fill up, whose velocity is always 0. Two equal coefficients of sliding alone are the usual contact: not scaled.
#pragma once

#include <array>
#include <span>

#include "tribo/linalg/group_blocks.h"

namespace tribo {

struct EllipticRows {
  Index given = 3;                        // rows of the contact as it is given
  Index rows = 3;                         // ... and as it is stored
  double friction = 0.0;                  // of the circular cone: 1, or mu of the usual contact
  bool scaled = false;                    // false: the usual contact, all units are 1
  std::array<Index, kMostRows> source{};  // [rows] the given row that is stored here, -1: zeros
  std::array<double, kMostRows> unit{};   // [rows] mu_j; 1 of the normal; 0 of a row of zeros
  std::array<double, kMostRows>
      factor{};  // [rows] what J and e are multiplied by: mu_j, or 1 where not scaled

  // 2, 3 or 5 coefficients >= 0.
  static bool is_count(std::size_t coefficients) {
    return coefficients == 2 || coefficients == 3 || coefficients == 5;
  }
  explicit EllipticRows(std::span<const double> coefficients);
  EllipticRows() = default;

  // Given rows [given x columns], column-major, as stored ones [rows x columns].
  void apply(const double* block, Index columns, double* out) const;
  // bias by mu_j, compliance by mu_j^2.
  void apply(const double* bias, const double* compliance, double* bias_out, double* compliance_out) const;
  // Impulses of the given rows out of those of the stored ones, lambda_j = mu_j lambda_j'; 0 for rows left out.
  void to_given(const double* impulse, double* out) const;
  // The inverse, for a start.
  void to_stored(const double* impulse, double* out) const;
};

}  // namespace tribo
