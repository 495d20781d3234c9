// Constraints that come from the model and the couplings of the world rather than from touching shapes:
//
//   joint and tendon limits   unilateral, row +1 at the lower and -1 at the upper limit
//   dry friction              box [-h f, h f]
//   tendon springs, dampers   bilateral with compliance, lambda = -h (k (length + h rate - rest) + d rate)
//   drives with effort limits box [h f_lower, h f_upper] of an implicit PD law, see Drive
//   connects, welds, joint and tendon couplings   bilateral
//
// Violated limits and couplings are led back like penetrations: a share of the error per step.
// Rows and lengths of spatial tendons are those of the positions given by set_positions(), also in the schemes that
// look at the middle of a step.
#pragma once

#include <vector>

#include "tribo/multibody/kinematics.h"
#include "tribo/multibody/state.h"
#include "tribo/sim/constraint_set.h"
#include "tribo/sim/contact_law.h"

namespace tribo {

// An actuator seen along its transmission: force = constant + position_gain * length + velocity_gain * rate,
// clamped. A drive on one hinge or slide without force limits is smooth: its gains go into A, the rest into
// the forces. Other drives with gains are box constraints: with x = the transmission's rate and
// 1/R = -(h^2 position_gain + h velocity_gain) > 0,
//   lambda = clamp(-(x + e) / R),  e = -R h (constant + position_gain * length).
// Without (stabilising) gains the clamped force is an ordinary explicit one.
struct Drive {
  double constant = 0.0, position_gain = 0.0, velocity_gain = 0.0;
  double lower = 0.0, upper = 0.0;
  double length = 0.0;
};

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
  std::span<const Term> actuator_terms(Index actuator) const;
  double tendon_length(Index tendon, const Vector& q) const;
  Drive drive(Index actuator, const Vector& q, const Vector& control) const;
  bool is_smooth(Index actuator) const { return drive_kind_[actuator] == DriveKind::smooth; }
  bool is_box(Index actuator) const { return drive_kind_[actuator] == DriveKind::box; }

  // Appends everything that can act in this step. `free_velocity`: v* [dofs], for which limits are near.
  void add(const Kinematics& kinematics, const State& state, const Vector& free_velocity,
           const Vector& control, double h, const ContactLawSettings& settings, ConstraintSet& set) const;
  // Only what holds during an impact: couplings, and limits that are reached.
  void add_holding(const Kinematics& kinematics, const State& state, ConstraintSet& set) const;

 private:
  enum class DriveKind : std::uint8_t { explicit_force, smooth, box };

  void add_limits(const State& state, const Vector& free_velocity, double h,
                  const ContactLawSettings& settings, ConstraintSet& set) const;
  void add_ball_limit(Index joint, const State& state, const Vector& free_velocity, double h,
                      const ContactLawSettings& settings, ConstraintSet& set) const;
  void add_limit_pair(std::span<const Term> terms, double value, double rate, double lower, double upper,
                      double margin, double h, const ContactLawSettings& settings, ConstraintSource source,
                      Index origin, ConstraintSet& set) const;
  void add_friction(double h, ConstraintSet& set) const;
  void add_tendon_springs(const State& state, double h, ConstraintSet& set) const;
  void add_drives(const State& state, const Vector& control, double h, ConstraintSet& set) const;
  void add_connects(const Kinematics& kinematics, double h, double share, ConstraintSet& set) const;
  void add_welds(const Kinematics& kinematics, double h, double share, ConstraintSet& set) const;
  void add_couplings(const State& state, double h, double share, ConstraintSet& set) const;
  void add_terms(std::span<const Term> terms, double factor, ConstraintSet& set) const;
  Term term_of(Index joint, double coefficient) const;
  void add_tendon_terms(const TendonDescription& tendon, double factor);

  const World* world_;
  std::vector<Index> limited_joints_, limited_tendons_, rubbing_dofs_, rubbing_tendons_;
  std::vector<DriveKind> drive_kind_;  // [actuators]
  std::vector<Term> terms_;
  std::vector<Index> tendon_start_{0}, actuator_start_{0};  // into terms_
  std::vector<double> tendon_reference_;                    // length at the reference coordinates
  std::vector<double> spatial_length_;                      // [tendons] at the last set_positions(); fixed: 0
  std::vector<Index> spatial_tendons_;
  std::vector<double> gradient_;  // [dofs] zero between calls
};

// Length of a tendon or drive at q.
double transmission_length(std::span<const JointConstraints::Term> terms, const Vector& q);

}  // namespace tribo
