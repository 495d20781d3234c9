// Castro et al., Fig. 15: the slip parameter sigma of the near-rigid rule against the conditioning of SAP's
// Newton matrix H = A + J^T G J at the solution and against Newton steps, on rigid scenes of 40 bodies.
//
// Per row: condition number of H in the coordinates where A = I (lambda_max / lambda_min of L^-1 H L^-T);
// Newton steps from rest (the free motion) and from the impulses of the same scene with a 5 % shorter step, as
// in a simulation; the largest tangential velocity among the contacts that stick, m/s, and Castro's bound (31)
// for a point mass, sigma mu g dt.
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "studies/studies.h"
#include "tribo/generate/generators.h"
#include "tribo/solve/catalogue.h"
#include "tribo/solve/law/proximal_law.h"
#include "tribo/solve/newton/sap.h"

namespace tribo::bench {
namespace {

constexpr double kTimeStep = 1e-2, kGravity = 9.81;

ContactProblem scene(const char* kind, double time_step) {
  GeneratorSettings settings;
  settings.bodies = 40;
  settings.time_step = time_step;
  settings.seed = 1;
  return generate(kind, settings);
}

Matrix dense_jacobian(const ContactProblem& problem) {
  Matrix j = Matrix::Zero(problem.row_count(), problem.dof_count());
  const BlockJacobian& blocks = problem.jacobian();
  for (Index g = 0; g < blocks.group_count(); ++g) {
    for (Index p = blocks.piece_begin(g); p < blocks.piece_end(g); ++p) {
      j.block(blocks.row_start(g), blocks.piece_dof(p), blocks.rows(g), blocks.piece_cols(p)) +=
          blocks.piece(g, p);
    }
  }
  return j;
}

// Of L^-1 (A + J^T G J) L^-T, G at the velocities u.
double condition_number(const ContactProblem& problem, double sigma, const Vector& u) {
  Vector compliance;
  near_rigid_compliance(problem, 1.0, sigma, compliance);
  ProximalLaw law;
  law.prepare(problem, compliance, std::numeric_limits<double>::infinity());
  GroupBlocks g;
  law.derivative(problem, Law::convex, u, Vector::Zero(u.size()), g);
  const Matrix j = dense_jacobian(problem);
  Matrix gj = j;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const Index row = problem.row(i), rows = problem.rows(i);
    gj.middleRows(row, rows) = g.block(i, rows) * j.middleRows(row, rows);
  }
  Matrix h = j.transpose() * gj;
  Matrix a = Matrix::Zero(h.rows(), h.cols());
  for (Index t = 0; t < problem.tree_count(); ++t) {
    const Index start = problem.mass().block_start(t), size = problem.mass().block_size(t);
    a.block(start, start, size, size) = problem.mass().block(t);
  }
  h += a;
  const Eigen::GeneralizedSelfAdjointEigenSolver<Matrix> eigen(0.5 * (h + h.transpose()), a,
                                                               Eigen::EigenvaluesOnly);
  return eigen.eigenvalues().tail<1>()[0] / eigen.eigenvalues()[0];
}

double largest_creep(const ContactProblem& problem, const Solution& solution) {
  double worst = 0.0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (problem.kind(i) != ConstraintKind::contact) continue;
    const Vec3 lambda = solution.impulse.segment<3>(problem.row(i));
    if (lambda.head<2>().norm() >= 0.999 * problem.friction(i) * lambda[2]) continue;
    worst = std::max(worst, solution.velocity.segment<2>(problem.row(i)).norm());
  }
  return worst;
}

}  // namespace

int study_sigma(Arguments) {
  Settings settings;
  settings.law = Law::convex;
  settings.tolerance = 1e-8;
  settings.islands = false;
  std::puts("scene,sigma,condition,cold_steps,warm_steps,creep,creep_bound");
  for (const char* kind : {"tower", "pile", "wall"}) {
    const ContactProblem before = scene(kind, 0.95 * kTimeStep), now = scene(kind, kTimeStep);
    for (const double sigma : {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0}) {
      const auto solver = make_solver("sap");
      solver->set_option("sigma", std::to_string(sigma));
      Solution first, cold, warm;
      solver->solve(before, settings, first);
      const Report from_rest = solver->solve(now, settings, cold);
      const Report from_before = solver->solve(now, settings, warm, &first.impulse);
      double friction = 0.0;
      for (Index i = 0; i < now.constraint_count(); ++i) friction = std::max(friction, now.friction(i));
      std::printf("%s,%g,%.4g,%d,%d,%.3g,%.3g\n", kind, sigma, condition_number(now, sigma, cold.velocity),
                  from_rest.iterations, from_before.iterations, largest_creep(now, cold),
                  sigma * friction * kGravity * kTimeStep);
    }
  }
  return 0;
}

}  // namespace tribo::bench
