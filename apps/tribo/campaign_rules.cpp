#include "apps/tribo/campaign_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "apps/tribo/campaign_html.h"
#include "apps/tribo/campaign_stats.h"

namespace tribo::cli {

namespace {

const Names kPaper = {"fp-", "eg-", "nsn-", "nsgs-", "psor-", "ppa-", "pana-", "tresca-", "aclm-"};
constexpr const char* kNotMeasured = "the families were not measured at this tolerance";

void decide(Conclusion& c, bool holds) { c.verdict = holds ? Verdict::holds : Verdict::does_not_hold; }

std::string percent(double share) { return fmt::format("{:.0f} %", 100.0 * share); }

void add_evidence(Conclusion& c, const std::string& text) {
  c.evidence += (c.evidence.empty() ? "" : ", ") + text;
}

Conclusion open(Statement said, std::string rule) {
  return {std::move(said), std::move(rule), Verdict::not_measurable, ""};
}

std::string begins(const Names& group) { return fmt::format("{}*", fmt::join(group, "*, ")); }

}  // namespace

Conclusion about_shares(const Measured& m, Statement said, std::string rule, const Group& group,
                        double tolerance, const Names& families, const std::function<bool(double)>& test) {
  Conclusion c = open(std::move(said), std::move(rule));
  const Names solvers = m.solvers(group.names, group.exact);
  if (solvers.empty()) {
    c.evidence = fmt::format("no solver named {}{}", fmt::join(group.names, "*, "), group.exact ? "" : "*");
    return c;
  }
  bool all = true, any = false;
  for (const std::string& family : m.present(families)) {
    const std::optional<double> share = m.best_share(solvers, tolerance, family);
    if (!share) continue;
    any = true;
    all = all && test(*share);
    add_evidence(c, fmt::format("{} {}", family, percent(*share)));
  }
  if (any) {
    decide(c, all);
  } else {
    c.evidence = kNotMeasured;
  }
  return c;
}

Conclusion fastest_group(const Measured& m, Statement said, const Names& group, double tolerance,
                         const Names& families, const Names& others) {
  const std::string competitors = others.empty() ? "the paper's solvers" : begins(others);
  Conclusion c =
      open(std::move(said), fmt::format("at {}, among {}, {} is the fastest on at least half of the solved "
                                        "problems of most of these families",
                                        tolerance, competitors, begins(group)));
  const Names own = m.solvers(group), among = m.solvers(others.empty() ? kPaper : others);
  if (own.empty() || own.size() == among.size()) {
    c.evidence = fmt::format("needs {} and others of {}", begins(group), competitors);
    return c;
  }
  int won = 0, count = 0;
  for (const std::string& family : m.present(families)) {
    if (!m.best_share(among, tolerance, family)) continue;
    const double share = m.fastest_share(own, among, tolerance, family);
    ++count;
    won += share >= 0.5 ? 1 : 0;
    add_evidence(c, fmt::format("{} {}", family, percent(share)));
  }
  if (count > 0) decide(c, 2 * won > count);
  if (count == 0) c.evidence = kNotMeasured;
  return c;
}

Conclusion beside(const Measured& m, Statement said, std::string rule, const Pair& pair, double tolerance,
                  const Names& families, const std::function<bool(const Beside&)>& test) {
  Conclusion c = open(std::move(said), fmt::format("at {}, in most of these families {}",
                                                   tolerance_text(tolerance), std::move(rule)));
  int passed = 0, count = 0;
  for (const std::string& family : m.present(families)) {
    const std::optional<double> first = m.share(pair.first, tolerance, family),
                                second = m.share(pair.second, tolerance, family);
    if (!first || !second) continue;
    const double ratio = m.time_ratio(pair.first, pair.second, tolerance, family)
                             .value_or(std::numeric_limits<double>::quiet_NaN());
    ++count;
    passed += test({*first, *second, ratio}) ? 1 : 0;
    std::string text = fmt::format("{} {} against {}", family, percent(*first), percent(*second));
    if (std::isfinite(ratio)) text += fmt::format(" in {:.2g} times the time", ratio);
    add_evidence(c, text);
  }
  if (count > 0) decide(c, 2 * passed > count);
  if (count == 0) c.evidence = fmt::format("needs {} and {}", pair.first, pair.second);
  return c;
}

Conclusion only_one(const Measured& m, Statement said, const std::string& solver, double tolerance,
                    const std::string& family) {
  Conclusion c = open(std::move(said),
                      fmt::format("at {} {} solves every problem of {} and no other of the paper's does",
                                  tolerance_text(tolerance), solver, family));
  const std::optional<double> own = m.share(solver, tolerance, family);
  const Names all = m.solvers(kPaper);
  if (!own || all.size() < 2) {
    c.evidence = fmt::format("needs {} and others on {}", solver, family);
    return c;
  }
  int others = 0;
  for (const std::string& other : all) {
    if (other != solver && m.share(other, tolerance, family).value_or(0.0) == 1.0) ++others;
  }
  decide(c, *own == 1.0 && others == 0);
  c.evidence = fmt::format("{} {}, all of it also by {} of the {} others", solver, percent(*own), others,
                           all.size() - 1);
  return c;
}

Conclusion no_solver_is_universal(const Measured& m, Statement said) {
  Conclusion c = open(std::move(said), "no solver solves every problem at the tightest tolerance");
  const std::vector<double> tolerances = tolerances_of(m.rows());
  if (tolerances.empty()) return c;
  const ResultTable table(m.rows(), tolerances.back());
  const auto total = static_cast<int>(table.problems().size());
  Names universal;
  double best = 0.0;
  std::string name = "none";
  for (std::size_t s = 0; s < table.solvers().size(); ++s) {
    const SolverFigures figures = figures_of(table, s);
    if (figures.share() > best) {
      best = figures.share();
      name = table.solvers()[s];
    }
    if (figures.solved == figures.problems && figures.problems == total)
      universal.push_back(table.solvers()[s]);
  }
  decide(c, universal.empty());
  c.evidence = universal.empty() ? fmt::format("best at {}: {} with {:.1f} %",
                                               tolerance_text(tolerances.back()), name, 100.0 * best)
                                 : fmt::format("all {} at {}: {}", total, tolerance_text(tolerances.back()),
                                               fmt::join(universal, ", "));
  return c;
}

Conclusion every_set_is_solved(const Measured& m, Statement said) {
  Conclusion c =
      open(std::move(said), "in every family and at every tolerance one solver solves all problems");
  bool all = true, any = false;
  for (const double tolerance : tolerances_of(m.rows())) {
    for (const std::string& family : m.families()) {
      const ResultTable table(m.rows(), tolerance, family);
      if (table.problems().empty()) continue;
      any = true;
      double best = 0.0;
      for (std::size_t s = 0; s < table.solvers().size(); ++s)
        best = std::max(best, figures_of(table, s).share());
      if (best < 1.0) {
        all = false;
        add_evidence(c, fmt::format("{} at {}: {}", family, tolerance_text(tolerance), percent(best)));
      }
    }
  }
  if (any) decide(c, all);
  if (c.evidence.empty()) c.evidence = "no exception";
  return c;
}

Conclusion step_rules_are_alike(const Measured& m, Statement said) {
  Conclusion c = open(std::move(said),
                      "for fp-vi and eg-vi: shares differ by at most 5 points and the median time ratio lies "
                      "in [1/1.5, 1.5]");
  bool all = true, any = false;
  for (const std::string kind : {"fp-vi", "eg-vi"}) {
    for (const double tolerance : tolerances_of(m.rows())) {
      const auto a = m.share(kind + "-upk", tolerance), b = m.share(kind + "-upts", tolerance);
      const auto ratio = m.time_ratio(kind + "-upk", kind + "-upts", tolerance);
      if (!a || !b) continue;
      any = true;
      all = all && std::abs(*a - *b) <= 0.05 && (!ratio || (*ratio < 1.5 && *ratio > 1.0 / 1.5));
      std::string text =
          fmt::format("{} at {}: {} and {}", kind, tolerance_text(tolerance), percent(*a), percent(*b));
      if (ratio) text += fmt::format(", time ratio {:.2f}", *ratio);
      add_evidence(c, text);
    }
  }
  if (any) {
    decide(c, all);
  } else {
    c.evidence = "needs fp-vi-upk and fp-vi-upts, or eg-vi-upk and eg-vi-upts";
  }
  return c;
}

Conclusion projections_are_robust_and_slow(const Measured& m, Statement said) {
  Conclusion c = open(std::move(said),
                      "at 1e-4 eg-vi-upk or fp-vi-upk solves at least 90 % and its median time is at least 3 "
                      "times the best solver's");
  const Names group = m.solvers({"eg-vi-upk", "fp-vi-upk"}, true);
  if (group.empty() || !m.has(kLooseTolerance)) {
    c.evidence = "needs eg-vi-upk or fp-vi-upk at 1e-4";
    return c;
  }
  const ResultTable table(m.rows(), kLooseTolerance);
  bool holds = false;
  for (std::size_t s = 0; s < table.solvers().size(); ++s) {
    if (std::find(group.begin(), group.end(), table.solvers()[s]) == group.end()) continue;
    const SolverFigures f = figures_of(table, s);
    holds = holds || (f.share() >= 0.9 && f.median_ratio >= 3.0);
    add_evidence(c,
                 fmt::format("{} {}, {:.1f} times", table.solvers()[s], percent(f.share()), f.median_ratio));
  }
  decide(c, holds);
  return c;
}

Conclusion rank_deficiency_is_the_cause(const Measured& m, Statement said) {
  Conclusion c = open(std::move(said),
                      "share of solves that fail at the tightest tolerance, solvers taken together: at least "
                      "twice as large where rows / rank > 1.5 as where it is < 1.05");
  const std::vector<double> tolerances = tolerances_of(m.rows());
  if (tolerances.empty()) return c;
  double full = 0, full_failed = 0, deficient = 0, deficient_failed = 0;
  for (const CampaignRow& row : m.rows()) {
    if (row.tolerance != tolerances.back() || !(row.rank_ratio > 0.0)) continue;
    const double failed = row.solved() ? 0.0 : 1.0;
    if (row.rank_ratio < 1.05) {
      full += 1;
      full_failed += failed;
    } else if (row.rank_ratio > 1.5) {
      deficient += 1;
      deficient_failed += failed;
    }
  }
  if (full == 0 || deficient == 0) {
    c.evidence = "needs problems of both kinds, with rank ratios in the manifest";
    return c;
  }
  const double a = full_failed / full, b = deficient_failed / deficient;
  decide(c, b > 0.0 && b >= 2.0 * a);
  c.evidence =
      fmt::format("fail: {:.1f} % of {:.0f} full-rank solves, {:.1f} % of {:.0f} rank-deficient ones",
                  100 * a, full, 100 * b, deficient);
  return c;
}

}  // namespace tribo::cli
