// tribo_bench_flexible cantilever|cube CELLS [STEP [SECONDS [SOLVER ...]]]: two bodies whose twins are in
// bench/peers/flexible_mujoco.py. A cantilever of 0.8 x 0.2 x 0.2 m bends under its own weight, beside beam theory
// and beside the equilibrium of its mesh; a soft cube of 0.2 m falls 1 cm on the floor and rests. STEP in s (0.005), SECONDS
// simulated (1), the law of StVK as there. One CSV line per solver, in the columns of the script; CPU time of the steps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "measure.h"
#include "tribo/base/errors.h"
#include "tribo/flex/elastic_body.h"
#include "tribo/flex/ready_meshes.h"
#include "tribo/sim/simulator.h"

namespace {

using namespace tribo;

constexpr double kGravity = 9.81;                  // m/s^2
constexpr double kDensity = 1000.0;                // kg/m^3
constexpr double kGap = 0.01;                      // m, cube above the floor
constexpr double kLength = 0.8, kThickness = 0.2;  // m, of the cantilever; the cube is as thick

struct Twin {
  bool beam = true;
  Index cells = 2;  // over the thickness
  FlexibleBody body = {};
  std::vector<Index> watched = {};  // nodes whose mean height is the deflection
};

Twin make_twin(const std::string& scene, Index cells) {
  Twin twin{.beam = scene == "cantilever", .cells = cells};
  const Vec3 size(twin.beam ? kLength : kThickness, kThickness, kThickness);
  const TetMesh mesh = box_mesh(size, {twin.beam ? 4 * cells : cells, cells, cells});
  Elasticity elasticity{.law = ElasticLaw::stvk, .density = kDensity};
  elasticity.young = twin.beam ? 1e7 : 1e5;
  elasticity.poisson = twin.beam ? 0.0 : 0.3;
  elasticity.mass_damping = twin.beam ? 30.0 : 20.0;
  const Vec3 far = 0.5 * size;
  twin.watched = nodes_on_plane(mesh, far, twin.beam ? Vec3::UnitX() : Vec3::UnitZ(), 1e-9);
  twin.body = {.name = "body", .mesh = mesh, .elasticity = elasticity, .material = {.friction = 0.5}};
  twin.body.pose.position = Vec3(0.0, 0.0, twin.beam ? 1.0 : far.z() + kGap);
  if (twin.beam) twin.body.fixed_nodes = nodes_on_plane(mesh, -far, Vec3::UnitX(), 1e-9);
  return twin;
}

double mean_height(const Vector& positions, const std::vector<Index>& nodes) {
  double sum = 0.0;
  for (const Index n : nodes) sum += positions[3 * n + 2];
  return sum / static_cast<double>(nodes.size());
}

double volume(const Twin& twin) { return (twin.beam ? kLength : kThickness) * kThickness * kThickness; }

struct Outcome {
  double sag = 0.0, deepest = 0.0, penetration = 0.0, force = 0.0, ms = 0.0;
  Index missed = 0;
};

Outcome run(const Twin& twin, double step, double seconds, const std::string& solver) {
  World world;
  if (!twin.beam) world.add_geom({.shape = Shape::plane(), .material = {.friction = 0.5}});
  world.add_flexible_body(twin.body);
  Simulator simulator(world, {.time_step = step, .solver = solver});
  const double begin = mean_height(simulator.state().node_position, twin.watched);
  const auto steps = static_cast<Index>(std::lround(seconds / step));
  constexpr Index kLast = 20;  // steps whose mean force is that of rest
  Outcome out;
  const auto lowest = [&] {
    const Vector& at = simulator.state().node_position;
    double least = 0.0;
    for (Index n = 0; 3 * n < at.size(); ++n) least = std::min(least, at[3 * n + 2]);
    return -least;
  };
  for (Index k = 0; k < steps; ++k) {
    const double before = bench::cpu_ms();
    out.missed += simulator.step().missed() ? 1 : 0;
    out.ms += (bench::cpu_ms() - before) / static_cast<double>(steps);
    out.deepest = std::max(out.deepest, lowest());
    if (k + kLast < steps) continue;
    for (const Vec3& impulse : simulator.flexible_contact_impulses())
      out.force += impulse.z() / (step * kLast);
  }
  out.penetration = lowest();
  out.force /= kDensity * volume(twin) * kGravity;
  out.sag = begin - mean_height(simulator.state().node_position, twin.watched) - (twin.beam ? 0.0 : kGap);
  return out;
}

void print_reference(const char* name, const Twin& twin, double deflection) {
  fmt::print("{},,cantilever,{},{},,,{:.6g},,,,,,ok\n", name, twin.cells, 3 * twin.body.mesh.node_count(),
             deflection);
}

// Timoshenko's beam, and where the mesh itself comes to rest.
void print_references(const Twin& twin) {
  const double line = kDensity * kGravity * kThickness * kThickness;  // N/m
  const double young = twin.body.elasticity.young, inertia = std::pow(kThickness, 4) / 12.0;
  const double shear = 5.0 / 6.0 * twin.body.elasticity.lame_mu() * kThickness * kThickness;
  print_reference(
      "beam theory", twin,
      line * std::pow(kLength, 4) / (8.0 * young * inertia) + line * kLength * kLength / (2.0 * shear));
  const ElasticBody body(twin.body.mesh, twin.body.elasticity);
  const Equilibrium rest = equilibrium(body, twin.body.fixed_nodes, body.weight(Vec3(0.0, 0.0, -kGravity)));
  print_reference("equilibrium of the mesh", twin, -mean_height(rest.positions, twin.watched));
}

void measure(const Twin& twin, double step, double seconds, const std::string& solver) {
  const Outcome out = run(twin, step, seconds, solver);
  const auto of_cube = [&](double value) { return twin.beam ? std::string() : fmt::format("{:.6g}", value); };
  const double steps = seconds / step;
  fmt::print("tribo,{},{},{},{},{:g},{:g},{:.6g},{},{},{},{:.6g},{:.6g},{}\n", solver,
             twin.beam ? "cantilever" : "cube", twin.cells,
             3 * (twin.body.mesh.node_count() - static_cast<Index>(twin.body.fixed_nodes.size())), step,
             seconds, out.sag, of_cube(out.deepest), of_cube(out.penetration), of_cube(out.force), out.ms,
             1e-3 * out.ms * steps / seconds, out.missed == 0 ? "ok" : fmt::format("{} missed", out.missed));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string scene = argc > 1 ? argv[1] : "";
  if (argc < 3 || (scene != "cantilever" && scene != "cube")) {
    std::fprintf(stderr, "usage: tribo_bench_flexible cantilever|cube CELLS [STEP [SECONDS [SOLVER ...]]]\n");
    return 2;
  }
  try {
    const Twin twin = make_twin(scene, std::atoi(argv[2]));
    const double step = argc > 3 ? std::atof(argv[3]) : 0.005, seconds = argc > 4 ? std::atof(argv[4]) : 1.0;
    if (twin.beam) print_references(twin);
    std::vector<std::string> solvers(argv + std::min(argc, 5), argv + argc);
    if (solvers.empty()) solvers = {"auto"};
    for (const std::string& solver : solvers) measure(twin, step, seconds, solver);
  } catch (const InvalidInput& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return 0;
}
