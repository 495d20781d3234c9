// Projected Gauss-Seidel (PGS) as in Lee et al. (2024) sec. VII and Carpentier et al. (2024): the method of
// physics engines, here with the certificate as its judge.
//
//   repeat
//     for every contact i, w its velocity with compliance (see sweep.h):
//       lambda_n <- max(0, lambda_n - omega w_n / W_nn);   w_t += W_tn dlambda_n
//       lambda_t <- P_disk(mu lambda_n)(lambda_t - omega w_t / lambda_max(W_tt))
//   until the certificate is below the tolerance
//
// Fixed points are exactly the solutions of the exact law: w_n, lambda_n satisfy Signorini's and w_t,
// lambda_t Coulomb's condition. For the convex law the two steps become one projection, lambda <- P_K(lambda
// - omega w / bound on lambda_max(W_ii)). Scalar rows: the clamped relaxation of their own row.
//
// Cost: one pass over J (or W) per sweep, about 40 ns per contact. Simplest and cheapest per sweep; it needs
// more sweeps than nsgs, most of all where W_tt is anisotropic. omega in (0, 2) over-relaxes, "symmetric"
// sweeps there and back.
#include "tribo/solve/sweeps/pgs.h"

#include "tribo/solve/law/by_rows.h"
#include "tribo/solve/law/local_step.h"
#include "tribo/solve/law/one_cone.h"
#include "tribo/solve/sweeps/sweep_loop.h"

namespace tribo {
namespace {

using Order = PgsOptions::Order;

struct ExactStep {
  const ByRows<LocalMatrixN>& local;
  const std::vector<ScalarRow>& rows;
  double omega;

  template <int N>
  VecN<N> contact(Index s, const VecN<N>& w, const VecN<N>& r) const {
    const LocalMatrixN<N>& c = local.of<N>()[s];
    const double normal = project_orthant(r[N - 1] - omega * c.rho_n * w[N - 1]);
    if (normal == 0.0) return VecN<N>::Zero();
    const double step = normal - r[N - 1];
    const double rate = omega * c.rho_t;
    VecN<N> z;
    for (int k = 0; k < N - 1; ++k) z[k] = r[k] - rate * (w[k] + c.w(k, N - 1) * step);
    z[N - 1] = normal;
    return project_strict(z, c.mu);
  }
  double scalar(Index s, double w, double r) const { return rows[s].solve(w, r); }
};

struct ConvexStep {
  const ByRows<LocalMatrixN>& local;
  const std::vector<ScalarRow>& rows;
  double omega;

  template <int N>
  VecN<N> contact(Index s, const VecN<N>& w, const VecN<N>& r) const {
    const LocalMatrixN<N>& c = local.of<N>()[s];
    return project_cone(VecN<N>(r - omega * c.rho * w), c.mu);
  }
  double scalar(Index s, double w, double r) const { return rows[s].solve(w, r); }
};

class Pgs final : public Solver {
 public:
  explicit Pgs(const PgsOptions& options) : options_(options) {}
  std::string_view name() const override { return "pgs"; }
  std::unique_ptr<Solver> clone() const override { return make_pgs(options_); }
  std::vector<Option> options() override { return describe(options_); }

  Status iterate(const ContactProblem& problem, Monitor& monitor) override {
    prepare(problem);
    sweeps_.setup(problem);
    order_.reset(problem.constraint_count(), static_cast<std::uint64_t>(options_.seed));
    state_.impulse = monitor.start();
    if (!state_.impulse.isZero(0.0)) sweeps_.refresh(state_.impulse, state_.velocity);
    if (monitor.settings().law == Law::convex)
      return run(problem, monitor, ConvexStep{local_, scalar_, options_.omega});
    return run(problem, monitor, ExactStep{local_, scalar_, options_.omega});
  }

 private:
  void prepare(const ContactProblem& problem) {
    local_.clear();
    scalar_.clear();
    for_each_constraint(
        problem,
        [&](auto cone) {
          constexpr int n = cone.kRows;
          local_.of<n>().emplace_back(local_matrix<n>(problem, cone.index), cone.friction);
        },
        [&](IntervalConstraint row) { scalar_.push_back(scalar_row(problem, row.index, options_.omega)); });
  }

  template <class Step>
  Status run(const ContactProblem& problem, Monitor& monitor, const Step& step) {
    rest_.reset(problem.constraint_count(), options_.freeze);
    const auto one_sweep = [&](Index k) {
      if (options_.order == Order::shuffled) order_.shuffle();
      if (options_.order == Order::symmetric && k > 1) order_.reverse();
      return rest_.sweep(sweeps_, order_.visits(), state_.impulse, step);
    };
    const auto carry_on = [] { return true; };
    return run_sweeps(problem, monitor, sweeps_, state_, one_sweep, carry_on);
  }

  PgsOptions options_;

  SweepOperator sweeps_;
  SweepOrder order_;
  SweepRest rest_;
  SweepState state_;
  std::vector<ScalarRow> scalar_;
  ByRows<LocalMatrixN> local_;
};

}  // namespace

std::vector<Option> describe(PgsOptions& o) {
  return {
      real_option("omega", "relaxation of every step", "1", o.omega, 0.05, 1.95),
      choice_option("order", "visits: always forward, forward and back, or drawn anew for every sweep",
                    o.order, {{0, "forward"}, {1, "symmetric"}, {2, "shuffled"}}),
      integer_option("seed", "of the shuffled order", o.seed, 0, 1000000000),
      integer_option("freeze", "longest rest of settled constraints, in sweeps; 0: none", o.freeze, 0, 1000),
  };
}

std::unique_ptr<Solver> make_pgs(const PgsOptions& options) { return std::make_unique<Pgs>(options); }

}  // namespace tribo
