#include "tribo/problem/contact_problem.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/math/norms.h"
#include "tribo/problem/sparse_trees.h"

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

void ContactProblem::skew_velocity_of(const Vector& impulse, const Vector& u, Vector& scratch,
                                      Vector& skew) const {
  generalized_velocity_of(impulse, scratch);
  skew.resize(row_count());
  jacobian_.multiply(scratch, skew);
  skew = u - skew - bias_;
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
  if (has_sparse_trees() != other.has_sparse_trees()) return false;
  if (has_sparse_trees() && !(*sparse_ == *other.sparse_)) return false;
  if (!(jacobian_ == other.jacobian_)) return false;
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

Index ContactProblem::condense() {
  return sparse_ ? sparse_->condense(mass_, momentum_, jacobian_) : SparseTrees::kSuccess;
}

// Energies and speed of the whole free motion, of which v has the coordinates of sparse trees only.
void ContactProblem::take_sparse_motion(const Vector& v) {
  free_speed_ = 0.0;
  for (Index t = 0; t < tree_count(); ++t) {
    const SparseTree* tree = sparse_->find(t);
    const Index at = tree != nullptr ? tree->first : mass_.block_start(t);
    const Index n = tree != nullptr ? tree->dofs() : mass_.block_size(t);
    const auto motion = (tree != nullptr ? sparse_->free_motion() : v).segment(at, n);
    free_speed_ = std::max(free_speed_, motion.lpNorm<Eigen::Infinity>());
    if (tree != nullptr) tree_root_energy_[t] = root_of_product(sparse_->momentum().segment(at, n), motion);
  }
}

bool ContactProblem::find_sparse(Index t) const { return sparse_->find(t) != nullptr; }

void ContactProblem::join(const Vector& dense, const Vector& sparse, Vector& full) const {
  full.resize(full_dof_count());
  Index to = 0;
  for (Index t = 0; t < tree_count(); ++t) {
    const SparseTree* tree = sparse_->find(t);
    const Index at = tree != nullptr ? tree->first : mass_.block_start(t);
    const Index n = tree != nullptr ? tree->dofs() : mass_.block_size(t);
    full.segment(to, n) = (tree != nullptr ? sparse : dense).segment(at, n);
    to += n;
  }
}

Index ContactProblem::full_dof_count() const {
  Index dofs = dof_count();
  if (!sparse_) return dofs;
  for (const SparseTree& tree : sparse_->trees()) dofs += tree.dofs() - tree.coordinates();
  return dofs;
}

void ContactProblem::full_velocity_of(const Vector& impulse, Vector& v, SparseScratch& scratch) const {
  if (!sparse_) return generalized_velocity_of(impulse, v);
  generalized_velocity_of(impulse, scratch.dense);
  sparse_->motion_of(impulse, scratch.motion, scratch);
  join(scratch.dense, scratch.motion, v);
}

void ContactProblem::extend_velocity(const Vector& velocity, Vector& full, SparseScratch& scratch) const {
  if (!sparse_) {
    full = velocity;
    return;
  }
  sparse_->extend(velocity, true, scratch.motion, scratch);
  join(velocity, scratch.motion, full);
}

void ContactProblem::extend_displacement(const Vector& displacement, Vector& full,
                                         SparseScratch& scratch) const {
  if (!sparse_) {
    full = displacement;
    return;
  }
  sparse_->extend(displacement, false, scratch.motion, scratch);
  join(displacement, scratch.motion, full);
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
  if (sparse_) take_sparse_motion(v);
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

}  // namespace tribo
