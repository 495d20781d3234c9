// URDF robots: links become bodies, joints the joints of their child links, collision elements geoms.
//
// Every joint that moves, except those that mimic another one, gets a motor of the same name whose force is
// limited to the joint's effort. Velocity limits are a matter of the controller and do not bound the motion: one
// warning says so.
#include "tribo/io/urdf/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tribo/base/errors.h"
#include "tribo/collide/shapes/convex_hull.h"
#include "tribo/collide/shapes/triangle_mesh.h"
#include "tribo/io/assets/mesh_file.h"
#include "tribo/io/urdf/robot.h"

namespace tribo {
namespace {

using namespace detail;

Vec3 vector_of(const urdf::Vector3& v) { return {v.x, v.y, v.z}; }

Quat rotation_of(const urdf::Pose& pose) {
  double x, y, z, w;
  pose.rotation.getQuaternion(x, y, z, w);
  const Quat q(w, x, y, z);
  return q.norm() > 0.0 ? q.normalized() : Quat::Identity();
}

Pose pose_of(const urdf::Pose& pose) {
  return {vector_of(pose.position), rotation_of(pose).toRotationMatrix()};
}

class UrdfReader {
 public:
  UrdfReader(const std::filesystem::path& file, const LoadOptions& options, LoadLog& log)
      : file_(file), options_(options), log_(log), robot_(parse_urdf(file, log)) {
    // Children in the order of the file; urdfdom keeps them by name.
    int order = 0;
    for (const SourceElement& child : robot_.root.children) {
      if (child.name == "joint") joint_order_.try_emplace(child.text("name"), order++);
    }
  }

  World read() {
    add_link(*robot_.model->getRoot(), 0);
    add_motors();
    warn_of_velocity_limits();
    world_.model = builder_.build();
    world_.name = robot_.model->getName();
    add_mimics();
    validate(world_);
    return std::move(world_);
  }

 private:
  void add_link(const urdf::Link& link, Index parent) {
    if (!seen_.insert(link.name).second) {
      fail(robot_.element("link", link.name), "the link hangs on two joints; only trees are supported");
    }
    BodyDescription body;
    body.name = link.name;
    body.parent = parent;
    if (link.parent_joint != nullptr) {
      const urdf::Pose& origin = link.parent_joint->parent_to_joint_origin_transform;
      body.position = vector_of(origin.position);
      body.rotation = rotation_of(origin);
    }
    if (link.inertial != nullptr) body.inertia = inertia_of(*link.inertial);
    const Index index = builder_.add_body(std::move(body));
    if (link.parent_joint != nullptr) {
      add_joint(*link.parent_joint, index, parent);
    } else if (!options_.fixed_base) {
      builder_.add_joint({.name = link.name + "_floating", .body = index, .kind = JointKind::free});
      ++joint_count_;
    }
    add_geoms(link, index);
    std::vector<urdf::JointSharedPtr> joints = link.child_joints;
    std::stable_sort(joints.begin(), joints.end(), [this](const auto& a, const auto& b) {
      return joint_order_[a->name] < joint_order_[b->name];
    });
    for (const urdf::JointSharedPtr& joint : joints) {
      const urdf::LinkConstSharedPtr child = robot_.model->getLink(joint->child_link_name);
      if (child == nullptr) fail(robot_.element("joint", joint->name), "the child link does not exist");
      add_link(*child, index);
    }
  }

  static RigidInertia inertia_of(const urdf::Inertial& given) {
    RigidInertia inertia;
    inertia.mass = given.mass;
    inertia.rotational << given.ixx, given.ixy, given.ixz, given.ixy, given.iyy, given.iyz, given.ixz,
        given.iyz, given.izz;
    return inertia.placed(pose_of(given.origin));
  }

  void add_joint(const urdf::Joint& joint, Index body, Index parent) {
    JointDescription base;
    base.name = joint.name;
    base.body = body;
    base.axis = vector_of(joint.axis);
    if (joint.dynamics != nullptr) {
      base.damping = joint.dynamics->damping;
      base.dry_friction = joint.dynamics->friction;
    }
    const SourceElement& element = robot_.element("joint", joint.name);
    if (joint.type != urdf::Joint::FIXED && joint.type != urdf::Joint::FLOATING &&
        !(base.axis.norm() > 1e-10)) {
      fail(element, "the axis must not be zero");
    }
    switch (joint.type) {
      case urdf::Joint::REVOLUTE:
      case urdf::Joint::PRISMATIC:
        base.kind = joint.type == urdf::Joint::REVOLUTE ? JointKind::hinge : JointKind::slide;
        add_limits(joint, element, base);
        add_scalar(joint, base);
        break;
      case urdf::Joint::CONTINUOUS:
        add_scalar(joint, base);
        break;
      case urdf::Joint::FLOATING:
        add_floating(base, parent == 0);
        break;
      case urdf::Joint::PLANAR:
        add_planar(base);
        break;
      case urdf::Joint::FIXED:
        break;
      default:
        fail(element, "the type of the joint is not known");
    }
  }

  Index add(JointDescription joint) {
    builder_.add_joint(std::move(joint));
    return joint_count_++;
  }

  void add_limits(const urdf::Joint& joint, const SourceElement& element, JointDescription& base) {
    if (joint.limits == nullptr) return;
    base.lower = joint.limits->lower, base.upper = joint.limits->upper;
    base.limited = base.lower < base.upper;
    if (!base.limited)
      log_.warn(element, "the lower limit is not below the upper one; the joint is not limited");
  }

  void add_scalar(const urdf::Joint& joint, const JointDescription& base) {
    const Index index = add(base);
    scalar_joints_[joint.name] = index;
    if (joint.mimic != nullptr) {
      mimics_.push_back(
          {index, joint.name, joint.mimic->joint_name, joint.mimic->multiplier, joint.mimic->offset});
      return;
    }
    ActuatorDescription motor;
    motor.name = joint.name;
    motor.joint = index;
    // Exporters write effort 0 where they do not know it.
    if (joint.limits != nullptr && joint.limits->effort > 0.0) {
      motor.force_lower = -joint.limits->effort;
      motor.force_upper = joint.limits->effort;
    }
    motors_.push_back(std::move(motor));
  }

  void add_floating(JointDescription base, bool on_world) {
    if (on_world) {
      base.kind = JointKind::free;
      add(std::move(base));
      return;
    }
    const std::string name = base.name;
    base.kind = JointKind::slide;
    for (int k = 0; k < 3; ++k) {
      base.name = name + "_" + "xyz"[k];
      base.axis = Vec3::Unit(k);
      add(base);
    }
    base.name = name + "_rotation";
    base.kind = JointKind::ball;
    add(std::move(base));
  }

  // Two slides in the plane whose normal is the axis, then a turn about it.
  void add_planar(JointDescription base) {
    const std::string name = base.name;
    const Vec3 normal = base.axis.normalized();
    const Vec3 first =
        (std::abs(normal.x()) < 0.9 ? Vec3::UnitX() : Vec3::UnitY()).cross(normal).cross(normal);
    base.kind = JointKind::slide;
    base.name = name + "_x";
    base.axis = -first.normalized();
    add(base);
    base.name = name + "_y";
    base.axis = normal.cross(base.axis);
    add(base);
    base.name = name + "_turn";
    base.kind = JointKind::hinge;
    base.axis = normal;
    add(std::move(base));
  }

  void add_motors() {
    for (ActuatorDescription& motor : motors_) builder_.add_actuator(std::move(motor));
  }

  void warn_of_velocity_limits() {
    const SourceElement* first = nullptr;
    int count = 0;
    for (const SourceElement& element : robot_.root.children) {
      if (element.name != "joint") continue;
      const urdf::JointConstSharedPtr joint = robot_.model->getJoint(element.text("name"));
      if (joint == nullptr || joint->type == urdf::Joint::FIXED || joint->limits == nullptr) continue;
      // Exporters write 0 where they do not know it.
      if (!(joint->limits->velocity > 0.0) || std::isinf(joint->limits->velocity)) continue;
      if (count++ == 0) first = &element;
    }
    if (first == nullptr) return;
    log_.warn(*first, count == 1 ? "the velocity limit of this joint is ignored"
                                 : fmt::format("the velocity limits of this joint and {} more are ignored",
                                               count - 1));
  }

  void add_mimics() {
    for (const Mimic& mimic : mimics_) {
      const auto leader = scalar_joints_.find(mimic.leader);
      if (leader == scalar_joints_.end() || leader->second == mimic.joint) {
        fail(robot_.element("joint", mimic.name),
             fmt::format("there is no joint '{}' to mimic", mimic.leader));
      }
      JointCoupling coupling{
          mimic.name, mimic.joint, leader->second, {mimic.offset, mimic.multiplier, 0, 0, 0}};
      world_.joint_couplings.push_back(std::move(coupling));
    }
  }

  static std::optional<Color> color_of(const urdf::Visual& visual) {
    if (visual.material == nullptr) return std::nullopt;
    const urdf::Color& c = visual.material->color;
    return Color{c.r, c.g, c.b, c.a};
  }

  // What is drawn and does not touch. What of it cannot be read is missed by nobody else.
  void add_visuals(const urdf::Link& link, Index body) {
    for (std::size_t k = 0; k < link.visual_array.size(); ++k) {
      const urdf::Visual& v = *link.visual_array[k];
      const SourceElement& element = robot_.geometry_element(link.name, "visual", k);
      if (v.geometry == nullptr) continue;
      try {
        Geom drawn;
        drawn.pose = pose_of(v.origin);
        if (v.geometry->type == urdf::Geometry::MESH) {
          drawn.shape = surface_of(static_cast<const urdf::Mesh&>(*v.geometry), element);
        } else {
          place_shape(*v.geometry, element, drawn);
        }
        world_.visuals.push_back({.name = v.name.empty() ? link.name : v.name,
                                  .shape = drawn.shape,
                                  .body = body,
                                  .pose = drawn.pose,
                                  .color = color_of(v)});
      } catch (const InvalidInput& error) {
        log_.warn(element, fmt::format("it is not drawn: {}", error.what()));
      }
    }
  }

  Shape surface_of(const urdf::Mesh& mesh, const SourceElement& element) {
    MeshData data = read_mesh_file(resolve_uri(mesh.filename, file_, options_, element));
    for (Vec3& p : data.vertices) p = p.cwiseProduct(vector_of(mesh.scale));
    if (data.triangles.empty()) throw InvalidInput("the mesh has no triangles");
    return Shape::mesh(TriangleMesh::make(std::move(data.vertices), std::move(data.triangles)));
  }

  void add_geoms(const urdf::Link& link, Index body) {
    const bool drawn_apart = options_.visuals && !link.visual_array.empty() &&
                             !(link.collision_array.empty() && options_.visual_geometry);
    if (drawn_apart) add_visuals(link, body);
    const std::size_t first = world_.geoms.size();
    add_collision_geoms(link, body);
    for (std::size_t g = first; g < world_.geoms.size(); ++g) {
      world_.geoms[g].visual = !drawn_apart;
      if (!link.visual_array.empty()) world_.geoms[g].color = color_of(*link.visual_array.front());
    }
  }

  void add_collision_geoms(const urdf::Link& link, Index body) {
    for (std::size_t k = 0; k < link.collision_array.size(); ++k) {
      const urdf::Collision& c = *link.collision_array[k];
      add_geom(link, "collision", k, c.geometry.get(), c.origin, c.name, body);
    }
    if (!link.collision_array.empty() || !options_.visual_geometry) return;
    for (std::size_t k = 0; k < link.visual_array.size(); ++k) {
      const urdf::Visual& v = *link.visual_array[k];
      add_geom(link, "visual", k, v.geometry.get(), v.origin, v.name, body);
    }
  }

  void add_geom(const urdf::Link& link, const std::string& kind, std::size_t k,
                const urdf::Geometry* geometry, const urdf::Pose& origin, const std::string& name,
                Index body) {
    const SourceElement& element = robot_.geometry_element(link.name, kind, k);
    if (geometry == nullptr) fail(element, "the geometry is missing");
    Geom geom;
    geom.name = !name.empty() ? name : fmt::format("{}_{}", link.name, k);
    if (!geom_names_.insert(geom.name).second) geom.name = fmt::format("{}_{}_{}", link.name, geom.name, k);
    geom_names_.insert(geom.name);
    geom.body = body;
    geom.pose = pose_of(origin);
    try {
      place_shape(*geometry, element, geom);
    } catch (const InvalidInput& error) {
      if (std::string_view(error.what()).starts_with(*element.file)) throw;
      fail(element, error.what());
    }
    world_.add_geom(std::move(geom));
  }

  static bool is_capsule(const SourceElement& element) {
    for (const SourceElement& child : element.children) {
      if (child.name != "geometry") continue;
      return !child.children.empty() && child.children.front().name == "capsule";
    }
    return false;
  }

  void place_shape(const urdf::Geometry& geometry, const SourceElement& element, Geom& geom) {
    switch (geometry.type) {
      case urdf::Geometry::SPHERE:
        geom.shape = Shape::sphere(static_cast<const urdf::Sphere&>(geometry).radius);
        break;
      case urdf::Geometry::BOX:
        geom.shape = Shape::box(0.5 * vector_of(static_cast<const urdf::Box&>(geometry).dim));
        break;
      case urdf::Geometry::CYLINDER: {
        const auto& cylinder = static_cast<const urdf::Cylinder&>(geometry);
        geom.shape = is_capsule(element) ? Shape::capsule(cylinder.radius, 0.5 * cylinder.length)
                                         : Shape::cylinder(cylinder.radius, 0.5 * cylinder.length);
        break;
      }
      default:
        place_mesh(static_cast<const urdf::Mesh&>(geometry), element, geom);
    }
  }

  // The convex hull, in a frame at its centre.
  void place_mesh(const urdf::Mesh& mesh, const SourceElement& element, Geom& geom) {
    std::vector<Vec3> points = read_mesh_file(resolve_uri(mesh.filename, file_, options_, element)).vertices;
    for (Vec3& p : points) p = p.cwiseProduct(vector_of(mesh.scale));
    const Vec3 center = ConvexHull::around(points)->moments().center;
    for (Vec3& p : points) p -= center;
    geom.shape = Shape::hull(ConvexHull::around(points));
    geom.pose = geom.pose * Pose{center, Mat3::Identity()};
  }

  struct Mimic {
    Index joint;
    std::string name, leader;
    double multiplier, offset;
  };

  const std::filesystem::path& file_;
  const LoadOptions& options_;
  LoadLog& log_;
  UrdfRobot robot_;
  World world_;
  ModelBuilder builder_;
  Index joint_count_ = 0;
  std::map<std::string, int> joint_order_;
  std::map<std::string, Index> scalar_joints_;
  std::vector<Mimic> mimics_;
  std::vector<ActuatorDescription> motors_;
  std::set<std::string> seen_, geom_names_;
};

}  // namespace

World load_urdf(const std::filesystem::path& file, const LoadOptions& options, LoadReport& report) {
  LoadLog log(report, options);
  try {
    return UrdfReader(file, options, log).read();
  } catch (const InvalidInput& error) {
    const std::string message = error.what();
    if (message.starts_with(file.string())) throw;
    throw InvalidInput(fmt::format("{}: {}", file.string(), message));
  }
}

}  // namespace tribo
