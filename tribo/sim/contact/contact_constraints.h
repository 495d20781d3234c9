// Contacts as constraints: frames, Jacobians, biases, compliances, and impulses back in world axes.
#pragma once

#include "tribo/sim/assembly/constraint_set.h"
#include "tribo/sim/assembly/inverse_mass.h"
#include "tribo/sim/contact/contact_finder.h"
#include "tribo/sim/forces/free_motion.h"

namespace tribo {

// Rows (t1, t2, n), right-handed, a continuous function of n except at n_z = 0-.
Mat3 contact_frame(const Vec3& normal);

struct ContactConstraint {
  Index contact = 0;     // number among the contacts
  Index constraint = 0;  // number in the set
  Mat3 frame;            // its rows in world axes; of a frictionless contact n and zeros
  EllipticRows rows;     // scaled: of a contact with coefficients of friction per row

  // Impulse of the constraint in world axes: the force part, N s, then the torque part, N m s; and back.
  RowValues to_world(const RowValues& impulse) const;
  RowValues to_local(const RowValues& impulse) const;
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
