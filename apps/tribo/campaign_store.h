// The rows of a campaign on disk: the table of what is finished and the journal of what is being measured.
#pragma once

#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "apps/tribo/campaign_data.h"

namespace tribo::cli {

// Rows of the table and of the journal of an unfinished run are taken up; new ones are added to the journal, flushed one
// by one, so that a killed campaign loses at most the solve it was at. InvalidInput names what cannot be written or read.
class ResultStore {
 public:
  explicit ResultStore(std::filesystem::path folder);
  ~ResultStore();
  ResultStore(const ResultStore&) = delete;
  ResultStore& operator=(const ResultStore&) = delete;

  bool has(const CampaignRow& row) const { return keys_.contains(row.key()); }
  void add(const CampaignRow& row);
  // Writes the table, in order, and removes the journal.
  std::vector<CampaignRow> finish(const CampaignSettings& settings);

 private:
  std::filesystem::path folder_;
  std::vector<CampaignRow> rows_;
  std::set<std::string> keys_;
  std::FILE* stream_ = nullptr;
};

// The whole table as text.
std::string results_text(const std::vector<CampaignRow>& rows);

}  // namespace tribo::cli
