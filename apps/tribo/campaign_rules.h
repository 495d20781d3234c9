// The rules by which conclusions of the study are decided from the rows of a campaign. Shares are of problems solved; a
// group of solvers has the share of its best member. Families that were not measured do not count.
#pragma once

#include <functional>
#include <string>

#include "apps/tribo/campaign_conclusions.h"
#include "apps/tribo/campaign_measured.h"

namespace tribo::cli {

inline constexpr double kLooseTolerance = 1e-4, kTightTolerance = 1e-8;  // of the paper

// For every family of the list `test` of the best share of the solvers whose name is (`exact`) or begins with one of
// `group`; all must pass.
struct Group {
  Names names;
  bool exact = false;
};
Conclusion about_shares(const Measured& m, Statement said, std::string rule, const Group& group,
                        double tolerance, const Names& families, const std::function<bool(double)>& test);

// Solvers whose names begin so are the fastest of those of `others` on half of the problems of most families; no others:
// all of the paper's.
Conclusion fastest_group(const Measured& m, Statement said, const Names& group, double tolerance,
                         const Names& families, const Names& others = {});

// One solver beside another, each by its name with options, family by family: `test` must pass in most of them.
struct Beside {
  double first = 0.0, second = 0.0;  // shares
  double ratio = 0.0;  // median time of the first over that of the second; nan where both solve nothing
};
struct Pair {
  std::string first, second;
};
Conclusion beside(const Measured& m, Statement said, std::string rule, const Pair& pair, double tolerance,
                  const Names& families, const std::function<bool(const Beside&)>& test);

// `solver` solves every problem of the family, and no other of the paper's solvers does.
Conclusion only_one(const Measured& m, Statement said, const std::string& solver, double tolerance,
                    const std::string& family);

Conclusion no_solver_is_universal(const Measured& m, Statement said);
Conclusion every_set_is_solved(const Measured& m, Statement said);
Conclusion step_rules_are_alike(const Measured& m, Statement said);
Conclusion projections_are_robust_and_slow(const Measured& m, Statement said);
Conclusion rank_deficiency_is_the_cause(const Measured& m, Statement said);

}  // namespace tribo::cli
