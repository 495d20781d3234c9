// The tree of bodies of MJCF: frames, replicates and attached models dissolve into bodies here.
#include "tribo/io/mjcf/tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "tribo/io/mjcf/flexcomp.h"
#include "tribo/io/mjcf/geoms.h"
#include "tribo/io/mjcf/joints.h"

namespace tribo::detail {
namespace {

constexpr int kDeepestAttachment = 16;
constexpr std::size_t kMostElements = 2'000'000;

struct Scope {
  std::shared_ptr<MjcfFile> file;
  Pose frame;  // of the frames around, in the body
  std::string childclass, prefix, suffix;
  int attachments = 0;
  bool with_inertia = true;
};

// What a site looks like, which is where a touch sensor feels; none: a shape without a volume.
std::optional<Shape> site_volume(const Attributes& attributes, const std::optional<Segment>& segment) {
  Vec3 size = Vec3::Constant(0.005);
  attributes.fill("size", std::span<double>(size.data(), 3), 1);
  const int type = attributes.word(
      "type", {"sphere", "capsule", "ellipsoid", "cylinder", "box", "plane", "hfield", "mesh", "sdf"}, 0);
  if (segment) (type == 1 || type == 3 ? size.y() : size.z()) = segment->half_length;
  if (segment && type != 1 && type != 3) size.y() = size.x();
  if (type > 4 || !(size.minCoeff() > 0.0) || !size.allFinite()) return std::nullopt;
  if (type == 0) return Shape::sphere(size.x());
  if (type == 1) return Shape::capsule(size.x(), size.y());
  if (type == 2) return Shape::ellipsoid(size);
  return type == 3 ? Shape::cylinder(size.x(), size.y()) : Shape::box(size);
}

class TreeReader {
 public:
  TreeReader(MjcfTree& tree, LoadLog& log) : tree_(tree), log_(log) {}

  void read(const std::shared_ptr<MjcfFile>& file) {
    BodySpec& world = tree_.bodies.emplace_back();
    world.description.name = "world";
    world.compiler = &file->compiler();
    world.element = &file->root();
    note_pairs(*file, "");
    Scope scope;
    scope.file = file;
    scope.with_inertia = false;
    for (const SourceElement& section : file->root().children) {
      if (section.name != "worldbody") continue;
      if (const std::string* name = section.find("childclass")) scope.childclass = *name;
      read_children(section, scope, 0);
    }
    tree_.parts.push_back({file, ""});
    check_mocap();
  }

 private:
  BodySpec& body(Index index) { return tree_.bodies[static_cast<std::size_t>(index)]; }

  void count(const SourceElement& element) {
    if (++elements_ > kMostElements) fail(element, "the model has more than two million elements");
  }

  std::string named(NameKind kind, const SourceElement& element, const Scope& scope) {
    const std::string name = element.text("name");
    if (name.empty()) return name;
    if (!scope.suffix.empty()) tree_.replicas.add(kind, scope.prefix + name, scope.suffix);
    return scope.prefix + name + scope.suffix;
  }

  void note_pairs(const MjcfFile& file, const std::string& prefix) {
    for (const SourceElement* pair : file.entries("contact")) {
      if (pair->name != "pair") continue;
      for (const std::string_view side : {"geom1", "geom2"}) paired_.insert(prefix + pair->text(side));
    }
  }

  // A mechanism on a base that the user moves would need the velocity of the base in its dynamics.
  void check_mocap() {
    Index mocap = 0;
    for (std::size_t b = 1; b < tree_.bodies.size(); ++b) {
      const BodyDescription& description = tree_.bodies[b].description;
      if (description.parent == 0) mocap = description.mocap ? static_cast<Index>(b) : 0;
      if (mocap == 0 || mocap == static_cast<Index>(b) || tree_.bodies[b].joints.empty()) continue;
      if (!body(mocap).description.mocap) continue;
      log_.warn(*body(mocap).element, "a mocap body that carries joints stays where it is described");
      body(mocap).description.mocap = false;
    }
  }

  void read_children(const SourceElement& parent, const Scope& scope, Index index) {
    for (const SourceElement& child : parent.children) read_child(child, scope, index);
  }

  void read_child(const SourceElement& child, const Scope& scope, Index index) {
    count(child);
    if (child.name == "body") {
      read_body(child, scope, index);
    } else if (child.name == "geom") {
      read_one_geom(child, scope, index);
    } else if (child.name == "joint" || child.name == "freejoint") {
      read_one_joint(child, scope, index);
    } else if (child.name == "site") {
      read_site(child, scope, index);
    } else if (child.name == "frame") {
      read_frame(child, scope, index);
    } else if (child.name == "replicate") {
      read_replicate(child, scope, index);
    } else if (child.name == "attach") {
      read_attach(child, scope, index);
    } else if (child.name == "flexcomp") {
      read_flex(child, scope, index);
    } else if (child.name == "composite") {
      log_.leave_out(child, "composite bodies are not supported");
    } else if (child.name == "camera") {
      const Attributes attributes = scope.file->attributes(child, "camera", scope.childclass);
      body(index).cameras.push_back({named(NameKind::camera, child, scope), index,
                                     scope.frame * read_pose(attributes, scope.file->compiler())});
    } else if (child.name != "inertial" && child.name != "light") {
      log_.warn(child, "this element is not supported and is ignored");
    }
  }

  void read_body(const SourceElement& element, const Scope& outer, Index parent) {
    log_.check_attributes(
        element,
        {"name", "childclass", "pos", "quat", "axisangle", "xyaxes", "zaxis", "euler", "mocap", "gravcomp"},
        {"user", "sleep"});
    const Attributes attributes(element);
    const Pose pose = outer.frame * read_pose(attributes, outer.file->compiler());
    const Index index = static_cast<Index>(tree_.bodies.size());
    BodySpec& spec = tree_.bodies.emplace_back();
    spec.description = {.name = named(NameKind::body, element, outer),
                        .parent = parent,
                        .position = pose.position,
                        .rotation = Quat(pose.rotation).normalized(),
                        .gravity_compensation = attributes.number("gravcomp", 0.0),
                        .mocap = attributes.flag("mocap", false)};
    spec.element = &element;
    spec.compiler = &outer.file->compiler();
    for (const SourceElement& child : element.children) {
      if (child.name != "inertial") continue;
      spec.inertial = read_inertial(child, *outer.file);
      const Attributes own(child);
      if (own.has("diaginertia"))
        spec.description.inertia_axes = read_orientation(own, outer.file->compiler()).normalized();
    }
    using From = CompilerSettings::InertiaFromGeom;
    const From from = spec.compiler->inertia_from_geom;
    if (from == From::always) {
      spec.inertial.reset();
      spec.description.inertia_axes.reset();
    }
    Scope scope = outer;
    scope.frame = Pose{};
    scope.with_inertia = !spec.inertial && from != From::never;
    if (const std::string* name = element.find("childclass")) scope.childclass = *name;
    read_children(element, scope, index);
  }

  RigidInertia read_inertial(const SourceElement& element, const MjcfFile& file) {
    log_.check_attributes(element, {"pos", "mass", "diaginertia", "fullinertia", "quat", "axisangle",
                                    "xyaxes", "zaxis", "euler"});
    const Attributes attributes(element);
    if (!attributes.has("mass")) fail(element, "attribute 'mass' is missing");
    RigidInertia inertia;
    inertia.mass = attributes.number("mass", 0.0);
    inertia.center = attributes.vector3("pos", Vec3::Zero());
    std::array<double, 6> n{};
    if (attributes.fill("fullinertia", n, 6) > 0) {
      inertia.rotational << n[0], n[3], n[4], n[3], n[1], n[5], n[4], n[5], n[2];
    } else {
      const Vec3 diagonal = attributes.vector3("diaginertia", Vec3::Zero());
      const Mat3 rotation = read_orientation(attributes, file.compiler()).toRotationMatrix();
      inertia.rotational = rotation * diagonal.asDiagonal() * rotation.transpose();
    }
    if (!(inertia.mass >= 0.0)) fail(element, "attribute 'mass' must not be negative");
    return inertia;
  }

  void read_one_geom(const SourceElement& element, const Scope& scope, Index index) {
    const std::string name = element.text("name");
    GeomSpec spec = read_geom({.file = *scope.file,
                               .element = element,
                               .childclass = scope.childclass,
                               .frame = scope.frame,
                               .with_inertia = scope.with_inertia,
                               .paired = !name.empty() && paired_.contains(scope.prefix + name)},
                              log_);
    spec.geom.name = named(NameKind::geom, element, scope);
    body(index).geoms.push_back(std::move(spec));
  }

  void read_one_joint(const SourceElement& element, const Scope& scope, Index index) {
    if (index == 0) fail(element, "the world cannot have a joint");
    JointSpec spec = element.name == "freejoint"
                         ? read_free_joint(*scope.file, element, log_)
                         : read_joint(*scope.file, element, scope.childclass, scope.frame, log_);
    spec.description.name = named(NameKind::joint, element, scope);
    BodySpec& owner = body(index);
    const bool free = traits_of(spec.description.kind).floating;
    const bool has_free = !owner.joints.empty() && traits_of(owner.joints.front().description.kind).floating;
    if (has_free || (free && !owner.joints.empty()))
      fail(element, "a free joint must be the only joint of its body");
    if (free && owner.description.parent != 0)
      fail(element, "only a child of the world can have a free joint");
    owner.joints.push_back(std::move(spec));
  }

  void read_flex(const SourceElement& element, const Scope& scope, Index index) {
    std::string name = element.text("name");
    if (!name.empty()) name = scope.prefix + name + scope.suffix;
    const auto spec = read_flexcomp({*scope.file, element, std::move(name), scope.frame}, log_);
    if (spec) body(index).flexes.push_back(*spec);
  }

  void read_site(const SourceElement& element, const Scope& scope, Index index) {
    const Attributes attributes = scope.file->attributes(element, "site", scope.childclass);
    attributes.check(
        log_,
        {"name", "class", "pos", "quat", "axisangle", "xyaxes", "zaxis", "euler", "fromto", "size", "type"},
        {"group", "rgba", "material", "user", "mesh", "hfield"});
    const std::optional<Segment> segment = read_segment(attributes);
    const Pose pose = scope.frame * (segment ? segment->pose : read_pose(attributes, scope.file->compiler()));
    body(index).sites.push_back({named(NameKind::site, element, scope), index, pose});
    body(index).site_volumes.push_back(site_volume(attributes, segment));
  }

  void read_frame(const SourceElement& element, const Scope& outer, Index index) {
    log_.check_attributes(element,
                          {"name", "childclass", "pos", "quat", "axisangle", "xyaxes", "zaxis", "euler"});
    Scope scope = outer;
    scope.frame = outer.frame * read_pose(Attributes(element), outer.file->compiler());
    if (const std::string* name = element.find("childclass")) scope.childclass = *name;
    read_children(element, scope, index);
  }

  void read_replicate(const SourceElement& element, const Scope& outer, Index index) {
    log_.check_attributes(element, {"count", "offset", "euler", "sep", "childclass"});
    const Attributes attributes(element);
    const int copies = attributes.integer("count", -1);
    if (copies < 1 || copies > 1'000'000) fail(element, "attribute 'count' must be between 1 and a million");
    const CompilerSettings& compiler = outer.file->compiler();
    const Pose step{attributes.vector3("offset", Vec3::Zero()),
                    read_orientation(attributes, compiler).toRotationMatrix()};
    Scope scope = outer;
    if (const std::string* name = element.find("childclass")) scope.childclass = *name;
    const std::size_t digits = std::to_string(copies).size();
    Pose placed;
    for (int copy = 0; copy < copies; ++copy) {
      count(element);
      scope.frame = outer.frame * placed;
      scope.suffix = fmt::format("{}{:0{}}", element.text("sep"), copy, digits) + outer.suffix;
      read_children(element, scope, index);
      placed = placed * step;
    }
  }

  void read_attach(const SourceElement& element, const Scope& outer, Index index) {
    log_.check_attributes(element, {"model", "body", "prefix"});
    const auto& path = outer.file->assets().model_file(element.text("model"), element);
    if (outer.attachments >= kDeepestAttachment)
      fail(element, "models are attached to each other without end");
    std::shared_ptr<MjcfFile>& file = files_[path];
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error))
      fail(element, fmt::format("there is no file {}", path.string()));
    if (file == nullptr) file = std::make_shared<MjcfFile>(path, log_);
    Scope scope = outer;
    scope.file = file;
    scope.childclass.clear();
    scope.prefix = outer.prefix + element.text("prefix");
    ++scope.attachments;
    if (attached_.insert({file.get(), scope.prefix}).second) {
      note_pairs(*file, scope.prefix);
      tree_.parts.push_back({file, scope.prefix});
    }
    const std::string* wanted = element.find("body");
    const std::shared_ptr<MjcfFile> keep = file;
    for (const SourceElement& section : keep->root().children) {
      if (section.name != "worldbody") continue;
      if (wanted == nullptr) {
        read_children(section, scope, index);
      } else if (attach_body(section, *wanted, scope, index)) {
        return;
      }
    }
    if (wanted != nullptr) fail(element, fmt::format("the model has no body '{}'", *wanted));
  }

  bool attach_body(const SourceElement& parent, const std::string& wanted, const Scope& outer, Index index) {
    for (const SourceElement& child : parent.children) {
      if (child.name == "body" && child.text("name") == wanted) {
        read_body(child, outer, index);
        return true;
      }
      if (child.name != "body" && child.name != "frame") continue;
      Scope scope = outer;
      if (const std::string* name = child.find("childclass")) scope.childclass = *name;
      if (child.name == "frame") {
        scope.frame = outer.frame * read_pose(Attributes(child), outer.file->compiler());
      }
      if (attach_body(child, wanted, scope, index)) return true;
    }
    return false;
  }

  MjcfTree& tree_;
  LoadLog& log_;
  std::size_t elements_ = 0;
  std::set<std::string> paired_;
  std::map<std::filesystem::path, std::shared_ptr<MjcfFile>> files_;
  std::set<std::pair<const MjcfFile*, std::string>> attached_;
};

}  // namespace

const std::vector<std::string>* ReplicaNames::find(NameKind kind, const std::string& name) const {
  const auto& names = names_[static_cast<std::size_t>(kind)];
  const auto at = names.find(name);
  return at != names.end() ? &at->second : nullptr;
}

MjcfTree read_tree(std::shared_ptr<MjcfFile> file, LoadLog& log) {
  MjcfTree tree;
  TreeReader(tree, log).read(file);
  return tree;
}

}  // namespace tribo::detail
