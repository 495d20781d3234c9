// The bodies of an MJCF model with everything on them, after includes, defaults, frames, replicates and attached
// models have been worked out: what remains is to number things and to connect them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tribo/io/mjcf/file.h"
#include "tribo/sim/world.h"

namespace tribo::detail {

struct GeomSpec {
  Geom geom;  // pose in the body's frame; the body's number is set later
  const SourceElement* element = nullptr;
  RigidInertia inertia;   // in the body's frame; zero where it does not matter
  bool in_world = false;  // has a shape and may touch something
  std::optional<FluidEllipsoid> fluid;
  bool is_primitive = false;
  bool has_shape = false;
  std::optional<Visual> visual = {};  // drawn beside the geom or in its place
};

struct JointSpec {
  JointDescription description;
  const SourceElement* element = nullptr;
  bool force_limited = false;  // of all actuators together
  double force_lower = 0.0, force_upper = 0.0;
  bool align = false;
  // Time [s] and ratio of damping from which stiffness and damping are computed; 0: as given.
  std::array<double, 2> spring_damper{};
  bool spring = true, damper = true;  // by the flags of <option>
};

// A flexible body in the frame of a rigid one, and the nodes that are held by that; its attachments name other bodies.
struct FlexSpec {
  FlexibleBody body;
  std::vector<Index> pins;
  const SourceElement* element = nullptr;
};

struct BodySpec {
  BodyDescription description;
  const SourceElement* element = nullptr;
  const CompilerSettings* compiler = nullptr;
  std::optional<RigidInertia> inertial;
  std::vector<JointSpec> joints;
  std::vector<GeomSpec> geoms;
  std::vector<SiteDescription> sites;
  std::vector<std::optional<Shape>> site_volumes;  // of the sites, where they have one
  std::vector<SiteDescription> cameras;            // as frames
  std::vector<FlexSpec> flexes;
};

enum class NameKind : std::uint8_t { body, joint, geom, site, tendon, actuator, camera, count };

// Names of copies made by <replicate>: the name in the file and the endings the copies got. An element elsewhere
// that names the original means all copies.
class ReplicaNames {
 public:
  void add(NameKind kind, const std::string& name, const std::string& suffix) {
    names_[static_cast<std::size_t>(kind)][name].push_back(suffix);
  }
  // nullptr: the name was not replicated.
  const std::vector<std::string>* find(NameKind kind, const std::string& name) const;

 private:
  std::array<std::map<std::string, std::vector<std::string>>, static_cast<std::size_t>(NameKind::count)>
      names_;
};

// A file whose sections after <worldbody> count: an attached model, or the main file (the last one).
struct ModelPart {
  std::shared_ptr<MjcfFile> file;
  std::string prefix;
};

struct MjcfTree {
  std::vector<BodySpec> bodies;  // 0: the world; depth first
  std::vector<ModelPart> parts;
  ReplicaNames replicas;
};

MjcfTree read_tree(std::shared_ptr<MjcfFile> file, LoadLog& log);

}  // namespace tribo::detail
