#include "tribo/io/flexible_recording.h"

namespace tribo::detail {

namespace {

template <class Numbers>
void append(std::vector<double>& to, const Numbers& x) {
  to.insert(to.end(), x.data(), x.data() + x.size());
}

}  // namespace

FlexibleRecording::FlexibleRecording(const World& world) {
  if (world.flexible_bodies.empty()) return;
  first_node_.push_back(0);
  first_triangle_.push_back(0);
  for (const FlexibleBody& body : world.flexible_bodies) {
    for (const SurfaceTriangle& triangle : boundary(body.mesh)) {
      for (const Index node : triangle) triangle_.push_back(first_node_.back() + node);
    }
    first_node_.push_back(first_node_.back() + body.mesh.node_count());
    first_triangle_.push_back(static_cast<Index>(triangle_.size() / 3));
    names_ += body.name + "\n";
  }
}

void FlexibleRecording::add(const Simulator& simulator) {
  if (first_node_.empty()) return;
  append(position_, simulator.state().node_position);
  append(velocity_, simulator.state().node_velocity);
  energy_.push_back(simulator.energy().elastic);
  for (std::size_t c = 0; c < simulator.flexible_contacts().size(); ++c) {
    const FlexibleContact& contact = simulator.flexible_contacts()[c];
    append(contact_position_, contact.position);
    append(contact_normal_, contact.normal);
    append(contact_impulse_, simulator.flexible_contact_impulses()[c]);
    contact_gap_.push_back(contact.gap);
    contact_friction_.push_back(contact.friction);
    for (const Index side : {contact.a.geom, contact.a.flexible, contact.b.flexible}) {
      contact_sides_.push_back(side);
    }
  }
  contact_start_.push_back(static_cast<Index>(contact_gap_.size()));
}

void FlexibleRecording::write(Hdf5Writer& out) const {
  if (first_node_.empty()) return;
  const std::uint64_t frames = energy_.size(), contacts = contact_gap_.size();
  const auto nodes = static_cast<std::uint64_t>(first_node_.back());
  const auto table = [&](const char* name, const std::vector<double>& values,
                         std::vector<std::uint64_t> extents) { out.array(name, values, extents); };
  out.group("flexible");
  out.integers("flexible/first_node", first_node_);
  out.integers("flexible/first_triangle", first_triangle_);
  table("flexible/triangles", triangle_, {triangle_.size() / 3, 3});
  table("node_position", position_, {frames, nodes, 3});
  table("node_velocity", velocity_, {frames, nodes, 3});
  table("elastic_energy", energy_, {frames});
  out.integers("flexible_contact_start", contact_start_);
  table("flexible_contact_position", contact_position_, {contacts, 3});
  table("flexible_contact_normal", contact_normal_, {contacts, 3});
  table("flexible_contact_impulse", contact_impulse_, {contacts, 3});
  table("flexible_contact_gap", contact_gap_, {contacts});
  table("flexible_contact_friction", contact_friction_, {contacts});
  table("flexible_contact_sides", contact_sides_, {contacts, 3});
  out.text("names/flexible_bodies", names_);
}

}  // namespace tribo::detail
