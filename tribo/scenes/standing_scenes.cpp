// Dry stones, cards and boxes: nothing holds them but friction.
#include "tribo/scenes/standing_scenes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>

#include "tribo/collide/shapes/convex_hull.h"

namespace tribo::detail {

namespace {

constexpr double kStoneDensity = 2400.0;  // kg/m^3
constexpr double kBoardDensity = 700.0;

// Bodies that should stay where they began.
struct Standing {
  Index first = 0, last = 0;  // bodies
  Index top = 0;
  std::vector<Vec3> begin = {};
  std::vector<Vec3> settled = {};  // where they were at the settling time, once that is over

  // What still moves after `time` [s] is creep.
  void watch_settling(Scene& scene, const std::shared_ptr<Standing>& self, double time) {
    scene.observe = [self, time](const Simulator& s, const StepReport&) {
      if (!self->settled.empty() || s.state().time < time - 1e-9) return;
      for (Index b = self->first; b <= self->last; ++b)
        self->settled.push_back(s.kinematics().pose(b).position);
    };
  }
  double creep(const Simulator& s) const {
    double most = 0.0;
    for (std::size_t k = 0; k < settled.size(); ++k)
      most =
          std::max(most, (s.kinematics().pose(first + static_cast<Index>(k)).position - settled[k]).norm());
    return most;
  }
  void note(const Scene& scene) {
    Kinematics kinematics(scene.world.model);
    kinematics.set_positions(scene.start.q);
    for (Index b = first; b <= last; ++b) begin.push_back(kinematics.pose(b).position);
  }
  double moved(const Simulator& s, Index body) const {
    return (s.kinematics().pose(body).position - begin[static_cast<std::size_t>(body - first)]).norm();
  }
  double drift(const Simulator& s) const {
    double most = 0.0;
    for (Index b = first; b <= last; ++b) most = std::max(most, moved(s, b));
    return most;
  }
  // Largest share of the friction limit that a contact among them uses in the last step.
  double friction_used(const Simulator& s) const {
    double most = 0.0;
    for (std::size_t c = 0; c < s.contacts().size(); ++c) {
      const Contact& contact = s.contacts()[c];
      const Index b = std::max(contact.body_a, contact.body_b);
      if (b < first || b > last) continue;
      const Vec3& impulse = s.contact_impulses()[c];
      const double pressed = impulse.dot(contact.normal);
      const double limit = s.contact_details()[c].friction * pressed;
      if (limit > 0.0) most = std::max(most, (impulse - pressed * contact.normal).norm() / limit);
    }
    return most;
  }
};

struct ArchSize {
  Index stones;
  double radius, thickness, depth;  // m; of the middle line
};

// A semicircle of wedges in the plane y = 0 through `center`, standing on the floor.
Standing add_arch(ModelBuilder& builder, World& world, const ArchSize& size, const Vec3& center,
                  const Material& material) {
  Standing arch{.first = -1};
  const double inner = size.radius - 0.5 * size.thickness, outer = size.radius + 0.5 * size.thickness;
  const double angle = std::numbers::pi / size.stones;
  for (Index k = 0; k < size.stones; ++k) {
    std::vector<Vec3> corners;
    for (const double a : {k * angle, (k + 1) * angle}) {
      for (const double r : {inner, outer}) {
        for (const double y : {-0.5 * size.depth, 0.5 * size.depth}) {
          corners.emplace_back(-r * std::cos(a), y, r * std::sin(a));
        }
      }
    }
    const Vec3 middle = ConvexHull::around(corners)->moments().center;
    for (Vec3& x : corners) x -= middle;
    const Shape stone = Shape::hull(ConvexHull::around(corners));
    const double mass = kStoneDensity * stone.moments().volume;
    arch.last =
        add_solid(builder, world, "stone" + std::to_string(k), stone, mass, {center + middle}, material);
    world.geoms.back().color = k == size.stones / 2 ? Color{0.86f, 0.62f, 0.38f, 1.0f}
                               : k % 2 == 0         ? Color{0.76f, 0.74f, 0.68f, 1.0f}
                                                    : Color{0.66f, 0.64f, 0.59f, 1.0f};
    if (arch.first < 0) arch.first = arch.last;
    if (k == size.stones / 2) arch.top = arch.last;
  }
  return arch;
}

struct HouseSize {
  Index levels;
  double length, lean;  // m; rad from the vertical
  bool flats = false;   // a card from tip to tip instead of one board on every level
};

constexpr double kTipGap = 0.002;  // of a card's length: from the end of a flat card to the tip it lies on

// Pairs of cards that lean against each other, `levels` of them side by side at the bottom, one less on every level above,
// with a board between the levels, or a card from each tip to the next: 26 cards on 4 levels.
Standing add_house(ModelBuilder& builder, World& world, const HouseSize& size, const Vec3& center,
                   const Material& material) {
  Standing house{.first = -1};
  const double half = 0.5 * size.length, thick = 0.02 * size.length, wide = 0.7 * size.length;
  const double sine = std::sin(size.lean), cosine = std::cos(size.lean);
  const Vec3 card(0.5 * thick, 0.5 * wide, half);
  // Of a leaning card: from its centre to the lowest edge, and sideways to the inner upper edge.
  const double rise = half * cosine + 0.5 * thick * sine;
  const double inner = half * sine + 0.5 * thick * cosine;
  const double pitch = 2.0 * (inner + half * sine) + 2.0 * thick;
  const auto add = [&](const std::string& name, const Vec3& extent, const Pose& pose, const Color& color) {
    const double mass = kBoardDensity * 8.0 * extent.prod();
    house.last = add_solid(builder, world, name, Shape::box(extent), mass, pose, material);
    world.geoms.back().color = color;
    if (house.first < 0) house.first = house.last;
  };
  double floor = 0.0;
  for (Index level = 0; level < size.levels; ++level) {
    const Index pairs = size.levels - level;
    for (Index k = 0; k < pairs; ++k) {
      const double x = (k - 0.5 * (pairs - 1)) * pitch;
      for (const double side : {-1.0, 1.0}) {
        const Mat3 turn = Eigen::AngleAxisd(-side * size.lean, Vec3::UnitY()).toRotationMatrix();
        add("card" + std::to_string(level) + "_" + std::to_string(k) + (side < 0.0 ? "l" : "r"), card,
            {center + Vec3(x + side * inner, 0.0, floor + rise), turn},
            side < 0.0 ? Color{0.83f, 0.33f, 0.30f, 1.0f} : Color{0.93f, 0.90f, 0.84f, 1.0f});
      }
    }
    house.top = house.last;
    floor += 2.0 * rise;
    if (level + 1 == size.levels) break;
    const Color blue{0.45f, 0.55f, 0.68f, 1.0f};
    const double sunk = size.flats ? kTipGap * size.length * sine / cosine : 0.0;
    if (size.flats) {
      // The lower edges of its ends lie on the sloping upper sides of two cards, next to their tips.
      const Vec3 flat(0.5 * pitch - kTipGap * size.length, 0.5 * wide, 0.5 * thick);
      for (Index k = 0; k + 1 < pairs; ++k)
        add("flat" + std::to_string(level) + "_" + std::to_string(k), flat,
            {center + Vec3((k - 0.5 * (pairs - 2)) * pitch, 0.0, floor - sunk + 0.5 * thick)}, blue);
      floor -= sunk;
    } else {
      const double reach = 0.5 * (pairs - 1) * pitch + 0.1 * size.length;
      add("board" + std::to_string(level), Vec3(reach, 0.5 * wide, 0.5 * thick),
          {center + Vec3(0.0, 0.0, floor + 0.5 * thick)}, blue);
    }
    floor += thick;
  }
  return house;
}

struct PointedArchSize {
  Index stones;        // on each side
  double span, point;  // m between the middle lines at the floor; distance of a side's centre from the middle
                       // over half the span: 0 is round, 1 equilateral
  double thickness, depth;  // m
};

// Two arcs about centres beyond the middle, which meet in a plane joint above it.
Standing add_pointed_arch(ModelBuilder& builder, World& world, const PointedArchSize& size,
                          const Material& material) {
  Standing arch{.first = -1};
  const double half = 0.5 * size.span, away = size.point * half, radius = half + away;
  const double inner = radius - 0.5 * size.thickness, outer = radius + 0.5 * size.thickness;
  // Of the joint at the top, where an arc crosses the middle plane, from the horizontal.
  const double inner_end = std::acos(away / inner), outer_end = std::acos(away / outer);
  for (const double side : {-1.0, 1.0}) {
    for (Index k = 0; k < size.stones; ++k) {
      std::vector<Vec3> corners;
      for (const Index joint : {k, k + 1}) {
        const double angle = inner_end * joint / size.stones;
        const bool last = joint == size.stones;
        for (const auto& [r, a] : {std::pair(inner, angle), std::pair(outer, last ? outer_end : angle)})
          for (const double y : {-0.5 * size.depth, 0.5 * size.depth})
            corners.emplace_back(last ? 0.0 : side * (r * std::cos(a) - away), y, r * std::sin(a));
      }
      const Vec3 middle = ConvexHull::around(corners)->moments().center;
      for (Vec3& x : corners) x -= middle;
      const Shape stone = Shape::hull(ConvexHull::around(corners));
      arch.last = add_solid(builder, world, "stone" + std::to_string(side < 0.0 ? k : size.stones + k), stone,
                            kStoneDensity * stone.moments().volume, {middle}, material);
      world.geoms.back().color = k + 1 == size.stones ? Color{0.86f, 0.62f, 0.38f, 1.0f}
                                 : k % 2 == 0         ? Color{0.76f, 0.74f, 0.68f, 1.0f}
                                                      : Color{0.66f, 0.64f, 0.59f, 1.0f};
      if (arch.first < 0) arch.first = arch.last;
      if (k + 1 == size.stones) arch.top = arch.last;
    }
  }
  return arch;
}

void add_floor(World& world, const Material& material) {
  world.add_geom({.name = "floor", .shape = Shape::plane(), .material = material});
}

void finish_arch(Scene& scene, ModelBuilder& builder, const std::shared_ptr<Standing>& arch, double settle) {
  finish_scene(scene, builder);
  arch->note(scene);
  arch->watch_settling(scene, arch, settle);
  scene.duration = 5.0;
  scene.observables = [arch](const Simulator& s) {
    return std::vector<Observable>{{"keystone_drift", arch->moved(s, arch->top), "m"},
                                   {"keystone_drift_exact", 0.0, "m"},
                                   {"drift", arch->drift(s), "m"},
                                   {"settled_drift", arch->creep(s), "m"},
                                   {"friction_used", arch->friction_used(s), ""}};
  };
}

Scene make_arch(const SceneValues& values, double dt) {
  Scene scene = empty_scene("roman-arch", dt, 0.002);
  const Material material{.friction = number(values, "mu")};
  const ArchSize size{whole(values, "stones"), number(values, "radius"),
                      number(values, "radius") * number(values, "thickness"), 0.5 * number(values, "radius")};
  ModelBuilder builder;
  add_floor(scene.world, material);
  const auto arch = std::make_shared<Standing>(add_arch(builder, scene.world, size, Vec3::Zero(), material));
  finish_arch(scene, builder, arch, number(values, "settle"));
  return scene;
}

Scene make_gothic_arch(const SceneValues& values, double dt) {
  Scene scene = empty_scene("gothic-arch", dt, 0.002);
  const Material material{.friction = number(values, "mu")};
  const double span = number(values, "span");
  const PointedArchSize size{whole(values, "stones"), span, number(values, "point"),
                             number(values, "thickness") * span, 0.25 * span};
  ModelBuilder builder;
  add_floor(scene.world, material);
  const auto arch = std::make_shared<Standing>(add_pointed_arch(builder, scene.world, size, material));
  finish_arch(scene, builder, arch, number(values, "settle"));
  return scene;
}

Scene make_house(const SceneValues& values, double dt) {
  Scene scene = empty_scene("house-of-cards", dt, 0.002);
  const Material material{.friction = number(values, "mu")};
  const HouseSize size{whole(values, "levels"), number(values, "card"),
                       number(values, "lean") * std::numbers::pi / 180.0, number(values, "flats") != 0.0};
  ModelBuilder builder;
  add_floor(scene.world, material);
  const auto house =
      std::make_shared<Standing>(add_house(builder, scene.world, size, Vec3::Zero(), material));
  finish_scene(scene, builder);
  house->note(scene);
  house->watch_settling(scene, house, number(values, "settle"));
  scene.duration = 5.0;
  scene.observables = [house](const Simulator& s) {
    return std::vector<Observable>{{"drift", house->drift(s), "m"},
                                   {"drift_exact", 0.0, "m"},
                                   {"settled_drift", house->creep(s), "m"},
                                   {"friction_used", house->friction_used(s), ""}};
  };
  return scene;
}

// Boxes of 1 kg .. 1 kg times the ratio in an order that puts heavy ones on light ones.
Standing add_wall(ModelBuilder& builder, World& world, const Vec3& center, double ratio,
                  const Material& material) {
  constexpr Index kRows = 4, kColumns = 5;
  constexpr double kSide = 0.3, kPitch = kSide + 0.002;
  Standing wall{.first = -1};
  const Shape box = Shape::box(Vec3::Constant(0.5 * kSide));
  for (Index r = 0; r < kRows; ++r) {
    for (Index c = 0; c < kColumns; ++c) {
      const Index place = (7 * (r * kColumns + c)) % (kRows * kColumns);  // every number once
      const double share = static_cast<double>(place) / (kRows * kColumns - 1);
      const Vec3 x((c - 0.5 * (kColumns - 1)) * kPitch, 0.0, (r + 0.5) * kSide);
      wall.last = add_solid(builder, world, "box" + std::to_string(r) + "_" + std::to_string(c), box,
                            std::pow(ratio, share), {center + x}, material);
      const auto dark = static_cast<float>(share);
      world.geoms.back().color =
          Color{0.95f - 0.65f * dark, 0.85f - 0.55f * dark, 0.55f - 0.15f * dark, 1.0f};
      if (wall.first < 0) wall.first = wall.last;
    }
  }
  wall.top = wall.last;
  return wall;
}

// Side by side, the wall in the way of the ball and nothing else.
Scene make_demo(const SceneValues& values, double dt) {
  Scene scene = empty_scene("demo", dt, 0.001);
  const Material material{.friction = number(values, "mu")};
  ModelBuilder builder;
  add_floor(scene.world, material);
  const auto arch = std::make_shared<Standing>(
      add_arch(builder, scene.world, {17, 1.2, 0.28, 0.5}, Vec3(-2.6, 0.0, 0.0), material));
  const auto house = std::make_shared<Standing>(add_house(
      builder, scene.world, {3, 0.5, 18.0 * std::numbers::pi / 180.0}, Vec3(0.0, 0.0, 0.0), material));
  const auto wall = std::make_shared<Standing>(
      add_wall(builder, scene.world, Vec3(3.0, 0.0, 0.0), number(values, "mass-ratio"), material));
  const double radius = 0.2;
  const Index ball =
      add_solid(builder, scene.world, "ball", Shape::sphere(radius), 300.0, {Vec3(3.0, -3.0, 0.8)}, material);
  scene.world.geoms.back().color = Color{0.20f, 0.22f, 0.26f, 1.0f};
  finish_scene(scene, builder);
  for (const auto& standing : {arch, house, wall}) standing->note(scene);
  const Index dof = scene.world.model.tree_dof(scene.world.model.body_tree(ball));
  scene.start.v.segment<3>(dof) = Vec3(0.0, number(values, "speed"), 1.5);
  scene.duration = 3.0;
  scene.observables = [arch, house, wall](const Simulator& s) {
    Index moved = 0;
    for (Index b = wall->first; b <= wall->last; ++b) {
      if (wall->moved(s, b) > 0.01) ++moved;
    }
    return std::vector<Observable>{{"keystone_drift", arch->moved(s, arch->top), "m"},
                                   {"keystone_drift_exact", 0.0, "m"},
                                   {"house_drift", house->drift(s), "m"},
                                   {"house_drift_exact", 0.0, "m"},
                                   {"boxes_moved", static_cast<double>(moved), "boxes"}};
  };
  return scene;
}

}  // namespace

std::vector<SceneInfo> standing_scene_infos() {
  const SceneParameter friction{"mu", 0.7, 0.0, 10.0, false, "friction coefficient"};
  const SceneParameter settle{"settle", 1.0, 0.0, 1e6, false, "settled_drift counts from here, s"};
  return {
      {"roman-arch",
       "dry stones in a semicircle; the keystone must stay where it is",
       {{"stones", 15, 3, 199, true, "number of stones"},
        {"radius", 1.0, 1e-2, 100.0, false, "of the middle line, m"},
        {"thickness", 0.2, 0.01, 1.0, false, "of the stones over the radius; below 0.1075 no friction helps"},
        friction,
        settle},
       make_arch},
      {"gothic-arch",
       "dry stones in a pointed arch; nothing must move",
       {{"stones", 7, 1, 99, true, "number of stones on each side"},
        {"span", 2.0, 1e-2, 100.0, false, "of the middle lines at the floor, m"},
        {"point", 1.0, 0.0, 2.0, false,
         "centre of a side from the middle over half the span; 1: equilateral"},
        {"thickness", 0.15, 0.01, 0.4, false, "of the stones over the span"},
        friction,
        settle},
       make_gothic_arch},
      {"house-of-cards",
       "cards that lean against each other; nothing must move",
       {{"levels", 3, 1, 12, true, "levels"},
        {"card", 0.1, 1e-2, 10.0, false, "length of a card, m"},
        {"lean", 18.0, 1.0, 40.0, false, "of the cards from the vertical, degrees"},
        {"flats", 0, 0, 1, true,
         "1: cards from tip to tip in place of one board a level (4 levels: 26 cards)"},
        friction,
        settle},
       make_house},
      {"demo",
       "an arch and a house of cards stand while a ball hits a wall of boxes of 1 to 10 000 kg",
       {{"mass-ratio", 1e4, 1.0, 1e8, false, "mass of the heaviest box over that of the lightest (1 kg)"},
        {"speed", 12.0, 0.0, 50.0, false, "of the ball, m/s"},
        friction},
       make_demo}};
}

}  // namespace tribo::detail
