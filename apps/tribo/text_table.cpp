#include "apps/tribo/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace tribo::cli {

std::string TextTable::str(const std::string& indent) const {
  std::vector<std::size_t> width;
  for (const Column& column : columns_) width.push_back(column.title.size());
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  }

  std::string text;
  const auto add_line = [&](const auto& cell_of, std::size_t cells) {
    std::string line = indent;
    for (std::size_t c = 0; c < cells; ++c) {
      if (c > 0) line += "  ";
      if (columns_[c].align == Align::right) {
        fmt::format_to(std::back_inserter(line), "{:>{}}", cell_of(c), width[c]);
      } else {
        fmt::format_to(std::back_inserter(line), "{:<{}}", cell_of(c), width[c]);
      }
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  };
  const bool titled =
      std::any_of(columns_.begin(), columns_.end(), [](const Column& c) { return !c.title.empty(); });
  if (titled)
    add_line([&](std::size_t c) -> const std::string& { return columns_[c].title; }, columns_.size());
  for (const auto& row : rows_) {
    add_line([&](std::size_t c) -> const std::string& { return row[c]; }, row.size());
  }
  return text;
}

}  // namespace tribo::cli
