#include "tribo/sim/flex/flexible_contacts.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tribo {

namespace {

// A surface touches with as many points as it has nodes: none is left out.
constexpr Index kMostPoints = 1 << 20;
// A point of a triangle is looked for within this share of the size of the surface around where collision detection put it.
constexpr double kNear = 1e-6;
// Of the size of a surface: how deep under a triangle of another surface a node still counts as having come through it.
constexpr double kDeepest = 0.05;

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 29)) * 0xc2b2ae3d27d4eb4fULL;
  return x ^ (x >> 32);
}

// Different from those of rigid contacts with overwhelming probability.
std::uint64_t key_of(std::uint64_t kind, Index a, Index b, std::uint64_t feature) {
  const std::uint64_t pair = static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint32_t>(b);
  return mix(mix(mix(pair ^ kind) + feature) + 0xf1e85);
}

Aabb grown(const Aabb& box, double by) { return {box.lower.array() - by, box.upper.array() + by}; }

}  // namespace

FlexibleContacts::FlexibleContacts(const World& world)
    : world_(&world), narrow_({.max_points = kMostPoints, .rim_points = 8, .max_field_points = kMostPoints}) {
  Index node = 0;
  for (const FlexibleBody& body : world.flexible_bodies) {
    bodies_.push_back({.surface = FlexibleSurface(body.mesh), .first_node = node});
    node += body.mesh.node_count();
  }
  for (const Geom& geom : world.geoms) {
    const bool unbounded = geom.shape.kind() == ShapeKind::plane;
    const Aabb box = geom.shape.bounds(geom.pose);
    geom_radius_.push_back(unbounded ? 0.0 : box.lower.cwiseAbs().cwiseMax(box.upper.cwiseAbs()).norm());
  }
}

double FlexibleContacts::margin(const FlexibleBody& body, double other) const {
  return std::max(body.margin + other, world_->margin);
}

void FlexibleContacts::place(const State& state) {
  for (Body& body : bodies_) {
    body.surface.place(state.node_position.data() + 3 * body.first_node);
    body.bounds = body.surface.bounds();
    body.speed = 0.0;
    for (Index v = 0; v < body.surface.vertex_count(); ++v) {
      const Index node = body.first_node + body.surface.node(v);
      body.speed = std::max(body.speed, state.node_velocity.segment<3>(3 * node).norm());
    }
  }
}

Vec3 FlexibleContacts::velocity(const FlexibleContact::Side& side, const Vec3& point, const State& state,
                                const Kinematics& kinematics) const {
  if (side.flexible < 0) return kinematics.point_velocity(side.body, point);
  Vec3 sum = Vec3::Zero();
  for (Index k = 0; k < side.count; ++k) {
    sum += side.weights[k] *
           state.node_velocity.segment<3>(3 * (bodies_[side.flexible].first_node + side.nodes[k]));
  }
  return sum;
}

void FlexibleContacts::against_geom(Index f, Index g, const State& state, const Kinematics& kinematics,
                                    double h, std::vector<FlexibleContact>& contacts) {
  const FlexibleBody& description = world_->flexible_bodies[f];
  const Geom& geom = world_->geoms[g];
  if (!(description.contact_type & geom.contact_affinity) &&
      !(geom.contact_type & description.contact_affinity)) {
    return;
  }
  const Body& body = bodies_[f];
  const Pose pose = kinematics.pose(geom.body) * geom.pose;
  const Vec6 motion = kinematics.velocity(geom.body);
  const double speed = kinematics.point_velocity(geom.body, kinematics.pose(geom.body).position).norm() +
                       motion.tail<3>().norm() * geom_radius_[g];
  const double own = margin(description, geom.margin);
  const double reach = geom.thickness + std::max(own, h * (speed + body.speed) + fall_);
  if (geom.shape.kind() != ShapeKind::plane && !grown(geom.shape.bounds(pose), reach).overlaps(body.bounds)) {
    return;
  }
  points_.clear();
  narrow_.collide(geom.shape, pose, body.surface.shape(), Pose(), reach, points_);
  const double near = kNear * (body.bounds.upper - body.bounds.lower).norm();
  for (const ContactPoint& point : points_) {
    FlexibleContact contact;
    contact.a = {.geom = g, .body = geom.body};
    contact.b.flexible = f;
    Vec3 nearest;
    if (!body.surface.find(point.position + 0.5 * point.gap * point.normal, near, contact.b, nearest))
      continue;
    contact.position = point.position;
    contact.normal = point.normal;
    contact.gap = point.gap - geom.thickness;
    const double closing = point.normal.dot(velocity(contact.a, point.position, state, kinematics) -
                                            velocity(contact.b, nearest, state, kinematics));
    if (contact.gap > std::max(own, h * std::max(0.0, closing) + fall_)) continue;
    contact.key = key_of(1, g, f, point.feature);
    contacts.push_back(contact);
  }
}

void FlexibleContacts::nodes_against_triangles(Index n, Index t, const State& state, double h,
                                               std::vector<FlexibleContact>& contacts) {
  const Body &own = bodies_[n], &other = bodies_[t];
  const double allowed = margin(world_->flexible_bodies[n], world_->flexible_bodies[t].margin);
  const double reach = std::max(allowed, h * (own.speed + other.speed) + fall_);
  const double deepest = kDeepest * (other.bounds.upper - other.bounds.lower).norm() + reach;
  const Aabb region = grown(other.bounds, reach);
  const TriangleMesh& mesh = other.surface.mesh();
  for (Index v = 0; v < own.surface.vertex_count(); ++v) {
    const Vec3& at = own.surface.mesh().vertices()[v];
    if (!region.overlaps({at, at})) continue;
    // Over the triangle whose plane is nearest among those the node stands on.
    const Vec3 around = Vec3::Constant(deepest);
    hits_.clear();
    mesh.find({at - around, at + around}, hits_);
    double best = std::numeric_limits<double>::infinity();
    FlexibleContact contact;
    for (const Index triangle : hits_) {
      const TriangleMesh::Triangle& corner = mesh.triangles()[triangle];
      const std::array<Vec3, 3> x{mesh.vertices()[corner[0]], mesh.vertices()[corner[1]],
                                  mesh.vertices()[corner[2]]};
      const Vec3& normal = mesh.normal(triangle);
      const double height = normal.dot(at - x[0]);
      if (height > reach || height < -deepest || std::abs(height) >= best) continue;
      const Vec3 foot = at - height * normal, weights = nearest_weights(foot, x[0], x[1], x[2]);
      const Vec3 nearest = weights[0] * x[0] + weights[1] * x[1] + weights[2] * x[2];
      if ((nearest - foot).norm() > 1e-9 * (x[1] - x[0]).norm()) continue;
      best = std::abs(height);
      contact.a = {.flexible = t, .count = 3, .weights = weights};
      for (int k = 0; k < 3; ++k) contact.a.nodes[k] = other.surface.node(corner[k]);
      contact.normal = normal;
      contact.gap = height;
      contact.position = 0.5 * (at + foot);
    }
    if (!std::isfinite(best)) continue;
    contact.b = {.flexible = n, .count = 1, .weights = Vec3(1.0, 0.0, 0.0)};
    contact.b.nodes[0] = own.surface.node(v);
    Vec3 closing = -state.node_velocity.segment<3>(3 * (own.first_node + contact.b.nodes[0]));
    for (int k = 0; k < 3; ++k) {
      closing +=
          contact.a.weights[k] * state.node_velocity.segment<3>(3 * (other.first_node + contact.a.nodes[k]));
    }
    const double approach = h * std::max(0.0, contact.normal.dot(closing)) + fall_;
    if (contact.gap > std::max(allowed, approach)) continue;
    contact.key = key_of(2, n, t, static_cast<std::uint64_t>(v));
    contacts.push_back(contact);
  }
}

void FlexibleContacts::find(const State& state, const Kinematics& kinematics, double h,
                            std::vector<FlexibleContact>& contacts) {
  contacts.clear();
  if (bodies_.empty()) return;
  place(state);
  fall_ = h * h * world_->gravity.norm();
  const auto count = static_cast<Index>(bodies_.size());
  for (Index f = 0; f < count; ++f) {
    for (Index g = 0; g < static_cast<Index>(world_->geoms.size()); ++g) {
      against_geom(f, g, state, kinematics, h, contacts);
    }
    for (Index other = 0; other < f; ++other) {
      const FlexibleBody &a = world_->flexible_bodies[f], &b = world_->flexible_bodies[other];
      if (!(a.contact_type & b.contact_affinity) && !(b.contact_type & a.contact_affinity)) continue;
      nodes_against_triangles(f, other, state, h, contacts);
      nodes_against_triangles(other, f, state, h, contacts);
    }
  }
  for (FlexibleContact& contact : contacts) contact.friction = surface(contact).friction;
}

Surface FlexibleContacts::surface(const FlexibleContact& contact) const {
  const Material& a = contact.a.flexible < 0 ? world_->geoms[contact.a.geom].material
                                             : world_->flexible_bodies[contact.a.flexible].material;
  return combine(a, world_->flexible_bodies[contact.b.flexible].material, world_->friction_rule);
}

}  // namespace tribo
