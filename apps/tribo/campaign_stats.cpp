#include "apps/tribo/campaign_stats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

namespace tribo::cli {

namespace {

std::size_t place_of(std::unordered_map<std::string, std::size_t>& places, std::vector<std::string>& names,
                     const std::string& name) {
  const auto [found, is_new] = places.try_emplace(name, names.size());
  if (is_new) names.push_back(name);
  return found->second;
}

}  // namespace

ResultTable::ResultTable(const std::vector<CampaignRow>& rows, double tolerance, const std::string& family) {
  std::unordered_map<std::string, std::size_t> problem_place, solver_place;
  struct Entry {
    std::size_t problem, solver;
    const CampaignRow* row;
  };
  std::vector<Entry> entries;
  for (const CampaignRow& row : rows) {
    if (row.tolerance != tolerance || (!family.empty() && row.family != family)) continue;
    const std::size_t problem = place_of(problem_place, problems_, row.file);
    entries.push_back({problem, place_of(solver_place, solvers_, row.solver), &row});
  }
  cells_.assign(problems_.size() * solvers_.size(), nullptr);
  best_.assign(problems_.size(), std::numeric_limits<double>::infinity());
  for (const Entry& entry : entries) {
    cells_[entry.problem * solvers_.size() + entry.solver] = entry.row;
    if (entry.row->solved()) best_[entry.problem] = std::min(best_[entry.problem], entry.row->cpu_s);
  }
}

bool ResultTable::has_solver(const std::string& name) const {
  return std::find(solvers_.begin(), solvers_.end(), name) != solvers_.end();
}

double median_of(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

std::vector<double> time_ratios(const ResultTable& table, std::size_t solver) {
  std::vector<double> ratios;
  for (std::size_t p = 0; p < table.problems().size(); ++p) {
    const CampaignRow* row = table.row(p, solver);
    if (row == nullptr || !row->solved()) continue;
    ratios.push_back(std::max(row->cpu_s, kLeastTime) / std::max(table.best(p), kLeastTime));
  }
  std::sort(ratios.begin(), ratios.end());
  return ratios;
}

SolverFigures figures_of(const ResultTable& table, std::size_t solver) {
  SolverFigures figures;
  std::vector<double> times;
  for (std::size_t p = 0; p < table.problems().size(); ++p) {
    const CampaignRow* row = table.row(p, solver);
    if (row == nullptr) continue;
    ++figures.problems;
    ++figures.outcomes[static_cast<std::size_t>(row->outcome)];
    if (!row->solved()) continue;
    ++figures.solved;
    times.push_back(row->cpu_s);
    if (std::max(row->cpu_s, kLeastTime) <= std::max(table.best(p), kLeastTime)) ++figures.fastest;
  }
  const std::vector<double> ratios = time_ratios(table, solver);
  figures.median_s = median_of(times);
  figures.median_ratio = median_of(ratios);
  figures.worst_ratio = ratios.empty() ? std::numeric_limits<double>::quiet_NaN() : ratios.back();
  return figures;
}

std::vector<std::size_t> best_solvers(const ResultTable& table, std::size_t most) {
  std::vector<std::size_t> order(table.solvers().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<SolverFigures> figures;
  for (const std::size_t s : order) figures.push_back(figures_of(table, s));
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (figures[a].share() != figures[b].share()) return figures[a].share() > figures[b].share();
    return figures[a].median_ratio < figures[b].median_ratio;
  });
  if (order.size() > most) order.resize(most);
  return order;
}

std::vector<std::string> families_of(const std::vector<CampaignRow>& rows) {
  std::vector<std::string> names;
  for (const CampaignRow& row : rows) {
    if (std::find(names.begin(), names.end(), row.family) == names.end()) names.push_back(row.family);
  }
  return names;
}

std::vector<double> tolerances_of(const std::vector<CampaignRow>& rows) {
  std::vector<double> all;
  for (const CampaignRow& row : rows) {
    if (std::find(all.begin(), all.end(), row.tolerance) == all.end()) all.push_back(row.tolerance);
  }
  std::sort(all.rbegin(), all.rend());
  return all;
}

}  // namespace tribo::cli
