#include "tribo/sim/contact_constraints.h"

#include <cmath>

namespace tribo {

Mat3 contact_frame(const Vec3& n) {
  const double sign = std::copysign(1.0, n.z());
  const double a = -1.0 / (sign + n.z()), b = n.x() * n.y() * a;
  Mat3 frame;
  frame.row(0) << 1.0 + sign * n.x() * n.x() * a, sign * b, -sign * n.x();
  frame.row(1) << b, sign + n.y() * n.y() * a, -n.y();
  frame.row(2) = n.transpose();
  return frame;
}

bool ContactConstraints::one_row(const Contact& contact) const {
  const Surface& surface = finder_->surface(contact.surface);
  return surface.frictionless || surface.friction == 0.0;
}

Index ContactConstraints::add_one(const Contact& contact, Index number, const ProblemFiller::Constraint& data,
                                  const Kinematics& kinematics, ConstraintSet& set) {
  const Index constraint = set.add(data, ConstraintSource::contact, number);
  ContactConstraint& placed = list_.emplace_back();
  placed.contact = number;
  placed.constraint = constraint;
  if (data.kind == ConstraintKind::unilateral) {
    placed.frame << contact.normal.transpose(), Eigen::Matrix<double, 2, 3>::Zero();
    set.add_point_row(kinematics, contact.body_b, contact.position, contact.normal);
    set.add_point_row(kinematics, contact.body_a, contact.position, -contact.normal);
  } else {
    placed.frame = contact_frame(contact.normal);
    set.add_point_rows(kinematics, contact.body_b, contact.position, placed.frame);
    set.add_point_rows(kinematics, contact.body_a, contact.position, -placed.frame);
  }
  return constraint;
}

// |W_ii|_rms = |J A^-1 J^T|_F / 3 of Castro et al. sec. V-B; one row: W_ii itself.
double ContactConstraints::rms_inverse_mass(const ConstraintSet& set, Index constraint,
                                            const Kinematics& kinematics, const FreeMotion& motion) {
  const ConstraintSet::Entry& entry = set.entry(constraint);
  const Index rows = rows_of(entry.data.kind);
  Mat3 w = Mat3::Zero();
  for (Index p = entry.piece_begin; p < entry.piece_end; ++p) {
    const ConstraintSet::Piece& piece = set.piece(p);
    const Index n = kinematics.model().tree_dof_count(piece.tree);
    const Eigen::Map<const Matrix> block(set.values(piece), rows, n);
    column_.resize(n);
    Eigen::Map<Vector> column(column_.data(), n);
    for (Index r = 0; r < rows; ++r) {
      column = block.row(r).transpose();
      motion.solve_tree(piece.tree, column_.data());
      for (Index s = 0; s < rows; ++s) w(s, r) += block.row(s).dot(column);
    }
  }
  return rows == 1 ? w(0, 0) : w.norm() / 3.0;
}

void ContactConstraints::add(const std::vector<Contact>& contacts, const Kinematics& kinematics,
                             const FreeMotion& motion, double h, Law law, const ContactLawSettings& settings,
                             ConstraintSet& set) {
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const Contact& contact = contacts[c];
    const Surface& surface = finder_->surface(contact.surface);
    ProblemFiller::Constraint data;
    data.kind = one_row(contact) ? ConstraintKind::unilateral : ConstraintKind::contact;
    data.friction = data.kind == ConstraintKind::contact ? surface.friction : 0.0;
    data.key = contact.key;
    const Index number = add_one(contact, static_cast<Index>(c), data, kinematics, set);
    const double w = surface.is_rigid() ? 0.0 : rms_inverse_mass(set, number, kinematics, motion);
    const ContactTerms terms = contact_terms(surface, contact.gap, w, h, law == Law::convex, settings);
    ProblemFiller::Constraint& placed = set.entry(number).data;
    const Index normal = data.kind == ConstraintKind::contact ? 2 : 0;
    placed.bias[normal] += terms.normal_bias;  // to the velocity of a surface that the user moves
    placed.compliance[normal] = terms.normal_compliance;
    if (normal == 2) placed.compliance[0] = placed.compliance[1] = terms.slip_compliance;
  }
}

void ContactConstraints::add_with_bias(const std::vector<Contact>& contacts, Index c,
                                       const Kinematics& kinematics, double normal_bias, ConstraintSet& set) {
  const Contact& contact = contacts[c];
  ProblemFiller::Constraint data;
  data.kind = one_row(contact) ? ConstraintKind::unilateral : ConstraintKind::contact;
  data.friction = data.kind == ConstraintKind::contact ? finder_->surface(contact.surface).friction : 0.0;
  data.bias[data.kind == ConstraintKind::contact ? 2 : 0] = normal_bias;
  data.key = contact.key;
  add_one(contact, c, data, kinematics, set);
}

}  // namespace tribo
