#include "tribo/sim/contact/initial_overlaps.h"

#include <fmt/format.h>

#include <algorithm>

#include "tribo/base/workers.h"
#include "tribo/multibody/kinematics.h"
#include "tribo/sim/contact/contact_finder.h"

namespace tribo {

namespace {

bool floats(const Model& model, Index tree) {
  const Index first = model.tree_dof(tree);
  return traits_of(model.joint(model.dof_joint(first)).kind).floating;
}

bool within_mechanism(const Model& model, Index a, Index b) {
  const Index tree_a = model.body_tree(a), tree_b = model.body_tree(b);
  if (tree_a >= 0 && tree_b >= 0) return tree_a == tree_b;
  return !floats(model, std::max(tree_a, tree_b));
}

std::string name_of(const World& world, Index geom, Index body) {
  const std::string& own = world.geoms[geom].name;
  return own.empty() ? fmt::format("geom {} of body '{}'", geom, world.model.body_name(body))
                     : fmt::format("geom '{}' of body '{}'", own, world.model.body_name(body));
}

}  // namespace

std::vector<InitialOverlap> initial_overlaps(const World& world, const State& start, double tolerance) {
  Kinematics kinematics(world.model);
  if (start.mocap.size() > 0) kinematics.set_mocap(start.mocap);
  kinematics.set_positions(start.q);
  kinematics.set_velocities(Vector::Zero(world.model.dof_count()));
  ContactFinder finder(world);
  Workers alone(1);
  std::vector<Contact> contacts;
  finder.find(kinematics, world.time_step, alone, contacts);
  std::vector<InitialOverlap> list;
  for (const Contact& c : contacts) {
    if (-c.gap <= tolerance || c.is_face() || !finder.surface(c.surface).is_rigid()) continue;
    const auto same = [&](const InitialOverlap& o) { return o.body_a == c.body_a && o.body_b == c.body_b; };
    auto known = std::find_if(list.begin(), list.end(), same);
    if (known == list.end()) {
      known = list.insert(list.end(), {c.geom_a, c.geom_b, c.body_a, c.body_b, 0.0,
                                       within_mechanism(world.model, c.body_a, c.body_b)});
    }
    if (-c.gap <= known->depth) continue;
    known->depth = -c.gap;
    known->geom_a = c.geom_a;
    known->geom_b = c.geom_b;
  }
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.depth > b.depth; });
  return list;
}

std::string describe(const World& world, const InitialOverlap& o) {
  return fmt::format("{} and {} overlap by {:.2g} mm at the start", name_of(world, o.geom_a, o.body_a),
                     name_of(world, o.geom_b, o.body_b), 1e3 * o.depth);
}

void exclude(World& world, const InitialOverlap& overlap) {
  const auto between = [&](const GeomPair& pair) {
    const auto bodies = std::minmax(world.geoms[pair.first].body, world.geoms[pair.second].body);
    return bodies == std::minmax(overlap.body_a, overlap.body_b);
  };
  std::erase_if(world.pairs, between);
  world.excluded_bodies.emplace_back(overlap.body_a, overlap.body_b);
}

}  // namespace tribo
