// What the rules about the paper's conclusions read from the rows of a campaign: shares and time ratios of a solver or of a
// group of solvers whose names begin alike.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/tribo/campaign_data.h"

namespace tribo::cli {

using Names = std::vector<std::string>;

class Measured {
 public:
  explicit Measured(const std::vector<CampaignRow>& rows);

  const Names& families() const { return families_; }
  const std::vector<CampaignRow>& rows() const { return rows_; }
  // Solvers of the campaign whose name is (`exact`), or begins with, one of these. Options behind ':' make variants of
  // the same name.
  Names solvers(const Names& wanted, bool exact = false) const;
  // Those of the families that were measured.
  Names present(const Names& wanted) const;
  bool has(double tolerance) const;
  // Share of problems solved, of all or of one family; none where nothing was measured.
  std::optional<double> share(const std::string& solver, double tolerance,
                              const std::string& family = {}) const;
  // The largest share of a group.
  std::optional<double> best_share(const Names& group, double tolerance, const std::string& family) const;
  // How often a member of the group is the fastest of all `among` it, as a share of the problems somebody solved.
  double fastest_share(const Names& group, const Names& among, double tolerance,
                       const std::string& family) const;
  // Median of time(a) / time(b) over the problems both solved, of all or of one family.
  std::optional<double> time_ratio(const std::string& a, const std::string& b, double tolerance,
                                   const std::string& family = {}) const;

 private:
  std::vector<CampaignRow> filtered(const Names& solvers) const;

  const std::vector<CampaignRow>& rows_;
  Names families_, solvers_;
};

}  // namespace tribo::cli
