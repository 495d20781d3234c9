// A world as an MJCF file, for other simulators and for loading it again.
//
// Written: bodies with explicit inertias, joints, sites, geoms of primitives, planes and convex hulls (as meshes
// with their vertices in the file), contact pairs and excludes, tendons, couplings, actuators, keyframes, gravity
// and the time step. All numbers have the digits that give the same double again; MJCF keeps the vertices of
// meshes in single precision, so hulls come back to about 1e-8 of their size. What has no name gets one; geoms
// come back in the order of their bodies; the points and frames of connects and welds become sites.
//
// Example
//   Scene scene = make_scene("pyramid");
//   write_mjcf(scene.world, "pyramid.xml");
#pragma once

#include <filesystem>

#include "tribo/sim/world.h"

namespace tribo {

// InvalidInput naming the geom, joint, ... that MJCF (as tribo reads it) cannot express: compliant or bouncing
// materials, friction that is not combined by the maximum, surfaces of triangles, height and distance fields,
// two things of one kind with the same name, ranges with one infinite end; or when the file cannot be written.
void write_mjcf(const World& world, const std::filesystem::path& file);

}  // namespace tribo
