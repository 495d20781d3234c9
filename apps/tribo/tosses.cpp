#include "apps/tribo/tosses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tribo/base/errors.h"
#include "tribo/formats/hdf5_reader.h"
#include "tribo/multibody/rotation.h"

namespace tribo::cli {

std::vector<Toss> read_tosses(const std::filesystem::path& file) {
  if (!std::filesystem::is_regular_file(file))
    throw InvalidInput(fmt::format("--data {}: there is no such file", file.string()));
  if (!detail::is_hdf5(file))
    throw InvalidInput(fmt::format("--data {}: this is no HDF5 file", file.string()));
  const detail::Hdf5Reader reader(file);
  const std::vector<std::int64_t> start = reader.integers("/start");
  if (start.size() < 2 || start.front() != 0)
    reader.fail("/start", "must begin with 0 and have one number per toss and one more");
  for (std::size_t k = 1; k < start.size(); ++k) {
    if (start[k] < 2 || start[k] - 2 < start[k - 1])
      reader.fail("/start", fmt::format("[{}]: a toss needs two frames at least", k));
  }
  const auto frames = static_cast<std::size_t>(start.back());
  const Vector position = reader.numbers("/position", 3 * frames),
               rotation = reader.numbers("/quaternion", 4 * frames),
               velocity = reader.numbers("/velocity", 3 * frames),
               spin = reader.numbers("/angular_velocity", 3 * frames);
  for (const auto& [name, values] : {std::pair{"/position", &position},
                                     {"/quaternion", &rotation},
                                     {"/velocity", &velocity},
                                     {"/angular_velocity", &spin}}) {
    if (!values->allFinite()) reader.fail(name, "has a number that is not finite");
  }
  std::vector<Toss> tosses(start.size() - 1);
  for (std::size_t k = 0; k + 1 < start.size(); ++k) {
    for (Eigen::Index f = start[k]; f < start[k + 1]; ++f) {
      const Quat turn(rotation[4 * f], rotation[4 * f + 1], rotation[4 * f + 2], rotation[4 * f + 3]);
      if (!(turn.norm() > 0.5)) reader.fail("/quaternion", fmt::format("row {} has no length", f));
      tosses[k].push_back({position.segment<3>(3 * f), turn.normalized(), velocity.segment<3>(3 * f),
                           spin.segment<3>(3 * f)});
    }
  }
  return tosses;
}

namespace {

World toss_world(const TossSurface& surface) {
  Material material{.friction = surface.friction, .restitution = surface.restitution};
  if (surface.stiffness > 0.0) {
    material.stiffness = surface.stiffness;
    material.dissipation_time = surface.dissipation;
  }
  World world;
  ModelBuilder builder;
  const Shape cube = Shape::box(Vec3::Constant(0.5 * kCubeSide));
  const Index body =
      builder.add_free_body("cube", {}, {kCubeMass, Vec3::Zero(), kCubeInertia * Mat3::Identity()});
  world.model = builder.build();
  // Stiffnesses are in series: the board is rigid, all compliance is the cube's. The board's material decides nothing else.
  Material board = material;
  board.stiffness = std::numeric_limits<double>::infinity();
  world.add_geom({.name = "board", .shape = Shape::plane(), .material = board});
  world.add_geom({.name = "cube", .shape = cube, .body = body, .material = material});
  return world;
}

// Of the deepest corner, >= 0.
double depth(const Vec3& position, const Mat3& rotation) {
  const double reach = 0.5 * kCubeSide * rotation.row(2).cwiseAbs().sum();
  return std::max(0.0, reach - position.z());
}

}  // namespace

TossErrors simulate_tosses(const std::vector<Toss>& tosses, const TossSurface& surface, int substeps) {
  TossErrors errors;
  SimulatorSettings settings;
  settings.time_step = 1.0 / (kCaptureRate * substeps);
  Simulator simulator(toss_world(surface), settings);
  double steps = 0.0;
  std::vector<double> positions;
  for (const Toss& toss : tosses) {
    State state = initial_state(simulator.model());
    const TossFrame& first = toss.front();
    state.q << first.position, first.rotation.w(), first.rotation.vec();
    state.v << first.velocity, first.angular_velocity;
    simulator.restart(state);
    double position = 0.0, rotation = 0.0, deepest = 0.0, measured = 0.0;
    for (std::size_t f = 1; f < toss.size(); ++f) {
      for (int k = 0; k < substeps; ++k) {
        const StepReport report = simulator.step();
        errors.step_seconds += report.times.total();
        errors.missed += report.missed() ? 1 : 0;
        steps += 1.0;
        deepest = std::max(
            deepest, depth(simulator.kinematics().pose(1).position, simulator.kinematics().pose(1).rotation));
      }
      const Pose& pose = simulator.kinematics().pose(1);
      position += (pose.position - toss[f].position).norm();
      rotation += rotation_log(toss[f].rotation.conjugate() * Quat(pose.rotation)).norm();
      measured = std::max(measured, depth(toss[f].position, toss[f].rotation.toRotationMatrix()));
    }
    const double share = 1.0 / (static_cast<double>(tosses.size()) * static_cast<double>(toss.size() - 1));
    errors.position += position * share / kCubeSide;
    positions.push_back(position / (static_cast<double>(toss.size() - 1) * kCubeSide));
    errors.rotation += rotation * share;
    errors.penetration += deepest / static_cast<double>(tosses.size());
    errors.measured_penetration += measured / static_cast<double>(tosses.size());
  }
  errors.step_seconds /= std::max(1.0, steps);
  std::sort(positions.begin(), positions.end());
  if (!positions.empty()) errors.position_median = positions[positions.size() / 2];
  const std::size_t nearest = positions.size() - positions.size() / 10;
  for (std::size_t k = 0; k < nearest; ++k)
    errors.position_trimmed += positions[k] / static_cast<double>(nearest);
  return errors;
}

namespace {

// The simplex of Nelder and Mead (1965) with their coefficients 1, 2, 1/2, 1/2.
Vector minimise(const std::function<double(const Vector&)>& value, const Vector& start, const Vector& size,
                int evaluations) {
  struct Corner {
    Vector x;
    double f;
  };
  std::vector<Corner> simplex{{start, value(start)}};
  for (Eigen::Index k = 0; k < start.size(); ++k) {
    Vector x = start;
    x[k] += size[k];
    simplex.push_back({x, value(x)});
  }
  const auto by_value = [](const Corner& a, const Corner& b) { return a.f < b.f; };
  int used = static_cast<int>(simplex.size());
  while (used < evaluations) {
    std::stable_sort(simplex.begin(), simplex.end(), by_value);
    Vector middle = Vector::Zero(start.size());
    for (std::size_t k = 0; k + 1 < simplex.size(); ++k)
      middle += simplex[k].x / static_cast<double>(simplex.size() - 1);
    Corner& worst = simplex.back();
    const auto at = [&](double t) {
      ++used;
      const Vector x = middle + t * (worst.x - middle);
      return Corner{x, value(x)};
    };
    Corner next = at(-1.0);
    if (next.f < simplex.front().f) {
      const Corner further = at(-2.0);
      worst = further.f < next.f ? further : next;
    } else if (next.f < simplex[simplex.size() - 2].f) {
      worst = next;
    } else {
      if (next.f < worst.f) worst = next;
      next = at(0.5);
      if (next.f < worst.f) {
        worst = next;
      } else {
        for (std::size_t k = 1; k < simplex.size(); ++k) {
          simplex[k].x = 0.5 * (simplex[k].x + simplex[0].x);
          simplex[k].f = value(simplex[k].x);
          ++used;
        }
      }
    }
  }
  return std::min_element(simplex.begin(), simplex.end(), by_value)->x;
}

// Friction in [0, 3], restitution in [0, 0.95]; k and tau wherever the simplex goes.
TossSurface surface_at(const Vector& x, bool compliant) {
  TossSurface surface;
  surface.friction = std::clamp(x[0], 0.0, 3.0);
  if (compliant) {
    surface.stiffness = std::exp(std::clamp(x[1], std::log(10.0), std::log(1e8)));
    surface.dissipation = std::exp(std::clamp(x[2], std::log(1e-6), std::log(1.0)));
  } else {
    surface.restitution = std::clamp(x[1], 0.0, 0.95);
  }
  return surface;
}

}  // namespace

TossSurface fit_tosses(const std::vector<Toss>& tosses, bool compliant, int substeps, int evaluations) {
  const auto value = [&](const Vector& x) {
    return simulate_tosses(tosses, surface_at(x, compliant), substeps).position;
  };
  Vector start(compliant ? 3 : 2), size(start.size());
  if (compliant) {
    // A stiffness at which the cube's weight presses in by a thousandth of its side.
    start << 0.3, std::log(kCubeMass * 9.81 / (1e-3 * kCubeSide)), std::log(5e-3);
    size << 0.15, -1.5, 1.0;
  } else {
    start << 0.3, 0.2;
    size << 0.15, -0.1;
  }
  return surface_at(minimise(value, start, size, evaluations), compliant);
}

}  // namespace tribo::cli
