// From the poses of the bodies to the contacts of a step: bounds, broad phase, filters, narrow phase.
//
// A pair of geoms is looked at within a reach: the larger of its margins and of what the two can approach
// each other in one step, so that the velocity-level constraint acts before they touch. Both count from the surfaces
// that touch, which stand out by the thickness of the geoms: gap = distance of the shapes - thickness.
//
// Filters, as in MJCF: bit masks, geoms of rigidly connected bodies, parent and child (unless the parent is
// fixed in the world), excluded pairs of bodies; an explicit GeomPair passes them all but the second: what is rigidly
// connected cannot move against itself.
//
// Where one of two geoms carries a pressure field the contacts are the faces of their contact surface
// (sim/contact/field_contacts.h). They are there only while the surfaces overlap: a field gives way, nothing has to be known
// before.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tribo/base/workers.h"
#include "tribo/collide/broad_phase.h"
#include "tribo/collide/narrow_phase.h"
#include "tribo/linalg/group_blocks.h"
#include "tribo/multibody/kinematics.h"
#include "tribo/sim/contact/contact_law.h"

namespace tribo {

// The two materials that meet at a contact, and with how many rows: 1 (no friction), 3 (sliding), 4 (torsion), 6 (rolling).
struct SurfaceId {
  static constexpr Index kVariants = static_cast<Index>(kRowCounts.size());
  Index number = 0;  // of the materials, see ContactFinder::surface()
  Index rows = 3;

  bool is_frictionless() const { return rows == 1; }
  Index place() const { return kVariants * number + static_cast<Index>(row_count_place(rows)); }
};

struct Contact {
  Index geom_a = 0, geom_b = 0;
  Index body_a = 0, body_b = 0;
  Vec3 position = Vec3::Zero();  // in the world, m
  Vec3 normal = Vec3::Zero();    // from a to b
  double gap = 0.0;              // m
  SurfaceId surface = {};
  std::uint64_t key = 0;
  // Of a face of a pressure field, else zero; its gap is -pressure A / k.
  double area = 0.0;              // A, m^2
  double stiffness = 0.0;         // k, N/m
  double dissipation_time = 0.0;  // s

  bool is_face() const { return stiffness > 0.0; }
  double pressure() const { return is_face() ? -gap * stiffness / area : 0.0; }  // Pa
};

class FieldContacts;

class ContactFinder {
 public:
  // Keeps a reference to the world.
  explicit ContactFinder(const World& world);
  ~ContactFinder();
  ContactFinder(const ContactFinder&) = delete;  // the broad phase asks it which pairs may meet
  ContactFinder& operator=(const ContactFinder&) = delete;

  // All contacts in a deterministic order. `h`: time step; kinematics with velocities.
  void find(const Kinematics& kinematics, double h, Workers& workers, std::vector<Contact>& contacts);

  const Surface& surface(SurfaceId id) const { return surfaces_[id.place()]; }
  const Pose& geom_pose(Index geom) const { return pose_[geom]; }
  bool collides() const { return active_.size() > 1; }

 private:
  struct PairInfo {
    SurfaceId surface;
    double margin, thickness;
  };
  struct Chunk {
    std::vector<Contact> contacts;
    std::vector<ContactPoint> points;
  };

  void weld_bodies();
  void choose_geoms();
  static Index rows_of_pair(const Geom& a, const Geom& b);
  void add_surface(const Surface& surface);
  bool filtered(Index a, Index b) const;
  const GeomPair* explicit_pair(Index a, Index b) const;  // null if there is none
  PairInfo lookup(Index a, Index b) const;
  bool is_above(Index plane, const Aabb& box, double margin) const;
  void place(const Kinematics& kinematics, double h);
  void collide_pair(Index a, Index b, const PairInfo& info, Index worker, Chunk& chunk);

  const World* world_;
  std::vector<Index> weld_;         // [bodies] the body whose joints move it, 0: fixed in the world
  std::vector<Index> weld_parent_;  // [bodies] of a weld's root: the weld it hangs on
  std::vector<Index> active_;       // geoms that can touch anything
  std::vector<Index> group_;        // [active]
  std::vector<double> radius_;      // [geoms] farthest point from the body's centre of mass
  std::vector<char> is_plane_;      // [geoms]
  std::vector<Pose> pose_;          // [geoms]
  std::vector<double> reach_;       // [geoms] m, approach within one step
  std::vector<double> pair_reach_;  // [geoms] m, half of what the pairs that name it say
  std::vector<Aabb> bounds_;        // [active]
  BroadPhase broad_;
  std::vector<std::pair<Index, Index>> pairs_;
  std::vector<PairInfo> infos_;
  std::vector<Surface>
      surfaces_;  // of all pairs of distinct materials, row by row, then of the explicit pairs; as 1, 3, 4, 6 rows
  std::vector<Index> material_of_;                               // [geoms] number of its distinct material
  std::vector<std::pair<std::uint64_t, Index>> explicit_pairs_;  // sorted by geom pair
  std::vector<std::uint64_t> excluded_;                          // sorted pairs of bodies
  Index material_count_ = 0;
  std::vector<NarrowPhase> narrow_;  // per worker
  std::unique_ptr<FieldContacts> fields_;
  std::vector<Chunk> chunks_;
};

}  // namespace tribo
