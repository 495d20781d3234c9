// Contacts as constraints: frames, Jacobians, biases, compliances, and impulses back in world axes.
#pragma once

#include "tribo/sim/assembly/constraint_set.h"
#include "tribo/sim/assembly/inverse_mass.h"
#include "tribo/sim/contact/contact_finder.h"
#include "tribo/sim/forces/free_motion.h"

namespace tribo {

struct ContactConstraint {
  Index contact = 0;     // number among the contacts
  Index constraint = 0;  // number in the set
  Mat3 frame;            // math/contact_frame.h; of a frictionless contact n and zeros
  // Of a contact with coefficients of friction per row; null for the usual one. The finder holds them.
  const EllipticRows* rows = nullptr;

  // Impulse of the constraint in world axes: the force part, N s, then the torque part, N m s; and back.
  RowValues to_world(const RowValues& impulse) const {
    if (rows != nullptr) return elliptic_to_world(impulse);
    return padded(frame.transpose() * impulse.head<3>());
  }
  RowValues to_local(const RowValues& impulse) const {
    if (rows != nullptr) return elliptic_to_local(impulse);
    return padded(frame * impulse.head<3>());
  }

 private:
  static RowValues padded(const Vec3& push) {
    RowValues out;
    out << push, Vec3::Zero();
    return out;
  }
  RowValues elliptic_to_world(const RowValues& impulse) const;
  RowValues elliptic_to_local(const RowValues& impulse) const;
};

class ContactConstraints {
 public:
  explicit ContactConstraints(const ContactFinder& finder) : finder_(&finder) {}

  // Appends all contacts of a step.
  void add(const std::vector<Contact>& contacts, const Kinematics& kinematics, const FreeMotion& motion,
           double h, Law law, const ContactLawSettings& settings, ConstraintSet& set);
  // One of them with its bias given; for impacts.
  void add_with_bias(const std::vector<Contact>& contacts, Index contact, const Kinematics& kinematics,
                     double normal_bias, ConstraintSet& set);

  const std::vector<ContactConstraint>& list() const { return list_; }
  void clear() { list_.clear(); }

 private:
  bool one_row(const Contact& contact) const;
  // Set, friction and rows of a contact, without bias and compliance.
  ProblemFiller::Constraint set_of(const Contact& contact) const;
  // One more in the list, with its rows; its number in the set.
  Index add_one(const Contact& contact, Index number, const ProblemFiller::Constraint& data,
                const Kinematics& kinematics, ConstraintSet& set);

  const ContactFinder* finder_;
  std::vector<ContactConstraint> list_;
  InverseMass inverse_mass_;
};

}  // namespace tribo
