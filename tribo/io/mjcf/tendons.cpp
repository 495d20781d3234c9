// <tendon> of MJCF: fixed ones are sums of joint coordinates, spatial ones strings through sites and around geoms.
#include "tribo/io/mjcf/tendons.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tribo/io/mjcf/joints.h"

namespace tribo::detail {
namespace {

using Name = WorldAssembly::NameAttribute;

constexpr Name kJoint{NameKind::joint, "joint"}, kSite{NameKind::site, "site"}, kGeom{NameKind::geom, "geom"},
    kSideSite{NameKind::site, "sidesite"};

// What both kinds have in common.
TendonDescription read_common(const Attributes& attributes, const ModelPart& part, LoadLog& log) {
  TendonDescription tendon;
  const Range range = read_range(attributes, "range", "limited", part.file->compiler());
  tendon.limited = range.limited;
  tendon.lower = range.lower, tendon.upper = range.upper;
  tendon.limit_margin = std::max(0.0, attributes.number("margin", 0.0));
  tendon.stiffness = linear_coefficient(attributes, "stiffness", log);
  tendon.damping = linear_coefficient(attributes, "damping", log);
  tendon.dry_friction = attributes.number("frictionloss", 0.0);
  // Not given: at rest where the springs of the joints are; take() finds out where that is.
  std::array<double, 2> rest{-1.0, -1.0};
  if (attributes.fill("springlength", rest, 1) == 1) rest[1] = rest[0];
  if (rest[0] == -1.0 && rest[1] == -1.0) rest.fill(std::numeric_limits<double>::quiet_NaN());
  tendon.spring_lower = rest[0], tendon.spring_upper = rest[1];
  return tendon;
}

// Endings of the copies that the children of a tendon ask for.
std::vector<std::string> find_copies(WorldAssembly& assembly, const ModelPart& part,
                                     const SourceElement& element) {
  std::vector<std::string> copies{""};
  const auto look = [&](const SourceElement& child, const Name& reference) {
    if (child.find(reference.attribute) == nullptr) return;
    std::vector<std::string> found = assembly.copies(part, child, {reference});
    if (found.empty() || !found.front().empty()) copies = std::move(found);
  };
  for (const SourceElement& child : element.children) {
    look(child, kJoint);
    look(child, kSite);
    look(child, kSideSite);
    // Geoms that cannot touch are not in the world, but strings can go round them.
    if (const std::string* geom = child.find("geom")) {
      const std::vector<std::string>* suffixes = assembly.geom_copies(part.prefix + *geom);
      if (suffixes != nullptr) copies = *suffixes;
    }
  }
  return copies;
}

void read_terms(const WorldAssembly& assembly, const ModelPart& part, const SourceElement& element,
                const std::string& suffix, TendonDescription& tendon) {
  for (const SourceElement& child : element.children) {
    if (child.name != "joint") fail(child, "a fixed tendon consists of <joint> elements");
    const Index joint = assembly.find(part, child, kJoint, suffix);
    assembly.require_scalar(joint, child);
    tendon.terms.push_back({joint, Attributes(child).number("coef", 0.0)});
  }
}

TendonPoint shape_point(const WorldAssembly& assembly, const ModelPart& part, const SourceElement& child,
                        const std::string& suffix) {
  const Geom* geom = assembly.find_wrap_geom(part, child, suffix);
  const bool sphere = geom->shape.kind() == ShapeKind::sphere;
  if (!sphere && geom->shape.kind() != ShapeKind::cylinder) {
    fail(child, fmt::format("geom '{}' is a {}: strings go round spheres and cylinders", child.text("geom"),
                            to_string(geom->shape.kind())));
  }
  TendonPoint point;
  point.kind = sphere ? TendonPoint::Kind::sphere : TendonPoint::Kind::cylinder;
  point.body = geom->body;
  point.pose = geom->pose;
  point.radius = geom->shape.radius();
  if (child.find("sidesite") != nullptr) {
    const SiteDescription& side = assembly.site(assembly.find(part, child, kSideSite, suffix));
    point.has_side = true;
    point.side_body = side.body;
    point.side = side.pose.position;
  }
  return point;
}

void read_path(WorldAssembly& assembly, const ModelPart& part, const SourceElement& element,
               const std::string& suffix, TendonDescription& tendon) {
  for (const SourceElement& child : element.children) {
    TendonPoint point;
    if (child.name == "site") {
      assembly.log().check_attributes(child, {"site"});
      const SiteDescription& site = assembly.site(assembly.find(part, child, kSite, suffix));
      point.body = site.body;
      point.pose = site.pose;
    } else if (child.name == "geom") {
      assembly.log().check_attributes(child, {"geom", "sidesite"});
      point = shape_point(assembly, part, child, suffix);
    } else if (child.name == "pulley") {
      assembly.log().check_attributes(child, {"divisor"});
      point.kind = TendonPoint::Kind::pulley;
      point.divisor = Attributes(child).number("divisor", 0.0);
      if (!(point.divisor > 0.0)) fail(child, "attribute 'divisor' must be positive");
    } else {
      fail(child, "a spatial tendon consists of <site>, <geom> and <pulley> elements");
    }
    tendon.path.push_back(point);
  }
}

std::vector<TendonDescription> read_tendon(WorldAssembly& assembly, const ModelPart& part,
                                           const SourceElement& element) {
  const Attributes attributes = part.file->attributes(element, "tendon", "");
  attributes.check(
      assembly.log(),
      {"name", "class", "limited", "range", "margin", "stiffness", "damping", "springlength", "frictionloss"},
      {"group", "solreflimit", "solimplimit", "solreffriction", "solimpfriction", "width", "material", "rgba",
       "user"});
  if (element.children.empty()) fail(element, "a tendon needs at least one element inside");
  std::vector<TendonDescription> result;
  for (const std::string& suffix : find_copies(assembly, part, element)) {
    TendonDescription tendon = read_common(attributes, part, assembly.log());
    tendon.name = assembly.own_name(part, element, suffix);
    if (element.name == "fixed") {
      read_terms(assembly, part, element, suffix, tendon);
    } else {
      read_path(assembly, part, element, suffix, tendon);
    }
    assembly.note_copy(NameKind::tendon, part.prefix + element.text("name"), suffix);
    result.push_back(std::move(tendon));
  }
  return result;
}

}  // namespace

void read_tendons(WorldAssembly& assembly, const ModelPart& part) {
  std::vector<std::vector<TendonDescription>> columns;
  for (const SourceElement* element : part.file->entries("tendon")) {
    if (element->name == "fixed" || element->name == "spatial") {
      columns.push_back(read_tendon(assembly, part, *element));
    } else {
      assembly.log().leave_out(
          *element, fmt::format("this kind of tendon is not supported (tendon '{}')", element->text("name")));
      assembly.leave_out(NameKind::tendon, part.prefix + element->text("name"));
    }
  }
  copy_by_copy(columns, [&](TendonDescription& tendon) { assembly.add_tendon(std::move(tendon)); });
}

}  // namespace tribo::detail
