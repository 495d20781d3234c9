// What a campaign measures: one row per solve, its settings, and their files. Everything the pages show is computed
// from these rows (campaign_stats.h, campaign_conclusions.h), so that every figure can be made again from results.csv.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tribo/base/types.h"

namespace tribo::cli {

// How a solve ended, judged by the certificate recomputed from its impulses alone.
enum class Outcome {
  solved,           // the recomputed error is below the tolerance
  iteration_limit,  // not below it: the limit on iterations
  time_limit,       // the limit on CPU time
  stalled,          // the solver saw no way forward
  diverged,         // nothing better than no impulses at all, or impulses that grow without bound
  infeasible,       // proved to have no solution
  refused,          // the solver does not take such a problem
  crashed,          // its process died
  hung,             // its process did not return long after the time limit and was ended
  memory,           // not enough memory
  false_claim       // said converged (or infeasible) and was not
};
inline constexpr std::size_t kOutcomes = 11;
std::string_view to_string(Outcome outcome);

struct CampaignRow {
  std::string family, file, solver;
  double tolerance = 0.0;
  std::string measure, law;
  Outcome outcome = Outcome::crashed;
  double error = 0.0;  // recomputed, in the campaign's measure; infinite where there are no impulses
  Index iterations = 0;
  double cpu_s = 0.0;            // least CPU time of the repetitions, s
  std::optional<double> spread;  // (largest - least) / least of the repetitions; none for a single one
  int repeats = 1;
  Index contacts = 0, rows = 0, dofs = 0;
  double rank_ratio = 0.0;  // of the manifest; 0 not known

  bool solved() const { return outcome == Outcome::solved; }
  // What identifies the solve within a campaign.
  std::string key() const;
};

struct CampaignSettings {
  std::string collection;  // its folder
  std::string kind;        // "small", "full" or empty
  std::string version;     // of tribo
  std::string measure = "siconos", law = "exact";
  double time_limit = 10.0;  // s of CPU time
  Index max_iterations = 1'000'000;
  std::vector<std::string> solvers;
  std::vector<double> tolerances;  // descending
  std::string shard;               // "2/5" or empty
};

std::string to_json_text(const CampaignSettings& settings);
// InvalidInput names the file and what is wrong.
CampaignSettings parse_settings(const std::filesystem::path& path);
// Empty if results of both may stand in one table; otherwise what differs.
std::string difference(const CampaignSettings& a, const CampaignSettings& b);

std::string results_head();
std::string to_csv_line(const CampaignRow& row);
// A last line without its end (of a run that was killed) is left out. InvalidInput names the line.
std::vector<CampaignRow> parse_results(const std::filesystem::path& path);
std::vector<CampaignRow> parse_result_lines(const std::string& text);

// By family and file (as text), then solvers and tolerances in the order of the settings: the same for every way to the
// same rows. Of rows with the same key the first is kept.
void put_in_order(std::vector<CampaignRow>& rows, const CampaignSettings& settings);

// The files of a campaign, in its folder.
inline constexpr const char* kResultsFile = "results.csv";
inline constexpr const char* kSettingsFile = "campaign.json";
inline constexpr const char* kJournalFile = "journal.csv";

}  // namespace tribo::cli
