#include "apps/tribo/campaign_measured.h"

#include <algorithm>
#include <cmath>

#include "apps/tribo/campaign_stats.h"

namespace tribo::cli {

namespace {

std::string base_of(const std::string& solver) { return solver.substr(0, solver.find(':')); }

}  // namespace

Measured::Measured(const std::vector<CampaignRow>& rows) : rows_(rows), families_(families_of(rows)) {
  for (const CampaignRow& row : rows) {
    if (std::find(solvers_.begin(), solvers_.end(), row.solver) == solvers_.end())
      solvers_.push_back(row.solver);
  }
}

Names Measured::solvers(const Names& wanted, bool exact) const {
  Names found;
  for (const std::string& solver : solvers_) {
    const std::string base = base_of(solver);
    if (std::any_of(wanted.begin(), wanted.end(),
                    [&](const std::string& w) { return exact ? base == w : base.starts_with(w); }))
      found.push_back(solver);
  }
  return found;
}

Names Measured::present(const Names& wanted) const {
  Names found;
  for (const std::string& family : wanted) {
    if (std::find(families_.begin(), families_.end(), family) != families_.end()) found.push_back(family);
  }
  return found;
}

bool Measured::has(double tolerance) const {
  return std::any_of(rows_.begin(), rows_.end(),
                     [&](const CampaignRow& r) { return r.tolerance == tolerance; });
}

std::optional<double> Measured::share(const std::string& solver, double tolerance,
                                      const std::string& family) const {
  int problems = 0, solved = 0;
  for (const CampaignRow& row : rows_) {
    if (row.solver != solver || row.tolerance != tolerance || (!family.empty() && row.family != family))
      continue;
    ++problems;
    solved += row.solved() ? 1 : 0;
  }
  if (problems == 0) return std::nullopt;
  return static_cast<double>(solved) / problems;
}

std::optional<double> Measured::best_share(const Names& group, double tolerance,
                                           const std::string& family) const {
  std::optional<double> best;
  for (const std::string& solver : group) {
    const std::optional<double> own = share(solver, tolerance, family);
    if (own && (!best || *own > *best)) best = own;
  }
  return best;
}

double Measured::fastest_share(const Names& group, const Names& among, double tolerance,
                               const std::string& family) const {
  const std::vector<CampaignRow> own = filtered(among);
  const ResultTable table(own, tolerance, family);
  int fastest = 0, solved = 0;
  for (std::size_t p = 0; p < table.problems().size(); ++p) {
    if (!std::isfinite(table.best(p))) continue;
    ++solved;
    for (std::size_t s = 0; s < table.solvers().size(); ++s) {
      const CampaignRow* row = table.row(p, s);
      const bool member = std::find(group.begin(), group.end(), table.solvers()[s]) != group.end();
      if (member && row != nullptr && row->solved() && row->cpu_s <= table.best(p)) {
        ++fastest;
        break;
      }
    }
  }
  return solved > 0 ? static_cast<double>(fastest) / solved : 0.0;
}

std::optional<double> Measured::time_ratio(const std::string& a, const std::string& b, double tolerance,
                                           const std::string& family) const {
  const std::vector<CampaignRow> own = filtered({a, b});
  const ResultTable table(own, tolerance, family);
  if (table.solvers().size() != 2) return std::nullopt;
  const std::size_t first = table.solvers()[0] == a ? 0 : 1;
  std::vector<double> ratios;
  for (std::size_t p = 0; p < table.problems().size(); ++p) {
    const CampaignRow *x = table.row(p, first), *y = table.row(p, 1 - first);
    if (x != nullptr && y != nullptr && x->solved() && y->solved())
      ratios.push_back(std::max(x->cpu_s, kLeastTime) / std::max(y->cpu_s, kLeastTime));
  }
  if (ratios.empty()) return std::nullopt;
  return median_of(std::move(ratios));
}

std::vector<CampaignRow> Measured::filtered(const Names& solvers) const {
  std::vector<CampaignRow> found;
  for (const CampaignRow& row : rows_) {
    if (std::find(solvers.begin(), solvers.end(), row.solver) != solvers.end()) found.push_back(row);
  }
  return found;
}

}  // namespace tribo::cli
