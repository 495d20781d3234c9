// The studies of `tribo reproduce`: figures and tables of the papers as cases that are measured one by one, and what is
// concluded from the numbers alone. A case is named by everything that decides its numbers, so that a run that was stopped
// goes on where it was and never mixes settings.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "apps/tribo/campaign_conclusions.h"
#include "apps/tribo/svg_plot.h"

namespace tribo::cli {

struct StudyOptions {
  bool quick = false;
  std::filesystem::path data;  // --data; empty: none
};

struct StudyCase {
  std::string name;
  std::function<std::vector<double>()> measure;  // one number per column of the figure
};

struct StudyRow {
  std::string name;
  std::vector<double> values;
};

struct StudyTable {
  std::vector<std::string> columns;
  std::vector<StudyRow> rows;

  const StudyRow* find(const std::string& name) const;
  // NaN where the case or the column is not there.
  double at(const std::string& name, const std::string& column) const;
  double at(const StudyRow& row, const std::string& column) const;
};

// One line of the page's claim table.
struct StudyClaim {
  std::string statement;  // what the paper says
  std::string paper;      // its value
  std::string ours;
  Verdict verdict = Verdict::not_measurable;
  std::string why;  // by which rule, and what explains a difference
};

struct StudyPlot {
  std::string name;  // of its file
  Plot plot;
};

struct StudyFinding {
  std::vector<StudyClaim> claims = {};
  std::vector<StudyPlot> plots = {};
};

struct StudyFigure {
  std::string name, title;
  std::vector<std::string> columns;
  std::vector<StudyCase> (*cases)(const StudyOptions&);
  StudyFinding (*judge)(const StudyTable&, const StudyOptions&);
};

struct Study {
  std::string name, title, citation;
  std::vector<StudyFigure> figures;
  std::vector<std::string> missing;  // what of the paper is not shown here, and why
};

std::vector<Study> study_catalogue();

Study castro_study();
Study mangoni_study();
Study carpentier_study();
Study lee_study();
Study friction_study();
Study reality_study();
Study acary_study();

// Figures that stand in files of their own.
StudyFigure lee_table2();
StudyFigure lee_table3();
StudyFigure carpentier_profiles();
StudyFigure carpentier_rules();
StudyFigure acary_profiles();
StudyFigure castro_convergence();
StudyFigure castro_accuracy();

// ----- shared by the studies ------------------------------------------------------------------------------------------

inline Verdict verdict_of(bool holds) { return holds ? Verdict::holds : Verdict::does_not_hold; }
// With what was measured about it where the claim does not hold.
StudyClaim explained(StudyClaim claim, const std::string& measured);
// "1.23e-05", "12.3"; "-" for what is not finite.
std::string short_number(double value);

// One curve per name, in its order; axes around all points. Points whose coordinate cannot stand on a logarithmic axis are
// left out.
struct CurveSet {
  std::string title, x_label, y_label;
  bool x_log = true, y_log = true;
  std::vector<std::pair<std::string, std::vector<std::pair<double, double>>>> curves = {};
};
Plot curve_plot(const CurveSet& set);

// Least-squares slope of log y against log x over points with both > 0; NaN with fewer than two.
double log_slope(const std::vector<std::pair<double, double>>& points);

}  // namespace tribo::cli
