#include "tribo/io/replay/frame.h"

#include <fmt/format.h>

#include <cmath>

#include "tribo/base/errors.h"

namespace tribo::detail {
namespace {

void take_bodies(const Simulator& simulator, const FlexibleLook& look, ReplayFrame& frame) {
  const Index bodies = simulator.model().body_count();
  frame.time = simulator.state().time;
  frame.step = simulator.step_count();
  frame.position.clear();
  frame.rotation.clear();
  for (Index b = 1; b < bodies; ++b) {
    const Vec3& x = simulator.kinematics().pose(b).position;
    const Quat& turn = simulator.kinematics().orientation(b);
    frame.position.insert(frame.position.end(), x.data(), x.data() + 3);
    frame.rotation.insert(frame.rotation.end(), {turn.w(), turn.x(), turn.y(), turn.z()});
  }
  for (const FlexibleLook::Piece& piece : look.pieces()) {
    add_pose(FlexibleLook::pose(piece.node, simulator.state().node_position.data()), frame);
  }
  const Energy energy = simulator.energy();
  frame.kinetic = energy.kinetic;
  frame.potential = energy.weight + energy.springs + energy.elastic;
}

// Of a flexible body the geom of its first piece.
Index shown_geom(const FlexibleContact::Side& side, const World& world, const FlexibleLook& look) {
  if (side.flexible < 0) return side.geom;
  return static_cast<Index>(world.geoms.size() + world.visuals.size()) + look.first_piece(side.flexible);
}

void take_flexible_contacts(const Simulator& simulator, const FlexibleLook& look, ReplayFrame& frame) {
  const std::vector<FlexibleContact>& contacts = simulator.flexible_contacts();
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const FlexibleContact& contact = contacts[c];
    const Vec3& impulse = simulator.flexible_contact_impulses()[c];
    frame.contacts.push_back({.position = contact.position,
                              .normal = contact.normal,
                              .impulse = impulse,
                              .velocity = Vec3::Constant(ReplayFrame::kUnknown),
                              .gap = contact.gap,
                              .friction = contact.friction,
                              .error = ReplayFrame::kUnknown,
                              .geom_a = shown_geom(contact.a, simulator.world(), look),
                              .geom_b = shown_geom(contact.b, simulator.world(), look),
                              .state = state_of(contact.normal, impulse, contact.friction)});
  }
}

}  // namespace

void add_pose(const Pose& pose, ReplayFrame& frame) {
  const Quat turn(pose.rotation);
  frame.position.insert(frame.position.end(), pose.position.data(), pose.position.data() + 3);
  frame.rotation.insert(frame.rotation.end(), {turn.w(), turn.x(), turn.y(), turn.z()});
}

ContactState state_of(const Vec3& normal, const Vec3& impulse, double friction) {
  constexpr double kInside = 0.999;  // of the friction limit
  const double along = normal.dot(impulse);
  if (!(along > 0.0)) return ContactState::open;
  const double tangential = (impulse - along * normal).norm();
  return tangential < kInside * friction * along ? ContactState::sticks : ContactState::slides;
}

void take_start(const Simulator& simulator, const FlexibleLook& look, ReplayFrame& frame) {
  frame.islands = frame.iterations = frame.missed_islands = 0;
  frame.error = frame.solve_time = frame.step_time = frame.penetration = ReplayFrame::kUnknown;
  frame.contacts.clear();
  take_bodies(simulator, look, frame);
}

void take_frame(const Simulator& simulator, const StepReport& report, const FlexibleLook& look,
                ReplayFrame& frame) {
  take_bodies(simulator, look, frame);
  frame.islands = report.islands;
  frame.iterations = report.iterations;
  frame.missed_islands = report.missed_islands;
  frame.error = report.error;
  frame.solve_time = report.times.solve;
  frame.step_time = report.times.total();
  frame.penetration = report.penetration;
  const std::vector<Contact>& contacts = simulator.contacts();
  const std::vector<ContactDetail>& details = simulator.contact_details();
  frame.contacts.clear();
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const Contact& contact = contacts[c];
    const ContactDetail& detail = details[c];
    frame.contacts.push_back({.position = contact.position,
                              .normal = contact.normal,
                              .impulse = simulator.contact_impulses()[c],
                              .velocity = detail.velocity,
                              .gap = contact.gap,
                              .friction = detail.friction,
                              .error = detail.error,
                              .pressure = contact.pressure(),
                              .geom_a = contact.geom_a,
                              .geom_b = contact.geom_b,
                              .island = detail.island,
                              .state = detail.state});
  }
  take_flexible_contacts(simulator, look, frame);
}

FrameClock::FrameClock(double rate, double start, double time_step)
    : rate_(rate), start_(start), slack_(1e-6 * time_step) {
  if (!(std::isfinite(rate) && rate >= 0.0)) {
    throw InvalidInput(
        fmt::format("frames per second are {}: they must be finite and >= 0 (0: every step)", rate));
  }
}

bool FrameClock::is_due(double time) {
  constexpr double kMostFrames = 1e18;  // that are counted
  if (rate_ == 0.0) return true;
  const double passed = rate_ * (time - start_ + slack_);
  if (!(passed >= static_cast<double>(next_))) return false;
  if (passed > kMostFrames) return true;
  next_ = static_cast<std::int64_t>(std::floor(passed)) + 1;
  return true;
}

}  // namespace tribo::detail
