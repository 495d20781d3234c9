// <flexcomp> with dim="3": a flexible body. What MuJoCo makes of it and what is taken over:
//
//   type grid, box, cylinder, ellipsoid, mesh, gmsh, direct    the mesh (flexcomp_mesh.h), at pos, quat, ... in the body around it
//   mass                     kg, of all; here by volume, in MuJoCo the same for every point
//   elasticity: young Pa, poisson, damping s    law of St. Venant and Kirchhoff, D = damping K
//   pin: id, range, grid, gridrange    points of the body around it: fixed in the world, or attached where that body moves
//   contact: friction, contype, conaffinity, priority, gap
// InvalidInput names what is wrong; what has no counterpart is warned of; bodies that cannot be made (other dims, other dofs, rigid
// ones, no Young's modulus) are left out where that is allowed.
#pragma once

#include <optional>
#include <string>

#include "tribo/io/mjcf/tree.h"

namespace tribo::detail {

struct FlexcompRequest {
  MjcfFile& file;
  const SourceElement& element;
  std::string name;
  Pose frame;  // of the frames around it in the body
};
// In the frame of the body around it; none: left out.
std::optional<FlexSpec> read_flexcomp(const FlexcompRequest& request, LoadLog& log);

}  // namespace tribo::detail
