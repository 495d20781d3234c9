// Small contact problems with known or independently computable solutions.
#pragma once

#include <vector>

#include "tribo/problem/contact_problem_builder.h"

namespace tribo::test {

// A point mass at rest on a plane inclined by `angle` (rad) during a step under gravity: momentum = weight *
// time step. Frame: t1 down the slope, n out of it.
ContactProblem point_on_slope(double angle, double mu, double weight_impulse = 1.0, double mass = 2.0);

// Jacobian (rows t1, t2, n along the axes) of the point `at` of a body with velocity (linear, angular about
// its centre).
Matrix point_jacobian(const Vec3& at);

// A cube of side 1 on a slope, contacts at its four lower corners.
ContactProblem cube_on_slope(double angle, double mu, double mass = 3.0);

// Its four contacts together hold it, or give all the friction there is.
void expect_slope_impulses(const Vector& impulse, double angle, double mu, double mass);

// Every kind of set, on trees of 3, 6, 6 and 9 degrees of freedom; `compliance` in units of the local scale.
ContactProblem all_kinds(unsigned seed, double compliance, Index contacts = 8, double mu = 0.4);

// Trees of `sizes` degrees of freedom, each with `own` contacts and one with the next; the first `untouched` degrees of
// freedom of a tree take part in none.
ContactProblem robots_in_a_row(const std::vector<Index>& sizes, unsigned seed = 11, int own = 2,
                               Index untouched = 0);

// W by columns, through the problem's own velocity_of().
Matrix dense_delassus(const ContactProblem& problem);

void project(const ContactProblem& problem, Vector& x);

// Plain projected iteration on the dense matrix, for problems whose compliance makes it contract.
Vector dense_reference(const ContactProblem& problem, Law law, int iterations = 20000);

}  // namespace tribo::test
