// Contact of two convex cores: the normal of largest separation and the points around it.
#pragma once

#include "tribo/collide/narrow/convex_core.h"
#include "tribo/collide/narrow/pair_query.h"

namespace tribo::detail {

// In the frame of core a; facet_b in the frame of core b.
struct ConvexContact {
  Vec3 normal;        // from a to b
  double separation;  // of the cores along it
  Vec3 on_a, on_b;    // nearest or deepest points of the cores
  Facet facet_a, facet_b;
};

// False: farther apart than the margin.
bool find_contact(const CorePair& pair, double margin, std::span<const Vec2> rim, ConvexContact& contact);

// Gives the contact another normal.
void set_normal(const CorePair& pair, const Vec3& normal, std::span<const Vec2> rim, ConvexContact& contact);

// Appends the points within the margin. `frame`: that of core a in the world. `nearest`: also the nearest points
// where the facets have nothing in common that near.
void add_manifold(const PairQuery& query, const CorePair& pair, const Pose& frame, bool nearest,
                  ConvexContact& contact);

void collide_convex(const PairQuery& query);  // any two convex shapes

}  // namespace tribo::detail
