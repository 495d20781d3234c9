// The studies of tribo_bench_second_order: one function per study, each in its own file study_<name>.cpp.
#pragma once

#include <span>
#include <string>

namespace tribo::bench {

using Arguments = std::span<const std::string>;

// Table II of Lee et al. (2024): CANAL's cascade against direct semismooth Newton methods.
int study_table2(Arguments arguments);
// Figure 15 of Castro et al.: sap's slip parameter against conditioning and Newton steps.
int study_sigma(Arguments arguments);
// Table III of Lee et al. (2024): SubADMM against its ablations on articulated trees.
int study_table3(Arguments arguments);
// The settings of subadmm and its ablations on a mixed set of scenes.
int study_splitting(Arguments arguments);
// Time per iteration and memory per contact of subadmm and nsgs on growing piles.
int study_scale(Arguments arguments);
// Chapter 5 of Mangoni's thesis: ipm on frictionless problems of growing size, warm starts, stacks of 10^n kg.
int study_mangoni(Arguments arguments);
// Figures 7 and 9 of Lee et al. (2024): residual against time and iterations on the bolt and the dishes.
int study_rings(Arguments arguments);
// sap and the convex ipm find the same minimiser on every generator.
int study_sap_ipm(Arguments arguments);

}  // namespace tribo::bench
