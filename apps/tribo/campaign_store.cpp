#include "apps/tribo/campaign_store.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "apps/tribo/support.h"
#include "tribo/base/errors.h"

namespace tribo::cli {

namespace fs = std::filesystem;

std::string results_text(const std::vector<CampaignRow>& rows) {
  std::string text = results_head();
  for (const CampaignRow& row : rows) text += to_csv_line(row);
  return text;
}

ResultStore::ResultStore(fs::path folder) : folder_(std::move(folder)) {
  for (const char* name : {kResultsFile, kJournalFile}) {
    if (!fs::exists(folder_ / name)) continue;
    for (CampaignRow& row : parse_results(folder_ / name)) {
      if (keys_.insert(row.key()).second) rows_.push_back(std::move(row));
    }
  }
  // The journal begins with all rows, so that a torn last line is gone and nothing depends on the table.
  write_file(folder_ / kJournalFile, results_text(rows_));
  stream_ = std::fopen((folder_ / kJournalFile).c_str(), "ab");
  if (stream_ == nullptr)
    throw InvalidInput(
        fmt::format("{}: cannot be written: {}", (folder_ / kJournalFile).string(), std::strerror(errno)));
}

ResultStore::~ResultStore() {
  if (stream_ != nullptr) std::fclose(stream_);
}

void ResultStore::add(const CampaignRow& row) {
  const std::string line = to_csv_line(row);
  if (std::fwrite(line.data(), 1, line.size(), stream_) != line.size() || std::fflush(stream_) != 0)
    throw InvalidInput(
        fmt::format("{} cannot be written; is the disk full?", (folder_ / kJournalFile).string()));
  keys_.insert(row.key());
  rows_.push_back(row);
}

std::vector<CampaignRow> ResultStore::finish(const CampaignSettings& settings) {
  std::fclose(stream_);
  stream_ = nullptr;
  put_in_order(rows_, settings);
  write_file(folder_ / kResultsFile, results_text(rows_));
  fs::remove(folder_ / kJournalFile);
  return std::move(rows_);
}

}  // namespace tribo::cli
