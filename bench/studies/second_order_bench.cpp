// tribo_bench_second_order STUDY [ARGUMENT...]: the studies of the augmented-Lagrangian, interior-point and
// splitting solvers. Each prints CSV on standard output; what it measures stands in its own file.
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "studies/studies.h"

namespace {

struct Study {
  const char* name;
  const char* summary;
  int (*run)(tribo::bench::Arguments);
};

constexpr auto kStudies = std::to_array<Study>({
    {"table2", "[CASES]: canal and direct semismooth Newton on bolt and dishes", tribo::bench::study_table2},
    {"sigma", ": sap's slip parameter, condition numbers and warm starts", tribo::bench::study_sigma},
    {"table3", "[SEEDS]: SubADMM, No Sub, No Body on trees of 18 dofs", tribo::bench::study_table3},
    {"mangoni", "[OPTION=VALUE...]: ipm on balls in a box, warm starts, stacks of 10^n kg",
     tribo::bench::study_mangoni},
    {"splitting", "[ITERATIONS]: settings of subadmm and its ablations", tribo::bench::study_splitting},
    {"scale", "[BODIES...]: subadmm and nsgs on piles", tribo::bench::study_scale},
    {"rings", "[CASES]: Lee's residual against time and iterations on bolt and dishes",
     tribo::bench::study_rings},
    {"sap_ipm", "[SEEDS]: sap and the convex ipm find the same minimiser", tribo::bench::study_sap_ipm},
});

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (const Study& study : kStudies) {
    if (words.empty() || words[0] != study.name) continue;
    try {
      return study.run(tribo::bench::Arguments(words).subspan(1));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: %s\n", study.name, error.what());
      return 1;
    }
  }
  std::fputs("usage: tribo_bench_second_order STUDY [ARGUMENT...]\n", stderr);
  for (const Study& study : kStudies) std::fprintf(stderr, "  %s %s\n", study.name, study.summary);
  return 2;
}
