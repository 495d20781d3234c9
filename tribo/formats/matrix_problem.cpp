#include "tribo/formats/matrix_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tribo/base/errors.h"
#include "tribo/formats/assembly.h"

namespace tribo {
namespace {

void check_entries(std::string_view matrix, const std::vector<ScalarTriplet>& entries, Index rows,
                   Index cols) {
  for (const ScalarTriplet& entry : entries) {
    if (entry.row < 0 || entry.row >= rows || entry.col < 0 || entry.col >= cols) {
      throw InvalidInput(fmt::format("{} has an entry at ({}, {}): it is {} x {}", matrix, entry.row,
                                     entry.col, rows, cols));
    }
    if (!std::isfinite(entry.value)) {
      throw InvalidInput(
          fmt::format("{} has {} at ({}, {}): it must be finite", matrix, entry.value, entry.row, entry.col));
    }
  }
}

void check_numbers(std::string_view name, const Vector& numbers, Index size) {
  if (numbers.size() != size) {
    throw InvalidInput(fmt::format("{} has {} entries: it must have {}", name, numbers.size(), size));
  }
  for (Index k = 0; k < size; ++k) {
    if (!std::isfinite(numbers[k]))
      throw InvalidInput(fmt::format("{} has {} at {}: it must be finite", name, numbers[k], k));
  }
}

std::vector<ConstraintSpec> contacts_of(const std::vector<double>& friction) {
  std::vector<ConstraintSpec> contacts(friction.size());
  for (std::size_t i = 0; i < friction.size(); ++i) {
    if (!(std::isfinite(friction[i]) && friction[i] >= 0.0)) {
      throw InvalidInput(fmt::format("mu has {} at {}: friction must be finite and >= 0", friction[i], i));
    }
    contacts[i].friction = friction[i];
  }
  return contacts;
}

// The finest partition into consecutive ranges between which M has no entries.
std::vector<Index> consecutive_trees(const std::vector<ScalarTriplet>& mass, Index dofs) {
  std::vector<Index> reach(static_cast<std::size_t>(dofs));  // the last dof that d is coupled to
  for (Index d = 0; d < dofs; ++d) reach[d] = d;
  for (const ScalarTriplet& entry : mass) {
    if (entry.value == 0.0) continue;
    Index& last = reach[std::min(entry.row, entry.col)];
    last = std::max(last, std::max(entry.row, entry.col));
  }
  std::vector<Index> sizes;
  for (Index begin = 0, end = 0, d = 0; d < dofs; ++d) {
    end = std::max(end, reach[d]);
    if (end > d) continue;
    sizes.push_back(d + 1 - begin);
    begin = d + 1;
  }
  return sizes;
}

// One block of six is cheaper for every solver than six of one.
std::vector<Index> merged_into_bodies(const std::vector<Index>& sizes, Index dofs, Index body) {
  if (dofs == 0 || dofs % body != 0) return sizes;
  Index place = 0;
  for (const Index size : sizes) {
    if (place / body != (place + size - 1) / body) return sizes;
    place += size;
  }
  return std::vector<Index>(static_cast<std::size_t>(dofs / body), body);
}

}  // namespace

ContactProblem problem_from_matrices(const GlobalMatrices& m) {
  const Index rows = 3 * static_cast<Index>(m.friction.size());
  if (m.dofs < 1) throw InvalidInput("M is empty: a problem has at least one degree of freedom");
  check_entries("M", m.mass, m.dofs, m.dofs);
  check_entries("H", m.jacobian, m.dofs, rows);
  check_numbers("f", m.momentum, m.dofs);
  check_numbers("w", m.bias, rows);

  detail::PrimalParts parts;
  parts.constraints = contacts_of(m.friction);
  parts.mass = {m.dofs, m.dofs, m.mass};
  parts.momentum = m.momentum;
  parts.jacobian = {m.dofs, rows, m.jacobian};
  parts.bias = m.bias;
  parts.tree_sizes = merged_into_bodies(consecutive_trees(m.mass, m.dofs), m.dofs, parts.body_size);
  return detail::assemble(parts);
}

ContactProblem problem_from_delassus(const std::vector<ScalarTriplet>& delassus, const Vector& free_velocity,
                                     const std::vector<double>& friction) {
  const Index rows = 3 * static_cast<Index>(friction.size());
  check_entries("W", delassus, rows, rows);
  check_numbers("q", free_velocity, rows);
  detail::DualParts parts;
  parts.constraints = contacts_of(friction);
  parts.delassus = {rows, rows, delassus};
  parts.free_velocity = free_velocity;
  return detail::assemble(parts);
}

}  // namespace tribo
