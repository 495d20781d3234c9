#include "tribo/control/phases.h"

#include <fmt/format.h>

#include "tribo/base/errors.h"

namespace tribo {

Phases::Phases(std::vector<Phase> phases) : phases_(std::move(phases)) {
  if (phases_.empty()) throw InvalidInput("phases: there must be at least one");
  for (std::size_t k = 0; k < phases_.size(); ++k) {
    for (std::size_t m = 0; m < k; ++m) {
      if (phases_[m].name == phases_[k].name)
        throw InvalidInput(fmt::format("phases: two of them are called '{}'", phases_[k].name));
    }
    find(phases_[k].next, k);
    find(phases_[k].otherwise, k);
  }
}

std::size_t Phases::find(const std::string& name, std::size_t after) const {
  if (name.empty()) return after + 1;
  for (std::size_t k = 0; k < phases_.size(); ++k) {
    if (phases_[k].name == name) return k;
  }
  throw InvalidInput(
      fmt::format("phases: '{}' leads to '{}', which does not exist", phases_[after].name, name));
}

const std::string& Phases::name() const {
  static const std::string end = "end";
  return finished() ? end : phases_[current_].name;
}

void Phases::restart() {
  current_ = 0;
  entered_ = false;
  timeouts_ = 0;
  since_ = 0.0;
}

void Phases::enter(std::size_t phase, double time) {
  current_ = phase;
  begun_ = time;
  since_ = 0.0;
  entered_ = true;
  if (!finished() && phases_[current_].begin) phases_[current_].begin();
}

void Phases::step(double time) {
  if (!entered_) enter(0, time);
  if (finished()) return;
  since_ = time - begun_;
  const Phase& phase = phases_[current_];
  if (phase.done && phase.done(since_)) {
    enter(find(phase.next, current_), time);
  } else if (since_ >= phase.time_limit) {
    ++timeouts_;
    enter(find(phase.otherwise.empty() ? phase.next : phase.otherwise, current_), time);
  }
  if (!finished() && phases_[current_].act) phases_[current_].act(since_);
}

bool Threshold::update(double signal, double time) {
  if (active_) {
    if (!(signal >= release_)) active_ = above_ = false;
    return active_;
  }
  if (!(signal >= level_)) {
    above_ = false;
    return false;
  }
  if (!above_) above_since_ = time;
  above_ = true;
  active_ = time - above_since_ >= hold_;
  return active_;
}

Vec3 contact_force(const Simulator& simulator, Index body, Index other) {
  Vec3 sum = Vec3::Zero();
  const std::vector<Contact>& contacts = simulator.contacts();
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const bool first = contacts[c].body_a == body, second = contacts[c].body_b == body;
    if (!first && !second) continue;
    if (other >= 0 && (first ? contacts[c].body_b : contacts[c].body_a) != other) continue;
    sum += (second ? 1.0 : -1.0) * simulator.contact_impulses()[c];
  }
  return sum / simulator.time_step();
}

}  // namespace tribo
