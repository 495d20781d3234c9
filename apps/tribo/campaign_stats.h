// The numbers of the campaign pages, from rows alone.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "apps/tribo/campaign_data.h"

namespace tribo::cli {

// The rows of one tolerance, of one family or of all, seen as a table of problems and solvers.
class ResultTable {
 public:
  // `family` empty: all.
  ResultTable(const std::vector<CampaignRow>& rows, double tolerance, const std::string& family = {});

  const std::vector<std::string>& problems() const { return problems_; }
  const std::vector<std::string>& solvers() const { return solvers_; }  // in the order of the rows
  bool has_solver(const std::string& name) const;
  // Null where there is no row.
  const CampaignRow* row(std::size_t problem, std::size_t solver) const {
    return cells_[problem * solvers_.size() + solver];
  }
  // Least time of all solvers that solved the problem, s; infinite if none did.
  double best(std::size_t problem) const { return best_[problem]; }

 private:
  std::vector<std::string> problems_, solvers_;
  std::vector<const CampaignRow*> cells_;
  std::vector<double> best_;
};

struct SolverFigures {
  int problems = 0;  // measured
  int solved = 0;
  int fastest = 0;
  std::array<int, kOutcomes> outcomes{};
  double median_s = 0.0;      // CPU time of the solved ones; NaN if there are none
  double median_ratio = 0.0;  // to the best solver on the solved ones; NaN if there are none
  double worst_ratio = 0.0;
  double share() const { return problems > 0 ? static_cast<double>(solved) / problems : 0.0; }
};

SolverFigures figures_of(const ResultTable& table, std::size_t solver);

// Times below the resolution of the measurement count as this, so that ratios of them mean nothing, s.
inline constexpr double kLeastTime = 2e-6;

// t / t_best of the problems this solver solved, ascending (Dolan and More 2002).
std::vector<double> time_ratios(const ResultTable& table, std::size_t solver);

// Solvers by share solved, then by median ratio: the first `most` of them.
std::vector<std::size_t> best_solvers(const ResultTable& table, std::size_t most);

double median_of(std::vector<double> values);

std::vector<std::string> families_of(const std::vector<CampaignRow>& rows);
std::vector<double> tolerances_of(const std::vector<CampaignRow>& rows);  // descending

}  // namespace tribo::cli
