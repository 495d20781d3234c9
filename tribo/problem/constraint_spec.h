// The set of one constraint as data, without its Jacobian: what files give row by row, and problems known by W.
#pragma once

#include <span>
#include <vector>

#include "tribo/problem/contact_problem_builder.h"

namespace tribo {

struct ConstraintSpec {
  ConstraintKind kind = ConstraintKind::contact;
  double friction = 0.0;
  double lower = 0.0, upper = 0.0;           // box
  RowValues compliance = RowValues::Zero();  // the first entries
  // A contact in scaled rows (problem/elliptic_rows.h): their units, normal last; empty: the usual one.
  std::vector<double> unit = {};
  std::uint64_t key = ContactProblemBuilder::kAutomaticKey;
};

Index rows_of(const ConstraintSpec& spec);

// Appends it with its pieces of J and its bias, m/s, rows_of(spec) numbers.
void add_constraint(ContactProblemBuilder& builder, const ConstraintSpec& spec,
                    std::span<const JacobianPiece> pieces, std::span<const double> bias);

}  // namespace tribo
