#include "tribo/sim/assembly/joint_constraints.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tribo/multibody/tendon_path.h"
#include "tribo/sim/assembly/body_couplings.h"
#include "tribo/sim/forces/free_motion.h"

namespace tribo {

namespace {

std::uint64_t key_of(ConstraintSource source, Index origin, Index row) {
  return constraint_key(source, origin, row);
}

double polynomial(const std::array<double, 5>& c, double x) {
  return c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * c[4])));
}

double polynomial_slope(const std::array<double, 5>& c, double x) {
  return c[1] + x * (2.0 * c[2] + x * (3.0 * c[3] + x * 4.0 * c[4]));
}

double rate_of(std::span<const JointConstraints::Term> terms, const Vector& v) {
  double rate = 0.0;
  for (const auto& term : terms) rate += term.coefficient * v[term.dof];
  return rate;
}

}  // namespace

std::uint64_t constraint_key(ConstraintSource source, Index origin, Index row) {
  return std::uint64_t{1} << 63 | static_cast<std::uint64_t>(source) << 56 |
         static_cast<std::uint64_t>(origin) << 8 | static_cast<std::uint64_t>(row);
}

double transmission_length(std::span<const JointConstraints::Term> terms, const Vector& q) {
  double length = 0.0;
  for (const auto& term : terms) {
    if (term.coordinate >= 0) length += term.coefficient * q[term.coordinate];
  }
  return length;
}

JointConstraints::JointConstraints(const World& world) : world_(&world), body_forces_(world) {
  const Model& model = world.model;
  for (Index j = 0; j < model.joint_count(); ++j) {
    if (model.joint(j).limited) limited_joints_.push_back(j);
  }
  for (Index d = 0; d < model.dof_count(); ++d) {
    if (model.dry_friction()[d] > 0.0) rubbing_dofs_.push_back(d);
  }
  const Vector reference = model.reference_coordinates();
  for (std::size_t k = 0; k < model.tendons().size(); ++k) {
    const TendonDescription& tendon = model.tendons()[k];
    add_tendon_terms(tendon, 1.0);
    tendon_start_.push_back(static_cast<Index>(terms_.size()));
    const auto number = static_cast<Index>(k);
    if (tendon.limited) limited_tendons_.push_back(number);
    if (tendon.dry_friction > 0.0) rubbing_tendons_.push_back(number);
    if (tendon.is_spatial()) spatial_tendons_.push_back(number);
    tendon_reference_.push_back(transmission_length(tendon_terms(number), reference));
  }
  actuator_start_.back() = static_cast<Index>(terms_.size());
  for (const ActuatorDescription& actuator : model.actuators()) {
    if (actuator.joint >= 0) {
      const Index dofs = dofs_of(model.joint(actuator.joint).kind);
      for (Index d = 0; d < dofs; ++d) {
        if (d > 0 && actuator.gear[d] == 0.0) continue;
        Term term = term_of(actuator.joint, actuator.gear[d]);
        term.dof += d;
        terms_.push_back(term);
      }
    } else if (actuator.tendon >= 0) {
      add_tendon_terms(model.tendons()[actuator.tendon], actuator.gear[0]);
    }
    actuator_start_.push_back(static_cast<Index>(terms_.size()));
    drive_kind_.push_back(drive_kind(world.model, actuator));
  }
  spatial_length_.assign(model.tendons().size(), 0.0);
  if (spatial_tendons_.empty()) return;
  gradient_.assign(static_cast<std::size_t>(model.dof_count()), 0.0);
  Kinematics kinematics(model);
  kinematics.set_positions(reference);
  set_positions(kinematics);
  for (const Index k : spatial_tendons_) tendon_reference_[k] = spatial_length_[k];
}

// The terms of a spatial tendon are its dofs; set_positions() gives them their coefficients.
void JointConstraints::add_tendon_terms(const TendonDescription& tendon, double factor) {
  const Model& model = world_->model;
  for (const auto& term : tendon.terms) terms_.push_back(term_of(term.joint, factor * term.coefficient));
  if (!tendon.is_spatial()) return;
  for (const Index dof : tendon_dofs(model, tendon)) {
    terms_.push_back({model.body_tree(model.joint(model.dof_joint(dof)).body), dof, -1, 0.0});
  }
}

void JointConstraints::set_positions(const Kinematics& kinematics) {
  if (spatial_tendons_.empty()) return;
  const Model& model = world_->model;
  for (const Index k : spatial_tendons_) {
    spatial_length_[k] = add_tendon_gradient(kinematics, model.tendons()[k], gradient_);
    for (Index t = tendon_start_[k]; t < tendon_start_[k + 1]; ++t) {
      terms_[t].coefficient = std::exchange(gradient_[terms_[t].dof], 0.0);
    }
  }
  for (std::size_t a = 0; a < model.actuators().size(); ++a) {
    const ActuatorDescription& actuator = model.actuators()[a];
    if (actuator.tendon < 0 || !model.tendons()[actuator.tendon].is_spatial()) continue;
    const Index from = tendon_start_[actuator.tendon], to = actuator_start_[a];
    for (Index t = 0; t < actuator_start_[a + 1] - to; ++t) {
      terms_[to + t].coefficient = actuator.gear[0] * terms_[from + t].coefficient;
    }
  }
}

double JointConstraints::tendon_length(Index tendon, const Vector& q) const {
  return spatial_length_[tendon] + transmission_length(tendon_terms(tendon), q);
}

JointConstraints::Term JointConstraints::term_of(Index joint, double coefficient) const {
  const Model& model = world_->model;
  const bool scalar = dofs_of(model.joint(joint).kind) == 1;
  return {model.body_tree(model.joint(joint).body), model.joint_dof(joint),
          scalar ? model.joint_coordinate(joint) : -1, coefficient};
}

std::span<const JointConstraints::Term> JointConstraints::tendon_terms(Index tendon) const {
  return {terms_.data() + tendon_start_[tendon], terms_.data() + tendon_start_[tendon + 1]};
}

void JointConstraints::add_terms(std::span<const Term> terms, double factor, ConstraintSet& set) const {
  for (const Term& term : terms) set.add_dof(world_->model, term.tree, term.dof, factor * term.coefficient);
}

void JointConstraints::add(const Kinematics& kinematics, const State& state, const FreeMotion& motion,
                           const Vector& input, double h, const ContactLawSettings& settings,
                           InverseMass& inverse_mass, ConstraintSet& set) const {
  add_limits(state, motion.motion().velocity, h, settings, set);
  add_friction(h, set);
  add_tendon_springs(state, h, set);
  add_drives(kinematics, state, input, h, set);
  const Index first = set.size();
  add_body_couplings(*world_, kinematics, set);
  soften_body_couplings(first, settings.coupling_compliance, motion, inverse_mass, set);
  add_couplings(state, set);
}

void JointConstraints::add_holding(const Kinematics& kinematics, const State& state,
                                   ConstraintSet& set) const {
  // With h = 1 a reached limit has bias 0, and others stay out of reach.
  const Vector still = Vector::Zero(state.v.size());
  add_limits({.q = state.q, .v = still}, still, 1.0, {}, set);
  add_body_couplings(*world_, kinematics, set);
  add_couplings(state, set);
}

// A limit takes part when it is violated, within its margin, or could be reached at twice the speed.
void JointConstraints::add_limit_pair(std::span<const Term> terms, double value, double rate, double lower,
                                      double upper, double margin, double h,
                                      const ContactLawSettings& settings, ConstraintSource source,
                                      Index origin, ConstraintSet& set) const {
  const double reach = std::max(margin, 2.0 * h * std::abs(rate));
  for (const Index side : {0, 1}) {
    const double gap = side == 0 ? value - lower : upper - value;
    if (gap > reach) continue;
    ProblemFiller::Constraint data;
    data.kind = ConstraintKind::unilateral;
    data.bias[0] = rigid_bias(gap, h, settings);
    data.key = key_of(source, origin, side);
    set.entry(set.add(data, source, origin)).position = gap;
    add_terms(terms, side == 0 ? 1.0 : -1.0, set);
  }
}

void JointConstraints::add_limits(const State& state, const Vector& free_velocity, double h,
                                  const ContactLawSettings& settings, ConstraintSet& set) const {
  const Model& model = world_->model;
  for (const Index j : limited_joints_) {
    const JointDescription& joint = model.joint(j);
    if (traits_of(joint.kind).limit == JointLimit::rotation) {
      add_rotation_limit(j, state, free_velocity, h, settings, set);
      continue;
    }
    const Term term = term_of(j, 1.0);
    const double rate = std::max(std::abs(state.v[term.dof]), std::abs(free_velocity[term.dof]));
    add_limit_pair({&term, 1}, state.q[term.coordinate], rate, joint.lower, joint.upper, joint.limit_margin,
                   h, settings, ConstraintSource::joint_limit, j, set);
  }
  for (const Index k : limited_tendons_) {
    const TendonDescription& tendon = model.tendons()[k];
    const std::span<const Term> terms = tendon_terms(k);
    const double rate = std::max(std::abs(rate_of(terms, state.v)), std::abs(rate_of(terms, free_velocity)));
    add_limit_pair(terms, tendon_length(k, state.q), rate, tendon.lower, tendon.upper, tendon.limit_margin, h,
                   settings, ConstraintSource::tendon_limit, k, set);
  }
}

// The rotation angle grows at the rate of omega along the rotation axis, the same in both frames.
void JointConstraints::add_rotation_limit(Index j, const State& state, const Vector& free_velocity, double h,
                                          const ContactLawSettings& settings, ConstraintSet& set) const {
  const Model& model = world_->model;
  const JointDescription& joint = model.joint(j);
  const Index at = model.joint_coordinate(j) + traits_of(joint.kind).quaternion, dof = model.joint_dof(j);
  Vec3 axis = state.q.segment<3>(at + 1);
  const double half_sine = axis.norm();
  if (half_sine < 1e-12) return;
  const double w = state.q[at];
  axis *= (w < 0.0 ? -1.0 : 1.0) / half_sine;
  const double angle = 2.0 * std::atan2(half_sine, std::abs(w));
  const double rate = std::max(state.v.segment<3>(dof).norm(), free_velocity.segment<3>(dof).norm());
  const double gap = joint.upper - angle;
  if (gap > std::max(joint.limit_margin, 2.0 * h * rate)) return;
  ProblemFiller::Constraint data;
  data.kind = ConstraintKind::unilateral;
  data.bias[0] = rigid_bias(gap, h, settings);
  data.key = key_of(ConstraintSource::joint_limit, j, 2);
  set.entry(set.add(data, ConstraintSource::joint_limit, j)).position = gap;
  for (Index d = 0; d < 3; ++d) set.add_dof(model, model.body_tree(joint.body), dof + d, -axis[d]);
}

void JointConstraints::add_friction(double h, ConstraintSet& set) const {
  const Model& model = world_->model;
  const auto add_box = [&](double force, Index origin, Index row) {
    ProblemFiller::Constraint data;
    data.kind = ConstraintKind::box;
    data.lower = -h * force;
    data.upper = h * force;
    data.key = key_of(ConstraintSource::dry_friction, origin, row);
    set.add(data, ConstraintSource::dry_friction, origin);
  };
  for (const Index d : rubbing_dofs_) {
    add_box(model.dry_friction()[d], d, 0);
    set.add_dof(model, model.body_tree(model.joint(model.dof_joint(d)).body), d, 1.0);
  }
  for (const Index k : rubbing_tendons_) {
    add_box(model.tendons()[k].dry_friction, k, 1);
    add_terms(tendon_terms(k), 1.0, set);
  }
}

void JointConstraints::add_tendon_springs(const State& state, double h, ConstraintSet& set) const {
  const std::vector<TendonDescription>& tendons = world_->model.tendons();
  for (std::size_t k = 0; k < tendons.size(); ++k) {
    const TendonDescription& tendon = tendons[k];
    const double rate_gain = h * h * tendon.stiffness + h * tendon.damping;
    if (rate_gain <= 0.0) continue;
    const auto number = static_cast<Index>(k);
    const double length = tendon_length(number, state.q);
    const double stretch = length - std::clamp(length, tendon.spring_lower, tendon.spring_upper);
    ProblemFiller::Constraint data;
    data.kind = ConstraintKind::bilateral;
    data.compliance[0] = 1.0 / (stretch == 0.0 && tendon.damping > 0.0 ? h * tendon.damping : rate_gain);
    if (stretch == 0.0 && tendon.damping == 0.0) continue;
    data.bias[0] = data.compliance[0] * h * tendon.stiffness * stretch;
    data.key = key_of(ConstraintSource::coupling, number, 5);
    set.add(data, ConstraintSource::coupling, number);
    add_terms(tendon_terms(number), 1.0, set);
  }
}

void JointConstraints::add_couplings(const State& state, ConstraintSet& set) const {
  const auto add_row = [&](double error, Index origin, Index row) {
    add_coupling_row(error, origin, row, set);
  };
  const Model& model = world_->model;
  for (std::size_t k = 0; k < world_->joint_couplings.size(); ++k) {
    const JointCoupling& c = world_->joint_couplings[k];
    const Term first = term_of(c.first, 1.0);
    const double y = state.q[first.coordinate] - model.joint(c.first).reference;
    double x = 0.0;
    Term second{};
    if (c.second >= 0) {
      second = term_of(c.second, 1.0);
      x = state.q[second.coordinate] - model.joint(c.second).reference;
    }
    add_row(y - polynomial(c.polynomial, x), static_cast<Index>(k), 6);
    add_terms({&first, 1}, 1.0, set);
    if (c.second >= 0) add_terms({&second, 1}, -polynomial_slope(c.polynomial, x), set);
  }
  for (std::size_t k = 0; k < world_->tendon_couplings.size(); ++k) {
    const TendonCoupling& c = world_->tendon_couplings[k];
    const double y = tendon_length(c.first, state.q) - tendon_reference_[c.first];
    const double x = c.second < 0 ? 0.0 : tendon_length(c.second, state.q) - tendon_reference_[c.second];
    add_row(y - polynomial(c.polynomial, x), static_cast<Index>(k), 7);
    add_terms(tendon_terms(c.first), 1.0, set);
    if (c.second >= 0) add_terms(tendon_terms(c.second), -polynomial_slope(c.polynomial, x), set);
  }
}

JointConstraints::Acting JointConstraints::acting(Index number, const Kinematics& kinematics, const Vector& q,
                                                  const Vector& v, const Vector& input,
                                                  std::vector<Term>& room) const {
  const Model& model = world_->model;
  const ActuatorDescription& actuator = model.actuators()[number];
  Acting result;
  if (actuator.site >= 0) {
    result.drive.length = site_transmission(kinematics, actuator, site_terms_);
    room.clear();
    for (const DofTerm& term : site_terms_) {
      const Index tree = model.body_tree(model.joint(model.dof_joint(term.dof)).body);
      room.push_back({tree, term.dof, -1, term.coefficient});
    }
    result.terms = room;
  } else {
    result.terms = {terms_.data() + actuator_start_[number], terms_.data() + actuator_start_[number + 1]};
    result.drive.length = transmission_length(result.terms, q);
    if (actuator.tendon >= 0) result.drive.length += actuator.gear[0] * spatial_length_[actuator.tendon];
  }
  for (const Term& term : result.terms) result.drive.rate += term.coefficient * v[term.dof];
  set_drive_law(actuator, input[number], result.drive);
  set_drive_limits(model, actuator, body_forces_, kinematics, result.drive);
  return result;
}

Drive JointConstraints::gains(Index number, const Vector& input) const {
  Drive drive;
  set_drive_law(world_->model.actuators()[number], input[number], drive);
  return drive;
}

void JointConstraints::add_drives(const Kinematics& kinematics, const State& state, const Vector& input,
                                  double h, ConstraintSet& set) const {
  for (std::size_t a = 0; a < world_->model.actuators().size(); ++a) {
    const auto number = static_cast<Index>(a);
    if (!is_box(number)) continue;
    const Acting now = acting(number, kinematics, state.q, state.v, input, room_);
    const Drive& drive = now.drive;
    ProblemFiller::Constraint data;
    data.kind = ConstraintKind::box;
    data.lower = h * drive.lower;
    data.upper = h * drive.upper;
    data.compliance[0] = -1.0 / (h * h * drive.position_gain + h * drive.velocity_gain);
    data.bias[0] = -data.compliance[0] * h * (drive.constant + drive.position_gain * drive.length);
    data.key = constraint_key(ConstraintSource::drive, number, 0);
    set.add(data, ConstraintSource::drive, number);
    add_terms(now.terms, 1.0, set);
  }
}

}  // namespace tribo
