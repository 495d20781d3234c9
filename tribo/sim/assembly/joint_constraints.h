// Constraints that come from the model and the couplings of the world rather than from touching shapes:
//
//   joint and tendon limits   unilateral, row +1 at the lower and -1 at the upper limit
//   dry friction              box [-h f, h f]
//   tendon springs, dampers   bilateral with compliance, lambda = -h (k (length + h rate - rest) + d rate)
//   drives with effort limits box [h f_lower, h f_upper] of an implicit PD law, see Drive
//   connects, welds, joint and tendon couplings   bilateral
//
// All of them admit v = 0. Violated limits and couplings are led back by their positions, as penetrations are
// (sim/assembly/position_correction.h).
// Rows and lengths of spatial tendons are those of the positions given by set_positions(), also in the schemes that
// look at the middle of a step.
#pragma once

#include <vector>

#include "tribo/multibody/kinematics.h"
#include "tribo/multibody/site_transmission.h"
#include "tribo/multibody/state.h"
#include "tribo/sim/assembly/constraint_set.h"
#include "tribo/sim/assembly/inverse_mass.h"
#include "tribo/sim/contact/contact_law.h"
#include "tribo/sim/forces/body_forces.h"
#include "tribo/sim/forces/drives.h"

namespace tribo {

class JointConstraints {
 public:
  explicit JointConstraints(const World& world);

  // Lengths and moment arms of the spatial tendons from here on. Allocation-free.
  void set_positions(const Kinematics& kinematics);

  // Transmission of a tendon or actuator: sum coefficient_k v_dof_k.
  struct Term {
    Index tree, dof, coordinate;  // coordinate: -1 for ball and free joints and in spatial tendons
    double coefficient;
  };
  std::span<const Term> tendon_terms(Index tendon) const;
  // Of an actuator as it is at (q, v), the state of `kinematics`; `input`: [actuators], see activation.h. `room` holds
  // the terms of those that depend on the state. None for bodies (adhesion).
  struct Acting {
    std::span<const Term> terms;
    Drive drive;
  };
  Acting acting(Index actuator, const Kinematics& kinematics, const Vector& q, const Vector& v,
                const Vector& input, std::vector<Term>& room) const;
  // Its law alone, without length and rate: the gains of drives that have no muscle.
  Drive gains(Index actuator, const Vector& input) const;
  const BodyForces& body_forces() const { return body_forces_; }
  double tendon_length(Index tendon, const Vector& q) const;
  bool is_smooth(Index actuator) const { return drive_kind_[actuator] == DriveKind::smooth; }
  bool is_box(Index actuator) const { return drive_kind_[actuator] == DriveKind::box; }

  // Appends everything that can act in this step. `motion`: the step's free motion, for which limits are near.
  void add(const Kinematics& kinematics, const State& state, const FreeMotion& motion, const Vector& input,
           double h, const ContactLawSettings& settings, InverseMass& inverse_mass, ConstraintSet& set) const;
  // Only what holds during an impact: couplings, and limits that are reached.
  void add_holding(const Kinematics& kinematics, const State& state, ConstraintSet& set) const;

 private:
  void add_limits(const State& state, const Vector& free_velocity, double h,
                  const ContactLawSettings& settings, ConstraintSet& set) const;
  // Of joints that rotate and do nothing else.
  void add_rotation_limit(Index joint, const State& state, const Vector& free_velocity, double h,
                          const ContactLawSettings& settings, ConstraintSet& set) const;
  void add_limit_pair(std::span<const Term> terms, double value, double rate, double lower, double upper,
                      double margin, double h, const ContactLawSettings& settings, ConstraintSource source,
                      Index origin, ConstraintSet& set) const;
  void add_friction(double h, ConstraintSet& set) const;
  void add_tendon_springs(const State& state, double h, ConstraintSet& set) const;
  void add_drives(const Kinematics& kinematics, const State& state, const Vector& input, double h,
                  ConstraintSet& set) const;
  void add_couplings(const State& state, ConstraintSet& set) const;
  void add_terms(std::span<const Term> terms, double factor, ConstraintSet& set) const;
  Term term_of(Index joint, double coefficient) const;
  void add_tendon_terms(const TendonDescription& tendon, double factor);

  const World* world_;
  BodyForces body_forces_;
  mutable std::vector<Term> room_;  // of add_drives
  mutable std::vector<DofTerm> site_terms_;
  std::vector<Index> limited_joints_, limited_tendons_, rubbing_dofs_, rubbing_tendons_;
  std::vector<DriveKind> drive_kind_;  // [actuators]
  std::vector<Term> terms_;
  std::vector<Index> tendon_start_{0}, actuator_start_{0};  // into terms_
  std::vector<double> tendon_reference_;                    // length at the reference coordinates
  std::vector<double> spatial_length_;                      // [tendons] at the last set_positions(); fixed: 0
  std::vector<Index> spatial_tendons_;
  std::vector<double> gradient_;  // [dofs] zero between calls
};

// Names a constraint that is not a contact from step to step, for warm starts.
std::uint64_t constraint_key(ConstraintSource source, Index origin, Index row);

// Length of a tendon or drive at q.
double transmission_length(std::span<const JointConstraints::Term> terms, const Vector& q);

}  // namespace tribo
