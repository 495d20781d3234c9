#include "tribo/sim/contact/contact_constraints.h"

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
  return contact.surface.frictionless || finder_->surface(contact.surface).friction == 0.0;
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

namespace {

// A contact whose normal no joint can move: with every degree of freedom alone its point moves within the angle
// kTangential of the tangent plane. It cannot open, and pressing it does nothing, so that its normal impulse, and with it
// its friction, would be unlimited. A wedge as steep as this, 1 : 1000, is locked by any friction; model files that mean
// "along the tangent plane" say so to four digits at least.
bool is_tangential(const ConstraintSet& set, Index constraint, const FreeMotion& motion) {
  constexpr double kTangential = 1e-3;  // rad
  const ConstraintSet::Entry& entry = set.entry(constraint);
  for (Index p = entry.piece_begin; p < entry.piece_end; ++p) {
    const double* column = set.values(set.piece(p));
    const Index n = motion.dof_count(set.piece(p).tree);
    for (Index d = 0; d < n; ++d, column += 3) {
      const double normal = std::abs(column[2]);
      if (normal > kTangential * std::hypot(column[0], column[1])) return false;
    }
  }
  return true;
}

}  // namespace

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
    if (data.kind == ConstraintKind::contact && surface.is_rigid() && is_tangential(set, number, motion)) {
      set.drop_last();
      list_.pop_back();
      continue;
    }
    // |W_ii|_rms of Castro et al. sec. V-B; one row: W_ii itself.
    double w = 0.0;
    if (!surface.is_rigid()) {
      const Mat3 block = inverse_mass_.block(set, number, motion);
      w = data.kind == ConstraintKind::contact ? block.norm() / 3.0 : block(0, 0);
    }
    const ContactTerms terms = contact_terms(surface, contact.gap, w, h, law == Law::convex, settings);
    ProblemFiller::Constraint& placed = set.entry(number).data;
    const Index normal = data.kind == ConstraintKind::contact ? 2 : 0;
    placed.bias[normal] += terms.normal_bias;  // to the velocity of a surface that the user moves
    placed.compliance[normal] = terms.normal_compliance;
    if (surface.is_rigid()) set.entry(number).position = contact.gap;
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
