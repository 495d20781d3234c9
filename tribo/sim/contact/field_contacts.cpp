#include "tribo/sim/contact/field_contacts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tribo/base/errors.h"

namespace tribo {

namespace {

bool has_inside(const Shape& shape) {
  return shape.kind() != ShapeKind::mesh && shape.kind() != ShapeKind::height_field;
}

std::string name_of(const World& world, Index geom) {
  const std::string& name = world.geoms[geom].name;
  return name.empty() ? fmt::format("geom {}", geom) : fmt::format("geom '{}'", name);
}

}  // namespace

FieldContacts::FieldContacts(const World& world, std::span<const Index> active,
                             const std::function<bool(Index, Index)>& may_meet)
    : world_(&world), soft_(world.geoms.size(), 0) {
  bool any = false;
  for (const Index g : active) {
    const Geom& geom = world.geoms[g];
    soft_[g] = geom.pressure && std::isfinite(geom.pressure->modulus) ? 1 : 0;
    any = any || soft_[g] != 0;
  }
  if (!any) return;
  pressed_.resize(world.geoms.size());
  for (const Index g : active) {
    const Shape& shape = world.geoms[g].shape;
    if (has_inside(shape)) {
      pressed_[g] = pressed_shape(shape, world.geoms[g].pressure.value_or(PressureField{}));
      if (soft_[g] != 0 && !(pressed_[g].compliance > 0.0)) {
        throw InvalidInput(
            fmt::format("{} is too thin for its largest depth to be found: give its pressure field a depth",
                        name_of(world, g)));
      }
      continue;
    }
    for (const Index soft : active) {
      if (soft_[soft] == 0 || !may_meet(soft, g)) continue;
      throw InvalidInput(fmt::format(
          "{} carries a pressure field and may meet {}, a {}, which has no inside: give it as a hull or a "
          "distance field, or exclude the two",
          name_of(world, soft), name_of(world, g), to_string(shape.kind())));
    }
  }
}

double FieldContacts::dissipation_time(Index a, Index b, const GeomPair* given) const {
  if (given != nullptr) return given->material.dissipation_time;
  const Material &ma = world_->geoms[a].material, &mb = world_->geoms[b].material;
  if (ma.priority != mb.priority) return (ma.priority > mb.priority ? ma : mb).dissipation_time;
  const double ca = pressed_[a].compliance, cb = pressed_[b].compliance;
  return (ca * ma.dissipation_time + cb * mb.dissipation_time) / (ca + cb);
}

void FieldContacts::find(const Contact& pair, const Pose& pose_a, const Pose& pose_b, double thickness,
                         const GeomPair* given, Index worker, std::vector<Contact>& contacts) {
  const Geom &a = world_->geoms[pair.geom_a], &b = world_->geoms[pair.geom_b];
  const double own = a.thickness + b.thickness;
  const double thickness_a = own > 0.0 ? thickness * a.thickness / own : 0.5 * thickness;
  Index most = 0;
  for (const Geom* geom : {&a, &b}) {
    const Index limit = geom->pressure ? geom->pressure->max_faces : 0;
    if (limit > 0) most = most > 0 ? std::min(most, limit) : limit;
  }
  Scratch& scratch = scratch_[static_cast<std::size_t>(worker)];
  scratch.faces.clear();
  scratch.finder.find({pressed_[pair.geom_a], pose_a, thickness_a},
                      {pressed_[pair.geom_b], pose_b, thickness - thickness_a}, most, scratch.faces);
  Contact contact = pair;
  contact.dissipation_time = dissipation_time(pair.geom_a, pair.geom_b, given);
  for (const PressureFace& face : scratch.faces) {
    contact.position = face.position;
    contact.normal = face.normal;
    contact.gap = -face.pressure * face.area / face.stiffness;
    contact.key = face.key;
    contact.area = face.area;
    contact.stiffness = face.stiffness;
    contacts.push_back(contact);
  }
}

}  // namespace tribo
