#include "tribo/sim/impacts.h"

#include <algorithm>

namespace tribo {

namespace {
constexpr Index kMaxRounds = 1000;  // geometric decay of e < 1 between two walls ends far earlier
}

Impacts::Impacts(const World& world, const ContactFinder& finder, const std::string& solver)
    : world_(&world), finder_(&finder), constraints_(finder), solver_(world.model, solver) {
  for (const Geom& geom : world.geoms) any_ = any_ || geom.material.restitution > 0.0;
  for (const GeomPair& pair : world.pairs) any_ = any_ || pair.material.restitution > 0.0;
}

double Impacts::approach(const Contact& contact, const Kinematics& kinematics) const {
  return contact.normal.dot(kinematics.point_velocity(contact.body_b, contact.position) -
                            kinematics.point_velocity(contact.body_a, contact.position));
}

// Contacts that will have met by the end of the step, sorted into those that bounce now and those that only hold.
bool Impacts::collect(const Context& step) {
  closing_.clear();
  touching_.clear();
  for (std::size_t c = 0; c < step.contacts.size(); ++c) {
    const Contact& contact = step.contacts[c];
    if (contact.is_face()) continue;  // a field gives way: no velocity jumps
    const double rate = approach(contact, step.kinematics);
    if (finder_->surface(contact.surface).restitution > 0.0) {
      const bool meets = contact.gap + step.h * rate < 0.0;
      if (rate < -step.threshold && meets) closing_.push_back(static_cast<Index>(c));
    } else if (contact.gap <= 0.0) {
      touching_.push_back(static_cast<Index>(c));
    }
  }
  return !closing_.empty();
}

void Impacts::set_matrices(const Dynamics& dynamics) {
  const Model& model = world_->model;
  std::size_t size = 0;
  for (Index t = 0; t < model.tree_count(); ++t) {
    if (!model.is_free_body(t))
      size += static_cast<std::size_t>(model.tree_dof_count(t)) * model.tree_dof_count(t);
  }
  masses_.resize(size);
  motion_.matrix.resize(model.tree_count());
  double* storage = masses_.data();
  for (Index t = 0; t < model.tree_count(); ++t) {
    motion_.matrix[t] = dynamics.dense_mass(t, storage);
    if (!model.is_free_body(t)) storage += model.tree_dof_count(t) * model.tree_dof_count(t);
  }
}

Impacts::Outcome Impacts::apply(const Context& step) {
  Outcome outcome;
  Kinematics& kinematics = step.kinematics;
  Vector& v = step.state.v;
  if (!any_ || step.contacts.empty()) return outcome;
  if (solver_.splits_by_bodies()) set_.keep_bodies(kinematics);
  while (outcome.rounds < kMaxRounds && collect(step)) {
    if (outcome.rounds == 0) set_matrices(step.dynamics);
    set_.clear();
    constraints_.clear();
    for (const Index c : closing_) {
      const double e = finder_->surface(step.contacts[c].surface).restitution;
      constraints_.add_with_bias(step.contacts, c, kinematics, e * approach(step.contacts[c], kinematics),
                                 set_);
    }
    for (const Index c : touching_) constraints_.add_with_bias(step.contacts, c, kinematics, 0.0, set_);
    step.joints.add_holding(kinematics, step.state, set_);
    step.dynamics.multiply_mass(v, motion_.momentum);
    motion_.velocity = v;
    start_.assign(set_.size(), RowValues::Zero());
    const SolveSummary summary =
        solver_.solve(set_, motion_, step.settings, step.workers, start_, v, impulse_);
    outcome.worst.iterations += summary.iterations;
    outcome.worst.missed_islands += summary.missed_islands;
    outcome.worst.error = std::max(outcome.worst.error, summary.error);
    kinematics.set_velocities(v);
    ++outcome.rounds;
  }
  return outcome;
}

}  // namespace tribo
