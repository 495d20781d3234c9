// Pieces of HTML that the campaign's pages share.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tribo::cli {

// "1e-8" rather than "1e-08".
std::string tolerance_text(double tolerance);

// The mark of a series in its colour.
std::string swatch(std::size_t color);

// Sorted by `value`; infinite ones last.
std::string number_cell(double value, const std::string& shown, const char* kind = "number");
std::string heat_cell(double share, const std::string& shown);

// A title that begins with # is that of a column of numbers.
std::string table(const std::vector<std::string>& titles, const std::string& body);

}  // namespace tribo::cli
