// bending: a beam on two cylinders is bent by a third (Mangoni's thesis, sec. 5.3.2). flexible-stack: flexible cubes and rigid
// plates by turns. cubes-fem: flexible cubes that fall on each other, after the family of that name of Acary, Bremond and Huber (2018).
#include "tribo/scenes/flexible_scenes.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>

#include "tribo/flex/ready_meshes.h"

namespace tribo::detail {

namespace {

// Vertical force of contacts on flexible bodies, N, over those that `counts` says.
template <class Counts>
double lift(const Simulator& s, const Counts& counts) {
  double sum = 0.0;
  for (std::size_t c = 0; c < s.flexible_contacts().size(); ++c) {
    if (counts(s.flexible_contacts()[c])) sum += s.flexible_contact_impulses()[c].z();
  }
  return sum / s.time_step();
}

// Timoshenko's beam on two supports with a load in the middle, its own weight, and ends that stand out beyond the supports.
struct Beam {
  double span, width, height, overhang;  // m
  double young, poisson;
  double weight;  // N/m

  double bending_stiffness() const { return young * width * height * height * height / 12.0; }
  double shear_stiffness() const { return 5.0 / 6.0 * 0.5 * young / (1.0 + poisson) * width * height; }
  // How far the middle sinks below the supports, m.
  double sag() const {
    const double ei = bending_stiffness(), l2 = span * span;
    return 5.0 * weight * l2 * l2 / (384.0 * ei) - weight * overhang * overhang * l2 / (16.0 * ei) +
           weight * l2 / (8.0 * shear_stiffness());
  }
  double compliance() const {  // m/N
    return span * span * span / (48.0 * bending_stiffness()) + span / (4.0 * shear_stiffness());
  }
};

// Mean height of the nodes of a cross section, of which the mesh has one at x.
double section_height(const Simulator& s, const TetMesh& mesh, double x) {
  double sum = 0.0;
  const std::vector<Index> nodes = nodes_on_plane(mesh, Vec3(x, 0, 0), Vec3::UnitX(), 1e-6);
  for (const Index n : nodes) sum += s.state().node_position[3 * n + 2];
  return sum / static_cast<double>(nodes.size());
}

Scene make_bending(const SceneValues& values, double dt) {
  Scene scene = empty_scene("bending", dt, 0.06);
  constexpr double kCell = 0.05, kSpan = 1.0, kRadius = 0.05;  // m
  const Index finer = whole(values, "finer");
  const double depth = number(values, "depth"), speed = number(values, "speed");
  const Vec3 size(26 * kCell, 12 * kCell, 3 * kCell);
  const Material material{.friction = number(values, "mu")};
  FlexibleBody body{.name = "beam",
                    .mesh = box_mesh(size, {26 * finer, 12 * finer, 3 * finer}),
                    .elasticity = {.young = number(values, "young"),
                                   .poisson = number(values, "poisson"),
                                   .density = 1000.0,
                                   .stiffness_damping = number(values, "damping")},
                    .material = material};
  const Mat3 lying = Eigen::AngleAxisd(0.5 * std::numbers::pi, Vec3::UnitX()).toRotationMatrix();
  const Shape cylinder = Shape::cylinder(kRadius, 0.6 * size.y());
  const double away = 0.5 * size.z() + kRadius;
  ModelBuilder builder;
  const Index roller =
      builder.add_body({.name = "roller", .parent = 0, .position = Vec3(0, 0, away), .mocap = true});
  for (const double side : {-1.0, 1.0}) {
    scene.world.add_geom({.name = side < 0.0 ? "left" : "right",
                          .shape = cylinder,
                          .pose = {Vec3(0.5 * side * kSpan, 0.0, -away), lying},
                          .material = material});
  }
  scene.world.add_geom({.name = "roller",
                        .shape = cylinder,
                        .body = roller,
                        .pose = {Vec3::Zero(), lying},
                        .material = material});
  finish_scene(scene, builder);
  scene.world.add_flexible_body(body);
  scene.start = initial_state(scene.world);
  scene.duration = depth / speed + 40.0 * scene.world.time_step;
  scene.control = [=](Simulator& s) {
    const double sunk = std::min(depth, speed * (s.state().time + s.time_step()));
    s.move_mocap(roller, {Vec3(0.0, 0.0, away - sunk)});
  };
  const Beam beam{kSpan,
                  size.y(),
                  size.z(),
                  0.5 * (size.x() - kSpan),
                  body.elasticity.young,
                  body.elasticity.poisson,
                  body.elasticity.density * kEarthGravity * size.y() * size.z()};
  const auto deepest = std::make_shared<double>(0.0);
  scene.observe = [deepest](const Simulator&, const StepReport& r) {
    *deepest = std::max(*deepest, r.penetration);
  };
  scene.observables = [=, mesh = body.mesh](const Simulator& s) {
    const double supports =
        0.5 * (section_height(s, mesh, -0.5 * kSpan) + section_height(s, mesh, 0.5 * kSpan));
    const double force = -lift(s, [=](const FlexibleContact& c) { return c.a.body == roller; });
    return std::vector<Observable>{{"deflection", supports - section_height(s, mesh, 0.0), "m"},
                                   {"deflection_exact", beam.sag() + beam.compliance() * force, "m"},
                                   {"force", force, "N"},
                                   {"deepest_penetration", *deepest, "m"},
                                   {"fastest", s.state().node_velocity.lpNorm<Eigen::Infinity>(), "m/s"}};
  };
  return scene;
}

FlexibleBody soft_cube(const SceneValues& values, double edge, const Vec3& place, std::string name) {
  const Index cells = whole(values, "cells");
  return {.name = std::move(name),
          .mesh = box_mesh(Vec3::Constant(edge), {cells, cells, cells}),
          .pose = {place},
          .elasticity = {.young = number(values, "young"),
                         .poisson = 0.3,
                         .density = 1000.0,
                         .stiffness_damping = 0.002},
          .material = {.friction = number(values, "mu")}};
}

// Weight of everything over what the floor carries.
std::vector<Observable> floor_observables(const Simulator& s, double weight) {
  const double force = lift(s, [](const FlexibleContact& c) { return c.a.geom == 0; });
  return {{"floor_force", force / weight, "weights"},
          {"floor_force_exact", 1.0, "weights"},
          {"elastic_energy", s.energy().elastic, "J"},
          {"fastest", s.state().node_velocity.lpNorm<Eigen::Infinity>(), "m/s"}};
}

Scene make_flexible_stack(const SceneValues& values, double dt) {
  Scene scene = empty_scene("flexible-stack", dt, 0.005);
  constexpr double kEdge = 0.2, kPlate = 0.04;  // m
  const Material material{.friction = number(values, "mu")};
  const Shape plate = Shape::box(Vec3(0.14, 0.14, 0.5 * kPlate));
  const double plate_mass = number(values, "plate");
  ModelBuilder builder;
  scene.world.add_geom({.name = "floor", .shape = Shape::plane(), .material = material});
  double height = 0.0, mass = 0.0;
  for (Index k = 0; k < whole(values, "layers"); ++k) {
    const std::string number = std::to_string(k);
    scene.world.add_flexible_body(
        soft_cube(values, kEdge, Vec3(0, 0, height + 0.5 * kEdge), "cube" + number));
    height += kEdge;
    add_solid(builder, scene.world, "plate" + number, plate, plate_mass, {Vec3(0, 0, height + 0.5 * kPlate)},
              material);
    height += kPlate;
    mass += 1000.0 * kEdge * kEdge * kEdge + plate_mass;
  }
  finish_scene(scene, builder);
  scene.start = initial_state(scene.world);
  scene.duration = 2.0;
  scene.observables = [=](const Simulator& s) { return floor_observables(s, mass * kEarthGravity); };
  return scene;
}

// In layers of two by two, each turned a little, a gap between them.
Scene make_cubes_fem(const SceneValues& values, double dt) {
  Scene scene = empty_scene("cubes-fem", dt, 0.005);
  constexpr double kEdge = 0.2, kGap = 0.02;  // m
  const Material material{.friction = number(values, "mu")};
  ModelBuilder builder;
  scene.world.add_geom({.name = "floor", .shape = Shape::plane(), .material = material});
  const Index count = whole(values, "cubes");
  for (Index k = 0; k < count; ++k) {
    const Index layer = k / 4;
    const double x = (k & 1 ? 0.5 : -0.5) * (kEdge + kGap), y = (k & 2 ? 0.5 : -0.5) * (kEdge + kGap);
    const Mat3 turn = Eigen::AngleAxisd(0.3 * layer, Vec3::UnitZ()).toRotationMatrix();
    const Vec3 place = turn * Vec3(x, y, 0.5 * kEdge + kGap + layer * (kEdge + kGap));
    FlexibleBody body = soft_cube(values, kEdge, place, "cube" + std::to_string(k));
    body.pose.rotation = turn;
    scene.world.add_flexible_body(std::move(body));
  }
  finish_scene(scene, builder);
  scene.start = initial_state(scene.world);
  scene.duration = 1.0;
  const double weight = count * 1000.0 * kEdge * kEdge * kEdge * kEarthGravity;
  scene.observables = [weight](const Simulator& s) { return floor_observables(s, weight); };
  return scene;
}

}  // namespace

std::vector<SceneInfo> flexible_scene_infos() {
  const SceneParameter mu{"mu", 0.5, 0.0, 10.0, false, "friction coefficient"};
  const SceneParameter cells{"cells", 3, 1, 40, true, "of a cube's mesh along its edge"};
  const SceneParameter young{"young", 1e6, 1e3, 1e12, false, "Young's modulus, Pa"};
  return {{"bending",
           "a flexible beam on two cylinders, bent by a third (Mangoni, sec. 5.3.2)",
           {{"depth", 0.05, 0.001, 0.5, false, "how far the third one moves, m"},
            {"speed", 1.0, 1e-3, 100.0, false, "of the third one, m/s"},
            {"finer", 1, 1, 4, true, "times 26 x 12 x 3 cells"},
            {"young", 1e7, 1e4, 1e12, false, "Young's modulus, Pa"},
            {"poisson", 0.3, -0.9, 0.49, false, "Poisson's ratio"},
            {"damping", 0.003, 0.0, 1.0, false, "Rayleigh damping beta, s"},
            {"mu", 0.0, 0.0, 10.0, false, "friction coefficient"}},
           make_bending},
          {"flexible-stack",
           "flexible cubes and rigid plates by turns",
           {{"layers", 3, 1, 20, true, "of a cube and a plate"},
            {"plate", 5.0, 1e-3, 1e4, false, "mass of a plate, kg"},
            cells,
            young,
            mu},
           make_flexible_stack},
          {"cubes-fem",
           "flexible cubes that fall on each other (after Acary, Bremond and Huber 2018)",
           {{"cubes", 5, 1, 400, true, "how many"}, cells, young, mu},
           make_cubes_fem}};
}

}  // namespace tribo::detail
