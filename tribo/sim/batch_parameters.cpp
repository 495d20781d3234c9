#include "tribo/sim/batch_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tribo/base/errors.h"

namespace tribo {

namespace {

void require(double value, std::string_view what, std::string_view owner, Index number) {
  if (std::isfinite(value) && value >= 0.0) return;
  throw InvalidInput(
      fmt::format("{} of {} {} is {}: it must be finite and >= 0", what, owner, number, value));
}

BodyDescription body_of(const Model& model, Index b, double mass) {
  RigidInertia inertia = model.inertia(b);
  require(mass, "mass", "body", b);
  if (inertia.mass == 0.0 && mass != 0.0) {
    throw InvalidInput(
        fmt::format("mass of body {} is {}: a body without mass has no inertia to be scaled", b, mass));
  }
  if (mass != inertia.mass) {
    inertia.rotational *= mass / inertia.mass;
    inertia.mass = mass;
  }
  const std::vector<Index>& mocap = model.mocap_bodies();
  return {.name = model.body_name(b),
          .parent = model.body_parent(b),
          .position = model.body_position(b),
          .rotation = model.body_rotation(b),
          .inertia = inertia,
          .gravity_compensation = model.gravity_compensation(b),
          .mocap = std::find(mocap.begin(), mocap.end(), b) != mocap.end(),
          .inertia_axes = model.inertia_axes(b)};
}

ActuatorDescription scaled(ActuatorDescription actuator, double factor) {
  actuator.gain *= factor;
  actuator.bias *= factor;
  for (double& slope : actuator.gain_slope) slope *= factor;
  for (std::optional<Muscle>* muscle : {&actuator.muscle_gain, &actuator.muscle_bias}) {
    if (*muscle) (*muscle)->force *= factor;
  }
  return actuator;
}

}  // namespace

World with_parameters(const World& world, const Eigen::Ref<const Vector>& mass,
                      const Eigen::Ref<const Vector>& friction, const Eigen::Ref<const Vector>& gain) {
  const Model& model = world.model;
  ModelBuilder builder;
  for (Index b = 1; b < model.body_count(); ++b) {
    builder.add_body(body_of(model, b, mass[b]));
    for (Index j = model.joint_begin(b); j < model.joint_end(b); ++j) builder.add_joint(model.joint(j));
  }
  for (const TendonDescription& tendon : model.tendons()) builder.add_tendon(tendon);
  for (std::size_t a = 0; a < model.actuators().size(); ++a) {
    const double factor = gain[static_cast<Eigen::Index>(a)];
    require(factor, "gain", "actuator", static_cast<Index>(a));
    builder.add_actuator(scaled(model.actuators()[a], factor));
  }
  for (const SiteDescription& site : model.sites()) builder.add_site(site);
  World result = world;
  result.model = builder.build();
  for (std::size_t g = 0; g < result.geoms.size(); ++g) {
    const double mu = friction[static_cast<Eigen::Index>(g)];
    require(mu, "friction", "geom", static_cast<Index>(g));
    result.geoms[g].material.friction = mu;
  }
  return result;
}

}  // namespace tribo
