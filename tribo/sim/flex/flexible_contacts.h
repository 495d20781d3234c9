// Contacts of the surfaces of flexible bodies.
//
// Against geoms: the surface where it is now, a mesh of triangles, goes through the same narrow phase as rigid meshes. That
// gives nodes in shapes and points of shapes in triangles alike; each contact is carried by the one to three nodes of the
// triangle it lies in, with its barycentric coordinates for weights.
//
// Against each other: nodes of each surface against the triangles of the other one, along the normal of the triangle, four
// nodes in all.
//
// As for geoms, a pair is looked at within the larger of its margins and of what the two can approach each other in a step;
// here the latter is that of the points themselves.
#pragma once

#include <vector>

#include "tribo/collide/narrow_phase.h"
#include "tribo/multibody/kinematics.h"
#include "tribo/sim/contact/contact_law.h"
#include "tribo/sim/flex/flexible_contact.h"
#include "tribo/sim/flex/flexible_motion.h"
#include "tribo/sim/flex/flexible_surface.h"

namespace tribo {

class FlexibleContacts {
 public:
  // Keeps a reference to the world.
  explicit FlexibleContacts(const World& world);

  // All contacts in a deterministic order; kinematics with velocities.
  void find(const State& state, const Kinematics& kinematics, double h,
            std::vector<FlexibleContact>& contacts);
  // The materials that meet.
  Surface surface(const FlexibleContact& contact) const;

 private:
  struct Body {
    FlexibleSurface surface;
    Index first_node = 0;
    Aabb bounds{Vec3::Zero(), Vec3::Zero()};
    double speed = 0.0;  // of the fastest node, m/s
  };

  void place(const State& state);
  Vec3 velocity(const FlexibleContact::Side& side, const Vec3& point, const State& state,
                const Kinematics& kinematics) const;
  void against_geom(Index f, Index geom, const State& state, const Kinematics& kinematics, double h,
                    std::vector<FlexibleContact>& contacts);
  void nodes_against_triangles(Index nodes_of, Index triangles_of, const State& state, double h,
                               std::vector<FlexibleContact>& contacts);
  double margin(const FlexibleBody& body, double other) const;

  const World* world_;
  std::vector<Body> bodies_;
  std::vector<double> geom_radius_;  // [geoms] m, of the farthest point from the body's frame
  double fall_ = 0.0;                // m, h^2 g
  NarrowPhase narrow_;
  std::vector<ContactPoint> points_;
  std::vector<Index> hits_;
};

}  // namespace tribo
