// A random pile of spheres in an open box, built by dropping them one after the other.
//
// Each sphere falls vertically onto the pile, at the lowest of a few random places (which keeps the surface
// level and fills about 0.55 of the volume). If it lands on a sphere j, it moves to the lowest stable place
// that touches j: a point where it touches j and two more surfaces (spheres, floor, walls) and where the
// vertical lies in the cone of the three contact normals, overlapping nothing. Where there is none, it is
// dropped again; after a few attempts it stays on top of j. So every sphere touches something exactly, nearly
// all of them three things below.
//
// Such a point x, relative to the centre of j and for centres (radii enlarged by the new sphere's): |x| =
// R_j, and for each other surface one linear equation g.x = d: the radical plane with j for a sphere, the
// plane itself for a wall.
//
// Cost: spheres are kept in vertical columns two radii wide and sorted by height, so a drop looks at the
// surface of the pile only: O(1) per sphere.
#pragma once

#include <vector>

#include "tribo/base/random.h"
#include "tribo/generate/generators.h"
#include "tribo/problem/contact_problem.h"

namespace tribo::detail {

struct Sphere {
  Vec3 centre;    // m
  double radius;  // m
};

struct SpherePile {
  double half_width = 0.0;  // m: walls at x, y = +-half_width; the floor is at z = 0
  std::vector<Sphere> spheres;
};

// Two spheres, or a sphere and the container, less than a margin apart.
struct SphereContact {
  Index a;      // sphere
  Index b;      // sphere before a, or kGround
  Index side;   // container: 0 floor, 1 +x, 2 -x, 3 +y, 4 -y wall; spheres: 0
  Vec3 normal;  // from b to a
  Vec3 point;   // midway between the surfaces
  double gap;   // m
};

inline constexpr double kLargestRadius = 0.05;   // m
inline constexpr double kSmallestRadius = 0.04;  // m
inline constexpr double kPileMargin = 5e-4;      // m: wider gaps are no contacts

SpherePile drop_spheres(Index count, Random& random);
std::vector<SphereContact> find_contacts(const SpherePile& pile);

// `settings` have their defaults filled in and are valid.
ContactProblem make_pile(const GeneratorSettings& settings);

}  // namespace tribo::detail
