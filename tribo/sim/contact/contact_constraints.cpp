#include "tribo/sim/contact/contact_constraints.h"

#include <cmath>

#include "tribo/math/contact_frame.h"

namespace tribo {

RowValues ContactConstraint::elliptic_to_world(const RowValues& impulse) const {
  RowValues out = RowValues::Zero();
  RowValues given = RowValues::Zero();
  rows->to_given(impulse.data(), given.data());
  out.head<3>() = frame.transpose() * Vec3(given[0], given[1], given[rows->given - 1]);
  const Vec3 turn(rows->given > 4 ? given[3] : 0.0, rows->given > 4 ? given[4] : 0.0,
                  rows->given > 3 ? given[2] : 0.0);
  out.tail<3>() = frame.transpose() * turn;
  return out;
}

RowValues ContactConstraint::elliptic_to_local(const RowValues& impulse) const {
  RowValues out = RowValues::Zero();
  const Vec3 push = frame * impulse.head<3>();
  const Vec3 turn = frame * impulse.tail<3>();
  RowValues given = RowValues::Zero();
  given.head<2>() = push.head<2>();
  if (rows->given > 3) given[2] = turn[2];
  if (rows->given > 4) given.segment<2>(3) = turn.head<2>();
  given[rows->given - 1] = push[2];
  rows->to_stored(given.data(), out.data());
  return out;
}

bool ContactConstraints::one_row(const Contact& contact) const {
  return contact.surface.is_frictionless() || finder_->surface(contact.surface).friction == 0.0;
}

ProblemFiller::Constraint ContactConstraints::set_of(const Contact& contact) const {
  const Surface& surface = finder_->surface(contact.surface);
  ProblemFiller::Constraint data;
  data.kind = one_row(contact) ? ConstraintKind::unilateral : ConstraintKind::contact;
  data.key = contact.key;
  if (data.kind == ConstraintKind::unilateral) return data;
  data.friction = surface.friction;
  if (!surface.rows.scaled) return data;
  data.scaled_rows = surface.rows.rows;
  data.unit = surface.rows.unit.data();
  return data;
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
  } else if (data.scaled_rows > 0) {
    placed.frame = contact_frame(contact.normal);
    const EllipticRows& rows = finder_->surface(contact.surface).rows;
    placed.rows = &rows;
    set.add_elliptic_rows(kinematics, contact.body_b, contact.position, placed.frame, 1.0, rows);
    set.add_elliptic_rows(kinematics, contact.body_a, contact.position, placed.frame, -1.0, rows);
  } else {
    placed.frame = contact_frame(contact.normal);
    set.add_point_rows(kinematics, contact.body_b, contact.position, placed.frame);
    set.add_point_rows(kinematics, contact.body_a, contact.position, -placed.frame);
  }
  return constraint;
}

namespace {

// Whether one of the bodies belongs to a tree that floats: its root moves along any normal.
bool touches_floating_tree(const ConstraintSet& set, Index constraint, const Model& model) {
  const ConstraintSet::Entry& entry = set.entry(constraint);
  for (Index p = entry.piece_begin; p < entry.piece_end; ++p) {
    const Index joint = model.dof_joint(model.tree_dof(set.piece(p).tree));
    if (traits_of(model.joint(joint).kind).floating) return true;
  }
  return false;
}

constexpr double kTangential = 1e-3;  // m/m, slope of a motion against the tangent plane

// A contact whose normal no joint can move: with every degree of freedom alone its point moves within the slope
// kTangential (relative to the sum of the tangential entries) of the tangent plane. It cannot open, and pressing it does
// nothing, so that its normal impulse, and with it its friction, would be unlimited. A wedge as steep as this, 1 : 1000, is locked by any friction; model files that mean
// "along the tangent plane" say so to four digits at least.
bool is_tangential(const ConstraintSet& set, Index constraint, const FreeMotion& motion) {
  const ConstraintSet::Entry& entry = set.entry(constraint);
  const Index rows = entry.data.rows();
  const double* unit = entry.data.unit;
  for (Index p = entry.piece_begin; p < entry.piece_end; ++p) {
    const double* column = set.values(set.piece(p));
    const Index n = motion.dof_count(set.piece(p).tree);
    for (Index d = 0; d < n; ++d, column += rows) {
      double tangent = 0.0;
      for (Index r = 0; r < rows - 1; ++r) {
        if (unit == nullptr) tangent += std::abs(column[r]);
        if (unit != nullptr && unit[r] > 0.0) tangent += std::abs(column[r] / unit[r]);
      }
      if (std::abs(column[rows - 1]) > kTangential * tangent) return false;
    }
  }
  return true;
}

// A penetration that no motion opens: if every joint that moves the normal's point turned by a whole radian, the gap would,
// to first order, still not be closed; and none slides along the normal. Links that overlap around the joint between them
// are like this, with levers down to rounding. To correct their positions would turn the joint anywhere.
bool is_out_of_reach(const ConstraintSet& set, Index constraint, double gap, const Model& model) {
  if (gap >= 0.0) return false;
  const ConstraintSet::Entry& entry = set.entry(constraint);
  const Index rows = entry.data.rows();
  double reach = 0.0;  // m, of one radian each
  for (Index p = entry.piece_begin; p < entry.piece_end; ++p) {
    const Index tree = set.piece(p).tree, first = model.tree_dof(tree), n = model.tree_dof_count(tree);
    const double* normal = set.values(set.piece(p)) + rows - 1;
    for (Index d = 0; d < n; ++d, normal += rows) {
      if (!model.dof_turns(first + d) && std::abs(*normal) > kTangential) return false;
      reach += std::abs(*normal);
      if (reach >= -gap) return false;
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
    const ProblemFiller::Constraint data = set_of(contact);
    const Index number = add_one(contact, static_cast<Index>(c), data, kinematics, set);
    const Model& model = kinematics.model();
    const bool rigid = surface.is_rigid() && !contact.is_face();
    if (rigid && !touches_floating_tree(set, number, model) &&
        ((data.kind == ConstraintKind::contact && is_tangential(set, number, motion)) ||
         is_out_of_reach(set, number, contact.gap, model))) {
      set.drop_last();
      list_.pop_back();
      continue;
    }
    // |W_ii|_rms of Castro et al. sec. V-B; one row: W_ii itself.
    double w = 0.0;
    if (!rigid) {
      const InverseMass::Block block = inverse_mass_.block(set, number, motion);
      const bool usual = data.kind == ConstraintKind::contact && data.scaled_rows == 0;
      w = usual ? Mat3(block).norm() / 3.0 : block(block.rows() - 1, block.rows() - 1);
    }
    const bool convex = law == Law::convex;
    const ContactTerms terms = contact.is_face()
                                   ? compliant_terms(contact.stiffness, contact.dissipation_time, contact.gap,
                                                     w, h, convex, settings)
                                   : contact_terms(surface, contact.gap, w, h, convex, settings);
    ProblemFiller::Constraint& placed = set.entry(number).data;
    const Index normal = data.rows() - 1;
    placed.bias[normal] += terms.normal_bias;  // to the velocity of a surface that the user moves
    placed.compliance[normal] = terms.normal_compliance;
    if (rigid) set.entry(number).position = contact.gap;
    for (Index r = 0; r < normal; ++r) placed.compliance[r] = terms.slip_compliance;
  }
}

void ContactConstraints::add_with_bias(const std::vector<Contact>& contacts, Index c,
                                       const Kinematics& kinematics, double normal_bias, ConstraintSet& set) {
  const Contact& contact = contacts[c];
  ProblemFiller::Constraint data = set_of(contact);
  data.bias[data.rows() - 1] = normal_bias;
  add_one(contact, c, data, kinematics, set);
}

}  // namespace tribo
