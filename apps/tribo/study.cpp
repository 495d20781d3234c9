#include "apps/tribo/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tribo::cli {

std::vector<Study> study_catalogue() {
  return {lee_study(),    acary_study(),    mangoni_study(), carpentier_study(),
          castro_study(), friction_study(), reality_study()};
}

const StudyRow* StudyTable::find(const std::string& name) const {
  const auto row = std::ranges::find(rows, name, &StudyRow::name);
  return row == rows.end() ? nullptr : &*row;
}

double StudyTable::at(const StudyRow& row, const std::string& column) const {
  const auto place = static_cast<std::size_t>(std::ranges::find(columns, column) - columns.begin());
  return place < row.values.size() ? row.values[place] : std::numeric_limits<double>::quiet_NaN();
}

double StudyTable::at(const std::string& name, const std::string& column) const {
  const StudyRow* row = find(name);
  return row == nullptr ? std::numeric_limits<double>::quiet_NaN() : at(*row, column);
}

StudyClaim explained(StudyClaim claim, const std::string& measured) {
  if (claim.verdict == Verdict::does_not_hold) claim.why += ". Why not: " + measured;
  return claim;
}

std::string short_number(double value) { return std::isfinite(value) ? fmt::format("{:.3g}", value) : "-"; }

Plot curve_plot(const CurveSet& set) {
  Plot plot;
  plot.title = set.title;
  plot.width = 520;
  plot.height = 360;
  plot.x = {set.x_label, 0.0, 1.0, set.x_log};
  plot.y = {set.y_label, 0.0, 1.0, set.y_log};
  double low[2] = {1e300, 1e300}, high[2] = {-1e300, -1e300};
  for (const auto& [name, points] : set.curves) {
    Series series{name, plot.series.size() % 8, {}, {}, {}, {}, {}};
    for (const auto& point : points) {
      if (!std::isfinite(point.first) || !std::isfinite(point.second)) continue;
      if ((set.x_log && !(point.first > 0.0)) || (set.y_log && !(point.second > 0.0))) continue;
      series.line.push_back(point);
      series.dots.push_back(point);
      series.dot_names.push_back(fmt::format("{}: {}", name, short_number(point.second)));
      low[0] = std::min(low[0], point.first), high[0] = std::max(high[0], point.first);
      low[1] = std::min(low[1], point.second), high[1] = std::max(high[1], point.second);
    }
    plot.series.push_back(std::move(series));
  }
  if (low[0] > high[0]) low[0] = low[1] = 1.0, high[0] = high[1] = 10.0;
  const auto fit = [](Axis& axis, double lowest, double highest) {
    if (axis.logarithmic) return fit_decades(axis, lowest, highest);
    axis.lowest = std::min(0.0, lowest);
    axis.highest = highest > axis.lowest ? axis.lowest + 1.05 * (highest - axis.lowest) : axis.lowest + 1.0;
  };
  fit(plot.x, low[0], high[0]);
  fit(plot.y, low[1], high[1]);
  return plot;
}

double log_slope(const std::vector<std::pair<double, double>>& points) {
  double n = 0.0, sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
  for (const auto& [x, y] : points) {
    if (!(x > 0.0) || !(y > 0.0)) continue;
    const double a = std::log(x), b = std::log(y);
    n += 1.0, sx += a, sy += b, sxx += a * a, sxy += a * b;
  }
  const double spread = n * sxx - sx * sx;
  return n >= 2.0 && spread > 0.0 ? (n * sxy - sx * sy) / spread : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace tribo::cli
