#include "tribo/problem/contact_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tribo/base/errors.h"
#include "tribo/math/norms.h"

namespace tribo {
namespace {

// W_ii = sum of B B^T over the pieces of a contact, A = 1. Column by column of W; columns of three are read by fours, whose
// last number is of no use.
void unit_contact_block(const BlockJacobian& jacobian, Index i, Mat3& w) {
  using Four = Eigen::Array4d;
  Four x = Four::Zero(), y = Four::Zero(), z = Four::Zero();
  const auto add = [&](const double* b, Index columns) {
    for (Index c = 0; c < columns; ++c, b += 3) {
      const Eigen::Map<const Four> column(b);
      x += column * b[0];
      y += column * b[1];
      z += column * b[2];
    }
  };
  for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
    if (jacobian.piece_cols(p) == 6) {  // without a loop
      add(jacobian.piece_data(p), 6);
    } else {
      add(jacobian.piece_data(p), jacobian.piece_cols(p));
    }
  }
  w(0, 0) = x[0];
  w(1, 1) = y[1];
  w(2, 2) = z[2];
  w(0, 1) = w(1, 0) = x[1];
  w(0, 2) = w(2, 0) = x[2];
  w(1, 2) = w(2, 1) = y[2];
}

// The same for any A = L L^T, by (L^-1 J^T)^T (L^-1 J^T), and for N rows; `unit`: A = 1.
template <int N>
MatN<N> delassus_diagonal_block(const BlockJacobian& jacobian, const BlockDiagonalCholesky& factor, bool unit,
                                Index i, Matrix& scratch) {
  MatN<N> w = MatN<N>::Zero();
  for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
    const Index n = jacobian.piece_cols(p);
    if (N == 1 && unit) {
      w(0, 0) += Eigen::Map<const Vector>(jacobian.piece_data(p), n).squaredNorm();
    } else if (N == 3 && n == 6) {
      Eigen::Matrix<double, 6, N> x =
          Eigen::Map<const Eigen::Matrix<double, N, 6>>(jacobian.piece_data(p)).transpose();
      const Eigen::Map<const Eigen::Matrix<double, 6, 6>> l(factor.lower(jacobian.piece_tree(p)).data());
      l.template triangularView<Eigen::Lower>().solveInPlace(x);
      w.noalias() += x.transpose() * x;
    } else {
      scratch = jacobian.piece(i, p).transpose();
      if (!unit) {
        factor.lower(jacobian.piece_tree(p)).template triangularView<Eigen::Lower>().solveInPlace(scratch);
      }
      w.noalias() += scratch.transpose() * scratch;
    }
  }
  return w;
}

// Below this 1 / w is not a number any more, or w is made of squares that have lost their digits.
constexpr double kLeastScale = 1e-290;

// Cancellation in the pivots of the Cholesky factor: max_k A_kk / L_kk^2.
double pivot_growth(const BlockDiagonal& mass, const BlockDiagonalCholesky& factor) {
  double growth = 1.0;
  for (Index t = 0; t < mass.block_count(); ++t) {
    const auto a = mass.block(t);
    const auto l = factor.lower(t);
    for (Index k = 0; k < a.rows(); ++k) growth = std::max(growth, a(k, k) / (l(k, k) * l(k, k)));
  }
  return growth;
}

// No impulse of any constraint changes the velocity of this one.
bool is_zero_row(const BlockMatrix& delassus, Index i) {
  for (Index k = delassus.row_begin(i); k < delassus.row_end(i); ++k) {
    if (!delassus.block(i, k).isZero(0.0)) return false;
  }
  return true;
}

// A row is hopeless when its Jacobian is rounding beside those of its trees (w_i below eps of theirs) and what it is
// asked for takes more than 1 / sqrt(eps) times what all others and the free motion are about: met, it would be all that
// is left of the motion. It then counts as idle, which makes the problem infeasible and names the row. Writes the scales
// of such rows and returns how many there are. `largest`: scratch, [dofs].
Index set_hopeless_aside(const ContactProblem& problem, Vector& largest, std::vector<double>& scale,
                         std::vector<double>& root_scale, std::vector<double>& inverse_scale) {
  constexpr double kRounding = 0x1p-52;
  constexpr double kBeyond = 0x1p26;
  if (!(problem.largest_demand() > kBeyond * problem.root_energy())) return 0;
  const BlockJacobian& jacobian = problem.jacobian();
  largest.setZero();
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (problem.is_idle(i)) continue;
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      double& tree = largest[jacobian.piece_tree(p)];
      tree = std::max(tree, scale[i]);
    }
  }
  const auto is_rounding = [&](Index i) {
    double around = 0.0;
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      around = std::max(around, largest[jacobian.piece_tree(p)]);
    }
    return scale[i] < kRounding * around;
  };
  double others = problem.root_energy();
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (!problem.is_idle(i) && !is_rounding(i)) others = std::max(others, problem.demand(i));
  }
  Index count = 0;
  for (Index i = 0; others > 0.0 && i < problem.constraint_count(); ++i) {
    if (!(problem.demand(i) > kBeyond * others) || !is_rounding(i)) continue;
    scale[i] = inverse_scale[i] = 1.0;
    root_scale[i] = 0.0;
    ++count;
  }
  return count;
}

bool same(const Vector& a, const Vector& b) { return a.size() == b.size() && (a.array() == b.array()).all(); }

}  // namespace

std::string_view to_string(ConstraintKind kind) {
  switch (kind) {
    case ConstraintKind::contact:
      return "contact";
    case ConstraintKind::unilateral:
      return "unilateral";
    case ConstraintKind::bilateral:
      return "bilateral";
    case ConstraintKind::box:
      return "box";
  }
  return "unknown";
}

Interval interval_of(ConstraintKind kind) {
  return kind == ConstraintKind::bilateral || kind == ConstraintKind::box ? Interval::all()
                                                                          : Interval::positive();
}

std::span<const double> ContactProblem::coefficients(Index i) const {
  if (!has_row_units() || kind_[i] != ConstraintKind::contact) return {};
  const double* unit = row_unit_.data() + row(i);
  const auto tangents = static_cast<std::size_t>(rows(i)) - 1;
  const bool usual = tangents == 2 && unit[0] == 1.0 && unit[1] == 1.0;
  return usual ? std::span<const double>() : std::span<const double>(unit, tangents);
}

namespace {

Vector in_units(const ContactProblem& problem, const Vector& rows, bool divide) {
  Vector out = rows;
  for (Index row = 0; problem.has_row_units() && row < problem.row_count(); ++row) {
    const double unit = problem.row_unit(row);
    out[row] = !divide ? unit * rows[row] : unit > 0.0 ? rows[row] / unit : 0.0;
  }
  return out;
}

}  // namespace

Vector physical_impulse(const ContactProblem& problem, const Vector& impulse) {
  return in_units(problem, impulse, false);
}
Vector physical_velocity(const ContactProblem& problem, const Vector& velocity) {
  return in_units(problem, velocity, true);
}
Vector stored_impulse(const ContactProblem& problem, const Vector& physical) {
  return in_units(problem, physical, true);
}

void ContactProblem::generalized_velocity_of(const Vector& impulse, Vector& v) const {
  v = momentum_;
  jacobian_.add_transpose_product(impulse, v);
  mass_factor_.solve_in_place(v);
}

void ContactProblem::velocity_of(const Vector& impulse, Vector& scratch, Vector& u) const {
  u.resize(row_count());
  if (delassus_) {
    delassus_->multiply(impulse, u);
    u += free_velocity_;
  } else {
    generalized_velocity_of(impulse, scratch);
    jacobian_.multiply(scratch, u);
    u += bias_;
  }
}

bool ContactProblem::operator==(const ContactProblem& other) const {
  if (kind_ != other.kind_ || friction_ != other.friction_ || lower_ != other.lower_ ||
      upper_ != other.upper_ || key_ != other.key_ || !same(momentum_, other.momentum_) ||
      !same(bias_, other.bias_) || !same(compliance_, other.compliance_) ||
      !same(row_unit_, other.row_unit_) || tree_count() != other.tree_count() ||
      has_delassus() != other.has_delassus()) {
    return false;
  }
  for (Index t = 0; t < tree_count(); ++t) {
    if (mass_.block_size(t) != other.mass_.block_size(t) || mass_.block(t) != other.mass_.block(t))
      return false;
  }
  for (Index i = 0; i < constraint_count(); ++i) {
    if (jacobian_.piece_end(i) != other.jacobian_.piece_end(i)) return false;
    for (Index p = jacobian_.piece_begin(i); p < jacobian_.piece_end(i); ++p) {
      if (jacobian_.piece_tree(p) != other.jacobian_.piece_tree(p) ||
          jacobian_.piece(i, p) != other.jacobian_.piece(i, p)) {
        return false;
      }
    }
  }
  if (!delassus_) return true;
  const BlockMatrix& w = *delassus_;
  const BlockMatrix& x = *other.delassus_;
  if (w.block_count() != x.block_count()) return false;
  for (Index g = 0; g < w.group_count(); ++g) {
    if (w.row_end(g) != x.row_end(g)) return false;
    for (Index k = w.row_begin(g); k < w.row_end(g); ++k) {
      if (w.column(k) != x.column(k) || w.block(g, k) != x.block(g, k)) return false;
    }
  }
  return true;
}

void ContactProblem::derive(Vector& v, Matrix& columns) {
  const Index count = constraint_count();
  v = momentum_;
  mass_factor_.solve_in_place(v);
  free_energy_ = momentum_.dot(v);
  free_speed_ = v.size() > 0 ? v.lpNorm<Eigen::Infinity>() : 0.0;
  mass_growth_ = mass_.is_identity() ? 1.0 : pivot_growth(mass_, mass_factor_);
  tree_root_energy_.resize(tree_count());
  for (Index t = 0; t < tree_count(); ++t) {
    const Index at = mass_.block_start(t), n = mass_.block_size(t);
    tree_root_energy_[t] = root_of_product(momentum_.segment(at, n), v.segment(at, n));
  }
  free_velocity_.resize(row_count());
  jacobian_.multiply(v, free_velocity_);
  free_velocity_ += bias_;
  diagonal_.resize(jacobian_);
  for (std::vector<double>* values : {&scale_, &root_scale_, &inverse_scale_}) values->resize(count);
  idle_count_ = 0;
  symmetric_ = !delassus_ || delassus_->asymmetry() <= kSymmetryTolerance;
  for (Index i = 0; i < count; ++i) derive_block(i, columns);
  derive_demands();
  if (delassus_) return;
  const Index hopeless = set_hopeless_aside(*this, v, scale_, root_scale_, inverse_scale_);
  if (hopeless == 0) return;
  idle_count_ += hopeless;
  derive_demands();
}

void ContactProblem::derive_block(Index i, Matrix& columns) {
  with_rows(rows(i), [&](auto size) {
    constexpr int n = size();
    if constexpr (n < 3) diagonal_[i].setZero();
    auto&& w = diagonal_.at<n>(i);
    if (delassus_) {
      w = delassus_->block(i, delassus_->diagonal(i));
    } else if (n == 3 && mass_.is_identity()) {
      unit_contact_block(jacobian_, i, diagonal_[i]);
    } else {
      w = delassus_diagonal_block<n>(jacobian_, mass_factor_, mass_.is_identity(), i, columns);
    }
    const double* r = compliance_.data() + row(i);
    double trace = w(0, 0), soft = r[0];
    for (int k = 1; k < n; ++k) {
      trace += w(k, k);
      soft += r[k];
    }
    derive_scale(i, n == 1 ? trace + soft : (trace + soft) / n);
  });
}

// Without a positive w_i constraint i has no scale of its own; 1 keeps every formula finite.
void ContactProblem::derive_scale(Index i, double mean) {
  const bool scaled = mean > kLeastScale;
  const bool idle = !scaled && (!delassus_ || is_zero_row(*delassus_, i));
  scale_[i] = scaled ? mean : 1.0;
  root_scale_[i] = idle ? 0.0 : std::sqrt(scale_[i]);
  inverse_scale_[i] = 1.0 / scale_[i];
  idle_count_ += idle ? 1 : 0;
}

void ContactProblem::derive_demands() {
  root_energy_ = 0.0;
  for (const double energy : tree_root_energy_) root_energy_ = std::max(root_energy_, energy);
  largest_demand_ = 0.0;
  smallest_demand_ = std::numeric_limits<double>::infinity();
  demand_.resize(kind_.size());
  for (Index i = 0; i < constraint_count(); ++i) {
    const double speed = with_rows(rows(i), [&](auto n) {
      const double* q = free_velocity_.data() + row(i);
      double largest = std::abs(q[0]);
      for (int r = 1; r < n(); ++r) largest = std::max(largest, std::abs(q[r]));
      return largest;
    });
    const double root = root_scale_[i];
    demand_[i] = root > 0.0 ? speed / root : 0.0;
    if (root == 0.0) continue;
    smallest_demand_ = std::min(smallest_demand_, demand_[i]);
    // A box away from zero is an impulse that acts whatever the velocities.
    largest_demand_ = std::max({largest_demand_, demand_[i], root * lower_[i], -root * upper_[i]});
  }
}

void ContactProblemBuilder::reserve(Index trees, Index constraints) {
  const auto n = static_cast<std::size_t>(constraints);
  problem_.mass_.reserve(trees, 6);
  problem_.jacobian_.reserve(constraints, 2 * constraints, 36 * n);
  momentum_.reserve(6 * static_cast<std::size_t>(trees));
  bias_.reserve(3 * n);
  compliance_.reserve(3 * n);
  problem_.kind_.reserve(n);
  problem_.friction_.reserve(n);
  problem_.lower_.reserve(n);
  problem_.upper_.reserve(n);
  problem_.key_.reserve(n);
}

Index ContactProblemBuilder::add_tree(const Eigen::Ref<const Matrix>& mass,
                                      const Eigen::Ref<const Vector>& momentum) {
  const Index tree = problem_.tree_count();
  if (mass.rows() != mass.cols() || mass.rows() == 0) {
    throw InvalidInput(fmt::format("mass of tree {} is {} x {}: it must be square and not empty", tree,
                                   mass.rows(), mass.cols()));
  }
  if (momentum.size() != mass.rows()) {
    throw InvalidInput(fmt::format("momentum of tree {} has {} entries: its mass is {} x {}", tree,
                                   momentum.size(), mass.rows(), mass.cols()));
  }
  if (!mass.allFinite()) throw InvalidInput(fmt::format("mass of tree {} is not finite", tree));
  if (!momentum.allFinite()) throw InvalidInput(fmt::format("momentum of tree {} is not finite", tree));
  const double asymmetry = (mass - mass.transpose()).cwiseAbs().maxCoeff();
  if (asymmetry > 1e-9 * mass.cwiseAbs().maxCoeff()) {
    throw InvalidInput(
        fmt::format("mass of tree {} is not symmetric (largest difference {:.3g})", tree, asymmetry));
  }
  problem_.mass_.add_block(mass);
  momentum_.insert(momentum_.end(), momentum.data(), momentum.data() + momentum.size());
  return tree;
}

void ContactProblemBuilder::set_articulation(Index tree, Articulation articulation) {
  if (tree < 0 || tree >= problem_.tree_count()) {
    throw InvalidInput(
        fmt::format("articulation names tree {}: there are {} trees", tree, problem_.tree_count()));
  }
  problem_.structure_.set_articulation(tree, problem_.mass_.block(tree), std::move(articulation));
}

Index ContactProblemBuilder::begin_constraint(ConstraintKind kind, Index rows, std::uint64_t key) {
  const Index i = problem_.jacobian_.add_group(rows);
  problem_.kind_.push_back(kind);
  problem_.friction_.push_back(0.0);
  problem_.lower_.push_back(interval_of(kind).lower);
  problem_.upper_.push_back(interval_of(kind).upper);
  problem_.key_.push_back(key == kAutomaticKey ? static_cast<std::uint64_t>(i) : key);
  return i;
}

void ContactProblemBuilder::add_piece(Index tree, const Eigen::Ref<const Matrix>& block,
                                      std::span<const BodyTerm> bodies) {
  const Index i = problem_.constraint_count() - 1;
  const ConstraintKind kind = problem_.kind_[i];
  if (tree < 0 || tree >= problem_.tree_count()) {
    throw InvalidInput(fmt::format("jacobian of constraint {} names tree {}: there are {} trees", i, tree,
                                   problem_.tree_count()));
  }
  const Index rows = problem_.jacobian_.rows(i);
  if (block.rows() != rows || block.cols() != problem_.mass_.block_size(tree)) {
    throw InvalidInput(
        fmt::format("jacobian of constraint {} on tree {} is {} x {}: a {} there needs {} x {}", i, tree,
                    block.rows(), block.cols(), to_string(kind), rows, problem_.mass_.block_size(tree)));
  }
  if (!block.allFinite())
    throw InvalidInput(fmt::format("jacobian of constraint {} on tree {} is not finite", i, tree));
  const BlockJacobian& jacobian = problem_.jacobian_;
  for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
    if (jacobian.piece_tree(p) == tree) {
      throw InvalidInput(
          fmt::format("jacobian of constraint {} names tree {} twice: add the two blocks", i, tree));
    }
  }
  if (!bodies.empty()) problem_.structure_.set_terms(i, jacobian.piece_count(), tree, block, bodies);
  problem_.jacobian_.add_piece(tree, problem_.mass_.block_start(tree), block);
}

void ContactProblemBuilder::push_row(double bias, double compliance) {
  const Index i = problem_.constraint_count() - 1;
  if (!std::isfinite(bias)) throw InvalidInput(fmt::format("bias of constraint {} is not finite", i));
  if (!std::isfinite(compliance) || compliance < 0.0) {
    throw InvalidInput(
        fmt::format("compliance of constraint {} is {}: it must be finite and >= 0", i, compliance));
  }
  bias_.push_back(bias);
  compliance_.push_back(compliance);
  unit_.push_back(1.0);
}

Index ContactProblemBuilder::add_contact(double friction, std::span<const JacobianPiece> pieces,
                                         const Vec3& bias, const Vec3& compliance, std::uint64_t key) {
  const Index i = begin_constraint(ConstraintKind::contact, 3, key);
  set_friction(friction);
  for (const JacobianPiece& piece : pieces) add_piece(piece.tree, piece.block, piece.bodies);
  for (Index r = 0; r < 3; ++r) push_row(bias[r], compliance[r]);
  return i;
}

Index ContactProblemBuilder::add_elliptic_contact(std::span<const double> coefficients,
                                                  std::span<const JacobianPiece> pieces,
                                                  std::span<const double> bias,
                                                  std::span<const double> compliance, std::uint64_t key) {
  const Index i = problem_.constraint_count();
  const std::size_t given = coefficients.size() + 1;
  if (!EllipticRows::is_count(coefficients.size())) {
    throw InvalidInput(
        fmt::format("friction of contact {} has {} coefficients: there are 2 (sliding), 3 (and torsion) or 5 "
                    "(and rolling)",
                    i, coefficients.size()));
  }
  for (const double mu : coefficients) {
    if (!std::isfinite(mu) || mu < 0.0) {
      throw InvalidInput(
          fmt::format("friction of contact {} has the coefficient {}: it must be finite and >= 0", i, mu));
    }
  }
  for (const auto& [name, values] : {std::pair("bias", bias), std::pair("compliance", compliance)}) {
    if (values.empty() || values.size() == given) continue;
    throw InvalidInput(
        fmt::format("{} of contact {} has {} entries: it has {} rows", name, i, values.size(), given));
  }
  const EllipticRows rows(coefficients);
  std::array<double, kMostRows> no_rows{}, stored_bias{}, stored_compliance{};
  rows.apply(bias.empty() ? no_rows.data() : bias.data(),
             compliance.empty() ? no_rows.data() : compliance.data(), stored_bias.data(),
             stored_compliance.data());
  const auto stored = [&](const Matrix& block) {
    if (block.rows() != rows.given) return block;  // refused by name below
    Matrix out(rows.rows, block.cols());
    rows.apply(block.data(), static_cast<Index>(block.cols()), out.data());
    return out;
  };
  begin_constraint(ConstraintKind::contact, rows.rows, key);
  problem_.friction_.back() = rows.friction;
  for (const JacobianPiece& piece : pieces) {
    if (piece.block.rows() != rows.given) {
      throw InvalidInput(
          fmt::format("jacobian of contact {} on tree {} has {} rows: with {} coefficients of "
                      "friction it needs {}",
                      i, piece.tree, piece.block.rows(), coefficients.size(), rows.given));
    }
    std::vector<BodyTerm> bodies = piece.bodies;
    for (BodyTerm& body : bodies) body.block = stored(body.block);
    add_piece(piece.tree, stored(piece.block), bodies);
  }
  for (Index r = 0; r < rows.rows; ++r) {
    push_row(stored_bias[r], stored_compliance[r]);
    unit_.back() = rows.unit[r];
  }
  scaled_ = scaled_ || rows.scaled;
  return i;
}

Index ContactProblemBuilder::add_scaled_contact(std::span<const double> unit,
                                                std::span<const JacobianPiece> pieces,
                                                std::span<const double> bias,
                                                std::span<const double> compliance, std::uint64_t key) {
  const auto rows = static_cast<Index>(unit.size());
  const Index i = problem_.constraint_count();
  if ((rows != 3 && rows != 4 && rows != 6) || bias.size() != unit.size() ||
      compliance.size() != unit.size()) {
    throw InvalidInput(fmt::format(
        "contact {} in scaled rows has {} units, {} biases and {} compliances: it has 3, 4 or 6 rows", i,
        rows, bias.size(), compliance.size()));
  }
  for (const double u : unit) {
    if (!std::isfinite(u) || u < 0.0 || unit.back() != 1.0) {
      throw InvalidInput(
          fmt::format("row units of contact {}: they must be finite and >= 0, and 1 for the normal", i));
    }
  }
  begin_constraint(ConstraintKind::contact, rows, key);
  problem_.friction_.back() = 1.0;
  for (const JacobianPiece& piece : pieces) add_piece(piece.tree, piece.block, piece.bodies);
  for (Index r = 0; r < rows; ++r) {
    push_row(bias[r], compliance[r]);
    unit_.back() = unit[r];
  }
  scaled_ = true;
  return i;
}

Index ContactProblemBuilder::add_body_contact(double friction, Index tree_a, const BodyJacobian& block_a,
                                              Index tree_b, const BodyJacobian& block_b, const Vec3& bias,
                                              const Vec3& compliance, std::uint64_t key) {
  const Index i = begin_constraint(ConstraintKind::contact, 3, key);
  set_friction(friction);
  add_piece(tree_a, block_a);
  if (tree_b >= 0) add_piece(tree_b, block_b);
  for (Index r = 0; r < 3; ++r) push_row(bias[r], compliance[r]);
  return i;
}

void ContactProblemBuilder::set_friction(double friction) {
  if (!std::isfinite(friction) || friction < 0.0) {
    throw InvalidInput(fmt::format("friction of contact {} is {}: it must be finite and >= 0",
                                   problem_.constraint_count() - 1, friction));
  }
  problem_.friction_.back() = friction;
}

Index ContactProblemBuilder::add_scalar(ConstraintKind kind, std::span<const JacobianPiece> pieces,
                                        double bias, double compliance, std::uint64_t key) {
  const Index i = begin_constraint(kind, 1, key);
  for (const JacobianPiece& piece : pieces) add_piece(piece.tree, piece.block, piece.bodies);
  push_row(bias, compliance);
  return i;
}

Index ContactProblemBuilder::add_unilateral(std::span<const JacobianPiece> pieces, double bias,
                                            double compliance, std::uint64_t key) {
  return add_scalar(ConstraintKind::unilateral, pieces, bias, compliance, key);
}

Index ContactProblemBuilder::add_bilateral(std::span<const JacobianPiece> pieces, double bias,
                                           double compliance, std::uint64_t key) {
  return add_scalar(ConstraintKind::bilateral, pieces, bias, compliance, key);
}

Index ContactProblemBuilder::add_box(double lower, double upper, std::span<const JacobianPiece> pieces,
                                     double bias, double compliance, std::uint64_t key) {
  const Index i = add_scalar(ConstraintKind::box, pieces, bias, compliance, key);
  if (std::isnan(lower) || std::isnan(upper) || lower > upper ||
      lower == std::numeric_limits<double>::infinity() || upper == -std::numeric_limits<double>::infinity()) {
    throw InvalidInput(
        fmt::format("bounds of box {} are [{}, {}]: lower must not exceed upper", i, lower, upper));
  }
  problem_.lower_.back() = lower;
  problem_.upper_.back() = upper;
  return i;
}

void ContactProblemBuilder::set_delassus(BlockMatrix delassus) { problem_.delassus_ = std::move(delassus); }

ContactProblem ContactProblemBuilder::build() {
  if (static_cast<Index>(bias_.size()) != problem_.row_count()) {
    throw InvalidInput("a constraint was refused halfway: start again with a new builder");
  }
  ContactProblem problem = std::move(problem_);
  problem_ = ContactProblem();
  problem.momentum_ = Eigen::Map<const Vector>(momentum_.data(), static_cast<Eigen::Index>(momentum_.size()));
  problem.bias_ = Eigen::Map<const Vector>(bias_.data(), static_cast<Eigen::Index>(bias_.size()));
  problem.compliance_ =
      Eigen::Map<const Vector>(compliance_.data(), static_cast<Eigen::Index>(compliance_.size()));
  if (scaled_)
    problem.row_unit_ = Eigen::Map<const Vector>(unit_.data(), static_cast<Eigen::Index>(unit_.size()));
  momentum_.clear();
  bias_.clear();
  compliance_.clear();
  unit_.clear();
  scaled_ = false;
  const Index bad_block = problem.mass_factor_.factorize(problem.mass_);
  if (bad_block != BlockDiagonalCholesky::kSuccess) {
    throw InvalidInput(fmt::format("mass of tree {} is not positive definite", bad_block));
  }
  if (problem.delassus_) {
    if (problem.delassus_->size() != problem.row_count() ||
        problem.delassus_->group_count() != problem.constraint_count()) {
      throw InvalidInput(
          fmt::format("delassus matrix has {} rows in {} blocks: the constraints have {} rows in {}",
                      problem.delassus_->size(), problem.delassus_->group_count(), problem.row_count(),
                      problem.constraint_count()));
    }
    for (Index i = 0; i < problem.constraint_count(); ++i) {
      if (problem.delassus_->rows(i) != problem.rows(i)) {
        throw InvalidInput(fmt::format("delassus matrix has {} rows for constraint {}: a {} has {}",
                                       problem.delassus_->rows(i), i, to_string(problem.kind_[i]),
                                       problem.rows(i)));
      }
    }
    if (!problem.delassus_->all_finite()) throw InvalidInput("delassus matrix W is not finite");
  }
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const bool contact = problem.kind_[i] == ConstraintKind::contact;
    problem.contact_count_ += contact ? 1 : 0;
    problem.has_friction_ = problem.has_friction_ || (contact && problem.friction_[i] > 0.0);
  }
  problem.rigid_ = problem.compliance_.size() == 0 || problem.compliance_.maxCoeff() == 0.0;
  Vector v;
  Matrix columns;
  problem.derive(v, columns);
  return problem;
}

}  // namespace tribo
