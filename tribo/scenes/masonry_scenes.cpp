// Shaped like the families KaplasTower, Bridge_PR and LowWall of FCLIB (Acary, Bremond and Huber 2018, Table 5): blocks that
// stand and are then hit, so that the contact problems of a run go from sticking everywhere to falling apart.
#include "tribo/scenes/masonry_scenes.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "tribo/base/random.h"
#include "tribo/collide/shapes/convex_hull.h"

namespace tribo::detail {

namespace {

constexpr double kDensity = 700.0;  // kg/m^3, wood
// A plank of the toy: 15 : 3 : 1 times 8 mm.
constexpr double kUnit = 0.008;
const Vec3 kPlank(7.5 * kUnit, 1.5 * kUnit, 0.5 * kUnit);  // half extents, lying along x

double plank_mass() { return kDensity * 8.0 * kPlank.prod(); }

// What structures report: what still stands, and how fast things are.
void observe_structure(Scene& scene) {
  std::vector<double> heights;
  Kinematics kinematics(scene.world.model);
  kinematics.set_positions(scene.start.q);
  for (Index b = 1; b < scene.world.model.body_count(); ++b)
    heights.push_back(kinematics.pose(b).position.z());
  scene.observables = [heights](const Simulator& s) {
    Index standing = 0;
    double fastest = 0.0;
    for (Index b = 1; b < s.model().body_count(); ++b) {
      if (s.kinematics().pose(b).position.z() > 0.8 * heights[static_cast<std::size_t>(b) - 1]) ++standing;
    }
    for (Index t = 0; t < s.model().tree_count(); ++t)
      fastest = std::max(fastest, s.state().v.segment<3>(s.model().tree_dof(t)).norm());
    return std::vector<Observable>{{"standing", static_cast<double>(standing), "blocks"},
                                   {"blocks", static_cast<double>(heights.size()), "blocks"},
                                   {"fastest", fastest, "m/s"},
                                   {"kinetic_energy", s.energy().kinetic, "J"}};
  };
}

// `hits` blocks, drawn from all, get a velocity of `speed` in a random direction of the ground plane.
void hit_blocks(Scene& scene, Index hits, double speed, Random& random) {
  const Index trees = scene.world.model.tree_count();
  for (Index k = 0; k < hits; ++k) {
    const auto tree = static_cast<Index>(random.uniform() * trees);
    const double angle = random.uniform(0.0, 2.0 * std::numbers::pi);
    const Index dof = scene.world.model.tree_dof(std::min(tree, trees - 1));
    scene.start.v[dof] += speed * std::cos(angle);
    scene.start.v[dof + 1] += speed * std::sin(angle);
  }
}

class Masonry {
 public:
  Masonry(Scene& scene, const SceneValues& values)
      : scene_(scene),
        material_{.friction = number(values, "mu")},
        random_(static_cast<std::uint64_t>(number(values, "seed"))) {
    scene.world.add_geom({.name = "floor", .shape = Shape::plane(), .material = material_});
  }
  void add(const Shape& shape, double mass, const Pose& pose) {
    add_solid(builder_, scene_.world, "block" + std::to_string(count_++), shape, mass, pose, material_);
  }
  Random& random() { return random_; }
  void finish(Index hits, double speed, double duration) {
    finish_scene(scene_, builder_);
    hit_blocks(scene_, hits, speed, random_);
    scene_.duration = duration;
    observe_structure(scene_);
  }

 private:
  Scene& scene_;
  Material material_;
  Random random_;
  ModelBuilder builder_;
  Index count_ = 0;
};

Mat3 about_z(double angle) { return Eigen::AngleAxisd(angle, Vec3::UnitZ()).toRotationMatrix(); }

// Two planks per layer, each layer across the one below.
Scene make_kapla_tower(const SceneValues& values, double dt) {
  Scene scene = empty_scene("kapla-tower", dt, 0.002);
  const Index planks = whole(values, "planks");
  Masonry masonry(scene, values);
  const double side = kPlank.x() - 2.0 * kPlank.y();  // of the planks' centre lines from the axis
  for (Index i = 0; i < planks; ++i) {
    const Index layer = i / 2;
    const double offset = (i % 2 == 0 ? -1.0 : 1.0) * side + masonry.random().uniform(-0.5e-3, 0.5e-3);
    const double height = (2 * layer + 1) * kPlank.z();
    const bool along_x = layer % 2 == 0;
    const double turn = masonry.random().uniform(-0.01, 0.01) + (along_x ? 0.0 : 0.5 * std::numbers::pi);
    masonry.add(Shape::box(kPlank), plank_mass(),
                {along_x ? Vec3(0.0, offset, height) : Vec3(offset, 0.0, height), about_z(turn)});
  }
  masonry.finish(whole(values, "hits"), number(values, "speed"), 0.6);
  return scene;
}

// Storeys: four planks upright, a floor of planks across two beams on top of them.
Scene make_kapla_house(const SceneValues& values, double dt) {
  Scene scene = empty_scene("kapla-house", dt, 0.002);
  const Index storeys = whole(values, "storeys"), floor_planks = 4;
  Masonry masonry(scene, values);
  const Mat3 upright = Eigen::AngleAxisd(0.5 * std::numbers::pi, Vec3::UnitY()).toRotationMatrix();
  const double reach = kPlank.x() - kPlank.y();
  double ground = 0.0;
  for (Index storey = 0; storey < storeys; ++storey) {
    for (const Vec2& corner : {Vec2(-1, -1), Vec2(1, -1), Vec2(-1, 1), Vec2(1, 1)}) {
      Vec3 place(corner.x() * reach, corner.y() * reach, ground + kPlank.x());
      place.x() += masonry.random().uniform(-0.5e-3, 0.5e-3);
      masonry.add(Shape::box(kPlank), plank_mass(), {place, upright});
    }
    const double beams = ground + 2.0 * kPlank.x() + kPlank.z();
    for (const double y : {-reach, reach})
      masonry.add(Shape::box(kPlank), plank_mass(), {Vec3(0.0, y, beams)});
    const double boards = beams + 2.0 * kPlank.z();
    for (Index k = 0; k < floor_planks; ++k) {
      const double x = (2.0 * k / (floor_planks - 1) - 1.0) * reach;
      masonry.add(Shape::box(kPlank), plank_mass(), {Vec3(x, 0.0, boards), about_z(0.5 * std::numbers::pi)});
    }
    ground = boards + kPlank.z();
  }
  masonry.finish(whole(values, "hits"), number(values, "speed"), 0.6);
  return scene;
}

// A semicircular arch of wedges that stands on the ground with its two lowest ones; each wedge touches its neighbours
// with a plane face. Stable under its weight from a thickness of 0.107 of the mean radius on; here it is 0.22.
Scene make_arch_bridge(const SceneValues& values, double dt) {
  Scene scene = empty_scene("arch-bridge", dt, 0.002);
  const Index stones = whole(values, "stones");
  const double inner = 1.0, outer = 1.25, half_depth = 0.3;
  Masonry masonry(scene, values);
  const double step = std::numbers::pi / stones;
  for (Index i = 0; i < stones; ++i) {
    const double middle = (i + 0.5) * step, mean = 0.5 * (inner + outer);
    const Vec3 centre(-mean * std::cos(middle), 0.0, mean * std::sin(middle));
    std::vector<Vec3> corners;
    for (const double angle : {middle - 0.5 * step, middle + 0.5 * step}) {
      for (const double radius : {inner, outer}) {
        for (const double y : {-half_depth, half_depth})
          corners.push_back(Vec3(-radius * std::cos(angle), y, radius * std::sin(angle)) - centre);
      }
    }
    const Shape shape = Shape::hull(ConvexHull::around(corners));
    masonry.add(shape, 2400.0 * shape.moments().volume, {centre});
  }
  masonry.finish(whole(values, "hits"), number(values, "speed"), 1.0);
  return scene;
}

// Bricks in running bond, 1 mm apart; the ends are plumb.
Scene make_low_wall(const SceneValues& values, double dt) {
  Scene scene = empty_scene("low-wall", dt, 0.002);
  const Index rows = whole(values, "rows"), columns = whole(values, "columns");
  const Vec3 half(0.1, 0.05, 0.04);
  const double pitch = 2.0 * half.x() + 0.001;
  Masonry masonry(scene, values);
  for (Index r = 0; r < rows; ++r) {
    const double shift = r % 2 == 1 ? 0.25 * pitch : -0.25 * pitch;
    for (Index c = 0; c < columns; ++c) {
      const Vec3 place((c - 0.5 * (columns - 1)) * pitch + shift, masonry.random().uniform(-1e-3, 1e-3),
                       (2.0 * r + 1.0) * half.z());
      masonry.add(Shape::box(half), 1800.0 * 8.0 * half.prod(), {place});
    }
  }
  masonry.finish(whole(values, "hits"), number(values, "speed"), 0.6);
  return scene;
}

}  // namespace

std::vector<SceneInfo> masonry_scene_infos() {
  const SceneParameter seed{"seed", 1, 0, 1e9, true, "of the random numbers"};
  const SceneParameter hits{"hits", 4, 0, 1000, true, "blocks that are hit at the beginning"};
  const auto speed = [](double own) {
    return SceneParameter{"speed", own, 0.0, 100.0, false, "of the blocks hit, m/s"};
  };
  const auto friction = [](double own) {
    return SceneParameter{"mu", own, 0.0, 10.0, false, "friction coefficient"};
  };
  return {{"kapla-tower",
           "a tower of toy planks, two per layer, some of them hit",
           {{"planks", 60, 2, 2000, true, "number of planks"}, hits, speed(1.5), friction(0.7), seed},
           make_kapla_tower},
          {"kapla-house",
           "storeys of upright planks, beams and boards, some of them hit",
           {{"storeys", 3, 1, 100, true, "number of storeys, 10 planks each"},
            hits,
            speed(0.5),
            friction(0.7),
            seed},
           make_kapla_house},
          {"arch-bridge",
           "a semicircular arch of wedge stones, some of them hit",
           {{"stones", 23, 3, 500, true, "number of stones"}, hits, speed(1.5), friction(0.9), seed},
           make_arch_bridge},
          {"low-wall",
           "a wall of bricks with plumb ends, some of them hit",
           {{"rows", 8, 1, 100, true, "rows of bricks"},
            {"columns", 10, 1, 200, true, "bricks per row"},
            hits,
            speed(2.0),
            friction(0.83),
            seed},
           make_low_wall}};
}

}  // namespace tribo::detail
