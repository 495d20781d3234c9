// What the scaled error of problem/certificate.h is made of, constraint by constraint: for solvers that look where the
// error is.
#pragma once

#include "tribo/problem/contact_problem.h"

namespace tribo {

// |lambda_i - P_i(lambda_i - hat w_i / scale_i)|_inf of constraint i, N s.
double natural_map(const ContactProblem& problem, Index i, const Vector& impulse, const Vector& velocity,
                   Law law);

// The impulse that the largest natural map is divided by, N s.
double reference_impulse(const ContactProblem& problem, const Vector& impulse);

}  // namespace tribo
