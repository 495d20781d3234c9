// Contacts and attachments of flexible bodies as constraints of a step.
//
// A contact has the rows (t1, t2, n) of its frame times the velocity of side b less that of side a: on a flexible body one block
// weight x frame per node, on a geom the usual one. Its law is that of all contacts (sim/contact/contact_law.h). An attachment
// keeps a node at a point of a body: three bilateral rows, whose position error is led back as that of a connect.
#pragma once

#include <vector>

#include "tribo/sim/assembly/constraint_set.h"
#include "tribo/sim/contact/contact_law.h"
#include "tribo/sim/flex/flexible_contacts.h"
#include "tribo/sim/flex/flexible_motion.h"
#include "tribo/solve/solver.h"

namespace tribo {

class FlexibleConstraints {
 public:
  struct Placed {
    Index contact, constraint;
    Mat3 frame;  // t1, t2, n; without friction n and zeros
    RowValues to_world(const RowValues& impulse) const {
      RowValues out = RowValues::Zero();
      out.head<3>() = frame.transpose() * impulse.head<3>();
      return out;
    }
    RowValues to_local(const RowValues& impulse) const {
      RowValues out = RowValues::Zero();
      out.head<3>() = frame * impulse.head<3>();
      return out;
    }
  };

  FlexibleConstraints(const World& world, const FlexibleContacts& finder)
      : world_(&world), finder_(&finder) {}

  void add_attachments(const State& state, const Kinematics& kinematics, ConstraintSet& set) const;
  void add_contacts(const std::vector<FlexibleContact>& contacts, const Kinematics& kinematics,
                    const FlexibleMotion& motion, double h, Law law, const ContactLawSettings& settings,
                    ConstraintSet& set);
  // Of the last add_contacts().
  const std::vector<Placed>& list() const { return list_; }

 private:
  void add_side(const FlexibleContact::Side& side, double sign, const FlexibleContact& contact,
                const Kinematics& kinematics, const FlexibleMotion& motion, const Mat3& frame, Index rows,
                ConstraintSet& set) const;
  double inverse_mass(const FlexibleContact& contact, const Kinematics& kinematics,
                      const FlexibleMotion& motion) const;

  const World* world_;
  const FlexibleContacts* finder_;
  std::vector<Placed> list_;
};

}  // namespace tribo
