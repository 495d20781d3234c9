// Motion-captured tosses of a cube: reading, simulating, fitting (the study `reality`).
#pragma once

#include <filesystem>
#include <vector>

#include "tribo/sim/simulator.h"

namespace tribo::cli {

// The cube of ContactNets (Pfrommer, Halm, Posa, CoRL 2020).
inline constexpr double kCubeSide = 0.1048;     // m
inline constexpr double kCubeMass = 0.37;       // kg
inline constexpr double kCubeInertia = 8.1e-4;  // kg m^2 about each axis
inline constexpr double kCaptureRate = 148.0;   // Hz

struct TossFrame {
  Vec3 position;  // m, board frame: the board is z = 0
  Quat rotation;
  Vec3 velocity;          // m/s
  Vec3 angular_velocity;  // rad/s, cube axes
};
using Toss = std::vector<TossFrame>;

// Datasets start, position, quaternion (wxyz), velocity, angular_velocity. InvalidInput names the file and the dataset.
std::vector<Toss> read_tosses(const std::filesystem::path& file);

struct TossSurface {
  double friction = 0.5;
  double restitution = 0.0;  // of rigid contact
  double stiffness = 0.0;    // N/m; 0: rigid
  double dissipation = 0.0;  // s
};

struct TossErrors {
  double position = 0.0;              // mean over tosses of the mean over frames, in sides of the cube
  double position_median = 0.0;       // median over tosses of the mean over frames, in sides
  double position_trimmed = 0.0;      // the mean of the nearest nine tenths of the tosses, in sides
  double rotation = 0.0;              // mean over tosses of the mean over frames of the angle, rad
  double penetration = 0.0;           // mean over tosses of the deepest corner below the board, m
  double measured_penetration = 0.0;  // the same of the capture
  double step_seconds = 0.0;          // mean, wall clock
  std::int64_t missed = 0;            // steps above the tolerance
};

// From the first frame of every toss, `substeps` time steps per frame, against all later ones.
TossErrors simulate_tosses(const std::vector<Toss>& tosses, const TossSurface& surface, int substeps);

// Least position error by the simplex of Nelder and Mead, from a start that needs no knowledge of the data: friction and
// restitution, or friction, stiffness and dissipation time on a logarithmic scale.
TossSurface fit_tosses(const std::vector<Toss>& tosses, bool compliant, int substeps, int evaluations);

}  // namespace tribo::cli
