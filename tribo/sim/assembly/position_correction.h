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
// Optimality: A d = J^T z, z_i = s_i / R_i, solved by Gauss-Seidel sweeps over z. Where sweeps do not end (loops), small
// islands are solved as what this is, too: a ContactProblem of unilateral and bilateral rows with compliance R_i and
// displacements in place of velocities. In large ones every sweep lowers the energy of the errors, and what is left is for
// the next step.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tribo/problem/problem_filler.h"
#include "tribo/sim/contact/contact_law.h"
#include "tribo/solve/solver.h"

namespace tribo {

class PositionCorrection {
 public:
  // `step`: the island's problem and its solution; `position` [constraints]: ConstraintSet::Entry::position.
  // Returns false where no error is above the slop; otherwise displacement() holds d, in the coordinates of `step`.
  bool run(const ContactProblem& step, const Solution& solution, std::span<const double> position, double h,
           const ContactLawSettings& settings);

  const Vector& displacement() const { return solution_.generalized_velocity; }  // [dofs]

 private:
  // A row of the step's problem that takes part.
  struct Row {
    Index constraint, row;         // row: within the constraint
    bool two_sided;                // a coupling
    double error;                  // c g_i
    double compliance, inverse_w;  // R_i, 1 / (w_i + R_i)
    double impulse;                // z_i
  };

  double predict(const ContactProblem& step, const Vector& velocity, std::span<const double> position,
                 double h);
  void choose_rows(const ContactProblem& step, const Vector& impulse, double share,
                   const ContactLawSettings& settings);
  void add_row(const ContactProblem& step, Index constraint, Index row, bool two_sided, double error,
               const ContactLawSettings& settings);
  bool sweep(const ContactProblem& step);
  void solve(const ContactProblem& step);

  std::vector<double> end_;  // [constraints] g_i; infinite: has no position
  std::vector<Row> rows_;
  std::vector<double> zero_;
  ProblemFiller filler_;
  ContactProblem problem_;
  std::unique_ptr<Solver> solver_;
  Solution solution_;
};

}  // namespace tribo
