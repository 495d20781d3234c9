// The constraints of one step in flat arrays, before they are partitioned into islands: for every constraint its
// set, bias, compliance and the Jacobian pieces on the trees it touches (column-major, rows x dofs of the
// tree; a constraint names a tree once), and, for solvers that split by bodies, what each body adds to the pieces.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
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
  coupling,
  flexible_contact,
  attachment
};

class ConstraintSet {
 public:
  static constexpr double kNoPosition = std::numeric_limits<double>::infinity();

  struct Entry {
    ProblemFiller::Constraint data;
    ConstraintSource source = ConstraintSource::contact;
    Index origin = 0;  // number of the contact, joint, ... it comes from
    // Where the constraint stands at the beginning of the step, m or rad: the gap of a rigid contact or limit, the error of
    // a coupling. Not finite: it constrains velocities only (friction, drives, compliant contacts).
    double position = kNoPosition;
    // Part of the bias, m/s: velocity of bodies that no dof moves (mocap bodies); (t1, t2, n) of a contact.
    Vec3 carried = Vec3::Zero();
    Index piece_begin = 0, piece_end = 0;
    Index body_begin = 0, body_end = 0;
  };
  // On a flexible body, a tree behind those of the model, a piece has the three columns of a node, and a constraint may have
  // several.
  struct Piece {
    Index tree;
    std::size_t start;  // in values()
    Index node = -1;
  };

  // What a body adds to a piece: rows x 6 on its spatial velocity (problem/tree_structure.h), column-major.
  struct Body {
    Index piece, dof;  // the dof by which the body is named, in the tree
    std::array<double, 6 * kMostRows> block;
  };

  // From now on bodies are kept as well. The rows must come from these kinematics, which must outlive the set.
  void keep_bodies(const Kinematics& kinematics) { kinematics_ = &kinematics; }
  const Kinematics* kinematics_of_bodies() const { return kinematics_; }

  void clear();
  Index size() const { return static_cast<Index>(entries_.size()); }
  const Entry& entry(Index i) const { return entries_[i]; }
  Entry& entry(Index i) { return entries_[i]; }
  const Piece& piece(Index p) const { return pieces_[p]; }
  const Body& body(Index b) const { return bodies_[b]; }
  const double* values(const Piece& piece) const { return values_.data() + piece.start; }

  // Starts a constraint; pieces follow. Returns its number.
  Index add(const ProblemFiller::Constraint& data, ConstraintSource source, Index origin);
  // Takes the last constraint out again.
  void drop_last();
  // A zero piece of the last constraint on a tree, to be filled at once; the same one if it is there already.
  double* piece_on(Index tree, Index dofs);

  // A piece of the last constraint on a node of a flexible body, rows x 3.
  void add_node_rows(Index tree, Index node, Index rows, const double* block);

  // Rows of the velocity of the point of `body`, in world axes. Of a body that no dof moves (a mocap body), its velocity
  // is known and goes into the bias and into Entry::carried.
  void add_point_rows(const Kinematics& kinematics, Index body, const Vec3& point, const Mat3& rows);
  // The rows of a contact with coefficients of friction (problem/elliptic_rows.h), `sign` times those of the point and of
  // the turning of `body`; frame: t1, t2, n.
  void add_elliptic_rows(const Kinematics& kinematics, Index body, const Vec3& point, const Mat3& frame,
                         double sign, const EllipticRows& rows);
  void add_point_row(const Kinematics& kinematics, Index body, const Vec3& point, const Vec3& direction);
  void add_angular_row(const Kinematics& kinematics, Index body, const Vec3& direction);
  // coefficient * v_dof.
  void add_dof(const Model& model, Index tree, Index dof, double coefficient);

 private:
  // The same as piece_on(), but a fresh piece holds whatever lay there.
  double* raw_piece_on(Index tree, Index dofs, bool& fresh);
  void carry(const Vec3& velocity);
  // Where the rows of a body are added up; nullptr where bodies are not kept.
  double* body_on(const Model& model, Index tree, Index body);

  std::vector<Entry> entries_;
  std::vector<Piece> pieces_;
  std::vector<Body> bodies_;
  const Kinematics* kinematics_ = nullptr;
  Numbers values_;  // as much as was ever needed
  std::size_t used_ = 0;
};

}  // namespace tribo
