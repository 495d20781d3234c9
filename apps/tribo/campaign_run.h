// The solves of a campaign, each group of one file in a process of its own: a solver that crashes or never returns takes
// nothing else with it. The rows come back one by one and go to a journal, from which a killed campaign goes on.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "apps/tribo/campaign_data.h"
#include "tribo/problem/contact_problem.h"
#include "tribo/solve/settings.h"

namespace tribo::cli {

struct CampaignFile {
  std::string family, name;  // the path below the collection
  double rank_ratio = 0.0;
};

// One solve, still to be done.
struct CampaignTask {
  std::string solver;
  double tolerance = 0.0;
};

// A file and what is still to be solved of it.
struct CampaignGroup {
  CampaignFile file;
  std::vector<CampaignTask> tasks;
};

// What is measured: `row` has the sizes and the settings; outcome, error, times are filled in. `feasible`: a solution
// of the problem is known. Solves below 50 ms are repeated up to five times, or until 0.1 s are spent.
void measure_solve(const ContactProblem& problem, const Settings& settings, bool feasible, CampaignRow& row);

// Solves all groups, `jobs` at a time, each in a process bound to a processor of its own. `finished` is called with every
// row as it comes, in this process.
void run_groups(const std::filesystem::path& collection, const CampaignSettings& settings,
                const std::vector<CampaignGroup>& groups, int jobs,
                const std::function<void(const CampaignRow&)>& finished);

}  // namespace tribo::cli
