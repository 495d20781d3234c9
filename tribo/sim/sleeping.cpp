#include "tribo/sim/sleeping.h"

#include <algorithm>

#include "tribo/multibody/tendon_path.h"

namespace tribo {

Sleeping::Sleeping(const Model& model)
    : model_(&model),
      driven_(model.tree_count(), false),
      sleep_group_(model.tree_count(), -1),
      quiet_(model.tree_count(), 0.0),
      restless_(model.tree_count(), false) {
  const auto mark = [&](Index joint) { driven_[model.body_tree(model.joint(joint).body)] = true; };
  for (const ActuatorDescription& actuator : model.actuators()) {
    if (actuator.joint >= 0) mark(actuator.joint);
    const auto mark_body = [&](Index body) {
      if (model.body_tree(body) >= 0) driven_[model.body_tree(body)] = true;
    };
    if (actuator.body >= 0) mark_body(actuator.body);
    for (const Index site : {actuator.site, actuator.reference_site}) {
      if (site >= 0) mark_body(model.sites()[static_cast<std::size_t>(site)].body);
    }
    if (actuator.tendon < 0) continue;
    const TendonDescription& tendon = model.tendons()[actuator.tendon];
    for (const auto& term : tendon.terms) mark(term.joint);
    for (const Index dof : tendon_dofs(model, tendon)) mark(model.dof_joint(dof));
  }
}

void Sleeping::wake(Index group) {
  for (Index t = 0; t < model_->tree_count(); ++t) {
    if (sleep_group_[t] != group) continue;
    sleep_group_[t] = -1;
    quiet_[t] = 0.0;
    --asleep_count_;
  }
}

void Sleeping::wake_all() {
  std::fill(sleep_group_.begin(), sleep_group_.end(), -1);
  std::fill(quiet_.begin(), quiet_.end(), 0.0);
  asleep_count_ = 0;
}

void Sleeping::set_memory(const Memory& memory) {
  sleep_group_ = memory.group;
  quiet_ = memory.quiet;
  asleep_count_ = static_cast<Index>(
      std::count_if(sleep_group_.begin(), sleep_group_.end(), [](Index group) { return group >= 0; }));
}

void Sleeping::filter(const Vector& force, std::vector<Contact>& contacts) {
  if (asleep_count_ == 0) return;
  for (Index t = 0; t < model_->tree_count(); ++t) {
    const bool pushed = !force.segment(model_->tree_dof(t), model_->tree_dof_count(t)).isZero(0.0);
    if (asleep(t) && pushed) wake(sleep_group_[t]);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const Contact& contact : contacts) {
      const Index a = model_->body_tree(contact.body_a), b = model_->body_tree(contact.body_b);
      if (a < 0 || b < 0 || asleep(a) == asleep(b)) continue;
      wake(sleep_group_[asleep(a) ? a : b]);
      changed = true;
    }
  }
  const auto drop = [&](const Contact& contact) {
    const Index a = model_->body_tree(contact.body_a), b = model_->body_tree(contact.body_b);
    return (a < 0 || asleep(a)) && (b < 0 || asleep(b));
  };
  contacts.erase(std::remove_if(contacts.begin(), contacts.end(), drop), contacts.end());
}

void Sleeping::update(const StepSolver& solver, double h, double velocity, double time, Vector& v) {
  std::fill(restless_.begin(), restless_.end(), false);
  for (Index t = 0; t < model_->tree_count(); ++t) {
    auto own = v.segment(model_->tree_dof(t), model_->tree_dof_count(t));
    if (asleep(t)) {
      own.setZero();
      continue;
    }
    const bool slow = !driven_[t] && own.cwiseAbs().maxCoeff() < velocity;
    quiet_[t] = slow ? quiet_[t] + h : 0.0;
    if (quiet_[t] < time) restless_[solver.component(t)] = true;
  }
  for (Index t = 0; t < model_->tree_count(); ++t) {
    if (asleep(t) || restless_[solver.component(t)]) continue;
    sleep_group_[t] = solver.component(t);
    ++asleep_count_;
    v.segment(model_->tree_dof(t), model_->tree_dof_count(t)).setZero();
  }
}

}  // namespace tribo
