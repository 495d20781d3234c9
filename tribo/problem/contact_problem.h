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
// Example: one 2 kg ball falling on the ground at 1 m/s with tangential speed 0.5 m/s.
//   ContactProblemBuilder builder;
//   Index ball = builder.add_tree(2.0 * Mat3::Identity(), Vec3(1.0, 0.0, -2.0));  // mass, b = m v_free
//   builder.add_contact(0.4, {{ball, Mat3::Identity()}});                          // friction, Jacobian
//   ContactProblem problem = builder.build();
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
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
  Index dof_count() const { return mass_.size(); }
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

  // Joints and bodies of the trees where they are known; side data, not part of operator==, not in files.
  const TreeStructure& structure() const { return structure_; }

  // u = W lambda + q on the raw data: the explicit W where there is one, otherwise through v = A^-1 (b + J^T
  // lambda), for which `scratch` is used. Allocation-free when the outputs have the right size already.
  void velocity_of(const Vector& impulse, Vector& scratch, Vector& u) const;
  // v = A^-1 (b + J^T lambda), [dofs].
  void generalized_velocity_of(const Vector& impulse, Vector& v) const;

  bool operator==(const ContactProblem& other) const;

 private:
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
  Index contact_count_ = 0;
  bool rigid_ = true;
  bool has_friction_ = false;
  bool symmetric_ = true;
};

// Impulses and velocities [rows] in the units of the contacts as they were given: N s and N m s, m/s and rad/s.
Vector physical_impulse(const ContactProblem& problem, const Vector& impulse);
Vector physical_velocity(const ContactProblem& problem, const Vector& velocity);
// The other way, for starts.
Vector stored_impulse(const ContactProblem& problem, const Vector& physical);

// One block of a constraint's Jacobian: rows x dofs(tree). On a tree with articulation it may say which
// bodies make it up; see problem/tree_structure.h.
struct JacobianPiece {
  Index tree;
  Matrix block;
  std::vector<BodyTerm> bodies = {};
};

// Collects a problem piece by piece, then validates it as a whole. Every error is an InvalidInput naming the
// field.
class ContactProblemBuilder {
 public:
  static constexpr std::uint64_t kAutomaticKey = std::numeric_limits<std::uint64_t>::max();

  void reserve(Index trees, Index constraints);

  // A tree (a free body, an arm, ...): its mass block and its free momentum b = A v_free = A v + h * forces.
  // Returns its index; the tree's degrees of freedom follow those of the trees added before.
  Index add_tree(const Eigen::Ref<const Matrix>& mass, const Eigen::Ref<const Vector>& momentum);

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
  void add_piece(Index tree, const Eigen::Ref<const Matrix>& block, std::span<const BodyTerm> bodies = {});
  Index add_scalar(ConstraintKind kind, std::span<const JacobianPiece> pieces, double bias, double compliance,
                   std::uint64_t key);
  void push_row(double bias, double compliance);
  void set_friction(double friction);

  ContactProblem problem_;
  std::vector<double> momentum_, bias_, compliance_, unit_;
  bool scaled_ = false;  // some unit is not 1
};

}  // namespace tribo
