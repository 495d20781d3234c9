// Triangle meshes from files: .obj, .stl (binary and text) and MuJoCo's .msh are read here, all else
// (.dae, .ply, ...) by assimp.
//
// Example
//   MeshData mesh = read_mesh_file("link.stl");
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "tribo/base/types.h"
#include "tribo/math/pose.h"

namespace tribo::detail {

// Rounded to single precision and back. GCC 12 takes the two conversions away where it joins several numbers into
// vectors (-O3), hence `volatile`.
inline double to_single(double x) {
  volatile float rounded = static_cast<float>(x);
  return static_cast<double>(rounded);
}

struct MeshData {
  std::vector<Vec3> vertices;                   // in the units of the file
  std::vector<std::array<Index, 3>> triangles;  // counter-clockwise seen from outside
};

// Never more than ten million vertices or triangles. InvalidInput naming the file when it is missing, damaged,
// has no vertex, or refers to vertices it does not have.
MeshData read_mesh_file(const std::filesystem::path& file);

}  // namespace tribo::detail
