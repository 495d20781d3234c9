// Removes position errors of an island (penetrations, violated limits, open loops) by moving its bodies, not by giving them
// velocities: no momentum, no kinetic energy, and no step becomes infeasible by it.
//
// With the velocities of a step solved, constraint i would stand at g_i = position_i + h J_i v at its end. The correction is
// the smallest displacement d, in the norm of A, that leads the errors back,
//
//   min_d  1/2 d . A d + sum_i 1/2 s_i^2 / R_i    contacts and limits: s_i = max(0, -(c g_i + J_i d))
//                                                 couplings:           s_i =         c g_i + J_i d
//
// a convex problem that always has one solution: R_i = kElasticity w_i > 0 lets errors stand that no motion removes (links
// that overlap by design, loops with more equations than freedoms). c: the share removed in this step, of open
// contacts and limits 1, so that none is pushed in. It knows no friction, but contacts that stick in the step keep their
// place: their tangential rows are couplings without an error.
//
// The errors are linear in d only for small turns, and the normal of a contact may change at once: links that overlap side by
// side would turn far for little, out of one overlap and into the next. Of each error only as much is removed as, alone,
// turns no joint by more than h times max_correction_speed: run_within().
//
// Optimality: A d = J^T z, z_i = s_i / R_i.
// - Islands that move are solved by Gauss-Seidel sweeps over z. Every sweep lowers the energy of the errors, and what is
//   left is for the next step, which corrects again. Where sweeps do not end (loops), small islands are solved as what this
//   is, too: a ContactProblem of unilateral and bilateral rows with compliance R_i and displacements in place of velocities.
// - Islands at rest drift by what the tolerance of the velocities lets pass: contacts that carry sink, and open, a little in
//   every step in which the impulses of the last one are taken again. That is undone once it exceeds a small share of the
//   slop, gaps of carrying contacts like penetrations, and exactly: sweeps would leave tilts and slips as large as their own
//   tolerance, which nothing ever takes back. By Newton's method on d; the function is quadratic in finitely many pieces,
//   and one factorisation of A + J^T R^-1 J is enough where no contact changes sides.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tribo/linalg/kernels/primal_kernel.h"
#include "tribo/problem/problem_filler.h"
#include "tribo/sim/contact/contact_law.h"
#include "tribo/solve/solver.h"

namespace tribo {

class PositionCorrection {
 public:
  enum class Outcome { none, corrected, drift_undone };  // none: no error is above the slop

  // `step`: the island's problem and its solution; `position` [constraints]: ConstraintSet::Entry::position. `at_rest`:
  // the impulses of the last step were taken again. `standing`: the error that the last correction at rest could not
  // remove, 0 at first; updated by the next one. Unless the outcome is `none`, displacement() holds d, in the coordinates
  // of `step`.
  Outcome run(const ContactProblem& step, const Solution& solution, std::span<const double> position,
              double h, const ContactLawSettings& settings, bool at_rest, double& standing);

  // The largest turn of a joint of a tree of `step`, rad, that is displaced by d [its dofs, in the coordinates of `step`].
  using Turn = std::function<double(Index tree, const double* d)>;
  // After run() ended with Outcome::corrected: corrects once more, of each error only as much as turns no joint by more than
  // `limit` [rad] if it is corrected alone.
  void run_within(const ContactProblem& step, double limit, const Turn& turn_of);

  const Vector& displacement() const { return displacement_; }  // [dofs]

 private:
  // A row of the step's problem that takes part.
  struct Row {
    Index constraint, row;         // row: within the constraint
    bool two_sided;                // a coupling, or as one
    double error;                  // c g_i
    double compliance, inverse_w;  // R_i, 1 / (w_i + R_i)
    double impulse;                // z_i of sweeps
  };

  double predict(const ContactProblem& step, const Solution& solution, std::span<const double> position,
                 double h, double closed);
  void choose_rows(const ContactProblem& step, const Vector& impulse, double share, double elasticity,
                   const ContactLawSettings& settings);
  void add_row(const ContactProblem& step, Index constraint, Index row, bool two_sided, double error,
               double elasticity, const ContactLawSettings& settings);
  void correct(const ContactProblem& step);
  double turn_alone(const ContactProblem& step, const Row& row, const Turn& turn_of);
  bool sweep(const ContactProblem& step);
  void solve(const ContactProblem& step);
  void solve_exactly(const ContactProblem& step);
  bool evaluate(const ContactProblem& step);
  double step_length(const ContactProblem& step, double linear, double quadratic) const;
  double error_left(const ContactProblem& step) const;

  std::vector<double> end_;      // [constraints] g_i; infinite: has no position
  std::vector<char> two_sided_;  // [constraints] an error on either side of zero
  std::vector<Row> rows_;
  std::vector<double> zero_;
  ProblemFiller filler_;
  ContactProblem problem_;
  std::unique_ptr<Solver> solver_;
  Solution solution_;
  PrimalKernel kernel_;
  Vector displacement_, gradient_, residual_, direction_;  // [dofs]
  Vector moved_, change_;                                  // [rows] J d, J direction
  Vector row_impulse_, weights_;                           // [rows] z; 1 / R where there is an error
  Matrix alone_;                                           // [dofs of a tree] displacement for one error
};

}  // namespace tribo
