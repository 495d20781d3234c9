// Masses and inertias of MJCF bodies: given, or gathered from the geoms, then bounded, balanced and scaled.
#include "tribo/io/mjcf/inertia.h"

#include <fmt/format.h>

#include "tribo/io/assets/principal_axes.h"

namespace tribo::detail {
namespace {

void bound_and_balance(RigidInertia& inertia, const CompilerSettings& compiler) {
  inertia.mass = std::max(inertia.mass, compiler.bound_mass);
  if (compiler.bound_inertia <= 0.0 && !compiler.balance_inertia) return;
  if (!inertia.rotational.allFinite()) return;
  const Mat3 axes = principal_frame(inertia.center, inertia.rotational).rotation;
  Vec3 moments = (axes.transpose() * inertia.rotational * axes).diagonal();
  moments = moments.cwiseMax(compiler.bound_inertia);
  // Moments of a real body satisfy the triangle inequality.
  if (compiler.balance_inertia && 2.0 * moments.maxCoeff() > moments.sum())
    moments.setConstant(moments.mean());
  inertia.rotational = axes * moments.asDiagonal() * axes.transpose();
}

// The body's frame moves to its centre of mass and principal axes; what is on it stays where it is.
void align(BodySpec& body) {
  RigidInertia& inertia = body.description.inertia;
  const Pose frame = principal_frame(inertia.center, inertia.rotational);
  const Pose back = frame.inverse();
  const Pose old{body.description.position, body.description.rotation.toRotationMatrix()};
  const Pose placed = old * frame;
  body.description.position = placed.position;
  body.description.rotation = Quat(placed.rotation).normalized();
  inertia = inertia.placed(back);
  std::optional<Quat>& axes = body.description.inertia_axes;
  if (axes) axes = Quat(back.rotation * axes->toRotationMatrix()).normalized();
  for (GeomSpec& geom : body.geoms) {
    if (geom.fluid) geom.fluid->pose = back * geom.fluid->pose;
  }
  for (GeomSpec& geom : body.geoms) geom.geom.pose = back * geom.geom.pose;
  for (SiteDescription& site : body.sites) site.pose = back * site.pose;
}

}  // namespace

void finish_inertias(MjcfTree& tree) {
  std::vector<bool> has_children(tree.bodies.size(), false);
  double total = 0.0;
  for (std::size_t b = 1; b < tree.bodies.size(); ++b) {
    BodySpec& body = tree.bodies[b];
    has_children[static_cast<std::size_t>(body.description.parent)] = true;
    RigidInertia& inertia = body.description.inertia;
    if (body.inertial) {
      inertia = *body.inertial;
    } else {
      int heavy = 0;
      for (const GeomSpec& geom : body.geoms) {
        if (!(geom.inertia.mass > 0.0)) continue;
        inertia = inertia.mass > 0.0 ? inertia + geom.inertia : geom.inertia;
        ++heavy;
        if (heavy == 1 && geom.is_primitive) {  // of one geom alone: its own axes
          body.description.inertia_axes = Quat(geom.geom.pose.rotation).normalized();
        } else {
          body.description.inertia_axes.reset();
        }
      }
    }
    bound_and_balance(inertia, *body.compiler);
    total += inertia.mass;
  }
  for (std::size_t b = 1; b < tree.bodies.size(); ++b) {
    BodySpec& body = tree.bodies[b];
    const double wanted = tree.bodies.front().compiler->total_mass;
    if (wanted > 0.0 && total > 0.0) {
      body.description.inertia.mass *= wanted / total;
      body.description.inertia.rotational *= wanted / total;
    }
    if (!body.joints.empty() && body.joints.front().align && !has_children[b] &&
        body.description.inertia.rotational.allFinite()) {
      align(body);
    }
  }
}

}  // namespace tribo::detail
