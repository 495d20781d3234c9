// Siconos as a peer: the problem in Siconos' own local form, and its solvers with their settings.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "tribo/problem/contact_problem.h"

struct FrictionContactProblem;
struct SolverOptions;

namespace tribo::bench {

// u = W r + q in sparse 3x3 blocks, normal component first, as Siconos wants it.
class SiconosProblem {
 public:
  explicit SiconosProblem(const ContactProblem& problem);
  ~SiconosProblem();
  SiconosProblem(const SiconosProblem&) = delete;
  SiconosProblem& operator=(const SiconosProblem&) = delete;

  FrictionContactProblem* get() const { return problem_; }

  // Siconos' order (n, t1, t2) back to tribo's (t1, t2, n).
  static Vector to_tribo(const double* reaction, Index rows);

 private:
  FrictionContactProblem* problem_ = nullptr;
};

struct OptionsDeleter {
  void operator()(SolverOptions* options) const;
};
using Options = std::unique_ptr<SolverOptions, OptionsDeleter>;

struct SiconosVariant {
  std::string_view method;   // the family it belongs to: nsgs, admm, nsn-ac, nsn-fb, prox
  std::string_view variant;  // what distinguishes it
  bool study;                // only run on demand: it was never the best, or hardly ever
  bool csparse;              // linear solver of matrices Siconos makes: CSparse instead of MUMPS
  void (*configure)(SolverOptions*);
  int solver;
};

std::span<const SiconosVariant> siconos_variants();
// Siconos' solvers of the names that they have in tribo's catalogue (`tribo solvers classical`).
std::span<const SiconosVariant> siconos_namesakes();

// Options of a variant, ready for one call of fc3d_driver.
Options make_options(const SiconosVariant& variant, double tolerance, int max_iterations);

}  // namespace tribo::bench
