#include "tribo/io/mjcf/deformable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "tribo/base/errors.h"
#include "tribo/io/mjcf/flex_settings.h"

namespace tribo::detail {

namespace {

constexpr Index kGone = -2;

// A point on three slides along different axes, without springs, limits or anything on it.
bool is_point(const BodySpec& body) {
  if (body.joints.size() != 3 || !body.geoms.empty() || !body.sites.empty() || !body.cameras.empty() ||
      !body.flexes.empty() || !body.inertial || !(body.inertial->mass > 0.0)) {
    return false;
  }
  Mat3 axes;
  for (int k = 0; k < 3; ++k) {
    const JointDescription& joint = body.joints[static_cast<std::size_t>(k)].description;
    if (joint.kind != JointKind::slide || joint.limited || joint.stiffness != 0.0 || joint.damping != 0.0 ||
        joint.armature != 0.0 || joint.dry_friction != 0.0) {
      return false;
    }
    axes.col(k) = joint.axis.normalized();
  }
  return std::abs(axes.determinant()) > 1e-3;
}

class DeformableReader {
 public:
  DeformableReader(MjcfTree& tree, LoadLog& log)
      : tree_(tree), log_(log), gone_(tree.bodies.size(), 0), has_child_(tree.bodies.size(), 0) {
    for (std::size_t b = 1; b < tree.bodies.size(); ++b) {
      const BodyDescription& description = tree.bodies[b].description;
      const Pose own{description.position, description.rotation.toRotationMatrix()};
      has_child_[static_cast<std::size_t>(description.parent)] = 1;
      poses_.push_back(poses_[static_cast<std::size_t>(description.parent)] * own);
      if (!description.name.empty()) numbers_[description.name] = static_cast<Index>(b);
    }
  }

  void read(const ModelPart& part) {
    for (const SourceElement* element : part.file->entries("deformable")) {
      if (element->name == "flex") read_flex(part, *element);
    }
  }

  // Takes out the bodies that were nodes.
  void finish() {
    std::vector<Index> place(tree_.bodies.size(), kGone);
    Index kept = 0;
    for (std::size_t b = 0; b < place.size(); ++b) {
      if (!gone_[b]) place[b] = kept++;
    }
    std::vector<BodySpec> bodies;
    for (std::size_t b = 0; b < place.size(); ++b) {
      if (gone_[b]) continue;
      bodies.push_back(std::move(tree_.bodies[b]));
      BodySpec& body = bodies.back();
      if (b > 0) body.description.parent = place[static_cast<std::size_t>(body.description.parent)];
      for (SiteDescription& camera : body.cameras) camera.body = place[b];
    }
    for (FlexSpec& spec : flexes_) {
      for (NodeAttachment& tie : spec.body.attachments) tie.body = place[static_cast<std::size_t>(tie.body)];
      bodies.front().flexes.push_back(std::move(spec));
    }
    tree_.bodies = std::move(bodies);
  }

 private:
  void read_flex(const ModelPart& part, const SourceElement& element) {
    const Attributes attributes(element);
    attributes.check(log_, {"name", "dim", "dof", "body", "vertex", "element"},
                     {"group", "flatskin", "material", "rgba", "texcoord", "elemtexcoord"});
    if (const std::string obstacle = flex_obstacle(attributes, 2); !obstacle.empty()) {
      log_.leave_out(element, obstacle);
      return;
    }
    check_flex_children(element, {"elasticity", "contact"}, log_);
    const std::vector<Index> holders = read_bodies(part, element);
    FlexSpec spec;
    spec.element = &element;
    spec.body.name = part.prefix + element.text("name");
    read_mesh(element, holders, spec.body.mesh);
    if (std::none_of(holders.begin(), holders.end(), [&](Index b) { return is_node(b); })) {
      log_.leave_out(element, "none of its nodes moves by itself: make it a mesh geom");
      return;
    }
    double mass = 0.0, free = 0.0;
    for (std::size_t n = 0; n < holders.size(); ++n) {
      const auto b = static_cast<std::size_t>(holders[n]);
      if (is_node(holders[n])) {
        mass += tree_.bodies[b].inertial->mass;
        free += 1.0;
        gone_[b] = 1;
      } else {
        const Vec3 anchor = poses_[b].to_local(spec.body.mesh.nodes[n]);
        spec.body.attachments.push_back({static_cast<Index>(n), holders[n], anchor});
      }
    }
    read_flex_settings(attributes, mass * static_cast<double>(holders.size()) / free, part.file->assets(),
                       log_, spec.body);
    flexes_.push_back(std::move(spec));
  }

  bool is_node(Index body) const {
    const auto b = static_cast<std::size_t>(body);
    return body > 0 && !has_child_[b] && is_point(tree_.bodies[b]);
  }

  std::vector<Index> read_bodies(const ModelPart& part, const SourceElement& element) const {
    std::vector<Index> holders;
    std::istringstream names(element.text("body"));
    for (std::string name; names >> name;) {
      const auto at = numbers_.find(part.prefix + name);
      if (name != "world" && at == numbers_.end())
        fail(element, fmt::format("attribute 'body': there is no body '{}'", name));
      holders.push_back(name == "world" ? 0 : at->second);
    }
    if (holders.empty()) fail(element, "attribute 'body' is missing: the body of each node");
    return holders;
  }

  // In the world; without `vertex` at the origins of the bodies.
  void read_mesh(const SourceElement& element, const std::vector<Index>& holders, TetMesh& mesh) const {
    const std::vector<double> local = parse_numbers(element, "vertex", element.text("vertex"));
    if (!local.empty() && local.size() != 3 * holders.size()) {
      fail(element, fmt::format("attribute 'vertex' has {} numbers: {} bodies need {}", local.size(),
                                holders.size(), 3 * holders.size()));
    }
    for (std::size_t n = 0; n < holders.size(); ++n) {
      const Vec3 x =
          local.empty() ? Vec3(Vec3::Zero()) : Vec3(local[3 * n], local[3 * n + 1], local[3 * n + 2]);
      mesh.nodes.push_back(poses_[static_cast<std::size_t>(holders[n])] * x);
    }
    mesh.tets = read_flex_elements(element, mesh.nodes.size());
    try {
      complete(mesh, "its mesh");
    } catch (const InvalidInput& error) {
      fail(element, error.what());
    }
  }

  MjcfTree& tree_;
  LoadLog& log_;
  std::vector<char> gone_, has_child_;
  std::vector<Pose> poses_{Pose()};
  std::map<std::string, Index> numbers_;
  std::vector<FlexSpec> flexes_;
};

}  // namespace

void read_deformables(MjcfTree& tree, LoadLog& log) {
  DeformableReader reader(tree, log);
  for (const ModelPart& part : tree.parts) reader.read(part);
  reader.finish();
}

}  // namespace tribo::detail
