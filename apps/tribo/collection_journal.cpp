#include "apps/tribo/collection_journal.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <utility>

#include "apps/tribo/support.h"
#include "tribo/base/errors.h"

namespace tribo::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* kJournal = ".journal.csv";

std::string load_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace

void CollectionJournal::read_kind() {
  const fs::path kind_file = folder_ / "KIND";
  if (fs::exists(kind_file)) {
    const std::string found = load_text(kind_file);
    if (found != kind_ + "\n") {
      throw InvalidInput(fmt::format("{} holds the {} collection; choose another folder", folder_.string(),
                                     found.substr(0, found.find('\n'))));
    }
  } else {
    if (fs::exists(folder_ / "manifest.csv"))
      throw InvalidInput(fmt::format("{} holds another collection; choose another folder", folder_.string()));
    write_file(kind_file, kind_ + "\n");
  }
}

CollectionJournal::CollectionJournal(const fs::path& folder, bool small)
    : folder_(folder), kind_(small ? "small" : "full") {
  fs::create_directories(folder);
  read_kind();
  for (const char* name : {"manifest.csv", kJournal}) {
    const fs::path path = folder / name;
    if (!fs::exists(path)) continue;
    for (ManifestRow& row : parse_manifest(path, load_text(path))) {
      const bool there = row.rows == 0 || fs::exists(folder / row.file);
      if (there) rows_.insert_or_assign(row.file, row);
    }
  }
  // A torn last line must not run into the next one.
  std::string whole = manifest_head();
  for (const auto& [file, row] : rows_) whole += to_csv_line(row);
  write_file(folder / kJournal, whole);
  stream_ = std::fopen((folder / kJournal).c_str(), "ab");
  if (stream_ == nullptr)
    throw InvalidInput(fmt::format("{} cannot be written", (folder / kJournal).string()));
}

CollectionJournal::~CollectionJournal() {
  if (stream_ != nullptr) std::fclose(stream_);
}

bool CollectionJournal::has(const std::string& file) const {
  const std::lock_guard lock(mutex_);
  return rows_.contains(file);
}

void CollectionJournal::add(const ManifestRow& row) {
  const std::lock_guard lock(mutex_);
  const std::string line = to_csv_line(row);
  if (std::fwrite(line.data(), 1, line.size(), stream_) != line.size() || std::fflush(stream_) != 0)
    throw InvalidInput(fmt::format("{} cannot be written; is the disk full?", (folder_ / kJournal).string()));
  rows_[row.file] = row;
}

void CollectionJournal::finish() {
  std::fclose(stream_);
  stream_ = nullptr;
  fs::remove(folder_ / kJournal);
}

}  // namespace tribo::cli
