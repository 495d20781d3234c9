// Bodies from formulas: a signed distance (negative inside) put together from figures that are extruded, revolved or
// swept along a helix, and from unions, intersections and differences of such bodies. With it come the gradient, a
// surface of triangles for the contact search and the viewer, and the inertia.
//
// The zero of the formula is the surface. Elsewhere the value never exceeds the distance: exact outside unions and
// extruded or revolved exact figures, a lower bound of its size in the rest (a thread of ISO proportions: within 0.1 %
// near its flanks). So |f(x) - f(y)| <= |x - y| everywhere.
//
// Example
//   Solid ring = Solid::revolve(Profile::circle({0.3, 0}, 0.05));                  // radii m
//   Solid cup = subtract(Solid::cylinder(0.04, 0.05), Solid::cylinder(0.037, 0.05).moved({Vec3(0, 0, 0.003)}));
//   Shape shape = cup.shape(0.004);                                                // pieces of its surface: at most 4 mm
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tribo/collide/shape.h"
#include "tribo/collide/shapes/profile.h"

namespace tribo {

// Corners and faces (counter-clockwise seen from outside) of a surface.
struct Triangles {
  std::vector<Vec3> vertices;
  std::vector<std::array<Index, 3>> faces;
};

class Solid {
 public:
  struct Sample {
    double distance;  // m
    Vec3 gradient;    // length at most 1; where two parts are equally near, that of one of them
  };

  static Solid ball(double radius);
  static Solid box(const Vec3& half);
  static Solid cylinder(double radius, double half_height);
  // The figure in the plane x, y between z = -half_height and z = half_height.
  static Solid prism(const Profile& figure, double half_height);
  // The figure's part with x >= 0 about the z axis (Lee et al. 2024, Appendix B). One that holds the axis is drawn across it.
  static Solid revolve(const Profile& figure);
  // The figure (distance from the axis, z) rises by `lead` per turn. Only its part with |y| <= lead / 2 is looked at, so
  // draw its neighbours, too: it has to match at both ends. No boundary may come nearer to the axis than `inner`. The
  // screw has no ends; |z| <= `reach` is all that has a surface: intersect it with a body that ends before.
  static Solid helix(const Profile& figure, double lead, double inner, double reach);

  Solid rounded(double radius) const;   // everything within `radius` of the body; < 0 takes away
  Solid shell(double thickness) const;  // a skin of that thickness about the surface
  Solid moved(const Pose& pose) const;
  friend Solid unite(const Solid& a, const Solid& b);
  friend Solid intersect(const Solid& a, const Solid& b);
  friend Solid subtract(const Solid& a, const Solid& b);  // a without b

  Sample sample(const Vec3& point) const { return node_->sample(point); }
  double distance(const Vec3& point) const { return node_->sample(point).distance; }
  // A distance field that collides, weighs and is drawn; `spacing` [m]: of the triangles of its surface.
  Shape shape(double spacing) const;
  // A box around the body, tight but for intersections.
  const Aabb& bounds() const { return bounds_; }
  // Of balls, boxes and whatever is revolved, to 1e-10; others have theirs from the surface.
  std::optional<VolumeMoments> exact_moments() const { return node_->moments(); }
  // Pieces at most `spacing` [m] long with their corners on the surface. What touches edge to edge need not share
  // corners. Empty: there is no surface that follows the formula (of rounded and shell), a grid has to find it.
  Triangles surface(double spacing) const { return node_->surface(spacing); }

  struct Node {  // one term of the formula
    virtual ~Node() = default;
    virtual Sample sample(const Vec3& point) const = 0;
    virtual std::optional<VolumeMoments> moments() const { return std::nullopt; }
    virtual Triangles surface(double) const { return {}; }
  };

 private:
  Solid(std::shared_ptr<const Node> node, const Aabb& bounds);

  std::shared_ptr<const Node> node_;
  Aabb bounds_;
};

}  // namespace tribo
