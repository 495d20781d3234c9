#include "tribo/sim/sensors/sensor_validation.h"

#include <fmt/format.h>

#include <cmath>

#include "tribo/base/errors.h"

namespace tribo {

namespace {

class Check {
 public:
  Check(const World& world, std::size_t number) : world_(world), sensor_(world.sensors[number]) {
    owner_ =
        sensor_.name.empty() ? fmt::format("sensor {}", number) : fmt::format("sensor '{}'", sensor_.name);
  }

  void run() const {
    const SensorTraits& traits = traits_of(sensor_.kind);
    if (!(std::isfinite(sensor_.cutoff) && sensor_.cutoff >= 0.0)) {
      refuse(fmt::format("cutoff is {}: it must be finite and >= 0", sensor_.cutoff));
    }
    object(traits.object);
    frame("frame", sensor_.frame);
    if (sensor_.reference) reference();
    if (sensor_.kind == SensorKind::touch) volume(sensor_.volume);
    if (sensor_.kind == SensorKind::contact) contact();
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw InvalidInput(fmt::format("{}: {}", owner_, what));
  }

  void index(std::string_view field, Index value, std::size_t count) const {
    if (value < 0 || static_cast<std::size_t>(value) >= count) {
      refuse(fmt::format("{} is {}: there are {}", field, value, count));
    }
  }

  void object(SensorObject kind) const {
    const Model& model = world_.model;
    const auto joints = static_cast<std::size_t>(model.joint_count());
    switch (kind) {
      case SensorObject::joint:
        index("joint", sensor_.object, joints);
        if (!traits_of(model.joint(sensor_.object).kind).is_scalar())
          refuse("the joint must be a hinge or a slide");
        break;
      case SensorObject::ball:
        index("joint", sensor_.object, joints);
        if (model.joint(sensor_.object).kind != JointKind::ball) refuse("the joint must be a ball");
        break;
      case SensorObject::tendon:
        index("tendon", sensor_.object, model.tendons().size());
        break;
      case SensorObject::actuator:
        index("actuator", sensor_.object, model.actuators().size());
        break;
      case SensorObject::subtree:
        index("body", sensor_.object, static_cast<std::size_t>(model.body_count()));
        break;
      case SensorObject::frame:
      case SensorObject::none:
        break;
    }
  }

  void frame(std::string_view field, const SensorFrame& value) const {
    index(fmt::format("body of its {}", field), value.body,
          static_cast<std::size_t>(world_.model.body_count()));
    const Mat3& r = value.pose.rotation;
    if (!value.pose.position.allFinite() || !r.allFinite() ||
        (r.transpose() * r - Mat3::Identity()).cwiseAbs().maxCoeff() > 1e-6) {
      refuse(fmt::format("its {} is not finite or its rotation not orthonormal", field));
    }
  }

  void reference() const {
    if (sensor_.kind < SensorKind::frame_position || sensor_.kind > SensorKind::frame_angular_velocity) {
      refuse(fmt::format("a {} has no reference frame", traits_of(sensor_.kind).name));
    }
    frame("reference", *sensor_.reference);
  }

  void volume(const std::optional<Shape>& shape) const {
    if (!shape || !is_volume(*shape)) {
      refuse("its volume must be a sphere, capsule, ellipsoid, cylinder or box");
    }
  }

  void contact() const {
    const ContactQuery& query = sensor_.contact;
    if (query.count < 1) refuse(fmt::format("the number of contacts is {}: it must be >= 1", query.count));
    if (query.fields == 0 || query.fields >= 2 * ContactQuery::tangent)
      refuse("it reports nothing that is known");
    for (const ContactSide* side : {&query.first, &query.second}) {
      const auto bodies = static_cast<std::size_t>(world_.model.body_count());
      if (side->kind == ContactSide::Kind::geom) index("geom", side->object, world_.geoms.size());
      if (side->kind == ContactSide::Kind::body || side->kind == ContactSide::Kind::subtree) {
        index("body", side->object, bodies);
      }
      if (side->kind == ContactSide::Kind::volume) {
        frame("volume", side->frame);
        volume(side->volume);
      }
    }
  }

  const World& world_;
  const SensorDescription& sensor_;
  std::string owner_;
};

}  // namespace

void validate_sensors(const World& world) {
  if (!world.magnetic_field.allFinite()) throw InvalidInput("magnetic field of the world is not finite");
  for (std::size_t k = 0; k < world.sensors.size(); ++k) Check(world, k).run();
}

}  // namespace tribo
