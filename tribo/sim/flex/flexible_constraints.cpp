#include "tribo/sim/flex/flexible_constraints.h"

#include "tribo/math/contact_frame.h"

namespace tribo {

void FlexibleConstraints::add_attachments(const State& state, const Kinematics& kinematics,
                                          ConstraintSet& set) const {
  const Index trees = kinematics.model().tree_count();
  for (std::size_t f = 0; f < world_->flexible_bodies.size(); ++f) {
    const auto number = static_cast<Index>(f);
    const Index first = first_node(*world_, number);
    for (const NodeAttachment& tie : world_->flexible_bodies[f].attachments) {
      const Vec3 anchor = kinematics.pose(tie.body) * tie.anchor;
      const Vec3 error = state.node_position.segment<3>(3 * (first + tie.node)) - anchor;
      for (int axis = 0; axis < 3; ++axis) {
        ProblemFiller::Constraint data;
        data.kind = ConstraintKind::bilateral;
        data.key = (std::uint64_t{0xa77ac} << 40) ^ static_cast<std::uint64_t>(3 * (first + tie.node) + axis);
        const Index row = set.add(data, ConstraintSource::attachment, number);
        set.entry(row).position = error[axis];
        set.add_node_rows(trees + number, tie.node, 1, Mat3(Mat3::Identity()).row(axis).transpose().data());
        set.add_point_row(kinematics, tie.body, anchor, -Vec3::Unit(axis));
      }
    }
  }
}

void FlexibleConstraints::add_side(const FlexibleContact::Side& side, double sign,
                                   const FlexibleContact& contact, const Kinematics& kinematics,
                                   const FlexibleMotion& motion, const Mat3& frame, Index rows,
                                   ConstraintSet& set) const {
  if (side.flexible < 0) {
    if (rows == 1) {
      set.add_point_row(kinematics, side.body, contact.position, sign * contact.normal);
    } else {
      set.add_point_rows(kinematics, side.body, contact.position, sign * frame);
    }
    return;
  }
  const Index tree = kinematics.model().tree_count() + side.flexible;
  for (Index k = 0; k < side.count; ++k) {
    if (motion.is_fixed(side.flexible, side.nodes[k])) continue;
    if (rows == 1) {
      const Vec3 row = sign * side.weights[k] * contact.normal;
      set.add_node_rows(tree, side.nodes[k], 1, row.data());
    } else {
      const Mat3 block = sign * side.weights[k] * frame;
      set.add_node_rows(tree, side.nodes[k], 3, block.data());
    }
  }
}

// An estimate for compliant contacts: of nodes as they are lumped in A, of a body as a whole.
double FlexibleConstraints::inverse_mass(const FlexibleContact& contact, const Kinematics& kinematics,
                                         const FlexibleMotion& motion) const {
  double sum = 0.0;
  for (const FlexibleContact::Side* side : {&contact.a, &contact.b}) {
    if (side->flexible < 0) {
      const double mass = kinematics.model().inertia(side->body).mass;
      if (side->body > 0 && mass > 0.0) sum += 1.0 / mass;
      continue;
    }
    const LowerColumns a = motion.matrix(side->flexible)->lower();
    for (Index k = 0; k < side->count; ++k) {
      const double stiff = a.value[a.start[3 * side->nodes[k] + 2]];
      if (stiff > 0.0) sum += side->weights[k] * side->weights[k] / stiff;
    }
  }
  return sum;
}

void FlexibleConstraints::add_contacts(const std::vector<FlexibleContact>& contacts,
                                       const Kinematics& kinematics, const FlexibleMotion& motion, double h,
                                       Law law, const ContactLawSettings& settings, ConstraintSet& set) {
  list_.clear();
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const FlexibleContact& contact = contacts[c];
    const Surface surface = finder_->surface(contact);
    const bool one_row = surface.friction == 0.0;
    ProblemFiller::Constraint data;
    data.kind = one_row ? ConstraintKind::unilateral : ConstraintKind::contact;
    data.friction = surface.friction;
    data.key = contact.key;
    Mat3 frame = contact_frame(contact.normal);
    if (one_row) frame << contact.normal.transpose(), Eigen::Matrix<double, 2, 3>::Zero();
    const auto number = static_cast<Index>(c);
    const Index constraint = set.add(data, ConstraintSource::flexible_contact, number);
    list_.push_back({number, constraint, frame});
    const Index rows = one_row ? 1 : 3;
    add_side(contact.b, 1.0, contact, kinematics, motion, frame, rows, set);
    add_side(contact.a, -1.0, contact, kinematics, motion, frame, rows, set);
    const double w = surface.is_rigid() ? 0.0 : inverse_mass(contact, kinematics, motion);
    const ContactTerms terms = contact_terms(surface, contact.gap, w, h, law == Law::convex, settings);
    ConstraintSet::Entry& entry = set.entry(constraint);
    entry.data.bias[rows - 1] += terms.normal_bias;
    entry.data.compliance[rows - 1] = terms.normal_compliance;
    for (Index r = 0; r < rows - 1; ++r) entry.data.compliance[r] = terms.slip_compliance;
    if (surface.is_rigid()) entry.position = contact.gap;
  }
}

}  // namespace tribo
