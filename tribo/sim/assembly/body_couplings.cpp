#include "tribo/sim/assembly/body_couplings.h"

#include "tribo/sim/assembly/joint_constraints.h"

namespace tribo {
namespace {

// Rows of couplings by their keys: connects 0 .. 2, tendon springs 5, couplings of joints 6 and of tendons 7, welds 8 .. 13.
constexpr Index kFirstWeldRow = 8;

void add_connects(const World& world, const Kinematics& kinematics, ConstraintSet& set) {
  for (std::size_t k = 0; k < world.connects.size(); ++k) {
    const Connect& c = world.connects[k];
    const Vec3 a = kinematics.pose(c.first) * c.first_anchor, b = kinematics.pose(c.second) * c.second_anchor;
    for (Index r = 0; r < 3; ++r) {
      add_coupling_row(b[r] - a[r], static_cast<Index>(k), r, set);
      set.add_point_row(kinematics, c.second, b, Vec3::Unit(r));
      set.add_point_row(kinematics, c.first, a, -Vec3::Unit(r));
    }
  }
}

void add_welds(const World& world, const Kinematics& kinematics, ConstraintSet& set) {
  for (std::size_t k = 0; k < world.welds.size(); ++k) {
    const Weld& w = world.welds[k];
    const Pose a = kinematics.pose(w.first) * w.first_frame, b = kinematics.pose(w.second) * w.second_frame;
    const Eigen::AngleAxisd turn(Mat3(b.rotation * a.rotation.transpose()));
    const Vec3 angle = turn.angle() * turn.axis();
    for (Index r = 0; r < 6; ++r) {
      const bool linear = r < 3;
      add_coupling_row(linear ? b.position[r] - a.position[r] : angle[r - 3], static_cast<Index>(k),
                       kFirstWeldRow + r, set);
      if (linear) {
        set.add_point_row(kinematics, w.second, b.position, Vec3::Unit(r));
        set.add_point_row(kinematics, w.first, a.position, -Vec3::Unit(r));
      } else {
        set.add_angular_row(kinematics, w.second, Vec3::Unit(r - 3));
        set.add_angular_row(kinematics, w.first, -Vec3::Unit(r - 3));
      }
    }
  }
}

}  // namespace

CouplingRow coupling_row(std::uint64_t key) {
  const auto row = static_cast<Index>(key & 0xff);
  if (row < 3) return {CouplingRow::Kind::connect, row};
  if (row >= kFirstWeldRow) return {CouplingRow::Kind::weld, row - kFirstWeldRow};
  return {CouplingRow::Kind::other, row};
}

void add_coupling_row(double error, Index origin, Index row, ConstraintSet& set) {
  ProblemFiller::Constraint data;
  data.kind = ConstraintKind::bilateral;
  data.key = constraint_key(ConstraintSource::coupling, origin, row);
  set.entry(set.add(data, ConstraintSource::coupling, origin)).position = error;
}

void add_body_couplings(const World& world, const Kinematics& kinematics, ConstraintSet& set) {
  add_connects(world, kinematics, set);
  add_welds(world, kinematics, set);
}

void soften_body_couplings(Index first, double c, const FreeMotion& motion, InverseMass& inverse_mass,
                           ConstraintSet& set) {
  for (Index group = first; group < set.size(); group += 3) {
    const double compliance = c * inverse_mass.mean(set, group, 3, motion);
    for (Index i = group; i < group + 3; ++i) set.entry(i).data.compliance[0] = compliance;
  }
}

}  // namespace tribo
