// What a study leaves behind: a table per figure as CSV, plots as SVG, and one page.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/tribo/study.h"

namespace tribo::cli {

struct StudyResult {
  const StudyFigure* figure;
  StudyTable table;
  StudyFinding finding;
};

std::string study_page(const Study& study, const std::vector<StudyResult>& results, bool quick);
// The claims and plots alone, for folders of text.
std::string study_markdown(const Study& study, const std::vector<StudyResult>& results, bool quick);
// File of a plot beside the page.
std::string plot_file(const Study& study, const StudyFigure& figure, const StudyPlot& plot);
// A plot that stands alone: with its colours and a legend.
std::string standalone_svg(const Plot& plot);

std::string table_text(const StudyTable& table);
// Of a file as table_text() writes it. No rows where the columns are others (the study has changed since). InvalidInput names
// file and line where it is not such a table.
StudyTable read_table(const std::filesystem::path& file, const std::vector<std::string>& columns);

}  // namespace tribo::cli
