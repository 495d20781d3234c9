// Plain-text tables for the terminal.
#pragma once

#include <string>
#include <vector>

namespace tribo::cli {

class TextTable {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell per column; an empty row becomes a blank line.
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  // The columns are as wide as their widest cell; every line starts with `indent`.
  std::string str(const std::string& indent = "") const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tribo::cli
