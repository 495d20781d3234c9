#include "tribo/problem/contact_problem_builder.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "tribo/base/errors.h"
#include "tribo/problem/sparse_mass.h"
#include "tribo/problem/sparse_trees.h"

namespace tribo {
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

Index ContactProblemBuilder::add_sparse_tree(const Eigen::SparseMatrix<double>& mass,
                                             const Eigen::Ref<const Vector>& momentum) {
  const Index tree = problem_.tree_count();
  auto factor = std::make_shared<SparseFactor>();
  if (!factorize_sparse(mass, tree, *factor)) {
    throw InvalidInput(fmt::format("mass of tree {} is not positive definite", tree));
  }
  return add_sparse_tree(std::move(factor), momentum);
}

Index ContactProblemBuilder::add_sparse_tree(std::shared_ptr<const SparseFactor> mass,
                                             const Eigen::Ref<const Vector>& momentum) {
  const Index tree = problem_.tree_count();
  if (!mass || mass->size() == 0) throw InvalidInput(fmt::format("mass of tree {} is empty", tree));
  if (momentum.size() != mass->size()) {
    throw InvalidInput(fmt::format("momentum of tree {} has {} entries: its mass is {} x {}", tree,
                                   momentum.size(), mass->size(), mass->size()));
  }
  if (!momentum.allFinite()) throw InvalidInput(fmt::format("momentum of tree {} is not finite", tree));
  if (!problem_.sparse_) problem_.sparse_ = std::make_shared<SparseTrees>();
  problem_.sparse_->add_tree(tree, std::move(mass), momentum.data());
  problem_.mass_.add_identity(1);  // stands for the tree until build()
  momentum_.push_back(0.0);
  return tree;
}

void ContactProblemBuilder::set_articulation(Index tree, Articulation articulation) {
  if (tree < 0 || tree >= problem_.tree_count()) {
    throw InvalidInput(
        fmt::format("articulation names tree {}: there are {} trees", tree, problem_.tree_count()));
  }
  if (problem_.sparse_ && problem_.sparse_->find(tree) != nullptr) {
    throw InvalidInput(fmt::format("articulation names tree {}, which is sparse", tree));
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

void ContactProblemBuilder::add_sparse_piece(Index tree, const Eigen::Ref<const Matrix>& block,
                                             Index first_dof) {
  const Index i = problem_.constraint_count() - 1;
  const BlockJacobian& jacobian = problem_.jacobian_;
  const Index dofs = problem_.sparse_->find(tree)->dofs(), rows = jacobian.rows(i);
  const auto columns = static_cast<Index>(block.cols());
  if (block.rows() != rows || columns == 0) {
    throw InvalidInput(fmt::format(
        "jacobian of constraint {} on sparse tree {} is {} x {}: a {} needs {} rows and some columns", i,
        tree, block.rows(), columns, to_string(problem_.kind_[i]), rows));
  }
  if (first_dof < 0 || columns > dofs || first_dof > dofs - columns) {
    throw InvalidInput(
        fmt::format("jacobian of constraint {} on sparse tree {} has the columns {} to {}: the tree has {}",
                    i, tree, first_dof, static_cast<std::int64_t>(first_dof) + columns - 1, dofs));
  }
  if (!block.allFinite())
    throw InvalidInput(fmt::format("jacobian of constraint {} on sparse tree {} is not finite", i, tree));
  bool known = false;
  for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p)
    known = known || jacobian.piece_tree(p) == tree;
  if (!known) problem_.jacobian_.add_piece(tree, problem_.mass_.block_start(tree), 0);
  Eigen::Map<Matrix>(problem_.sparse_->add_piece(jacobian, i, tree, first_dof, columns), rows, columns) =
      block;
}

void ContactProblemBuilder::add_piece(Index tree, const Eigen::Ref<const Matrix>& block,
                                      std::span<const BodyTerm> bodies, Index first_dof) {
  const Index i = problem_.constraint_count() - 1;
  const ConstraintKind kind = problem_.kind_[i];
  if (tree < 0 || tree >= problem_.tree_count()) {
    throw InvalidInput(fmt::format("jacobian of constraint {} names tree {}: there are {} trees", i, tree,
                                   problem_.tree_count()));
  }
  if (problem_.sparse_ && problem_.sparse_->find(tree) != nullptr) {
    return add_sparse_piece(tree, block, first_dof);
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
  for (const JacobianPiece& piece : pieces) add_piece(piece.tree, piece.block, piece.bodies, piece.first_dof);
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
    add_piece(piece.tree, stored(piece.block), bodies, piece.first_dof);
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
  if (!is_cone_size(rows) || bias.size() != unit.size() || compliance.size() != unit.size()) {
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
  for (const JacobianPiece& piece : pieces) add_piece(piece.tree, piece.block, piece.bodies, piece.first_dof);
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
  for (const JacobianPiece& piece : pieces) add_piece(piece.tree, piece.block, piece.bodies, piece.first_dof);
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
  if (std::isnan(lower) || std::isnan(upper) || lower > upper ||
      lower == std::numeric_limits<double>::infinity() || upper == -std::numeric_limits<double>::infinity()) {
    throw InvalidInput(fmt::format("bounds of box {} are [{}, {}]: lower must not exceed upper",
                                   problem_.constraint_count(), lower, upper));
  }
  const Index i = add_scalar(ConstraintKind::box, pieces, bias, compliance, key);
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
  if (problem.sparse_) problem.sparse_->set_momentum(momentum_);
  momentum_.clear();
  bias_.clear();
  compliance_.clear();
  unit_.clear();
  scaled_ = false;
  const Index bad_sparse = problem.condense();
  if (bad_sparse != SparseTrees::kSuccess) {
    throw InvalidInput(fmt::format("mass of tree {} is not positive definite", bad_sparse));
  }
  const Index bad_block = problem.mass_factor_.factorize(problem.mass_);
  if (bad_block != BlockDiagonalCholesky::kSuccess) {
    throw InvalidInput(fmt::format("mass of tree {} is not positive definite", bad_block));
  }
  if (problem.delassus_ && problem.sparse_) {
    throw InvalidInput("delassus matrix W is given beside a sparse tree: one of the two");
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
