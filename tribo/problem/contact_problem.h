// The one problem type of tribo:
//
//   A v = b + J^T lambda          momentum; A block-diagonal SPD, one block per kinematic tree
//   u   = J v + e                 constraint velocity
//   (u + R lambda, lambda) in S   S the product of the constraints' sets, R >= 0 diagonal compliance
//
// | set        | rows         | condition, with w = u + R lambda                               |
// | contact    | 3 (t1,t2,n)  | lambda in K_mu, w + Gamma(w) in K_mu*, orthogonal to each other |
// |            | 3, 4, 6      | the same in scaled rows: friction with a coefficient per row    |
// | unilateral | 1            | lambda >= 0, w >= 0, lambda w = 0                               |
// | bilateral  | 1            | w = 0                                                           |
// | box        | 1            | lambda in [lower, upper], -w in its normal cone                 |
//
// To the mathematics there are two kinds (problem/constraints.h): cones, and scalar rows with an interval of impulses:
// unilateral [0, inf), bilateral (-inf, inf), box [lower, upper].
//
// A contact whose friction differs between its tangential rows (elliptic: two directions of sliding, torsion, rolling)
// is stored in scaled rows, in which its cone is circular with mu = 1; see problem/elliptic_rows.h. Impulses and
// velocities of solvers, of Solution, of starts and of the certificate are those of the stored rows. In the units of the
// contact as it was given, lambda_j = row_unit(j) lambda_j' and u_j = u_j' / row_unit(j): physical_impulse() and
// physical_velocity() below. The simulator and the tool report physical ones.
//
// Units: A in kg (kg m^2), b in N s, J v and e in m/s, lambda in N s, R in m/(N s) = velocity per impulse.
//
// A problem known only through W = J A^-1 J^T and q = J A^-1 b + e (see problem/lift.h) keeps that W: it is
// then the authority (it may be unsymmetric), and A = I, J = a factor of its symmetric part serve the solvers
// that need them.
//
// Problems are made by ContactProblemBuilder (problem/contact_problem_builder.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tribo/base/types.h"
#include "tribo/linalg/block_diagonal.h"
#include "tribo/linalg/block_jacobian.h"
#include "tribo/linalg/block_matrix.h"
#include "tribo/linalg/group_blocks.h"
#include "tribo/math/interval.h"
#include "tribo/problem/elliptic_rows.h"
#include "tribo/problem/tree_structure.h"

namespace tribo {

class SparseTrees;
struct SparseScratch;

enum class ConstraintKind : std::uint8_t { contact, unilateral, bilateral, box };

std::string_view to_string(ConstraintKind kind);
// Of a contact without friction coefficients per row.
constexpr Index rows_of(ConstraintKind kind) { return kind == ConstraintKind::contact ? 3 : 1; }
// The impulses of a scalar row of this kind; boxes: all.
Interval interval_of(ConstraintKind kind);

// `exact`: Signorini-Coulomb with the De Saxce term. `convex`: the same without it (cone complementarity).
enum class Law : std::uint8_t { exact, convex };

class ContactProblem {
 public:
  ContactProblem() = default;  // no trees, no constraints; see ContactProblemBuilder

  // Sizes.
  Index constraint_count() const { return static_cast<Index>(kind_.size()); }
  Index contact_count() const { return contact_count_; }
  Index row_count() const { return jacobian_.row_count(); }
  // Of a sparse tree (problem/sparse_trees.h) the coordinates that solvers see, one per degree of freedom that constraints
  // touch. mass(), momentum() and jacobian() are in these coordinates.
  Index dof_count() const { return mass_.size(); }
  // Degrees of freedom as the trees were given, which are those of Solution::generalized_velocity.
  Index full_dof_count() const;
  Index tree_count() const { return mass_.block_count(); }

  // Constraint i: its set and its rows [row(i), row(i) + rows(i)).
  ConstraintKind kind(Index i) const { return kind_[i]; }
  Index row(Index i) const { return jacobian_.row_start(i); }
  Index rows(Index i) const { return jacobian_.rows(i); }
  double friction(Index i) const { return friction_[i]; }  // contacts; 0 for others
  // Admissible impulses of a scalar row, N s; bounds may be infinite. Contacts: those of the normal.
  Interval interval(Index i) const { return {lower_[i], upper_[i]}; }
  double lower(Index i) const { return lower_[i]; }
  double upper(Index i) const { return upper_[i]; }
  std::uint64_t key(Index i) const { return key_[i]; }  // persistent identity, for warm starts

  // Data.
  const BlockDiagonal& mass() const { return mass_; }                        // A
  const BlockDiagonalCholesky& mass_factor() const { return mass_factor_; }  // A = L L^T
  const Vector& momentum() const { return momentum_; }                       // b   [dofs]
  const BlockJacobian& jacobian() const { return jacobian_; }                // J   [rows x dofs]
  const Vector& bias() const { return bias_; }                               // e   [rows]
  const Vector& compliance() const { return compliance_; }                   // R   [rows], diagonal
  bool is_rigid() const { return rigid_; }                                   // all R = 0
  bool has_friction() const { return has_friction_; }                        // a contact with mu > 0

  // Some contact is stored in scaled rows.
  bool has_row_units() const { return row_unit_.size() > 0; }
  // Physical impulse over the stored one: mu_j of the tangential rows of such a contact (0: a row without friction),
  // 1 of all other rows.
  double row_unit(Index row) const { return has_row_units() ? row_unit_[row] : 1.0; }
  const double* row_units(Index row) const { return has_row_units() ? row_unit_.data() + row : nullptr; }
  // Of an elliptic contact its coefficients, one per tangential row; empty for all others.
  std::span<const double> coefficients(Index i) const;

  // Derived at construction.
  const Vector& free_velocity() const { return free_velocity_; }  // q = J A^-1 b + e   [rows]
  double free_energy() const { return free_energy_; }  // b . A^-1 b, twice the energy of the free motion, J
  // W_ii without compliance, of a constraint of at most three rows; scalars: the first entry.
  const Mat3& delassus_diagonal(Index i) const { return diagonal_[i]; }
  // The same of a constraint of N rows, of any constraint, and of a scalar row.
  template <int N>
  MatN<N> delassus_block(Index i) const {
    return diagonal_.at<N>(i);
  }
  Eigen::Map<const Matrix> delassus_block(Index i) const { return diagonal_.block(i, rows(i)); }
  double delassus_scalar(Index i) const { return diagonal_[i](0, 0); }
  // w_i = mean diagonal of W_ii + R_ii > 0: 1 / (effective mass). Natural scale of contact i, m/s per N s. 1 for
  // constraints that are idle, which keeps every formula finite.
  double scale(Index i) const { return scale_[i]; }
  // Nothing moves constraint i and it moves nothing: w_i is zero, or too small for 1 / w_i to be a number, or rounding
  // beside the other rows of its trees while q_i asks for more than 1 / sqrt(eps) times what all others are about. Its
  // velocity is q_i whatever is done, its impulse is none.
  bool is_idle(Index i) const { return root_scale_[i] == 0.0; }
  Index idle_count() const { return idle_count_; }

  // Sizes that do not change when the rows of a constraint are measured in another unit (J_i, e_i times s, lambda_i
  // divided by it): sqrt(w_i) |lambda_i| and |u_i| / sqrt(w_i), both in sqrt(J). See docs/certificate.md.
  double root_scale(Index i) const { return root_scale_[i]; }        // sqrt(w_i); 0 for idle constraints
  double inverse_scale(Index i) const { return inverse_scale_[i]; }  // 1 / w_i; 1 for idle constraints
  // |q_i|_inf / sqrt(w_i): what stops constraint i alone, sqrt(J); 0 for idle ones.
  double demand(Index i) const { return demand_[i]; }
  // The largest of them, and of what boxes away from zero demand, lower sqrt(w_i).
  double largest_demand() const { return largest_demand_; }
  double smallest_demand() const { return smallest_demand_; }
  // sqrt(b_t . A_t^-1 b_t), the root of twice the kinetic energy of the free motion v* = A^-1 b, of tree t and of the
  // tree where it is largest, sqrt(J). 0 in Delassus form.
  double tree_root_energy(Index t) const { return tree_root_energy_[t]; }
  double root_energy() const { return root_energy_; }
  double free_speed() const { return free_speed_; }  // |v*|_inf, in the units of the generalised velocity
  // What solving with A magnifies rounding by, at most: max_k A_kk / L_kk^2, the cancellation in the pivots; >= 1.
  double mass_growth() const { return mass_growth_; }

  // The explicit W of a problem given in that form; it overrides J A^-1 J^T.
  bool has_delassus() const { return delassus_.has_value(); }
  const BlockMatrix& delassus() const { return *delassus_; }
  bool is_symmetric() const { return symmetric_; }

  // Trees whose A is sparse; false for nearly all problems.
  bool has_sparse_trees() const { return sparse_ != nullptr; }
  const SparseTrees& sparse_trees() const { return *sparse_; }
  bool is_sparse(Index t) const { return sparse_ != nullptr && find_sparse(t); }

  // Joints and bodies of the trees where they are known; side data, not part of operator==, not in files.
  const TreeStructure& structure() const { return structure_; }

  // u = W lambda + q on the raw data: the explicit W where there is one, otherwise through v = A^-1 (b + J^T
  // lambda), for which `scratch` is used. Allocation-free when the outputs have the right size already.
  void velocity_of(const Vector& impulse, Vector& scratch, Vector& u) const;
  // v = A^-1 (b + J^T lambda) of all degrees of freedom as they were given, [full dofs].
  void full_velocity_of(const Vector& impulse, Vector& v, SparseScratch& scratch) const;
  // All degrees of freedom where the coordinates that solvers see are known: those that no constraint touches move so that
  // the energy of what is added to the free motion is least. [dofs] -> [full dofs].
  void extend_velocity(const Vector& velocity, Vector& full, SparseScratch& scratch) const;
  // The same of displacements, which have no free motion.
  void extend_displacement(const Vector& displacement, Vector& full, SparseScratch& scratch) const;
  // v = A^-1 (b + J^T lambda), [dofs].
  void generalized_velocity_of(const Vector& impulse, Vector& v) const;
  // What an unsymmetric W does beyond J A^-1 J^T, its symmetric part: skew = W lambda - J A^-1 J^T lambda [rows], m/s, where
  // u = W lambda + q is known. Solvers that work with J and A let it act one iteration late. `scratch` [dofs].
  void skew_velocity_of(const Vector& impulse, const Vector& u, Vector& scratch, Vector& skew) const;

  bool operator==(const ContactProblem& other) const;

 private:
  void join(const Vector& dense, const Vector& sparse, Vector& full) const;
  bool find_sparse(Index t) const;
  void take_sparse_motion(const Vector& v);
  Index condense();  // of sparse trees, before A is factorised; SparseTrees::kSuccess or the tree that fails
  // What a contact of N rows and a scalar row derive from W_ii and R.
  void derive_block(Index i, Matrix& columns);
  friend class ContactProblemBuilder;
  friend class Islands;
  friend class ProblemFiller;
  // max |W - W^T| / max |W|: below it is rounding of the writer, above it is physics (gyroscopic terms).
  static constexpr double kSymmetryTolerance = 1e-13;
  void derive(Vector& v, Matrix& columns);  // fills q, W_ii and the scales; the arguments are scratch
  void derive_scale(Index i, double mean);
  void derive_demands();

  std::vector<ConstraintKind> kind_;
  std::vector<double> friction_, lower_, upper_;
  std::vector<std::uint64_t> key_;
  BlockDiagonal mass_;
  BlockDiagonalCholesky mass_factor_;
  Vector momentum_;
  BlockJacobian jacobian_;
  Vector bias_, compliance_;
  Vector row_unit_;  // [rows], or empty: all 1
  Vector free_velocity_;
  double free_energy_ = 0.0, root_energy_ = 0.0, free_speed_ = 0.0, mass_growth_ = 1.0;
  double largest_demand_ = 0.0, smallest_demand_ = 0.0;
  std::vector<double> tree_root_energy_;
  GroupBlocks diagonal_;
  std::vector<double> scale_, root_scale_, inverse_scale_, demand_;
  Index idle_count_ = 0;
  std::optional<BlockMatrix> delassus_;
  TreeStructure structure_;
  std::shared_ptr<SparseTrees> sparse_;  // shared by copies, which do not change it
  Index contact_count_ = 0;
  bool rigid_ = true;
  bool has_friction_ = false;
  bool symmetric_ = true;
};

// Impulses and velocities [rows] in the units of the contacts as they were given: N s and N m s, m/s and rad/s.
Vector physical_impulse(const ContactProblem& problem, const Vector& impulse);
Vector physical_velocity(const ContactProblem& problem, const Vector& velocity);
// The inverse, for starts.
Vector stored_impulse(const ContactProblem& problem, const Vector& physical);

}  // namespace tribo
