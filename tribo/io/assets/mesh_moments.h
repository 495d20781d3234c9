// Volume, centre and inertia of a triangle mesh, in the ways MJCF offers.
#pragma once

#include <cstdint>

#include "tribo/collide/shape.h"
#include "tribo/io/assets/mesh_file.h"

namespace tribo::detail {

enum class MeshInertia : std::uint8_t {
  convex,  // the convex hull, solid
  exact,   // the enclosed volume: signed tetrahedra; needs a closed surface
  legacy,  // absolute tetrahedra about the middle of the surface: exact only for convex meshes
  shell    // the surface itself; "volume" is the area
};

// The triangles of the convex hull, none of them merged: what collisions use joins triangles that are flat to 3e-7.
// InvalidInput (without file name) when the points lie in a plane.
MeshData hull_surface(const std::vector<Vec3>& points);

// InvalidInput (without file name) when the volume is not positive.
VolumeMoments mesh_moments(const MeshData& mesh, MeshInertia mode);

}  // namespace tribo::detail
