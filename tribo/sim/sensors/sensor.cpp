#include "tribo/sim/sensors/sensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "tribo/base/errors.h"

namespace tribo {

namespace {

using Kind = SensorKind;
using Object = SensorObject;
using Stage = SensorStage;
using Range = SensorRange;

// In the order of SensorKind.
constexpr std::array kTraits{
    SensorTraits{Kind::joint_position, "jointpos", 1, Object::joint, Stage::position, Range::real},
    SensorTraits{Kind::joint_velocity, "jointvel", 1, Object::joint, Stage::velocity, Range::real},
    SensorTraits{Kind::joint_limit_position, "jointlimitpos", 1, Object::joint, Stage::position, Range::real},
    SensorTraits{Kind::joint_limit_velocity, "jointlimitvel", 1, Object::joint, Stage::velocity, Range::real},
    SensorTraits{Kind::joint_limit_force, "jointlimitfrc", 1, Object::joint, Stage::step, Range::positive},
    SensorTraits{Kind::joint_actuator_force, "jointactuatorfrc", 1, Object::joint, Stage::step, Range::real},
    SensorTraits{Kind::ball_rotation, "ballquat", 4, Object::ball, Stage::position, Range::unlimited},
    SensorTraits{Kind::ball_velocity, "ballangvel", 3, Object::ball, Stage::velocity, Range::real},
    SensorTraits{Kind::tendon_position, "tendonpos", 1, Object::tendon, Stage::position, Range::real},
    SensorTraits{Kind::tendon_velocity, "tendonvel", 1, Object::tendon, Stage::velocity, Range::real},
    SensorTraits{Kind::tendon_limit_position, "tendonlimitpos", 1, Object::tendon, Stage::position,
                 Range::real},
    SensorTraits{Kind::tendon_limit_velocity, "tendonlimitvel", 1, Object::tendon, Stage::velocity,
                 Range::real},
    SensorTraits{Kind::tendon_limit_force, "tendonlimitfrc", 1, Object::tendon, Stage::step, Range::positive},
    SensorTraits{Kind::tendon_actuator_force, "tendonactuatorfrc", 1, Object::tendon, Stage::step,
                 Range::real},
    SensorTraits{Kind::actuator_position, "actuatorpos", 1, Object::actuator, Stage::position, Range::real},
    SensorTraits{Kind::actuator_velocity, "actuatorvel", 1, Object::actuator, Stage::velocity, Range::real},
    SensorTraits{Kind::actuator_force, "actuatorfrc", 1, Object::actuator, Stage::step, Range::real},
    SensorTraits{Kind::frame_position, "framepos", 3, Object::frame, Stage::position, Range::real},
    SensorTraits{Kind::frame_rotation, "framequat", 4, Object::frame, Stage::position, Range::unlimited},
    SensorTraits{Kind::frame_x_axis, "framexaxis", 3, Object::frame, Stage::position, Range::unlimited},
    SensorTraits{Kind::frame_y_axis, "frameyaxis", 3, Object::frame, Stage::position, Range::unlimited},
    SensorTraits{Kind::frame_z_axis, "framezaxis", 3, Object::frame, Stage::position, Range::unlimited},
    SensorTraits{Kind::frame_velocity, "framelinvel", 3, Object::frame, Stage::velocity, Range::real},
    SensorTraits{Kind::frame_angular_velocity, "frameangvel", 3, Object::frame, Stage::velocity, Range::real},
    SensorTraits{Kind::frame_acceleration, "framelinacc", 3, Object::frame, Stage::step, Range::real},
    SensorTraits{Kind::frame_angular_acceleration, "frameangacc", 3, Object::frame, Stage::step, Range::real},
    SensorTraits{Kind::gyro, "gyro", 3, Object::frame, Stage::velocity, Range::real},
    SensorTraits{Kind::velocimeter, "velocimeter", 3, Object::frame, Stage::velocity, Range::real},
    SensorTraits{Kind::accelerometer, "accelerometer", 3, Object::frame, Stage::step, Range::real},
    SensorTraits{Kind::force, "force", 3, Object::frame, Stage::step, Range::real},
    SensorTraits{Kind::torque, "torque", 3, Object::frame, Stage::step, Range::real},
    SensorTraits{Kind::magnetometer, "magnetometer", 3, Object::frame, Stage::position, Range::real},
    SensorTraits{Kind::touch, "touch", 1, Object::frame, Stage::step, Range::positive},
    SensorTraits{Kind::subtree_center, "subtreecom", 3, Object::subtree, Stage::position, Range::real},
    SensorTraits{Kind::subtree_velocity, "subtreelinvel", 3, Object::subtree, Stage::velocity, Range::real},
    SensorTraits{Kind::subtree_angular_momentum, "subtreeangmom", 3, Object::subtree, Stage::velocity,
                 Range::real},
    SensorTraits{Kind::contact, "contact", 0, Object::none, Stage::step, Range::unlimited},
    SensorTraits{Kind::clock, "clock", 1, Object::none, Stage::position, Range::real},
    SensorTraits{Kind::potential_energy, "e_potential", 1, Object::none, Stage::position, Range::real},
    SensorTraits{Kind::kinetic_energy, "e_kinetic", 1, Object::none, Stage::velocity, Range::real},
};

constexpr bool in_order() {
  for (std::size_t k = 0; k < kTraits.size(); ++k) {
    if (kTraits[k].kind != static_cast<Kind>(k)) return false;
  }
  return kTraits.size() == static_cast<std::size_t>(Kind::kinetic_energy) + 1;
}
static_assert(in_order());

// The part [enter, leave] of the line origin + t direction, t >= 0, that satisfies |a t + b| <= half.
struct Part {
  double enter = 0.0, leave = std::numeric_limits<double>::infinity();
  bool empty() const { return enter > leave; }

  void cut_slab(double origin, double direction, double half) {
    if (direction == 0.0) {
      if (std::abs(origin) > half) leave = -1.0;
      return;
    }
    const double a = (-half - origin) / direction, b = (half - origin) / direction;
    enter = std::max(enter, std::min(a, b));
    leave = std::min(leave, std::max(a, b));
  }
  // |origin + t direction|^2 <= radius^2.
  void cut_ball(const Vec3& origin, const Vec3& direction, double radius) {
    const double a = direction.squaredNorm(), b = origin.dot(direction),
                 c = origin.squaredNorm() - radius * radius;
    if (a == 0.0) {
      if (c > 0.0) leave = -1.0;
      return;
    }
    const double root = b * b - a * c;
    if (root < 0.0) {
      leave = -1.0;
      return;
    }
    enter = std::max(enter, (-b - std::sqrt(root)) / a);
    leave = std::min(leave, (-b + std::sqrt(root)) / a);
  }
};

bool meets_cylinder(const Shape& shape, const Vec3& origin, const Vec3& direction) {
  Part part;
  part.cut_ball({origin.x(), origin.y(), 0.0}, {direction.x(), direction.y(), 0.0}, shape.radius());
  part.cut_slab(origin.z(), direction.z(), shape.half_length());
  return !part.empty();
}

bool meets_ball(const Vec3& origin, const Vec3& direction, double radius) {
  Part part;
  part.cut_ball(origin, direction, radius);
  return !part.empty();
}

}  // namespace

const SensorTraits& traits_of(SensorKind kind) { return kTraits[static_cast<std::size_t>(kind)]; }

const SensorTraits* find_sensor_kind(std::string_view name) {
  const auto at =
      std::find_if(kTraits.begin(), kTraits.end(), [&](const SensorTraits& t) { return t.name == name; });
  return at != kTraits.end() ? &*at : nullptr;
}

Index ContactQuery::size_of_one() const {
  const int vectors =
      std::popcount(static_cast<unsigned>(fields & (force | torque | position | normal | tangent)));
  return 3 * vectors + std::popcount(static_cast<unsigned>(fields & (found | distance)));
}

Index SensorDescription::size() const {
  return kind == SensorKind::contact ? contact.count * contact.size_of_one() : traits_of(kind).size;
}

bool is_volume(const Shape& shape) {
  const ShapeKind kind = shape.kind();
  return kind == ShapeKind::sphere || kind == ShapeKind::capsule || kind == ShapeKind::ellipsoid ||
         kind == ShapeKind::cylinder || kind == ShapeKind::box;
}

bool meets(const Shape& shape, const Vec3& origin, const Vec3& direction) {
  switch (shape.kind()) {
    case ShapeKind::sphere:
      return meets_ball(origin, direction, shape.radius());
    case ShapeKind::ellipsoid:
      return meets_ball(origin.cwiseQuotient(shape.size()), direction.cwiseQuotient(shape.size()), 1.0);
    case ShapeKind::cylinder:
      return meets_cylinder(shape, origin, direction);
    case ShapeKind::capsule: {
      const Vec3 end(0.0, 0.0, shape.half_length());
      return meets_cylinder(shape, origin, direction) ||
             meets_ball(origin - end, direction, shape.radius()) ||
             meets_ball(origin + end, direction, shape.radius());
    }
    case ShapeKind::box: {
      Part part;
      for (int k = 0; k < 3; ++k) part.cut_slab(origin[k], direction[k], shape.size()[k]);
      return !part.empty();
    }
    default:
      throw InvalidInput(
          fmt::format("a {} is no volume of a sensor: sphere, capsule, ellipsoid, cylinder or box",
                      to_string(shape.kind())));
  }
}

}  // namespace tribo
