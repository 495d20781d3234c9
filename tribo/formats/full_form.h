// A, b and J of a problem over all degrees of freedom as they were given, those of sparse trees included: what files hold.
#pragma once

#include <vector>

#include "tribo/formats/assembly.h"

namespace tribo::detail {

// Degrees of freedom of every tree.
std::vector<Index> full_tree_sizes(const ContactProblem& problem);
// Of dense trees the entries that are not zero, of sparse ones all that are stored.
SparseMatrix full_mass(const ContactProblem& problem);
Vector full_momentum(const ContactProblem& problem);
// J^T [full dofs x rows] without zeros, constraint after constraint.
SparseMatrix full_jacobian(const ContactProblem& problem);

}  // namespace tribo::detail
