// Vectors in the order of a problem's file, as people and other programs know it.
//
// In memory a contact is (t1, t2, n), constraints stand in the order in which they were built, and planar
// contacts are embedded in three dimensions. In files the contacts come first, each with its normal first:
// (n, t1, t2), or (n, t) in a planar problem, or with its further tangential rows (torsion, rolling); bilateral rows follow, then unilateral and box rows.
#pragma once

#include <vector>

#include "tribo/formats/problem_file.h"

namespace tribo::cli {

class FileOrder {
 public:
  explicit FileOrder(const LoadedProblem& loaded);

  // Length of a vector in file order.
  Index row_count() const { return static_cast<Index>(memory_row_.size()); }

  // [rows of the problem] -> [row_count()].
  std::vector<double> to_file(const Vector& memory) const;
  // [row_count()] -> [rows of the problem]; the idle tangents of a planar problem become zero.
  Vector from_file(const std::vector<double>& file) const;

  // Place of a constraint among those of the file (contacts first); -1 stays -1.
  Index constraint(Index memory_index) const { return memory_index < 0 ? -1 : place_[memory_index]; }

 private:
  Index memory_row_count_ = 0;
  std::vector<Index> memory_row_;  // [rows of the file] row of the problem
  std::vector<Index> place_;       // [constraints of the problem] place in the file
};

}  // namespace tribo::cli
