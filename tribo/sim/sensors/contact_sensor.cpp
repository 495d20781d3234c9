#include "tribo/sim/sensors/contact_sensor.h"

#include <algorithm>
#include <utility>

#include "tribo/math/contact_frame.h"

namespace tribo {

namespace {

// A contact that fits a query, seen from its first side.
struct Match {
  Vec3 position, normal, tangent;
  Vec3 force, torque;  // on the second side, world axes, N and N m
  double distance;
};

class Reader {
 public:
  Reader(const World& world, const ContactQuery& query, const LastStep& step, const Kinematics& kinematics)
      : world_(world), query_(query), step_(step), kinematics_(kinematics) {}

  std::vector<Match> collect(double slop) const {
    std::vector<Match> found;
    for (std::size_t c = 0; c < step_.contacts.size(); ++c) {
      const Contact& contact = step_.contacts[c];
      if (contact.gap > slop && step_.contact_impulses[c].isZero(0.0)) continue;
      const bool straight = fits(query_.first, contact, contact.geom_a, contact.body_a) &&
                            fits(query_.second, contact, contact.geom_b, contact.body_b);
      const bool reverse = fits(query_.first, contact, contact.geom_b, contact.body_b) &&
                           fits(query_.second, contact, contact.geom_a, contact.body_a);
      if (straight || reverse) found.push_back(match(c, !straight));
    }
    return found;
  }

  void write(const std::vector<Match>& found, double* out) const {
    const std::size_t places = std::min(found.size(), static_cast<std::size_t>(query_.count));
    for (std::size_t k = 0; k < places; ++k) {
      Mat3 axes;
      axes << found[k].normal, found[k].tangent, found[k].normal.cross(found[k].tangent);
      write_one(found[k], axes, static_cast<double>(found.size()), out);
      out += query_.size_of_one();
    }
  }

  // The sum of all.
  void write_net(const std::vector<Match>& found, double* out) const {
    if (found.empty()) return;
    Match net{Vec3::Zero(), Vec3::UnitX(), Vec3::UnitY(), Vec3::Zero(), Vec3::Zero(), 0.0};
    double weight = 0.0;
    for (const Match& m : found) {
      net.position += m.force.norm() * m.position;
      weight += m.force.norm();
      net.force += m.force;
    }
    if (weight > 0.0) {
      net.position /= weight;
    } else {
      for (const Match& m : found) net.position += m.position / static_cast<double>(found.size());
    }
    for (const Match& m : found) net.torque += m.torque + (m.position - net.position).cross(m.force);
    write_one(net, Mat3::Identity(), static_cast<double>(found.size()), out);
  }

 private:
  bool fits(const ContactSide& side, const Contact& contact, Index geom, Index body) const {
    switch (side.kind) {
      case ContactSide::Kind::any:
        return true;
      case ContactSide::Kind::geom:
        return geom == side.object;
      case ContactSide::Kind::body:
        return body == side.object;
      case ContactSide::Kind::subtree:
        while (body > side.object) body = world_.model.body_parent(body);
        return body == side.object;
      case ContactSide::Kind::volume: {
        const Pose at = kinematics_.pose(side.frame.body) * side.frame.pose;
        return meets(*side.volume, at.to_local(contact.position), Vec3::Zero());
      }
    }
    return false;
  }

  Match match(std::size_t c, bool reverse) const {
    const Contact& contact = step_.contacts[c];
    const double sign = reverse ? -1.0 : 1.0;
    return {contact.position,
            sign * contact.normal,
            sign * contact_frame(contact.normal).row(0).transpose(),
            sign / step_.h * step_.contact_impulses[c],
            sign / step_.h * step_.contact_torques[c],
            contact.gap};
  }

  void write_one(const Match& m, const Mat3& axes, double found, double* out) const {
    const auto put = [&](ContactQuery::Field field, const Vec3& value) {
      if ((query_.fields & field) == 0) return;
      out = std::copy_n(value.data(), 3, out);
    };
    if ((query_.fields & ContactQuery::found) != 0) *out++ = found;
    put(ContactQuery::force, axes.transpose() * m.force);
    put(ContactQuery::torque, axes.transpose() * m.torque);
    if ((query_.fields & ContactQuery::distance) != 0) *out++ = m.distance;
    put(ContactQuery::position, m.position);
    put(ContactQuery::normal, m.normal);
    put(ContactQuery::tangent, m.tangent);
  }

  const World& world_;
  const ContactQuery& query_;
  const LastStep& step_;
  const Kinematics& kinematics_;
};

}  // namespace

double touch_force(const SensorDescription& sensor, const LastStep& step, const Kinematics& kinematics) {
  const Pose at = kinematics.pose(sensor.frame.body) * sensor.frame.pose;
  double sum = 0.0;
  for (std::size_t c = 0; c < step.contacts.size(); ++c) {
    const Contact& contact = step.contacts[c];
    const bool first = contact.body_a == sensor.frame.body, second = contact.body_b == sensor.frame.body;
    const double force = contact.normal.dot(step.contact_impulses[c]) / step.h;
    if (first == second || force <= 0.0) continue;
    const Vec3 outward = first ? contact.normal : Vec3(-contact.normal);
    if (meets(*sensor.volume, at.to_local(contact.position), at.rotation.transpose() * outward)) sum += force;
  }
  for (std::size_t c = 0; c < step.flexible_contacts.size(); ++c) {
    const FlexibleContact& contact = step.flexible_contacts[c];
    if (contact.a.flexible >= 0 || contact.a.body != sensor.frame.body) continue;
    const double force = contact.normal.dot(step.flexible_impulses[c]) / step.h;
    const Vec3 toward = at.rotation.transpose() * contact.normal;
    if (force > 0.0 && meets(*sensor.volume, at.to_local(contact.position), toward)) sum += force;
  }
  return sum;
}

void read_contacts(const World& world, const SensorDescription& sensor, const LastStep& step,
                   const Kinematics& kinematics, double slop, double* out) {
  const ContactQuery& query = sensor.contact;
  std::fill_n(out, sensor.size(), 0.0);
  const Reader reader(world, query, step, kinematics);
  std::vector<Match> found = reader.collect(slop);
  // Equal ones stay in the order of the contacts.
  if (query.reduce == ContactQuery::Reduce::min_distance) {
    std::stable_sort(found.begin(), found.end(),
                     [](const Match& a, const Match& b) { return a.distance < b.distance; });
  } else if (query.reduce == ContactQuery::Reduce::max_force) {
    std::stable_sort(found.begin(), found.end(),
                     [](const Match& a, const Match& b) { return a.force.norm() > b.force.norm(); });
  }
  if (query.reduce == ContactQuery::Reduce::net_force) {
    reader.write_net(found, out);
  } else {
    reader.write(found, out);
  }
}

}  // namespace tribo
