// The only judge of accuracy: certify(problem, impulse) recomputes u from the impulses alone on the raw
// problem data (the file's own W where there is one) and reports how far every physical condition is from
// being met. No solver grades itself; `converged` means that a measure below, recomputed here, is under the
// tolerance.
//
// Natural map of constraint i at step rho: lambda_i - P_i(lambda_i - rho (w_i + Gamma(w_i))), w = u + R
// lambda; zero exactly at solutions. Notation of the fields: lambda impulse, hat w = w + Gamma(w) (law exact)
// or w (law convex).
#pragma once

#include <string_view>

#include "tribo/problem/contact_problem.h"
#include "tribo/problem/extended_error.h"
#include "tribo/problem/solution.h"

namespace tribo {

// A value and the constraint where it is worst (-1: none).
struct Worst {
  double value = 0.0;
  Index constraint = -1;
};

struct Certificate {
  // Scaled natural map, the default error: max_i sqrt(w_i) |lambda_i - P(lambda_i - hat w_i / w_i)|_inf /
  // reference_i; dimensionless. With Lambda = max_j sqrt(w_j) |lambda_j|_inf, N = max_j |q_j|_inf / sqrt(w_j) and E
  // twice the kinetic energy of the free motion: reference_i = max(min(Lambda, 1e2 N), 1e-3 |q_i|_inf / sqrt(w_i),
  // sqrt(eps E)). Nothing a row is scaled by changes it; docs/certificate.md derives it.
  Worst error;
  double fclib_error = 0.0;    // ||lambda - P(lambda - hat w)||_2 / ||q||_2, Acary (131)
  double siconos_error = 0.0;  // the same divided by max(||q||, ||lambda||, ||u||)
  double lee_residual = 0.0;   // ||J v - z|| / contacts, Lee sec. VII, m/s (beta = 1, strict operator)
  // ||A v - b - J^T lambda|| relative to A v or b, in the A^-1 norm, Castro (32). Of the generalised
  // velocity given to certify(); in a Report that is A^-1 (b + J^T lambda), so the value shows how well A is
  // factorised. 0 for problems in Delassus form, which have no momentum of their own.
  double momentum = 0.0;
  Worst cone_primal;           // distance of lambda from its set, N s
  Worst cone_dual;             // distance of hat w from the dual set, m/s
  Worst complementarity;       // |lambda . hat w|, J
  Worst penetration_velocity;  // max(0, -w_n) of contacts, m/s; |w| of rows where it pushes to no bound
  Worst stick_slip_velocity;   // |w_t| of contacts strictly inside their cone, m/s: creep where there should
                               // be none
  Worst slip_angle;            // angle between slip and friction opposite, rad; sliding contacts

  bool is_finite() const;
};

enum class Measure : std::uint8_t { scaled, fclib, siconos };

std::string_view to_string(Measure measure);
double value_of(const Certificate& certificate, Measure measure);
// A certificate that says nothing but this: every other number is NaN.
Certificate measure_alone(Measure measure, double value);

// Full certificate: u is recomputed from solution.impulse; solution.generalized_velocity is judged by its
// momentum residual where given ([full dofs]), recomputed otherwise; solution.velocity is not looked at.
Certificate certify(const ContactProblem& problem, const Solution& solution, Law law = Law::exact);

// certify() without allocation when called again at the same size, and the error alone for stopping tests.
class Certifier {
 public:
  // The chosen measure at (impulse, velocity u); u is trusted here: confirm with certify() before reporting.
  static double error(const ContactProblem& problem, const Vector& impulse, const Vector& velocity, Law law,
                      Measure measure);

  // What may be claimed where error() on velocities recomputed from the impulses says `error`: that and what rounding
  // can have hidden, or, where that is not small beside `tolerance` or decides, the value in extended precision.
  double confirm(const ContactProblem& problem, const Vector& impulse, double error, double tolerance,
                 Law law, Measure measure);

  // Fills solution.velocity and solution.generalized_velocity from solution.impulse, then judges all three. Errors are
  // evaluated in extended precision where rounding counts beside them and `tolerance`.
  Certificate complete(const ContactProblem& problem, Solution& solution, Law law, double tolerance = 0.0);
  // The second half alone, for a solution whose velocities were filled by problem.velocity_of() just before.
  Certificate judge(const ContactProblem& problem, const Solution& solution, Law law,
                    double tolerance = 0.0) {
    return judge(problem, solution.impulse, solution.velocity, solution.generalized_velocity, law, tolerance);
  }

  // The chosen measure of constraint i as if it were a problem of its own: what an island of one constraint is
  // judged by. Its rows of impulse and velocity are looked at.
  static double error_alone(const ContactProblem& problem, Index i, const Vector& impulse,
                            const Vector& velocity, Law law, Measure measure);

 private:
  friend Certificate certify(const ContactProblem&, const Solution&, Law);
  Certificate judge(const ContactProblem& problem, const Vector& impulse, const Vector& u, const Vector& v,
                    Law law, double tolerance);
  double momentum_residual(const ContactProblem& problem, const Vector& impulse, const Vector& v);
  double sparse_momentum_residual(const ContactProblem& problem, const Vector& impulse, const Vector& v);
  void move(const ContactProblem& problem, const Vector& impulse, Vector& v, Vector& u);

  Vector inertia_, residual_, sparse_residual_;
  SparseScratch scratch_;
  ExtendedEvaluation extended_;
};

}  // namespace tribo
