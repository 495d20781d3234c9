// <contact> and <equality> of MJCF.
#include "tribo/io/mjcf/couplings.h"

#include <fmt/format.h>

#include <algorithm>

namespace tribo::detail {
namespace {

using Name = WorldAssembly::NameAttribute;

void read_pair(WorldAssembly& assembly, const ModelPart& part, const SourceElement& element) {
  const Attributes attributes = part.file->attributes(element, "pair", "");
  attributes.check(assembly.log(), {"name", "class", "geom1", "geom2", "condim", "friction", "margin", "gap"},
                   {"solref", "solimp", "solreffriction"});
  const Name first{NameKind::geom, "geom1"}, second{NameKind::geom, "geom2"};
  for (const std::string& suffix : assembly.copies(part, element, {first, second})) {
    GeomPair pair;
    pair.first = assembly.find(part, element, first, suffix);
    pair.second = assembly.find(part, element, second, suffix);
    const Geom& a = assembly.world().geoms[static_cast<std::size_t>(pair.first)];
    const Geom& b = assembly.world().geoms[static_cast<std::size_t>(pair.second)];
    // What the pair does not say comes from the geom of higher priority, or from both.
    const bool a_wins = a.material.priority > b.material.priority;
    const bool b_wins = b.material.priority > a.material.priority;
    pair.material = b_wins ? b.material : a.material;
    if (!a_wins && !b_wins) {
      pair.material.friction = std::max(a.material.friction, b.material.friction);
      pair.material.torsional = std::max(a.material.torsional, b.material.torsional);
      pair.material.rolling = std::max(a.material.rolling, b.material.rolling);
    }
    pair.friction_rows = a_wins   ? a.friction_rows
                         : b_wins ? b.friction_rows
                                  : std::max(a.friction_rows, b.friction_rows);
    pair.frictionless = a_wins ? a.frictionless : b_wins ? b.frictionless : a.frictionless && b.frictionless;
    // Sliding along two tangents, torsion, rolling about two tangents; the second ones are as the first where not given.
    std::array<double, 5> friction{pair.material.friction, -1.0, pair.material.torsional,
                                   pair.material.rolling, -1.0};
    attributes.fill("friction", friction, 1);
    if (friction[0] < 0.0 || friction[2] < 0.0 || friction[3] < 0.0) {
      fail(element, "friction must not be negative");
    }
    pair.material.friction = friction[0];
    pair.material.torsional = friction[2];
    pair.material.rolling = friction[3];
    pair.second_friction = friction[1];
    pair.second_rolling = friction[4];
    if (attributes.has("condim")) {
      const int condim = attributes.integer("condim", 3);
      if (condim != 1 && condim != 3 && condim != 4 && condim != 6) {
        fail(element, "attribute 'condim' must be 1, 3, 4 or 6");
      }
      pair.frictionless = condim == 1;
      pair.friction_rows = std::max(condim, 3);
    }
    pair.thickness = std::max(0.0, attributes.number("margin", a.thickness + b.thickness));
    pair.margin = std::max(0.0, attributes.number("gap", a.margin + b.margin));
    assembly.world().pairs.push_back(pair);
  }
}

void read_exclude(WorldAssembly& assembly, const ModelPart& part, const SourceElement& element) {
  assembly.log().check_attributes(element, {"name", "body1", "body2"});
  const Name first{NameKind::body, "body1"}, second{NameKind::body, "body2"};
  for (const std::string& suffix : assembly.copies(part, element, {first, second})) {
    assembly.world().excluded_bodies.emplace_back(assembly.find(part, element, first, suffix),
                                                  assembly.find(part, element, second, suffix));
  }
}

void place(const SiteDescription& a, const SiteDescription& b, Connect& connect) {
  connect.first_anchor = a.pose.position, connect.second_anchor = b.pose.position;
}

void place(const SiteDescription& a, const SiteDescription& b, Weld& weld) {
  weld.first_frame = a.pose, weld.second_frame = b.pose;
}

void place(const WorldAssembly& assembly, const Attributes& attributes, Connect& connect) {
  if (!attributes.has("anchor")) fail(attributes.element(), "attribute 'anchor' is missing");
  connect.first_anchor = attributes.vector3("anchor", Vec3::Zero());
  const Vec3 point = assembly.body_pose(connect.first) * connect.first_anchor;
  connect.second_anchor = assembly.body_pose(connect.second).to_local(point);
}

void place(const WorldAssembly& assembly, const Attributes& attributes, Weld& weld) {
  weld.second_frame.position = attributes.vector3("anchor", Vec3::Zero());
  // Without a quaternion in relpose the bodies stay as they are at the reference coordinates.
  std::array<double, 7> relative{0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  attributes.fill("relpose", relative, 7);
  const Quat rotation(relative[3], relative[4], relative[5], relative[6]);
  if (rotation.norm() > 1e-10) {
    weld.first_frame = {Vec3(relative[0], relative[1], relative[2]),
                        rotation.normalized().toRotationMatrix()};
  } else {
    weld.first_frame =
        assembly.body_pose(weld.first).inverse() * assembly.body_pose(weld.second) * weld.second_frame;
  }
}

// A connect or a weld, between two sites or two bodies.
template <class Bond>
void read_bond(WorldAssembly& assembly, const ModelPart& part, const Attributes& attributes,
               std::vector<Bond>& bonds) {
  const SourceElement& element = attributes.element();
  const bool sites = element.find("site1") != nullptr;
  const NameKind kind = sites ? NameKind::site : NameKind::body;
  const Name first{kind, sites ? "site1" : "body1"}, second{kind, sites ? "site2" : "body2"};
  for (const std::string& suffix : assembly.copies(part, element, {first, second})) {
    const Index a = assembly.find(part, element, first, suffix);
    // Without a second body the first is held by the world.
    const bool alone = !sites && element.find(second.attribute) == nullptr;
    const Index b = alone ? 0 : assembly.find(part, element, second, suffix);
    Bond bond;
    bond.name = assembly.own_name(part, element, suffix);
    bond.first = sites ? assembly.site(a).body : a;
    bond.second = sites ? assembly.site(b).body : b;
    if (sites) {
      place(assembly.site(a), assembly.site(b), bond);
    } else {
      place(assembly, attributes, bond);
    }
    bonds.push_back(std::move(bond));
  }
}

template <class Coupling>
void read_polynomial(WorldAssembly& assembly, const ModelPart& part, const Attributes& attributes,
                     NameKind kind, std::vector<Coupling>& couplings) {
  const SourceElement& element = attributes.element();
  const bool joints = kind == NameKind::joint;
  const Name first{kind, joints ? "joint1" : "tendon1"}, second{kind, joints ? "joint2" : "tendon2"};
  for (const std::string& suffix : assembly.copies(part, element, {first, second})) {
    Coupling coupling;
    coupling.name = assembly.own_name(part, element, suffix);
    coupling.first = assembly.find(part, element, first, suffix);
    if (element.find(second.attribute) != nullptr) {
      coupling.second = assembly.find(part, element, second, suffix);
    }
    if (joints) {
      assembly.require_scalar(coupling.first, element);
      if (coupling.second >= 0) assembly.require_scalar(coupling.second, element);
    }
    attributes.fill("polycoef", coupling.polynomial, 1);
    couplings.push_back(std::move(coupling));
  }
}

}  // namespace

void read_contacts(WorldAssembly& assembly, const ModelPart& part) {
  for (const SourceElement* element : part.file->entries("contact")) {
    if (element->name == "pair") {
      read_pair(assembly, part, *element);
    } else if (element->name == "exclude") {
      read_exclude(assembly, part, *element);
    } else {
      assembly.log().warn(*element, "this element is not supported and is ignored");
    }
  }
}

void read_equalities(WorldAssembly& assembly, const ModelPart& part) {
  World& world = assembly.world();
  for (const SourceElement* element : part.file->entries("equality")) {
    const Attributes attributes = part.file->attributes(*element, "equality", "");
    attributes.check(assembly.log(),
                     {"name", "class", "active", "body1", "body2", "site1", "site2", "anchor", "relpose",
                      "joint1", "joint2", "tendon1", "tendon2", "polycoef"},
                     {"solref", "solimp", "torquescale"});
    if (!attributes.flag("active", true)) {
      const std::string* name = element->find("name");
      assembly.log().warn(
          *element, fmt::format("{} is not active and is left out; equalities cannot be switched on later",
                                name != nullptr ? fmt::format("'{}'", *name) : "this equality"));
      continue;
    }
    if (element->name == "connect") {
      read_bond(assembly, part, attributes, world.connects);
    } else if (element->name == "weld") {
      read_bond(assembly, part, attributes, world.welds);
    } else if (element->name == "joint") {
      read_polynomial(assembly, part, attributes, NameKind::joint, world.joint_couplings);
    } else if (element->name == "tendon") {
      read_polynomial(assembly, part, attributes, NameKind::tendon, world.tendon_couplings);
    } else {
      assembly.log().warn(*element, "this equality is not supported and is ignored");
    }
  }
}

}  // namespace tribo::detail
