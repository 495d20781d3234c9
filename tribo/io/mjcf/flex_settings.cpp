#include "tribo/io/mjcf/flex_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tribo/base/errors.h"

namespace tribo::detail {

namespace {

void read_elasticity(const SourceElement& element, double mass, FlexibleBody& body) {
  const Attributes elasticity(element);
  body.elasticity = {.law = ElasticLaw::stvk,
                     .young = elasticity.number("young", 0.0),
                     .poisson = elasticity.number("poisson", 0.0),
                     .density = mass / volume(body.mesh),
                     .stiffness_damping = elasticity.number("damping", 0.0)};
  try {
    validate(body.elasticity, "it");
  } catch (const InvalidInput& error) {
    fail(element, error.what());
  }
}

void read_contact(const SourceElement& element, LoadLog& log, FlexibleBody& body) {
  const Attributes contact(element);
  std::array<double, 3> friction{1.0, 0.0, 0.0};
  contact.fill("friction", friction, 1);
  if (!(friction[0] >= 0.0)) fail(element, "attribute 'friction' must not be negative");
  body.material.friction = friction[0];
  body.material.priority = contact.integer("priority", 0);
  body.contact_type = static_cast<std::uint32_t>(contact.integer("contype", 1));
  body.contact_affinity = static_cast<std::uint32_t>(contact.integer("conaffinity", 1));
  body.margin = std::max(0.0, contact.number("gap", 0.0));
  if (contact.has("selfcollide") && contact.text("selfcollide") != "none") {
    log.warn(element, "selfcollide is not supported: a flexible body does not touch itself");
  }
  if (const int condim = contact.integer("condim", 3); condim != 3) {
    log.warn(element, fmt::format("condim {} is not supported on flexible bodies: it is 3", condim));
  }
}

}  // namespace

std::string flex_obstacle(const Attributes& attributes, int usual_dim) {
  const int dim = attributes.integer("dim", usual_dim);
  if (dim != 3)
    return fmt::format("flexible bodies of dim {} are not supported, only solids (dim=\"3\")", dim);
  if (const std::string dof = attributes.text("dof"); !dof.empty() && dof != "full")
    return fmt::format("dof=\"{}\" is not supported, only nodes that move freely (\"full\")", dof);
  const SourceElement* elasticity = flex_child(attributes.element(), "elasticity");
  if (elasticity == nullptr || !(Attributes(*elasticity).number("young", 0.0) > 0.0))
    return "it needs <elasticity young=\"...\"> > 0: equalities and springs of edges are not supported";
  return {};
}

void check_flex_children(const SourceElement& element, std::initializer_list<std::string_view> known,
                         LoadLog& log) {
  for (const SourceElement& child : element.children) {
    if (std::find(known.begin(), known.end(), child.name) == known.end()) {
      log.warn(child, "this element of a flexible body is not supported and is ignored");
    } else if (child.name == "elasticity") {
      log.check_attributes(child, {"young", "poisson", "damping"}, {"thickness", "elastic2d"});
    } else if (child.name == "contact") {
      log.check_attributes(child,
                           {"contype", "conaffinity", "friction", "condim", "priority", "gap", "selfcollide"},
                           {"solref", "solimp", "solmix", "activelayers", "passive"});
    } else {
      log.check_attributes(child, {"id", "range", "grid", "gridrange"});
    }
  }
}

const SourceElement* flex_child(const SourceElement& element, std::string_view name) {
  for (const SourceElement& child : element.children) {
    if (child.name == name) return &child;
  }
  return nullptr;
}

Index flex_number(const SourceElement& element, std::string_view attribute, double value, std::size_t count) {
  if (value >= 0.0 && value < static_cast<double>(count) && value == std::floor(value))
    return static_cast<Index>(value);
  fail(element,
       fmt::format("attribute '{}' has {}: it must be a whole number below {}", attribute, value, count));
}

std::vector<TetMesh::Tet> read_flex_elements(const SourceElement& element, std::size_t points) {
  const std::vector<double> corners = parse_numbers(element, "element", element.text("element"));
  if (corners.empty() || corners.size() % 4 != 0)
    fail(element, "attribute 'element' must have four points per element");
  std::vector<TetMesh::Tet> tets;
  for (std::size_t k = 0; k < corners.size(); k += 4) {
    TetMesh::Tet tet{};
    for (std::size_t a = 0; a < 4; ++a) tet[a] = flex_number(element, "element", corners[k + a], points);
    tets.push_back(tet);
  }
  return tets;
}

void read_flex_settings(const Attributes& attributes, double mass, const AssetTable& assets, LoadLog& log,
                        FlexibleBody& body) {
  const SourceElement& element = attributes.element();
  read_elasticity(*flex_child(element, "elasticity"), mass, body);
  body.material.friction = 1.0;  // MuJoCo's usual one
  if (const SourceElement* contact = flex_child(element, "contact")) read_contact(*contact, log, body);
  std::array<double, 4> rgba{0.5, 0.5, 0.5, 1.0};
  if (attributes.fill("rgba", rgba, 1) == 0) {
    body.color = assets.color(attributes.text("material"));
    return;
  }
  Color color;
  for (std::size_t k = 0; k < 4; ++k) color[k] = static_cast<float>(std::clamp(rgba[k], 0.0, 1.0));
  body.color = color;
}

}  // namespace tribo::detail
