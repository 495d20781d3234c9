#include "tribo/solve/splitting/split_dynamics.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace tribo {
namespace {

using Vec6 = Eigen::Matrix<double, 6, 1>;
using ConstVec6 = Eigen::Map<const Vec6>;
template <int N>
using BlockN6 = Eigen::Map<const Eigen::Matrix<double, N, 6>>;

// h += J^T diag(penalty) J of a block on six coordinates.
template <class Mat6>
void add_weighted(Index rows, const double* block, const double* penalty, Mat6& h) {
  with_rows(rows, [&](auto size) {
    constexpr int n = size();
    if constexpr (n == 1) {
      const ConstVec6 row(block);
      h.noalias() += penalty[0] * row * row.transpose();
    } else {
      const BlockN6<n> j(block);
      h.noalias() += j.transpose() * Eigen::Map<const VecN<n>>(penalty).asDiagonal() * j;
    }
  });
}

Eigen::Map<const Matrix> block_of(const SplitTerms::Term& term, Index rows) {
  return {term.block, rows, term.cols};
}

}  // namespace

void SplitDynamics::prepare(const ContactProblem& problem, const SplitTerms& terms, Workers& workers) {
  const Index trees = problem.tree_count();
  factor_start_.resize(trees);
  std::size_t entries = 0;
  Index most_dofs = 0, most_bodies = 0;
  for (Index tree = 0; tree < trees; ++tree) {
    const Index n = problem.mass().block_size(tree);
    most_dofs = std::max(most_dofs, n);
    factor_start_[tree] = entries;
    if (terms.by_bodies(tree)) {
      most_bodies = std::max(most_bodies, n);
    } else if (terms.splitting() != Splitting::none) {
      entries += static_cast<std::size_t>(n) * n;
    }
  }
  if (factors_.size() < entries) factors_.resize(entries);
  forces_.resize(terms.force_count());
  const auto articulated = static_cast<std::size_t>(terms.articulated_count());
  if (tree_mass_.size() < articulated) {
    tree_mass_.resize(articulated);
    tree_factor_.resize(articulated);
  }
  for (Index tree = 0; tree < trees; ++tree) {
    if (!terms.by_bodies(tree)) continue;
    TreeMatrix& mass = tree_mass_[terms.articulated_index(tree)];
    mass.analyze(problem.structure().articulation(tree)->parent);
    mass.assign(problem.mass().block(tree));
  }
  wrench_.resize(workers.count());
  inertia_.resize(workers.count());
  scratch_.resize(workers.count());
  for (Vector& w : wrench_) w.resize(terms.largest_extended());
  for (std::vector<Mat6>& i : inertia_) i.resize(most_bodies);
  for (Vector& s : scratch_) s.resize(most_dofs);
  partial_.resize(trees);
  failed_.resize(trees);
  if (terms.splitting() == Splitting::none) kernel_.analyze(problem.mass(), problem.jacobian());
}

// (41) for every body, then (40) by composite inertias; rows without bodies (joint limits) directly.
void SplitDynamics::assemble_articulated(const ContactProblem& problem, const SplitTerms& terms,
                                         const Vector& penalty, Index tree, Index worker) {
  const Articulation& articulation = *problem.structure().articulation(tree);
  const Index a = terms.articulated_index(tree);
  const Index n = articulation.size(), bodies = terms.extended_start(tree) + n;
  const std::span<Mat6> inertia(inertia_[worker].data(), n);
  for (Mat6& i : inertia) i.setZero();
  TreeMatrix& factor = tree_factor_[a];
  factor = tree_mass_[a];
  for (const SplitTerms::Incident& t : terms.incident(tree)) {
    const SplitTerms::Term& term = terms.term(t.term);
    const Index rows = problem.rows(term.constraint), row = problem.row(term.constraint);
    if (term.start < bodies) {
      factor.add_rows(term.start - terms.extended_start(tree), block_of(term, rows),
                      penalty.segment(row, rows));
    } else {
      add_weighted(rows, term.block, penalty.data() + row, inertia[(term.start - bodies) / 6]);
    }
  }
  factor.add_body_inertias(articulation.motion, inertia);
}

bool SplitDynamics::factorize_tree(const ContactProblem& problem, const SplitTerms& terms,
                                   const Vector& penalty, Index tree, Index worker) {
  if (terms.by_bodies(tree)) {
    assemble_articulated(problem, terms, penalty, tree, worker);
    return tree_factor_[terms.articulated_index(tree)].factorize();
  }
  const Index n = problem.mass().block_size(tree);
  if (n == 6) {
    Mat6 h = problem.mass().block(tree);
    for (const SplitTerms::Incident& t : terms.incident(tree)) {
      const SplitTerms::Term& term = terms.term(t.term);
      add_weighted(problem.rows(term.constraint), term.block, penalty.data() + problem.row(term.constraint),
                   h);
    }
    const Eigen::LLT<Mat6> factor(h);
    Eigen::Map<Mat6> inverse(factors_.data() + factor_start_[tree]);
    inverse = factor.solve(Mat6::Identity());
    return factor.info() == Eigen::Success && inverse.allFinite();
  }
  Eigen::Map<Matrix> h(factors_.data() + factor_start_[tree], n, n);
  h = problem.mass().block(tree);
  for (const SplitTerms::Incident& t : terms.incident(tree)) {
    const SplitTerms::Term& term = terms.term(t.term);
    const Index rows = problem.rows(term.constraint), row = problem.row(term.constraint);
    const Index first = term.start - terms.extended_start(tree);
    const auto block = block_of(term, rows);
    // Outer products row by row: no temporaries, and only the lower triangle is read by the factorisation.
    for (Index r = 0; r < rows; ++r) {
      h.block(first, first, term.cols, term.cols)
          .selfadjointView<Eigen::Lower>()
          .rankUpdate(block.row(r).transpose(), penalty[row + r]);
    }
  }
  return Eigen::LLT<Eigen::Ref<Matrix>>(h).info() == Eigen::Success && h.diagonal().allFinite();
}

bool SplitDynamics::factorize(const ContactProblem& problem, const SplitTerms& terms, const Vector& penalty,
                              Workers& workers) {
  if (terms.splitting() == Splitting::none) {
    return kernel_.factorize(problem.mass(), problem.jacobian(), penalty);
  }
  const Index trees = problem.tree_count();
  workers.run(
      trees,
      [&](Index tree, Index worker) {
        failed_[tree] = factorize_tree(problem, terms, penalty, tree, worker) ? 0 : 1;
      },
      workers.share(trees));
  return std::none_of(failed_.begin(), failed_.end(), [](char failed) { return failed != 0; });
}

void SplitDynamics::push(const ContactProblem& problem, const SplitTerms& terms, Index constraint,
                         const Vector& s) {
  const Index row = problem.row(constraint), rows = problem.rows(constraint);
  for (const SplitTerms::Term& term : terms.terms(constraint)) {
    double* force = forces_.data() + term.force;
    with_rows(rows, [&](auto size) {
      constexpr int n = size();
      if constexpr (n == 1) {
        for (Index c = 0; c < term.cols; ++c) force[c] = term.block[c] * s[row];
      } else if (term.cols == 6) {
        Eigen::Map<Vec6>(force).noalias() = BlockN6<n>(term.block).transpose() * s.segment<n>(row);
      } else {
        Eigen::Map<Vector>(force, term.cols).noalias() = block_of(term, n).transpose() * s.segment(row, n);
      }
    });
  }
}

void SplitDynamics::residual(const ContactProblem& problem, const SplitTerms& terms, Index tree,
                             const Vector& v, double* out, Index worker) {
  const Index n = problem.mass().block_size(tree), dof = problem.mass().block_start(tree);
  double* wrench = wrench_[worker].data();
  std::fill(wrench, wrench + terms.extended_size(tree), 0.0);
  const double* force = forces_.data() + terms.force_start(tree);
  for (const SplitTerms::Incident& t : terms.incident(tree)) {
    if (t.cols == 6) {
      Eigen::Map<Vec6>(wrench + t.offset) += ConstVec6(force);
    } else {
      for (Index c = 0; c < t.cols; ++c) wrench[t.offset + c] += force[c];
    }
    force += t.cols;
  }
  const double* b = problem.momentum().data() + dof;
  const double* x = v.data() + dof;
  if (terms.by_bodies(tree)) {
    const Articulation& articulation = *problem.structure().articulation(tree);
    double* body = wrench + n;
    for (Index d = n - 1; d >= 0; --d) {
      const Eigen::Map<Vec6> load(body + 6 * d);
      wrench[d] += articulation.motion.col(d).dot(load);
      if (articulation.parent[d] >= 0) Eigen::Map<Vec6>(body + 6 * articulation.parent[d]) += load;
    }
    tree_mass_[terms.articulated_index(tree)].multiply(x, out);
    for (Index d = 0; d < n; ++d) out[d] = b[d] - out[d] + wrench[d];
  } else if (n == 6) {
    const Eigen::Map<const Mat6> mass(problem.mass().block(tree).data());
    Eigen::Map<Vec6>(out).noalias() = ConstVec6(b) + ConstVec6(wrench) - mass * ConstVec6(x);
  } else {
    using Part = Eigen::Map<const Vector>;
    Eigen::Map<Vector> r(out, n);
    r = Part(b, n) + Part(wrench, n);
    r.noalias() -= problem.mass().block(tree) * Part(x, n);
  }
}

void SplitDynamics::step(const ContactProblem& problem, const SplitTerms& terms, const Vector& v,
                         Vector& change, Workers& workers) {
  const Index trees = problem.tree_count();
  workers.run(
      trees,
      [&](Index tree, Index worker) {
        const Index n = problem.mass().block_size(tree);
        double* out = change.data() + problem.mass().block_start(tree);
        residual(problem, terms, tree, v, out, worker);
        if (terms.splitting() == Splitting::none) return;
        if (terms.by_bodies(tree)) {
          tree_factor_[terms.articulated_index(tree)].solve_in_place(out);
        } else if (n == 6) {
          const Eigen::Map<const Mat6> inverse(factors_.data() + factor_start_[tree]);
          const Vec6 r = Eigen::Map<const Vec6>(out);
          Eigen::Map<Vec6>(out).noalias() = inverse * r;
        } else {
          const Eigen::Map<const Matrix> lower(factors_.data() + factor_start_[tree], n, n);
          Eigen::Map<Vector> r(out, n);
          lower.triangularView<Eigen::Lower>().solveInPlace(r);
          lower.triangularView<Eigen::Lower>().transpose().solveInPlace(r);
        }
      },
      workers.share(trees));
  if (terms.splitting() == Splitting::none) kernel_.solve_in_place(change);
}

void SplitDynamics::extend(const ContactProblem& problem, const SplitTerms& terms, Index tree,
                           const double* v, double* extended) const {
  const Index n = problem.mass().block_size(tree);
  std::copy(v, v + n, extended);
  if (!terms.by_bodies(tree)) return;
  const Articulation& articulation = *problem.structure().articulation(tree);
  double* body = extended + n;
  for (Index d = 0; d < n; ++d) {
    Eigen::Map<Vec6> velocity(body + 6 * d);
    velocity = articulation.motion.col(d) * v[d];
    if (articulation.parent[d] >= 0) velocity += ConstVec6(body + 6 * articulation.parent[d]);
  }
}

double SplitDynamics::momentum_residual(const ContactProblem& problem, const SplitTerms& terms,
                                        const Vector& v, const Vector& lambda, Workers& workers) {
  const Index trees = problem.tree_count();
  const Index count = problem.constraint_count();
  workers.run(
      count, [&](Index i, Index) { push(problem, terms, i, lambda); }, workers.share(count));
  workers.run(
      trees,
      [&](Index tree, Index worker) {
        const Index n = problem.mass().block_size(tree);
        double* r = scratch_[worker].data();
        residual(problem, terms, tree, v, r, worker);
        Eigen::Map<Vector> y(r, n);
        problem.mass_factor().lower(tree).triangularView<Eigen::Lower>().solveInPlace(y);
        partial_[tree] = y.squaredNorm();
      },
      workers.share(trees));
  double sum = 0.0;
  for (Index tree = 0; tree < trees; ++tree) sum += partial_[tree];
  return std::sqrt(sum);
}

std::size_t SplitDynamics::byte_count() const {
  std::size_t bytes = (factors_.capacity() + forces_.capacity() + partial_.capacity()) * sizeof(double) +
                      factor_start_.capacity() * sizeof(std::size_t) + failed_.capacity();
  for (const TreeMatrix& m : tree_mass_) bytes += 2 * m.entry_count() * (sizeof(double) + sizeof(Index));
  return bytes;
}

}  // namespace tribo
