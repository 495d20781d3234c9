// Plane figures by formulas for their signed distance (negative inside), to be revolved, swept along a helix or
// extruded into a Solid (collide/shapes/solid.h). Coordinates (x, y) in m; of a revolved figure x is the distance from
// the axis and y is z.
//
// Every figure changes by at most 1 m per m (its distance is never overstated) and is zero exactly on its boundary.
// Circles, polylines and polygons are exact everywhere; a union is exact outside, an intersection inside, and
// elsewhere they are lower bounds of the distance's size, as is what is made of them.
//
// Example
//   Profile bowl = Profile::polyline({{0, 0}, {0.03, 0}, {0.07, 0.05}}).rounded(0.002);   // Lee et al. 2024, eq. (45)
#pragma once

#include <memory>
#include <vector>

#include "tribo/base/types.h"

namespace tribo {

class Profile {
 public:
  struct Sample {
    double distance;  // m
    Vec2 gradient;    // length at most 1; where two parts are equally near, that of one of them
  };
  struct Bounds {
    Vec2 lower, upper;
  };

  static Profile circle(const Vec2& center, double radius);
  // The distance to a chain of segments, which has no inside: give it a thickness with rounded().
  static Profile polyline(std::vector<Vec2> points);
  // A simple polygon, its corners in either order.
  static Profile polygon(std::vector<Vec2> corners);

  Profile rounded(double radius) const;   // everything within `radius` of the figure; < 0 takes away
  Profile shell(double thickness) const;  // a skin of that thickness about the boundary
  Profile moved(const Vec2& by) const;
  friend Profile unite(const Profile& a, const Profile& b);
  friend Profile intersect(const Profile& a, const Profile& b);
  friend Profile subtract(const Profile& a, const Profile& b);  // a without b

  Sample sample(const Vec2& point) const { return node_->sample(point); }
  // A box around the figure, tight but for intersections.
  const Bounds& bounds() const { return bounds_; }
  // Corners of polygons, of which some are on the boundary.
  std::vector<Vec2> corners() const;

  struct Node {  // one term of the formula
    virtual ~Node() = default;
    virtual Sample sample(const Vec2& point) const = 0;
    virtual void add_corners(std::vector<Vec2>&) const {}
  };

 private:
  Profile(std::shared_ptr<const Node> node, const Bounds& bounds);

  std::shared_ptr<const Node> node_;
  Bounds bounds_;
};

}  // namespace tribo
