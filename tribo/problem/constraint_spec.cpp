#include "tribo/problem/constraint_spec.h"

namespace tribo {

Index rows_of(const ConstraintSpec& spec) {
  return spec.unit.empty() ? rows_of(spec.kind) : static_cast<Index>(spec.unit.size());
}

void add_constraint(ContactProblemBuilder& builder, const ConstraintSpec& spec,
                    std::span<const JacobianPiece> pieces, std::span<const double> bias) {
  if (!spec.unit.empty()) {
    builder.add_scaled_contact(spec.unit, pieces, bias, {spec.compliance.data(), spec.unit.size()}, spec.key);
    return;
  }
  switch (spec.kind) {
    case ConstraintKind::contact:
      builder.add_contact(spec.friction, pieces, Vec3(bias[0], bias[1], bias[2]), spec.compliance.head<3>(),
                          spec.key);
      break;
    case ConstraintKind::unilateral:
      builder.add_unilateral(pieces, bias[0], spec.compliance[0], spec.key);
      break;
    case ConstraintKind::bilateral:
      builder.add_bilateral(pieces, bias[0], spec.compliance[0], spec.key);
      break;
    case ConstraintKind::box:
      builder.add_box(spec.lower, spec.upper, pieces, bias[0], spec.compliance[0], spec.key);
      break;
  }
}

}  // namespace tribo
