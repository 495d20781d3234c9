// Contacts of geoms with pressure fields: every face of the contact surface (collide/field/pressure_faces.h) with area A,
// pressure p and stiffness k is a compliant contact at its centre of pressure,
//
//   gap = -p A / k,   force = k (-gap - (h + tau) u) = A p - k (h + tau) u >= 0,   u the velocity at the end of the step,
//
// Castro's law for point contacts (contact_law.h) with the numbers of the face. tau: of the pair or of the material of
// higher priority, else (c_a tau_a + c_b tau_b) / (c_a + c_b), so that a rigid side does not count.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tribo/collide/field/pressure_faces.h"
#include "tribo/sim/contact/contact_finder.h"

namespace tribo {

class FieldContacts {
 public:
  // InvalidInput where a geom with a field may meet one whose surface has no inside (mesh, height field).
  FieldContacts(const World& world, std::span<const Index> active,
                const std::function<bool(Index, Index)>& may_meet);

  // Whether one of the two geoms is soft.
  bool meet(Index a, Index b) const { return soft_[a] != 0 || soft_[b] != 0; }
  void prepare(Index workers) { scratch_.resize(static_cast<std::size_t>(workers)); }
  // Appends copies of `pair` with what the faces add; their keys are those of the faces within the pair. `thickness`: of both
  // geoms, m. `given`: the material of an explicit pair, or null.
  void find(const Contact& pair, const Pose& pose_a, const Pose& pose_b, double thickness,
            const GeomPair* given, Index worker, std::vector<Contact>& contacts);

 private:
  struct Scratch {
    PressureFaces finder;
    std::vector<PressureFace> faces;
  };
  double dissipation_time(Index a, Index b, const GeomPair* given) const;

  const World* world_;
  std::vector<char> soft_;             // [geoms]
  std::vector<PressedShape> pressed_;  // [geoms]; empty where nothing is soft
  std::vector<Scratch> scratch_;       // per worker
};

}  // namespace tribo
