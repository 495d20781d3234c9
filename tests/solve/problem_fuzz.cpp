// Random small problems of every nasty sort, through every solver: extreme friction and masses, duplicate and
// opposing contacts, sparse trees, rank-deficient and contradictory constraints, idle rows, degenerate boxes, rows
// in units of 1e+-30, free motions that ask for nothing but rounding, numbers around 1e-150; from zero and from impulses
// that have nothing to do with the problem.
//
//   tribo_problem_fuzz [--seconds S] [--cases N] [--seed K]
//
// Fails on a NaN, an exception, a `converged` that the certificate or an independent evaluation in long double does not
// confirm, and a `converged` on constraints that contradict each other by construction. A crash names its case by stopping at
// it: `--seed K` repeats the run.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/support/long_twin.h"
#include "tests/support/random.h"
#include "tribo/problem/certificate.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/solve/catalogue.h"

namespace tribo::test {
namespace {

constexpr double kTolerance = 1e-6;

struct Case {
  ContactProblem problem;
  bool contradictory = false;
};

class CaseMaker {
 public:
  explicit CaseMaker(std::uint64_t seed)
      : random_(static_cast<unsigned>(seed)), sparse_(static_cast<unsigned>(seed) + 1) {}

  Case make() {
    Case made;
    ContactProblemBuilder builder;
    sizes_.clear();
    const int trees = below(4) + 1;
    made.contradictory = chance(0.05);
    plain_ = made.contradictory && chance(0.5);
    const bool extreme = !plain_ && chance(0.5);
    quiet_ = !made.contradictory && chance(0.1);
    unit_ = !made.contradictory && chance(0.05) ? 1e-150 : 1.0;
    motion_.clear();
    for (int t = 0; t < trees; ++t) add_tree(builder, extreme);
    const int constraints = below(8) + 1;
    last_.clear();
    for (int c = 0; c < constraints; ++c) add_constraint(builder);
    if (made.contradictory) contradict(builder);
    made.problem = builder.build();
    return made;
  }

  // Impulses that have nothing to do with the problem.
  Vector start(Index rows) { return unit_ * random_.log_uniform(1e-3, 1e3) * random_.vector(rows); }

 private:
  int below(int count) { return static_cast<int>(random_.uniform(0.0, count - 1e-9)); }
  bool chance(double share) { return random_.uniform(0.0, 1.0) < share; }

  void add_tree(ContactProblemBuilder& builder, bool extreme) {
    constexpr Index kSizes[] = {1, 3, 6, 6, 6, 9};
    const Index n = kSizes[below(6)];
    const double mass = extreme ? random_.log_uniform(1e-6, 1e6) : random_.log_uniform(0.1, 10.0);
    Matrix a = random_.matrix(n, n);
    a = (a * a.transpose() + 0.1 * Matrix::Identity(n, n)).eval();
    const Vector v = unit_ * random_.vector(n) * (chance(0.1) ? 0.0 : 1.0);
    const Vector momentum = mass * (quiet_ ? Vector(a * v) : v);
    if (sparse_.uniform(0.0, 1.0) < 0.15) {
      builder.add_sparse_tree(Matrix(mass * a).sparseView(), momentum);
    } else {
      builder.add_tree(mass * a, momentum);
    }
    sizes_.push_back(n);
    motion_.push_back(v);
  }

  std::vector<JacobianPiece> pieces(Index rows) {
    std::vector<JacobianPiece> made;
    const int first = below(static_cast<int>(sizes_.size()));
    made.push_back({first, random_.matrix(rows, sizes_[first])});
    const int second = below(static_cast<int>(sizes_.size()));
    if (second != first && chance(0.6)) made.push_back({second, random_.matrix(rows, sizes_[second])});
    if (plain_) return made;
    if (chance(0.03)) made[0].block.setZero();
    if (chance(0.02)) made.resize(1), made[0].block.setZero();
    if (chance(0.05)) {  // measured in another unit
      const double unit = chance(0.5) ? 1e30 : 1e-30;
      for (JacobianPiece& piece : made) piece.block *= unit;
    }
    return made;
  }

  // Where the free motion is quiet, what it does to these rows is taken off again: rounding is left.
  Vec3 bias(const std::vector<JacobianPiece>& made) {
    Vec3 bias = unit_ * (chance(0.5) ? Vec3(Vec3::Zero()) : random_.vec3());
    if (!quiet_) return bias;
    bias.setZero();
    for (const JacobianPiece& piece : made) {
      bias.head(piece.block.rows()) -= piece.block * motion_[static_cast<std::size_t>(piece.tree)];
    }
    return bias;
  }

  double friction() {
    constexpr double kValues[] = {0.0, 0.0, 1e-6, 0.1, 0.3, 0.5, 0.8, 1.0, 3.0, 1e3};
    return kValues[below(10)];
  }

  void add_constraint(ContactProblemBuilder& builder) {
    const double soft = !plain_ && chance(0.3) ? random_.log_uniform(1e-6, 1.0) : 0.0;
    if (chance(0.2)) return add_elliptic(builder, soft);
    if (chance(0.65)) {
      std::vector<JacobianPiece> made = pieces(3);
      if (!last_.empty() && chance(0.15)) made = last_;  // a duplicate
      if (!last_.empty() && chance(0.1)) {               // the opposite side of a gap that has closed
        made = last_;
        for (JacobianPiece& piece : made) piece.block.bottomRows<1>() *= -1.0;
      }
      last_ = made;
      const Vec3 r =
          soft * Vec3(1.0, chance(0.5) ? 1.0 : random_.uniform(0.0, 1.0), random_.uniform(0.1, 1.0));
      builder.add_contact(friction(), made, bias(made), r);
      return;
    }
    const std::vector<JacobianPiece> made = pieces(1);
    switch (below(3)) {
      case 0:
        builder.add_unilateral(made, bias(made)[0], soft);
        break;
      case 1:
        builder.add_bilateral(made, bias(made)[0], soft);
        break;
      default: {
        const double infinity = std::numeric_limits<double>::infinity();
        const double lower = chance(0.2) ? -infinity : -random_.log_uniform(1e-3, 10.0);
        const double upper = chance(0.2) ? infinity : chance(0.1) && lower > -infinity ? lower : 1.0;
        // Some do not hold zero: an impulse that acts whatever the velocities.
        const double away = !plain_ && chance(0.15) ? unit_ * random_.uniform(-30.0, 30.0) : 0.0;
        builder.add_box(lower + away, upper + away, made, bias(made)[0], soft);
      }
    }
  }

  // Coefficients of friction per row, cones of 3, 4 and 6 rows; some of them zero, some far apart.
  void add_elliptic(ContactProblemBuilder& builder, double soft) {
    constexpr Index kRows[] = {3, 4, 6};
    const Index rows = kRows[below(3)];
    std::vector<JacobianPiece> made = pieces(rows);
    std::vector<double> friction, values, compliance;
    for (Index r = 0; r < rows; ++r) {
      if (r + 1 < rows) friction.push_back(chance(0.2) ? 0.0 : random_.log_uniform(1e-3, 2.0));
      values.push_back(0.0);
      compliance.push_back(soft * random_.uniform(0.1, 1.0));
    }
    for (const JacobianPiece& piece : made) {
      for (Index r = 0; quiet_ && r < rows; ++r) {
        values[r] -= piece.block.row(r).dot(motion_[static_cast<std::size_t>(piece.tree)]);
      }
    }
    for (double& value : values) value += quiet_ || chance(0.5) ? 0.0 : unit_ * random_.uniform();
    builder.add_elliptic_contact(friction, made, values, compliance);
  }

  // The same row twice with different velocities asked for.
  void contradict(ContactProblemBuilder& builder) {
    std::vector<JacobianPiece> row = pieces(1);
    for (JacobianPiece& piece : row) piece.block.setConstant(1.0);
    builder.add_bilateral(row, 0.0);
    builder.add_bilateral(row, chance(0.5) ? 1.0 : -0.3);
  }

  Random random_;
  Random sparse_;  // which trees are
  std::vector<Index> sizes_;
  std::vector<Vector> motion_;  // free velocities of the trees
  bool quiet_ = false;
  bool plain_ = false;  // rows that ask for about the same
  double unit_ = 1.0;
  std::vector<JacobianPiece> last_;
};

// Empty: all is well. From `start`, or from zero.
std::string complaint(const Case& made, Solver& solver, Law law, const Vector* start) {
  Settings settings;
  settings.tolerance = kTolerance;
  settings.law = law;
  settings.max_iterations = 500;
  settings.time_limit = 0.1;
  Solution solution;
  const Report report = solver.solve(made.problem, settings, solution, start);
  if (!solution.impulse.allFinite() || !solution.velocity.allFinite()) return "the solution is not finite";
  if (!report.certificate.is_finite()) return "the certificate is not finite";
  if (report.status != Status::converged) return "";
  if (made.contradictory) return "converged although the constraints contradict each other";
  Solution bare;
  bare.impulse = solution.impulse;
  const double error = certify(made.problem, bare, law).error.value;
  if (!(error <= kTolerance)) return fmt::format("converged, but the certificate says {:.2e}", error);
  const double witness = LongTwin(made.problem).error(solution.impulse, law);
  if (!(witness <= 1.001 * kTolerance))
    return fmt::format("converged, but in long double it is {:.2e}", witness);
  for (Index i = 0; i < made.problem.constraint_count(); ++i) {
    const bool held = made.problem.kind(i) == ConstraintKind::bilateral;
    const double q = made.problem.free_velocity()[made.problem.row(i)];
    if (made.problem.is_idle(i) && held && std::abs(q) > 1e-3 * std::max(1.0, made.problem.free_speed())) {
      return fmt::format("converged, but constraint {} cannot move and asks for {:.2e}", i, q);
    }
  }
  return "";
}

int fuzz(double seconds, std::uint64_t most, std::uint64_t seed) {
  std::vector<std::unique_ptr<Solver>> solvers;
  for (const SolverInfo& info : solver_catalogue()) solvers.push_back(info.make());
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t cases = 0;
  int failures = 0;
  for (; cases < most && failures < 10; ++cases) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > seconds) break;
    CaseMaker maker(seed * 0x9e3779b9u + cases);
    const Case made = maker.make();
    const Vector start = maker.start(made.problem.row_count());
    // The default solver every time, one of the others in turn.
    for (const std::size_t s : {std::size_t{0}, 1 + static_cast<std::size_t>(cases % (solvers.size() - 1))}) {
      Solver& solver = *solvers[s];
      const bool convex = cases % 4 == 3 && solver.supports(Law::convex);
      const Law law = convex || !solver.supports(Law::exact) ? Law::convex : Law::exact;
      std::string wrong;
      try {
        wrong = complaint(made, solver, law, cases % 5 == 4 ? &start : nullptr);
      } catch (const std::exception& error) {
        wrong = fmt::format("exception: {}", error.what());
      }
      if (wrong.empty()) continue;
      fmt::print(stderr, "FAILED: case {} of seed {}, solver {}, law {}: {}\n", cases, seed, solver.name(),
                 law == Law::exact ? "exact" : "convex", wrong);
      ++failures;
    }
  }
  fmt::print("{} cases, {} failures\n", cases, failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tribo::test

int main(int argc, char** argv) {
  double seconds = 1e9;
  std::uint64_t cases = 100000, seed = 1;
  for (int k = 1; k + 1 < argc; k += 2) {
    const std::string_view option = argv[k];
    if (option == "--seconds") seconds = std::strtod(argv[k + 1], nullptr);
    if (option == "--cases") cases = std::strtoull(argv[k + 1], nullptr, 10);
    if (option == "--seed") seed = std::strtoull(argv[k + 1], nullptr, 10);
  }
  return tribo::test::fuzz(seconds, cases, seed);
}
