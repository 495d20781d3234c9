// lemke    the whole faceted problem at once: its matrix is copositive, so that the search ends at a solution or at a ray
// dantzig  friction bounds held at mu times the normals of the last round, which leaves a monotone problem for principal
//          pivots (1e-9 added to its diagonal makes them possible), until the bounds no longer move
#include "tribo/solve/classical/pivoting.h"

#include <algorithm>

#include "tribo/solve/classical/faceted.h"
#include "tribo/solve/classical/lcp.h"

namespace tribo {
namespace {

using Method = PivotingOptions::Method;

constexpr double kDiagonal = 1e-9;       // beside scaled matrices of order one
constexpr Index kMostRounds = 1000;      // of friction bounds
constexpr double kBoundsAtRest = 1e-11;  // change of the impulses between two rounds, relative

class Pivoting final : public Solver {
 public:
  Pivoting(std::string_view name, const PivotingOptions& options) : name_(name), options_(options) {}
  std::string_view name() const override { return name_; }
  std::unique_ptr<Solver> clone() const override { return make_pivoting(name_, options_); }
  std::vector<Option> options() override { return describe(options_); }
  SolverTraits traits() const override { return {.convex_law = false}; }

  Status iterate(const ContactProblem& problem, Monitor& monitor) override {
    const Index facets = Index{4} << static_cast<int>(options_.facets);
    const Index variables = FacetedProblem::count(problem, facets);
    if (variables > options_.most_variables) {
      monitor.note_count("variables, too many", variables);
      return Status::stalled;
    }
    if (variables == 0) return Status::stalled;  // nothing moves any constraint
    if (!monitor.may_factorize()) return monitor.give_up(0);
    if (monitor.iterations_left() == 0) return Status::iteration_limit;
    subproblem_.setup(problem, options_.scaled);
    faceted_.assemble(subproblem_, facets);
    scale_ = std::max(faceted_.offset().cwiseAbs().maxCoeff<Eigen::PropagateNaN>(), 1e-300);
    if (!std::isfinite(scale_)) return Status::stalled;
    monitor.count_factorization();
    return options_.method == Method::lemke ? lemke(monitor) : dantzig(monitor);
  }

 private:
  // Pivots are iterations; the judge is asked at the end.
  std::function<bool(Index)> meter(Monitor& monitor) {
    return [this, &monitor](Index) {
      if (pivots_ >= monitor.iterations_left() || monitor.out_of_time(pivots_)) return false;
      ++pivots_;
      return true;
    };
  }

  Status end(Monitor& monitor, LcpEnd end) {
    impulse_ = faceted_.impulse(z_);
    if (!impulse_.allFinite()) return Status::stalled;
    monitor.note_faceted_error(faceted_.error(z_));
    subproblem_.velocity(impulse_, velocity_);
    if (monitor.check(std::max<Index>(pivots_, 1), impulse_, velocity_)) return Status::converged;
    return end == LcpEnd::limit ? Status::iteration_limit : Status::stalled;
  }

  Status lemke(Monitor& monitor) {
    pivots_ = 0;
    right_ = faceted_.offset() / scale_;
    const LcpEnd found = lemke_.solve(faceted_.matrix(), right_, meter(monitor), z_);
    refined_ = z_;
    if (found == LcpEnd::solved && faceted_.refine(faceted_.matrix(), right_, refined_)) z_ = refined_;
    z_ *= scale_;
    return end(monitor, found);
  }

  Status dantzig(Monitor& monitor) {
    pivots_ = 0;
    const Matrix matrix = faceted_.lagged_matrix(kDiagonal);
    const Matrix plain = faceted_.lagged_matrix(0.0);
    dantzig_.prepare(matrix);
    z_.setZero(matrix.rows());
    LcpEnd found = LcpEnd::solved;
    for (Index round = 0; round < kMostRounds && found == LcpEnd::solved; ++round) {
      // A round may need no pivot, where the bounds move and the basis stays: it counts as one.
      if (pivots_ >= monitor.iterations_left() || monitor.out_of_time(pivots_)) {
        found = LcpEnd::limit;
        break;
      }
      const Index before = pivots_;
      faceted_.set_bounds(z_, right_);
      right_ /= scale_;
      last_ = z_;
      found = dantzig_.solve(right_, meter(monitor), z_);
      if (pivots_ == before) ++pivots_;
      refined_ = z_;
      if (found == LcpEnd::solved && faceted_.refine(plain, right_, refined_)) z_ = refined_;
      z_ *= scale_;
      if (found != LcpEnd::solved) z_ = last_;
      if ((z_ - last_).lpNorm<Eigen::Infinity>() <= kBoundsAtRest * z_.lpNorm<Eigen::Infinity>()) break;
    }
    return end(monitor, found);
  }

  std::string_view name_;
  PivotingOptions options_;
  Subproblem subproblem_;
  FacetedProblem faceted_;
  Lemke lemke_;
  Dantzig dantzig_;
  double scale_ = 1.0;
  Index pivots_ = 0;
  Vector z_, last_, refined_, right_, impulse_, velocity_;
};

}  // namespace

std::vector<Option> describe(PivotingOptions& o) {
  return {
      choice_option("facets", "of the friction cone of three rows", o.facets,
                    {{0, "4"}, {1, "8"}, {2, "16"}}),
      integer_option("most_variables", "larger problems are not tried: facets + 2 per contact",
                     o.most_variables, 1, 20000),
      flag_option("scaled", "in the variables sqrt(w_i) lambda_i", o.scaled),
  };
}

std::unique_ptr<Solver> make_pivoting(std::string_view name, const PivotingOptions& options) {
  return std::make_unique<Pivoting>(name, options);
}

}  // namespace tribo
