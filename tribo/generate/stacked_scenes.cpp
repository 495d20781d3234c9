#include "tribo/generate/stacked_scenes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tribo/base/random.h"
#include "tribo/generate/rigid_scene.h"

namespace tribo::detail {

namespace {

constexpr double kSlideYaw = 0.2;  // rad/s
constexpr double kDisplacement =
    0.02;  // of an edge: sideways displacement of the boxes for seeds other than 0

// An axis-aligned box; its index is its body's.
struct Box {
  Vec3 centre;
  Vec3 half;
  double low(int axis) const { return centre[axis] - half[axis]; }
  double high(int axis) const { return centre[axis] + half[axis]; }
};

// Boxes and their contacts: the corners of the rectangle that two facing sides share.
class BoxScene {
 public:
  explicit BoxScene(const GeneratorSettings& settings) : settings_(settings), scene_(settings) {}

  void reserve(Index boxes, Index contacts) {
    boxes_.reserve(boxes);
    scene_.reserve(boxes, contacts);
  }

  // `course` counts from the ground: sliding scenes send every other one the other way along x.
  Index add(const Box& box, double mass, Index course) {
    RigidBody body{.mass = mass, .inertia = box_inertia(mass, box.half), .position = box.centre};
    if (settings_.slide) {
      body.velocity.x() = kSlideSpeed * alternating_sign(course);
      body.spin.z() = kSlideYaw * alternating_sign(course);
    }
    boxes_.push_back(box);
    return scene_.add_body(body);
  }

  void rest_on_ground(Index i) {
    const Box& box = boxes_[i];
    add_corners(i, kGround, 2, {box.low(0), box.low(1)}, {box.high(0), box.high(1)}, box.low(2), 0.0, 0);
  }

  // Contacts of the low side of box i along `axis` with the high side of box k, if they face each other.
  void touch(Index i, Index k, int axis) {
    const Box& a = boxes_[i];
    const Box& b = boxes_[k];
    const int p = (axis + 1) % 3, q = (axis + 2) % 3;
    const Vec2 low(std::max(a.low(p), b.low(p)), std::max(a.low(q), b.low(q)));
    const Vec2 high(std::min(a.high(p), b.high(p)), std::min(a.high(q), b.high(q)));
    if ((high - low).minCoeff() <= 1e-6) return;
    add_corners(i, k, axis, low, high, b.high(axis), a.low(axis) - b.high(axis), 4 * axis);
  }

  ContactProblem build() { return scene_.build(); }

 private:
  void add_corners(Index i, Index k, int axis, const Vec2& low, const Vec2& high, double level, double gap,
                   Index feature) {
    const int p = (axis + 1) % 3, q = (axis + 2) % 3;
    for (int corner = 0; corner < 4; ++corner) {
      Vec3 point;
      point[axis] = level + 0.5 * gap;
      point[p] = corner % 2 == 0 ? low[0] : high[0];
      point[q] = corner / 2 == 0 ? low[1] : high[1];
      scene_.add_contact(i, k, point, Vec3::Unit(axis), gap, feature + corner);
    }
  }

  GeneratorSettings settings_;
  RigidScene scene_;
  std::vector<Box> boxes_;
};

// Sideways displacements of boxes: none for seed 0.
class Disorder {
 public:
  explicit Disorder(std::uint64_t seed) : random_(seed), amplitude_(seed == 0 ? 0.0 : kDisplacement) {}
  double operator()(double edge) { return amplitude_ * edge * random_.uniform(-1.0, 1.0); }

 private:
  Random random_;
  double amplitude_;
};

}  // namespace

ContactProblem make_tower(const GeneratorSettings& settings) {
  const Index n = settings.bodies;
  BoxScene scene(settings);
  scene.reserve(n, 4 * n);
  Disorder disorder(settings.seed);
  for (Index i = 0; i < n; ++i) {
    const double x = disorder(1.0), y = disorder(1.0);
    scene.add({Vec3(x, y, i + 0.5), Vec3::Constant(0.5)}, geometric_mass(i, n, settings.mass_ratio), i);
    if (i == 0) {
      scene.rest_on_ground(0);
    } else {
      scene.touch(i, i - 1, 2);
    }
  }
  return scene.build();
}

// Running bond: even courses hold `columns` bricks, odd ones start and end with a half brick. Bed joints
// touch, head joints (between neighbours of a course) are 1 mm open.
ContactProblem make_wall(const GeneratorSettings& settings) {
  constexpr double length = 0.4, height = 0.2, thickness = 0.2, head_joint = 1e-3;
  const Index columns = std::max<Index>(2, std::lround(std::sqrt(settings.bodies / 2.0)));
  const Index pair = 2 * columns + 1;  // bricks in two courses
  const auto course_of = [&](Index i) { return 2 * (i / pair) + (i % pair >= columns ? 1 : 0); };
  const Index courses = course_of(settings.bodies - 1) + 1;

  BoxScene scene(settings);
  scene.reserve(settings.bodies, 12 * settings.bodies);
  Disorder disorder(settings.seed);
  Index below = 0, begin = 0;  // first brick of the course below and of this one
  for (Index i = 0; i < settings.bodies; ++i) {
    const Index course = course_of(i);
    if (i > 0 && course != course_of(i - 1)) {
      below = begin;
      begin = i;
    }
    const bool odd = course % 2 == 1;
    const Index column = i - begin;
    const bool half = odd && (column == 0 || column == columns);
    const double left = (odd ? std::max(0.0, column - 0.5) : column) * length;
    const double width = half ? 0.5 * length : length;
    const Vec3 centre(left + 0.5 * width, disorder(thickness), (course + 0.5) * height);
    scene.add({centre, 0.5 * Vec3(width - head_joint, thickness, height)},
              (half ? 0.5 : 1.0) * geometric_mass(course, courses, settings.mass_ratio), course);
    if (column > 0) scene.touch(i, i - 1, 0);
    if (course == 0) scene.rest_on_ground(i);
    for (Index k = std::max(below, below + column - 1); course > 0 && k < std::min(begin, below + column + 2);
         ++k) {
      scene.touch(i, k, 2);
    }
  }
  return scene.build();
}

// Courses of L, L-1, ..., 1 unit cubes, each cube on two; neighbours of a course stand 10 cm apart and do not
// touch.
ContactProblem make_pyramid(const GeneratorSettings& settings) {
  constexpr double pitch = 1.1;
  Index base = 1;
  while (static_cast<std::int64_t>(base) * (base + 1) / 2 < settings.bodies) ++base;

  BoxScene scene(settings);
  scene.reserve(base * (base + 1) / 2, 4 * base * base);
  Disorder disorder(settings.seed);
  Index below = 0;  // first cube of the course below
  for (Index course = 0, i = 0; course < base; ++course) {
    const Index begin = i;
    for (Index column = 0; column < base - course; ++column, ++i) {
      const double x = disorder(1.0), y = disorder(1.0);
      const Vec3 centre((column + 0.5 * course) * pitch + x, y, course + 0.5);
      scene.add({centre, Vec3::Constant(0.5)}, geometric_mass(course, base, settings.mass_ratio), course);
      if (course == 0) {
        scene.rest_on_ground(i);
      } else {
        scene.touch(i, below + column, 2);
        scene.touch(i, below + column + 1, 2);
      }
    }
    below = begin;
  }
  return scene.build();
}

// Links along x, joined end to end by ball joints, the first to the ground; the last is pulled along x by the
// weight of the whole chain, and every link sideways by a random force of the order of its friction. Sliding:
// the joints move alternately to +y and -y, so that the initial velocity respects them.
ContactProblem make_chain(const GeneratorSettings& settings) {
  constexpr double length = 0.5, radius = 0.05;
  const Index n = settings.bodies;
  const Vec3 half(0.5 * length, radius, radius);
  RigidScene scene(settings);
  scene.reserve(n, 7 * n);
  Random random(settings.seed);
  double weight = 0.0;
  for (Index i = 0; i < n; ++i) {
    const double mass = geometric_mass(i, n, settings.mass_ratio);
    weight += mass * kGravity;
    RigidBody body{.mass = mass, .inertia = box_inertia(mass, half)};
    body.position = Vec3((i + 0.5) * length, 0.0, radius);
    body.force.y() = 0.5 * mass * kGravity * random.normal();
    if (i == n - 1) body.force.x() = weight;
    if (settings.slide) {
      const double start = i == 0 ? 0.0 : kSlideSpeed * alternating_sign(i);
      const double end = kSlideSpeed * alternating_sign(i + 1);
      body.velocity.y() = 0.5 * (start + end);
      body.spin.z() = (end - start) / length;
    }
    scene.add_body(body);
    scene.add_ball_joint(i, i == 0 ? kGround : i - 1, Vec3(i * length, 0.0, radius), 4);
    for (int corner = 0; corner < 4; ++corner) {
      const Vec3 offset(corner % 2 == 0 ? -0.4 * length : 0.4 * length, corner / 2 == 0 ? -radius : radius,
                        -radius);
      scene.add_contact(i, kGround, body.position + offset, Vec3::UnitZ(), 0.0, corner);
    }
  }
  return scene.build();
}

}  // namespace tribo::detail
