// The constraints of one step in flat arrays, before they are dealt out to islands: for every constraint its
// set, bias, compliance and the Jacobian pieces on the trees it touches (column-major, rows x dofs of the
// tree; a constraint names a tree once).
#pragma once

#include <cstdint>
#include <vector>

#include "tribo/multibody/kinematics.h"
#include "tribo/problem/problem_filler.h"

namespace tribo {

enum class ConstraintSource : std::uint8_t {
  contact,
  joint_limit,
  tendon_limit,
  dry_friction,
  drive,
  coupling
};

class ConstraintSet {
 public:
  struct Entry {
    ProblemFiller::Constraint data;
    ConstraintSource source = ConstraintSource::contact;
    Index origin = 0;  // number of the contact, joint, ... it comes from
    Index piece_begin = 0, piece_end = 0;
  };
  struct Piece {
    Index tree;
    std::size_t start;  // in values()
  };

  void clear();
  Index size() const { return static_cast<Index>(entries_.size()); }
  const Entry& entry(Index i) const { return entries_[i]; }
  Entry& entry(Index i) { return entries_[i]; }
  const Piece& piece(Index p) const { return pieces_[p]; }
  const double* values(const Piece& piece) const { return values_.data() + piece.start; }

  // Starts a constraint; pieces follow. Returns its number.
  Index add(const ProblemFiller::Constraint& data, ConstraintSource source, Index origin);
  // A zero piece of the last constraint on a tree, to be filled at once; the same one if it is there already.
  double* piece_on(Index tree, Index dofs);

  // Rows `frame` (3 x 3 or 1 x 3, world axes) of the velocity of the point of `body`, times `sign`.
  void add_point_rows(const Kinematics& kinematics, Index body, const Vec3& point, double sign,
                      const Mat3& frame);
  void add_point_row(const Kinematics& kinematics, Index body, const Vec3& point, const Vec3& direction);
  void add_angular_row(const Kinematics& kinematics, Index body, const Vec3& direction);
  // coefficient * v_dof.
  void add_dof(const Model& model, Index tree, Index dof, double coefficient);

 private:
  std::vector<Entry> entries_;
  std::vector<Piece> pieces_;
  Numbers values_;
};

}  // namespace tribo
