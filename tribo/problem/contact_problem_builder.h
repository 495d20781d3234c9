// Collects a problem piece by piece and validates it: every error is an InvalidInput that names the field. What comes from
// outside (users, files, generators) is built here once; a simulator, which fills the same problem thousands of times from
// numbers it made itself, uses problem/problem_filler.h.
//
// Example: one 2 kg ball falling on the ground at 1 m/s with tangential speed 0.5 m/s.
//   ContactProblemBuilder builder;
//   Index ball = builder.add_tree(2.0 * Mat3::Identity(), Vec3(1.0, 0.0, -2.0));  // mass, b = m v_free
//   builder.add_contact(0.4, {{ball, Mat3::Identity()}});                          // friction, Jacobian
//   ContactProblem problem = builder.build();
#pragma once

#include <Eigen/SparseCore>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "tribo/linalg/sparse_factor.h"
#include "tribo/problem/contact_problem.h"

namespace tribo {

// One block of a constraint's Jacobian: rows x dofs(tree). On a tree with articulation it may say which
// bodies make it up; see problem/tree_structure.h. On a sparse tree it is a block of some columns that begin with first_dof
// (a node: three), and a constraint may have several of them, which are added up where they overlap.
struct JacobianPiece {
  Index tree;
  Matrix block;
  std::vector<BodyTerm> bodies = {};
  Index first_dof = 0;  // sparse trees only
};

class ContactProblemBuilder {
 public:
  static constexpr std::uint64_t kAutomaticKey = std::numeric_limits<std::uint64_t>::max();

  void reserve(Index trees, Index constraints);

  // A tree (a free body, an arm, ...): its mass block and its free momentum b = A v_free = A v + h * forces.
  // Returns its index; the tree's degrees of freedom follow those of the trees added before.
  Index add_tree(const Eigen::Ref<const Matrix>& mass, const Eigen::Ref<const Vector>& momentum);

  // A tree whose mass block is large and sparse (a flexible body: 1e3 ... 1e5 degrees of freedom); see
  // problem/sparse_trees.h. The whole matrix or one of its triangles.
  Index add_sparse_tree(const Eigen::SparseMatrix<double>& mass, const Eigen::Ref<const Vector>& momentum);
  // The same with a factor that is there already; it must not change as long as the problem or a copy of it lives.
  Index add_sparse_tree(std::shared_ptr<const SparseFactor> mass, const Eigen::Ref<const Vector>& momentum);

  // Tells how the joints of a tree hang together; before the constraints that name its bodies.
  void set_articulation(Index tree, Articulation articulation);

  // Constraints return their index. `compliance` is the diagonal R of their rows.
  Index add_contact(double friction, std::span<const JacobianPiece> pieces, const Vec3& bias = Vec3::Zero(),
                    const Vec3& compliance = Vec3::Zero(), std::uint64_t key = kAutomaticKey);
  Index add_contact(double friction, std::initializer_list<JacobianPiece> pieces,
                    const Vec3& bias = Vec3::Zero(), const Vec3& compliance = Vec3::Zero(),
                    std::uint64_t key = kAutomaticKey) {
    return add_contact(friction, std::span(pieces.begin(), pieces.size()), bias, compliance, key);
  }
  // Friction with a coefficient per tangential row (problem/elliptic_rows.h): 2, 3 or 5 of them, >= 0, for blocks, biases
  // and compliances of 3, 4 or 6 rows with the normal last, all in physical units. Empty biases or compliances: zero.
  Index add_elliptic_contact(std::span<const double> coefficients, std::span<const JacobianPiece> pieces,
                             std::span<const double> bias = {}, std::span<const double> compliance = {},
                             std::uint64_t key = kAutomaticKey);
  // A contact in stored rows: circular with mu = 1 and these units, normal last. For files and copies of problems.
  Index add_scaled_contact(std::span<const double> unit, std::span<const JacobianPiece> pieces,
                           std::span<const double> bias, std::span<const double> compliance,
                           std::uint64_t key = kAutomaticKey);
  // The same for free rigid bodies, without a heap matrix per piece; tree_b < 0: the other side is fixed.
  using BodyJacobian = Eigen::Matrix<double, 3, 6>;
  Index add_body_contact(double friction, Index tree_a, const BodyJacobian& block_a, Index tree_b,
                         const BodyJacobian& block_b, const Vec3& bias = Vec3::Zero(),
                         const Vec3& compliance = Vec3::Zero(), std::uint64_t key = kAutomaticKey);
  Index add_unilateral(std::span<const JacobianPiece> pieces, double bias = 0.0, double compliance = 0.0,
                       std::uint64_t key = kAutomaticKey);
  Index add_bilateral(std::span<const JacobianPiece> pieces, double bias = 0.0, double compliance = 0.0,
                      std::uint64_t key = kAutomaticKey);
  Index add_box(double lower, double upper, std::span<const JacobianPiece> pieces, double bias = 0.0,
                double compliance = 0.0, std::uint64_t key = kAutomaticKey);

  // For problems in Delassus form: the explicit W (rows = all constraint rows, in order) that overrides J
  // A^-1 J^T, with q = the biases and all momenta zero. Used by lift().
  void set_delassus(BlockMatrix delassus);

  // Validates and moves everything out; the builder is empty afterwards.
  ContactProblem build();

 private:
  Index begin_constraint(ConstraintKind kind, Index rows, std::uint64_t key);
  void add_piece(Index tree, const Eigen::Ref<const Matrix>& block, std::span<const BodyTerm> bodies = {},
                 Index first_dof = 0);
  void add_sparse_piece(Index tree, const Eigen::Ref<const Matrix>& block, Index first_dof);
  Index add_scalar(ConstraintKind kind, std::span<const JacobianPiece> pieces, double bias, double compliance,
                   std::uint64_t key);
  void push_row(double bias, double compliance);
  void set_friction(double friction);

  ContactProblem problem_;
  std::vector<double> momentum_, bias_, compliance_, unit_;
  bool scaled_ = false;  // some unit is not 1
};

}  // namespace tribo
