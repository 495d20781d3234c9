// What of a collection is on disk already: its manifest, or the journal of an unfinished run.
#pragma once

#include <cstdio>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>

#include "apps/tribo/collection.h"

namespace tribo::cli {

// The journal gets a line per problem, after the file of the problem has its name, so that a killed run loses at most
// the problem it was at. Safe to use from several threads. InvalidInput if the folder holds something else.
class CollectionJournal {
 public:
  CollectionJournal(const std::filesystem::path& folder, bool small);
  ~CollectionJournal();
  CollectionJournal(const CollectionJournal&) = delete;
  CollectionJournal& operator=(const CollectionJournal&) = delete;

  bool has(const std::string& file) const;
  // A row without rows of W: the step had no contacts, and there is no file.
  void add(const ManifestRow& row);
  // Removes the journal: the manifest is complete.
  void finish();
  const std::map<std::string, ManifestRow>& rows() const { return rows_; }
  const std::string& kind() const { return kind_; }  // "small", "full"

 private:
  void read_kind();

  std::filesystem::path folder_;
  std::string kind_;
  std::map<std::string, ManifestRow> rows_;
  std::FILE* stream_ = nullptr;
  mutable std::mutex mutex_;
};

}  // namespace tribo::cli
