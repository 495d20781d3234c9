#include "apps/tribo/collection.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>

#include "tribo/base/errors.h"
#include "tribo/formats/full_form.h"
#include "tribo/formats/problem_file.h"
#include "tribo/math/pose.h"
#include "tribo/problem/certificate.h"
#include "tribo/problem/divergence.h"
#include "tribo/problem/lift.h"
#include "tribo/solve/catalogue.h"

namespace tribo::cli {

namespace {

constexpr Index kMostRankDofs = 1500;
constexpr double kRankCut = 1e-11;  // of the largest pivot
// Iterations for one attempt: as many as give about this number of contact visits.
// Chosen on the chutes: with 1e6 a sixth of those of 1000 to 3000 contacts were hard, most of which auto solves with more.
constexpr double kVisits = 2e7;
// Constraints up to which solvers that factorise the whole are tried beside auto: piles fill in.
constexpr Index kLargestWhole = 6000;

// FNV-1a over the bits of numbers.
class Hash {
 public:
  void add(std::uint64_t bits) {
    for (int k = 0; k < 8; ++k) value_ = (value_ ^ (bits >> (8 * k) & 0xff)) * 0x100000001b3u;
  }
  void add(double number) { add(std::bit_cast<std::uint64_t>(number == 0.0 ? 0.0 : number)); }
  template <class Derived>
  void add(const Eigen::DenseBase<Derived>& numbers) {
    for (Eigen::Index c = 0; c < numbers.cols(); ++c) {
      for (Eigen::Index r = 0; r < numbers.rows(); ++r) add(static_cast<double>(numbers(r, c)));
    }
  }
  std::string text() const { return fmt::format("{:016x}", value_); }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

std::string content_hash(const ContactProblem& problem, const Solution& solution) {
  Hash hash;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    hash.add(static_cast<std::uint64_t>(problem.kind(i)));
    hash.add(problem.friction(i));
  }
  hash.add(problem.bias());
  if (problem.has_delassus()) {
    const BlockMatrix& w = problem.delassus();
    for (Index g = 0; g < w.group_count(); ++g) {
      for (Index k = w.row_begin(g); k < w.row_end(g); ++k) {
        hash.add(static_cast<std::uint64_t>(w.column(k)));
        hash.add(w.block(g, k));
      }
    }
  } else if (problem.has_sparse_trees()) {  // as they were given: what the file holds
    hash.add(detail::full_momentum(problem));
    for (const detail::SparseMatrix& matrix : {detail::full_mass(problem), detail::full_jacobian(problem)}) {
      for (const ScalarTriplet& entry : matrix.entries) {
        hash.add(static_cast<std::uint64_t>(entry.row));
        hash.add(static_cast<std::uint64_t>(entry.col));
        hash.add(entry.value);
      }
    }
  } else {
    hash.add(problem.momentum());
    for (Index t = 0; t < problem.tree_count(); ++t) hash.add(problem.mass().block(t));
    const BlockJacobian& jacobian = problem.jacobian();
    for (Index i = 0; i < problem.constraint_count(); ++i) {
      for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
        hash.add(static_cast<std::uint64_t>(jacobian.piece_tree(p)));
        hash.add(jacobian.piece(i, p));
      }
    }
  }
  hash.add(solution.impulse);
  return hash.text();
}

struct Attempt {
  Solution solution;
  Certificate certificate;
  std::string solver;
};

// The best of a few solvers, each with a bounded number of iterations.
Attempt find_solution(const ContactProblem& problem, const Vector& guess) {
  Settings settings;
  settings.tolerance = kCollectionTolerance;
  const double contacts = std::max<Index>(1, problem.constraint_count());
  settings.max_iterations = static_cast<Index>(std::clamp(kVisits / contacts, 200.0, 20000.0));
  std::optional<Attempt> best;
  const auto attempt = [&](const char* name, const Vector* start) {
    Solution solution;
    const std::unique_ptr<Solver> solver = make_solver(name);
    const Report report = solver->solve(problem, settings, solution, start);
    const bool usable = report.certificate.is_finite() &&
                        !looks_infeasible(problem, solution.impulse, solution.velocity, Law::exact);
    if (usable && (!best || report.certificate.error.value < best->certificate.error.value))
      best = {std::move(solution), report.certificate, name};
    return best && best->certificate.error.value <= kCollectionTolerance;
  };
  const bool whole = problem.constraint_count() <= kLargestWhole;
  if (attempt("auto", nullptr)) return *best;
  if (whole && attempt("alnewton", nullptr)) return *best;
  if (guess.size() == problem.row_count() && attempt("auto", &guess)) return *best;
  if (whole && attempt("ipm", nullptr)) return *best;
  if (best) {
    const Vector so_far = best->solution.impulse;
    if (attempt("auto", &so_far)) return *best;
  }
  if (whole && attempt("admm", nullptr)) return *best;
  // Slow; from zero it solves two of the small chutes that the others miss by a little.
  if (whole) attempt("nsn-fb-gp", nullptr);
  if (best) return *best;
  // Contradictory constraints: no impulses at all are as good as any.
  Solution none;
  none.impulse = Vector::Zero(problem.row_count());
  const Certificate certificate = certify(problem, none);
  return {std::move(none), certificate, "none"};
}

double sliding_share(const ContactProblem& problem, const Solution& solution) {
  constexpr double kOnCone = 1e-6;  // relative distance from the boundary that counts as on it
  Index sliding = 0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (problem.kind(i) != ConstraintKind::contact) continue;
    const Index rows = problem.rows(i);
    const auto impulse = solution.impulse.segment(problem.row(i), rows);
    const double normal = impulse[rows - 1], tangent = impulse.head(rows - 1).norm();
    if (normal > 0.0 && tangent >= (1.0 - kOnCone) * problem.friction(i) * normal) ++sliding;
  }
  return problem.contact_count() > 0 ? static_cast<double>(sliding) / problem.contact_count() : 0.0;
}

double scale_spread(const ContactProblem& problem) {
  double lowest = std::numeric_limits<double>::infinity(), highest = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (problem.is_idle(i)) continue;
    lowest = std::min(lowest, problem.scale(i));
    highest = std::max(highest, problem.scale(i));
  }
  return highest > 0.0 ? highest / lowest : 1.0;
}

// Rank of a positive semi-definite matrix by pivoted elimination.
Index rank_of(Matrix g) {
  Index rank = 0;
  const double largest = g.size() > 0 ? g.diagonal().maxCoeff() : 0.0;
  const Eigen::Index n = g.rows();
  for (Eigen::Index k = 0; k < n; ++k) {
    Eigen::Index pivot = 0;
    const double value = g.diagonal().tail(n - k).maxCoeff(&pivot);
    if (!(value > kRankCut * largest)) break;
    pivot += k;
    g.row(k).swap(g.row(pivot));
    g.col(k).swap(g.col(pivot));
    const Vector column = g.col(k).tail(n - k - 1);
    g.bottomRightCorner(n - k - 1, n - k - 1).noalias() -= column * column.transpose() / value;
    ++rank;
  }
  return rank;
}

// Trees that constraints join, by their first one.
std::vector<std::vector<Index>> islands_of_trees(const ContactProblem& problem) {
  std::vector<Index> parent(problem.tree_count());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](Index t) {
    while (parent[t] != t) t = parent[t] = parent[parent[t]];
    return t;
  };
  const BlockJacobian& jacobian = problem.jacobian();
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    for (Index p = jacobian.piece_begin(i) + 1; p < jacobian.piece_end(i); ++p) {
      const Index a = root(jacobian.piece_tree(jacobian.piece_begin(i))), b = root(jacobian.piece_tree(p));
      parent[std::max(a, b)] = std::min(a, b);
    }
  }
  std::vector<std::vector<Index>> islands(problem.tree_count());
  for (Index t = 0; t < problem.tree_count(); ++t) islands[root(t)].push_back(t);
  std::erase_if(islands, [](const auto& trees) { return trees.empty(); });
  return islands;
}

}  // namespace

double rank_ratio(const ContactProblem& problem) {
  // rank(W) = rank(X^T), X = L^-1 J^T, and X X^T of an island has as many rows as that has degrees of freedom.
  std::vector<Index> place(problem.tree_count(), -1);
  Index rank = 0;
  const BlockJacobian& jacobian = problem.jacobian();
  std::vector<std::vector<Index>> constraints_of(problem.tree_count());
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (jacobian.piece_begin(i) < jacobian.piece_end(i))
      constraints_of[jacobian.piece_tree(jacobian.piece_begin(i))].push_back(i);
  }
  for (const std::vector<Index>& trees : islands_of_trees(problem)) {
    Index dofs = 0;
    for (const Index t : trees) {
      place[t] = dofs;
      dofs += problem.mass().block_size(t);
    }
    if (dofs > kMostRankDofs) return 0.0;
    Matrix g = Matrix::Zero(dofs, dofs);
    std::vector<Eigen::LLT<Matrix>> factors(problem.tree_count());
    for (const Index t : trees) factors[t].compute(problem.mass().block(t));
    for (const Index t : trees) {
      for (const Index i : constraints_of[t]) {
        std::vector<std::pair<Index, Matrix>> parts;
        for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
          const Index tree = jacobian.piece_tree(p);
          parts.emplace_back(tree, factors[tree].matrixL().solve(Matrix(jacobian.piece(i, p).transpose())));
        }
        for (const auto& [a, left] : parts) {
          for (const auto& [b, right] : parts)
            g.block(place[a], place[b], left.rows(), right.rows()) += left * right.transpose();
        }
      }
    }
    rank += rank_of(std::move(g));
  }
  return rank > 0 ? static_cast<double>(problem.row_count()) / rank : 0.0;
}

std::vector<ContactProblem> local_problems(const ContactProblem& problem, const Vector& impulse,
                                           const Vector& velocity, double h, Index most) {
  if (problem.has_sparse_trees()) return {};  // the spin of rigid bodies is what these are about
  Vector scratch, u;
  problem.velocity_of(impulse, scratch, u);
  struct Local {
    double asymmetry = 0.0;
    Index contact = 0;
    Mat3 w;
  };
  std::vector<Local> all;
  const BlockJacobian& jacobian = problem.jacobian();
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (problem.kind(i) != ConstraintKind::contact || problem.rows(i) != 3) continue;
    if (!(impulse[problem.row(i) + 2] > 0.0)) continue;
    Mat3 w = Mat3::Zero();
    for (Index p = jacobian.piece_begin(i); p < jacobian.piece_end(i); ++p) {
      const Index tree = jacobian.piece_tree(p);
      Matrix implicit = problem.mass().block(tree);
      if (implicit.rows() == 6) {
        const Mat3 inertia = implicit.bottomRightCorner<3, 3>();
        const Vec3 spin = velocity.segment<3>(problem.mass().block_start(tree) + 3);
        implicit.bottomRightCorner<3, 3>() +=
            h * (cross_matrix(spin) * inertia - cross_matrix(inertia * spin));
      }
      const Matrix j = jacobian.piece(i, p);
      w += j * implicit.partialPivLu().solve(Matrix(j.transpose()));
    }
    all.push_back({(w - w.transpose()).norm() / w.norm(), i, w});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Local& a, const Local& b) { return a.asymmetry > b.asymmetry; });
  if (static_cast<Index>(all.size()) > most) all.resize(static_cast<std::size_t>(most));
  std::vector<ContactProblem> problems;
  for (const Local& local : all) {
    std::vector<ScalarTriplet> entries;
    for (Index r = 0; r < 3; ++r) {
      for (Index c = 0; c < 3; ++c) entries.push_back({r, c, local.w(r, c)});
    }
    const Index row = problem.row(local.contact);
    const Vec3 q = u.segment<3>(row) - problem.delassus_diagonal(local.contact) * impulse.segment<3>(row);
    ConstraintSpec spec;
    spec.friction = problem.friction(local.contact);
    problems.push_back(lift(BlockMatrix::from_triplets({0, 3}, entries), q, {spec}));
  }
  return problems;
}

std::string manifest_head() {
  return "family,file,contacts,bilateral,rows,dofs,rank_ratio,scale_spread,sliding_share,error,siconos_error,"
         "solver,hard,"
         "hash\n";
}

std::string to_csv_line(const ManifestRow& r) {
  return fmt::format("{},{},{},{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{},{},{}\n", r.family, r.file,
                     r.contacts, r.bilateral, r.rows, r.dofs, r.rank_ratio, r.scale_spread, r.sliding_share,
                     r.error, r.siconos_error, r.solver, r.hard ? "yes" : "no", r.hash);
}

std::vector<ManifestRow> parse_manifest(const std::filesystem::path& path, const std::string& text) {
  std::vector<ManifestRow> rows;
  std::size_t begin = 0;
  for (int line = 1; begin < text.size(); ++line) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;  // a run was killed while it wrote this line
    std::vector<std::string> fields{""};
    for (std::size_t k = begin; k < end; ++k) {
      if (text[k] == ',') {
        fields.emplace_back();
      } else {
        fields.back() += text[k];
      }
    }
    const bool head = text.compare(begin, end + 1 - begin, manifest_head()) == 0;
    begin = end + 1;
    if (head) continue;
    const auto number = [&](std::size_t k, auto& value) {
      const char* const stop = fields[k].data() + fields[k].size();
      const auto [at, error] = std::from_chars(fields[k].data(), stop, value);
      return error == std::errc() && at == stop;
    };
    ManifestRow row;
    if (fields.size() != 14 || !number(2, row.contacts) || !number(3, row.bilateral) ||
        !number(4, row.rows) || !number(5, row.dofs) || !number(6, row.rank_ratio) ||
        !number(7, row.scale_spread) || !number(8, row.sliding_share) || !number(9, row.error) ||
        !number(10, row.siconos_error)) {
      throw InvalidInput(fmt::format("{}: line {} is not one of a manifest", path.string(), line));
    }
    row.family = fields[0];
    row.file = fields[1];
    row.solver = fields[11];
    row.hard = fields[12] == "yes";
    row.hash = fields[13];
    rows.push_back(std::move(row));
  }
  return rows;
}

void add_to_collection(const std::filesystem::path& folder, const ContactProblem& problem,
                       const Vector& guess, const std::string& description, ManifestRow& row) {
  const Attempt found = find_solution(problem, guess);
  row.contacts = problem.contact_count();
  row.bilateral = 0;
  for (Index i = 0; i < problem.constraint_count(); ++i)
    row.bilateral += problem.kind(i) == ConstraintKind::bilateral ? 1 : 0;
  row.rows = problem.row_count();
  row.dofs = problem.full_dof_count();
  row.rank_ratio = rank_ratio(problem);
  row.scale_spread = scale_spread(problem);
  row.sliding_share = sliding_share(problem, found.solution);
  row.error = found.certificate.error.value;
  row.siconos_error = found.certificate.siconos_error;
  row.solver = found.solver;
  row.hard = !(row.error <= kCollectionTolerance);
  row.hash = content_hash(problem, found.solution);
  WriteOptions options;
  options.title = row.file;
  options.description = description;
  options.solution = &found.solution;
  options.compress = true;
  write_problem(folder / row.file, problem, options);
}

}  // namespace tribo::cli
